"""Stored rows, the same in every back end: columns beside the encoded value.

Pure: no I/O. `NodeRow.children` repeats the children ids as one run of bytes, so that a tree can be
walked without decoding it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from typing import NamedTuple

import msgspec

from memtree.budget import epoch as epochs
from memtree.budget.epoch import Epoch, EpochTurn
from memtree.conversation.address_chain import NODE_ID_BYTES
from memtree.days import day_of
from memtree.errors import BadRequest, NodesGone, StoreCorrupt
from memtree.ports.conversations import HistoryEnd
from memtree.ports.request_log import RequestRow
from memtree.ports.store import TALLY_DAYS, IndexBatch, Receipt
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


class RecipeRow(NamedTuple):
    """Recipe of all tenants' vectors. `day`: the last day (since 1970, UTC) on which a sweep
    counted; `idle`: days since it was last used."""

    recipe: str
    day: int
    idle: int = 0


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
class TenantRows:
    """All rows of one tenant, each table read once and in this order."""

    nodes: Iterable[NodeRow] = ()
    frontiers: Iterable[FrontierRow] = ()
    addresses: Iterable[AddressRow] = ()
    vectors: Iterable[VectorRow] = ()
    summaries: Iterable[SummaryRow] = ()
    epochs: Iterable[EpochRow] = ()
    turns: Iterable[TurnRow] = ()
    claims: Iterable[ClaimRow] = ()
    conversations: Iterable[ConversationRow] = ()
    requests: Iterable[RequestRow] = ()


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


def read_node(data: bytes) -> Node:
    """Decode a node. All decoders here raise `StoreCorrupt`."""
    try:
        return decode_node(data)
    except msgspec.DecodeError as error:
        raise _corrupt("node", error) from error


def read_frontier(data: bytes) -> Frontier:
    try:
        return decode_frontier(data)
    except msgspec.DecodeError as error:
        raise _corrupt("frontier", error) from error


def read_summary(data: bytes) -> Summary:
    try:
        return decode_summary(data)
    except msgspec.DecodeError as error:
        raise _corrupt("summary", error) from error


def read_epoch(data: bytes) -> Epoch:
    try:
        return epochs.decode_epoch(data)
    except msgspec.DecodeError as error:
        raise _corrupt("epoch", error) from error


def read_turn(data: bytes) -> EpochTurn:
    try:
        return epochs.decode_turn(data)
    except msgspec.DecodeError as error:
        raise _corrupt("turn", error) from error


decode_summary = msgspec.msgpack.Decoder(Summary).decode


def _corrupt(what: str, error: msgspec.DecodeError) -> StoreCorrupt:
    return StoreCorrupt(f"A stored {what} does not decode ({error}); {ADVICE}")


def within(
    stored: Mapping[str, int], amounts: Mapping[str, int], limits: Mapping[str, int]
) -> bool:
    """Return True if no total exceeds its limit once the amounts are added to `stored`."""
    return all(
        stored.get(name, 0) + amounts.get(name, 0) <= limit for name, limit in limits.items()
    )


def oldest_tally(now: float) -> int:
    """Return the first day whose tallies are kept at time `now`."""
    return day_of(now) - TALLY_DAYS


def added(first: Receipt, second: Receipt) -> Receipt:
    return Receipt(*map(sum, zip(first, second, strict=True)))


def gone(what: str) -> NodesGone:
    return NodesGone(f"{what} was deleted meanwhile; nothing was written")


ADVICE = (
    "run `memtree check`, then restore it from a backup, or remove it: context memory is rebuilt "
    "from what clients post, saved memories are not"
)
