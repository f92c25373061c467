"""What a `RamStore` keeps: rows in dicts, encoded as the other stores keep them.

So every store gives back equal values and knows the same damage. In a write, whatever may fail
comes before the first change; a deletion works on a copy.
"""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass, field
from functools import cache
from typing import TypeVar

from memtree.errors import StoreUnavailable
from memtree.ports.store import KeyRow, Receipt
from memtree.stores.references import Version
from memtree.stores.rows import (
    AddressRow,
    ClaimRow,
    ConversationRow,
    EpochRow,
    FrontierRow,
    NodeRow,
    RecipeRow,
    SummaryRow,
    TurnRow,
    VectorRow,
)
from memtree.stores.sqlite.migrations import migrate_all

T = TypeVar("T")


@dataclass(slots=True)
class TenantData:
    """The rows of one tenant."""

    nodes: dict[bytes, NodeRow] = field(default_factory=dict)
    frontiers: dict[bytes, FrontierRow] = field(default_factory=dict)
    addresses: dict[bytes, AddressRow] = field(default_factory=dict)
    vectors: dict[tuple[str, bytes], VectorRow] = field(default_factory=dict)
    summaries: dict[Version, SummaryRow] = field(default_factory=dict)
    epochs: dict[bytes, EpochRow] = field(default_factory=dict)
    turns: dict[tuple[bytes, bytes], TurnRow] = field(default_factory=dict)  # (key, address)
    claims: dict[bytes, ClaimRow] = field(default_factory=dict)
    conversations: dict[bytes, ConversationRow] = field(default_factory=dict)

    def copied(self) -> TenantData:
        return TenantData(
            dict(self.nodes),
            dict(self.frontiers),
            dict(self.addresses),
            dict(self.vectors),
            dict(self.summaries),
            dict(self.epochs),
            dict(self.turns),
            dict(self.claims),
            dict(self.conversations),
        )

    def counts(self) -> Receipt:
        """All that is here, as a receipt counts it."""
        return Receipt(
            len(self.addresses),
            len(self.nodes),
            len(self.vectors),
            len(self.summaries),
            len(self.epochs),
            len(self.turns),
        )


@cache
def _migrated() -> bytes:
    """An empty database with its tables. Stores copy it: to make the tables takes 10 ms."""
    with closing(sqlite3.connect(":memory:", isolation_level=None)) as db:
        migrate_all(db)
        return db.serialize()


class RamDatabase:
    """The rows of all tenants, and those that belong to none."""

    def __init__(self) -> None:
        self.tenants: dict[str, TenantData] = {}
        self.keys: dict[str, KeyRow] = {}
        self.key_values: dict[str, str] = {}  # hash of a value -> key id
        self.aliases: dict[str, str] = {}  # tenant that is named -> tenant that is meant
        self.tallies: dict[tuple[str, int], dict[str, int]] = {}  # (tenant, day) -> amounts
        self.recipes: dict[str, RecipeRow] = {}
        self._memories: sqlite3.Connection | None = None
        self._closed = False

    @property
    def memories(self) -> sqlite3.Connection:
        """Memories are kept in SQL, as in the other stores; the first one makes the tables."""
        if self._memories is None:
            db = sqlite3.connect(":memory:", isolation_level=None, check_same_thread=False)
            with closing(sqlite3.connect(":memory:")) as empty:
                empty.deserialize(_migrated())
                empty.backup(db)
            self._memories = db
        return self._memories

    def memory_recipes(self) -> set[str]:
        """Those under which memories have vectors or segments."""
        query = "SELECT recipe FROM memory_recipes UNION SELECT recipe FROM memory_segments"
        rows = self._memories.execute(query) if self._memories else ()
        return {recipe for (recipe,) in rows}

    def require_open(self) -> None:
        if self._closed:
            raise StoreUnavailable("The store is closed.")

    def close(self) -> None:
        self._closed = True
        if self._memories is not None:
            self._memories.close()
            self._memories = None

    def read(self, tenant: str) -> TenantData:
        """A tenant that is not known has nothing, and what is put there is not kept."""
        self.require_open()
        return self.tenants.get(tenant) or TenantData()

    def write(self, tenant: str, work: Callable[[TenantData], T]) -> T:
        """A tenant begins with its first write that succeeds."""
        data = self.read(tenant)
        result = work(data)
        self.tenants[tenant] = data
        return result

    def delete(self, tenant: str, work: Callable[[TenantData], None]) -> Receipt:
        """`work` on a copy, which replaces the tenant's rows if it succeeds."""
        self.require_open()
        if tenant not in self.tenants:
            return Receipt()
        data = self.tenants[tenant].copied()
        before = data.counts()
        work(data)
        self.tenants[tenant] = data
        return Receipt(*(old - new for old, new in zip(before, data.counts(), strict=True)))


class RamPart:
    """Base of the classes that implement ports: they share the rows and the clock."""

    def __init__(self, database: RamDatabase, now: Callable[[], float] = time.time) -> None:
        self.database = database
        self.now = now
