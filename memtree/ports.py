"""What the core asks of the world. Adapters live in `models/`, `stores/` and `indexer/`.

Each port has one contract test class that every adapter (and every fake) passes.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol

from memtree.node import Frontier, Node

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from memtree.build import Grown, Tail
    from memtree.history import History

    Matrix = NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class Batch:
    """What one commit adds: nodes, and for each address the frontier of its prefix."""

    nodes: tuple[Node, ...] = ()
    frontiers: Mapping[bytes, Frontier] = field(default_factory=dict)
    expires: float = 0.0  # unix seconds after which the addresses may be forgotten


@dataclass(frozen=True, slots=True)
class StoreStats:
    """Counts over the whole store; `bytes` is its size on disk, 0 where that has no meaning."""

    nodes: int
    leaves: int
    addresses: int
    vectors: int
    bytes: int


class TreeStore(Protocol):
    """Nodes, frontiers and vectors, each under its tenant; a tenant never meets another's rows.

    Every method raises `StoreUnavailable` (locked, full, read-only, gone) or `StoreCorrupt`, and
    then nothing is half-written. Writing what is there already changes nothing.
    """

    async def frontiers(self, tenant: str, addresses: Sequence[bytes]) -> dict[bytes, Frontier]:
        """Frontiers of those addresses that are known: one query, up to some hundred addresses."""
        ...

    async def nodes(self, tenant: str, ids: Sequence[bytes]) -> dict[bytes, Node]:
        """Those nodes that are known: any number of ids."""
        ...

    async def descendants(self, tenant: str, ids: Sequence[bytes]) -> dict[bytes, Node]:
        """The nodes with these ids and all below them, in one read."""
        ...

    async def commit(self, tenant: str, batch: Batch) -> None:
        """Add a batch, all or nothing. A known node or address is left as it is, but an address
        takes the later `expires`."""
        ...

    async def vectors(self, tenant: str, recipe: str, ids: Sequence[bytes]) -> dict[bytes, bytes]:
        """Packed passage vectors of those leaves that have some under this recipe."""
        ...

    async def put_vectors(self, tenant: str, recipe: str, rows: Mapping[bytes, bytes]) -> None: ...

    async def check(self) -> list[str]:
        """Problems found in the whole store, one line each; empty when it is sound."""
        ...

    async def stats(self) -> StoreStats: ...

    async def close(self) -> None: ...


class KeyStore(Protocol):
    """Access keys: only hashes are kept. Several values may mean one tenant."""

    async def tenant_of(self, credential: str) -> str | None: ...

    async def has_keys(self) -> bool: ...

    async def add_key(self, label: str, values: Sequence[str]) -> str:
        """Let `values` in as one tenant; returns the key's id. `BadRequest` for a taken value."""
        ...

    async def list_keys(self) -> list[KeyRow]: ...

    async def revoke_key(self, key_id: str) -> bool: ...


@dataclass(frozen=True, slots=True)
class KeyRow:
    id: str
    label: str
    tenant: str
    values: int
    created: float


class Store(TreeStore, KeyStore, Protocol):
    """What `stores.open_store` opens: one place for trees and keys."""


class Embedder(Protocol):
    """Text to unit vectors. `recipe` names model and preprocessing: recipes never mix.

    `EmbedderUnavailable` where the model cannot be used.
    """

    recipe: str
    dimensions: int

    async def embed(self, texts: Sequence[str]) -> Matrix:
        """(n, dimensions) float32, unit rows; a text without tokens gives a zero row."""
        ...

    async def embed_query(self, text: str) -> Matrix:
        """(dimensions,) float32, quick."""
        ...

    async def close(self) -> None: ...


@dataclass(frozen=True, slots=True)
class Pending:
    tokens: int
    jobs: int


class Builder(Protocol):
    """Runs stage 1 (`build.grow`) where it does not hold up the event loop."""

    async def grow(self, tail: Tail, size: int) -> Grown:
        """`size`: tokens of the tail. Joins a run for the same end that is under way."""
        ...


class IndexQueue(Protocol):
    """Takes background work for a history. A job is (tenant, address where work starts)."""

    def submit(self, history: History, start: bytes, leaves: Sequence[LeafWork]) -> None:
        """Embed these leaves some time; a newer call with the same tenant and start replaces an
        older one. Never blocks and never raises: what is too much is dropped and counted."""
        ...

    def pending(self, tenant: str) -> Pending: ...


@dataclass(frozen=True, slots=True)
class LeafWork:
    """A leaf that lacks vectors, and where its first message stands in the history."""

    leaf: Node
    first: int


class Clock(Protocol):
    def now(self) -> float:
        """Unix seconds."""
        ...

    def monotonic(self) -> float: ...
