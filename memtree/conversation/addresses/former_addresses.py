"""Addresses in format 2, so that data stored before format 3 is found until it expires.

Format 2 hashed the arguments of tool calls as posted, media with their wrapping,
`<system-reminder>` blocks in tool results, and the blocks of Codex. A message without these has the
same digest in both formats; its leaves keep their ids. From the first message whose digest differs,
a history is indexed again (its leaves refer to a different text), with the vectors of all leaves
that stay.
"""

from __future__ import annotations

from hashlib import sha256
from typing import Any

import msgspec

from memtree.conversation.message import Message, Volatile, is_said

FORMAT = 2
_LATER_TAGS = ("environment_context", "INSTRUCTIONS")
_LONG = 1_000  # length in characters from which a string in a part was hashed by itself

_encode = msgspec.msgpack.Encoder().encode


def former_digest(message: Message, volatile: Volatile) -> bytes:
    """Return the 32 bytes that identified the message's content in format 2."""
    role = message.role
    text = message.words
    if role == "user":
        text = Volatile(tuple(tag for tag in volatile.tags if tag not in _LATER_TAGS)).strip(text)
    given = message.fields.get("name") if role in ("user", "assistant") else None
    name = given if isinstance(given, str) else ""
    calls = [(call.name, call.arguments) for call in message.calls]
    return sha256(_encode((role, name, text, calls, _media(message)))).digest()


def former_root(tenant: str) -> bytes:
    """Return a tenant's `address_0` in format 2."""
    return sha256(_encode(("memtree", FORMAT, tenant))).digest()


def _media(message: Message) -> list[bytes]:
    encoded = []
    for part in message.parts:
        if not is_said(part):
            kept = {key: _named(part[key]) for key in part if key != "cache_control"}
            encoded.append(msgspec.json.encode(kept, order="deterministic"))
    return encoded


def _named(value: Any, depth: int = 3) -> Any:
    if isinstance(value, str):
        long = len(value) >= _LONG
        return sha256(value.encode("utf-8", "surrogatepass")).hexdigest() if long else value
    if isinstance(value, dict) and depth:
        return {key: _named(inner, depth - 1) for key, inner in value.items()}
    return value
