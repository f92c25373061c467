"""Validate posted messages. An error names the place of the fault, as in
`messages[3].content[0].text`; fields that this server does not read are not checked."""

from __future__ import annotations

from typing import Any

from memtree.errors import BadRequest

SYSTEM_ROLES = frozenset({"system", "developer"})
RESULT_ROLES = frozenset({"tool", "function"})
ROLES = SYSTEM_ROLES | {"user", "assistant", "tool", "function"}
TEXT_PARTS = frozenset({"text", "input_text", "output_text"})


def check(fields: dict[str, Any], where: str) -> None:
    """Raise `BadRequest` unless a message has the shape the API documents."""
    role = fields.get("role")
    if not isinstance(role, str) or role not in ROLES:
        raise BadRequest(
            f"{where}.role must be one of {', '.join(sorted(ROLES))}", param=f"{where}.role"
        )
    _check_content(fields.get("content"), f"{where}.content")
    _check_calls(fields, where)
    if role == "tool":
        _check_id(fields.get("tool_call_id"), f"{where}.tool_call_id")


def _check_content(content: Any, where: str) -> None:
    if content is None or isinstance(content, str):
        return
    if not isinstance(content, list):
        raise BadRequest(f"{where} must be a string, null or an array of parts", param=where)
    for index, part in enumerate(content):
        place = f"{where}[{index}]"
        if not isinstance(part, dict) or not isinstance(part.get("type"), str):
            raise BadRequest(f"{place} must be an object with a type", param=place)
        if part["type"] in TEXT_PARTS and not isinstance(part.get("text"), str):
            raise BadRequest(f"{place}.text must be a string", param=f"{place}.text")


def _check_calls(fields: dict[str, Any], where: str) -> None:
    calls = fields.get("tool_calls")
    if calls is not None and not isinstance(calls, list):
        raise BadRequest(f"{where}.tool_calls must be an array", param=f"{where}.tool_calls")
    for index, call in enumerate(calls or ()):
        place = f"{where}.tool_calls[{index}]"
        body = (call.get("function") or call.get("custom")) if isinstance(call, dict) else None
        _check_function(body, f"{place}.function")
        _check_id(call.get("id"), f"{place}.id")
    if fields.get("function_call") is not None:
        _check_function(fields["function_call"], f"{where}.function_call")


def _check_function(body: Any, where: str) -> None:
    if not isinstance(body, dict) or not isinstance(body.get("name"), str):
        raise BadRequest(f"{where} must be an object with a name", param=where)
    arguments = body.get("arguments", body.get("input", ""))
    if arguments is not None and not isinstance(arguments, (str, dict)):
        raise BadRequest(
            f"{where}.arguments must be a string or an object", param=f"{where}.arguments"
        )


def _check_id(value: Any, where: str) -> None:
    """Check an id. It may be absent: some servers give calls no id, and their clients send none
    back."""
    if value is not None and not isinstance(value, str):
        raise BadRequest(f"{where} must be a string", param=where)
