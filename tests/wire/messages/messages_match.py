"""Match the messages of a Messages request with the posted ones, and with what was put beside
them."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from tests.wire.messages.messages_blocks import THINKING
from tests.wire.messages.messages_rules import MEMORY, blocks, of_type
from tests.wire.rule_break import Fields

OURS = ("<recalled_context>", "<user_memories>", MEMORY)
SEAM = "\n\n"


def dump(value: Any) -> str:
    """Write JSON strictly: the order of keys counts."""
    return json.dumps(value)


@dataclass(frozen=True, slots=True)
class MatchedMessage:
    """Posted message that was sent: its place, and the blocks of ours in it. `results`: place of
    the one whose results stand in front, where a kept user message follows a pinned round."""

    posted: int
    added: tuple[Fields, ...] = ()
    results: int | None = None


def match(posted: Sequence[Fields], sent: Sequence[Fields]) -> dict[int, MatchedMessage]:
    """For each message that was sent, the posted one that it is; from the end backwards. System
    messages are matched apart: one may stand behind words that were posted later."""
    found: dict[int, MatchedMessage] = {}
    bounds = {True: len(posted), False: len(posted)}
    bare = [_bare(message) for message in posted]
    for index in range(len(sent) - 1, -1, -1):
        system = sent[index].get("role") == "system"
        bound = bounds[system]
        one = _matched(posted, bare, sent[index], bound) or _joint(posted, bare, sent[index], bound)
        if one is not None:
            found[index] = one
            bounds[system] = one.posted if one.results is None else one.results
    return found


def _matched(
    posted: Sequence[Fields], bare: Sequence[str], sent: Fields, bound: int
) -> MatchedMessage | None:
    mine = _bare(sent)
    for place in range(bound - 1, -1, -1):
        added = () if mine == bare[place] else _added(posted[place], bare[place], sent)
        if added is not None:
            return MatchedMessage(place, added)
    return None


def _joint(
    posted: Sequence[Fields], bare: Sequence[str], sent: Fields, bound: int
) -> MatchedMessage | None:
    """The message with the results of a pinned round, and a kept user message behind its blocks."""
    content = blocks(sent)
    first = len(of_type(sent, "tool_result"))
    for at in range(first, len(content) if first else 0):
        behind = _matched(posted, bare, {**sent, "content": content[at:]}, bound)
        if behind is None:
            continue
        front = _matched(posted, bare, {**sent, "content": content[:at]}, behind.posted)
        if front is not None:
            return MatchedMessage(behind.posted, behind.added, front.posted)
    return None


def sent_places(matched: Mapping[int, MatchedMessage]) -> set[int]:
    """The posted messages that were sent."""
    found = {one.posted for one in matched.values()}
    return found | {one.results for one in matched.values() if one.results is not None}


def _bare(message: Fields) -> str:
    """Without thinking; a list of blocks."""
    rest = [block for block in blocks(message) if block.get("type") not in THINKING]
    return dump([{k: v for k, v in message.items() if k != "content"}, rest])


def _added(posted: Fields, bare: str, sent: Fields) -> tuple[Fields, ...] | None:
    """The blocks of ours in a sent message; None where it is another message."""
    if posted.get("role") != sent.get("role") or sent["role"] != "user":
        return None
    content = sent.get("content")
    if isinstance(content, str):
        own = posted.get("content")
        if isinstance(own, str) and content.endswith(SEAM + own) and _is_ours(content):
            return ({"type": "text", "text": content.removesuffix(SEAM + own)},)
        return None
    ours = tuple(block for block in blocks(sent) if _is_ours(block.get("text")))
    rest = {**sent, "content": [block for block in blocks(sent) if block not in ours]}
    return ours if ours and _bare(rest) == bare else None


def _is_ours(text: Any) -> bool:
    return isinstance(text, str) and text.lstrip().startswith(OURS)
