"""Check the rules that must hold between the stored rows of one tenant; every back end's `check()`
calls it.

Pure. It keeps a few numbers per node, so rows may come from a generator over a large store.

    >>> rows = {"addresses": [stored_rows.AddressRow(b"a", b"f", 0.0)]}
    >>> audit("tenant", lambda table: rows.get(table, []))
    ['tenant tenant: address 61: frontier 66 is missing']
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Set
from math import isfinite
from typing import Any, NamedTuple

import msgspec

from memtree.budget.epoch import decode_epoch, decode_turn
from memtree.ranking.vectors import are_packed
from memtree.stores import stored_rows
from memtree.tree.node import MAX_CHILDREN, MIN_CHILDREN, Node, decode_frontier, decode_node


class NodeExtent(NamedTuple):
    """Sizes and children of a node, against which other rows are checked. `leaves`: how many are
    at or below it."""

    level: int
    tokens: int
    messages: int
    tail: int
    children: tuple[bytes, ...]
    passages: int
    leaves: int


def audit(tenant: str, rows: Callable[[str], Iterable[Any]]) -> list[str]:
    """Problems of one tenant's rows, one line each. `rows`: reads a table, each once."""
    lines: list[str] = []
    extents = _read_extents(rows("nodes"), lines)
    for node, extent in extents.items():
        lines += _at(f"node {node.hex()}", _node_problems(extent, extents))
    keys: set[bytes] = set()
    for frontier in rows("frontiers"):
        keys.add(frontier.key)
        lines += _at(f"frontier {frontier.key.hex()}", _frontier_problems(frontier, extents))
    addresses: set[bytes] = set()
    lines += _address_problems(rows("addresses"), keys, addresses)
    for vector in rows("vectors"):
        where = f"vectors {vector.recipe} of {vector.id.hex()}"
        lines += _at(where, _vector_problems(vector, extents))
    versions: set[stored_rows.Version] = set()
    for summary in rows("summaries"):
        versions.add((summary.id, summary.version))
        where = f"summary {summary.version} of {summary.id.hex()}"
        lines += _at(where, _summary_problems(summary, extents))
    epochs: set[bytes] = set()
    for epoch in rows("epochs"):
        epochs.add(epoch.id)
        lines += _at(f"epoch {epoch.id.hex()}", _epoch_problems(epoch, extents, versions))
    for turn in rows("turns"):
        lines += _at(f"turn at {turn.address.hex()}", _turn_problems(turn, epochs))
    for claim in rows("claims"):
        lines += _at(f"claim on {claim.id.hex()}", _claim_problems(claim, extents))
    lines += (
        f"conversation {row.address.hex()}: there is no such address"
        for row in rows("conversations")
        if row.address not in addresses
    )
    lines += (
        f"request {row.id}: {row.number} is no number of a request"
        for row in rows("requests")
        if row.number <= 0 or not isfinite(row.time)
    )
    return [f"tenant {tenant[:12]}: {line}" for line in lines]


def _at(where: str, problems: Iterator[str]) -> Iterator[str]:
    """Yield what was found there. A value that does not decode ends the search."""
    try:
        for problem in problems:
            yield f"{where}: {problem}"
    except msgspec.DecodeError as error:
        yield f"{where}: does not decode: {error}"


def audit_tallies(rows: Iterable[stored_rows.TallyRow]) -> list[str]:
    """Problems of all tenants' tallies, one line each."""
    return [
        f"tenant {row.tenant[:12]}: tally {row.name!r} of day {row.day}: {what}"
        for row in rows
        for what in _tally_problems(row)
    ]


def _read_extents(
    rows: Iterable[stored_rows.NodeRow], problems: list[str]
) -> dict[bytes, NodeExtent]:
    extents: dict[bytes, NodeExtent] = {}
    for row in rows:
        try:
            node = decode_node(row.data)
        except msgspec.DecodeError as error:
            problems.append(f"node {row.id.hex()}: does not decode: {error}")
            continue
        problems += _at(f"node {row.id.hex()}", _row_problems(row, node))
        passages = len(node.passages)
        extents[row.id] = NodeExtent(
            node.level, node.tokens, node.messages, node.tail, node.children, passages, 0
        )
    return _with_leaves(extents)


def _row_problems(row: stored_rows.NodeRow, node: Node) -> Iterator[str]:
    if node.id != row.id:
        yield f"holds node {node.id.hex()}"
    if node.level != row.level:
        yield f"its row says level {row.level}, the node {node.level}"
    if b"".join(node.children) != row.children:
        yield "its row lists other children than the node"


def _with_leaves(extents: Mapping[bytes, NodeExtent]) -> dict[bytes, NodeExtent]:
    """Count leaves level by level from the leaves up; a child that is not one level below counts
    nothing."""
    counted: dict[bytes, NodeExtent] = {}
    for node, extent in sorted(extents.items(), key=lambda item: item[1].level):
        below = (counted[child].leaves for child in extent.children if child in counted)
        counted[node] = extent._replace(leaves=1 if extent.level == 0 else sum(below))
    return counted


def _node_problems(extent: NodeExtent, extents: Mapping[bytes, NodeExtent]) -> Iterator[str]:
    if extent.level == 0:
        if extent.children:
            yield "is a leaf with children"
        return
    if not MIN_CHILDREN <= len(extent.children) <= MAX_CHILDREN:
        yield f"has {len(extent.children)} children, not {MIN_CHILDREN} to {MAX_CHILDREN}"
    missing = [child for child in extent.children if child not in extents]
    yield from (f"child {child.hex()} is missing" for child in missing)
    if missing or not extent.children:
        return
    children = [extents[child] for child in extent.children]
    for child, of in zip(extent.children, children, strict=True):
        if of.level != extent.level - 1:
            yield f"child {child.hex()} is on level {of.level}, not {extent.level - 1}"
    yield from _sum_problems(extent.tokens, extent.messages, extent.tail, children)


def _frontier_problems(
    row: stored_rows.FrontierRow, extents: Mapping[bytes, NodeExtent]
) -> Iterator[str]:
    frontier = decode_frontier(row.data)
    missing = [node for node in frontier.nodes if node not in extents]
    yield from (f"node {node.hex()} is missing" for node in missing)
    if missing:
        return
    nodes = [extents[node] for node in frontier.nodes]
    levels = tuple(node.level for node in nodes)
    if frontier.levels != levels:
        yield f"says levels {frontier.levels}, its nodes are on {levels}"
    leaves = sum(node.leaves for node in nodes)
    if frontier.leaves != leaves:
        yield f"says {frontier.leaves} leaves, its nodes hold {leaves}"
    yield from _sum_problems(frontier.tokens, frontier.messages, frontier.tail, nodes)


def _sum_problems(tokens: int, messages: int, tail: int, parts: list[NodeExtent]) -> Iterator[str]:
    if tokens != sum(part.tokens for part in parts):
        yield f"says {tokens} tokens, its parts hold {sum(part.tokens for part in parts)}"
    if messages != sum(part.messages for part in parts):
        yield f"says {messages} messages, its parts hold {sum(part.messages for part in parts)}"
    last = parts[-1].tail if parts else 0
    if tail != last:
        yield f"says tail {tail}, its last part ends with {last}"


def _vector_problems(
    row: stored_rows.VectorRow, extents: Mapping[bytes, NodeExtent]
) -> Iterator[str]:
    leaf = extents.get(row.id)
    if leaf is None:
        yield "there is no such leaf"
    elif leaf.level != 0:
        yield f"is a node on level {leaf.level}, not a leaf"
    elif not are_packed(row.data, leaf.passages):
        yield f"{len(row.data)} bytes for {leaf.passages} passages"


def _address_problems(
    rows: Iterable[stored_rows.AddressRow], frontiers: Set[bytes], addresses: set[bytes]
) -> Iterator[str]:
    """Check the rows of addresses. `addresses`: this function adds those it reads."""
    links = {}
    for row in rows:
        links[row.address] = row.previous
        if row.frontier not in frontiers:
            yield f"address {row.address.hex()}: frontier {row.frontier.hex()} is missing"
    addresses.update(links)
    for address, link in links.items():
        if link and link not in links:
            yield f"address {address.hex()}: the one before it, {link.hex()}, is missing"


def _summary_problems(
    row: stored_rows.SummaryRow, extents: Mapping[bytes, NodeExtent]
) -> Iterator[str]:
    if row.id not in extents:
        yield "there is no such node"
    summary = stored_rows.decode_summary(row.data)
    if summary.version != row.version:
        yield f"holds version {summary.version}"


def _epoch_problems(
    row: stored_rows.EpochRow,
    extents: Mapping[bytes, NodeExtent],
    versions: Set[stored_rows.Version],
) -> Iterator[str]:
    epoch = decode_epoch(row.data)
    if epoch.id != row.id:
        yield f"holds epoch {epoch.id.hex()}"
    for shown in epoch.plan.outline:
        if shown.id not in extents:
            yield f"node {shown.id.hex()} is missing"
        elif shown.version and (shown.id, shown.version) not in versions:
            yield f"summary {shown.version} of {shown.id.hex()} is missing"


def _turn_problems(row: stored_rows.TurnRow, epochs: Set[bytes]) -> Iterator[str]:
    if row.epoch not in epochs:
        yield f"epoch {row.epoch.hex()} is missing"
    turn = decode_turn(row.data)
    if turn.epoch != row.epoch:
        yield f"its row says epoch {row.epoch.hex()}, the turn {turn.epoch.hex()}"


def _claim_problems(
    row: stored_rows.ClaimRow, extents: Mapping[bytes, NodeExtent]
) -> Iterator[str]:
    if row.id not in extents:
        yield "there is no such node"
    if not row.owner:
        yield "has no owner"
    if not isfinite(row.until):
        yield "never ends"


def _tally_problems(row: stored_rows.TallyRow) -> Iterator[str]:
    if not row.name:
        yield "has no name"
    numbers: tuple[object, ...] = (row.day, row.amount)  # a back end may return other types
    if not all(isinstance(number, int) for number in numbers):
        yield f"{row.amount!r} is no whole number of a day"
