"""The rules of the Messages API for one request: `broken(body)` names those that it breaks.

Strict where servers differ: two user messages in a row count as an error, since not every server
combines them. What only a comparison with the posted request, or a whole session, can tell stands
in `messages_changes` and `thinking`.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from itertools import pairwise
from typing import Any

from tests.wire.messages.messages_blocks import THINKING, TTLS, broken_fields, broken_message
from tests.wire.rule_break import Fields, RuleBreak, texts
from tests.wire.thinking import broken_thinking

MOST_MARKERS = 4
MOST_MESSAGES = 100_000
COMPACTION_FIRST = "compact-2026-09-04"
MEMORY = "<context_memory>"
# These take an assistant message at the end, to be continued.
_PREFILL = re.compile(r"claude-(?:[123]|instant|(?:opus|sonnet|haiku)-4(?:-[0-5](?!\d)|-\d{8}|$))")


def broken(body: Fields, betas: Collection[str] = ()) -> list[RuleBreak]:
    """Every rule that the request breaks; empty where the API would take it."""
    found = list(broken_fields(body))
    messages = body.get("messages")
    if not isinstance(messages, list) or not messages:
        return [*found, RuleBreak("no-messages", "messages")]
    for index, message in enumerate(messages):
        found += broken_message(message, f"messages[{index}]")
    if any(one.rule in ("unknown-role", "content-not-blocks") for one in found):
        return found
    found += _broken_ends(body, messages)
    found += _broken_order(messages)
    found += _broken_system_places(messages)
    found += _broken_pairs(messages)
    found += _broken_servers(messages)
    found += _broken_references(body, messages)
    found += broken_markers(body)
    found += _broken_compaction(messages, betas)
    found += _broken_turn(body, messages)
    found += broken_thinking(body)
    return found


def blocks(message: Fields) -> list[Any]:
    """A string content counts as one text block."""
    content = message.get("content")
    if isinstance(content, str):
        return [{"type": "text", "text": content}]
    return content if isinstance(content, list) else []


def kinds(message: Fields) -> list[str]:
    return [str(block.get("type")) for block in blocks(message) if isinstance(block, dict)]


def of_type(message: Fields, *names: str) -> list[Fields]:
    return [b for b in blocks(message) if isinstance(b, dict) and b.get("type") in names]


def _broken_ends(body: Fields, messages: Sequence[Fields]) -> Iterator[RuleBreak]:
    if len(messages) > MOST_MESSAGES:
        yield RuleBreak("too-many-messages", "messages")
    first, last = messages[0], messages[-1]
    if first["role"] == "assistant" and "compaction" not in kinds(first):
        yield RuleBreak("first-message-assistant", "messages[0]")
    if first["role"] == "system":
        yield RuleBreak("first-message-system", "messages[0]")
    paused = kinds(last)[-1:] and kinds(last)[-1].startswith(("server_tool", "mcp_tool"))
    if last["role"] == "assistant" and not paused and not _PREFILL.match(str(body.get("model"))):
        yield RuleBreak("prefill", f"messages[{len(messages) - 1}]")


def _broken_order(messages: Sequence[Fields]) -> Iterator[RuleBreak]:
    for index, (before, after) in enumerate(pairwise(messages), 1):
        if before["role"] == after["role"] == "user":
            yield RuleBreak("consecutive-users", f"messages[{index}]")
        if before["role"] == after["role"] == "assistant":
            yield RuleBreak("consecutive-assistants", f"messages[{index}]")


def _broken_system_places(messages: Sequence[Fields]) -> Iterator[RuleBreak]:
    """A run of system messages follows a user message, and an assistant message or nothing."""
    for index, message in enumerate(messages):
        if message["role"] != "system" or not index:
            continue
        before = messages[index - 1]
        after = messages[index + 1] if index + 1 < len(messages) else None
        where = f"messages[{index}]"
        if before["role"] == "assistant":
            splits = of_type(before, "tool_use") and after and of_type(after, "tool_result")
            yield RuleBreak("system-splits-round" if splits else "system-behind-assistant", where)
        if after and after["role"] == "user":
            yield RuleBreak("system-before-user", where)


def _broken_pairs(messages: Sequence[Fields]) -> Iterator[RuleBreak]:
    """Each call has its one result at the start of the message directly behind it."""
    ids: set[str] = set()
    for index, message in enumerate(messages):
        where = f"messages[{index}]"
        asked = [str(one.get("id")) for one in of_type(message, "tool_use")]
        for call in asked:
            if call in ids:
                yield RuleBreak("call-id-twice", where)
            ids.add(call)
        if message["role"] == "user":
            before = messages[index - 1] if index else None
            yield from _broken_results(message, before, messages[index + 1 : index + 2], where)
        elif asked:
            after = messages[index + 1] if index + 1 < len(messages) else None
            if after is None or after["role"] != "user":
                yield RuleBreak("call-unanswered", where)


def _broken_results(
    message: Fields, before: Fields | None, later: Sequence[Fields], where: str
) -> Iterator[RuleBreak]:
    called = [str(one.get("id")) for one in of_type(before or {}, "tool_use")]
    results = [str(one.get("tool_use_id")) for one in of_type(message, "tool_result")]
    if "tool_result" in kinds(message)[len(results) :]:
        yield RuleBreak("result-not-first", where)
    for name in results:
        if name not in called:
            yield RuleBreak("result-without-call", where)
    if len(set(results)) < len(results):
        yield RuleBreak("result-twice", where)
    missing = set(called) - set(results)
    if missing:
        elsewhere = {str(r.get("tool_use_id")) for m in later for r in of_type(m, "tool_result")}
        yield RuleBreak("results-split" if missing & elsewhere else "call-unanswered", where)
    if before and results and len(results) < len(kinds(message)) and _pending(before):
        yield RuleBreak("text-beside-server-call", where)


def _pending(message: Fields) -> bool:
    """Return True if the server has yet to answer a call of its own."""
    answered = {b.get("tool_use_id") for b in blocks(message) if isinstance(b, dict)}
    return any(one.get("id") not in answered for one in of_type(message, "server_tool_use"))


def _broken_servers(messages: Sequence[Fields]) -> Iterator[RuleBreak]:
    """The result of a server's tool stands behind its call, in an assistant message."""
    asked: set[str] = set()
    for index, message in enumerate(messages):
        for block in blocks(message):
            kind = str(block.get("type")) if isinstance(block, dict) else ""
            if kind in ("server_tool_use", "mcp_tool_use"):
                asked.add(str(block.get("id")))
            elif kind.endswith("_tool_result") and block.get("tool_use_id") not in asked:
                yield RuleBreak("server-result-without-call", f"messages[{index}]")


def _broken_references(body: Fields, messages: Sequence[Fields]) -> Iterator[RuleBreak]:
    """A tool that is loaded has to be defined."""
    names = {tool.get("name") for tool in body.get("tools") or ()}
    for index, message in enumerate(messages):
        for result in of_type(message, "tool_result"):
            inside = result.get("content")
            for part in inside if isinstance(inside, list) else ():
                if part.get("type") == "tool_reference" and part.get("tool_name") not in names:
                    yield RuleBreak("reference-unknown", f"messages[{index}]")


def broken_markers(body: Fields) -> Iterator[RuleBreak]:
    found = list(markers(body))
    if len(found) > MOST_MARKERS:
        yield RuleBreak("too-many-markers", found[MOST_MARKERS][0])
    shorter = False
    for where, marker in found:
        ttl = marker.get("ttl", TTLS[0]) if isinstance(marker, dict) else None
        if ttl == "1h" and shorter:
            yield RuleBreak("long-marker-behind-short", where)
        shorter = shorter or ttl == "5m"


def markers(body: Fields) -> Iterator[tuple[str, Any]]:
    """(where, marker) in the order of the prompt; the one of the whole request is the last."""
    for index, tool in enumerate(body.get("tools") or ()):
        yield from _marker(tool, f"tools[{index}]")
    system = body.get("system")
    for index, block in enumerate(system if isinstance(system, list) else ()):
        yield from _marker(block, f"system[{index}]")
    for index, message in enumerate(body.get("messages") or ()):
        for place, block in enumerate(blocks(message)):
            inside = block.get("content") if isinstance(block, dict) else None
            for part in inside if isinstance(inside, list) else ():
                yield from _marker(part, f"messages[{index}].content[{place}]")
            yield from _marker(block, f"messages[{index}].content[{place}]")
    yield from _marker(body, "cache_control")


def _marker(of: Any, where: str) -> Iterator[tuple[str, Any]]:
    if isinstance(of, dict) and of.get("cache_control") is not None:
        yield where, of["cache_control"]


def _broken_compaction(messages: Sequence[Fields], betas: Collection[str]) -> Iterator[RuleBreak]:
    for index, message in enumerate(messages):
        for place, block in enumerate(of_type(message, "compaction")):
            where = f"messages[{index}]"
            first = index == 0 and blocks(message)[0] is block
            if COMPACTION_FIRST in betas and not first:
                yield RuleBreak("compaction-misplaced", where)
            if place == 0 and any(
                MEMORY in text for m in messages[: index + 1] for text in texts(blocks(m))
            ):
                yield RuleBreak("memory-before-compaction", where)


def _broken_turn(body: Fields, messages: Sequence[Fields]) -> Iterator[RuleBreak]:
    """With `enabled` thinking, the turn that is still going on begins with thinking."""
    thinking = body.get("thinking")
    if not isinstance(thinking, dict) or thinking.get("type") != "enabled":
        return
    if not of_type(messages[-1], "tool_result"):
        return
    first = None
    for index in range(len(messages) - 1, -1, -1):
        message = messages[index]
        if message["role"] == "assistant":
            first = index
        elif message["role"] == "user" and not of_type(message, "tool_result"):
            break
    if (
        first is not None
        and kinds(messages[first])[:1]
        and kinds(messages[first])[0] not in THINKING
    ):
        yield RuleBreak("turn-without-thinking", f"messages[{first}]")
