"""Check what the check of a store finds in the rows of its memories."""

from __future__ import annotations

import asyncio
import shutil
import sqlite3
from contextlib import closing
from functools import partial
from pathlib import Path

import pytest

from memtree.agents.agent_memory import StructuredWrite
from memtree.agents.memory_schema import MemorySchema, unique_key
from memtree.memories.memory_store import ShownMemory
from memtree.memories.scope import Scope
from memtree.memories.user_memories import MemoryGroup, SettingsChange
from memtree.stores import SqliteStore
from tests.contracts.memory_backends import START, new, rewritten, save

AGENT = Scope.of_agent("agents", "agent")
SCOPE, OTHER = Scope.of_chat("tenant", "chat"), Scope.of_user("tenant")


async def sound_store(path: Path) -> None:
    store = SqliteStore(path, now=lambda: START)
    memories = store.memories()
    await memories.add(SCOPE, new("one", tags=("t",)))
    await save(memories, SCOPE, "two", "three")
    await save(memories, OTHER, "four")
    await memories.change(SCOPE, 1, rewritten("uno"))
    await memories.supersede(SCOPE, 2, new("zwei"), "why")
    await memories.put_vectors(SCOPE, "r", {1: (2, b"v"), 3: (1, b"w")})
    await memories.put_shown(SCOPE, "talk", [ShownMemory("mem_one", 2, 1.0)], START + 9)
    await memories.add_group(SCOPE, MemoryGroup("grp", "t", START, START), 9)
    await memories.add_members(SCOPE, "grp", ["mem_one"])
    await memories.change_settings(SCOPE, SettingsChange(save=True))
    await memories.add_extracted(SCOPE, b"digest", [], most=0)
    profile = MemorySchema("Profile", "{}", ("name",))
    await memories.put_schema("agents", profile, partial(unique_key, profile), most=1)
    for scope in (AGENT, Scope.of_agent("agents", "other")):
        memory = new("ann", id=f"mem_{scope.owner}", kind="Profile", data={"name": "ann"})
        await memories.write(scope, [StructuredWrite(memory)])
    assert await store.check() == []
    await store.close()


DAMAGE = [
    ("DELETE FROM memory_tenants", "scope 1: its tenant has no counter"),
    ("UPDATE memory_tenants SET counted = 9", "its tenant counts 9, there are 4"),
    ("UPDATE memory_tenants SET last = 3", "its tenant's last number is 3, there is 5"),
    ("UPDATE memory_scopes SET counted = 2 WHERE number = 1", "it counts 2 memories, there are 3"),
    ("UPDATE memory_scopes SET changed = 2 WHERE number = 1", "1: changed after its scope"),
    ("UPDATE memories SET event = 99 WHERE number = 1", "memory 1: changed after its scope"),
    ("UPDATE memories SET scope = 7 WHERE number = 4", "scope 7: memory 4: there is no such scope"),
    ("UPDATE memories SET number = 1 WHERE number = 4", "number 1 stands twice in its tenant"),
    ("UPDATE memories SET counted = 1 WHERE number = 2", "2: it is counted, or not, against"),
    ("UPDATE memories SET deleted = 5.0 WHERE number = 3", "3: it is counted, or not, against"),
    ("UPDATE memories SET data = x'ff' WHERE number = 3", "A stored memory does not decode"),
    ("UPDATE memories SET tags = '' WHERE number = 1", "memory 1: its row has another tags"),
    ("UPDATE memories SET id = 'mem_x' WHERE number = 3", "memory 3: its row has another id"),
    ("UPDATE memories SET version = 3 WHERE number = 1", "1 of its older versions are kept"),
    ("UPDATE memories SET superseded_by = 'mem_x' WHERE number = 2", "it names mem_x, which is"),
    ("DELETE FROM memories WHERE number = 2", "memory 5: it names mem_two, which is missing"),
    ("DELETE FROM memories WHERE number = 1", "version 1 of memory 1 has no memory"),
    ("DELETE FROM memories WHERE number = 3", "vector r of memory 3 has no memory"),
    ("DELETE FROM memories WHERE number = 1", "shown memory of memory 1, which is missing"),
    ("DELETE FROM memory_history", "memory 1: 0 of its older versions are kept"),
    ("UPDATE memory_history SET version = 2", "version 2 of memory 1 is none before 2"),
    ("UPDATE memory_history SET data = x'ff'", "version 1 of memory 1: A stored memory does not"),
    ("UPDATE memory_tombstones SET data = x'ff'", "2: A stored tombstone does not decode"),
    ("UPDATE memory_tombstones SET scope = 9", "scope 9: tombstone 2: there is no such scope"),
    ("DELETE FROM memory_vectors WHERE number = 1", "memory 1: 1 vectors, not 0"),
    ("DELETE FROM memory_recipes", "recipe r: it counts 0 vectors, there are 2"),
    ("UPDATE memories SET created = 5.0 WHERE number = 3", "memory 3: its row has another created"),
    ("UPDATE memories SET updated = 5.0 WHERE number = 3", "memory 3: its row has another updated"),
    ("UPDATE memories SET tainted = 1 WHERE number = 3", "memory 3: its row has another tainted"),
    ("UPDATE memories SET replaced = 0 WHERE number = 2", "memory 2: since when it is replaced"),
    ("UPDATE memories SET replaced = 5.0 WHERE number = 3", "memory 3: since when it is replaced"),
    ("UPDATE memory_groups SET data = x'ff'", "group grp: A stored group of memories does not"),
    ("UPDATE memory_groups SET created = 5.0", "group grp: its row has another id or time"),
    ("UPDATE memory_groups SET scope = 9", "scope 9: group grp: there is no such scope"),
    ("DELETE FROM memory_groups", "memory 1 in group grp, which is missing"),
    ("UPDATE memory_group_members SET number = 9", "memory 9 in group grp is missing"),
    ("UPDATE memory_settings SET data = x'ff'", "settings: Stored settings of a user do not"),
    ("UPDATE memory_settings SET scope = 9", "scope 9: settings: there is no such scope"),
    ("UPDATE extracted_messages SET scope = 9", "9: extracted message: there is no such scope"),
    ("UPDATE memory_schemas SET data = x'ff'", "schema Profile: A stored schema does not decode"),
    ("UPDATE memory_schemas SET unique_on = '1'", "schema Profile: A stored schema does not dec"),
    ("UPDATE memory_schemas SET unique_on = '[]'", "memory 1: its unique values are others"),
    ("UPDATE memories SET unique_key = 'x' WHERE scope = 3", "memory 1: its unique values are oth"),
    (
        "UPDATE memories SET scope = 3 WHERE scope = 4",
        "memory 2: another one has its unique values",
    ),
    (
        "INSERT INTO erased_memories VALUES (1, 1, 'mem_one', 1, 1, 1)",
        "event of memory 1, which is",
    ),
]


@pytest.fixture(scope="module")
def sound(tmp_path_factory) -> Path:
    """The file of a sound store, which each test copies."""
    path: Path = tmp_path_factory.mktemp("sound") / "store.db"
    asyncio.run(sound_store(path))
    return path


@pytest.mark.slow
@pytest.mark.parametrize(("damage", "found"), DAMAGE)
async def test_damage_is_found(tmp_path, sound, damage, found):
    path = tmp_path / "store.db"
    shutil.copyfile(sound, path)
    with closing(sqlite3.connect(path)) as db, db:
        db.execute("DROP INDEX unique_memories")  # which would not let it happen
        assert db.execute(damage).rowcount
    store = SqliteStore(path)
    lines = await store.check()
    await store.close()
    assert [line for line in lines if found in line], lines
    assert all(line.startswith(("memories of scope ", "schema ")) for line in lines)
    assert not [line for line in lines if "uno" in line or "zwei" in line]
