"""A table as copies and audits see it: its columns, and one state of all its rows."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Protocol, cast

from memtree.stores.sql import Row


@dataclass(frozen=True, slots=True)
class Table:
    """`key`: the columns that tell its rows apart, in the order of a dump. `changes`: a row with
    the same key may be newer; otherwise it is the same row. `same`: columns that never differ
    between rows with the same key, so that two stores that assigned equal numbers are told apart.
    `owned`: its rows belong to a tenant."""

    name: str
    kind: type[tuple[Any, ...]]
    key: tuple[str, ...]
    order: tuple[str, ...] = ()
    changes: bool = False
    owned: bool = True
    same: tuple[str, ...] = ()

    @property
    def columns(self) -> tuple[str, ...]:
        return cast("tuple[str, ...]", self.kind._fields)  # type: ignore[attr-defined]

    @property
    def sorted_by(self) -> tuple[str, ...]:
        return self.order or self.key

    @property
    def compared(self) -> tuple[str, ...]:
        """Columns that make a row of another store the same as this one."""
        return (self.same or self.key) if self.changes else self.columns

    def compared_of(self, row: Row) -> Row:
        return tuple(row[self.columns.index(name)] for name in self.compared)

    def made(self, row: Row) -> Any:
        return self.kind._make(row)  # type: ignore[attr-defined]


class Snapshot(Protocol):
    """One state of a store, read in one thread."""

    def tenants(self) -> list[str]: ...

    def rows(self, table: Table, tenant: str) -> Iterator[Row]:
        """Yield rows in the table's order; `tenant` is empty for a table without one."""
        ...
