"""Places of a JSON object's fields in its bytes, so that one can be changed without touching the
rest."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import NamedTuple

import msgspec

_KEY = re.compile(rb'[ \t\r\n]*("[^"\\]*+(?:\\.[^"\\]*+)*+")[ \t\r\n]*:[ \t\r\n]*', re.DOTALL)
_NEXT = re.compile(rb"[ \t\r\n]*,?[ \t\r\n]*")


class FieldSpan(NamedTuple):
    """A field: its key begins at `key`, its value is [start, end)."""

    key: int
    start: int
    end: int


class DuplicateKey(ValueError):
    """A duplicate key; `name`: the key, empty if unknown."""

    def __init__(self, name: str) -> None:
        super().__init__(name)
        self.name = name


def spans(raw: bytes, fields: Mapping[str, msgspec.Raw]) -> dict[str, FieldSpan]:
    """Scan an object that is known to be valid; `fields` gives the length of each value. Raises
    `DuplicateKey`: two readers of such an object may see two different ones."""
    field_spans: dict[str, FieldSpan] = {}
    at = raw.index(b"{") + 1
    while match := _KEY.match(raw, at):
        key = msgspec.json.decode(match[1], type=str)
        value = bytes(fields[key])
        # The decoder keeps the last of several values, so an earlier one differs, or its key was
        # seen before.
        if key in field_spans or not raw.startswith(value, match.end()):
            raise DuplicateKey(key)
        field_spans[key] = FieldSpan(match.start(1), match.end(), match.end() + len(value))
        after = _NEXT.match(raw, field_spans[key].end)
        at = after.end() if after else field_spans[key].end
    if len(field_spans) != len(fields) or raw[at : at + 1] != b"}":
        raise DuplicateKey("")
    return field_spans


def with_value(raw: bytes, fields: Mapping[str, msgspec.Raw], name: str, value: bytes) -> bytes:
    """Replace the value of one field; all other bytes stay. `fields`: as for `spans`. An object
    with a duplicate key is encoded anew, since the decoder decides which value counts, and so is
    one without the field."""
    try:
        span = spans(raw, fields).get(name)
    except DuplicateKey:
        span = None
    if span is None:
        return msgspec.json.encode({**fields, name: msgspec.Raw(value)})
    return raw[: span.start] + value + raw[span.end :]
