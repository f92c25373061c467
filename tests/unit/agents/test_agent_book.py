"""Structured memories over a store."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from itertools import count
from typing import Any

import pytest

from memtree.agents.agent_book import AgentBook, AgentCuration, StructuredDraft
from memtree.agents.agent_memory import AgentScopes, LocatedMemory, WriteOutcome
from memtree.agents.schema_book import SchemaBook
from memtree.errors import BadRequest, EmbedderUnavailable, NotFound, VersionConflict
from memtree.memories.book import MAX_PAGE, MemoryRules
from memtree.memories.deletion_check import MOST_SEARCHED
from memtree.memories.draft import DedupPolicy, Edit, MemoryDraft
from memtree.memories.memory_store import ANY, MemoryFilter
from memtree.memories.scope import Scope
from memtree.ports.models import Embedder, Matrix
from tests.fakes import HashingEmbedder
from tests.unit.memories.books import MoodyEmbedder, Opened, opened

# ------------------------------------------------------------------------------------------------
# Structured memories over a store: made together, embedded together, changed and deleted.


SCOPE = Scope.of_agent("t", "a")
ALL = AgentScopes("t", None, None)


class CountingEmbedder(HashingEmbedder):
    """`calls`: the texts of each."""

    def __init__(self) -> None:
        super().__init__()
        self.calls: list[list[str]] = []

    async def embed(self, texts: Sequence[str]) -> Matrix:
        self.calls.append(list(texts))
        return await super().embed(texts)


class Kept:
    def __init__(self, of: Opened) -> None:
        self.of, self.schemas = of, SchemaBook(of.store, of.clock)
        ids = count(1)
        self.book = AgentBook(
            of.store, of.store, of.book, self.schemas, lambda: f"mem_{next(ids):024x}"
        )

    async def vectors_wait(self, scope: Scope = SCOPE) -> bool:
        return await self.of.book.saving.waits(scope)

    async def noted(self, *texts: str, scope: Scope = SCOPE) -> list[LocatedMemory]:
        stored = await self.book.create(scope, [note(text) for text in texts])
        return [LocatedMemory(scope, result.memory) for result in stored.results]

    async def texts(self) -> list[str]:
        page = await self.book.page(ALL)
        return [one.memory.text for one in page.memories]


def note(text: str, **more: Any) -> StructuredDraft:
    return StructuredDraft("fact", {"text": text}, **more)


@asynccontextmanager
async def kept(
    embedder: Embedder | None = None, rules: MemoryRules | None = None, **more: Any
) -> AsyncIterator[Kept]:
    async with opened(embedder, rules, **more) as of:
        yield Kept(of)


async def test_a_batch_is_embedded_in_one_call():
    embedder = CountingEmbedder()
    async with kept(embedder) as of:
        stored = await of.book.create(SCOPE, [note(f"word{at}") for at in range(100)])
        assert [call for call in embedder.calls if call] == [[f"word{at}" for at in range(100)]]
        assert (len(stored.results), stored.degraded) == (100, ())
        assert not await of.vectors_wait()
        found = await of.of.book.search(SCOPE, "word7")
        assert found.hits[0].memory.text == "word7"


async def test_an_embedder_that_is_slow_is_not_waited_for():
    embedder = MoodyEmbedder()
    async with kept(embedder, patience=0.01) as of:
        await of.noted("first")
        embedder.seconds = 3_600.0
        async with asyncio.timeout(300):  # the clock of the embedder is real
            stored = await of.book.create(SCOPE, [note("second"), note("third")])
        assert stored.degraded == ("embedder",)
        assert await of.texts() == ["third", "second", "first"]
        embedder.seconds = 0.0


async def test_vectors_that_are_missing_follow():
    embedder = MoodyEmbedder()
    async with kept(embedder) as of:
        embedder.down = True
        assert (await of.book.create(SCOPE, [note("a"), note("b")])).degraded == ("embedder",)
        assert await of.vectors_wait()
        embedder.down = False
        await of.of.book.join()
        assert not await of.vectors_wait()


async def test_where_a_vector_is_a_must_nothing_is_stored_without():
    embedder = MoodyEmbedder()
    async with kept(embedder, MemoryRules(strict=True)) as of:
        embedder.down = True
        with pytest.raises(EmbedderUnavailable):
            await of.book.create(SCOPE, [note("a")])
        assert await of.texts() == []


async def test_what_took_a_place_at_once_and_what_was_there_get_no_vector_of_their_own():
    embedder = CountingEmbedder()
    async with kept(embedder) as of:
        await of.schemas.put("t", "One", '{"type": "object"}', ["kind"])
        drafts = [StructuredDraft("One", {"n": n}) for n in (1, 2, 2)]
        stored = await of.book.create(SCOPE, drafts)
        assert [one.outcome for one in stored.results] == [
            WriteOutcome.CREATED, WriteOutcome.UPDATED, WriteOutcome.UNCHANGED,
        ]  # fmt: skip
        assert await of.texts() == ["one\nn: 2"]
        assert not await of.vectors_wait()
        found = await of.of.book.search(SCOPE, "one n 2")
        assert [hit.memory.data for hit in found.hits] == [{"n": 2}]


async def test_what_was_there_is_not_degraded():
    embedder = MoodyEmbedder()
    async with kept(embedder) as of:
        (old,) = await of.noted("green tea")
        embedder.down = True
        stored = await of.book.create(SCOPE, [note("green tea", id=old.memory.id)])
        assert [one.outcome for one in stored.results] == [WriteOutcome.UNCHANGED]
        assert stored.degraded == ()


async def test_new_data_under_an_id_is_found_by_its_own_words():
    async with kept(HashingEmbedder()) as of:
        (old,) = await of.noted("green tea")
        stored = await of.book.create(SCOPE, [note("black coffee", id=old.memory.id)])
        (result,) = stored.results
        assert (result.memory.id, result.memory.version) == (old.memory.id, 2)
        assert not await of.vectors_wait()
        found = await of.of.book.search(SCOPE, "black coffee", least=0.5)
        assert [hit.memory.text for hit in found.hits] == ["black coffee"]


async def test_ids_that_are_not_there_are_named_as_the_caller_knows_them():
    async with kept() as of:
        (there,) = await of.noted("a")
        with pytest.raises(NotFound) as unknown:
            await of.book.create(SCOPE, [note("b"), note("c", id="mem_none")], name="items")
        assert unknown.value.param == "items[1].id"
        with pytest.raises(BadRequest) as other:
            await of.book.create(SCOPE, [StructuredDraft("b", {}, id=there.memory.id)])
        assert other.value.param == "memories[0].id"
        assert await of.texts() == ["a"]


async def test_pages():
    async with kept() as of:
        await of.noted("a", "b", "c")
        await of.noted("d", scope=Scope.of_agent("t", "b", "s"))
        page = await of.book.page(ALL, limit=3)
        assert [one.memory.text for one in page.memories] == ["d", "c", "b"]
        assert [one.scope.owner for one in page.memories] == ["b", "a", "a"]
        assert page.total == 4
        rest = await of.book.page(ALL, cursor=page.next_cursor, limit=MAX_PAGE * 2)
        assert ([one.memory.text for one in rest.memories], rest.next_cursor) == (["a"], None)
        with pytest.raises(BadRequest):
            await of.book.page(ALL, cursor="x")


async def test_one_is_changed_where_it_has_the_version_that_is_meant():
    async with kept() as of:
        (one,) = await of.noted("a")
        edit = Edit(tags=("x",), expires=2e9)
        changed = await of.book.edit(SCOPE, one.memory.id, edit, if_version=1)
        assert (changed.tags, changed.expires, changed.version) == (("x",), 2e9, 2)
        with pytest.raises(VersionConflict):
            await of.book.edit(SCOPE, one.memory.id, edit, if_version=1)
        with pytest.raises(NotFound):
            await of.book.edit(Scope.of_agent("t", "b"), one.memory.id, edit)
        forever = await of.book.edit(SCOPE, one.memory.id, Edit(expires=None))
        assert (forever.tags, forever.expires) == (("x",), None)


async def test_who_waits_for_a_change_of_any_of_the_scopes_is_told():
    other = Scope.of_agent("t", "b", "s")
    async with kept() as of:
        rows = [*await of.noted("a"), *await of.noted("b", scope=other)]
        for act, expected in (
            (lambda: of.book.edit_all(rows, Edit(tags=("x",))), "updated"),
            (lambda: of.book.delete(rows), "deleted"),
        ):
            before = [await of.of.book.state(scope) for scope in (SCOPE, other)]
            waiting = [
                asyncio.create_task(of.of.book.changed(scope, state.changed, 10.0))
                for scope, state in zip((SCOPE, other), before, strict=True)
            ]
            await asyncio.sleep(0)
            assert await act() == 2
            for scope, state, task in zip((SCOPE, other), before, waiting, strict=True):
                assert (await task).changed == state.changed + 1
                events = await of.of.book.changes(scope, state.changed)
                assert [event.type for event in events] == [expected]


async def test_what_is_erased_is_forgotten_by_the_embedder_as_well():
    class Forgetting(HashingEmbedder):
        forgotten = 0

        def forget(self) -> None:
            self.forgotten += 1

    embedder = Forgetting()
    async with kept(embedder) as of:
        rows = await of.noted("a", "b", "c")
        assert await of.book.delete(rows[:1]) == 1
        assert embedder.forgotten == 0
        assert await of.book.delete(rows[1:], purge=True) == 2
        assert await of.book.delete_matching(ALL, MemoryFilter(kind="fact"), purge=True) == 0
        await of.noted("d")
        assert await of.book.delete_matching(ALL, MemoryFilter(kind="fact"), purge=True) == 1
        assert embedder.forgotten >= 2


async def test_where_deleted_is_erased_a_batch_is_as_well():
    async with kept(rules=MemoryRules(deleted_days=0)) as of:
        rows = await of.noted("a")
        assert await of.book.delete(rows) == 1
        assert await of.of.book.undelete(SCOPE, [rows[0].memory.id]) == []


# ------------------------------------------------------------------------------------------------
# Deleting what several agents remember, and the receipt of it.


A, A_OF_S = Scope.of_agent("t", "a"), Scope.of_agent("t", "a", "s")
B_OF_S, B_OF_T = Scope.of_agent("t", "b", "s"), Scope.of_agent("t", "b", "t")
USER, FAR = Scope.of_user("t"), Scope.of_agent("far", "a", "s")
SCOPES = (A, A_OF_S, B_OF_S, B_OF_T, USER, FAR)
EVERY = AgentScopes("t", None, None)
OF_S = AgentScopes("t", None, "s")


async def filled(of: Opened) -> dict[Scope, str]:
    """An id in each scope."""
    ids = {}
    for scope in SCOPES:
        draft = MemoryDraft(f"The shop of {scope.owner} {scope.subject} opens at nine", tags=("x",))
        ids[scope] = (await of.book.save(scope, draft, DedupPolicy.INSERT)).memory.id
    return ids


async def left(of: Opened) -> set[Scope]:
    return {scope for scope in SCOPES if (await of.store.page(scope)).memories}


def curation(of: Opened, **more: Any) -> AgentCuration:
    of.book.rules = replace(of.book.rules, **more)
    return AgentCuration(of.store, of.book)


@pytest.mark.parametrize("purge", [False, True])
async def test_a_subject_is_forgotten_by_every_agent_and_by_nobody_else(purge: bool):
    async with opened(HashingEmbedder()) as of:
        ids = await filled(of)
        assert await curation(of).count(OF_S, ANY) == 2
        receipt = await curation(of).delete_matching(OF_S, MemoryFilter(tags=("x",)), purge=purge)
        assert (set(receipt.deleted), receipt.verified) == ({ids[A_OF_S], ids[B_OF_S]}, True)
        assert await left(of) == {A, B_OF_T, USER, FAR}
        stored = await of.store.get(A_OF_S, [ids[A_OF_S]], deleted=True)
        assert bool(stored) != purge


async def test_ids_mean_those_of_the_scopes_alone():
    async with opened(HashingEmbedder()) as of:
        ids = await filled(of)
        asked = [*ids.values(), *ids.values(), "mem_none"]
        assert await curation(of).known(OF_S, asked) == 2
        receipt = await curation(of).delete(OF_S, asked)
        assert (set(receipt.deleted), receipt.verified) == ({ids[A_OF_S], ids[B_OF_S]}, True)
        assert await left(of) == {A, B_OF_T, USER, FAR}
        assert (await curation(of).delete(OF_S, asked))[:2] == ((), True)


async def test_whose_a_memory_is():
    async with opened() as of:
        ids = await filled(of)
        whose = curation(of).whose
        for scope in (A, A_OF_S, B_OF_S, B_OF_T):
            assert await whose(EVERY, ids[scope]) == scope
        assert await whose(OF_S, ids[A]) is None
        assert await whose(EVERY, ids[FAR]) is None
        assert await whose(EVERY, ids[USER]) is None
        assert await whose(EVERY, ids[USER], (USER,)) == USER
        # The same id twice, as where an export was brought back beside its agent.
        records = await of.store.records(B_OF_S)
        await of.store.restore(USER, records)
        await of.store.restore(A, records)
        assert await whose(EVERY, ids[B_OF_S], (USER,)) == USER
        assert await whose(EVERY, ids[B_OF_S]) == A


@pytest.mark.slow
async def test_more_than_a_page_is_counted_and_deleted():
    async with opened() as of:
        for at in range(MAX_PAGE + MOST_SEARCHED):
            new = [MemoryDraft(f"Number {at}")]
            await of.book.save(A_OF_S if at % 2 else B_OF_S, new[0], DedupPolicy.INSERT)
        assert await curation(of).count(OF_S, ANY) == MAX_PAGE + MOST_SEARCHED
        receipt = await curation(of).delete_matching(OF_S, ANY)
        assert (len(receipt.deleted), receipt.verified) == (MAX_PAGE + MOST_SEARCHED, True)
        assert await curation(of).count(OF_S, ANY) == 0


async def test_deleted_ones_are_counted_where_they_are_meant():
    """A dry run of erasing all says what would be erased."""
    async with opened() as of:
        ids = await filled(of)
        await of.book.delete(A_OF_S, [ids[A_OF_S]])
        assert await curation(of).count(OF_S, ANY) == 1
        assert await curation(of).count(OF_S, MemoryFilter(deleted=True)) == 2
        gone = await curation(of).delete_matching(OF_S, MemoryFilter(deleted=True), purge=True)
        assert len(gone.deleted) == 2
        assert await curation(of).count(OF_S, MemoryFilter(deleted=True)) == 0


async def test_what_is_brought_back_meanwhile_is_not_verified():
    async with opened(HashingEmbedder()) as of:
        ids = await filled(of)
        delete = of.store.delete_all

        class Undone:
            """Another process brings each deleted memory back at once."""

            agent_page, locate = of.store.agent_page, of.store.locate

            async def delete_all(self, rows, *, purge=False):
                gone = await delete(rows, purge=purge)
                for scope, id_ in gone:
                    await of.store.undelete(scope, [id_])
                return gone

        undone: AgentCuration = AgentCuration(Undone(), of.book)  # type: ignore[arg-type]
        receipt = await undone.delete(OF_S, [ids[A_OF_S]])
        assert receipt[:2] == ((ids[A_OF_S],), False)


async def test_without_days_to_come_back_deleted_is_erased():
    async with opened() as of:
        ids = await filled(of)
        await curation(of, deleted_days=0).delete_matching(OF_S, ANY)
        assert await of.store.get(A_OF_S, [ids[A_OF_S]], deleted=True) == []
        await curation(of, deleted_days=0).delete(EVERY, [ids[A]])
        assert await of.store.get(A, [ids[A]], deleted=True) == []


# ------------------------------------------------------------------------------------------------
# Agent memory.


def test_one_scope_where_agent_and_subject_are_named():
    assert AgentScopes("acme", "helper").single == Scope.of_agent("acme", "helper")
    assert AgentScopes("acme", "helper", "ada").single == Scope.of_agent("acme", "helper", "ada")
    assert AgentScopes("acme", None).single is None
    assert AgentScopes("acme", "helper", None).single is None
