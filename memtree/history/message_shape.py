"""Bring posted messages of any shape that some server accepts into the documented one.

A role, a content, a part or a call that is not as documented is read as text, so that one such
message does not leave a conversation without memory. Its values that are no strings become their
JSON text as posted. What is sent to an upstream is never made from this form.

    >>> fields = {"role": "observation", "content": {"temp": 4}}
    >>> shaped(fields, b'{"role": "observation", "content": {"temp": 4}}')["content"]
    '{"temp": 4}'
"""

from __future__ import annotations

import re
from typing import Any

import msgspec

from memtree.history.attachments import is_data, strings
from memtree.history.posted_json import decode, json_text

SYSTEM_ROLES = frozenset({"system", "developer"})
RESULT_ROLES = frozenset({"tool", "function"})
ROLES = SYSTEM_ROLES | RESULT_ROLES | {"user", "assistant"}
TEXT_PARTS = frozenset({"text", "input_text", "output_text"})
UNKNOWN = "unknown"  # the role of a message that names none, and the name of a call without one
_ROLE = re.compile(r"[A-Za-z][A-Za-z0-9_.-]{0,39}")

Part = dict[str, Any]


def is_shaped(fields: Any) -> bool:
    """Return True if a decoded message has the documented shape."""
    if not isinstance(fields, dict):
        return False
    role, calls = fields.get("role"), fields.get("tool_calls")
    return (
        isinstance(role, str)
        and role in ROLES
        and is_content(fields.get("content"))
        and _is_id(fields.get("tool_call_id"))
        and (calls is None or (isinstance(calls, list) and all(map(_is_call, calls))))
        and (fields.get("function_call") is None or _is_function(fields["function_call"]))
    )


def is_content(content: Any) -> bool:
    """Return True for a content of the documented shape: text, a list of parts, or none."""
    return (
        content is None
        or isinstance(content, str)
        or (isinstance(content, list) and all(map(is_part, content)))
    )


def is_part(part: Any) -> bool:
    """Return True for a content part of the documented shape, unless it is a refusal, which is read
    as text."""
    if not isinstance(part, dict) or not isinstance(kind := part.get("type"), str):
        return False
    return isinstance(part.get("text"), str) if kind in TEXT_PARTS else kind != "refusal"


def _is_id(value: Any) -> bool:
    """Return True for an id. It may be absent: some servers give calls none."""
    return value is None or isinstance(value, str)


def _is_call(call: Any) -> bool:
    if not isinstance(call, dict) or not _is_id(call.get("id")):
        return False
    return _is_function(call.get("function") or call.get("custom"))


def _is_function(body: Any) -> bool:
    return isinstance(body, dict) and isinstance(body.get("name"), str)


def shaped(fields: Any, raw: bytes) -> dict[str, Any]:
    """Return a decoded message in the documented shape. `raw`: its JSON."""
    if not isinstance(fields, dict):
        return {"role": UNKNOWN, "content": fields if isinstance(fields, str) else _text(raw)}
    made = {**fields, "role": shaped_role(fields.get("role"))}
    if not is_content(content := fields.get("content")):
        posted = decode(raw, dict[str, msgspec.Raw])["content"]
        made["content"] = shaped_content(content, bytes(posted))
    if not _is_id(id_ := fields.get("tool_call_id")):
        made["tool_call_id"] = json_text(id_)
    calls = fields.get("tool_calls") or []
    calls = calls if isinstance(calls, list) else [calls]
    made["tool_calls"] = list(map(_call, calls)) if any(calls) else []
    if fields.get("function_call"):
        made["function_call"] = _function(fields["function_call"])
    return made


def shaped_role(role: Any) -> str:
    """Return the role; another spelling of a known one counts as that one."""
    given = role.strip() if isinstance(role, str) else ""
    if given.lower() in ROLES:
        return given.lower()
    return given if _ROLE.fullmatch(given) else UNKNOWN


def shaped_content(content: Any, raw: bytes) -> str | list[Part]:
    """Return a decoded content as text or as a list of parts. `raw`: its JSON."""
    if isinstance(content, list):
        pairs = zip(content, decode(raw, list[msgspec.Raw]), strict=True)
        return [part if is_part(part) else _part(part, bytes(posted)) for part, posted in pairs]
    if is_part(content) and content["type"] not in TEXT_PARTS:  # an image, whose data is no text
        return [content]
    return content if isinstance(content, str) else _text(raw)


def _part(part: Any, raw: bytes) -> Part:
    if not isinstance(part, dict):
        return {"type": "text", "text": part if isinstance(part, str) else _text(raw)}
    kind = part.get("type")
    text: Any = part.get("refusal" if kind == "refusal" else "text")
    if isinstance(text, str):
        pass
    elif isinstance(kind, str):
        text = "" if text is None else json_text(text)
    elif any(map(is_data, strings(part))):
        return {**part, "type": next(iter(part))[:60]}
    else:
        text = _text(raw)
    return {**part, "type": "text", "text": text}


def _text(raw: bytes) -> str:
    return "" if raw == b"null" else raw.decode()


def _call(call: Any) -> dict[str, Any]:
    """Return a call with a name; one without the object that should hold it is that object."""
    if not isinstance(call, dict):
        return {"function": _function(call)}
    key = "custom" if call.get("custom") and not call.get("function") else "function"
    id_ = call.get("id")
    body = call.get(key) or {name: call[name] for name in ("name", "arguments") if name in call}
    return {**call, "id": id_ if _is_id(id_) else json_text(id_), key: _function(body)}


def _function(body: Any) -> dict[str, Any]:
    if isinstance(body, str):
        body = {"name": body}
    elif not isinstance(body, dict):
        body = {"arguments": body}
    name = body.get("name")
    return {**body, "name": name if isinstance(name, str) and name else UNKNOWN}
