"""Access keys as they are stored: hashes of their values, never the values. And what is refused."""

from __future__ import annotations

import secrets
from collections.abc import Sequence
from hashlib import sha256

from memtree.errors import BadRequest
from memtree.ports.store import KeyRow

_SALT = b"memtree key\0"  # keeps them apart from plain SHA-256 tables and from our other hashes


def value_hash(credential: str) -> str:
    """64 hex digits. A lone surrogate (a header that was no UTF-8) is hashed as it is."""
    return sha256(_SALT + credential.encode("utf-8", "surrogatepass")).hexdigest()


def value_hashes(values: Sequence[str]) -> list[str]:
    """Hashes of a new key's values, doubles left out. `BadRequest` where there is none."""
    if isinstance(values, str) or not values or not all(values):
        raise BadRequest("A key needs one or more values, none of them empty.", param="values")
    return [value_hash(value) for value in dict.fromkeys(values)]


def new_key(label: str, values: int, now: float, tenant: str | None = None) -> KeyRow:
    """`tenant`: None for one of its own. Names are random, so they tell nothing of the values."""
    name = tenant or secrets.token_hex(32)
    return KeyRow(f"key_{secrets.token_hex(8)}", label, name, values, now)


def value_taken() -> BadRequest:
    return BadRequest("Another key has this value already.", param="values")


def label_taken(label: str) -> BadRequest:
    return BadRequest(f"There is a key {label} already; choose another label.", param="label")


def unknown_key(key_id: str) -> BadRequest:
    return BadRequest(f"There is no key {key_id}.", param="key")


def unknown_value() -> BadRequest:
    return BadRequest("The key does not have this value.", param="value")


def last_value() -> BadRequest:
    return BadRequest(
        "It is the only value of the key: add another one first, or revoke the key.",
        param="value",
    )
