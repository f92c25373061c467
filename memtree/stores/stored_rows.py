"""Hold the rows of conversations for every back end, and the rules of which rows need which.

Pure: no I/O. A row, the same in every back end, has columns beside the encoded value.
`NodeRow.children` repeats the children ids as one run of bytes, so that a tree can be walked
without decoding it.

The rules are over ids: which rows must be stored before a write, and which rows a deletion leaves
unneeded. All descendants of a stored node are stored: `commit` requires the children of new nodes,
and a collection keeps everything below the nodes that it keeps.

    addresses --> frontiers --> nodes --> nodes (children) <-- vectors, summaries, claims
    turns     --> epochs    --> nodes and summary versions that the plan names
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from typing import NamedTuple

import msgspec

from memtree.budget import epoch as epochs
from memtree.budget.epoch import Epoch, EpochTurn
from memtree.clock import day_of
from memtree.errors import BadRequest, MemTreeError, NodesGone, StoreUnavailable
from memtree.history.address_chain import NODE_ID_BYTES
from memtree.ports.context_store import TALLY_DAYS, HistoryEnd, IndexBatch, Receipt
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


Version = tuple[bytes, int]  # a node's id, and the version of its summary


def named(nodes: Iterable[Node], ids: Iterable[bytes]) -> set[bytes]:
    """Return the ids of nodes that a write refers to and that are not part of it: `ids`, and the
    children of `nodes`."""
    wanted, brought = set(ids), set()
    for node in nodes:
        brought.add(node.id)
        wanted.update(node.children)
    return wanted - brought


def frontier_nodes(frontiers: Iterable[Frontier]) -> Iterator[bytes]:
    return (node for frontier in frontiers for node in frontier.nodes)


def plan_nodes(epochs: Iterable[Epoch]) -> Iterator[bytes]:
    return (shown.id for epoch in epochs for shown in epoch.plan.outline)


def plan_versions(epochs: Iterable[Epoch]) -> set[Version]:
    """Return the summary versions that the plans of these epochs name. Version 0 is left out, since
    it is stored in the node itself."""
    every = (shown for epoch in epochs for shown in epoch.plan.outline)
    return {(shown.id, shown.version) for shown in every if shown.version}


def unneeded(children: Mapping[bytes, bytes], roots: Iterable[bytes]) -> set[bytes]:
    """Return the nodes that are not at or below a root. `children`: of every stored node, as in
    `NodeRow`."""
    kept: set[bytes] = set()
    todo = list(roots)
    while todo:
        node = todo.pop()
        if node in children and node not in kept:
            kept.add(node)
            todo += split_ids(children[node])
    return children.keys() - kept


def superseded(stored: Iterable[Version], kept: set[Version]) -> set[Version]:
    """Return the versions that are neither the newest of their node nor `kept`."""
    every = set(stored)
    newest: dict[bytes, int] = {}
    for node, version in every:
        newest[node] = max(version, newest.get(node, version))
    return every - kept - set(newest.items())


def gone_on_from(rows: Sequence[AddressRow], known: Collection[bytes]) -> list[bytes]:
    """Return the known addresses that new rows continue, in the order of the chain: they no longer
    end a conversation."""
    new = (row.previous for row in rows if row.address not in known and row.previous in known)
    return list(dict.fromkeys(new))


def left_at_ends(
    previous: Mapping[bytes, bytes], gone: set[bytes], ended: Iterable[ConversationRow]
) -> list[ConversationRow]:
    """Return the addresses that end a conversation now, because all addresses that continued them
    are `gone`. `previous`: of all addresses before the deletion; `ended`: the rows of the deleted
    conversations. Their use also used the addresses before them; their sizes are unknown.
    """
    nearest: dict[bytes, bytes] = {}
    rows: dict[bytes, ConversationRow] = {}
    for row in sorted(ended, key=lambda row: (row.used, row.address)):
        address = _nearest(row.address, previous, gone, nearest)
        if address:
            rows[address] = row._replace(address=address, messages=0, tokens=0, whole=1)
    if rows:
        links = {**previous, **relinked(previous, gone)}
        for address in previous.keys() - gone:
            rows.pop(links[address], None)
    return list(rows.values())


def relinked(previous: Mapping[bytes, bytes], gone: set[bytes]) -> dict[bytes, bytes]:
    """Return new links for the remaining addresses whose previous one is `gone`: the nearest that
    remains. So the rest of a chain holds together, and no row names a deleted one.
    """
    links: dict[bytes, bytes] = {}
    nearest: dict[bytes, bytes] = {}  # a gone address -> the nearest before it that stays
    for address, link in previous.items():
        if link in gone and address not in gone:
            links[address] = _nearest(link, previous, gone, nearest)
    return links


def _nearest(
    link: bytes, previous: Mapping[bytes, bytes], gone: set[bytes], nearest: dict[bytes, bytes]
) -> bytes:
    passed = []
    while link in gone and link not in nearest:
        nearest[link] = b""  # a damaged chain that forms a circle ends here
        passed.append(link)
        link = previous.get(link, b"")
    end = nearest.get(link, link)
    nearest.update(dict.fromkeys(passed, end))
    return end
