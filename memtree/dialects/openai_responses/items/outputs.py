"""Read results that a client sends back: the call each answers, and its content."""

from __future__ import annotations

from typing import Any

import msgspec

from memtree.conversation.content.validation import TEXT_PARTS
from memtree.dialects.openai_responses.items import server_items
from memtree.errors import BadRequest

_KNOWN = frozenset(
    {
        "function_call_output", "custom_tool_call_output", "local_shell_call_output",
        "shell_call_output", "apply_patch_call_output", "computer_call_output",
        "tool_search_output", "program_output", "mcp_approval_response",
    }
)  # fmt: skip


def is_output(kind: str, fields: dict[str, Any]) -> bool:
    """Return True for an output; an unknown kind counts if it names a call."""
    return kind in _KNOWN or (kind.endswith("_output") and isinstance(fields.get("call_id"), str))


def ids(kind: str, fields: dict[str, Any], place: str) -> tuple[str, ...]:
    """Return the ids by which an output names its call; none if it answers the next call."""
    name = "approval_request_id" if kind == "mcp_approval_response" else "call_id"
    if name not in fields and kind == "local_shell_call_output":
        name = "id"
    given = fields.get(name)
    if given is not None and not isinstance(given, str):
        raise BadRequest(f"{place}.{name} must be a string", param=f"{place}.{name}")
    return (given,) if given else ()


def is_parts(output: object) -> bool:
    """Return True if the output is a list of content parts, as a canonical message holds them."""
    return isinstance(output, list) and all(
        isinstance(part, dict)
        and isinstance(part.get("type"), str)
        and (part["type"] not in TEXT_PARTS or isinstance(part.get("text"), str))
        for part in output
    )


def content(kind: str, fields: dict[str, Any]) -> object:
    """Return the canonical content of an output that is neither text nor a list of content
    parts."""
    output = fields.get("output")
    if kind == "mcp_approval_response":
        said = "approved" if fields.get("approve") is True else "denied"
        reason = fields.get("reason")
        return f"{said}: {reason}" if isinstance(reason, str) and reason else said
    if kind == "tool_search_output":
        return server_items.tool_list(fields)
    if kind == "shell_call_output" and isinstance(output, list):
        return "".join(_chunk(chunk) for chunk in output if isinstance(chunk, dict))
    if kind == "computer_call_output" and isinstance(output, dict):
        return [{**output, "type": "input_image"}]
    for given in (output, fields.get("result"), fields.get("status")):
        if given is not None:
            return given if isinstance(given, str) else msgspec.json.encode(given).decode()
    return ""


def _chunk(chunk: dict[str, Any]) -> str:
    """Return the output of a command, and its outcome unless it succeeded."""
    texts = [text for name in ("stdout", "stderr") if isinstance(text := chunk.get(name), str)]
    outcome = chunk.get("outcome")
    if isinstance(outcome, dict):
        if outcome.get("type") == "timeout":
            texts.append("\nTimed out\n")
        elif outcome.get("exit_code"):
            texts.append(f"\nExit code: {outcome['exit_code']}\n")
    return "".join(texts)
