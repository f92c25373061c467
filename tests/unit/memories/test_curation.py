"""Looking after memories: their past, merging, deleting many, over a store in RAM."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from memtree.errors import NotFound
from memtree.memories.agents.structured_memory import structured_memory
from memtree.memories.curation import MemoryCuration
from memtree.memories.deletion_check import MOST_SEARCHED
from memtree.memories.draft import DedupPolicy, MemoryDraft
from memtree.memories.memory import Memory, MemoryFields
from memtree.memories.scope import Scope
from tests.fakes import HashingEmbedder
from tests.unit.memories.books import Opened, opened

SCOPE, OTHER = Scope.of_user("t", "u"), Scope.of_user("t", "v")
TOKEN = "ghp_" + 2 * "Zq8vLk2Rm9TxB4wYcN7d"


def curation(of: Opened, **more: Any) -> MemoryCuration:
    of.book.rules = replace(of.book.rules, **more)
    return MemoryCuration(of.store, of.book)


async def saved(of: Opened, text: str, scope: Scope = SCOPE) -> Memory:
    return (await of.book.save(scope, MemoryDraft(text), DedupPolicy.INSERT)).memory


# -- deleting many ---------------------------------------------------------------------------


@pytest.mark.parametrize("purge", [False, True])
async def test_a_receipt_names_what_went_and_has_looked_for_it(purge: bool):
    async with opened(HashingEmbedder()) as of:
        keep = await saved(of, "The bicycle is green")
        gone = [await saved(of, f"The parcel {n} is due on day {n}") for n in range(3)]
        ids = [memory.id for memory in gone]
        looks = curation(of)
        assert await looks.known(SCOPE, [*ids, ids[0], "mem_none"]) == 3
        receipt = await looks.delete(SCOPE, [*ids, ids[0], "mem_none"], purge=purge)
        assert (sorted(receipt.deleted), receipt.verified) == (sorted(ids), True)
        assert await of.book.page(SCOPE) == ((keep,), None, 1)
        assert (await looks.delete(SCOPE, ids))[:2] == ((), True)


@pytest.mark.slow
async def test_a_receipt_of_many():
    async with opened() as of:
        ids = [(await saved(of, f"Parcel number {n}")).id for n in range(MOST_SEARCHED + 7)]
        receipt = await curation(of).delete(SCOPE, ids)
        assert (len(receipt.deleted), receipt.verified) == (len(ids), True)


async def test_what_is_brought_back_meanwhile_is_not_verified():
    async with opened() as of:
        memory = await saved(of, "The bicycle is green")
        looks, book = curation(of), of.book
        delete = book.delete

        async def and_back(scope, refs, *, purge=False):
            gone = await delete(scope, refs, purge=purge)
            await book.undelete(scope, gone)
            return gone

        book.delete = and_back  # type: ignore[method-assign]
        assert (await looks.delete(SCOPE, [memory.id]))[:2] == ((memory.id,), False)


async def test_another_scope_is_not_reached():
    async with opened(HashingEmbedder()) as of:
        memory = await saved(of, "The bicycle is green")
        looks = curation(of)
        assert await looks.known(OTHER, [memory.id]) == 0
        assert (await looks.delete(OTHER, [memory.id]))[:2] == ((), True)
        with pytest.raises(NotFound):
            await looks.past(OTHER, memory.id)
        assert (await of.book.page(SCOPE)).total == 1


# -- of agents -------------------------------------------------------------------------------

AGENT = Scope.of_agent("tenant", "a", "s")


async def written(of: Opened, *sizes: int, kind: str = "Shoe", key: bytes = b"") -> list[Memory]:
    """Structured memories, each of which takes the place of the one before where `key` is given."""
    made = []
    for size in sizes:
        of.clock.time += 60
        new = structured_memory(
            f"mem_{kind}{size}",
            MemoryFields(kind=kind, data={"size": size}),
            of.clock.now(),
            unique_key=key,
        )
        (result,) = await of.store.write(AGENT, [new]) or []
        made.append(result.memory)
    return made


async def test_the_past_of_what_took_another_s_place_by_its_unique_values():
    async with opened() as of:
        curation = MemoryCuration(of.store, of.book)
        first, second, third = await written(of, 40, 41, 42, key=b"key")
        past = await curation.past(AGENT, third.id)
        assert [version.data for version in past.versions] == [{"size": 42}]
        told = [(one.tombstone.id, one.tombstone.replaced_by, one.tombstone.at, len(one.versions))
                for one in past.replaced]  # fmt: skip
        assert told == [
            (second.id, third.id, third.created, 1),
            (first.id, second.id, second.created, 1),
        ]
        await written(of, 50)  # of no one's place
        assert (await curation.past(AGENT, "mem_Shoe50")).replaced == ()
