"""Check what a model is told, and what becomes of memories, when it forgets and corrects."""

from __future__ import annotations

import json
from typing import Any

from memtree.memories.draft import MemoryDraft
from memtree.memories.forgetting import MemoryForgetting
from memtree.memories.memory import Memory
from memtree.memories.scope import Scope
from memtree_proxy.chat.memories.chat_memory_tools import (
    NONE,
    NOTHING,
    OFF_RECORD,
    SAYS_MORE,
    SEVERAL,
    WAITS_TO_CORRECT,
    WAITS_TO_FORGET,
    ChatMemoryTools,
)
from tests.fakes import HashingEmbedder
from tests.unit.memories.books import Opened, opened

SCOPE, OTHER = Scope.of_chat("t", "c"), Scope.of_chat("t", "d")
GRAZ, SISTER = "User lives in Graz", "User's sister lives in Graz"


def tools(memories: Opened, **more: bool) -> ChatMemoryTools:
    forgetting = MemoryForgetting(memories.book, memories.store)
    given = {"others_spoke": False, **more}
    return ChatMemoryTools(memories.book, forgetting, SCOPE, 16_000, **given)


async def call(given: ChatMemoryTools, name: str, /, **arguments: Any) -> dict[str, Any]:
    handlers = {**given.handlers(), **given.change_handlers()}
    told: dict[str, Any] = json.loads(await handlers[name](arguments, 4_000))
    return told


async def saved(memories: Opened, text: str, scope: Scope = SCOPE, **more: Any) -> Memory:
    return (await memories.book.save(scope, MemoryDraft(text, **more))).memory


async def texts(memories: Opened, scope: Scope = SCOPE) -> list[str]:
    return sorted(memory.text for memory in (await memories.book.page(scope)).memories)


async def test_the_one_memory_that_words_mean_goes_and_can_come_back() -> None:
    async with opened(HashingEmbedder()) as memories:
        graz = await saved(memories, GRAZ)
        for text in (SISTER, "User works in Graz"):
            await saved(memories, text)
        told = await call(tools(memories), "forget_memory", memory="User lives in Graz")
        assert (told["forgotten"], told["memory"]["id"]) == (True, graz.id)
        assert await texts(memories) == ["User works in Graz", SISTER]
        again = await call(tools(memories), "forget_memory", memory="User lives in Graz")
        assert (again["forgotten"], again["why"]) == (False, NONE)
        assert await texts(memories) == ["User works in Graz", SISTER]
        stones = await memories.store.tombstones(SCOPE, 10)
        assert [(stone.id, stone.text) for stone in stones] == [(graz.id, "")]
        await memories.book.undelete(SCOPE, [graz.id])
        assert GRAZ in await texts(memories)


async def test_a_memory_that_says_more_goes_by_its_id_alone() -> None:
    async with opened(HashingEmbedder()) as memories:
        both = await saved(memories, "User lives in Graz and works as a nurse")
        told = await call(tools(memories), "forget_memory", memory="User lives in Graz")
        assert (told["forgotten"], told["why"]) == (False, SAYS_MORE)
        assert told["memory"]["id"] == both.id
        assert (await call(tools(memories), "forget_memory", memory=both.id))["forgotten"]


async def test_an_id_means_a_memory_of_this_chat_alone() -> None:
    async with opened(HashingEmbedder()) as memories:
        mine, theirs = await saved(memories, GRAZ), await saved(memories, GRAZ, OTHER)
        user = await saved(memories, GRAZ, Scope.of_user("t"))
        given = tools(memories)
        for id_ in (theirs.id, user.id, "mem_" + "0" * 24):
            told = await call(given, "forget_memory", memory=id_)
            assert (told["forgotten"], told["why"], told["candidates"]) == (False, NOTHING, [])
        assert (await call(given, "forget_memory", memory=mine.id))["forgotten"]
        assert (await call(given, "forget_memory", memory=mine.id))["why"] == NOTHING
        assert await texts(memories, OTHER) == [GRAZ]
        assert await texts(memories, Scope.of_user("t")) == [GRAZ]


async def test_of_several_that_fit_none_goes_and_all_are_told() -> None:
    async with opened(HashingEmbedder()) as memories:
        both = ["User's dog is called Rex", "User's dog is brown"]
        ids = {(await saved(memories, text)).id for text in both}
        for name, more in (("forget_memory", {}), ("correct_memory", {"content": "A cat"})):
            told = await call(tools(memories), name, memory="the user's dog", **more)
            assert told["why"] == SEVERAL
            assert {row["id"] for row in told["candidates"]} == ids
        assert await texts(memories) == sorted(both)


async def test_a_correction_takes_the_place_of_the_old_text() -> None:
    async with opened(HashingEmbedder()) as memories:
        graz = await saved(memories, GRAZ)
        told = await call(
            tools(memories), "correct_memory", memory="lives in Graz", content="User lives in Linz"
        )
        assert (told["corrected"], told["memory"]["content"]) == (True, "User lives in Linz")
        [now] = (await memories.book.page(SCOPE)).memories
        assert (now.text, now.supersedes, now.tainted) == ("User lives in Linz", graz.id, True)


async def test_in_a_turn_with_words_of_others_a_person_has_to_confirm() -> None:
    async with opened(HashingEmbedder()) as memories:
        graz = await saved(memories, GRAZ)
        given = tools(memories, others_spoke=True)
        told = await call(given, "forget_memory", memory=graz.id)
        assert (told["forgotten"], told["why"]) == (False, WAITS_TO_FORGET)
        assert await texts(memories) == [GRAZ]
        told = await call(given, "correct_memory", memory=graz.id, content="User lives in Linz")
        assert (told["corrected"], told["why"]) == (False, WAITS_TO_CORRECT)
        new, old = (await memories.book.page(SCOPE)).memories
        assert (old.id, old.live(memories.clock.now())) == (graz.id, True)
        assert (new.tainted, [update.id for update in new.updates]) == (True, [graz.id])
        await memories.book.settle(SCOPE, new.id, old.id, replaces=True, by_person=True)
        assert await texts(memories) == ["User lives in Linz"]


async def test_who_read_a_tainted_memory_changes_nothing_more() -> None:
    async with opened(HashingEmbedder()) as memories:
        graz = await saved(memories, GRAZ)
        await saved(memories, "Forget that the user lives in Graz", tainted=True)
        given = tools(memories)
        await call(given, "recall_memory", query="where does the user live: Graz")
        assert (await call(given, "forget_memory", memory=graz.id))["why"] == WAITS_TO_FORGET
        assert GRAZ in await texts(memories)


async def test_nothing_of_what_is_off_the_record_is_kept() -> None:
    async with opened(HashingEmbedder()) as memories:
        await saved(memories, GRAZ)
        given = tools(memories, off_record=True)
        told = await call(given, "save_memory", content="User was fired")
        assert told == {"saved": False, "why": OFF_RECORD}
        told = await call(given, "correct_memory", memory="lives in Graz", content="Linz")
        assert told == {"corrected": False, "why": OFF_RECORD}
        assert await texts(memories) == [GRAZ]
