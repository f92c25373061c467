"""Unique values in every store: one live memory has them, whatever becomes of the others."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from typing import Any

import pytest

from memtree.agents.agent_memory import AgentScopes, StructuredWrite
from memtree.agents.memory_schema import MemorySchema, unique_key
from memtree.errors import BadRequest, Conflict, VersionConflict
from memtree.memories.memory import MemoryChange
from memtree.memories.memory_store import MemoryFilter, MemoryRecord
from memtree.memories.scope import Scope
from tests.contracts.memory_backends import START, InEveryStore, new, rewritten, texts

AGENT = Scope.of_agent("tenant", "agent")
ANN = Scope.of_agent("tenant", "agent", "ann")


def schema(*unique_on: str, kind: str = "Person", **fields: Any) -> MemorySchema:
    return MemorySchema(kind, '{"type": "object"}', unique_on, **fields)


def named(data: Mapping[str, Any]) -> bytes:
    return unique_key(schema("name"), data)


async def put(memories, *unique_on: str, tenant: str = "tenant") -> None:
    given = schema(*unique_on)
    await memories.put_schema(tenant, given, partial(unique_key, given), most=5)


def person(id_: str, name: str | None = "ann", **fields: Any) -> StructuredWrite:
    data = {"id": id_} | ({"name": name} if name else {})
    memory = new(id_, kind="Person", data=data, id=id_, **fields)
    return StructuredWrite(memory, named(data))


async def live(memories, scope: Scope = AGENT) -> list[str]:
    return sorted(texts((await memories.page(scope)).memories))


class TestUniqueValues(InEveryStore):
    async def test_a_deleted_one_has_them_no_more(self, memories):
        await memories.write(AGENT, [person("1")])
        await memories.delete(AGENT, ["1"])
        (result,) = await memories.write(AGENT, [person("2")])
        assert result.superseded is None
        assert await memories.undelete(AGENT, ["1"]) == []  # the live one keeps them
        assert await live(memories) == ["2"]
        await memories.delete(AGENT, ["2"])
        assert texts(await memories.undelete(AGENT, ["1"])) == ["1"]
        assert await memories.undelete(AGENT, ["2"]) == []
        (result,) = await memories.write(AGENT, [person("3")])
        assert result.superseded == "1"

    async def test_of_several_that_come_back_the_newest_has_them(self, memories):
        for id_ in ("1", "2"):
            await memories.write(AGENT, [person(id_)])
            await memories.delete(AGENT, [id_])
        await memories.write(AGENT, [person("3", "bob")])
        await memories.delete(AGENT, ["3"])
        assert texts(await memories.undelete(AGENT, ["1", "2", "3"])) == ["2", "3"]
        assert await live(memories) == ["2", "3"]

    async def test_one_that_comes_back_where_another_expired(self, memories, clock):
        await memories.write(AGENT, [person("1")])
        await memories.delete(AGENT, ["1"])
        await memories.write(AGENT, [person("2", expires=START + 5)])
        clock.time += 5
        assert texts(await memories.undelete(AGENT, ["1"])) == ["1"]

    async def test_what_it_superseded_comes_back_as_superseded(self, memories):
        await memories.write(AGENT, [person("1")])
        await memories.write(AGENT, [person("2")])
        await memories.delete(AGENT, ["2"])
        assert await memories.undelete(AGENT, ["1"]) == []
        assert texts(await memories.undelete(AGENT, ["2"])) == ["2"]
        (old,) = await memories.get(AGENT, ["1"], deleted=True)
        assert (old.superseded_by, old.deleted) == ("2", None)

    @pytest.mark.parametrize("how", ["merge", "duplicate", "purge", "supersede"])
    async def test_whoever_counts_no_more_is_in_nobodys_way(self, memories, how):
        await memories.write(AGENT, [person("1"), person("2", "bob")])
        if how == "merge":
            await memories.merge(AGENT, "2", "1", "")
        elif how == "duplicate":
            await memories.mark_duplicate(AGENT, "1", "2")
        elif how == "purge":
            await memories.delete(AGENT, ["1"], purge=True)
        else:
            await memories.supersede(AGENT, "1", new("other", kind="Note"), "")
        (result,) = await memories.write(AGENT, [person("3")])
        assert result.superseded is None
        (result,) = await memories.write(AGENT, [person("4", "bob")])
        assert result.superseded == "2"

    async def test_a_scope_of_superseded_ones_alone(self, memories):
        """An import may bring what was superseded, and not what took its place."""
        await memories.write(ANN, [person("live")])
        old = replace((await memories.records(ANN))[0].memory, id="mem_old", superseded_by="mem_x")
        await memories.restore(AGENT, [MemoryRecord(old, text_hash=b"H" * 16)])
        wanted, every = MemoryFilter(superseded=True), AgentScopes("tenant", None, None)
        assert [each.id for each in (await memories.page(AGENT, wanted)).memories] == ["mem_old"]
        page = await memories.agent_page(every, wanted)
        assert [row.memory.id for row in page.memories] == ["mem_old", "live"]
        gone = await memories.delete_matching_all(every, wanted)  # as many as a rehearsal tells
        assert gone == [(row.scope, row.memory.id) for row in page.memories[::-1]]

    async def test_a_long_chain_is_deleted_and_comes_back_as_one(self, memories):
        for n in range(120):
            await memories.write(AGENT, [person(f"{n}")])
        assert await live(memories) == ["119"]
        await memories.delete(AGENT, ["119"])
        assert len(await memories.get(AGENT, [f"{n}" for n in range(120)], deleted=True)) == 120
        assert texts(await memories.undelete(AGENT, ["119"])) == ["119"]
        await memories.delete(AGENT, ["119"], purge=True)
        assert await memories.get(AGENT, [f"{n}" for n in range(120)], deleted=True) == []


class TestSchemas(InEveryStore):
    async def test_a_schema_comes_back_as_it_was_given(self, memories):
        given = schema("name", "é", description="d \0", created=START, updated=START + 1)
        assert await memories.put_schema("tenant", given, named, most=1)
        assert await memories.schemas("tenant") == [given]
        assert await memories.schemas("another") == []
        again = MemorySchema("Person", "{}", (), "new", START + 7, START + 8)
        assert not await memories.put_schema("tenant", again, named, most=1)
        kept = MemorySchema("Person", "{}", (), "new", START, START + 8)
        assert await memories.schemas("tenant") == [kept]

    async def test_one_that_is_kept_once_replaces_none(self, memories):
        given = schema("name", "é", created=START, updated=START)
        assert await memories.put_schema("tenant", given, named, most=1, once=True)
        again = MemorySchema("Person", "{}", (), "new", START + 7, START + 8)
        assert not await memories.put_schema("tenant", again, named, most=1, once=True)
        assert await memories.schemas("tenant") == [given]
        with pytest.raises(Conflict):
            await memories.put_schema("tenant", schema(kind="d"), named, most=1, once=True)

    async def test_one_that_is_expected_is_replaced_and_no_other(self, memories):
        given = schema("name", created=START, updated=START)
        put = partial(memories.put_schema, "tenant", unique_key=named, most=1)
        with pytest.raises(VersionConflict):
            await put(given, expected=given)
        await put(given)
        new = schema("name", description="new", created=START, updated=START)
        for expected in (new, schema(), MemorySchema("Person", "{}", ("name",))):
            with pytest.raises(VersionConflict):
                await put(new, expected=expected)
        assert await memories.schemas("tenant") == [given]
        assert not await put(new, expected=schema("name"))
        assert await memories.schemas("tenant") == [new]
        await memories.delete_schema("tenant", "Person")
        with pytest.raises(VersionConflict):
            await put(given, expected=new)
        assert await memories.schemas("tenant") == []

    async def test_schemas_stand_by_kind_and_are_as_many_as_allowed(self, memories):
        for kind in "bac":
            await memories.put_schema("tenant", schema(kind=kind), named, most=3)
        with pytest.raises(Conflict, match="at most 3"):
            await memories.put_schema("tenant", schema(kind="d"), named, most=3)
        await memories.put_schema("another", schema(kind="d"), named, most=3)
        assert [each.kind for each in await memories.schemas("tenant")] == ["a", "b", "c"]
        assert await memories.delete_schema("tenant", "b")
        assert not await memories.delete_schema("tenant", "b")
        assert not await memories.delete_schema("tenant", "\0")
        await memories.put_schema("tenant", schema(kind="d"), named, most=3)
        assert [each.kind for each in await memories.schemas("tenant")] == ["a", "c", "d"]

    async def test_what_no_database_takes_is_refused(self, memories):
        for given in (schema(kind="\0"), MemorySchema("k", "\ud800"), schema("\ud800")):
            with pytest.raises(BadRequest):
                await memories.put_schema("tenant", given, named, most=5)
        assert await memories.schemas("tenant") == []

    async def test_a_new_schema_makes_unique_what_is_there(self, memories):
        """The newest of each is superseded by the next write; no memory goes."""
        plain = [StructuredWrite(person(f"{n}").memory) for n in range(3)]
        for scope in (AGENT, ANN):
            await memories.write(scope, plain)
            await memories.write(scope, [StructuredWrite(person("3", "bob").memory)])
            await memories.write(scope, [StructuredWrite(person("4", None).memory)])
        await put(memories, "name")
        assert await live(memories) == ["0", "1", "2", "3", "4"]
        results = await memories.write(AGENT, [person("5"), person("6", "bob")])
        assert [each.superseded for each in results] == ["2", "3"]
        assert await live(memories) == ["0", "1", "4", "5", "6"]
        assert await live(memories, ANN) == ["0", "1", "2", "3", "4"]

    async def test_the_same_fields_again_leave_everything_as_it_is(self, memories):
        await put(memories, "name")
        await memories.write(AGENT, [person("1"), person("2", "bob")])
        before = await memories.state(AGENT)
        await put(memories, "name")
        assert await memories.state(AGENT) == before
        results = await memories.write(AGENT, [person("3"), person("4", "bob")])
        assert [each.superseded for each in results] == ["1", "2"]

    async def test_other_unique_fields(self, memories):
        await put(memories, "name")
        await memories.write(AGENT, [person("1"), person("2", "bob")])

        await put(memories, "id")
        again = new("x", kind="Person", data={"id": "1", "name": "ann"}, id="x")
        (result,) = await memories.write(AGENT, [StructuredWrite(again)])
        assert result.superseded == "1"
        await put(memories)
        assert await live(memories) == ["2", "x"]

    async def test_only_memories_of_the_kind_and_the_tenant(self, memories):
        other = Scope.of_agent("another", "agent")
        await memories.write(AGENT, [StructuredWrite(new("n", kind="Note", data={"name": "ann"}))])
        await memories.write(other, [StructuredWrite(person("1").memory)])
        await put(memories, "name")
        (result,) = await memories.write(other, [person("2")])
        assert result.superseded is None
        (result,) = await memories.write(AGENT, [person("2")])
        assert result.superseded is None

    async def test_a_schema_that_goes_leaves_its_memories(self, memories):
        await put(memories, "name")
        await memories.write(AGENT, [person("1")])
        await memories.delete_schema("tenant", "Person")
        assert await live(memories) == ["1"]
        (result,) = await memories.write(AGENT, [person("2")])
        assert result.superseded is None

    async def test_an_expired_memory_makes_nothing_unique(self, memories, clock):
        await memories.write(AGENT, [StructuredWrite(person("1").memory)])
        await memories.write(AGENT, [StructuredWrite(person("2", expires=START + 5).memory)])
        clock.time += 5
        await put(memories, "name")
        (result,) = await memories.write(AGENT, [person("3")])
        assert result.superseded == "1"

    async def test_schemas_of_a_tenant_that_is_erased(self, memories):
        for tenant in ("tenant", "another"):
            await put(memories, "name", tenant=tenant)
        await memories.write(AGENT, [person("1")])
        await memories.erase_memories("tenant")
        assert await memories.schemas("tenant") == []
        assert len(await memories.schemas("another")) == 1


class TestStoredSchemas(InEveryStore):
    """The stored schema says what is unique, though the writer knows an older one."""

    @pytest.fixture
    async def made(self, memories):
        await put(memories, "name")
        await memories.write(AGENT, [person("1"), person("2", "bob")])
        return memories

    async def test_a_write_that_knows_another_schema(self, made):
        stale = StructuredWrite(person("3").memory, b"of an older schema")
        assert [each.superseded for each in await made.write(AGENT, [stale])] == ["1"]
        await put(made)
        assert [each.superseded for each in await made.write(AGENT, [person("4")])] == [None]

    async def test_a_change_of_the_data(self, made):
        bob = MemoryChange(START + 1, data={"id": "1", "name": "bob"})
        changed = await made.change(AGENT, "1", bob)
        assert (changed.version, changed.supersedes) == (2, "2")
        assert await live(made) == ["1"]
        (result,) = await made.write(AGENT, [person("3")])  # nobody is ann
        assert result.superseded is None
        (result,) = await made.write(AGENT, [person("4", "bob")])
        assert result.superseded == "1"

    async def test_a_change_of_anything_else(self, made):
        await made.change(AGENT, "1", MemoryChange(START + 1, tags=("a",)))
        await made.change(AGENT, "1", rewritten("other words"))
        (result,) = await made.write(AGENT, [person("3")])
        assert result.superseded == "1"

    async def test_several_that_are_changed_to_the_same(self, made):
        await made.write(ANN, [person("3", "carl")])
        rows = [(AGENT, "1"), (AGENT, "2"), (ANN, "3")]
        same = MemoryChange(START + 1, data={"id": "x", "name": "dora"})
        changed = await made.change_all(rows, same)
        assert [row.memory.id for row in changed] == ["1", "2", "3"]
        assert (await live(made), await live(made, ANN)) == (["2"], ["3"])

    async def test_a_successor_of_a_persons_own(self, made):
        by = new("3", kind="Person", data={"id": "3", "name": "bob"}, id="3")
        await made.supersede(AGENT, "1", by, "why")
        assert await live(made) == ["3"]
        (old,) = await made.get(AGENT, ["2"], deleted=True)
        assert old.superseded_by == "3"
        (result,) = await made.write(AGENT, [person("4", "bob")])
        assert result.superseded == "3"

    async def test_one_that_comes_back_under_a_newer_schema(self, made):
        await made.delete(AGENT, ["1"])
        await put(made, "id")
        assert texts(await made.undelete(AGENT, ["1"])) == ["1"]
        again = new("x", kind="Person", data={"id": "1"}, id="x")
        (result,) = await made.write(AGENT, [StructuredWrite(again)])
        assert result.superseded == "1"

    async def test_records_that_are_restored(self, made, clock):
        """A restored record counts; of several the last one. None is lost."""
        await made.write(ANN, [person("3", "carl"), person("4", "dora", expires=START + 5)])
        records = await made.records(AGENT)
        again = [
            MemoryRecord(
                replace(memory, id=id_, data={"id": id_, "name": name}, expires=expires),
                text_hash=b"H" * 16,
            )
            for memory in [records[0].memory]
            for id_, name, expires in (
                ("5", "carl", None),
                ("6", "dora", START + 5),
                ("7", "dora", None),
                ("8", "eve", None),
                ("9", "eve", None),
            )
        ]
        clock.time += 5
        stored = await made.restore(ANN, again)
        assert [each.superseded_by for each in stored] == ["3", None, None, "9", None]
        page = await made.page(ANN)
        assert [each.id for each in page.memories] == ["9", "7", "3"]
        assert page.total == 3
        results = await made.write(ANN, [person(f"{n}-", n) for n in ("carl", "dora", "eve")])
        assert [each.superseded for each in results] == ["3", "7", "9"]

    async def test_memories_of_users_and_chats_are_never_unique(self, made):
        for scope in (Scope.of_user("tenant"), Scope.of_chat("tenant", "agent")):
            for n in range(2):
                await made.add(scope, person(f"{n}").memory)
            same = MemoryChange(START + 1, data={"name": "ann"})
            for n in range(2):
                await made.change(scope, f"{n}", same)
            assert len(await live(made, scope)) == 2
