"""Writes of many memories by several processes, and by one that is killed in the middle: each of
them is there whole or not at all."""

from __future__ import annotations

from collections import Counter

import pytest

from memtree.memories.memory_store import MemoryFilter
from memtree.memories.scope import Scope
from memtree.stores import Memories, open_store
from tests.contracts.memory_backends import new
from tests.contracts.processes import child, ended, killed_in_the_middle
from tests.programs.postgres import victim_url

USER = Scope.of_user("tenant")
TOGETHER = 150
TURNS = 60  # of a child; far more than it gets to before it is killed
STORED = MemoryFilter(superseded=True, expired=True)

CHILD = """
import asyncio, sys
from dataclasses import replace
sys.path.insert(0, sys.argv[1])
from memtree.memories.memory import Memory
from memtree.memories.memory_store import MemoryFilter, MemoryRecord
from memtree.memories.scope import Scope
from memtree.stores import open_store
from tests.contracts.memory_backends import START, new
from tests.contracts.memory_lives.test_memory_processes import TOGETHER, USER

_, _, url, how, name, turns = sys.argv

def made(turn, **fields):
    return [new(f"{name} {turn} {n}", id=f"{name}/{turn}/{n}", **fields) for n in range(TOGETHER)]

def record(memory):
    first = Memory(memory.id, 1, "before", START, START)
    changed = replace(first, text=memory.text, version=2)
    return MemoryRecord(changed, (first,), None, None, memory.text_hash, memory.terms)

async def write(memories, turn):
    if how == "add_many":
        await memories.add_many(USER, made(turn))
    elif how == "restore":
        await memories.restore(USER, [record(each) for each in made(turn)])
    elif how == "extract":
        await memories.add_extracted(USER, f"{name}/{turn}".encode(), made(turn), most=0)
    elif how == "replace":
        await memories.replace_thread(USER, "document", made(turn, thread_id="document"))
    elif how == "once":
        one = [new(f"text {turn}", id=f"{name}/{turn}")]
        done = await memories.add_extracted(USER, str(turn).encode(), one, most=0)
        return "done" if done else "not"
    else:
        wanted = MemoryFilter(category=f"{name}/{turn}")
        await memories.delete_matching(USER, wanted, reason="", purge=how == "purge")
    return turn

async def main():
    store = open_store(url)
    memories = store.memories()
    await memories.settings(USER)
    print("ready", flush=True)
    sys.stdin.readline()
    for turn in range(int(turns)):
        print(await write(memories, turn), flush=True)
    await store.close()

asyncio.run(main())
"""


async def ids_of(memories: Memories, wanted: MemoryFilter) -> Counter[str]:
    """How many there are of each turn: ids are NAME/TURN/NUMBER."""
    found: Counter[str] = Counter()
    before = None
    while True:
        page = await memories.page(USER, wanted, before=before, limit=5_000)
        found.update(row.id.rpartition("/")[0] for row in page.memories)
        if not page.more:
            return found
        before = page.memories[-1].number


PAUSES = (0.0, 0.004, 0.009)


@pytest.mark.slow
@pytest.mark.outage
@pytest.mark.parametrize("how", ["add_many", "restore", "extract", "replace"])
async def test_a_write_of_many_is_there_whole_or_not_at_all(url, how):
    for at, pause in enumerate(PAUSES):
        name = f"child{at}"
        told = killed_in_the_middle(child(CHILD, victim_url(url), how, name, TURNS), url, pause)
        store = open_store(url)
        memories = store.memories()
        assert await store.check() == []
        there = await ids_of(memories, STORED)
        assert set(there.values()) == {TOGETHER}
        turns = sorted(int(each.split("/")[1]) for each in there if each.startswith(name))
        if how == "replace":  # one of them stands: the last that it told of, or one more
            assert len(there) == 1
            assert turns[0] in (told - 1, told)
        else:
            assert turns == [*range(len(turns))]
            assert len(turns) in (told, told + 1)
        if how == "extract":
            digests = [f"{name}/{turn}".encode() for turn in range(TURNS)]
            done = await memories.extracted(USER, digests)
            assert done == set(digests[: len(turns)])
        await store.close()


@pytest.mark.slow
@pytest.mark.outage
@pytest.mark.parametrize("how", ["delete", "purge"])
async def test_a_bulk_deletion_took_all_or_none(url, how):
    store = open_store(url)
    memories = store.memories()
    turns = range(12)
    for at in range(len(PAUSES)):
        for turn in turns:
            name = f"child{at}/{turn}"
            rows = [new(f"{name} {n}", id=f"{name}/{n}", category=name) for n in range(TOGETHER)]
            await memories.add_many(USER, rows)
    for at, pause in enumerate(PAUSES):
        process = child(CHILD, victim_url(url), how, f"child{at}", TURNS)
        told = killed_in_the_middle(process, url, pause)
        assert await store.check() == []
        there = await ids_of(memories, STORED)
        assert set(there.values()) <= {TOGETHER}
        left = [turn for turn in turns if f"child{at}/{turn}" in there]
        assert left == [*turns][len(turns) - len(left) :]
        assert len(turns) - len(left) in (min(told, len(turns)), min(told + 1, len(turns)))
        stones = Counter(s.id.rpartition("/")[0] for s in await memories.tombstones(USER, 99_999))
        assert set(stones.values()) <= {TOGETHER}
        assert stones.keys() & there.keys() == set()
    await store.close()


@pytest.mark.slow
async def test_two_processes_extract_each_message_once(url):
    outputs = ended(*(child(CHILD, url, "once", f"child{n}", 20) for n in range(2)))
    for answers in zip(*outputs, strict=True):
        assert sorted(answers) == ["done", "not"]
    store = open_store(url)
    assert await store.check() == []
    page = await store.memories().page(USER, limit=100)
    assert sorted(row.text for row in page.memories) == sorted(f"text {n}" for n in range(20))
    await store.close()
