"""Compute the digests of messages, and the chain of addresses over a history.

`digest` is the hash of a message's canonical form (DESIGN section 5): role, text, tool calls as
(name, arguments as compact JSON), media by type and bytes or by address, the position of the call a
tool message answers. Ids, cache markers, reasoning (fields, parts, and thoughts among the words of
an assistant), signatures, the blocks that `volatile_blocks` names, and the difference between empty
and null content are left out, because clients re-send them differently. `address_i =
H(address_{i-1}, digest_i)`, seeded by format and tenant.

Every hashed part carries its length (msgpack), so that different parts never concatenate to the
same bytes.

An image, an audio file or a document is identified by its content, however a client wraps it. The
same picture may come as `image_url` with a data URL, as `input_image`, or as a `source` with a
media type and base64. It is identified by its media type and the SHA-256 of its bytes; if a client
sends an address or an id instead of the data, by that.
"""

from __future__ import annotations

import binascii
import re
from collections.abc import Iterable
from hashlib import sha256
from typing import Any

import msgspec

from memtree.history.attachments import Base64Data, attached_texts
from memtree.history.message import RESULT_ROLES, Message, Volatile, has_placeholder, label
from memtree.history.posted_json import canonical, encode
from memtree.text.spans import without

LONG = 1_000  # length in characters from which a string in an unknown part is hashed by itself
_SAFE = str.maketrans("-_", "+/")
_AUDIO = {"mp3": "audio/mpeg", "wav": "audio/wav"}
_SAME = {"image/jpg": "image/jpeg"}
_DATA = ("file_data", "data")
_DATA_OF_TEXT = ".source.data"  # the path of what `_by_content` hashes
_ADDRESSES = ("url", "file_url", "image_url", "file_id")
_KINDS = re.compile("image|audio|video|file|document")


def media_identity(part: dict[str, Any], label: str) -> bytes:
    """Return the canonical bytes of a content part that is neither text nor reasoning, for hashing.

    `label`: the words of its placeholder, such as `image` or `file plan.pdf`; it is part of the
    indexed text, so parts with different placeholders never have the same identity.
    """
    content = _by_content(_source(part)) if _KINDS.search(part["type"]) else None
    if content is not None:
        others = (text for path, text in attached_texts(part) if path != _DATA_OF_TEXT)
        return encode((label, *content, *others))
    kept = {key: _short(part[key]) for key in part if key != "cache_control"}
    return encode(kept, order="deterministic")


def _source(part: dict[str, Any]) -> dict[str, Any]:
    """Return the object that holds the data: under the part's own type, under `source`, or the part
    itself."""
    inner = part.get(part["type"])
    if isinstance(inner, str):
        return {"url": inner}
    return next((v for v in (inner, part.get("source")) if isinstance(v, dict)), part)


def _by_content(named: dict[str, Any]) -> tuple[str, str] | None:
    """Return (media type, SHA-256 of the bytes), ("at", address or id), or None for an unknown
    shape."""
    for key in _DATA:
        if isinstance(data := named.get(key), str):
            return _bytes(data, named)
    for key in _ADDRESSES:
        if isinstance(address := named.get(key), str):
            if address[:5].lower() == "data:":
                return _bytes(address, named)
            return "at", address
    return None


def _bytes(data: str, named: dict[str, Any]) -> tuple[str, str]:
    kind = str(named.get("media_type") or "")
    if named.get("type") == "text":  # Messages API: a document that is plain text
        return kind or "text/plain", sha256(data.encode("utf-8", "surrogatepass")).hexdigest()
    if isinstance(sound := named.get("format"), str):
        kind = kind or _AUDIO.get(sound, f"audio/{sound}")
    encoded = Base64Data.of(data)
    kind = (encoded.kind or kind).lower()
    return _SAME.get(kind, kind), sha256(_decoded(encoded, data)).hexdigest()


def _decoded(encoded: Base64Data, data: str) -> bytes:
    """Return the bytes; the text itself if it is not base64."""
    text = encoded.text[encoded.start :].translate(_SAFE)
    try:
        decoded = binascii.a2b_base64(text + "=" * (-len(text) % 4))
    except ValueError:
        decoded = b""
    return decoded or data.encode("utf-8", "surrogatepass")


def _short(value: Any, depth: int = 3) -> Any:
    """Return the value with long strings replaced by their hashes."""
    if isinstance(value, str):
        long = len(value) >= LONG
        return sha256(value.encode("utf-8", "surrogatepass")).hexdigest() if long else value
    if isinstance(value, dict) and depth:
        return {key: _short(inner, depth - 1) for key, inner in value.items()}
    return value


# Raise it whenever the canonical form, chunking or sealing changes. What is stored under another
# format is not found; it expires, and the history is indexed again when it is posted.
FORMAT = 4
DIGEST_BYTES = 32
NODE_ID_BYTES = 16

_encode = msgspec.msgpack.Encoder().encode


def digest(message: Message, volatile: Volatile) -> bytes:
    """Return 32 bytes that identify the message's content, without the position of an answered
    call."""
    role = message.role
    text = message.said
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
    parts = filter(has_placeholder, message.media_parts)
    return [media_identity(part, label(part)) for part in parts]


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
