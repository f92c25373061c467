"""Tell which memories of a kind are the same one: by the values of the fields that are to be
unique.

Values are equal as JSON values after NFC: the order of an object's fields means nothing, 1 and 1.0
are one number, "1" and 1 are two values, upper and lower case differ. A field that is missing or
null is not unique, as in a database: such a memory takes no other's place.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from typing import Any

from memtree.memories.agents.schemas.memory_schema import KIND, MemorySchema
from memtree.text.normal_form import nfc

KEY_BYTES = 16


def unique_key(schema: MemorySchema, data: Mapping[str, Any]) -> bytes:
    """Equal for memories of which a scope may hold one; b"" where nothing is unique."""
    if not schema.unique_on:
        return b""
    names = sorted(set(schema.unique_on) - {KIND})
    if any(data.get(name) is None for name in names):
        return b""
    parts = [schema.kind, *(part for name in names for part in (name, canonical(data[name])))]
    said = json.dumps(parts, ensure_ascii=True, separators=(",", ":"))
    return hashlib.blake2b(said.encode(), digest_size=KEY_BYTES).digest()


def canonical(value: Any) -> str:
    """One text for all ways to write a JSON value.

    >>> canonical({"b": 1.0, "a": [True, "e\\u0301"]}) == canonical({"a": [True, "\\xe9"], "b": 1})
    True
    """
    if isinstance(value, Mapping):
        rows = sorted((_text(name), canonical(inner)) for name, inner in value.items())
        return "{" + ",".join(f"{name}:{inner}" for name, inner in rows) + "}"
    if isinstance(value, list | tuple):
        return "[" + ",".join(canonical(inner) for inner in value) + "]"
    if isinstance(value, str):
        return _text(value)
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    return json.dumps(value)


def _text(value: str) -> str:
    return json.dumps(nfc(value), ensure_ascii=True)
