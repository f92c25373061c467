"""Rules for single fields, messages and content blocks of the Messages API.

Types that are not known here are left alone: new ones come without notice.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from memtree.history.json_body import OWN_FIELDS
from tests.wire.rule_break import Fields, RuleBreak

KNOWN_FIELDS = frozenset(
    """model messages max_tokens system tools tool_choice thinking metadata stop_sequences stream
    temperature top_k top_p service_tier container context_management mcp_servers output_config
    output_format inference_geo speed cache_control fallbacks fallback_credit_token thread
    compaction diagnostics user_profile_id""".split()
)
MESSAGE_FIELDS = {
    "user": {"role", "content"},
    "assistant": {"role", "content"},
    "system": {"role", "content", "output_config", "clear_at"},
}
BLOCK_FIELDS = {
    "text": {"type", "text", "cache_control", "citations"},
    "thinking": {"type", "thinking", "signature"},
    "redacted_thinking": {"type", "data"},
    "tool_use": {"type", "id", "name", "input", "cache_control", "caller", "toolset_name"},
    "tool_result": {"type", "tool_use_id", "content", "is_error", "cache_control"},
    "tool_reference": {"type", "tool_name", "cache_control"},
}
THINKING = ("thinking", "redacted_thinking")
# Blocks with a role of their own: what the model made, what came back to it, what only a system
# message changes.
ASSISTANT_ONLY = frozenset({*THINKING, "tool_use", "server_tool_use", "mcp_tool_use", "fallback"})
USER_ONLY = frozenset({"tool_result", "image", "search_result"})
SYSTEM_ONLY = frozenset({"tool_addition", "tool_removal"})
TTLS = ("5m", "1h")
_ID = re.compile(r"[A-Za-z0-9_-]+")


def broken_fields(body: Fields) -> Iterator[RuleBreak]:
    for name in body:
        if name in OWN_FIELDS:
            yield RuleBreak("own-field", name)
        elif name not in KNOWN_FIELDS:
            yield RuleBreak("unknown-field", name)
    for name in ("model", "messages", "max_tokens"):
        if name not in body:
            yield RuleBreak("missing-field", name)
    if ":memory" in str(body.get("model")):
        yield RuleBreak("own-model-suffix", "model")
    yield from _broken_thinking(body)
    yield from _broken_tools(body)
    yield from _broken_system(body.get("system"))


def _broken_thinking(body: Fields) -> Iterator[RuleBreak]:
    thinking = body.get("thinking")
    if not isinstance(thinking, dict) or thinking.get("type") != "enabled":
        return
    budget = thinking.get("budget_tokens")
    if not isinstance(budget, int) or not 1024 <= budget < (body.get("max_tokens") or 0):
        yield RuleBreak("thinking-budget", "thinking.budget_tokens")
    choice = body.get("tool_choice")
    if isinstance(choice, dict) and choice.get("type") in ("any", "tool"):
        yield RuleBreak("thinking-with-forced-tool", "tool_choice")


def _broken_tools(body: Fields) -> Iterator[RuleBreak]:
    tools, choice = body.get("tools") or [], body.get("tool_choice")
    names: set[str] = set()
    for index, tool in enumerate(tools):
        where = f"tools[{index}]"
        name = tool.get("name")
        if name in names:
            yield RuleBreak("tool-defined-twice", where)
        names.add(name)
        if tool.get("type", "custom") != "custom":
            continue  # the server's own, each with a shape of its own
        if "function" in tool or not isinstance(tool.get("input_schema"), dict):
            yield RuleBreak("tool-without-schema", where)
        elif not isinstance(name, str) or not 0 < len(name) <= 128 or not _ID.fullmatch(name):
            yield RuleBreak("tool-name", where)
    if isinstance(choice, dict):
        if choice.get("type") in ("any", "tool") and not tools:
            yield RuleBreak("tool-choice-without-tools", "tool_choice")
        if choice.get("type") == "tool" and choice.get("name") not in names:
            yield RuleBreak("tool-choice-unknown", "tool_choice")


def _broken_system(system: Any) -> Iterator[RuleBreak]:
    if system is None or isinstance(system, str):
        return
    if not isinstance(system, list):
        yield RuleBreak("system-not-text", "system")
        return
    for index, block in enumerate(system):
        if not isinstance(block, dict) or block.get("type") != "text":
            yield RuleBreak("system-not-text", f"system[{index}]")
        else:
            yield from broken_block(block, "system", f"system[{index}]")


def broken_message(message: Any, where: str) -> Iterator[RuleBreak]:
    """The shape of one message, without its place among the others."""
    role = message.get("role") if isinstance(message, dict) else None
    if role not in MESSAGE_FIELDS:
        yield RuleBreak("unknown-role", where)
        return
    for name in sorted(set(message) - MESSAGE_FIELDS[role]):
        yield RuleBreak("unknown-message-field", f"{where}.{name}")
    content = message.get("content")
    if isinstance(content, str):
        if not content:
            yield RuleBreak("empty-message", where)
        elif not content.strip():
            yield RuleBreak("blank-text", where)
        return
    if not isinstance(content, list):
        yield RuleBreak("content-not-blocks", where)
        return
    if not content:
        yield RuleBreak("empty-message", where)
    for index, block in enumerate(content):
        yield from broken_block(block, role, f"{where}.content[{index}]")


def broken_block(block: Any, role: str, where: str) -> Iterator[RuleBreak]:
    kind = block.get("type") if isinstance(block, dict) else None
    if not isinstance(kind, str):
        yield RuleBreak("block-without-type", where)
        return
    if kind in BLOCK_FIELDS:
        for name in sorted(set(block) - BLOCK_FIELDS[kind]):
            yield RuleBreak("unknown-block-field", f"{where}.{name}")
    if not _may_hold(role, kind):
        yield RuleBreak("block-in-wrong-role", where)
    yield from _broken_marker(block, kind, where)
    if check := _CHECKS.get(kind):
        yield from check(block, where)


def _may_hold(role: str, kind: str) -> bool:
    if role == "system":
        return kind == "text" or kind in SYSTEM_ONLY
    if kind in SYSTEM_ONLY:
        return False
    return kind not in (ASSISTANT_ONLY if role == "user" else USER_ONLY)


def _broken_marker(block: Fields, kind: str, where: str) -> Iterator[RuleBreak]:
    marker = block.get("cache_control")
    if marker is None:
        return
    if kind in THINKING:
        yield RuleBreak("marker-on-thinking", where)
    if kind == "text" and not block.get("text"):
        yield RuleBreak("marker-on-empty-text", where)
    if not good_marker(marker):
        yield RuleBreak("marker-form", where)


def good_marker(marker: Any) -> bool:
    return (
        isinstance(marker, dict)
        and marker.get("type") == "ephemeral"
        and marker.get("ttl", "5m") in TTLS
        and not set(marker) - {"type", "ttl", "scope"}
    )


def _text(block: Fields, where: str) -> Iterator[RuleBreak]:
    text = block.get("text")
    if not isinstance(text, str):
        yield RuleBreak("text-not-a-string", where)
    elif not text:
        yield RuleBreak("empty-text", where)
    elif not text.strip():
        yield RuleBreak("blank-text", where)


def _thinking(block: Fields, where: str) -> Iterator[RuleBreak]:
    if not isinstance(block.get("thinking"), str) or not isinstance(block.get("signature"), str):
        yield RuleBreak("thinking-incomplete", where)


def _redacted(block: Fields, where: str) -> Iterator[RuleBreak]:
    if not isinstance(block.get("data"), str) or not block["data"]:
        yield RuleBreak("thinking-incomplete", where)


def _call(block: Fields, where: str) -> Iterator[RuleBreak]:
    if not isinstance(block.get("id"), str) or not _ID.fullmatch(block["id"]):
        yield RuleBreak("call-id", where)
    if not isinstance(block.get("name"), str) or not block["name"]:
        yield RuleBreak("call-name", where)
    if not isinstance(block.get("input"), dict):
        yield RuleBreak("input-not-an-object", where)


def _result(block: Fields, where: str) -> Iterator[RuleBreak]:
    if not isinstance(block.get("tool_use_id"), str):
        yield RuleBreak("call-id", where)
    content = block.get("content")
    if content is None or isinstance(content, str):
        return
    if not isinstance(content, list):
        yield RuleBreak("content-not-blocks", where)
        return
    for index, part in enumerate(content):
        inside = f"{where}.content[{index}]"
        if isinstance(part, dict) and part.get("type") in (*ASSISTANT_ONLY, "tool_result"):
            yield RuleBreak("block-in-wrong-role", inside)
        else:
            yield from broken_block(part, "user", inside)


_CHECKS = {
    "text": _text,
    "thinking": _thinking,
    "redacted_thinking": _redacted,
    "tool_use": _call,
    "server_tool_use": _call,
    "tool_result": _result,
}
