"""Choose the cache marker of the memory message.

A client that marks where the provider may cache (`cache_control`) marks its own messages, of which
the older ones are no longer sent. So the memory message ends with a marker, too, unless the request
already has the four that a provider accepts (Anthropic; others ignore them). It is a copy of the
next marker after it, else of the last one before it: a marker with a longer lifetime must not
follow one with a shorter lifetime (in the order tools, system, messages).

Since clients move their markers from turn to turn, ours may appear and disappear within an epoch:
only the marker changes, never the text, and caches ignore it. The form of the content does not
depend on the number: a list as soon as the request uses markers, else a string.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from memtree.history.chat_history import History, markers

MOST = 4
PLAIN = {"type": "ephemeral"}


def used(history: History, elsewhere: int) -> bool:
    """Return True if the posted request has markers. `elsewhere`: number of markers outside the
    messages (in tools)."""
    return bool(elsewhere or history.system.markers or history.marked)


def of_memory(
    history: History, elsewhere: int, cut: int, head: int = 0, pinned: Sequence[int] = ()
) -> Any:
    """Return the marker for the end of the memory message; None if it gets none. The request
    consists of messages [0, head), `pinned` and [cut, ...), the system messages, and the part with
    the markers `elsewhere`."""
    marked = history.marked
    behind = [at for at in pinned if history.facts[at].markers]
    behind += marked[bisect_left(marked, cut) :]
    sent = elsewhere + history.system.markers
    sent += sum(history.facts[at].markers for at in marked[: bisect_left(marked, head)])
    sent += sum(history.facts[at].markers for at in behind)
    if sent >= MOST or not used(history, elsewhere):
        return None
    marker = next(_near(history, cut, head, behind), PLAIN)
    return marker if isinstance(marker, dict) else PLAIN


def lives_an_hour(history: History) -> bool:
    """Return True if the newest cache marker asks for the one-hour cache."""
    marks: list[Any] = []
    if history.marked:
        marks = markers(history.messages[history.marked[-1]])
    elif history.system.markers:
        marks = [marker for _, message in history.system for marker in markers(message)]
    return bool(marks) and isinstance(marks[-1], dict) and marks[-1].get("ttl") == "1h"


def _near(history: History, cut: int, head: int, behind: Iterable[int]) -> Iterator[Any]:
    """Yield the markers to copy from, best first: those after the cut (marked messages), before it,
    and last those of cut messages."""
    for index in behind:
        yield markers(history.messages[index])[0]
    marked = history.marked
    first, end = bisect_left(marked, head), bisect_left(marked, cut)
    for index in reversed(marked[:first]):
        yield markers(history.messages[index])[-1]
    for _, message in reversed(history.system) if history.system.markers else ():
        if marker := markers(message):
            yield marker[-1]
    for index in reversed(marked[first:end]):
        yield markers(history.messages[index])[-1]
