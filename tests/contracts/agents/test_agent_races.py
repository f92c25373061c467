"""Agent memories when many write at once: over two stores on one database, and over processes of
which one is killed. Of what is unique one is live, and nobody gets an error for having lost."""

from __future__ import annotations

import asyncio
from functools import partial

import psycopg
import pytest

from memtree.agents.agent_memory import AgentScopes, StructuredWrite, WriteOutcome
from memtree.agents.memory_schema import MemorySchema, unique_key
from memtree.memories.memory import MemoryChange
from memtree.memories.memory_store import MemoryFilter
from memtree.memories.scope import Scope
from memtree.stores import Memories, open_store
from tests.contracts.memory_backends import START, InEveryStore, new
from tests.contracts.processes import child, ended, killed_in_the_middle
from tests.programs.postgres import victim_url

AGENT = Scope.of_agent("tenant", "agent")
EVERY = AgentScopes("tenant", None, None)
SCHEMA = MemorySchema("Profile", "{}", ("name",))


def profile(id_: str, name: str = "ann") -> StructuredWrite:
    return StructuredWrite(new(id_, kind="Profile", data={"name": name, "id": id_}, id=id_))


async def put_schema(memories: Memories, schema: MemorySchema = SCHEMA) -> None:
    await memories.put_schema("tenant", schema, partial(unique_key, schema), most=5)


class TestAgentRaces(InEveryStore):
    async def test_of_many_with_the_same_values_one_is_live(self, both):
        await put_schema(both[0])
        calls = [both[n % 2].write(AGENT, [profile(f"{n}")]) for n in range(20)]
        results = [each[0] for each in await asyncio.gather(*calls)]
        (first,) = [each for each in results if each.outcome is WriteOutcome.CREATED]
        superseded = [each.superseded for each in results if each is not first]
        (last,) = {each.memory.id for each in results} - {*superseded}
        assert len(set(superseded)) == 19
        assert [each.id for each in (await both[1].page(AGENT)).memories] == [last]
        every = MemoryFilter(superseded=True)
        assert len((await both[0].page(AGENT, every)).memories) == 20

    async def test_one_of_many_that_come_back_is_live(self, both):
        await put_schema(both[0])
        for n in range(6):
            await both[0].write(AGENT, [profile(f"{n}")])
            await both[0].delete(AGENT, [f"{n}"])
        calls = [both[n % 2].undelete(AGENT, [f"{n}"]) for n in range(6)]
        back = [row.id for each in await asyncio.gather(*calls) for row in each]
        assert [each.id for each in (await both[1].page(AGENT)).memories] == back
        assert len(back) == 1

    async def test_a_message_is_done_once(self, both):
        calls = [both[n % 2].write(AGENT, [profile(f"{n}")], done=[b"message"]) for n in range(9)]
        results = await asyncio.gather(*calls)
        assert sum(each is not None for each in results) == 1
        assert (await both[0].state(AGENT)).total == 1

    async def test_a_schema_that_comes_while_memories_do(self, both):
        """In scopes that it finds and in scopes that begin meanwhile: with its values or without,
        what is live has them by the schema that is there in the end."""
        scopes = [Scope.of_agent("tenant", f"agent {n}") for n in range(6)]
        for scope in scopes[:2]:
            await both[0].write(scope, [profile("0", "ann")])

        async def write(number: int) -> None:
            for n in range(1, 5):
                for scope in scopes[number::3]:
                    await both[number % 2].write(scope, [profile(f"{number} {n}", f"{n % 2}")])

        async def change() -> None:
            for names in (("name",), (), ("id",), ("name",)):
                await put_schema(both[1], MemorySchema("Profile", "{}", names))

        await asyncio.gather(*(write(n) for n in range(3)), change())
        for scope in scopes:
            (result,) = await both[0].write(scope, [profile("last", "1")])
            (again,) = await both[1].write(scope, [profile("very last", "1")])
            assert again.superseded == result.memory.id == "last"

    async def test_writers_of_several_scopes_wait_in_one_order(self, both):
        scopes = [Scope.of_agent("tenant", f"agent {n}") for n in range(8)]
        for scope in scopes:
            await both[0].write(scope, [profile(f"{n}", f"{n}") for n in range(4)])
        rows = [(scope, f"{n}") for scope in scopes for n in range(4)]

        async def work(number: int) -> None:
            memories = both[number % 2]
            order = rows if number % 2 else rows[::-1]
            for n in range(4):
                await memories.change_all(order, MemoryChange(START + n, tags=(f"{number}",)))
                data = MemoryChange(START + n, data={"name": f"{n}"})
                await memories.change_all(order[number::4], data)
                await memories.delete_all(order[number::7])
                await memories.write(scopes[-number], [profile(f"{number} {n}")])
                await memories.delete_matching_all(EVERY, MemoryFilter(tags=("none",)))
                await memories.undelete(scopes[number], ["0", "1"])
                if number == 1:
                    await put_schema(
                        memories, MemorySchema("Profile", "{}", ("name", "id")[: n % 3])
                    )

        await asyncio.gather(*(work(number) for number in range(4)))
        page = await both[0].agent_page(EVERY, limit=500)
        assert page.total == len(page.memories) > 0


class TestRacesInPostgres(InEveryStore):
    STORES = ("postgres",)

    @pytest.mark.parametrize("first", ["schema", "write"])
    async def test_a_schema_and_a_memory_in_a_scope_of_its_own_wait_for_each_other(
        self, store, both, first
    ):
        """Neither can know of the other before one of them has the tenant."""
        await both[0].write(AGENT, [profile("0")])
        other = Scope.of_agent("tenant", "other")
        with self.connected(store) as db, self.connected(store) as look:
            with db.transaction():
                db.execute("SELECT * FROM memory_tenants FOR UPDATE")
                calls = [put_schema(both[0]), both[1].write(other, [profile("1")])]
                started: list[asyncio.Future[None]] = []
                for call in calls if first == "schema" else calls[::-1]:
                    started.append(asyncio.ensure_future(call))
                    done: set[asyncio.Future[None]] = set()
                    while not done and self.waiting(look, db.info.backend_pid) < len(started):
                        done, _ = await asyncio.wait(started, timeout=0.01)
            await asyncio.gather(*started)
        (result,) = await both[0].write(other, [profile("2")])
        assert result.superseded == "1"

    def connected(self, store) -> psycopg.Connection:
        path = f"-csearch_path={store.database.dsn.schema}"
        return psycopg.connect(store.database.dsn.conninfo, autocommit=True, options=path)

    def waiting(self, look: psycopg.Connection, pid: int) -> int:
        """How many connections wait for that one, or for one that does."""
        found = look.execute("SELECT pid, pg_blocking_pids(pid) FROM pg_stat_activity").fetchall()
        waiting = {pid}
        for _ in found:
            waiting |= {pid for pid, blocking in found if waiting & set(blocking)}
        return len(waiting) - 1


# ---------------------------------------------------------------- processes

CHILD = """
import asyncio, sys
sys.path.insert(0, sys.argv[1])
from memtree.memories.memory_store import MemoryFilter
from memtree.errors import Conflict
from memtree.stores import open_store
from tests.contracts.memory_backends import new
from tests.contracts.agents.test_agent_races import AGENT, EVERY, TOGETHER, profile

_, _, url, how, name, turns = sys.argv

async def one(memories, turn):
    if how == "supersede":
        (result,) = await memories.write(AGENT, [profile(f"{name}/{turn}")])
        return result.memory.id
    if how == "bind":
        try:
            await memories.prove_wallet(f"evm:{turn}", name, f"{name} {turn}".encode(), 9e9)
        except Conflict:
            return "not"
        return "bound"
    if how == "write":
        together = [profile(f"{name}/{turn}/{n}", f"{n}") for n in range(TOGETHER)]
        await memories.write(AGENT, together, done=[f"{name} {turn}".encode()])
    elif how == "delete":
        await memories.delete_matching_all(EVERY, MemoryFilter(tags=(f"{turn}",)))
    elif how == "purge":
        await memories.delete_matching_all(EVERY, MemoryFilter(tags=(f"{turn}",)), purge=True)
    return turn

async def main():
    store = open_store(url)
    memories = store.memories()
    await memories.schemas("tenant")
    print("ready", flush=True)
    sys.stdin.readline()
    for turn in range(int(turns)):
        print(await one(memories, turn), flush=True)
    await store.close()

asyncio.run(main())
"""
TOGETHER = 100


async def with_schema(url: str) -> None:
    store = open_store(url)
    await put_schema(store.memories())
    await store.close()


@pytest.mark.long
async def test_two_processes_supersede_each_other(url):
    await with_schema(url)
    outputs = ended(*(child(CHILD, url, "supersede", name, 60) for name in "ab"))
    store = open_store(url)
    assert await store.check() == []
    memories = store.memories()
    page = await memories.page(AGENT, MemoryFilter(superseded=True), limit=1_000)
    rows = {row.id: row for row in page.memories}
    assert rows.keys() == {id_ for output in outputs for id_ in output}
    assert len(rows) == 120
    (last,) = [row for row in rows.values() if row.superseded_by is None]
    chain = [last]
    while chain[-1].supersedes:
        chain.append(rows[chain[-1].supersedes])
    assert len(chain) == 120
    assert [(each.superseded_by) for each in chain[1:]] == [each.id for each in chain[:-1]]
    assert (await memories.state(AGENT)).total == 1
    await store.close()


@pytest.mark.long
async def test_two_processes_bind_wallets(url):
    await with_schema(url)
    outputs = ended(*(child(CHILD, url, "bind", name, 60) for name in "ab"))
    pairs = {tuple(sorted(each)) for each in zip(*outputs, strict=True)}
    assert pairs == {("bound", "not")}
    store = open_store(url)
    bound = [len(await store.memories().wallets(name)) for name in ("a", "b")]
    assert bound == [output.count("bound") for output in outputs]
    await store.close()


@pytest.mark.slow
@pytest.mark.outage
async def test_a_write_of_many_is_there_whole_or_not_at_all(url):
    """With its messages: each turn supersedes the memories of the one before."""
    await with_schema(url)
    for at, pause in enumerate((0.0, 0.005, 0.011)):
        name = f"child{at}"
        told = killed_in_the_middle(child(CHILD, victim_url(url), "write", name, 60), url, pause)
        store = open_store(url)
        memories = store.memories()
        assert await store.check() == []
        page = await memories.page(AGENT, limit=1_000)
        assert len(page.memories) == TOGETHER
        (turn,) = {row.id.rpartition("/")[0] for row in page.memories}
        assert turn in (f"{name}/{told - 1}", f"{name}/{told}")
        last = int(turn.partition("/")[2])
        keys = [f"{name} {n}".encode() for n in range(60)]
        assert await memories.extracted(AGENT, keys) == set(keys[: last + 1])
        await store.close()


@pytest.mark.slow
@pytest.mark.outage
@pytest.mark.parametrize("how", ["delete", "purge"])
async def test_a_deletion_in_many_scopes_is_whole_or_not_at_all(url, how):
    store = open_store(url)
    memories = store.memories()
    scopes = [Scope.of_agent("tenant", f"agent{n}") for n in range(10)]
    for scope in scopes:
        await memories.add_many(
            scope, [new(f"{n}", tags=(f"{n // 3}",)) for n in range(180)], once=False
        )
    await store.close()
    told = killed_in_the_middle(child(CHILD, victim_url(url), how, "child", 60), url, 0.003)
    store = open_store(url)
    assert await store.check() == []
    memories = store.memories()
    left = {
        tuple(row.id for row in (await memories.page(scope, limit=500)).memories)
        for scope in scopes
    }
    (rows,) = left  # the same in all scopes
    assert len(rows) in (180 - 3 * told, 180 - 3 * (told + 1))
    await store.close()
