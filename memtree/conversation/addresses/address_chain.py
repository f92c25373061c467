"""Digests of messages and the chain of addresses over a history.

`digest` is the hash of a message's canonical form (DESIGN section 5): role, text, tool calls as
(name, arguments as compact JSON), media by type and bytes or by address, the position of the call a
tool message answers. Ids, cache markers, reasoning (fields and parts), refusals, signatures, the
blocks that `volatile_blocks` names, and the difference between empty and null content are left out,
because clients re-send them differently. `address_i = H(address_{i-1}, digest_i)`, seeded by format
and tenant.

Every hashed part carries its length (msgpack), so that different parts never concatenate to the
same bytes.
"""

from __future__ import annotations

from collections.abc import Iterable
from hashlib import sha256

import msgspec

from memtree.conversation.content.call_arguments import canonical
from memtree.conversation.content.volatile_blocks import without
from memtree.conversation.media.identity import media_identity
from memtree.conversation.message import RESULT_ROLES, Message, Volatile, is_said, label

# Raise it whenever the canonical form, chunking or sealing changes. What is stored under another
# format is not found; it expires, and the history is indexed again when it is posted.
FORMAT = 3
DIGEST_BYTES = 32
NODE_ID_BYTES = 16

_encode = msgspec.msgpack.Encoder().encode


def digest(message: Message, volatile: Volatile) -> bytes:
    """Return 32 bytes that identify the message's content, without the position of an answered
    call."""
    role = message.role
    text = message.words
    if role == "user":
        text = volatile.strip(text)
    elif role in RESULT_ROLES:
        text = without(text, volatile.find_in_result(text))
    given = message.fields.get("name") if role in ("user", "assistant") else None
    name = given if isinstance(given, str) else ""
    calls = [(call.name, canonical(call.arguments)) for call in message.calls]
    return sha256(_encode((role, name, text, calls, media(message)))).digest()


def media(message: Message) -> list[bytes]:
    """Return the canonical bytes of each part that is neither text nor reasoning, in order, for
    hashing."""
    return [media_identity(part, label(part)) for part in message.parts if not is_said(part)]


def positioned(base: bytes, position: int | None) -> bytes:
    """Return the digest of a tool message: `base` bound to the position of the call it answers."""
    return base if position is None else sha256(_encode((base, position))).digest()


def root(tenant: str) -> bytes:
    """Return a tenant's `address_0`."""
    return sha256(_encode(("memtree", FORMAT, tenant))).digest()


def chain(start: bytes, digests: Iterable[bytes]) -> list[bytes]:
    """Return the addresses of the prefixes that end after each digest. Address and digest have
    fixed lengths."""
    addresses, current = [], start
    for message_digest in digests:
        current = sha256(current + message_digest).digest()
        addresses.append(current)
    return addresses


def node_id(*parts: object) -> bytes:
    """Return 16 bytes that identify a leaf or node by its parts."""
    return sha256(_encode(parts)).digest()[:NODE_ID_BYTES]
