"""The back ends that the contracts of a store run over, and the trees that they are given.

A test class inherits its contract and one back end; `plant` and `uproot` go past the ports, to
make damage and to look at what is really there.
"""

from __future__ import annotations

import sqlite3
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import psycopg
import pytest

from memtree.budget.epoch import Epoch, EpochTurn, decode_epoch
from memtree.history.address_chain import node_id
from memtree.stores import RamStore, SqliteStore, open_store
from memtree.stores.postgres import PostgresStore
from memtree.stores.stored_rows import (
    AddressRow,
    ClaimRow,
    ConversationRow,
    EpochRow,
    FrontierRow,
    NodeRow,
    SummaryRow,
    TurnRow,
    VectorRow,
    split_ids,
)
from memtree.tree.node import Frontier, Node, NodePlace, Passage, Summary, decode_frontier
from memtree.unfolding.memory_plan import OutlineNode, Plan, TextSpan
from tests.programs.postgres import drop_schema, ready_url

Store = SqliteStore | RamStore | PostgresStore
A, B = "a" * 64, "b" * 64
TABLES: dict[str, tuple[Any, tuple[str, ...]]] = {
    "nodes": (NodeRow, ("id",)),
    "frontiers": (FrontierRow, ("key",)),
    "addresses": (AddressRow, ("address",)),
    "vectors": (VectorRow, ("recipe", "id")),
    "summaries": (SummaryRow, ("id", "version")),
    "epochs": (EpochRow, ("id",)),
    "turns": (TurnRow, ("key", "address")),
    "claims": (ClaimRow, ("id",)),
    "conversations": (ConversationRow, ("address",)),
}


def leaf(number: int, *, passages: int = 2, tail: int = 0) -> Node:
    return Node(
        id=node_id("leaf", number),
        level=0,
        tokens=300 + number,
        messages=2,
        tail=tail,
        summary=Summary(f"headline {number}", "body \0 with any bytes: é", ("anchor",)),
        passages=tuple(Passage(0, at * 10, at * 10 + 10, 3, 0) for at in range(passages)),
    )


def over(children: Sequence[Node]) -> Node:
    return Node(
        id=node_id("node", *(child.id for child in children)),
        level=children[0].level + 1,
        tokens=sum(child.tokens for child in children),
        messages=sum(child.messages for child in children),
        tail=children[-1].tail,
        summary=Summary("headline", "body"),
        children=tuple(child.id for child in children),
    )


def frontier(nodes: Sequence[Node], leaves: int) -> Frontier:
    return Frontier(
        nodes=tuple(node.id for node in nodes),
        levels=tuple(node.level for node in nodes),
        messages=sum(node.messages for node in nodes),
        tail=nodes[-1].tail,
        leaves=leaves,
        tokens=sum(node.tokens for node in nodes),
    )


def address(number: int) -> bytes:
    return node_id("address", number) * 2


def by_id(nodes: Sequence[Node]) -> dict[bytes, Node]:
    return {node.id: node for node in nodes}


def version(number: int) -> Summary:
    return Summary(f"headline of version {number}", "body", ("anchor",), number)


def epoch(number: int, *shown: bytes | tuple[bytes, int]) -> Epoch:
    """An epoch whose plan shows these nodes, or these versions of their summaries."""
    pairs = [each if isinstance(each, tuple) else (each, 0) for each in shown]
    outline = tuple(
        OutlineNode(node, named, 0, NodePlace(0, 0, 2, 0), True) for node, named in pairs
    )
    plan = Plan(4, outline, excerpts=(TextSpan(0, 1, 2),))
    return Epoch(node_id("epoch", number), 6, 8000, 2000, plan, 1000.5)


def turn(of: Epoch, *block: TextSpan, used: float = 1.5) -> EpochTurn:
    return EpochTurn(of.id, block, 10 * len(block), used, 150)


def garbage(rows: dict[str, set]) -> list[str]:
    """Return what nothing needs any more: reckoned here in the plainest way."""
    epochs = [decode_epoch(row.data) for row in rows["epochs"]]
    needed = {row.frontier for row in rows["addresses"]}
    found = [f"frontier {row.key.hex()}" for row in rows["frontiers"] if row.key not in needed]
    reached = {node for row in rows["frontiers"] for node in decode_frontier(row.data).nodes}
    reached |= {shown.id for each in epochs for shown in each.plan.outline}
    for row in sorted(rows["nodes"], key=lambda row: -row.level):
        if row.id in reached:
            reached |= set(split_ids(row.children))
    nodes = {row.id for row in rows["nodes"]}
    found += [f"node {node.hex()}" for node in nodes - reached]
    for table in ("vectors", "summaries", "claims"):
        found += [f"{table} {row.id.hex()}" for row in rows[table] if row.id not in nodes]
    used = {row.epoch for row in rows["turns"]}
    return found + [f"epoch {each.id.hex()}" for each in epochs if each.id not in used]


def stored_rows(db: sqlite3.Connection, tenant: str) -> dict[str, set]:
    """All that a SQLite database holds for a tenant, by table."""
    return {
        table: {
            kind._make(row)
            for row in db.execute(
                f"SELECT {', '.join(kind._fields)} FROM {table}"
                " JOIN tenants ON number = tenant WHERE name = ?",
                (tenant,),
            )
        }
        for table, (kind, _) in TABLES.items()
    }


class Backend:
    @pytest.fixture
    async def store(self, tmp_path: Path) -> AsyncIterator[Store]:
        store = self.open(tmp_path)
        yield store
        await store.close()

    def open(self, folder: Path) -> Store:
        raise NotImplementedError

    def plant(self, store: Store, tenant: str, table: str, row: tuple) -> None:
        """Put a row in, whatever stands there."""
        raise NotImplementedError

    def uproot(self, store: Store, tenant: str, table: str, *key: object) -> None:
        raise NotImplementedError

    def rows(self, store: Store, tenant: str) -> dict[str, set]:
        """All that is stored for a tenant, by table."""
        raise NotImplementedError


class OnSqlite(Backend):
    def open(self, folder: Path) -> Store:
        return open_store(f"sqlite:///{folder}/new/store.db")

    @contextmanager
    def connected(self, store: Any) -> Iterator[sqlite3.Connection]:
        """A connection past the store."""
        with closing(sqlite3.connect(store.database.path)) as db, db:
            yield db

    def plant(self, store, tenant, table, row):
        columns, places = ", ".join(row._fields), ", ?" * len(row)
        number = f"(SELECT number FROM tenants WHERE name = '{tenant}')"
        with self.connected(store) as db:
            db.execute(
                f"INSERT OR REPLACE INTO {table} (tenant, {columns}) VALUES ({number}{places})",
                row,
            )

    def uproot(self, store, tenant, table, *key):
        columns = "".join(f" AND {name} = ?" for name in TABLES[table][1])
        number = "(SELECT number FROM tenants WHERE name = ?)"
        with self.connected(store) as db:
            db.execute(f"DELETE FROM {table} WHERE tenant = {number}{columns}", (tenant, *key))

    def rows(self, store, tenant):
        with self.connected(store) as db:
            return stored_rows(db, tenant)


class OnMemory(OnSqlite):
    def open(self, folder: Path) -> Store:
        return open_store("memory:")

    @contextmanager
    def connected(self, store: Any) -> Iterator[sqlite3.Connection]:
        yield store.database.connection


class OnPostgres(Backend):
    """Each folder stands for a schema; stores that are opened on one folder share it."""

    @pytest.fixture
    async def store(self, tmp_path: Path) -> AsyncIterator[Store]:
        store = self.open(tmp_path)
        yield store
        await store.close()
        drop_schema(tmp_path)

    def open(self, folder: Path) -> Store:
        return open_store(ready_url(folder))

    def sql(self, store: PostgresStore, statement: str, values: tuple = ()) -> list[tuple]:
        with self.connected(store) as db:
            cursor = db.execute(statement, values or None, binary=True)
            return cursor.fetchall() if cursor.description else []

    def connected(self, store: PostgresStore) -> psycopg.Connection:
        """A connection past the store."""
        path = f"-csearch_path={store.database.dsn.schema}"
        return psycopg.connect(store.database.dsn.conninfo, autocommit=True, options=path)

    def plant(self, store, tenant, table, row):
        columns, places = ", ".join(row._fields), ", %s" * len(row)
        number = f"(SELECT number FROM tenants WHERE name = '{tenant}')"
        key = ", ".join(("tenant", *TABLES[table][1]))
        new = ", ".join(f"{name} = excluded.{name}" for name in row._fields)
        self.sql(
            store,
            f"INSERT INTO {table} (tenant, {columns}) VALUES ({number}{places})"
            f" ON CONFLICT ({key}) DO UPDATE SET {new}",
            row,
        )

    def uproot(self, store, tenant, table, *key):
        columns = "".join(f" AND {name} = %s" for name in TABLES[table][1])
        number = "(SELECT number FROM tenants WHERE name = %s)"
        self.sql(store, f"DELETE FROM {table} WHERE tenant = {number}{columns}", (tenant, *key))

    def rows(self, store, tenant):
        with self.connected(store) as db:
            if db.execute("SELECT to_regclass('tenants')").fetchone() == (None,):
                return {table: set() for table in TABLES}
            return {
                table: {
                    kind._make(row)
                    for row in db.execute(
                        f"SELECT {', '.join(kind._fields)} FROM {table}"
                        " JOIN tenants ON number = tenant WHERE name = %s",
                        (tenant,),
                        binary=True,
                    )
                }
                for table, (kind, _) in TABLES.items()
            }
