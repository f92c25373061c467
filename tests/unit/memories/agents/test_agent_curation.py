"""Deleting what several agents remember, and the receipt of it."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from memtree.memories.agents.agent_book import AgentCuration
from memtree.memories.agents.agent_memory import AgentScopes
from memtree.memories.book import MAX_PAGE
from memtree.memories.deletion_check import MOST_SEARCHED
from memtree.memories.draft import DedupPolicy, MemoryDraft
from memtree.memories.ports import ANY, MemoryFilter
from memtree.memories.scope import Scope
from tests.fakes import HashingEmbedder
from tests.unit.memories.books import Opened, opened

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
