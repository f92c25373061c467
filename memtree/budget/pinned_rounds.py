"""Rounds that stay whole before the cut, because a model may use a tool only while they are sent.

A client that defers its tools loads them from inside the history: a result names the tools that it
loads (`Message.loads`). If that round were folded, the tool would be unavailable, while the client
assumes it is loaded. So the latest such round of each tool stays, after the memory message.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right

from memtree.history.chat_history import History

Rounds = tuple[tuple[int, int], ...]  # (first message, end) of each, in order


def pinned_rounds(history: History, cut: int, most: int) -> Rounds:
    """Return, for each tool name, the latest round before `cut` that loads it, with the messages
    joined to it. At most `most` tokens in all, newest first: if a tool's round is too large, a
    smaller older one may stay, else none does, and the model has to load the tool again. The first
    message is never pinned; content that a client repeats there is carried as a preamble."""
    pinned: list[tuple[int, int]] = []
    names: set[str] = set()
    for start, end in _loading_rounds(history, cut):
        at = slice(bisect_left(history.loading, start), bisect_left(history.loading, end))
        loads = {name for at in history.loading[at] for name in history.messages[at].loads}
        size = history.size(start, end)
        if start and size <= most and not names.issuperset(loads):
            pinned.append((start, end))
            names |= loads
            most -= size
    return tuple(reversed(pinned))


def _loading_rounds(history: History, cut: int) -> Rounds:
    """Return the loading rounds before the cut, newest first."""
    cuts, before = history.cuts, bisect_left(history.loading, cut)
    places = sorted({bisect_right(cuts, at) - 1 for at in history.loading[:before]}, reverse=True)
    last = len(cuts) - 1
    return tuple((cuts[at], cuts[at + 1] if at < last else len(history)) for at in places)
