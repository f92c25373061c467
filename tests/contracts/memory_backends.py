"""Memories that the contracts of their store are given, and the back ends they run over."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator, Sequence
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest

from memtree.memories.memory import MemoryChange, NewMemory
from memtree.memories.scope import Scope
from memtree.stores import Memories, Opened, RamStore, SqliteStore, open_memories
from memtree.stores.postgres import PostgresStore
from tests.programs.postgres import drop_schema, ready_url

START = 1_700_000_000.0
RECIPE = "minilm/1"
CHAT = Scope.of_chat("tenant", "chat")


class Clock:
    """Stands still until a test moves it."""

    def __init__(self) -> None:
        self.time = START

    def __call__(self) -> float:
        return self.time


def text_hash(text: str) -> bytes:
    return sha256(text.encode()).digest()[:16]


def terms(text: str) -> bytes:
    return b"terms of " + text.encode()


def new(text: str, **fields: Any) -> NewMemory:
    """A memory whose id follows from its text, unless one is given."""
    given: dict[str, Any] = {
        "id": f"mem_{re.sub(r'[^a-z0-9]', '-', text)}",
        "created": START,
    } | fields
    return NewMemory(text=text, text_hash=text_hash(text), terms=terms(text), **given)


def rewritten(text: str, at: float = START + 9) -> MemoryChange:
    return MemoryChange(at, text, text_hash(text), terms(text))


async def save(memories: Memories, scope: Scope, *texts: str, **fields: Any) -> list[str]:
    """Their ids."""
    return [(await memories.add(scope, new(text, **fields))).memory.id for text in texts]


def texts(rows: Sequence[Any]) -> list[str]:
    return [row.text for row in rows]


class InEveryStore:
    """Tests of a promise that each store keeps; behind each of them the store is sound, unless a
    class stores odd memories. It names in `LONG_IN_POSTGRES` what takes long there."""

    STORES: tuple[str, ...] = ("ram", "sqlite", "postgres")
    LONG_IN_POSTGRES: tuple[str, ...] = ()
    SOUND = True
    backend: str
    folder: Path
    now: Clock

    @pytest.fixture
    def clock(self) -> Clock:
        return Clock()

    @pytest.fixture
    async def store(self, backend: str, tmp_path: Path, clock: Clock) -> AsyncIterator[Opened]:
        self.backend, self.folder, self.now = backend, tmp_path, clock
        store = self.open()
        yield store
        assert not self.SOUND or await store.check() == []
        await store.close()
        if backend == "postgres":
            drop_schema(tmp_path)

    @pytest.fixture
    def memories(self, store: Opened) -> Memories:
        return open_memories(store)

    @pytest.fixture
    async def both(self, store: Opened) -> AsyncIterator[list[Memories]]:
        """Two stores of the same rows, as two processes have them."""
        other = self.beside(store)
        yield [store.memories(), other.memories()]
        if other is not store:
            await other.close()

    def open(self) -> Opened:
        if self.backend == "postgres":
            return PostgresStore(ready_url(self.folder), now=self.now)
        if self.backend == "sqlite":
            return SqliteStore(self.folder / "new" / "store.db", now=self.now)
        return RamStore(now=self.now)

    def beside(self, store: Opened) -> Opened:
        """The store as another process opens it; the same where there is no other."""
        return store if self.backend == "ram" else self.open()
