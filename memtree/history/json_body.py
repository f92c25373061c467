"""Hold a request body as bytes with known spans, and write it back without re-encoding.

`split` finds the span of each top-level field and builds no objects. An array's items, such as the
posted messages, are found by their places, together with which of them came in an earlier request.
`Body.rewritten` removes our own fields and inserts new messages; every other byte, white space and
unknown fields included, stays as it was posted. The meaning of the fields is defined elsewhere.

    >>> split(b'{"model": "m", "x":1e2, "memory":true}').rewritten()
    b'{"model": "m", "x":1e2}'
"""

from __future__ import annotations

import json
import re
from array import array
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import msgspec

from memtree.errors import BadRequest
from memtree.history.message_list import EarlierList, RawMessages, next_number
from memtree.history.posted_json import decode, mended

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


def field_places(raw: bytes, fields: Mapping[str, msgspec.Raw]) -> dict[str, FieldSpan]:
    """Scan an object that is known to be valid; `fields` gives the length of each value. Raises
    `DuplicateKey`: two readers of such an object may see two different ones."""
    field_spans: dict[str, FieldSpan] = {}
    at = raw.index(b"{") + 1
    while match := _KEY.match(raw, at):
        key = decode(match[1], str) if b"\\" in match[1] else match[1][1:-1].decode()
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


def _spans(raw: bytes) -> tuple[dict[str, FieldSpan], bool]:
    """Return the fields of a JSON object, and True if it holds half surrogate pairs."""
    try:
        return field_places(raw, msgspec.json.decode(raw, type=dict[str, msgspec.Raw])), False
    except msgspec.DecodeError as error:
        if isinstance(error, msgspec.ValidationError) or (text := mended(raw)) == raw:
            raise
        return field_places(text, msgspec.json.decode(text, type=dict[str, msgspec.Raw])), True


def spans_of(raw: bytes) -> dict[str, FieldSpan]:
    """Find the fields of a JSON object, which may hold half surrogate pairs. Raises
    `msgspec.DecodeError`, and `DuplicateKey`."""
    return _spans(raw)[0]


def fields_of(raw: bytes) -> dict[str, msgspec.Raw]:
    """Return the raw fields of a JSON object, byte for byte. Raises as `spans_of` does."""
    try:
        return msgspec.json.decode(raw, type=dict[str, msgspec.Raw])
    except msgspec.DecodeError:
        spans = spans_of(raw).items()
        return {name: msgspec.Raw(raw[span.start : span.end]) for name, span in spans}


def elements_of(raw: bytes) -> list[bytes]:
    """Return the raw items of a JSON array, byte for byte. Raises `msgspec.DecodeError`."""
    items = decode(raw, list[msgspec.Raw])
    starts, ends = places_of(raw, raw.index(b"["), items)
    return [raw[start:end] for start, end in zip(starts, ends, strict=True)]


def with_value(raw: bytes, fields: Mapping[str, msgspec.Raw], name: str, value: bytes) -> bytes:
    """Replace the value of one field; all other bytes stay. `fields`: as for `field_places`. An
    object with a duplicate key is encoded anew, since the decoder decides which value counts, and
    so is one without the field."""
    try:
        span = field_places(raw, fields).get(name)
    except DuplicateKey:
        span = None
    if span is None:
        return msgspec.json.encode({**fields, name: msgspec.Raw(value)})
    return raw[: span.start] + value + raw[span.end :]


PLACES = "I"  # typecode of the arrays: no body has 4 GiB
_GAP = re.compile(rb"[ \t\r\n]*+,?[ \t\r\n]*+")


@dataclass(frozen=True, slots=True)
class JsonItems:
    """Items of a posted array, as places in the bytes of the body. Item i is
    `buffer[starts[i]:ends[i]]`, any JSON value. `number` names the list in this process; `earlier`:
    the list with which it begins, byte for byte, None if unknown; `size`: bytes of all items
    together."""

    buffer: bytes
    starts: array[int]
    ends: array[int]
    number: int
    earlier: EarlierList | None
    size: int

    def __len__(self) -> int:
        return len(self.starts)

    def raw(self, index: int) -> bytes:
        return self.buffer[self.starts[index] : self.ends[index]]

    def size_from(self, start: int) -> int:
        """Return the bytes of the items from `start` on."""
        return sum(self.ends[start:]) - sum(self.starts[start:])


def items_of(buffer: bytes, start: int, items: Sequence[msgspec.Raw]) -> JsonItems:
    """Return the items, given as decoded, of the valid array that begins at `start`."""
    starts, ends = places_of(buffer, start, items)
    return JsonItems(buffer, starts, ends, next_number(), None, sum(ends) - sum(starts))


def places_of(
    buffer: bytes, start: int, items: Sequence[msgspec.Raw]
) -> tuple[array[int], array[int]]:
    """Return where each item begins and ends. `items`: those of the valid array that begins at
    `start`."""
    starts, ends = array(PLACES), array(PLACES)
    at, gap = start + 1, _GAP.match
    for item in items:
        if match := gap(buffer, at):
            at = match.end()
        starts.append(at)
        at += len(item)
        ends.append(at)
    return starts, ends


MESSAGES = "messages"
OWN_FIELDS = frozenset(
    """
    model_context_limit target_tokens expiration_days memory mode query use_rag rag_options
    memory_options keep_patterns protected_tools
    """.split()
)

Remember = Callable[["Body", str, JsonItems], None]

_SURROGATE = re.compile("[\ud800-\udfff]")
# The enclosing place, and the last step. A full path for each value would repeat all keys above it.
_Place = tuple["_Place | None", str]


@dataclass(frozen=True, slots=True)
class Body:
    """A posted JSON object; `spans` in the order of the body, under decoded keys. `arrays`: the
    items of its arrays, as far as they were read or are known (`known_bodies`). `remember`: called
    with newly read items. `defaults`: values of fields that were not posted."""

    raw: bytes
    spans: Mapping[str, FieldSpan]
    arrays: dict[str, JsonItems] = field(default_factory=dict, compare=False, repr=False)
    remember: Remember | None = field(default=None, compare=False, repr=False)
    defaults: Mapping[str, Any] | None = None

    def fragment(self, name: str) -> bytes | None:
        """Return the raw JSON of a field, None if it is absent."""
        span = self.spans.get(name)
        return None if span is None else self.raw[span.start : span.end]

    def value(self, name: str) -> Any:
        """Return the decoded field, None if it is absent. Raises `BadRequest` that names it."""
        fragment = self.fragment(name)
        if fragment is None:
            return self.defaults.get(name) if self.defaults else None
        try:
            return decode(fragment)
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
            raise BadRequest(f"{name} is not valid JSON: {_reason(error)}", param=name) from error

    def items(self, name: str, most: int | None = None) -> JsonItems | None:
        """Return the places of an array's items; None if the field is absent, not an array, or
        empty. Raises `BadRequest` if there are more than `most` (None: no limit)."""
        items = self.arrays.get(name)
        if items is None and (span := self.spans.get(name)) is not None:
            try:
                decoded = decode(memoryview(self.raw)[span.start : span.end], list[msgspec.Raw])
            except msgspec.DecodeError:
                return None
            if decoded and (most is None or len(decoded) <= most):
                items = items_of(self.raw, span.start, decoded)
                self.arrays[name] = items
                if self.remember:
                    self.remember(self, name, items)
            elif decoded:
                raise BadRequest(f"{name} must be at most {most}", param=name)
        if items is not None and most is not None and len(items) > most:
            raise BadRequest(f"{name} must be at most {most}", param=name)
        return items

    def messages(self, most: int | None = None) -> RawMessages:
        """Return the posted messages, not yet parsed. Raises `BadRequest` if there are none, or
        more than `most` (None: no limit)."""
        items = self.items(MESSAGES, most)
        if items is None:
            raise BadRequest("messages must be a non-empty array", param="messages")
        return RawMessages(
            self.raw, items.starts, items.ends, items.earlier, items.size, items.number
        )

    def rewritten(self, changed: Mapping[str, bytes] | None = None) -> bytes:
        """Return the body without our own fields and with the values of `changed` (raw JSON), which
        are appended if they were not posted. If nothing changes, these are the posted bytes
        themselves.
        """
        changed = changed or {}
        if not changed and OWN_FIELDS.isdisjoint(self.spans):
            return self.raw
        spans = list(self.spans.items())
        pieces = [self.raw[: spans[0][1].key]]
        kept = 0
        for at, (name, span) in enumerate(spans):
            if name in OWN_FIELDS:
                continue
            # The text before this field (comma, white space) stays with it, unless it is first.
            head = span.key if kept == 0 else spans[at - 1][1].end
            pieces.append(self.raw[head : span.start])
            pieces.append(changed[name] if name in changed else self.raw[span.start : span.end])
            kept += 1
        for name in changed:
            if name not in self.spans:
                comma = b"," if kept else b""
                pieces.append(comma + msgspec.json.encode(name) + b":" + changed[name])
                kept += 1
        pieces.append(self.raw[spans[-1][1].end :])
        return b"".join(pieces)


def split(raw: bytes, *, halves: bool = False) -> Body:
    """Find the fields of a JSON object. `halves`: fields that are not our own may hold half
    surrogate pairs.

    Raises `BadRequest` for anything but a JSON object in UTF-8, and for a duplicate key: two
    readers of such a body may see two different requests.
    """
    try:
        spans, halved = _spans(raw)
    except msgspec.ValidationError as error:
        raise BadRequest("the body must be a JSON object") from error
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise BadRequest(f"the body is not valid JSON: {_reason(error)}") from error
    except DuplicateKey as error:
        name = error.name[:64]
        message = f"{name or 'a field'} is given twice in the body"
        raise BadRequest(message, param=name or None) from error
    check_utf8(raw, spans)
    if halved:
        ours = (raw[span.key : span.end] for name, span in spans.items() if name in OWN_FIELDS)
        check_characters(b"{%b}" % b",".join(ours) if halves else raw)
    return Body(raw, spans)


def check_characters(raw: bytes) -> None:
    """Raise `BadRequest` that names the place of a half surrogate pair in an otherwise valid body,
    such as `messages[0].content`."""
    try:
        body = json.loads(raw)
    except (ValueError, RecursionError):
        return
    waiting: list[tuple[_Place, object]] = [((None, ""), body)]
    while waiting:
        place, value = waiting.pop()
        if isinstance(value, str) and _SURROGATE.search(value):
            shown = _shown(place) or "body"
            message = f"{shown} holds half a surrogate pair, which is no character"
            raise BadRequest(message, param=shown)
        if isinstance(value, dict):
            waiting += [((place, f".{key}"), inner) for key, inner in value.items()]
        elif isinstance(value, list):
            waiting += [((place, f"[{index}]"), inner) for index, inner in enumerate(value)]


def _shown(place: _Place | None) -> str:
    names = []
    while place is not None:
        place, name = place
        names.append(name)
    return "".join(reversed(names)).lstrip(".")


def joined(fragments: Iterable[bytes]) -> bytes:
    """Return a JSON array of raw fragments."""
    return b"[" + b",".join(fragments) + b"]"


def extended(array: bytes, fragments: Iterable[bytes]) -> bytes:
    """Append raw fragments to the bytes of a non-empty JSON array."""
    return b",".join((array.rstrip()[:-1], *fragments)) + b"]"


def check_utf8(raw: bytes, spans: Mapping[str, FieldSpan]) -> None:
    """Raise `BadRequest` unless every field is valid UTF-8: the decoder skips strings that are not
    read. Messages are left out, since they are checked when they are read."""
    for name, span in spans.items():
        if name != MESSAGES:
            try:
                raw[span.start : span.end].decode()
            except UnicodeDecodeError as error:
                raise BadRequest(f"{name[:64]} is not valid UTF-8", param=name[:64]) from error


def _reason(error: Exception) -> str:
    """Return why a decoder failed, without quoting its input."""
    if isinstance(error, RecursionError):
        return "nested too deeply"
    if isinstance(error, UnicodeDecodeError):
        return f"invalid UTF-8 at byte {error.start}"
    return str(error)
