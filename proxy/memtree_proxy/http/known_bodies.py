"""Bodies whose beginning was posted before: only the rest is parsed (docs/decisions/0033).

A client posts its whole history with every turn. So a body is compared, in blocks of 16 KiB, with
earlier ones, by the digest of all bytes up to the end of each block. The rest after the last item
within known blocks is decoded, with a `null` in place of all items before it:

    {"model":"m","messages":[{...},{...},{...}],"stream":true}
    '------- known --------------------' '------ new ----------------'
    {"messages":[null,{...}],"stream":true}        the decoded text

This finds the same spans as `json_body.split`, which is used whenever this fails, also to report
errors in the body. If all blocks of a known body match, the bytes after them up to the end of its
items are compared, too: a growing history is read from its first new item on. Digests are xxh3-128,
seeded by process, tenant and field, as for messages (`memtree.context.read_histories`): no body
matches one of another tenant. Digests, places and names of fields are stored; no text.
"""

from __future__ import annotations

from array import array
from bisect import bisect_left
from collections import Counter, OrderedDict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from threading import Lock

import msgspec
import xxhash

from memtree.errors import BadRequest
from memtree.history import json_body
from memtree.history.json_body import Body, DuplicateKey, FieldSpan, JsonItems
from memtree.history.message_list import EarlierList, next_number

MOST = 32 * 1024 * 1024
BLOCK = 16 * 1024
LEAST = 2 * BLOCK  # bytes of a body: parsing a shorter one costs no more
_BODY_BYTES = 1_000  # of a known body besides its lists
_BLOCK_BYTES = 160  # of a digest: the bytes, and its rows in a list and a dict
_FIELD_BYTES = 300
_ENDED = (b"}", b"]", b'"')  # ends of an item that nothing can be appended to

Fields = tuple[tuple[str, FieldSpan], ...]


@dataclass(frozen=True, slots=True, eq=False)
class KnownBody:
    """Record of an earlier body. `fields`: all of them; `blocks`: digests of the bytes up to the
    ends of its first blocks; `last`: of the bytes between these and the end of the items; `whole`:
    of all of it."""

    tenant: str
    field: str
    fields: Fields
    items: JsonItems  # with an empty buffer
    blocks: tuple[bytes, ...]
    last: bytes
    whole: bytes

    @property
    def size(self) -> int:
        places = 2 * self.items.starts.itemsize * len(self.items)
        names = sum(_FIELD_BYTES + len(name) for name, _ in self.fields)
        return _BODY_BYTES + places + names + _BLOCK_BYTES * (len(self.blocks) + 2)


@dataclass(frozen=True, slots=True)
class BodyBeginning:
    """Known part of a body: its first `length` items are those of `known`. `digests`: of the bytes
    up to the end of each block, and last of all of it; None if they were not computed. `deletions`:
    number of deletions so far."""

    tenant: str
    field: str
    raw: bytes
    deletions: int
    digests: tuple[bytes, ...] | None = None
    known: KnownBody | None = None
    length: int = 0

    @property
    def whole(self) -> bool:
        """Return True if exactly the same body came before."""
        return bool(self.known and self.digests and self.digests[-1] == self.known.whole)

    @property
    def end(self) -> int:
        """Return where the known items end."""
        return self.known.items.ends[self.length - 1] if self.known else 0

    @property
    def new(self) -> int:
        """Return the bytes that must be parsed."""
        return 0 if self.whole else len(self.raw) - self.end


class KnownBodies:
    """Cache of known bodies, shared by all routes of a process: the field distinguishes bodies of
    different routes."""

    def __init__(self, seed: int, most: int = MOST) -> None:
        """`seed`: random per process. `most`: bytes."""
        self._seed = seed & 0xFFFF_FFFF
        self._most = most
        self._nbytes = 0
        self._deletions = 0
        self._found: dict[bytes, KnownBody] = {}
        self._bodies: OrderedDict[KnownBody, int] = OrderedDict()  # with the blocks that lead to it
        self._whose: Counter[tuple[str, str]] = Counter()
        self._changing = Lock()  # bodies are read in several threads

    @property
    def nbytes(self) -> int:
        """Estimate the bytes that it holds now."""
        return self._nbytes

    def begin(self, tenant: str, field: str, raw: bytes) -> BodyBeginning:
        """Compare a body with earlier ones. `field`: its array. Takes some microseconds, and less
        than a millisecond for 10 MB."""
        nothing = BodyBeginning(tenant, field, raw, self._deletions)
        if len(raw) < LEAST or not self._whose[tenant, field]:
            return nothing
        digests = self._digests(tenant, field, raw)
        hashed = replace(nothing, digests=digests)
        with self._changing:
            if known := self._found.get(digests[-1]):
                self._bodies.move_to_end(known)
                return replace(hashed, known=known, length=len(known.items))
            for at in range(len(digests) - 2, -1, -1):
                if known := self._found.get(digests[at]):
                    # The byte after an item must be known: a number might continue.
                    length = bisect_left(known.items.ends, (at + 1) * BLOCK)
                    if at + 1 == len(known.blocks) and known.last:
                        same = self._last(nothing, known) == known.last
                        length = len(known.items) if same else length
                    if not length:
                        break
                    self._bodies.move_to_end(known)
                    return replace(hashed, known=known, length=length)
        return hashed

    def split(self, beginning: BodyBeginning) -> Body:
        """Split the body as `json_body.split` does, and remember it for the next body. Raises
        `BadRequest`."""
        if known := beginning.known:
            if beginning.whole:
                earlier = EarlierList(known.items.number, len(known.items))
                items = replace(known.items, buffer=beginning.raw, earlier=earlier)
                return Body(beginning.raw, dict(known.fields), {known.field: items})
            if body := _continued(beginning, known):
                self._add(beginning, body, body.arrays[beginning.field])
                return body
        if len(beginning.raw) < LEAST:
            return json_body.split(beginning.raw, halves=True)
        slow = replace(beginning, known=None, length=0)

        def remember(body: Body, name: str, items: JsonItems) -> None:
            known = slow if name == slow.field else replace(slow, field=name, digests=None)
            self._add(known, body, items)

        return replace(json_body.split(beginning.raw, halves=True), remember=remember)

    def forget(self, tenant: str | None) -> None:
        """Forget bodies of a tenant, or all of them (None). Bodies that are being read are not
        stored."""
        with self._changing:
            self._deletions += 1
            for body in [entry for entry in self._bodies if tenant in (None, entry.tenant)]:
                self._drop(body)

    def _add(self, beginning: BodyBeginning, body: Body, items: JsonItems) -> None:
        tenant, field, raw = beginning.tenant, beginning.field, beginning.raw
        digests = beginning.digests or self._digests(tenant, field, raw)
        # A block that extends beyond the items is never the beginning of a longer body.
        blocks = digests[: items.ends[-1] // BLOCK]
        kept = replace(items, buffer=b"", earlier=None)
        made = KnownBody(tenant, field, tuple(body.spans.items()), kept, blocks, b"", digests[-1])
        made = replace(made, last=self._last(beginning, made))
        with self._changing:
            if made.size > self._most or beginning.deletions != self._deletions:
                return
            self._leave(blocks)
            if same := self._found.get(made.whole):
                self._drop(same)
            self._bodies[made] = len(blocks)
            self._nbytes += made.size
            self._whose[tenant, field] += 1
            self._found.update(dict.fromkeys((*blocks, made.whole), made))
            while self._nbytes > self._most:
                self._drop(next(iter(self._bodies)))

    def _leave(self, blocks: Iterable[bytes]) -> None:
        """Remove other bodies' references to these blocks. A body that had them alone is the
        beginning of the newer one."""
        lost = Counter(self._found[block] for block in blocks if block in self._found)
        for body, count in lost.items():
            self._bodies[body] -= count
            if not self._bodies[body]:
                self._drop(body)

    def _drop(self, body: KnownBody) -> None:
        del self._bodies[body]
        self._nbytes -= body.size
        self._whose[body.tenant, body.field] -= 1
        if not self._whose[body.tenant, body.field]:
            del self._whose[body.tenant, body.field]
        for digest in (*body.blocks, body.whole):
            if self._found.get(digest) is body:
                del self._found[digest]

    def _last(self, beginning: BodyBeginning, known: KnownBody) -> bytes:
        """Return a digest of the bytes at which the items of a known body end, after its blocks.
        Empty if an item might continue after its end, as a number might."""
        start, end = len(known.blocks) * BLOCK, known.items.ends[-1]
        part = beginning.raw[start:end]
        if part[-1:] not in _ENDED or len(part) < end - start:
            return b""
        return xxhash.xxh3_128_digest(part, self._seed_of(known.tenant, known.field))

    def _seed_of(self, tenant: str, field: str) -> int:
        return xxhash.xxh3_64_intdigest(msgspec.msgpack.encode((tenant, field)), self._seed)

    def _digests(self, tenant: str, field: str, raw: bytes) -> tuple[bytes, ...]:
        seed = self._seed_of(tenant, field)
        made, whole = xxhash.xxh3_128(seed=seed), memoryview(raw)
        digests = []
        for end in range(BLOCK, len(raw) + 1, BLOCK):
            made.update(whole[end - BLOCK : end])
            digests.append(made.digest())
        made.update(whole[len(raw) - len(raw) % BLOCK :])
        return (*digests, made.digest() + b"whole")


def _continued(beginning: BodyBeginning, known: KnownBody) -> Body | None:
    """Return the body, parsed from the end of the known part; None if that fails."""
    raw, name = beginning.raw, beginning.field
    at = [field for field, _ in known.fields].index(name)
    before, (_, array_span) = dict(known.fields[:at]), known.fields[at]
    head = b"{" + msgspec.json.encode(name) + b":[null"
    rest = head + raw[beginning.end :]
    shift = beginning.end - len(head)
    try:
        fields = msgspec.json.decode(rest, type=dict[str, msgspec.Raw])
        spans = json_body.field_places(rest, fields)
        decoded = msgspec.json.decode(fields[name], type=list[msgspec.Raw])
        del fields[name]
        json_body.check_utf8(rest, {field: spans[field] for field in fields})
        if name != json_body.MESSAGES:
            rest[spans[name].start : spans[name].end].decode()
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError, DuplicateKey, BadRequest):
        return None
    if not before.keys().isdisjoint(spans):
        return None
    items = _joined(beginning, known, json_body.places_of(rest, len(head) - 5, decoded), shift)
    own = FieldSpan(array_span.key, array_span.start, spans[name].end + shift)
    after = {
        field: FieldSpan(*(place + shift for place in span))
        for field, span in spans.items()
        if field != name
    }
    return Body(raw, {**before, name: own, **after}, {name: items})


def _joined(
    beginning: BodyBeginning,
    known: KnownBody,
    places: tuple[Sequence[int], Sequence[int]],
    shift: int,
) -> JsonItems:
    """Return the known items and those after them. `places`: of the latter, after a `null`, `shift`
    bytes before their places in the body."""
    length, all_of = beginning.length, known.items
    old = (all_of.starts[:length], all_of.ends[:length])
    new = [array(json_body.PLACES, (at + shift for at in part[1:])) for part in places]
    starts, ends = old[0] + new[0], old[1] + new[1]
    return JsonItems(
        beginning.raw,
        starts,
        ends,
        next_number(),
        EarlierList(all_of.number, length),
        all_of.size - all_of.size_from(length) + sum(new[1]) - sum(new[0]),
    )


def posted_beginning(bodies: KnownBodies, tenant: str, raw: bytes) -> BodyBeginning:
    """Return the known part of a body, by its messages or else by its items."""
    beginning = bodies.begin(tenant, "messages", raw)
    return beginning if beginning.known else bodies.begin(tenant, "input", raw)
