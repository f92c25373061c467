"""Stored rows of the tree, the same in every back end: what is kept beside the encoded value.

Pure: no I/O. `NodeRow.children` repeats the children ids as one run of bytes, so that a tree can
be walked without decoding it.
"""

from __future__ import annotations

from hashlib import sha256
from typing import NamedTuple

import msgspec

from memtree.address import NODE_ID_BYTES
from memtree.errors import StoreCorrupt
from memtree.node import Frontier, Node, decode_frontier, decode_node, encode


class NodeRow(NamedTuple):
    id: bytes
    level: int
    children: bytes
    data: bytes


class FrontierRow(NamedTuple):
    """Many addresses share a frontier, so it is stored once, under a hash of its encoding."""

    key: bytes
    data: bytes


class AddressRow(NamedTuple):
    address: bytes
    frontier: bytes
    expires: float


class VectorRow(NamedTuple):
    recipe: str
    id: bytes
    data: bytes


def node_row(node: Node) -> NodeRow:
    return NodeRow(node.id, node.level, b"".join(node.children), encode(node))


def frontier_row(frontier: Frontier) -> FrontierRow:
    data = encode(frontier)
    return FrontierRow(sha256(data).digest()[:NODE_ID_BYTES], data)


def split_ids(run: bytes) -> list[bytes]:
    """The ids of `NodeRow.children`."""
    return [run[at : at + NODE_ID_BYTES] for at in range(0, len(run), NODE_ID_BYTES)]


def read_node(data: bytes) -> Node:
    """Raises `StoreCorrupt`."""
    try:
        return decode_node(data)
    except msgspec.DecodeError as error:
        raise StoreCorrupt(f"A stored node does not decode ({error}); {ADVICE}") from error


def read_frontier(data: bytes) -> Frontier:
    """Raises `StoreCorrupt`."""
    try:
        return decode_frontier(data)
    except msgspec.DecodeError as error:
        raise StoreCorrupt(f"A stored frontier does not decode ({error}); {ADVICE}") from error


ADVICE = "run `memtree check`, then remove the store: it is rebuilt from what clients post"
