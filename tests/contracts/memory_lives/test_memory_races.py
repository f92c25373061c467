"""Memories when many save at once: in one process, over two stores on one database, and over
processes of which one is killed."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from memtree.errors import NotFound, StoreUnavailable, VersionConflict
from memtree.memories.memory import Memory
from memtree.memories.memory_store import ChangeEvent, StoredSegment
from memtree.memories.scope import Scope, ScopeKind
from memtree.stores import Memories, SqliteStore, open_store
from tests.contracts.memory_backends import CHAT, RECIPE, Clock, InEveryStore, new, rewritten, save
from tests.contracts.processes import begin, child, ended
from tests.programs.postgres import victim_url, wait_for_victims


class TestMemoryRaces(InEveryStore):
    async def test_one_of_many_saves_of_a_text_is_kept(self, both):
        saves = [both[n % 2].add(CHAT, new("same", id=f"mem_{n}"), once=True) for n in range(20)]
        added = await asyncio.gather(*saves)
        assert sum(not each.existing for each in added) == 1
        assert len({each.memory.id for each in added}) == 1
        for memories in both:
            page = await memories.page(CHAT)
            assert ([m.id for m in page.memories], page.total) == ([added[0].memory.id], 1)

    async def test_as_many_saves_as_calls(self, both):
        scopes = (CHAT, Scope.of_chat("tenant", "another"))
        saves = [both[n % 2].add(scopes[n % 4 // 2], new(f"text {n}")) for n in range(20)]
        added = await asyncio.gather(*saves)
        assert sorted(each.memory.number for each in added) == list(range(1, 21))
        assert [(await both[1].state(scope)).total for scope in scopes] == [10, 10]

    async def test_the_newest_of_many_saves_of_a_text_stands_for_all(self, both):
        """None of the rows is lost, and none of another scope is taken along."""
        scopes = (CHAT, Scope.of_user("tenant"), Scope.of_agent("tenant", "agent", ""))
        saves = [both[n % 2].add(scopes[n % 6 // 2], new("same", id=f"mem_{n}")) for n in range(24)]
        added = [each.memory for each in await asyncio.gather(*saves)]
        assert sorted(each.number for each in added) == list(range(1, 25))
        for at, scope in enumerate(scopes):
            mine = sorted(
                (each for n, each in enumerate(added) if n % 6 // 2 == at),
                key=lambda each: each.number,
                reverse=True,
            )
            page = await both[1].page(scope)
            twins = await both[0].twins(scope, [each.id for each in mine])
            if scope.kind is ScopeKind.AGENT:  # which may hold equal ones
                assert (page.total, twins) == (8, {})
                continue
            newest, *others = [each.id for each in mine]
            assert ([each.id for each in page.memories], page.total) == ([newest], 1)
            assert twins == {newest: others[::-1]}

    async def test_the_limit_holds_for_all(self, both):
        saves = [both[n % 2].add(CHAT, new(f"{n}"), most=5) for n in range(12)]
        results = await asyncio.gather(*saves, return_exceptions=True)
        assert sum(isinstance(each, Exception) for each in results) == 7
        assert (await both[0].state(CHAT)).total == 5

    async def test_one_of_many_changes_of_a_version_wins(self, both):
        await save(both[0], CHAT, "one")
        changes = [
            both[n % 2].change(CHAT, 1, rewritten(f"text {n}"), if_version=1) for n in range(10)
        ]
        results = await asyncio.gather(*changes, return_exceptions=True)
        (won,) = [each for each in results if isinstance(each, Memory)]
        assert sum(isinstance(each, VersionConflict) for each in results) == 9
        assert await both[1].get(CHAT, [1]) == [won]
        assert len(await both[0].history(CHAT, 1)) == 2

    async def test_one_of_many_successors_wins(self, both):
        await save(both[0], CHAT, "one")
        calls = [both[n % 2].supersede(CHAT, 1, new(f"text {n}"), "") for n in range(10)]
        results = await asyncio.gather(*calls, return_exceptions=True)
        (won,) = [each for each in results if isinstance(each, Memory)]
        assert sum(isinstance(each, NotFound) for each in results) == 9
        assert (await both[1].page(CHAT)).memories == (won,)

    async def test_whoever_follows_the_changes_misses_none(self, both):
        """Counts become visible in the order in which they are handed out."""
        seen: list[ChangeEvent] = []
        saved: list[asyncio.Future[list[str]]] = []

        async def follow() -> None:
            while not (saved and all(each.done() for each in saved)):
                await look()
            await look()

        async def look() -> None:
            await asyncio.sleep(0)
            after = seen[-1].changed if seen else 0
            seen.extend(await both[1].changes(CHAT, after, 3))

        for writer in range(4):
            texts = [f"{writer} {n}" for n in range(8)]
            saved.append(asyncio.ensure_future(save(both[writer % 2], CHAT, *texts)))
        await follow()
        while len(seen) < 32 and (await both[1].state(CHAT)).changed > seen[-1].changed:
            await look()
        assert [event.changed for event in seen] == list(range(1, 33))
        assert {event.id for event in seen} == {id_ for each in saved for id_ in each.result()}

    async def test_all_kinds_of_writes_at_once(self, both):
        await save(both[0], CHAT, *(f"{n}" for n in range(8)))

        async def deleted(memories, ref: int, *, purge: bool) -> None:
            try:
                await memories.delete(CHAT, [ref], purge=purge)
            except StoreUnavailable:  # a file is not written anew while the other one reads it
                if not purge:
                    raise

        async def work(number: int) -> None:
            memories = both[number % 2]
            for n in range(1, 9):
                ref = (number * 3 + n) % 8 + 1
                try:
                    await memories.put_vectors(CHAT, RECIPE, {ref: (1, b"v")})
                    await deleted(memories, ref, purge=(n + number) % 5 == 0)
                    await memories.undelete(CHAT, [ref, ref + 1])
                    await memories.mark_duplicate(CHAT, f"mem_{ref}", f"mem_{n}")
                    await memories.change(CHAT, ref, rewritten(f"text {n}"))
                    await memories.supersede(CHAT, ref, new(f"{number} {n}"), "")
                except NotFound:
                    await save(memories, CHAT, f"more {number} {n}")

        await asyncio.gather(*(work(number) for number in range(4)))
        live = (await both[0].page(CHAT)).memories
        assert (await both[1].state(CHAT)).total == len(live) > 0


# ---------------------------------------------------------------- processes

CHILD = """
import asyncio, sys
sys.path.insert(0, sys.argv[1])
from memtree.stores import open_store
from tests.contracts.memory_backends import CHAT, new

async def main():
    store = open_store(sys.argv[2])
    memories = store.memories()
    print("ready", flush=True)
    sys.stdin.readline()
    for n in range(int(sys.argv[4])):
        memory = new(f"text {n}", id=f"mem_{sys.argv[3]}_{n}")
        added = await memories.add(CHAT, memory, once=sys.argv[5] == "once")
        print(added.memory.id, flush=True)
    await store.close()

asyncio.run(main())
"""


async def stored(url: str) -> tuple[list[Memory], dict[str, list[str]]]:
    """The memories that count, and the ids of their twins."""
    store = open_store(url)
    assert await store.check() == []
    rows = list((await store.memories().page(CHAT, limit=10_000)).memories)
    twins = dict(await store.memories().twins(CHAT, [row.id for row in rows]))
    await store.close()
    return rows, twins


@pytest.mark.slow
async def test_two_processes_save_the_same(url):
    outputs = ended(*(child(CHILD, url, number, 20, "once") for number in range(2)))
    rows, twins = await stored(url)
    assert twins == {}
    assert sorted(row.text for row in rows) == sorted(f"text {n}" for n in range(20))
    assert len({row.number for row in rows}) == 20
    for output in outputs:
        assert set(output) == {row.id for row in rows}


@pytest.mark.slow
async def test_what_was_saved_is_there_after_a_kill(url):
    children = [child(CHILD, victim_url(url), number, 10_000, "insert") for number in range(2)]
    begin(*children)
    told = [[each.stdout.readline().strip() for _ in range(30)] for each in children]
    for each in children:
        each.kill()
    rest = [each.stdout.read().split("\n")[:-1] for each in children]  # whole lines
    for each in children:
        each.communicate()
    wait_for_victims(url)
    rows, twins = await stored(url)
    assert len({row.text for row in rows}) == len(rows)
    ids = {row.id for row in rows} | {id_ for others in twins.values() for id_ in others}
    acknowledged = {id_ for lines in (*told, *rest) for id_ in lines}
    assert acknowledged <= ids
    assert len(ids - acknowledged) <= len(children)  # on its way when the process ended


# ---------------------------------------------------------------- bytes in files

SECRET = "canary-of-a-text"


async def told_everywhere(memories: Memories, word: str) -> None:
    """A text in rows, history, tombstones, data, tags, vectors and a segment."""
    fields = {"tags": (word,), "data": {word: word}, "session_id": word, "kind": word}
    for n in range(40):
        memory = new(f"{word} {n}", id=f"mem_{word[:3]}_{n}", **fields)
        await memories.add(CHAT, memory)
    await memories.change(CHAT, f"mem_{word[:3]}_1", rewritten(f"{word} changed"))
    newer = new(f"{word} newer", id=f"mem_{word[:3]}_newer", **fields)
    await memories.supersede(CHAT, f"mem_{word[:3]}_2", newer, word)


def bytes_of(folder: Path) -> bytes:
    """All that is in the store's files, the log included."""
    return b"".join(path.read_bytes() for path in folder.iterdir())


@pytest.mark.parametrize("how", ["purge", "sweep", "tenant"])
async def test_no_byte_of_an_erased_text_is_in_a_file(tmp_path, how):
    clock = Clock()
    store = SqliteStore(tmp_path / "store.db", now=clock)
    memories = store.memories()
    other = Scope.of_user("tenant")
    await save(memories, other, "stays", id="mem_0")
    await told_everywhere(memories, SECRET)
    numbers = [row.number for row in (await memories.page(CHAT)).memories]
    vectors = {number: (1, SECRET.encode() + b"v") for number in numbers}
    await memories.put_vectors(CHAT, RECIPE, vectors)
    state = await memories.state(CHAT)
    await memories.put_segment(
        CHAT, RECIPE, StoredSegment(state.changed, 0, SECRET.encode() * 5_000)
    )
    assert bytes_of(tmp_path).count(SECRET.encode()) > 100
    if how == "tenant":
        await memories.delete(CHAT, numbers, reason=SECRET, purge=True)
        assert SECRET.encode() in bytes_of(tmp_path)  # of the tombstones
        assert await memories.erase_memories("tenant") == 1
    else:
        await memories.delete(CHAT, numbers, reason="", purge=how == "purge")
    if how == "sweep":
        assert SECRET.encode() in bytes_of(tmp_path)
        await memories.sweep_memories(clock() + 30 * 86_400, 30)
    assert SECRET.encode() not in bytes_of(tmp_path)
    assert (b"stays" in bytes_of(tmp_path)) is (how != "tenant")
    assert await store.check() == []
    await store.close()
    assert SECRET.encode() not in bytes_of(tmp_path)


class TestRowsInPostgres(InEveryStore):
    STORES = ("postgres",)

    async def test_no_table_holds_an_erased_text(self, store, memories):
        """The record docs/decisions/archive.md#0011 says what the server's files keep of it."""
        await told_everywhere(memories, SECRET)
        page = await memories.page(CHAT)
        await memories.delete(CHAT, [row.number for row in page.memories], purge=True)

        async def found(db) -> list[str]:
            tables = await db.execute(
                "SELECT table_name FROM information_schema.tables"
                " WHERE table_schema = current_schema()"
            )
            holding = []
            for (table,) in await tables.fetchall():
                rows = await db.execute(f"SELECT row_to_json({table})::text FROM {table}")
                for (row,) in await rows.fetchall():
                    if SECRET in row or SECRET.encode().hex() in row:
                        holding.append(table)
            return holding

        assert await store.database.run(found) == []
        await told_everywhere(memories, "another-" + SECRET)
        assert set(await store.database.run(found)) >= {"memories", "memory_history"}
