"""Caches what was read of posted messages: by the fragment, and by the whole list.

The key of a raw fragment is xxh3-128 of it, seeded by process and tenant: it is only a cache key,
the address stays the canonical form, and a collision crafted by one tenant does not affect another.

The results of reading a posted list are kept by the number of the list: a list that begins with an
earlier one is read only from there on. A record holds digests, addresses and counts, some 200 bytes
a message, and as its only text the ids and names of calls and what was derived: a title, paths,
commands. No answer depends on it: a list without a record is read again.

Both are described in docs/decisions/0033.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass, replace

import xxhash

from memtree.history.chat_history import History, MessageInfo
from memtree.history.message import Message
from memtree.history.message_list import MessageList
from memtree.process.bounded import CacheLimits, SizedRows, remember

# of facts about a fragment
ROW_BYTES = 500  # a key, its place, and a `MessageInfo` without calls
CALL_BYTES = 200  # of one call in it, besides its text
MARK_BYTES = 200  # of a day mark
KEEP_BYTES = 130  # of a passage that must be kept
SPEAKER_BYTES = 120  # of a speaker, besides the name

# of the records of lists
MOST = 48 * 1024 * 1024  # bytes: about 240,000 messages
MESSAGE_BYTES = 200  # of a message: its address, its places in six tuples, two numbers
TEXT_BYTES = 4  # of a character in the ids of its calls, which the client chooses; at most
_RECORD_BYTES = 1_000


class FragmentKeys:
    """Keys of raw fragments: 16 bytes that nobody outside this process can predict."""

    def __init__(self, seed: int) -> None:
        """`seed`: random per process."""
        self._seed = seed & 0xFFFF_FFFF
        self._seeds: OrderedDict[str, int] = OrderedDict()

    def of(self, tenant: str, raw: bytes) -> bytes:
        seed = self._seeds.get(tenant)
        if seed is None:
            seed = xxhash.xxh3_64_intdigest(tenant.encode(), self._seed)
            remember(self._seeds, tenant, seed)
        return xxhash.xxh3_128_digest(raw, seed)

    def forget(self) -> None:
        """Drop the tenants' seeds; the same keys are computed again."""
        self._seeds.clear()


class MessageCache:
    """A bounded `history.MessageInfoCache`; least recently used first out."""

    def __init__(self, seed: int, most: int = CacheLimits.of().message_infos) -> None:
        """`seed`: random per process. `most`: bytes."""
        self.keys = FragmentKeys(seed)
        self._facts: SizedRows[bytes, MessageInfo] = SizedRows(most, row_bytes)

    @property
    def nbytes(self) -> int:
        return self._facts.nbytes

    def get(self, tenant: str, raw: bytes) -> MessageInfo | None:
        return self._facts.get(self.keys.of(tenant, raw))

    def put(self, tenant: str, raw: bytes, facts: MessageInfo) -> None:
        self._facts.put(self.keys.of(tenant, raw), facts)

    def forget(self) -> None:
        """Drop everything: the keys do not tell which tenant they belong to."""
        self._facts.clear()
        self.keys.forget()


def row_bytes(_: bytes, info: MessageInfo) -> int:
    """Return the bytes that a row takes."""
    texts = sum(CALL_BYTES + len(id_) + len(name) for id_, name in info.calls)
    mark = MARK_BYTES if info.day_mark else 0
    mark += KEEP_BYTES * len(info.keeps)
    mark += SPEAKER_BYTES + len(info.spoken.name) if info.spoken.name else 0
    return ROW_BYTES + texts + mark + len(info.answers or "")


@dataclass(frozen=True, slots=True)
class _RecordRow:
    """`before`: the list that this one branched from. `derived`: bytes of what was derived when the
    row was stored, which may be more by now."""

    record: History
    before: int | None = None
    derived: int = 0

    @property
    def size(self) -> int:
        ids = TEXT_BYTES * self.record.texts
        return _RECORD_BYTES + MESSAGE_BYTES * self.record.length + ids + self.derived


class ReadHistories:
    """Records of the newest lists, at most `most` bytes; least recently used first out.

    A list replaces the one that it continues. One with a different end is a branch, and both may be
    continued, as when two agents share a beginning: the newest two are kept.
    """

    def __init__(self, most: int = MOST) -> None:
        self._rows: SizedRows[int, _RecordRow] = SizedRows(most, lambda _, row: row.size)

    @property
    def nbytes(self) -> int:
        """Return an estimate of the bytes held now."""
        return self._rows.nbytes

    @property
    def tenants(self) -> set[str]:
        """Return the tenants with records."""
        return {row.record.tenant for row in self._rows.values()}

    def known(self, tenant: str, posted: Sequence[Message]) -> History | None:
        """Return the record of the beginning of a list, or of all of it; None if nothing is
        known."""
        if isinstance(posted, MessageList):
            if (row := self._row(tenant, posted.number)) and row.record.length == len(posted):
                return row.record
            if posted.earlier and (row := self._row(tenant, posted.earlier.number)):
                return row.record.first(posted.earlier.length)
        return None

    def add(self, posted: Sequence[Message], read: History) -> None:
        """Store what was read of a list."""
        if not isinstance(posted, MessageList):
            return
        before = self._replaced(posted.earlier.number, read) if posted.earlier else None
        self._rows.put(posted.number, _RecordRow(read.unread(), before, read.derived.nbytes))

    def weigh(self, tenant: str, posted: Sequence[Message]) -> None:
        """Count what was derived from a list since its record was stored."""
        if isinstance(posted, MessageList) and (row := self._row(tenant, posted.number)):
            self._rows.put(posted.number, replace(row, derived=row.record.derived.nbytes))

    def forget(self, tenant: str | None) -> None:
        """Forget the histories of a tenant, or of all tenants (None)."""
        self._rows.drop_where(lambda _, row: tenant in (None, row.record.tenant))

    def _replaced(self, number: int, record: History) -> int | None:
        """Drop the record that a list makes superfluous, where the list began with list `number`;
        returns the list that it branched from."""
        earlier = self._row(record.tenant, number)
        if earlier is None:
            return None
        known = earlier.record
        size = len(known.facts)
        # the list begins with all messages of the earlier one, in the same words
        goes_on = size <= len(record.facts) and record.addresses[size] == known.addresses[size]
        if not goes_on and earlier.before is not None:
            self._rows.drop(earlier.before)
        if not goes_on:
            return number
        self._rows.drop(number)
        return earlier.before

    def _row(self, tenant: str, number: int) -> _RecordRow | None:
        row = self._rows.get(number)
        return row if row is not None and row.record.tenant == tenant else None
