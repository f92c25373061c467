"""What must hold between the stored rows of one tenant; every back end's `check()` calls it.

Pure. It keeps a few numbers per node, so rows may come from a generator over a large store.

    >>> audit("tenant", [], [], [AddressRow(b"a", b"f", 0.0)], [])
    ['tenant tenant: address 61: frontier 66 is missing']
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

import msgspec

from memtree.node import Frontier, Node, decode_frontier, decode_node
from memtree.stores.rows import AddressRow, FrontierRow, NodeRow, VectorRow

MIN_CHILDREN, MAX_CHILDREN = 4, 12  # DESIGN section 1, "node"


class Fact(NamedTuple):
    """What the rest of the rows are held against. `leaves` counts those below, itself included."""

    level: int
    tokens: int
    messages: int
    tail: int
    children: tuple[bytes, ...]
    passages: int
    leaves: int


def audit(
    tenant: str,
    nodes: Iterable[NodeRow],
    frontiers: Iterable[FrontierRow],
    addresses: Iterable[AddressRow],
    vectors: Iterable[VectorRow],
) -> list[str]:
    """Problems of one tenant's rows, one line each. `frontiers` are read before `addresses`."""
    found: list[str] = []
    facts = _read_facts(nodes, found)
    for node, fact in facts.items():
        found += (f"node {node.hex()}: {what}" for what in _node_problems(fact, facts))
    keys = set()
    for frontier in frontiers:
        keys.add(frontier.key)
        found += (f"frontier {frontier.key.hex()}: {w}" for w in _frontier_row(frontier, facts))
    for row in addresses:
        if row.frontier not in keys:
            found.append(f"address {row.address.hex()}: frontier {row.frontier.hex()} is missing")
    for vector in vectors:
        where = f"vectors {vector.recipe} of {vector.id.hex()}"
        found += (f"{where}: {what}" for what in _vector_problems(vector, facts))
    return [f"tenant {tenant[:12]}: {line}" for line in found]


def _read_facts(rows: Iterable[NodeRow], found: list[str]) -> dict[bytes, Fact]:
    facts: dict[bytes, Fact] = {}
    for row in rows:
        try:
            node = decode_node(row.data)
        except msgspec.DecodeError as error:
            found.append(f"node {row.id.hex()}: does not decode: {error}")
            continue
        found += (f"node {row.id.hex()}: {what}" for what in _row_problems(row, node))
        passages = len(node.passages)
        facts[row.id] = Fact(
            node.level, node.tokens, node.messages, node.tail, node.children, passages, 0
        )
    return _with_leaves(facts)


def _row_problems(row: NodeRow, node: Node) -> Iterator[str]:
    if node.id != row.id:
        yield f"holds node {node.id.hex()}"
    if node.level != row.level:
        yield f"its row says level {row.level}, the node {node.level}"
    if b"".join(node.children) != row.children:
        yield "its row lists other children than the node"


def _with_leaves(facts: Mapping[bytes, Fact]) -> dict[bytes, Fact]:
    """Level by level from the leaves up; a child that is no level below counts nothing."""
    counted: dict[bytes, Fact] = {}
    for node, fact in sorted(facts.items(), key=lambda item: item[1].level):
        below = (counted[child].leaves for child in fact.children if child in counted)
        counted[node] = fact._replace(leaves=1 if fact.level == 0 else sum(below))
    return counted


def _node_problems(fact: Fact, facts: Mapping[bytes, Fact]) -> Iterator[str]:
    if fact.level == 0:
        if fact.children:
            yield "is a leaf with children"
        return
    if not MIN_CHILDREN <= len(fact.children) <= MAX_CHILDREN:
        yield f"has {len(fact.children)} children, not {MIN_CHILDREN} to {MAX_CHILDREN}"
    missing = [child for child in fact.children if child not in facts]
    yield from (f"child {child.hex()} is missing" for child in missing)
    if missing or not fact.children:
        return
    children = [facts[child] for child in fact.children]
    for child, of in zip(fact.children, children, strict=True):
        if of.level != fact.level - 1:
            yield f"child {child.hex()} is on level {of.level}, not {fact.level - 1}"
    yield from _sum_problems(fact.tokens, fact.messages, fact.tail, children)


def _frontier_row(row: FrontierRow, facts: Mapping[bytes, Fact]) -> Iterator[str]:
    try:
        frontier = decode_frontier(row.data)
    except msgspec.DecodeError as error:
        yield f"does not decode: {error}"
        return
    yield from _frontier_problems(frontier, facts)


def _frontier_problems(frontier: Frontier, facts: Mapping[bytes, Fact]) -> Iterator[str]:
    missing = [node for node in frontier.nodes if node not in facts]
    yield from (f"node {node.hex()} is missing" for node in missing)
    if missing:
        return
    nodes = [facts[node] for node in frontier.nodes]
    levels = tuple(node.level for node in nodes)
    if frontier.levels != levels:
        yield f"says levels {frontier.levels}, its nodes are on {levels}"
    leaves = sum(node.leaves for node in nodes)
    if frontier.leaves != leaves:
        yield f"says {frontier.leaves} leaves, its nodes hold {leaves}"
    yield from _sum_problems(frontier.tokens, frontier.messages, frontier.tail, nodes)


def _sum_problems(tokens: int, messages: int, tail: int, parts: list[Fact]) -> Iterator[str]:
    if tokens != sum(part.tokens for part in parts):
        yield f"says {tokens} tokens, its parts hold {sum(part.tokens for part in parts)}"
    if messages != sum(part.messages for part in parts):
        yield f"says {messages} messages, its parts hold {sum(part.messages for part in parts)}"
    last = parts[-1].tail if parts else 0
    if tail != last:
        yield f"says tail {tail}, its last part ends with {last}"


def _vector_problems(row: VectorRow, facts: Mapping[bytes, Fact]) -> Iterator[str]:
    leaf = facts.get(row.id)
    if leaf is None:
        yield "there is no such leaf"
    elif leaf.level != 0:
        yield f"is a node on level {leaf.level}, not a leaf"
    elif len(row.data) % leaf.passages if leaf.passages else row.data:
        yield f"{len(row.data)} bytes for {leaf.passages} passages"
