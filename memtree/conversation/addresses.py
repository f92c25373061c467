"""Digests of messages and the chain of addresses over a history.

`digest` is the hash of a message's canonical form (DESIGN section 5): role, text, tool calls as
(name, arguments), media by their data, the position of the call a tool message answers. Ids, cache
markers, reasoning (fields and parts), refusals, signatures and the difference between empty and
null content are left out, because clients re-send them differently. `address_i =
H(address_{i-1}, digest_i)`, seeded by format and tenant.

Everything that is hashed carries its length (msgpack), so parts cannot slide into each other.
"""

from __future__ import annotations

from collections.abc import Iterable
from hashlib import sha256
from typing import Any

import msgspec

from memtree.conversation.message import Message, Volatile, is_said

FORMAT = 2  # raise it whenever canonical form, chunking or sealing change: old memory is not met
DIGEST_BYTES = 32
NODE_ID_BYTES = 16
LONG = 1_000  # characters from which on a string in a part is hashed by itself

_encode = msgspec.msgpack.Encoder().encode


def digest(message: Message, volatile: Volatile) -> bytes:
    """32 bytes that name the message's content, without the position of an answered call."""
    role = message.role
    text = message.words
    if role == "user":
        text = volatile.strip(text)
    given = message.fields.get("name") if role in ("user", "assistant") else None
    name = given if isinstance(given, str) else ""
    calls = [(call.name, call.arguments) for call in message.calls]
    return sha256(_encode((role, name, text, calls, media(message)))).digest()


def media(message: Message) -> list[bytes]:
    """Canonical bytes of each part that is neither text nor reasoning, in order, for hashing."""
    found = []
    for part in message.parts:
        if not is_said(part):
            kept = {key: _named(part[key]) for key in part if key != "cache_control"}
            found.append(msgspec.json.encode(kept, order="deterministic"))
    return found


def _named(value: Any, depth: int = 3) -> Any:
    """The same with long strings named by their hash: a picture is not copied three times."""
    if isinstance(value, str):
        return (
            value
            if len(value) < LONG
            else sha256(value.encode("utf-8", "surrogatepass")).hexdigest()
        )
    if isinstance(value, dict) and depth:
        return {key: _named(inner, depth - 1) for key, inner in value.items()}
    return value


def positioned(base: bytes, position: int | None) -> bytes:
    """The digest of a tool message: `base` bound to the position of the call it answers."""
    return base if position is None else sha256(_encode((base, position))).digest()


def root(tenant: str) -> bytes:
    """`address_0` of a tenant."""
    return sha256(_encode(("memtree", FORMAT, tenant))).digest()


def chain(start: bytes, digests: Iterable[bytes]) -> list[bytes]:
    """Addresses of the prefixes that end after each digest; both lengths are fixed."""
    addresses, current = [], start
    for one in digests:
        current = sha256(current + one).digest()
        addresses.append(current)
    return addresses


def node_id(*parts: object) -> bytes:
    """16 bytes that name a leaf or node by what it is made of."""
    return sha256(_encode(parts)).digest()[:NODE_ID_BYTES]
