"""The store gives what requests without a credential have kept to `local`, once."""

from __future__ import annotations

from pathlib import Path

import pytest

from memtree.memories.scope import Scope
from memtree.ports.store import IndexBatch
from memtree.stores import Opened, open_memories, open_store
from memtree.stores.machine_owner import PART
from memtree.tenant_names import ANONYMOUS, LOCAL
from tests.contracts.backends import address, frontier, leaf
from tests.contracts.memory_backends import rewritten, save
from tests.programs.postgres import drop_schema, ready_url

NODES = [leaf(1), leaf(2)]
CHAT, USER = Scope.of_chat(ANONYMOUS, "c"), Scope.of_user(ANONYMOUS)
BATCH = IndexBatch(tuple(NODES), {address(1): frontier(NODES, 2)}, 9e9)


async def fill(store: Opened, *, given: bool) -> None:
    """Keep rows under both names, of which some are the same. `given`: an access key has them."""
    memories = open_memories(store)
    ids = await save(memories, CHAT, "theirs of a chat", "gone")
    await memories.change(CHAT, ids[0], rewritten("theirs, changed"), if_version=1)
    await memories.delete(CHAT, [ids[1]])
    await save(memories, USER, "theirs")
    await save(memories, Scope.of_user(LOCAL), "own", "own too")
    for tenant in (ANONYMOUS, LOCAL):
        await store.commit(tenant, BATCH)
        await store.add(tenant, 1, {"usage.requests": 2})
    if given:
        await store.add_key("laptop", ["sk-1"], ANONYMOUS)
    await forget_the_move(store)


async def forget_the_move(store: Opened) -> None:
    """Make the store what earlier builds of this version left behind."""
    unmoved = f"DELETE FROM schema_version WHERE part = '{PART}'"
    earlier = "ALTER TABLE requests DROP COLUMN conversation"
    await store.database.write(lambda sql: sql.run(unmoved, {}))
    await store.database.write(lambda sql: sql.run(earlier, {}))
    await store.close()


@pytest.mark.parametrize(
    ("name", "given"), [("sqlite", False), ("sqlite", True), ("postgres", False)]
)
async def test_a_store_is_moved_once_and_told(
    name: str, given: bool, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """Rows of `local` stay as they are; what an operator gave to a key stays the key's."""
    url = f"sqlite:///{tmp_path}/m.db" if name == "sqlite" else ready_url(tmp_path)
    await fill(open_store(url), given=given)
    for _ in range(2):  # the second time nothing is left to do
        store = open_store(url)
        memories = open_memories(store)
        lines = await store.check()
        assert await store.requests(LOCAL, 9) == []  # the column is there again
        scopes = (Scope.of_chat(LOCAL, "c"), USER, Scope.of_user(LOCAL))
        chat, *both = [(await memories.page(each)).memories for each in scopes]
        tenants = {row.name for row in await store.tenants()}
        tallies = await store.tallies(LOCAL, 1, 1)
        await store.close()
        assert (lines, [len(each) for each in both]) == ([], [1, 2])
        assert tenants == ({ANONYMOUS, LOCAL} if given else {LOCAL})
        assert tallies == {"usage.requests": 2 if given else 4}
        assert [(each.text, each.number) for each in chat] == (
            [] if given else [("theirs, changed", 3)]
        )
    if name == "postgres":
        drop_schema(tmp_path)
    told = [line for line in caplog.messages if line.startswith("store.owner")]
    assert len(told) == (0 if given else 1)
    assert given or "memtree memories export --tenant anonymous" in told[0]


async def test_memories_of_local_are_counted_as_before_if_there_are_no_others(
    tmp_path: Path,
) -> None:
    url, scope = f"sqlite:///{tmp_path}/m.db", Scope.of_user(LOCAL)
    store = open_store(url)
    await save(open_memories(store), scope, "own")
    await store.commit(ANONYMOUS, BATCH)
    kept = (await store.stats()).nodes
    await forget_the_move(store)
    store = open_store(url)
    await save(open_memories(store), scope, "own too")
    assert await store.check() == []
    assert [row.name for row in await store.tenants()] == [LOCAL]
    assert (await store.stats()).nodes == kept > 0
    await store.close()
