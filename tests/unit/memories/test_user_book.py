"""Groups, settings and plans of users, over a store in RAM."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from memtree.errors import BadRequest, SecretRejected, StoreUnavailable
from memtree.memories.scope import Scope
from memtree.memories.user_book import GroupDraft, RecentSettings, UserBook
from memtree.memories.user_memories import GroupChange, UserSettings
from memtree.stores import RamStore, open_memories
from tests.unit.memories.books import HandClock

SCOPE = Scope.of_user("t", "u")
TOKEN = "ghp_" + 2 * "Zq8vLk2Rm9TxB4wYcN7d"


def user_book(clock: HandClock | None = None, **more: Any) -> UserBook:
    clock = clock or HandClock()
    ids = iter(range(1, 10_000))
    store = open_memories(RamStore(now=clock.now))
    return UserBook(store, clock, lambda: f"grp_{next(ids):024x}", **more)


@pytest.mark.parametrize(
    ("draft", "field"),
    [
        (GroupDraft(""), "title"),
        (GroupDraft(" \n"), "title"),
        (GroupDraft("x" * 201), "title"),
        (GroupDraft("a\0b"), "title"),
        (GroupDraft("a\ud800"), "title"),
        (GroupDraft("a", "x" * 2_001), "description"),
        (GroupDraft("a", "\ud800"), "description"),
        (GroupDraft("a", category=""), "category"),
        (GroupDraft("a", category="<b>"), "category"),
    ],
)
async def test_what_is_wrong_with_a_group_is_named(draft: GroupDraft, field: str):
    book = user_book()
    with pytest.raises(BadRequest) as raised:
        await book.add_group(SCOPE, draft)
    assert raised.value.param == field
    change = GroupChange(draft.title, draft.description, draft.category or "<b>")
    with pytest.raises(BadRequest):
        await book.change_group(SCOPE, "grp_1", change)


async def test_no_group_holds_a_secret():
    book = user_book()
    for draft in (GroupDraft(TOKEN), GroupDraft("a", TOKEN), GroupDraft("a", category=TOKEN)):
        with pytest.raises(SecretRejected) as raised:
            await book.add_group(SCOPE, draft)
        assert TOKEN not in raised.value.message


@pytest.mark.parametrize("plan", ["", "PRO", "gold"])
async def test_a_plan_that_there_is_not(plan: str):
    with pytest.raises(BadRequest):
        await user_book().set_plan("t", plan)


# -- What users have switched on, as chats ask for it.


ADA, BOB = Scope.of_user("t", "ada"), Scope.of_user("t", "bob")
ON, OFF = UserSettings(save=True), UserSettings()


class Clock:
    def __init__(self) -> None:
        self.time = 100.0

    def now(self) -> float:
        return 1e9 + self.time

    def monotonic(self) -> float:
        return self.time


class Store:
    """Store of settings; `error` is raised, `asked` counts."""

    def __init__(self) -> None:
        self.settings = {ADA: ON}
        self.error: Exception | None = None
        self.asked: list[Scope] = []
        self.slow = False

    async def effective(self, scope: Scope) -> UserSettings:
        self.asked.append(scope)
        if self.slow:
            await asyncio.Event().wait()
        if self.error is not None:
            raise self.error
        return self.settings.get(scope, OFF)


def recent(most: int = 99) -> tuple[RecentSettings, Store, Clock]:
    store, clock = Store(), Clock()
    return RecentSettings(store.effective, clock, most), store, clock


async def test_the_store_is_asked_once_in_a_moment():
    settings, store, clock = recent()
    assert [await settings.of(ADA) for _ in range(9)] == [ON] * 9
    assert [await settings.of(BOB) for _ in range(9)] == [OFF] * 9
    assert store.asked == [ADA, BOB]
    store.settings[ADA] = OFF
    clock.time += 1.9
    assert await settings.of(ADA) == ON
    clock.time += 0.2
    assert await settings.of(ADA) == OFF


async def test_what_is_changed_here_holds_at_once():
    settings, store, _ = recent()
    await settings.of(ADA)
    store.settings[ADA] = OFF
    settings.forget(ADA)
    settings.forget(BOB)
    assert await settings.of(ADA) == OFF


async def test_while_the_store_fails_the_last_known_ones_hold():
    settings, store, clock = recent()
    await settings.of(ADA)
    store.error = StoreUnavailable("away")
    clock.time += 9
    assert [await settings.of(ADA) for _ in range(5)] == [ON] * 5
    assert await settings.of(BOB) == OFF
    assert store.asked == [ADA, ADA, BOB]  # not with every request
    store.error = None
    store.settings = {BOB: ON}
    clock.time += 9
    assert [await settings.of(ADA), await settings.of(BOB)] == [OFF, ON]


async def test_a_chat_does_not_wait_for_a_store_that_hangs():
    settings, store, _ = recent()
    store.slow = True
    assert await asyncio.wait_for(settings.of(ADA), 300) == OFF


async def test_few_are_remembered_whatever_names_somebody_makes_up():
    settings, store, _ = recent(most=3)
    for number in range(9):
        await settings.of(Scope.of_user("t", str(number)))
    await settings.of(Scope.of_user("t", "8"))
    await settings.of(Scope.of_user("t", "0"))
    assert len(store.asked) == 10
