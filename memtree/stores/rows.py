"""Stored rows, the same in every back end: columns beside the encoded value.

Pure: no I/O. `NodeRow.children` repeats the children ids as one run of bytes, so that a tree can be
walked without decoding it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from typing import NamedTuple

import msgspec

from memtree.budget import epoch as epochs
from memtree.budget.epoch import Epoch, EpochTurn
from memtree.days import day_of
from memtree.errors import BadRequest, MemTreeError, NodesGone, StoreUnavailable
from memtree.history.address_chain import NODE_ID_BYTES
from memtree.ports.conversations import HistoryEnd
from memtree.ports.store import TALLY_DAYS, IndexBatch, Receipt
from memtree.stores.sql import reader
from memtree.tree.node import Frontier, Node, Summary, decode_frontier, decode_node, encode

COUNTED = tuple(name for name in Receipt._fields if name != "jobs")  # tables of a `Receipt`


class NodeRow(NamedTuple):
    id: bytes
    level: int
    children: bytes
    data: bytes


class FrontierRow(NamedTuple):
    """Many addresses share a frontier, so it is stored once, by a hash of its encoding."""

    key: bytes
    data: bytes


class AddressRow(NamedTuple):
    """`previous`: the stored address before it on its chain; empty where there is none."""

    address: bytes
    frontier: bytes
    expires: float
    previous: bytes = b""


class VectorRow(NamedTuple):
    recipe: str
    id: bytes
    data: bytes


class SummaryRow(NamedTuple):
    id: bytes
    version: int
    data: bytes


class EpochRow(NamedTuple):
    id: bytes
    data: bytes
    expires: float


class TurnRow(NamedTuple):
    key: bytes
    address: bytes
    epoch: bytes
    data: bytes


class ClaimRow(NamedTuple):
    """`owner` has the sole right to summarise the node until `until` (unix seconds)."""

    id: bytes
    owner: str
    until: float


class TallyRow(NamedTuple):
    """`day`: days since 1970, UTC. Stays when the tenant's other rows are deleted."""

    tenant: str
    day: int
    name: str
    amount: int


class ConversationRow(NamedTuple):
    """End of a conversation: its last address and its `HistoryEnd`; `whole`: 1 or 0. `ordinal`,
    `own_title` and `pins`: as in `StoredConversation`."""

    address: bytes
    used: float
    messages: int = 0
    tokens: int = 0
    first: int = 0
    whole: int = 1
    title: str = ""
    client: str = ""
    project: str = ""
    ordinal: int = 0
    own_title: str = ""
    pins: str = ""

    @property
    def end(self) -> HistoryEnd:
        return HistoryEnd(*self[1:5], bool(self.whole), self.title, self.client, self.project)


@dataclass(frozen=True, slots=True)
class NewTurn:
    """Turn to store, as given to `PlanStore.put_turn`."""

    key: bytes
    address: bytes
    turn: EpochTurn
    epoch: Epoch | None
    nodes: Sequence[Node]
    instead_of: bytes
    expires: float

    def yields_to(self, standing: EpochTurn | None) -> bool:
        return standing is not None and standing.epoch != self.instead_of


# ---------------------------------------------------------------- to rows


def node_row(node: Node) -> NodeRow:
    return NodeRow(node.id, node.level, b"".join(node.children), encode(node))


def frontier_row(frontier: Frontier) -> FrontierRow:
    data = encode(frontier)
    return FrontierRow(sha256(data).digest()[:NODE_ID_BYTES], data)


def address_rows(
    batch: IndexBatch, keys: Mapping[bytes, bytes], previous: bytes
) -> list[AddressRow]:
    """Build rows of addresses. `keys`: address to frontier key, in the order of the chain;
    `previous`: the address before the first."""
    before = (previous, *keys)
    return [
        AddressRow(address, key, batch.expires, link)
        for (address, key), link in zip(keys.items(), before, strict=False)
    ]


def conversation_row(address: bytes, end: HistoryEnd) -> ConversationRow:
    texts = (end.title, end.client, end.project)
    return ConversationRow(
        address, end.used, end.messages, end.tokens, end.first, int(end.whole), *texts
    )


def summary_rows(summaries: Mapping[bytes, Summary]) -> list[SummaryRow]:
    """Build rows of summaries. Raises `BadRequest` for version 0, which is stored in the node
    itself."""
    if not all(summary.version for summary in summaries.values()):
        raise BadRequest("Version 0 of a summary is kept in its node.", param="version")
    return [
        SummaryRow(node, summary.version, msgspec.msgpack.encode(summary))
        for node, summary in summaries.items()
    ]


def epoch_row(epoch: Epoch, expires: float) -> EpochRow:
    return EpochRow(epoch.id, epochs.encode(epoch), expires)


def turn_row(key: bytes, address: bytes, turn: EpochTurn) -> TurnRow:
    return TurnRow(key, address, turn.epoch, epochs.encode(turn))


# ---------------------------------------------------------------- from rows


def split_ids(run: bytes) -> list[bytes]:
    """Return the ids of `NodeRow.children`."""
    return [run[at : at + NODE_ID_BYTES] for at in range(0, len(run), NODE_ID_BYTES)]


ADVICE = (
    "run `memtree check`, then restore it from a backup, or remove it: context memory is rebuilt "
    "from what clients post, saved memories are not"
)
_CORRUPT = f"A stored {{}} does not decode ({{{{}}}}); {ADVICE}"
decode_summary = msgspec.msgpack.Decoder(Summary).decode
# All these raise `StoreCorrupt`.
read_node = reader(_CORRUPT.format("node"), decode_node)
read_frontier = reader(_CORRUPT.format("frontier"), decode_frontier)
read_summary = reader(_CORRUPT.format("summary"), decode_summary)
read_epoch = reader(_CORRUPT.format("epoch"), epochs.decode_epoch)
read_turn = reader(_CORRUPT.format("turn"), epochs.decode_turn)


def oldest_tally(now: float) -> int:
    """Return the first day whose tallies are kept at time `now`."""
    return day_of(now) - TALLY_DAYS


def added(first: Receipt, second: Receipt) -> Receipt:
    return Receipt(*map(sum, zip(first, second, strict=True)))


def is_outage(error: MemTreeError, broken: type[Exception]) -> bool:
    """Return True if a call failed because the store does not work; False if the store answered:
    with an error of ours, or with `broken`, its own for rows that break a constraint."""
    answered = isinstance(error, NodesGone) or isinstance(error.__cause__, broken)
    return isinstance(error, StoreUnavailable) and not answered


def gone(what: str) -> NodesGone:
    return NodesGone(f"{what} was deleted meanwhile; nothing was written")
