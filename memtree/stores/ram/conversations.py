"""`ConversationStore` over dicts: the addresses that no other goes on from."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence

from memtree.ports.conversations import ConversationPlace, StoredConversation, newest_turn
from memtree.ports.store import IndexBatch
from memtree.stores.ram.database import RamPart, TenantData
from memtree.stores.references import ends_behind, gone_on_from, left_at_ends
from memtree.stores.rows import (
    AddressRow,
    ConversationRow,
    conversation_row,
    read_frontier,
    read_turn,
)


class RamConversations(RamPart):
    """`ConversationStore`."""

    async def conversations(
        self, tenant: str, now: float, limit: int, before: ConversationPlace | None = None
    ) -> list[StoredConversation]:
        data = self.database.read(tenant)
        rows = [
            row
            for row in data.conversations.values()
            if row.address in data.addresses and data.addresses[row.address].expires >= now
            if before is None or (row.used, row.address) < before
        ]
        rows.sort(key=lambda row: (row.used, row.address), reverse=True)
        return [_shown(data, row) for row in rows[:limit]]

    async def conversation(
        self, tenant: str, address: bytes, now: float
    ) -> StoredConversation | None:
        data = self.database.read(tenant)
        known = data.addresses.get(address)
        if known is None or known.expires < now:
            return None
        return _shown(data, data.conversations.get(address, ConversationRow(address, 0.0)))

    async def rename(self, tenant: str, address: bytes, title: str, now: float) -> int:
        def work(data: TenantData) -> int:
            known = data.addresses.get(address)
            if known is None or known.expires < now:
                return 0
            links = {row.address: row.previous for row in data.addresses.values()}
            ends = ends_behind(address, links, data.conversations)
            for end in ends:
                data.conversations[end] = data.conversations[end]._replace(own_title=title)
            return len(ends)

        return self.database.write(tenant, work)


def _shown(data: TenantData, row: ConversationRow) -> StoredConversation:
    frontier = read_frontier(data.frontiers[data.addresses[row.address].frontier].data)
    turns = [read_turn(turn.data) for turn in data.turns.values() if turn.address == row.address]
    newest = newest_turn(turns)
    return StoredConversation(row.address, row.end, frontier, newest, row.own_title, row.ordinal)


# -- what other ports change -------------------------------------------------------------------


def note_ends(
    data: TenantData, batch: IndexBatch, rows: Sequence[AddressRow], known: Collection[bytes]
) -> None:
    """`rows`: of the batch; `known`: those addresses that were stored before."""
    ended = data.conversations
    before = [ended.pop(each) for each in gone_on_from(rows, known) if each in ended]
    if rows and rows[-1].address not in known:
        row = conversation_row(rows[-1].address, batch.end)
        row = row.grown_from(before[-1]) if before else row
        if row.title and not row.ordinal:
            same = (each.ordinal for each in ended.values() if each.title == row.title)
            row = row._replace(ordinal=max(same, default=0) + 1)
        ended[row.address] = row


def note_use(data: TenantData, addresses: Iterable[bytes], used: float) -> None:
    """Of those that end a conversation."""
    for row in [data.conversations[each] for each in addresses if each in data.conversations]:
        data.conversations[row.address] = row._replace(used=max(row.used, used))


def note_gone(data: TenantData, previous: dict[bytes, bytes], gone: set[bytes]) -> None:
    """`previous`: of all addresses, before the deletion."""
    ended = [data.conversations.pop(each) for each in gone & data.conversations.keys()]
    data.conversations |= {row.address: row for row in left_at_ends(previous, gone, ended)}
