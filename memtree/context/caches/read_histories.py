"""Keep what was read of posted lists, by the number of the list: a list that begins with an earlier
one is read from there on (docs/decisions/0033).

Kept are digests, addresses and counts, some 200 bytes a message, and of its text the ids and names
of calls. Nothing here is needed for an answer: what is not at hand is read again.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from memtree.conversation.history import HistoryRecord, nothing_read
from memtree.conversation.message import Message
from memtree.conversation.message_list import MessageList
from memtree.process.bounded import SizedRows

MOST = 48 * 1024 * 1024  # bytes: about 240,000 messages
MESSAGE_BYTES = 200  # of a message: its address, its places in six tuples, two numbers
TEXT_BYTES = 4  # of a character in the ids of its calls, which are the client's, at most
_RECORD_BYTES = 1_000


@dataclass(frozen=True, slots=True)
class _Row:
    """`before`: the list that this one branched off."""

    tenant: str
    record: HistoryRecord
    before: int | None = None

    @property
    def size(self) -> int:
        ids = TEXT_BYTES * self.record.texts
        return _RECORD_BYTES + MESSAGE_BYTES * self.record.length + ids


class ReadHistories:
    """Records of the newest lists, at most `most` bytes; the least recently used go first.

    A list takes the place of the one that it goes on from. One that says the end otherwise is a
    branch, and both may go on, as when two agents share a beginning: the newest two are kept.
    """

    def __init__(self, most: int = MOST) -> None:
        self._rows: SizedRows[int, _Row] = SizedRows(most, lambda _, row: row.size)

    @property
    def nbytes(self) -> int:
        """Estimate the bytes that it holds now."""
        return self._rows.nbytes

    @property
    def tenants(self) -> set[str]:
        """Tenants of whom something is kept."""
        return {row.tenant for row in self._rows.values()}

    def known(self, tenant: str, posted: Sequence[Message]) -> HistoryRecord:
        """Return what is known of the beginning of a list, or of all of it."""
        if isinstance(posted, MessageList):
            if (row := self._row(tenant, posted.number)) and row.record.length == len(posted):
                return row.record
            if posted.earlier and (row := self._row(tenant, posted.earlier.number)):
                return row.record.first(posted.earlier.length)
        return nothing_read(tenant)

    def add(self, tenant: str, posted: Sequence[Message], record: HistoryRecord) -> None:
        """Keep what was read of a list."""
        if not isinstance(posted, MessageList):
            return
        earlier = posted.earlier
        row = _Row(
            tenant, record, self._replaced(tenant, earlier.number, record) if earlier else None
        )
        self._rows.put(posted.number, row)

    def forget(self, tenant: str | None) -> None:
        """Forget the histories of a tenant, or of all tenants (None)."""
        self._rows.drop_where(lambda _, row: tenant in (None, row.tenant))

    def _replaced(self, tenant: str, number: int, record: HistoryRecord) -> int | None:
        """Drop what a list makes superfluous that began with list `number`; the one of which it is
        a branch."""
        earlier = self._row(tenant, number)
        if earlier is None:
            return None
        goes_on = _begins_with(record, earlier.record)
        if not goes_on and earlier.before is not None:
            self._rows.drop(earlier.before)
        if not goes_on:
            return number
        self._rows.drop(number)
        return earlier.before

    def _row(self, tenant: str, number: int) -> _Row | None:
        row = self._rows.get(number)
        return row if row is not None and row.tenant == tenant else None


def _begins_with(record: HistoryRecord, other: HistoryRecord) -> bool:
    """Return True if a list says all that the other one says, and in the same words."""
    size = len(other.facts)
    return size <= len(record.facts) and record.addresses[size] == other.addresses[size]
