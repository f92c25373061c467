"""Copying a store: any back end into any other, again, after a stop, and never over another's."""

from __future__ import annotations

import asyncio
import subprocess
import sys
from collections.abc import AsyncIterator
from contextlib import aclosing
from itertools import permutations
from pathlib import Path

import msgspec
import pytest

from memtree.agents.agent_memory import StructuredWrite
from memtree.agents.memory_schema import MemorySchema
from memtree.errors import BadRequest, StoreUnavailable
from memtree.memories.memory import PossibleUpdate
from memtree.memories.memory_store import ShownMemory
from memtree.memories.scope import Scope
from memtree.memories.user_memories import MemoryGroup, SettingsChange
from memtree.ports.context_store import IndexBatch
from memtree.stores import Memories, open_memories, open_store
from memtree.stores.context import store_copy
from memtree.stores.context.store_copy import TABLES, copy
from memtree.tree.node import EMPTY
from memtree.unfolding.memory_plan import TextSpan
from memtree_proxy.cli.main import main
from tests.contracts.backends import (
    A,
    B,
    OnMemory,
    OnPostgres,
    OnSqlite,
    Store,
    address,
    epoch,
    frontier,
    leaf,
    over,
    turn,
    version,
)
from tests.contracts.memory_backends import new, rewritten, save
from tests.made.request_rows import row
from tests.programs.postgres import drop_schema, store_url

PAGE_ROWS = 20  # in these tests
LEAVES = [leaf(number) for number in range(5 * PAGE_ROWS)]  # more than a page
LOW = [over(LEAVES[at : at + 4]) for at in range(0, 40, 4)]
KEY, RECIPE, DAY = b"key", "minilm/1", 20_000
BACKENDS = {"memory": OnMemory(), "sqlite": OnSqlite(), "postgres": OnPostgres()}
PAIRS = [*permutations(BACKENDS, 2), ("sqlite", "sqlite"), ("postgres", "postgres")]


async def fill(store: Store, *tenants: str) -> None:
    """Rows in every table."""
    for tenant in tenants:
        covered = {address(n): frontier(LOW[: n + 1], 4 * n + 4) for n in range(10)}
        await store.commit(tenant, IndexBatch((*LEAVES, *LOW), covered, 1 / 3))
        await store.put_vectors(tenant, RECIPE, {node.id: b"\0\xff" * 2 for node in LEAVES[:70]})
        await store.put_summaries(tenant, {LOW[0].id: version(1), LEAVES[0].id: version(2)})
        await store.put_summaries(tenant, {LOW[0].id: version(3)})
        one = epoch(1, (LOW[0].id, 1))
        for at in range(3):
            new = turn(one, TextSpan(3, 10, 20), used=float(at))
            await store.put_turn(tenant, KEY, address(at), new, epoch=one, expires=1e18)
        await store.claim(tenant, [LEAVES[5].id], "worker é", 10.0, 20.5)
        await store.add(tenant, DAY, {"calls": 2**53 + 1, "tokens": -5})
        await store.add_requests({tenant: [row("a", model="é"), row("b")]})
    await store.keep_recipe(RECIPE, 20_000 * 86_400.0)
    await store.add_key("laptop é", ["one", "two"])
    await store.add_key("phone", ["three"])
    await store.move_tenant("t_old", "t_new")
    await remember(open_memories(store), *tenants)


async def remember(memories: Memories, *tenants: str) -> None:
    """Rows in every table of memories."""
    for tenant in tenants:
        scope = Scope.of_chat(tenant, "chat é")
        await memories.add(scope, new("one \0 é", tags=("a",), expires=9e9))
        await save(memories, scope, "two", "three", "four", "five")
        await memories.change(scope, "mem_two", rewritten("zwei"))
        await memories.supersede(scope, "mem_three", new("drei"), "why")
        await memories.mark_duplicate(scope, "mem_five", "mem_two")
        await memories.put_vectors(scope, "minilm/1", {1: (1, b"v"), 2: (2, b"\0")})
        pair = [PossibleUpdate("mem_two", "", ("1 -> 2",))]
        await memories.put_updates(scope, "mem_drei", pair)
        await memories.put_shown(scope, "talk", [ShownMemory("mem_two", 2, 0.5)], 9e9)
        await memories.delete(scope, ["mem_four"], purge=True)
        user = Scope.of_user(tenant)
        await save(memories, user, *("six", "seven"))
        group = await memories.add_group(user, MemoryGroup("grp_é", "title \0 é", 1.5, 2.5), 9)
        await memories.add_members(user, group.id, ["mem_six"])
        await memories.change_settings(user, SettingsChange(save=True, threshold=1 / 3))
        await memories.set_plan(tenant, "free")
        await memories.add_extracted(user, b"digest", [], most=0)
        await memories.put_snapshot(user, b"key", new("snapshot"), most=0)
        agent = Scope.of_agent(tenant, "agent", "ann")
        for n in range(2):
            profile = StructuredWrite(new(f"profile {n}", kind="Profile", data={}), b"\0\xff")
            await memories.write(agent, [profile])
        schema = MemorySchema("Profile", "{}", ("é",), "what it is", 1.5, 2.5)
        await memories.put_schema(tenant, schema, lambda data: b"", most=5)
        await memories.prove_wallet(f"evm:{tenant}", tenant, tenant.encode()[:32], 9e9)
        await memories.revoke_grant(tenant.encode()[:32], f"evm:{tenant}", tenant, 9e9)
        await memories.put_objects([tenant.encode()[:32]], 9e9)


@pytest.fixture(autouse=True)
def _small_pages(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(store_copy, "PAGE_ROWS", PAGE_ROWS)


async def content(store: Store) -> list[tuple]:
    async with aclosing(store.pages()) as pages:
        return [(p.table.name, p.tenant, tuple(row)) async for p in pages for row in p.rows]


def nothing(count: int) -> None:
    pass


@pytest.fixture
async def pair(request, tmp_path: Path) -> AsyncIterator[tuple[Store, Store]]:
    folders = tmp_path / "from", tmp_path / "to"
    stores = [BACKENDS[kind].open(at) for kind, at in zip(request.param, folders, strict=True)]
    yield stores[0], stores[1]
    for kind, store, at in zip(request.param, stores, folders, strict=True):
        await store.close()
        if kind == "postgres":
            drop_schema(at)


# The kinds are independent: each is read from and written to by one of the pairs that are not long.
LONG_PAIRS = {("memory", "postgres"), ("sqlite", "memory"), ("postgres", "sqlite")}
every_pair = pytest.mark.parametrize(
    "pair",
    [
        pytest.param(pair, id="-".join(pair), marks=[pytest.mark.long] * (pair in LONG_PAIRS))
        for pair in PAIRS
    ],
    indirect=True,
)
both_ways = pytest.mark.parametrize(
    "pair", [("sqlite", "postgres"), ("postgres", "sqlite")], indirect=True, ids="-".join
)


@every_pair
async def test_a_copy_is_the_same(pair):
    source, target = pair
    await fill(source, A, B)
    told: list[int] = []
    rows = await copy(source, target, told.append)
    before = await content(source)
    assert await content(target) == before
    assert len(before) == sum(told) == sum(rows.values())
    assert {table for table, _, _ in before} == TABLES.keys()
    assert await target.counts() == await source.counts() == rows
    assert await target.check() == []
    found = [await store.latest(A, KEY, [address(1)]) for store in pair]
    assert found[0] == found[1]
    assert await target.tenant_of("two") == await source.tenant_of("two")
    assert await target.list_keys() == await source.list_keys()
    assert await target.aliases() == await source.aliases() != {}
    for tenant in (A, B):
        told_of = [await store.tallies(tenant, 0, DAY) for store in pair]
        assert told_of[0] == told_of[1]
    assert await copy(source, target, nothing) == rows
    assert await content(target) == before
    # And it is a store like any other.
    await target.commit(A, IndexBatch((), {address(99): EMPTY}, 1.0, address(9)))
    assert len(await target.chain(A, address(99))) == 11
    assert (await target.forget(B, None)).addresses == 10
    assert await source.memories().page(Scope.of_user(A)) == await target.memories().page(
        Scope.of_user(A)
    )
    await save(target.memories(), Scope.of_user("another"), "one")
    added = await target.memories().add(Scope.of_chat(A, "chat é"), new("last"))
    assert added.memory.number == 12
    assert await target.check() == []


@every_pair
async def test_an_empty_store_is_copied(pair):
    source, target = pair
    assert not any((await copy(source, target, nothing)).values())
    assert await content(target) == []


@both_ways
async def test_a_stopped_copy_goes_on(pair, monkeypatch):
    source, target = pair
    await fill(source, A)
    load, loaded = target.load, []

    async def failing(page):
        if len(loaded) == 4:
            raise StoreUnavailable("stopped")
        loaded.append(page)
        await load(page)

    monkeypatch.setattr(target, "load", failing)
    with pytest.raises(StoreUnavailable):
        await copy(source, target, nothing)
    part = await content(target)
    assert 0 < len(part) < len(await content(source))
    monkeypatch.setattr(target, "load", load)
    await copy(source, target, nothing)
    assert await content(target) == await content(source)
    assert await target.check() == []


@both_ways
async def test_what_changed_since_is_brought_along(pair):
    source, target = pair
    await fill(source, A)
    await copy(source, target, nothing)
    await source.renew(A, [address(3)], 77.0)
    await source.put_turn(A, KEY, address(1), turn(epoch(1), used=55.0), expires=2e18)
    await source.claim(A, [LEAVES[5].id], "another", 30.0, 40.0)
    await source.add(A, DAY, {"calls": 1})
    await source.keep_recipe(RECIPE, 20_007 * 86_400.0)
    await source.put_summaries(A, {LOW[1].id: version(1)})
    await source.complete(A, [msgspec.structs.replace(LEAVES[5], summary=version(0))])
    await save(source.memories(), Scope.of_user(A), "new")
    await source.memories().change(Scope.of_user(A), "mem_new", rewritten("newer"))
    await copy(source, target, nothing)
    assert await content(target) == await content(source)


@every_pair
async def test_unique_values_that_another_memory_has_since(pair):
    """Whichever of the two is brought first."""
    source, target = pair
    memories = source.memories()
    scopes = [Scope.of_agent(A, each) for each in "ab"]
    for scope in scopes:
        for n in range(2):
            profile = StructuredWrite(new(f"{n}", kind="Profile", data={}), b"\0")
            await memories.write(scope, [profile])
            if n == 0:
                await memories.delete(scope, ["mem_0"])
    await memories.delete(scopes[0], ["mem_1"])
    await memories.undelete(scopes[0], ["mem_0"])
    await copy(source, target, nothing)
    for scope, (gone, back) in zip(scopes, (("mem_0", "mem_1"), ("mem_1", "mem_0")), strict=True):
        await memories.delete(scope, [gone])
        await memories.undelete(scope, [back])
    await copy(source, target, nothing)
    assert await content(target) == await content(source)
    assert await target.check() == []


CHANGES = "tenant", "node", "key", "tally", "summary", "scope", "memory"
WAYS = ("sqlite", "postgres"), ("postgres", "sqlite")


@pytest.mark.parametrize(
    ("pair", "change"),
    [
        pytest.param(
            way,
            change,
            id="-".join((*way, change)),
            marks=[pytest.mark.long] if (at + number) % 2 else [],
        )
        for at, way in enumerate(WAYS)
        for number, change in enumerate(CHANGES)
    ],
    indirect=["pair"],
)
async def test_another_content_is_not_mixed(pair, change):
    source, target = pair
    await fill(source, A)
    await copy(source, target, nothing)
    match change:
        case "tenant":
            await target.commit(B, IndexBatch((LEAVES[0],)))
        case "node":
            await target.commit(A, IndexBatch((leaf(99_999),)))
        case "key":
            await target.add_key("new", ["four"])
        case "tally":
            await target.add(B, DAY, {"calls": 1})
        case "scope":  # both stores number it alike
            await save(source.memories(), Scope.of_user(B, "one"), "one")
            await save(target.memories(), Scope.of_user(B, "two"), "one")
        case "memory":
            await save(source.memories(), Scope.of_user(A), "one")
            await save(target.memories(), Scope.of_user(A), "two")
        case "summary":
            await source.forget(A, None)  # the target has what the source has not any more
    before, there = await content(source), await content(target)
    with pytest.raises(BadRequest, match="mixed") as caught:
        await copy(source, target, nothing)
    assert caught.value.param == "to"
    assert (await content(source), await content(target)) == (before, there)


@both_ways
async def test_a_row_of_the_same_id_and_another_content_is_not_mixed(pair):
    source, target = pair
    await source.commit(A, IndexBatch((LEAVES[0],)))
    await source.put_vectors(A, RECIPE, {LEAVES[0].id: b"1234"})
    await target.commit(A, IndexBatch((LEAVES[0],)))
    await target.put_vectors(A, RECIPE, {LEAVES[0].id: b"9999"})
    with pytest.raises(BadRequest, match="vectors"):
        await copy(source, target, nothing)


@both_ways
async def test_a_copy_is_one_state_of_its_source(pair):
    """A row that is written after the copy began is not in it, nor any half of it."""
    source, target = pair
    await fill(source, A)
    before = await content(source)
    written = []

    class Meddled:
        def __getattr__(self, name):
            return getattr(target, name)

        async def load(self, page):
            if not written:
                written.append(page)
                new = IndexBatch((leaf(99_999),), {address(77): frontier([leaf(99_999)], 1)})
                await source.commit(A, new)
                await source.renew(A, [address(3)], 77.0)
                await source.put_turn(A, KEY, address(1), turn(epoch(1), used=9.0), expires=2e18)
            await target.load(page)

    await copy(source, Meddled(), nothing)
    assert await content(target) == before
    assert await content(source) != before
    assert await target.check() == []


@both_ways
async def test_another_writer_is_noticed(pair):
    source, target = pair
    await fill(source, A)

    class Meddled:
        def __getattr__(self, name):
            return getattr(target, name)

        async def load(self, page):
            await target.load(page)
            await target.commit(B, IndexBatch((LEAVES[0],)))

    with pytest.raises(StoreUnavailable, match=r"other rows .*\(nodes\)"):
        await copy(source, Meddled(), nothing)


# ---------------------------------------------------------------- the command


def memtree(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "memtree_proxy.cli", "store", "copy", *arguments],
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )


async def copied_here(capsys, source: str, target: str) -> tuple[int, str, str]:
    """Run the command in a thread of this process, which has all imported."""
    code = await asyncio.to_thread(main, ["store", "copy", source, target])
    return code, *capsys.readouterr()


@pytest.mark.slow
async def test_the_command(tmp_path, capsys):
    first, there, back = tmp_path / "first.db", tmp_path / "there", tmp_path / "back.db"
    store = OnSqlite().open(tmp_path / "made")
    await fill(store, A)
    kept = await content(store)
    await store.close()
    (tmp_path / "made" / "new" / "store.db").rename(first)
    url = store_url(there)
    done = memtree(f"sqlite:///{first}", url)
    for code, out, err in (
        (done.returncode, done.stdout, done.stderr),
        await copied_here(capsys, f"sqlite:///{first}", url),
        await copied_here(capsys, url, f"sqlite:///{back}"),
    ):
        assert code == 0, err
        assert out.startswith("copied 110 nodes, ")
        assert out.endswith(": no problem(s)\n")
        assert "schema=" not in out
    copied = open_store(f"sqlite:///{back}")
    assert await content(copied) == kept
    await copied.add_key("new", ["four"])
    await copied.close()
    code, _, err = await copied_here(capsys, url, f"sqlite:///{back}")
    assert code == 1
    assert "mixed" in err
    drop_schema(there)


@pytest.mark.parametrize(
    ("source", "target", "message"),
    [
        ("sqlite:///nothing.db", "memory:", "There is no store at nothing.db"),
        pytest.param(
            *("sqlite:///one.db", "sqlite:///one.db", "the same store"), marks=pytest.mark.long
        ),
        ("postgresql://me:s3cret@127.0.0.1:1/db", "memory:", "127.0.0.1:1/db cannot be reached"),
        pytest.param(
            *("postgresql://me:s3%cret@h/db", "memory:", "cannot be read"), marks=pytest.mark.long
        ),
    ],
)
def test_what_cannot_be_copied(tmp_path, monkeypatch, source, target, message):
    monkeypatch.chdir(tmp_path)
    done = memtree(source, target)
    assert done.returncode == 1
    assert message in done.stderr
    assert "Traceback" not in done.stderr
    assert "cret" not in done.stdout + done.stderr
    assert not list(tmp_path.glob("nothing.db*"))
