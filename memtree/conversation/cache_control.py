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

from collections.abc import Iterator
from typing import Any

from memtree.conversation.history import History
from memtree.conversation.message_tokens import markers

MOST = 4
PLAIN = {"type": "ephemeral"}


def used(history: History, elsewhere: int) -> bool:
    """Whether the posted request has markers. `elsewhere`: those beside the messages (tools)."""
    return bool(elsewhere or history.system_markers or any(fact.markers for fact in history.facts))


def of_memory(history: History, elsewhere: int, cut: int, head: int = 0) -> Any:
    """The marker at the end of the memory message, None where it has none. What is sent are
    messages [0, head) and [cut, ...), the system messages, and what has the markers `elsewhere`."""
    sent = elsewhere + history.system_markers
    sent += sum(fact.markers for fact in (*history.facts[:head], *history.facts[cut:]))
    if sent >= MOST or not used(history, elsewhere):
        return None
    marker = next(_near(history, cut, head), PLAIN)
    return marker if isinstance(marker, dict) else PLAIN


def _near(history: History, cut: int, head: int) -> Iterator[Any]:
    """The markers to copy from, the best first: behind, before, and then those that are cut."""
    for index in range(cut, len(history)):
        if history.facts[index].markers:
            yield markers(history.messages[index])[0]
    before = [*(message for _, message in history.system), *history.messages[:head]]
    for message in reversed(before):
        if marker := markers(message):
            yield marker[-1]
    for index in range(cut - 1, head - 1, -1):
        if history.facts[index].markers:
            yield markers(history.messages[index])[-1]
