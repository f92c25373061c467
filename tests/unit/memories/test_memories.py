"""Memories as they change, are looked after, forgotten, and belong to somebody."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import Any

import pytest

from memtree.agents.structured_memory import structured_memory
from memtree.errors import BadRequest, NotFound
from memtree.jobs.runtime import SystemClock
from memtree.memories.deletion_check import MOST_SEARCHED
from memtree.memories.draft import DedupPolicy, MemoryDraft
from memtree.memories.memory import Memory, MemoryFields
from memtree.memories.memory_curation import MemoryCuration, rest
from memtree.memories.memory_store import MemoryStore, ScopeState
from memtree.memories.saving import ScopeWatch
from memtree.memories.scope import Scope, checked_id, is_placeholder
from tests.fakes import HashingEmbedder
from tests.unit.memories.books import Opened, opened

# ------------------------------------------------------------------------------------------------
# When a memory may be shown.


MEMORY = Memory("mem_1", 1, "The port is 8090.", 100.0, 100.0)


def test_a_memory_is_live_until_it_expires():
    expiring = replace(MEMORY, expires=200.0)
    assert MEMORY.live(1e12)
    assert expiring.live(199.9)
    assert not expiring.live(200.0)


@pytest.mark.parametrize(
    "ended", [{"deleted": 150.0}, {"superseded_by": "mem_2"}, {"duplicate_of": "mem_2"}]
)
def test_what_was_deleted_or_replaced_is_not_live(ended):
    assert not replace(MEMORY, **ended).live(100.0)


# ------------------------------------------------------------------------------------------------
# Who waits for a scope to change is woken by this process, and finds what others changed.


SCOPE = Scope.of_chat("t", "c")


class CountedStore(MemoryStore):
    """The part of a store that is watched: a counter, and how often it was asked."""

    def __init__(self) -> None:
        self.changed: dict[Scope, int] = {}
        self.asked = 0

    async def state(self, scope: Scope) -> ScopeState:
        self.asked += 1
        await asyncio.sleep(0)
        return ScopeState(self.changed.get(scope, 0))


def watched(store: CountedStore, poll: float = 30.0) -> ScopeWatch:
    return ScopeWatch(store, SystemClock(), poll)


async def test_what_has_changed_already_is_told_at_once():
    store = CountedStore()
    store.changed[SCOPE] = 3
    assert (await watched(store).changed(SCOPE, 2, 30.0)).changed == 3


async def test_without_a_change_the_wait_ends_in_time():
    store = CountedStore()
    watch = watched(store)
    assert (await watch.changed(SCOPE, 0, 0.01)).changed == 0
    assert watch.watched == 0


async def test_a_change_of_this_process_wakes_all_who_wait_for_the_scope():
    store = CountedStore()
    watch = watched(store)
    waiting = [asyncio.create_task(watch.changed(SCOPE, 0, 30.0)) for _ in range(5)]
    await asyncio.sleep(0.01)
    store.changed[SCOPE] = 1
    watch.wake(SCOPE)
    assert [state.changed for state in await asyncio.gather(*waiting)] == [1] * 5
    assert watch.watched == 0


async def test_a_change_of_another_process_is_found_by_asking():
    store = CountedStore()
    watch = watched(store, poll=0.01)
    waiting = asyncio.create_task(watch.changed(SCOPE, 0, 30.0))
    await asyncio.sleep(0.03)
    store.changed[SCOPE] = 1
    assert (await waiting).changed == 1


async def test_many_who_wait_ask_the_store_once():
    store = CountedStore()
    watch = watched(store)
    waiting = [asyncio.create_task(watch.changed(SCOPE, 0, 0.05)) for _ in range(50)]
    await asyncio.gather(*waiting)
    assert store.asked == 1


async def test_another_scope_wakes_nobody():
    store = CountedStore()
    watch = watched(store)
    waiting = asyncio.create_task(watch.changed(SCOPE, 0, 0.05))
    await asyncio.sleep(0)
    other = Scope.of_chat("t", "d")
    store.changed[other] = 1
    watch.wake(other)
    assert (await waiting).changed == 0


async def test_a_change_during_the_look_is_not_missed():
    store = CountedStore()
    watch = watched(store)
    waiting = asyncio.create_task(watch.changed(SCOPE, 0, 30.0))
    await asyncio.sleep(0)  # it is asking now
    store.changed[SCOPE] = 1
    watch.wake(SCOPE)
    assert (await asyncio.wait_for(waiting, 300)).changed == 1


async def test_who_gives_up_leaves_nothing():
    store = CountedStore()
    watch = watched(store)
    waiting = asyncio.create_task(watch.changed(SCOPE, 0, 30.0))
    await asyncio.sleep(0.01)
    waiting.cancel()
    await asyncio.gather(waiting, return_exceptions=True)
    assert watch.watched == 0


# ------------------------------------------------------------------------------------------------
# Looking after memories: their past, merging, deleting many, over a store in RAM.


CURATION_SCOPE, OTHER = Scope.of_user("t", "u"), Scope.of_user("t", "v")
TOKEN = "ghp_" + 2 * "Zq8vLk2Rm9TxB4wYcN7d"


def curation(of: Opened, **more: Any) -> MemoryCuration:
    of.book.rules = replace(of.book.rules, **more)
    return MemoryCuration(of.store, of.book)


async def saved(of: Opened, text: str, scope: Scope = CURATION_SCOPE) -> Memory:
    return (await of.book.save(scope, MemoryDraft(text), DedupPolicy.INSERT)).memory


# -- deleting many ---------------------------------------------------------------------------


@pytest.mark.parametrize("purge", [False, True])
async def test_a_receipt_names_what_went_and_has_looked_for_it(purge: bool):
    async with opened(HashingEmbedder()) as of:
        keep = await saved(of, "The bicycle is green")
        gone = [await saved(of, f"The parcel {n} is due on day {n}") for n in range(3)]
        ids = [memory.id for memory in gone]
        looks = curation(of)
        assert await looks.known(CURATION_SCOPE, [*ids, ids[0], "mem_none"]) == 3
        receipt = await looks.delete(CURATION_SCOPE, [*ids, ids[0], "mem_none"], purge=purge)
        assert (sorted(receipt.deleted), receipt.verified) == (sorted(ids), True)
        assert await of.book.page(CURATION_SCOPE) == ((keep,), None, 1)
        assert (await looks.delete(CURATION_SCOPE, ids))[:2] == ((), True)


@pytest.mark.slow
async def test_a_receipt_of_many():
    async with opened() as of:
        ids = [(await saved(of, f"Parcel number {n}")).id for n in range(MOST_SEARCHED + 7)]
        receipt = await curation(of).delete(CURATION_SCOPE, ids)
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
        assert (await looks.delete(CURATION_SCOPE, [memory.id]))[:2] == ((memory.id,), False)


async def test_another_scope_is_not_reached():
    async with opened(HashingEmbedder()) as of:
        memory = await saved(of, "The bicycle is green")
        looks = curation(of)
        assert await looks.known(OTHER, [memory.id]) == 0
        assert (await looks.delete(OTHER, [memory.id]))[:2] == ((), True)
        with pytest.raises(NotFound):
            await looks.past(OTHER, memory.id)
        assert (await of.book.page(CURATION_SCOPE)).total == 1


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


# ------------------------------------------------------------------------------------------------
# Leave the rest of a memory when one of the things that it says is forgotten.


NURSE = "User lives in Graz and works as a nurse"
THREE = "User doesn't eat meat, lives in Graz but works in Vienna"


@pytest.mark.parametrize(
    ("about", "text", "left"),
    [
        ("I live in Graz", NURSE, "User works as a nurse"),
        ("I work as a nurse", NURSE, "User lives in Graz"),
        ("I don't eat meat", THREE, "User lives in Graz but works in Vienna"),
        ("I live in Graz", THREE, "User doesn't eat meat but works in Vienna"),
        ("I work in Vienna", THREE, "User doesn't eat meat, lives in Graz"),
        (
            "ich in Graz wohne",
            "Nutzer wohnt in Graz und arbeitet als Koch",
            "Nutzer arbeitet als Koch",
        ),
        ("vivo en Graz", "El usuario vive en Graz y no come carne", "El usuario no come carne"),
        (
            "j'habite à Graz",
            "L'utilisateur habite à Graz et n'a pas de chien",
            "L'utilisateur n'a pas de chien",
        ),
        ("abito a Graz", "L'utente abita a Graz e lavora in banca", "L'utente lavora in banca"),
        ("moro em Graz", "O usuário mora em Graz e tem um gato", "O usuário tem um gato"),
        (
            "я живу в Граце",
            "Пользователь живёт в Граце и не ест мясо",
            "Пользователь не ест мясо",
        ),
        ("我住在格拉茨", "用户住在格拉茨，是护士", "用户是护士"),
        ("my dog", "User's dog is called Rex and sleeps a lot", ""),
        ("my dog Rex", "User's dog is called Rex and sleeps a lot", "User's dog sleeps a lot"),
        ("my children", "User's children are Max and Theo", ""),
        ("I live in Graz and work as a nurse", NURSE, ""),
        ("I like tea and coffee", "User likes tea and coffee", ""),
        ("I live in Graz", "User lives in Graz, near the station", ""),
    ],
)
def test_what_else_a_memory_says_is_left(about: str, text: str, left: str) -> None:
    assert rest(about, text) == left


@pytest.mark.parametrize(
    ("about", "text"),
    [
        ("I like tea", "User likes tea and coffee"),
        ("I'm vegan", "User is vegan and left-handed"),
        ("I like walks", "User likes walks and plays by Goethe"),
        ("I live in Graz", "User lives in Graz and works there"),
        ("I live in Graz", "User lives in Graz. The user's wife works in Linz."),
        ("I live in Graz", "User lives in Graz and the user's wife works in Linz"),
        ("ich in Graz wohne", "Nutzer wohnt in Graz und Linz"),
        ("大阪に住んでいる", "ユーザーは大阪に住んでいて、看護師です"),
    ],
)
def test_what_has_no_clear_joint_is_not_parted(about: str, text: str) -> None:
    assert rest(about, text) is None


# ------------------------------------------------------------------------------------------------
# Whose a memory is, and the ids that callers choose.


def test_scopes_of_different_kinds_are_never_equal():
    scopes = {
        Scope.of_chat("t", "x"),
        Scope.of_user("t", "x"),
        Scope.of_agent("t", "x"),
        Scope.of_agent("t", "x", "x"),
        Scope.of_user("t"),
        Scope.of_chat("u", "x"),
    }
    assert len(scopes) == 6


@pytest.mark.parametrize("given", ["a", "550e8400-e29b-41d4", "user:1@host~x_.", "x" * 200])
def test_ids_that_callers_may_choose(given):
    assert checked_id(given, "chatId") == given


@pytest.mark.parametrize("given", ["", "a b", "é", "x" * 201, "a/b", "a\n", None, 3, "..\x00"])
def test_other_ids_are_refused_by_the_name_of_their_field(given):
    with pytest.raises(BadRequest) as refused:
        checked_id(given, "chatId")
    assert refused.value.param == "chatId"


PLACEHOLDERS = (
    *"undefined null None NULL NaN user:NaN undefined:undefined user:null chat-undefined".split(),
    *"YOUR_USER_ID your-agent-here your-name placeholder user_id chatId :thread_id id".split(),
    "__USER_ID__",
    *"{user_id} {{user}} ${USER} $USER <user_id> <nil> %s".split(),
    "[object Object]",
)


@pytest.mark.parametrize("given", PLACEHOLDERS)
def test_placeholders_are_refused(given: str):
    assert is_placeholder(given)
    with pytest.raises(BadRequest, match=r"^chatId (is a placeholder, not an id|must be 1 to 200)"):
        checked_id(given, "chatId")


@pytest.mark.parametrize(
    "given",
    "ann user chat agent user-1 user.name my-user-id default null-safety none-of-your-business "
    "undefined-behaviour nancy david group-7 t:u1 grp_none nan Nan nil user:nil your".split(),
)
def test_words_that_look_alike_are_ids(given: str):
    assert checked_id(given, "chatId") == given
