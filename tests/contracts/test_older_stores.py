"""Stores that earlier commits wrote are opened as they are: files of SQLite, and the rows of such
a file in a schema of PostgreSQL as a copy brings them there.

Each file holds what `content` reads; its name is that of the commit.
"""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest

from memtree.ports.store import IndexBatch, Receipt
from memtree.stores import Opened, open_store
from memtree.stores.copying import copy
from tests.contracts.backends import (
    A,
    B,
    address,
    by_id,
    epoch,
    frontier,
    leaf,
    over,
    turn,
    version,
)
from tests.contracts.memory_backends import CHAT
from tests.programs.postgres import drop_schema, ready_url

FILES = sorted(Path(__file__).with_name("older_stores").glob("*.db.gz"))
LEAVES = [leaf(number) for number in range(1, 5)]
TOP, LAST = over(LEAVES), leaf(9)
KEY = b"k" * 16


def opened(file: Path, folder: Path) -> Opened:
    path = folder / "store.db"
    path.write_bytes(gzip.decompress(file.read_bytes()))
    return open_store(f"sqlite:///{path}")


async def content(store: Opened) -> None:
    assert await store.check() == []
    assert await store.descendants(A, [TOP.id]) == by_id([*LEAVES, TOP])
    known = await store.frontiers(A, [address(1), address(2), address(3)])
    assert {at: each.frontier for at, each in known.items()} == {
        address(1): frontier([TOP], 4),
        address(2): frontier([TOP, LAST], 5),
    }
    assert {each.expires for each in known.values()} == {4e9}
    assert await store.nodes(B, [each.id for each in LEAVES]) == by_id(LEAVES[:1])
    ids = [LEAVES[0].id, TOP.id]
    assert await store.vectors(A, "recipe", ids) == {LEAVES[0].id: b"12341234"}
    assert await store.newest_summaries(A, ids) == {TOP.id: version(2)}
    shown = epoch(1, (TOP.id, 2))
    found = await store.latest(A, KEY, [address(2), address(1)])
    assert found is not None
    assert (found.turn, found.epoch) == (turn(shown, used=5.0), shown)
    assert await store.tallies(A, 20_000, 20_000) == {"tokens": 7}
    assert await store.tenant_of("secret") == (await store.list_keys())[0].tenant
    assert await store.claim(A, [LEAVES[1].id], "another", 2.0, 3.0) == set()
    assert (await store.conversation(A, address(2), 0.0)) is not None


async def goes_on(store: Opened) -> None:
    """It takes new rows behind the old ones, and forgets both."""
    await store.commit(
        A,
        IndexBatch((), {address(3): frontier([TOP, LAST], 5)}, 4e9, previous=address(2)),
    )
    assert await store.chain(A, address(3)) == [address(3), address(2), address(1)]
    (newest, *_) = await store.conversations(A, 0.0, 9)
    assert newest.address in (address(2), address(3))
    receipt = await store.forget(A, None)
    assert receipt == Receipt(addresses=3, nodes=6, vectors=1, summaries=1, epochs=1, turns=1)
    assert await store.nodes(B, [each.id for each in LEAVES]) == by_id(LEAVES[:1])
    assert await store.check() == []


def test_there_are_three():
    assert len(FILES) == 3


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.name)
async def test_an_older_file_is_opened(tmp_path: Path, file: Path):
    store = opened(file, tmp_path)
    await content(store)
    if file.name != "edd3fb7.db.gz":  # it knew no memories
        (memory,) = (await store.memories().page(CHAT)).memories
        assert memory.text == "The tea shop opens at nine."
    await goes_on(store)
    await store.close()


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.name)
async def test_its_rows_in_postgres(tmp_path: Path, file: Path):
    source, store = opened(file, tmp_path), open_store(ready_url(tmp_path))
    await copy(source, store, lambda _: None)
    await content(store)
    await goes_on(store)
    for each in (source, store):
        await each.close()
    drop_schema(tmp_path)
