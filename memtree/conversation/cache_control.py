"""The cache marker of the memory message.

A client that marks where the provider may cache (`cache_control`) marks its own messages, of which
the older ones are not sent any more. So the memory message ends with a marker, too, unless what is
sent has the four already that a provider takes (Anthropic; others ignore them). It is a copy of the
next marker behind it, else of the last one before it: a marker that lives longer must not follow
one that lives shorter (tools, system, messages).

As clients move their markers from turn to turn, ours may come and go within an epoch: only the
marker itself, never the text, and caches do not look at it. The form of the content does not
depend on the number: a list as soon as the request uses markers, else a string.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from memtree.conversation.history import History
from memtree.conversation.message_tokens import markers

MOST = 4
PLAIN = {"type": "ephemeral"}


def used(history: History, elsewhere: int) -> bool:
    """Return True if the posted request has markers. `elsewhere`: those beside the messages
    (tools)."""
    return bool(elsewhere or history.system_markers or history.marked)


def of_memory(
    history: History, elsewhere: int, cut: int, head: int = 0, pinned: Sequence[int] = ()
) -> Any:
    """The marker at the end of the memory message, None where it has none. What is sent are
    messages [0, head), `pinned` and [cut, ...), the system messages, and what has the markers
    `elsewhere`."""
    marked = history.marked
    behind = [at for at in pinned if history.facts[at].markers]
    behind += marked[bisect_left(marked, cut) :]
    sent = elsewhere + history.system_markers
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
    elif history.system_markers:
        marks = [marker for _, message in history.system for marker in markers(message)]
    return bool(marks) and isinstance(marks[-1], dict) and marks[-1].get("ttl") == "1h"


def _near(history: History, cut: int, head: int, behind: Iterable[int]) -> Iterator[Any]:
    """The markers to copy from, the best first: behind (marked messages), before, and then those
    that are cut."""
    for index in behind:
        yield markers(history.messages[index])[0]
    marked = history.marked
    first, end = bisect_left(marked, head), bisect_left(marked, cut)
    for index in reversed(marked[:first]):
        yield markers(history.messages[index])[-1]
    for _, message in reversed(history.system) if history.system_markers else ():
        if marker := markers(message):
            yield marker[-1]
    for index in reversed(marked[first:end]):
        yield markers(history.messages[index])[-1]
