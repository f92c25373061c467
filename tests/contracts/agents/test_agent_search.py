"""Search over many scopes of agents in real stores: what is found is what a look through all their
rows finds, whoever changed them, and never anything of a scope that is not named."""

from __future__ import annotations

import random
import re
from collections.abc import AsyncIterator
from itertools import product

import pytest

from memtree.agents import group_index
from memtree.agents.agent_memory import AgentScopes, ScopeTotals
from memtree.agents.agent_search import AgentQuery, AgentSearch
from memtree.memories.memory import MemoryChange, NewMemory
from memtree.memories.memory_store import ANY, MemoryFilter, SearchRows
from memtree.memories.scope import Scope
from memtree.memories.search.block_rows import NOTHING
from memtree.memories.search.query import Query
from memtree.memories.search.ranking import ranked, without_common
from memtree.memories.search.scope_search import MemorySearch
from memtree.memories.search.vector_bytes import packed_terms
from memtree.stores import Memories
from memtree.stores.memories import agent_rows
from memtree.stores.memories.scopes import meant
from tests.contracts.memory_backends import RECIPE, START, Clock, InEveryStore, new
from tests.made.saved_memories import SCALE, TOPICS, TopicEmbedder, embed, rewrite, save

EMBEDDER = TopicEmbedder()
QUERIES = ("port and tea", "holiday rent", "the train of Ada", "nothing of this")
AGENTS, SUBJECTS = ("a", "b", "a b"), ("", "s", "t")
INSIDE = [Scope.of_agent("tenant", *each) for each in product(AGENTS, SUBJECTS)]
OUTSIDE = [
    Scope.of_agent("another", "a"),
    Scope.of_agent("another", "a", "s"),
    Scope.of_user("tenant"),
    Scope.of_user("tenant", "a"),
    Scope.of_chat("tenant", "a"),
    Scope.of_namespace("tenant", "a"),
]
GROUPS = [
    AgentScopes("tenant", agent, subject)
    for agent, subject in product((None, "a", "none"), (None, "", "s", "none"))
    if None in (agent, subject)
]


def within(scope: Scope, group: AgentScopes) -> bool:
    return (
        scope in INSIDE
        and group.agent in (None, scope.owner)
        and group.subject in (None, scope.subject)
    )


class TestAgentSearch(InEveryStore):
    LONG_IN_POSTGRES = ("test_it_finds_what_a_look_through_all_rows_finds",)

    @pytest.fixture
    async def search(self, memories: Memories, clock: Clock) -> AsyncIterator[AgentSearch]:
        search = MemorySearch(memories, TopicEmbedder(), now=clock)
        yield AgentSearch(memories, search, now=clock, patience=None)
        await search.close()

    @pytest.mark.parametrize("large", [group_index.LARGE, 6])
    async def test_it_finds_what_a_look_through_all_rows_finds(
        self, memories, search, clock, monkeypatch, large
    ):
        """`large` 6: scopes become large and small again on the way."""
        monkeypatch.setattr(group_index, "LARGE", large)
        rng = random.Random(7)
        ids: list[tuple[Scope, str]] = []
        for step in range(50):
            if ids and rng.random() < 0.35:
                await change(memories, rng, rng.choice(ids), step)
            else:
                scope = rng.choice([*INSIDE[:4], *OUTSIDE[:2]])
                ids.append((scope, await add(memories, rng, scope, step)))
            clock.time = START + step
            group = GROUPS[step % len(GROUPS)]
            for query in QUERIES:
                found = await best(search, query, group)
                assert found == await looked_through(memories, query, group, clock())

    async def test_another_process_is_seen_at_once(self, memories, search, clock):
        """Two searches over one store, each with indexes of its own."""
        theirs = AgentSearch(
            memories,
            MemorySearch(memories, TopicEmbedder(), now=clock),
            now=clock,
            patience=None,
        )
        every = AgentScopes("tenant", None, None)
        memory = await save(memories, INSIDE[0], "The port is 8090", EMBEDDER)
        newer = await save(memories, INSIDE[1], "A port for tea", EMBEDDER)
        for one in (search, theirs):
            assert set(await best(one, "port", every)) == {memory.number, newer.number}
        await memories.delete(INSIDE[0], [memory.id])
        for one in (search, theirs):
            assert set(await best(one, "port", every)) == {newer.number}
        await memories.delete(INSIDE[1], [newer.id], purge=True)
        third = await save(memories, INSIDE[2], "A third port", EMBEDDER)
        for one in (search, theirs):
            assert set(await best(one, "port", every)) == {third.number}

    async def test_many_scopes_that_changed_are_read_anew(self, memories, search, monkeypatch):
        monkeypatch.setattr(group_index, "AT_ONCE", 2)
        every = AgentScopes("tenant", None, None)
        first = [await save(memories, scope, f"port {scope}", EMBEDDER) for scope in INSIDE]
        assert len(await best(search, "port", every)) == len(INSIDE)
        for scope in INSIDE:
            await save(memories, scope, f"another port {scope}", EMBEDDER)
        await memories.delete(INSIDE[0], [first[0].id])
        assert len(await best(search, "port", every)) == 2 * len(INSIDE) - 1

    # -- what the store reads -----------------------------------------------------------------

    async def test_each_method_tells_of_the_scopes_that_are_named_alone(self, memories):
        numbers, places = {}, {}
        for at, scope in enumerate([*INSIDE, *OUTSIDE]):
            added = await memories.add(scope, new(f"canary {at}", id=f"mem_{at}", kind="Canary"))
            numbers[scope] = added.memory.number
            places[scope] = at + 1  # scopes are numbered as they come
        every = [(places[scope], numbers[scope]) for scope in numbers]
        known = dict.fromkeys(places.values(), 0)
        for group in GROUPS:
            expected = {(places[scope], numbers[scope]) for scope in INSIDE if within(scope, group)}
            rows = await memories.placed_rows(group, RECIPE)
            assert {(place, row.number) for place, row in rows} == expected
            rows = await memories.placed_rows(group, RECIPE, places=list(known), counted=False)
            assert {(place, row.number) for place, row in rows} == expected
            rows = await memories.placed_changes(group, RECIPE, known)
            assert {(place, row.number) for place, row in rows} == expected
            found = await memories.placed_memories(group, every)
            assert {(places[one.scope], one.memory.number) for one in found} == expected
            versions = await memories.scope_versions(group)
            assert {each.number for each in versions} == {place for place, _ in expected}
            assert (await memories.scope_totals(group)).scopes == len(expected)
            for wanted in (ANY, MemoryFilter(kind="Canary"), MemoryFilter(superseded=True)):
                matching = await memories.matching_in(group, wanted)
                # Numbers are a tenant's: those of `another` are others' here.
                assert set(matching) == {number for _, number in expected}

    @pytest.mark.parametrize("clause", ["tenant", "owner", "subject"])
    async def test_the_test_above_sees_a_clause_that_is_missing(
        self, memories, monkeypatch, clause
    ):
        pattern = re.compile(rf"(memory_scopes\.)?{clause} = :{clause}")

        def lacking(scopes):
            condition, values = meant(scopes)
            return pattern.sub("1 = 1", condition), values

        monkeypatch.setattr(agent_rows, "meant", lacking)
        with pytest.raises(AssertionError):
            await self.test_each_method_tells_of_the_scopes_that_are_named_alone(memories)

    async def test_totals_change_with_every_write(self, memories):
        group = AgentScopes("tenant", "a", None)
        seen = [await memories.scope_totals(group)]
        assert seen == [ScopeTotals(0)]

        async def changed() -> None:
            seen.append(await memories.scope_totals(group))
            assert len(set(seen)) == len(seen)

        memory = await save(memories, INSIDE[0], "The port is 8090")
        await changed()
        await save(memories, INSIDE[1], "The port is 8091")
        await changed()
        await embed(memories, INSIDE[0], memory, EMBEDDER)
        await changed()
        await memories.delete(INSIDE[0], [memory.id])
        await changed()
        await memories.undelete(INSIDE[0], [memory.id])
        await changed()
        await memories.delete(INSIDE[0], [memory.id], purge=True)
        await changed()
        await save(memories, Scope.of_agent("tenant", "b"), "Elsewhere")
        assert await memories.scope_totals(group) == seen[-1]

    async def test_rows_come_by_scope_and_number_whatever_fits_in_one_answer(
        self, memories, monkeypatch
    ):
        monkeypatch.setattr(agent_rows, "PACKED_ROWS", 3)
        for at in range(10):
            scope = INSIDE[at % 3]
            await memories.add(scope, new(f"text {at}", id=f"mem_{at}", session_id="x y"))
        rows = await memories.placed_rows(AgentScopes("tenant", None, None), RECIPE)
        assert len(rows) == 10
        places = [(place, row.number) for place, row in rows]
        assert places == sorted(places)
        # Sessions of one name in two scopes are two.
        assert len({row.session for _, row in rows}) == 3
        assert all(row.session and row.session.endswith(" x y") for _, row in rows)

    async def test_memories_are_given_in_the_order_asked_for(self, memories, monkeypatch):
        monkeypatch.setattr(agent_rows, "PAIRS", 2)
        group = AgentScopes("tenant", None, None)
        for at, scope in enumerate(INSIDE):
            await memories.add(scope, new(f"text {at}", id=f"mem_{at}"))
        rows = await memories.placed_rows(group, RECIPE)
        asked = [(place, row.number) for place, row in reversed(rows)]
        found = await memories.placed_memories(group, [*asked, (0, 1), (asked[0][0], 10**9)])
        assert [one.memory.number for one in found] == [number for _, number in asked]


async def add(memories: Memories, rng: random.Random, scope: Scope, step: int) -> str:
    text = " and ".join(rng.sample(TOPICS, rng.randint(1, 3)))
    embedder = EMBEDDER if rng.random() < 0.8 else None
    expires = START + step + 20 if rng.random() < 0.2 else None
    session = rng.choice([None, "one"])
    id_ = f"mem_{step}"
    await save(memories, scope, text, embedder, id=id_, expires=expires, session_id=session)
    return id_


async def change(memories: Memories, rng: random.Random, which: tuple[Scope, str], step: int):
    scope, id_ = which
    if not await memories.get(scope, [id_]):
        return
    how = rng.randrange(5)
    if how == 0:
        await memories.delete(scope, [id_])
    elif how == 1:
        await memories.delete(scope, [id_], purge=True)
    elif how == 2:
        await memories.change(scope, id_, MemoryChange(START, expires=START + step))
    elif how == 3:
        text = f"tea {step}"
        newer = NewMemory(f"mem_n{step}", text, bytes(16), packed_terms(text), START)
        await memories.supersede(scope, id_, newer, "")
    else:
        await rewrite(memories, scope, id_, " or ".join(rng.sample(TOPICS, 2)), EMBEDDER)


async def best(search: AgentSearch, query: str, own: AgentScopes) -> dict[int, tuple[float, float]]:
    """By number; newer versions aside."""
    found = await search.search(AgentQuery(query, own, limit=100))
    return {
        hit.memory.memory.number: (round(hit.memory.relevance, 5), round(hit.memory.score, 5))
        for hit in found.hits
    }


async def looked_through(
    memories: Memories, query: str, group: AgentScopes, now: float
) -> dict[int, tuple[float, float]]:
    """All rows of all scopes in one index that was just made."""
    rows = []
    for scope in INSIDE:
        if within(scope, group):
            rows += [
                row._replace(session=f"{scope} {row.session}" if row.session else None)
                for row in (await memories.search_rows(scope, EMBEDDER.recipe, 0)).rows
            ]
    rows.sort(key=lambda row: row.number)
    index = NOTHING.refreshed(SearchRows((await memories.state(INSIDE[0])), tuple(rows)))
    asked = Query.of(query, await EMBEDDER.embed_query(query))
    if left := without_common(index, query, now):
        asked = asked.with_particular(await EMBEDDER.embed_query(left))
    found = ranked(index, asked, SCALE, now, most=100)
    columns = (found.numbers.tolist(), found.relevance.tolist(), found.scores.tolist())
    return {
        number: (round(relevance, 5), round(score, 5))
        for number, relevance, score in zip(*columns, strict=True)
    }
