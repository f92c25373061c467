"""Agent memories in every store: structured writes, and what is asked of many scopes at once."""

from __future__ import annotations

from functools import partial
from typing import Any

import pytest

from memtree.agents.agent_memory import AgentScopes, StructuredWrite, WriteOutcome
from memtree.agents.memory_schema import MemorySchema, unique_key
from memtree.errors import BadRequest, Conflict, MemoryLimit, NotFound
from memtree.memories.memory import EntityMention, MemoryChange, MemoryState
from memtree.memories.memory_store import MemoryFilter
from memtree.memories.scope import Scope
from memtree.stores.memories import agent_rows, removal
from tests.contracts.memory_backends import START, InEveryStore, new, save, texts

AGENT = Scope.of_agent("tenant", "agent")
ANN = Scope.of_agent("tenant", "agent", "ann")
OTHER = Scope.of_agent("tenant", "other")
EVERY = AgentScopes("tenant", None, None)
USER = Scope.of_user("tenant")


def profile(colour: str, *, key: bytes = b"profile", id_: str = "", **fields: Any):
    """Data that only one live memory of a scope may have."""
    fields = {"kind": "Profile", "data": {"colour": colour}} | fields
    fields["id"] = id_ or f"mem_{colour}"
    return StructuredWrite(new(colour, **fields), unique_key=key)


def note(text: str, *, replaces: str = "", **fields: Any) -> StructuredWrite:
    fields = {"kind": "Note", "data": {"text": text}} | fields
    return StructuredWrite(new(text, **fields), replaces=replaces)


async def written(memories, scope: Scope, *writes: StructuredWrite) -> list[tuple]:
    results = await memories.write(scope, writes)
    return [(each.memory.text, each.outcome, each.superseded) for each in results]


async def live(memories, scope: Scope) -> list[str]:
    return sorted(texts((await memories.page(scope)).memories))


CREATED, UPDATED, UNCHANGED = WriteOutcome.CREATED, WriteOutcome.UPDATED, WriteOutcome.UNCHANGED


class TestStructuredWrites(InEveryStore):
    async def test_what_is_stored_comes_back(self, memories):
        given = new(
            "it likes blue",
            kind="Profile",
            data={"colour": "blue", "deep": [{"a": 1.5, "b": None, "c": True}]},
            tags=("one", "two"),
            thread_id="thread",
            expires=START + 60,
            confidence=0.5,
            happened=START + 3,
            mentions=(EntityMention("Ann", "person"),),
        )
        (result,) = await memories.write(AGENT, [StructuredWrite(given)])
        assert (result.outcome, result.superseded) == (CREATED, None)
        assert await memories.get(AGENT, [given.id]) == [result.memory]
        assert (result.memory.data, result.memory.mentions) == (given.data, given.mentions)
        assert (result.memory.version, result.memory.number) == (1, 1)

    async def test_without_a_key_equal_ones_are_two(self, memories):
        first = note("same", id="mem_1")
        assert await written(memories, AGENT, first, note("same", id="mem_2")) == [
            ("same", CREATED, None),
            ("same", CREATED, None),
        ]
        assert await live(memories, AGENT) == ["same", "same"]

    async def test_a_key_that_is_there_supersedes(self, memories):
        await written(memories, AGENT, profile("blue"))
        result = await written(memories, AGENT, profile("red", created=START + 5))
        assert result == [("red", UPDATED, "mem_blue")]
        assert await live(memories, AGENT) == ["red"]
        (old,) = await memories.get(AGENT, ["mem_blue"], deleted=True)
        (there,) = await memories.get(AGENT, ["mem_red"])
        assert (old.superseded_by, there.supersedes) == ("mem_red", "mem_blue")
        assert await memories.tombstones(AGENT) == []  # the superseded one says it all

    async def test_each_scope_kind_and_key_has_its_own(self, memories):
        for scope in (AGENT, ANN, OTHER):
            await written(memories, scope, profile("blue"))
        await written(memories, AGENT, profile("red", kind="Theme"), profile("green", key=b"g"))
        assert await live(memories, AGENT) == ["blue", "green", "red"]
        await written(memories, ANN, profile("black"))
        assert await live(memories, ANN) == ["black"]
        assert await live(memories, OTHER) == ["blue"]

    async def test_schemas_of_another_tenant_count_and_change_nothing(self, memories):
        far = Scope.of_agent("elsewhere", "agent")
        for number in range(3):
            schema = MemorySchema(f"Kind{number}", "{}")
            await memories.put_schema("elsewhere", schema, lambda _: b"", most=3)
        await written(memories, far, profile("red"))
        schema = MemorySchema("Profile", "{}", ("colour",))
        assert await memories.put_schema("tenant", schema, lambda _: b"", most=1)
        assert await written(memories, far, profile("blue")) == [("blue", UPDATED, "mem_red")]
        assert await memories.delete_schema("tenant", "Profile")
        assert await written(memories, far, profile("green")) == [("green", UPDATED, "mem_blue")]
        assert len(await memories.schemas("elsewhere")) == 3

    async def test_a_schema_that_comes_later_holds_values_in_each_scope(self, memories):
        """Equal ones of two agents are nobody's rivals."""
        scopes = (AGENT, ANN, OTHER)
        for at, scope in enumerate(scopes):
            await written(memories, scope, profile("red", key=b"", id_=f"mem_{at}"))
        schema = MemorySchema("Profile", "{}", ("colour",))
        await memories.put_schema("tenant", schema, partial(unique_key, schema), most=1)
        key = unique_key(schema, {"colour": "red"})
        for at, scope in enumerate(scopes):
            again = profile("red", key=key, id_=f"mem_again_{at}", tags=("again",))
            assert await written(memories, scope, again) == [("red", UPDATED, f"mem_{at}")]

    async def test_what_is_said_already_changes_nothing(self, memories):
        await written(memories, AGENT, profile("blue", tags=("a", "b"), expires=START + 9))
        before = await memories.state(AGENT)
        same = [
            profile("blue", id_="mem_1", tags=("b", "a"), expires=START + 9),
            profile("blue", id_="mem_2", expires=START + 9, tainted=True),
        ]
        for each in same:
            (result,) = await memories.write(AGENT, [each])
            assert (result.memory.id, result.outcome) == ("mem_blue", UNCHANGED)
        assert await memories.state(AGENT) == before

    @pytest.mark.parametrize(
        "fields",
        [
            {"tags": ("a",)},
            {"expires": START + 10},
            {"expires": None},
            {"data": {"colour": "blue", "n": True}},
            {"data": {"colour": "blue", "n": 1.0}},
        ],
    )
    async def test_what_differs_supersedes(self, memories, fields):
        given = {"expires": START + 9, "data": {"colour": "blue", "n": 1}}
        await written(memories, AGENT, profile("blue", **given))
        again = profile("blue", id_="mem_new", **(given | fields))
        assert await written(memories, AGENT, again) == [("blue", UPDATED, "mem_blue")]

    async def test_a_memory_is_tainted_no_more(self, memories):
        await written(memories, AGENT, profile("blue", tainted=True))
        again = profile("blue", id_="mem_new")
        assert await written(memories, AGENT, again) == [("blue", UPDATED, "mem_blue")]

    async def test_the_later_one_of_a_call_counts(self, memories):
        result = await written(
            memories, AGENT, profile("blue"), note("n"), profile("red"), profile("red", id_="mem_3")
        )
        assert result == [
            ("blue", CREATED, None),
            ("n", CREATED, None),
            ("red", UPDATED, "mem_blue"),
            ("red", UNCHANGED, None),
        ]
        assert await live(memories, AGENT) == ["n", "red"]

    async def test_one_that_expired_gives_way_and_is_not_superseded(self, memories, clock):
        await written(memories, AGENT, profile("blue", expires=START + 5))
        clock.time += 5
        result = await written(memories, AGENT, profile("blue", id_="mem_2", created=START + 5))
        assert result == [("blue", CREATED, None)]
        (old,) = await memories.get(AGENT, ["mem_blue"], deleted=True)
        assert old.superseded_by is None
        assert await live(memories, AGENT) == ["blue"]

    async def test_a_version_in_the_same_place(self, memories):
        await written(memories, AGENT, note("one", tags=("tag",), expires=START + 50))
        await memories.put_vectors(AGENT, "recipe", {1: (1, b"vector")})
        (result,) = await memories.write(
            AGENT, [note("two", replaces="mem_one", created=START + 5, thread_id="thread")]
        )
        memory = result.memory
        assert (result.outcome, result.superseded) == (UPDATED, None)
        assert (memory.id, memory.version, memory.number) == ("mem_one", 2, 1)
        assert (memory.text, memory.data, memory.tags) == ("two", {"text": "two"}, ("tag",))
        assert (memory.created, memory.updated, memory.expires) == (START, START + 5, None)
        assert await memories.get(AGENT, [1]) == [memory]
        assert texts(await memories.history(AGENT, 1)) == ["two", "one"]
        assert [m.id for m in await memories.without_vectors(AGENT, "recipe", 5)] == ["mem_one"]
        again = note("two", replaces="mem_one", created=START + 9)
        assert await written(memories, AGENT, again) == [("two", UNCHANGED, None)]

    async def test_one_replaced_several_times_in_a_call(self, memories):
        await written(memories, AGENT, note("one"))
        again = [note(text, replaces="mem_one") for text in ("two", "three", "two")]
        assert [each[:2] for each in await written(memories, AGENT, *again)] == [
            ("two", UPDATED),
            ("three", UPDATED),
            ("two", UPDATED),
        ]
        assert texts(await memories.history(AGENT, 1)) == ["two", "three", "two", "one"]

    async def test_what_is_replaced_may_take_unique_values_over(self, memories):
        await written(memories, AGENT, profile("blue"), profile("red", key=b"red"))
        taking = StructuredWrite(profile("black").memory, b"profile", "mem_red")
        assert await written(memories, AGENT, taking) == [("black", UPDATED, "mem_blue")]
        assert await live(memories, AGENT) == ["black"]
        # The values that it had are free.
        assert await written(memories, AGENT, profile("r", key=b"red")) == [("r", CREATED, None)]

    @pytest.mark.parametrize(
        "scope", [ANN, OTHER, Scope.of_agent("another", "agent"), Scope.of_user("tenant")]
    )
    async def test_what_is_to_be_replaced_must_be_of_the_scope(self, memories, scope):
        await memories.write(scope, [note("theirs")])
        with pytest.raises(NotFound) as caught:
            await memories.write(AGENT, [note("new"), note("mine", replaces="mem_theirs")])
        assert caught.value.param == "writes[1].replaces"
        assert await live(memories, AGENT) == []

    async def test_what_is_to_be_replaced_must_be_live_and_of_the_kind(self, memories, clock):
        await memories.write(AGENT, [note("one"), note("two", expires=START + 5), profile("blue")])
        await memories.delete(AGENT, ["mem_one"])
        await memories.write(AGENT, [profile("red")])
        clock.time += 5
        for gone in ("mem_one", "mem_two", "mem_blue", "mem_nobody", "\0"):
            with pytest.raises(NotFound):
                await memories.write(AGENT, [note("x", replaces=gone)])
        with pytest.raises(BadRequest, match="another kind"):
            await memories.write(AGENT, [note("x", replaces="mem_red")])
        assert await live(memories, AGENT) == ["red"]

    async def test_all_or_none(self, memories):
        await memories.write(AGENT, [profile("blue")])
        with pytest.raises(Conflict):
            await memories.write(AGENT, [profile("red"), note("blue")])  # the id is taken
        with pytest.raises(BadRequest):
            await memories.write(AGENT, [profile("red"), note("x", data={"a": "\ud800"})])
        assert await live(memories, AGENT) == ["blue"]

    async def test_the_limit_counts_what_is_there_in_the_end(self, memories):
        await memories.write(AGENT, [profile("blue"), note("a")], most=2)
        await memories.write(AGENT, [profile("red"), profile("green")], most=2)
        with pytest.raises(MemoryLimit):
            await memories.write(AGENT, [profile("blue", id_="mem_2"), note("b")], most=2)
        with pytest.raises(MemoryLimit):
            await memories.write(AGENT, [profile("a", key=b"a"), profile("b", key=b"b")], most=3)
        assert await live(memories, AGENT) == ["a", "green"]

    async def test_nothing_to_write(self, memories):
        assert await memories.write(AGENT, []) == []
        assert (await memories.state(AGENT)).changed == 0

    async def test_messages_are_done_with_what_came_of_them(self, memories):
        assert await memories.extracted(AGENT, [b"1", b"2"]) == set()
        await memories.write(AGENT, [note("one")], done=[b"1", b"2", b"1"])
        assert await memories.extracted(AGENT, [b"1", b"2", b"3"]) == {b"1", b"2"}
        assert await memories.write(AGENT, [note("two")], done=[b"3", b"2"]) is None
        assert await memories.extracted(AGENT, [b"3"]) == set()
        assert await live(memories, AGENT) == ["one"]
        assert await memories.write(AGENT, [], done=[b"3"]) == []
        assert await memories.extracted(AGENT, [b"3"]) == {b"3"}
        assert await memories.extracted(ANN, [b"1"]) == set()


class TestAgentScopes(InEveryStore):
    @pytest.fixture
    async def filled(self, memories):
        for scope in (AGENT, ANN, OTHER, Scope.of_agent("another", "agent"), USER):
            await save(memories, scope, f"{scope.tenant} {scope.owner} {scope.subject}")
        return memories

    @pytest.mark.parametrize(
        ("agent", "subject", "found"),
        [
            (None, None, [AGENT, ANN, OTHER]),
            ("agent", None, [AGENT, ANN]),
            ("agent", "", [AGENT]),
            (None, "", [AGENT, OTHER]),
            (None, "ann", [ANN]),
            ("nobody", None, []),
            ("\0", None, []),
        ],
    )
    async def test_which_scopes_are_meant(self, filled, agent, subject, found):
        scopes = AgentScopes("tenant", agent, subject)
        page = await filled.agent_page(scopes)
        assert [each.scope for each in page.memories] == found[::-1]  # newest first
        assert (page.more, page.total) == (False, len(found))
        ids = [each.memory.id for each in page.memories]
        every = [each.memory.id for each in (await filled.agent_page(EVERY)).memories]
        assert [row.memory.id for row in await filled.locate(scopes, every)] == ids
        gone = await filled.delete_matching_all(scopes, MemoryFilter())
        assert gone == [(row.scope, row.memory.id) for row in page.memories[::-1]]
        assert (await filled.agent_page(EVERY)).total == 3 - len(found)
        assert (await filled.page(USER)).total == 1

    async def test_scopes_that_hold_nothing_live(self, filled, clock):
        await filled.delete(AGENT, [1])
        await filled.add(Scope.of_agent("tenant", "z"), new("short", expires=START + 5))
        assert (await filled.agent_page(EVERY)).total == 3
        clock.time += 5
        assert (await filled.agent_page(EVERY)).total == 2
        (ended,) = await filled.locate(EVERY, ["mem_short"])
        assert ended.memory.state(clock.time) is MemoryState.EXPIRED
        await filled.delete_all([(ended.scope, ended.memory.id)])
        assert await filled.locate(EVERY, ["mem_short"]) == []

    async def test_pages_over_scopes(self, memories):
        for n in range(12):
            await save(memories, (AGENT, ANN, OTHER)[n % 3], f"text {n}", kind="ab"[n % 2])
        seen, before = [], None
        for _ in range(3):
            page = await memories.agent_page(EVERY, before=before, limit=5)
            seen += page.memories
            before = page.memories[-1].memory.number
            assert page.total == 12
        assert [row.memory.number for row in seen] == [*range(12, 0, -1)]
        assert not page.more
        wanted = MemoryFilter(kind="a")
        page = await memories.agent_page(AgentScopes("tenant", "agent", None), wanted, limit=3)
        assert [row.memory.number for row in page.memories] == [11, 7, 5]
        assert (page.more, page.total) == (True, 8)
        assert (await memories.agent_page(EVERY, before=0)).memories == ()

    async def test_memories_by_id(self, filled):
        (mine,) = await save(filled, USER, "mine")
        every = [row.memory.id for row in (await filled.agent_page(EVERY)).memories]
        asked = [every[2], mine, "mem_nobody", "\0", every[0], every[2], "mem_another-agent-"]
        found = await filled.locate(EVERY, asked, also=[USER])
        assert [(row.scope, row.memory.id) for row in found] == [
            (AGENT, every[2]),
            (USER, mine),
            (OTHER, every[0]),
        ]
        assert await filled.locate(EVERY, [mine]) == []
        assert await filled.locate(AgentScopes("another", None, None), [every[0]]) == []

    async def test_an_id_that_two_scopes_have(self, memories):
        for scope in (OTHER, AGENT, USER):
            await save(memories, scope, "same")
        found = await memories.locate(EVERY, ["mem_same"], also=[USER])
        assert [row.scope for row in found] == [USER, AGENT, OTHER]

    async def test_the_id_of_a_duplicate(self, memories):
        await save(memories, ANN, "one", "two")
        await memories.mark_duplicate(ANN, "mem_two", "mem_one")
        found = await memories.locate(EVERY, ["mem_two", "mem_one"])
        assert [row.memory.id for row in found] == ["mem_one"]

    async def test_a_change_of_several(self, filled):
        every = [(row.scope, row.memory.id) for row in (await filled.agent_page(EVERY)).memories]
        asked = [*every[:2], every[0], (AGENT, "mem_nobody"), (Scope.of_agent("t", "x"), "y")]
        changed = await filled.change_all(asked, MemoryChange(START + 5, tags=("new",)))
        assert [(row.scope, row.memory.id) for row in changed] == every[:2]
        assert {row.memory.tags for row in changed} == {("new",)}
        for scope, id_ in every:
            (memory,) = await filled.get(scope, [id_])
            assert memory.version == (2 if (scope, id_) in every[:2] else 1)

    async def test_a_change_that_cannot_be_stored_changes_none(self, filled):
        every = [(row.scope, row.memory.id) for row in (await filled.agent_page(EVERY)).memories]
        with pytest.raises(BadRequest):
            await filled.change_all(every, MemoryChange(START + 5, data={"a": "\ud800"}))
        page = await filled.agent_page(EVERY)
        assert {row.memory.version for row in page.memories} == {1}

    @pytest.mark.parametrize("purge", [False, True])
    async def test_several_are_deleted(self, filled, purge):
        every = [(row.scope, row.memory.id) for row in (await filled.agent_page(EVERY)).memories]
        asked = [*every[:2], every[0], (OTHER, every[1][1]), (USER, "mem_nobody")]
        gone = await filled.delete_all(asked, purge=purge)
        assert len(gone) == 2
        assert set(gone) == set(every[:2])
        assert await filled.delete_all(asked[:1]) == []
        page = await filled.agent_page(EVERY)
        assert [(row.scope, row.memory.id) for row in page.memories] == every[2:]
        assert page.total == 1
        kept = [await filled.get(scope, [id_], deleted=True) for scope, id_ in every]
        assert [len(each) for each in kept] == [0, 0, 1] if purge else [1, 1, 1]

    async def test_what_a_filter_lets_through_is_deleted_everywhere(self, memories):
        for scope in (AGENT, ANN, OTHER, USER):
            await save(memories, scope, "a", "b", kind="k")
            await save(memories, scope, "c", kind="other")
        wanted = MemoryFilter(kind="k")
        gone = await memories.delete_matching_all(
            AgentScopes("tenant", "agent", None), wanted, purge=True
        )
        assert gone == [(s, f"mem_{n}") for s in (AGENT, ANN) for n in "ab"]
        totals = [(await memories.page(scope)).total for scope in (AGENT, ANN, OTHER, USER)]
        assert totals == [1, 1, 3, 3]

    async def test_without_its_condition_a_statement_reaches_into_other_tenants(
        self, filled, monkeypatch
    ):
        """So the tests above notice where one is missing."""
        theirs = "mem_another-agent-"
        monkeypatch.setattr(agent_rows, "meant", everybody)
        monkeypatch.setattr(removal, "meant", everybody)
        assert (await filled.agent_page(EVERY)).total == 5
        assert len(await filled.locate(EVERY, [theirs])) == 1
        assert len(await filled.delete_matching_all(EVERY, MemoryFilter())) == 5


def everybody(scopes: AgentScopes, *, numbered: bool = False) -> tuple[str, dict[str, Any]]:
    return "1 = 1", {}
