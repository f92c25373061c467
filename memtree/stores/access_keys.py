"""Access keys as they are stored: hashes of their values, never the values."""

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


def taken() -> BadRequest:
    return BadRequest("Another key has this value already.", param="values")


def new_key(label: str, values: int, now: float) -> KeyRow:
    """A key with a tenant of its own: both random, so they tell nothing of the values."""
    return KeyRow(f"key_{secrets.token_hex(8)}", label, secrets.token_hex(32), values, now)
