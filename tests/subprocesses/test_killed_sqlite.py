"""A SQLite file stays sound when processes that write it are killed, or open it at once."""

from __future__ import annotations

import signal
import subprocess
import sys
from pathlib import Path

import pytest

from memtree.history.address_chain import node_id
from memtree.ports.context_store import Receipt
from memtree.stores import SqliteStore
from tests.unit.stores.sqlite.batches import T, batch, groups

ROOT = Path(__file__).parents[2]
SETUP = """
import asyncio, sys
from pathlib import Path
from tests.unit.stores.sqlite.batches import SqliteStore, T, batch, node_id
"""


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "store.db"


def child(code: str, *arguments: object) -> subprocess.Popen[str]:
    """Start a Python process that runs `code` with the names of `batches` at hand."""
    return subprocess.Popen(
        [sys.executable, "-c", SETUP + code, *map(str, arguments)],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        text=True,
    )


# Stops between the nodes of group 2 and their frontier: inside the transaction.
STOP_INSIDE = """
import time
import memtree.stores.context.trees as trees
store, put, calls = SqliteStore(Path(sys.argv[1])), trees.put_nodes, []
async def stopping(sql, number, nodes):
    await put(sql, number, nodes)
    calls.append(nodes)
    if len(calls) == 2:
        print("inside", flush=True)
        time.sleep(3600)
trees.put_nodes = stopping
async def main():
    await store.commit(T, batch(1))
    await store.commit(T, batch(2, 5000))
asyncio.run(main())
"""

# Stops in a forget: after the nodes were deleted, or after its transaction.
STOP_FORGETTING = """
import time
import memtree.stores.context.retention as retention
import memtree.stores.sqlite.sqlite_database as database
store, collect = SqliteStore(Path(sys.argv[1])), retention.collect
def stop():
    print("inside", flush=True)
    time.sleep(3600)
async def stopping(sql, number):
    receipt = await collect(sql, number)
    assert receipt.nodes == 40
    stop()
def not_scrubbing(db):
    assert not db.in_transaction
    stop()
if sys.argv[2] == "nodes":
    retention.collect = stopping
else:
    database.scrub = not_scrubbing
async def main():
    await store.commit(T, batch(1))
    await store.commit(T, batch(2))
    await store.forget(T, [node_id("address", 2)])
asyncio.run(main())
"""

KEEP_FORGETTING = """
store = SqliteStore(Path(sys.argv[1]))
async def main():
    for group in range(1000):
        await store.commit(T, batch(group % 50))
        await store.forget(T, [node_id("address", (group - 5) % 50)])
        print(group, flush=True)
asyncio.run(main())
"""

KEEP_WRITING = """
store = SqliteStore(Path(sys.argv[1]))
async def main():
    for group in range(int(sys.argv[2]), int(sys.argv[3])):
        await store.commit(T, batch(group))
        print(group, flush=True)
    await store.close()
asyncio.run(main())
"""


async def reopened(path: Path) -> list[int]:
    """The groups of a store that is sound and takes new ones."""
    store = SqliteStore(path)
    assert await store.check() == []
    found = await groups(store, 3000)
    await store.commit(T, batch(2999))
    await store.close()
    return found


async def test_killed_inside_a_transaction(path):
    with child(STOP_INSIDE, path) as process:
        assert process.stdout
        assert process.stdout.readline() == "inside\n"
        process.send_signal(signal.SIGKILL)
    store = SqliteStore(path)
    assert (await store.stats()).nodes == 40
    await store.close()
    assert await reopened(path) == [1]


@pytest.mark.parametrize("stop", ["nodes", "scrub"])
async def test_killed_while_forgetting(path, stop):
    """All or nothing; and what a killed process left in the file goes with the next sweep."""
    with child(STOP_FORGETTING, path, stop) as process:
        assert process.stdout
        assert process.stdout.readline() == "inside\n"
        process.send_signal(signal.SIGKILL)
    store = SqliteStore(path)
    assert await store.check() == []
    if stop == "nodes":
        assert await groups(store) == [1, 2]
        assert (await store.stats()).nodes == 80
        await store.forget(T, [node_id("address", 2)])
    else:
        assert await groups(store) == [1]
        assert node_id(2, 0) in content(path)
        assert await store.sweep(0.0) == Receipt()
    assert (await store.stats()).nodes == 40
    assert node_id(1, 0) in content(path)
    assert node_id(2, 0) not in content(path)
    await store.close()


def content(path: Path) -> bytes:
    return b"".join(each.read_bytes() for each in path.parent.iterdir())


@pytest.mark.long
async def test_killed_at_any_time_while_forgetting(path):
    for round_ in range(5):
        with child(KEEP_FORGETTING, path) as process:
            assert process.stdout
            for _ in range(1 + 9 * round_):
                process.stdout.readline()
            process.send_signal(signal.SIGKILL)
        store = SqliteStore(path)
        assert await store.check() == []
        assert (await store.stats()).nodes == 40 * len(await groups(store))
        await store.close()


@pytest.mark.long
async def test_killed_at_any_time(path):
    for round_ in range(5):
        first = round_ * 500
        with child(KEEP_WRITING, path, first, first + 500) as process:
            assert process.stdout
            told = [int(process.stdout.readline()) for _ in range(1 + 7 * round_)]
            process.send_signal(signal.SIGKILL)
        assert set(told) <= set(await reopened(path))


async def test_processes_that_open_a_new_file_at_once(path):
    writers = [child(KEEP_WRITING, path, first, first + 20) for first in (0, 20, 40)]
    for writer in writers:
        with writer:
            writer.communicate()
        assert writer.returncode == 0
    assert await reopened(path) == list(range(60))
