"""Translate calls of tools that the client runs: names and arguments, as in a chat.

A new kind of call needs no change here: all fields of an item except its ids are arguments.
"""

from __future__ import annotations

from typing import Any

import msgspec

from memtree.conversation.content.call_arguments import canonical
from memtree.errors import BadRequest

# Fields that are no arguments: names, the server's bookkeeping, and tokens meaningless to a reader.
_BESIDE = frozenset(
    {
        "type", "id", "call_id", "status", "caller", "name", "namespace", "server_label",
        "execution", "pending_safety_checks", "fingerprint", "environment",
        "internal_chat_message_metadata_passthrough",
    }
)  # fmt: skip
_NAMED = frozenset({"function_call", "custom_tool_call", "mcp_approval_request"})
_OTHERS = frozenset({"program", "mcp_approval_request"})  # calls whose kind has another name


def is_call(kind: str) -> bool:
    return kind.endswith("_call") or kind in _OTHERS


def ids(kind: str, fields: dict[str, Any], place: str) -> tuple[str, ...]:
    """Return the ids by which an output may name the call, the usual one first. Raises
    `BadRequest`."""
    call_id, id_ = fields.get("call_id"), fields.get("id")
    if call_id is not None and not isinstance(call_id, str):
        raise BadRequest(f"{place}.call_id must be a string", param=f"{place}.call_id")
    both = kind == "local_shell_call" or not call_id
    return tuple(name for name in (call_id, id_ if both else "") if isinstance(name, str) and name)


def canonical_call(
    kind: str, fields: dict[str, Any], named: tuple[str, ...], place: str
) -> dict[str, Any]:
    """Return a canonical tool call. `named`: its ids. Raises `BadRequest`."""
    id_ = {"id": named[0]} if named else {}
    name = _name(kind, fields, place)
    if kind == "custom_tool_call":
        body = {"name": name, "input": _text(fields.get("input"))}
        return {**id_, "type": "custom", "custom": body}
    given = fields.get("arguments") if "arguments" in fields else _others(fields)
    body = {"name": name, "arguments": canonical(_text(given))}
    return {**id_, "type": "function", "function": body}


def _name(kind: str, fields: dict[str, Any], place: str) -> str:
    if kind not in _NAMED:
        return kind.removesuffix("_call")
    name = fields.get("name")
    if not isinstance(name, str):
        raise BadRequest(f"{place}.name must be a string", param=f"{place}.name")
    within = fields.get("namespace") or fields.get("server_label")
    return f"{within}.{name}" if isinstance(within, str) else name


def _others(fields: dict[str, Any]) -> object:
    """Return the fields that are arguments; a sole `action`, `operation` or `code` by itself."""
    given = {key: value for key, value in fields.items() if key not in _BESIDE}
    alone = next(iter(given.values())) if len(given) == 1 else None
    return alone if isinstance(alone, dict | str) else given


def _text(value: object) -> str:
    if value is None:
        return ""
    return value if isinstance(value, str) else msgspec.json.encode(value).decode()
