"""Saving, finding, changing and deleting memories, over a store in RAM."""

from __future__ import annotations

import asyncio

import pytest

from memtree.errors import (
    BadRequest,
    EmbedderUnavailable,
    MemoryLimit,
    NotFound,
    SecretRejected,
    VersionConflict,
)
from memtree.memories.book import MAX_PAGE, MemoryRules
from memtree.memories.draft import DedupPolicy, Edit, MemoryDraft
from memtree.memories.memory import MemoryState
from memtree.memories.memory_store import MemoryFilter
from memtree.memories.relation.relation import Relation
from memtree.memories.scope import Scope
from tests.fakes import HashingEmbedder
from tests.unit.memories.books import MoodyEmbedder, opened

SCOPE = Scope.of_chat("t", "c")
OTHERS = (
    Scope.of_chat("t", "d"),
    Scope.of_chat("u", "c"),
    Scope.of_user("t", "c"),
    Scope.of_user("t"),
    Scope.of_agent("t", "c"),
    Scope.of_agent("t", "c", "s"),
)


async def texts(book, scope=SCOPE, wanted=None):
    page = await book.page(scope, wanted or MemoryFilter())
    return [memory.text for memory in page.memories]


async def has_vectors(of, recipe=HashingEmbedder.recipe):
    rows = (await of.store.search_rows(SCOPE, recipe, 0)).rows
    return bool(rows) and all(row.vector for row in rows)


async def until(true):
    async with asyncio.timeout(300):
        while not await true():  # noqa: ASYNC110  of what another process does
            await asyncio.sleep(0.005)


# -- saving ----------------------------------------------------------------------------------


async def test_what_is_saved_is_found_listed_and_counted():
    async with opened(HashingEmbedder()) as of:
        saved = await of.book.save(SCOPE, MemoryDraft("The port is 8090."))
        assert (saved.existing, saved.deferred, saved.degraded) == (False, False, ())
        assert (await of.book.get(SCOPE, saved.memory.id)).text == "The port is 8090."
        assert (await of.book.get(SCOPE, saved.memory.number)) == saved.memory
        found = await of.book.search(SCOPE, "which port is it")
        assert [hit.memory.id for hit in found.hits] == [saved.memory.id]
        assert (await of.book.state(SCOPE)).total == 1


async def test_the_same_text_is_saved_once_by_default():
    async with opened(HashingEmbedder()) as of:
        first = await of.book.save(SCOPE, MemoryDraft("The port is 8090."))
        again = await of.book.save(SCOPE, MemoryDraft(" the PORT is 8090 "))
        assert again.existing
        assert again.memory.id == first.memory.id
        assert await texts(of.book) == ["The port is 8090."]


async def test_without_an_embedder_the_same_text_is_saved_once_too():
    async with opened(None) as of:
        first = await of.book.save(SCOPE, MemoryDraft("The port is 8090."))
        again = await of.book.save(SCOPE, MemoryDraft("the port is 8090"))
        assert (again.existing, again.memory.id) == (True, first.memory.id)
        assert (again.deferred, again.degraded) == (False, ())


async def test_concurrent_saves_of_one_text_give_one_memory():
    async with opened(HashingEmbedder()) as of:
        every = await asyncio.gather(
            *(of.book.save(SCOPE, MemoryDraft("The port is 8090.")) for _ in range(20))
        )
        assert len({saved.memory.id for saved in every}) == 1
        assert sum(not saved.existing for saved in every) == 1
        assert (await of.book.state(SCOPE)).total == 1


async def test_insert_gives_as_many_memories_as_calls():
    async with opened(HashingEmbedder()) as of:
        draft = MemoryDraft("The port is 8090.")
        every = await asyncio.gather(
            *(of.book.save(SCOPE, draft, DedupPolicy.INSERT) for _ in range(5))
        )
        assert len({saved.memory.id for saved in every}) == 5
        assert all(saved.near == () for saved in every)


async def test_ask_stores_it_and_tells_what_is_near():
    async with opened(HashingEmbedder()) as of:
        first = await of.book.save(SCOPE, MemoryDraft("The port is 8090."))
        asked = await of.book.save(SCOPE, MemoryDraft("The port is 8090!"), DedupPolicy.ASK)
        assert not asked.existing
        assert [(near.memory.id, near.relation) for near in asked.near] == [
            (first.memory.id, Relation.SAME)
        ]
        assert (await of.book.state(SCOPE)).total == 1  # the newest stands for all
        assert (await of.book.get(SCOPE, first.memory.id)).id == asked.memory.id
        twins = await of.book.twins(SCOPE, [asked.memory])
        assert twins == {asked.memory.id: [first.memory.id]}


async def test_a_changed_value_is_stored_and_says_what_it_may_replace():
    async with opened(HashingEmbedder()) as of:
        old = await of.book.save(SCOPE, MemoryDraft("The staging port is 8090."))
        new = await of.book.save(SCOPE, MemoryDraft("The staging port is 8091."))
        assert not new.existing
        assert [(near.memory.id, near.relation) for near in new.near] == [
            (old.memory.id, Relation.POSSIBLE_UPDATE)
        ]
        assert "8090 -> 8091" in new.near[0].differs


async def test_a_tenant_has_no_more_memories_than_the_limit():
    async with opened(HashingEmbedder(), MemoryRules(most=2)) as of:
        await of.book.save(SCOPE, MemoryDraft("one"))
        await of.book.save(Scope.of_user("t"), MemoryDraft("two"))
        with pytest.raises(MemoryLimit):
            await of.book.save(SCOPE, MemoryDraft("three"))
        await of.book.save(Scope.of_user("u"), MemoryDraft("another tenant's"))


@pytest.mark.parametrize(
    ("draft", "error"),
    [
        (MemoryDraft(" "), BadRequest),
        (MemoryDraft("x" * 101), BadRequest),
        (MemoryDraft("token ghp_" + "a1B2c3" * 6), SecretRejected),
    ],
)
async def test_what_is_refused_is_not_stored(draft, error):
    async with opened(HashingEmbedder(), MemoryRules(max_text_chars=100)) as of:
        with pytest.raises(error):
            await of.book.save(SCOPE, draft)
        kept = await of.book.save(SCOPE, MemoryDraft("sound"))
        with pytest.raises(error):
            await of.book.edit(SCOPE, kept.memory.id, Edit(text=draft.text))
        with pytest.raises(error):
            await of.book.correct(SCOPE, kept.memory.id, draft)
        assert await texts(of.book) == ["sound"]


# -- the embedder ----------------------------------------------------------------------------


async def test_an_embedder_that_is_down_loses_nothing():
    embedder = MoodyEmbedder()
    async with opened(embedder) as of:
        embedder.down = True
        saved = await of.book.save(SCOPE, MemoryDraft("The port is 8090."))
        assert (saved.deferred, saved.degraded) == (True, ("embedder",))
        found = await of.book.search(SCOPE, "port 8090")
        assert [hit.memory.id for hit in found.hits] == [saved.memory.id]
        assert found.degraded == ("embedder",)


async def test_a_slow_embedder_does_not_hold_up_a_save():
    embedder = MoodyEmbedder()
    async with opened(embedder, patience=0.01) as of:
        embedder.seconds = 0.2
        saved = await of.book.save(SCOPE, MemoryDraft("The port is 8090."))
        assert saved.deferred
        embedder.seconds = 0.0
        await of.book.join()
        assert await has_vectors(of)


class Unloaded(HashingEmbedder):
    """To load its model takes longer than a vector is waited for."""

    def __init__(self):
        super().__init__()
        self.loaded = False

    async def ready(self):
        if not self.loaded:
            await asyncio.sleep(0.1)
            self.loaded = True

    async def embed_query(self, text):
        await self.ready()
        return await super().embed_query(text)


async def test_a_model_that_is_still_being_loaded_is_waited_for():
    async with opened(Unloaded(), patience=0.01) as of:
        saved = await of.book.save(SCOPE, MemoryDraft("The port is 8090."))
        assert (saved.deferred, saved.degraded) == (False, ())
    async with opened(Unloaded(), patience=0.01, beside=of) as again:
        assert (await again.book.search(SCOPE, "port 8090")).degraded == ()


class Forgetful(HashingEmbedder):
    """Counts how often it was told to let go of texts."""

    forgot = 0

    def forget(self):
        self.forgot += 1


class OneVector(MoodyEmbedder):
    """All texts mean the same to it."""

    def row(self, text):
        return super().row("the same")


async def test_a_duplicate_check_that_was_deferred_is_made_up_for():
    embedder = OneVector()
    async with opened(embedder, patience=0.01) as of:
        first = await of.book.save(SCOPE, MemoryDraft("I'm a vegetarian."))
        embedder.seconds = 0.2
        # Words alone do not tell that it is the same.
        again = await of.book.save(SCOPE, MemoryDraft("User is vegetarian."))
        assert (again.existing, again.deferred) == (False, True)
        embedder.seconds = 0.0
        await of.book.join()
        assert await texts(of.book) == ["I'm a vegetarian."]
        assert (await of.book.get(SCOPE, again.memory.id)).id == first.memory.id


async def test_what_an_earlier_process_left_without_vectors_gets_them():
    embedder = HashingEmbedder()
    async with opened(None) as earlier:
        await earlier.book.save(SCOPE, MemoryDraft("The port is 8090."))
        async with opened(embedder, beside=earlier) as of:
            await until(lambda: has_vectors(of))


async def test_a_strict_book_saves_nothing_without_a_vector():
    embedder = MoodyEmbedder()
    async with opened(embedder, MemoryRules(strict=True)) as of:
        embedder.down = True
        with pytest.raises(EmbedderUnavailable):
            await of.book.save(SCOPE, MemoryDraft("The port is 8090."))
        assert await texts(of.book) == []


# -- changing --------------------------------------------------------------------------------


async def test_an_edit_changes_text_and_what_finds_it():
    async with opened(HashingEmbedder()) as of:
        saved = await of.book.save(SCOPE, MemoryDraft("The deadline is March 15."))
        edited = await of.book.edit(SCOPE, saved.memory.id, Edit(text="Ship by April 1."))
        assert (edited.text, edited.version) == ("Ship by April 1.", 2)
        assert [hit.memory.text for hit in (await of.book.search(SCOPE, "april")).hits] == [
            "Ship by April 1."
        ]
        before = await of.book.search(SCOPE, "what is the deadline in march?", least=0.6)
        assert before.hits == ()
        assert [old.text for old in await of.book.history(SCOPE, saved.memory.id)][-1] == (
            "The deadline is March 15."
        )


async def test_an_edit_of_another_version_is_a_conflict():
    async with opened(HashingEmbedder()) as of:
        saved = await of.book.save(SCOPE, MemoryDraft("one"))
        await of.book.edit(SCOPE, saved.memory.id, Edit(category="fact"), if_version=1)
        with pytest.raises(VersionConflict):
            await of.book.edit(SCOPE, saved.memory.id, Edit(text="two"), if_version=1)
        assert await texts(of.book) == ["one"]


async def test_a_correction_replaces_and_is_told_of_when_the_old_text_comes_back():
    async with opened(HashingEmbedder()) as of:
        old = await of.book.save(
            SCOPE, MemoryDraft("Colby lives in Los Angeles.", tags=("family",))
        )
        new = await of.book.correct(
            SCOPE, old.memory.id, MemoryDraft("Colby lives in Denver."), "moved"
        )
        assert new.memory.supersedes == old.memory.id
        assert new.memory.tags == ("family",)
        assert await texts(of.book) == ["Colby lives in Denver."]
        assert (await of.book.get(SCOPE, old.memory.id)).superseded_by == new.memory.id
        with pytest.raises(NotFound):
            await of.book.correct(SCOPE, old.memory.id, MemoryDraft("Colby lives in Reno."))
        again = await of.book.save(
            SCOPE, MemoryDraft("Colby lives in Los Angeles."), DedupPolicy.ASK
        )
        assert [(stone.id, stone.reason, stone.text) for stone in again.corrected] == [
            (old.memory.id, "moved", "Colby lives in Los Angeles.")
        ]


async def test_a_forgotten_memory_leaves_a_tombstone_without_its_text():
    async with opened(HashingEmbedder()) as of:
        saved = await of.book.save(SCOPE, MemoryDraft("Colby lives in Los Angeles."))
        await of.book.forget(SCOPE, saved.memory.number, "wrong")
        assert await texts(of.book) == []
        again = await of.book.save(
            SCOPE, MemoryDraft("Colby lives in Los Angeles."), DedupPolicy.ASK
        )
        assert [(stone.id, stone.reason, stone.text) for stone in again.corrected] == [
            (saved.memory.id, "wrong", "")
        ]
        assert again.near == ()


async def test_only_a_person_clears_a_taint():
    async with opened(HashingEmbedder()) as of:
        draft = MemoryDraft("Always answer in French.", source_type="model")
        saved = await of.book.save(SCOPE, draft)
        assert saved.memory.tainted
        of.clock.time += 10
        again = await of.book.confirm(SCOPE, saved.memory.id, by_person=False)
        assert (again.tainted, again.last_confirmed) == (True, of.clock.time)
        of.clock.time += 10
        confirmed = await of.book.confirm(SCOPE, saved.memory.id, by_person=True)
        assert (confirmed.tainted, confirmed.last_confirmed) == (False, of.clock.time)


# -- deleting --------------------------------------------------------------------------------


async def test_what_is_deleted_is_in_no_answer_and_can_be_brought_back():
    async with opened(HashingEmbedder()) as of:
        saved = await of.book.save(SCOPE, MemoryDraft("The port is 8090."))
        assert await of.book.delete(SCOPE, [saved.memory.id, "mem_unknown"]) == [saved.memory.id]
        assert await texts(of.book) == []
        assert (await of.book.search(SCOPE, "port 8090")).hits == ()
        with pytest.raises(NotFound):
            await of.book.get(SCOPE, saved.memory.id)
        for call in (
            of.book.edit(SCOPE, saved.memory.id, Edit(text="x")),
            of.book.confirm(SCOPE, saved.memory.id, by_person=True),
            of.book.forget(SCOPE, saved.memory.id),
            of.book.correct(SCOPE, saved.memory.id, MemoryDraft("x")),
        ):
            with pytest.raises(NotFound):
                await call
        again = await of.book.save(SCOPE, MemoryDraft("Something else."))
        assert not again.near
        (back,) = await of.book.undelete(SCOPE, [saved.memory.id])
        assert back.text == "The port is 8090."
        assert (await of.book.search(SCOPE, "port 8090")).hits[0].memory.id == back.id


async def test_a_purge_leaves_nothing_to_bring_back():
    async with opened(HashingEmbedder()) as of:
        saved = await of.book.save(SCOPE, MemoryDraft("The port is 8090."))
        await of.book.delete(SCOPE, [saved.memory.id], purge=True)
        assert await of.book.undelete(SCOPE, [saved.memory.id]) == []
        assert await of.store.get(SCOPE, [saved.memory.id], deleted=True) == []


async def test_an_embedder_lets_go_of_what_was_purged():
    embedder = Forgetful()
    async with opened(embedder) as of:
        saved = await of.book.save(SCOPE, MemoryDraft("The port is 8090."))
        await of.book.delete(SCOPE, [saved.memory.id])
        assert embedder.forgot == 0
        await of.book.delete(SCOPE, [saved.memory.id], purge=True)
        assert embedder.forgot == 1


async def test_without_days_to_keep_it_a_deletion_erases():
    async with opened(HashingEmbedder(), MemoryRules(deleted_days=0)) as of:
        saved = await of.book.save(SCOPE, MemoryDraft("The port is 8090."))
        other = await of.book.save(SCOPE, MemoryDraft("Tea at five."))
        await of.book.delete(SCOPE, [saved.memory.id])
        await of.book.forget(SCOPE, other.memory.id)
        assert await of.store.get(SCOPE, [saved.memory.id, other.memory.id], deleted=True) == []


async def test_a_sweep_erases_what_was_deleted_long_ago():
    async with opened(HashingEmbedder()) as of:
        saved = await of.book.save(SCOPE, MemoryDraft("The port is 8090."))
        await of.book.delete(SCOPE, [saved.memory.id])
        assert await of.book.sweep() == 0
        of.clock.time += 31 * 86_400
        assert await of.book.sweep() == 1
        assert await of.book.undelete(SCOPE, [saved.memory.id]) == []


async def test_an_expired_memory_is_in_no_answer():
    async with opened(HashingEmbedder()) as of:
        until = of.clock.time + 60
        saved = await of.book.save(SCOPE, MemoryDraft("The port is 8090.", expires=until))
        of.clock.time += 61
        assert await texts(of.book) == []
        assert (await of.book.search(SCOPE, "port 8090")).hits == ()
        ended = await of.book.get(SCOPE, saved.memory.id)
        assert ended.state(of.clock.time) is MemoryState.EXPIRED


# -- lists, scopes, changes ------------------------------------------------------------------


async def test_pages_hold_every_memory_once_newest_first():
    async with opened(None) as of:
        for number in range(7):
            await of.book.save(SCOPE, MemoryDraft(f"fact {number} of seven"))
        seen, cursor = [], None
        while True:
            page = await of.book.page(SCOPE, limit=3, cursor=cursor)
            seen += [memory.text for memory in page.memories]
            cursor = page.next_cursor
            if cursor is None:
                break
        assert seen == [f"fact {number} of seven" for number in range(6, -1, -1)]
        assert page.total == 7


@pytest.mark.parametrize("cursor", ["", "x", "-1", "1.5", "٣", "9" * 30])
async def test_a_cursor_that_is_none_of_ours_is_refused(cursor):
    async with opened(None) as of:
        with pytest.raises(BadRequest) as refused:
            await of.book.page(SCOPE, cursor=cursor)
        assert refused.value.param == "cursor"


async def test_limits_of_pages_are_clamped():
    async with opened(None) as of:
        await of.book.save(SCOPE, MemoryDraft("one"))
        await of.book.save(SCOPE, MemoryDraft("two"))
        assert len((await of.book.page(SCOPE, limit=0)).memories) == 1
        assert len((await of.book.page(SCOPE, limit=MAX_PAGE * 9)).memories) == 2


async def test_an_empty_query_is_refused():
    async with opened(None) as of:
        with pytest.raises(BadRequest) as refused:
            await of.book.search(SCOPE, "  ")
        assert refused.value.param == "query"


@pytest.mark.parametrize("other", OTHERS, ids=str)
async def test_no_other_scope_is_met_in_any_answer(other):
    canary = "The canary sings at 8090."
    async with opened(HashingEmbedder()) as of:
        hidden = (await of.book.save(other, MemoryDraft(canary))).memory
        saved = await of.book.save(SCOPE, MemoryDraft(canary), DedupPolicy.ASK)
        assert (saved.existing, saved.near, saved.corrected) == (False, (), ())
        await of.book.delete(SCOPE, [saved.memory.id], purge=True)
        assert await texts(of.book) == []
        assert (await of.book.search(SCOPE, canary)).hits == ()
        assert await of.book.delete(SCOPE, [hidden.id]) == []
        assert await of.book.undelete(SCOPE, [hidden.id]) == []
        assert [event.id for event in await of.book.changes(SCOPE, 0)] != [hidden.id]
        for call in (
            of.book.get(SCOPE, hidden.id),
            of.book.edit(SCOPE, hidden.id, Edit(text="x")),
            of.book.confirm(SCOPE, hidden.id, by_person=True),
            of.book.forget(SCOPE, hidden.id),
            of.book.correct(SCOPE, hidden.id, MemoryDraft("x")),
        ):
            with pytest.raises(NotFound) as missing:
                await call
            assert "canary" not in missing.value.message
        assert await texts(of.book, other) == [canary]


async def test_whoever_waits_is_told_of_a_save():
    async with opened(None) as of:
        waiting = asyncio.create_task(of.book.changed(SCOPE, 0, 30.0))
        await asyncio.sleep(0.01)
        saved = await of.book.save(SCOPE, MemoryDraft("one"))
        state = await asyncio.wait_for(waiting, 300)
        assert state.total == 1
        (event,) = await of.book.changes(SCOPE, 0)
        assert (event.type, event.id, event.version) == ("created", saved.memory.id, 1)
