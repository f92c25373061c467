"""Looking after memories: their past, merging, deleting many, over a store in RAM."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from memtree.errors import BadRequest, NotFound, SecretRejected, VersionConflict
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


# -- merging ---------------------------------------------------------------------------------


async def test_a_merge_with_a_text_of_its_own_is_one_change():
    """So that nobody sees the new text beside the old memory, whatever stops the second half."""
    async with opened(HashingEmbedder()) as of:
        old = await saved(of, "The port is 8090")
        new = await saved(of, "The port is 8091")
        before = (await of.book.state(SCOPE)).changed
        merged = await curation(of).merge(
            SCOPE, new.id, old.id, text=" The port is 8092 ", if_version=1
        )
        assert (merged.text, merged.version) == ("The port is 8092", 2)
        assert {event.changed for event in await of.book.changes(SCOPE, before)} == {before + 1}
        [hit] = (await of.book.search(SCOPE, "The port is 8092", least=0.99)).hits
        assert hit.memory == merged


async def test_a_merge_that_is_meant_for_another_version_changes_nothing():
    async with opened(HashingEmbedder()) as of:
        old = await saved(of, "The port is 8090")
        new = await saved(of, "The port is 8091")
        with pytest.raises(VersionConflict):
            await curation(of).merge(SCOPE, new.id, old.id, text="The port is 8092", if_version=2)
        assert (await of.book.page(SCOPE)).memories == (new, old)


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


async def test_memories_of_an_agent_are_merged_as_they_are_and_within_a_kind():
    async with opened() as of:
        curation = MemoryCuration(of.store, of.book)
        small, large = await written(of, 40, 41)
        (hat,) = await written(of, 7, kind="Hat")
        with pytest.raises(BadRequest) as caught:
            await curation.merge(AGENT, large.id, small.id, text="size 41, not 40")
        assert caught.value.param == "text"
        with pytest.raises(BadRequest) as caught:
            await curation.merge(AGENT, large.id, hat.id)
        assert caught.value.param == "replaces"
        merged = await curation.merge(AGENT, large.id, small.id)
        assert (merged.id, merged.data, merged.supersedes) == (large.id, {"size": 41}, small.id)
        live = (await of.store.page(AGENT)).memories
        assert {memory.id for memory in live} == {large.id, hat.id}
