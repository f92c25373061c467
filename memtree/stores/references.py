"""Rules of which rows need which others: rows that must be stored before a write, and rows that a
deletion leaves unneeded.

Pure, over ids; shared by every back end. All descendants of a stored node are stored: `commit`
requires the children of new nodes, and a collection keeps everything below the nodes that it keeps.

    addresses --> frontiers --> nodes --> nodes (children) <-- vectors, summaries, claims
    turns     --> epochs    --> nodes and summary versions that the plan names
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

from memtree.budget.epoch import Epoch
from memtree.stores.rows import AddressRow, ConversationRow, split_ids
from memtree.tree.node import Frontier, Node

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
