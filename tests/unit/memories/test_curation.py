"""Looking after memories: their past, merging, deleting many, over a store in RAM."""

from __future__ import annotations

import pytest

from memtree.errors import BadRequest, NotFound, SecretRejected
from memtree.memories.curation import MOST_SEARCHED, MemoryCuration
from memtree.memories.draft import DedupPolicy, MemoryDraft
from memtree.memories.memory import Memory
from memtree.memories.scope import Scope
from tests.fakes import HashingEmbedder
from tests.unit.memories.books import Opened, opened

SCOPE, OTHER = Scope.of_user("t", "u"), Scope.of_user("t", "v")
TOKEN = "ghp_" + 2 * "Zq8vLk2Rm9TxB4wYcN7d"


def curation(of: Opened, **more: int) -> MemoryCuration:
    return MemoryCuration(of.store, of.book, **more)


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
        assert await looks.delete(SCOPE, ids) == ((), True)


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
        assert await looks.delete(SCOPE, [memory.id]) == ((memory.id,), False)


async def test_another_scope_is_not_reached():
    async with opened(HashingEmbedder()) as of:
        memory = await saved(of, "The bicycle is green")
        looks = curation(of)
        assert await looks.known(OTHER, [memory.id]) == 0
        assert await looks.delete(OTHER, [memory.id]) == ((), True)
        with pytest.raises(NotFound):
            await looks.past(OTHER, memory.id)
        assert (await of.book.page(SCOPE)).total == 1


# -- merging ---------------------------------------------------------------------------------


async def test_what_cannot_be_merged_is_named_and_nothing_changes():
    async with opened() as of:
        old = await saved(of, "The port is 8090")
        new = await saved(of, "The port is 8091")
        looks = curation(of)
        for ref, older, field in (
            ("mem_none", old.id, "id"), (new.id, "mem_none", "replaces"),
        ):  # fmt: skip
            with pytest.raises(NotFound) as missing:
                await looks.merge(SCOPE, ref, older, text="The port is 8092")
            assert missing.value.param == field
        with pytest.raises(BadRequest) as itself:
            await looks.merge(SCOPE, new.id, new.number, text="The port is 8092")
        assert itself.value.param == "replaces"
        with pytest.raises(SecretRejected):
            await looks.merge(SCOPE, new.id, old.id, text=TOKEN)
        assert (await of.book.page(SCOPE)).memories == (new, old)
