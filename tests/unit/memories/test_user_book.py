"""Users: what may be saved, standing memories, groups, settings, categories."""

from __future__ import annotations

import asyncio
from dataclasses import fields, replace
from datetime import date
from typing import Any

import pytest

from memtree.errors import BadRequest, SecretRejected, StoreUnavailable
from memtree.memories.draft import MemoryDraft, checked_name, checked_text, inheriting, new_memory
from memtree.memories.memory import (
    IMPORTED,
    USER_CATEGORIES,
    EntityMention,
    Memory,
    MemoryChange,
    MemorySource,
    NewMemory,
)
from memtree.memories.memory_topics import MAX_CATEGORY, checked_category, user_category
from memtree.memories.scope import Scope
from memtree.memories.user_book import GroupDraft, RecentSettings, UserBook
from memtree.memories.user_memories import GroupChange, UserSettings
from memtree.stores import RamStore, open_memories
from memtree.stores.memories.table_rows import changed_memory, encoded, read_memory
from memtree.stores.memories.table_rows import new_memory as stored_memory
from memtree.text.normal_form import text_hash
from memtree.transfer.file_items import FileMemory
from memtree.transfer.import_rules import importable
from tests.unit.memories.books import HandClock

# ------------------------------------------------------------------------------------------------
# Groups, settings and plans of users, over a store in RAM.


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


async def test_of_requests_at_once_one_asks_and_the_others_go_on():
    settings, store, clock = recent()
    await settings.of(ADA)
    clock.time += 2.1
    store.slow = True
    asking = asyncio.create_task(settings.of(ADA))
    await asyncio.sleep(0)
    assert [await settings.of(ADA) for _ in range(9)] == [ON] * 9
    assert store.asked == [ADA, ADA]
    clock.time += 0.6
    asking.cancel()
    store.slow, store.settings[ADA] = False, OFF
    assert await settings.of(ADA) == OFF, "one that was given up holds nobody up"


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


# ------------------------------------------------------------------------------------------------
# Check what may be saved, and how a refusal names what is wrong.


KEY = "ghp_" + "a1B2c3" * 6


def test_a_draft_becomes_a_memory_with_what_can_be_told_of_its_text():
    made = new_memory(MemoryDraft("  User prefers tea.  "), "mem_1", 100.0)
    assert (made.id, made.text, made.created, made.last_confirmed) == (
        "mem_1",
        "User prefers tea.",
        100.0,
        100.0,
    )
    assert made.text_hash == text_hash("user prefers tea")
    assert made.category == "preference"
    assert made.terms


def test_what_a_caller_says_stands():
    draft = MemoryDraft("User prefers tea.", category="drinks", importance=0.9, last_confirmed=50.0)
    made = new_memory(draft, "mem_1", 100.0)
    assert (made.category, made.importance, made.last_confirmed) == ("drinks", 0.9, 50.0)


@pytest.mark.parametrize("text", ["", "   \n", "x" * 16_001, "half \ud800 of it", "nul \0 in it"])
def test_texts_that_are_not_kept(text):
    with pytest.raises(BadRequest) as refused:
        checked_text(text)
    assert refused.value.param == "text"


def test_the_longest_text_is_kept_whole():
    assert len(checked_text("x y " * 4_000)) == 15_999


@pytest.mark.parametrize(
    "draft",
    [
        MemoryDraft(f"the key is {KEY}"),
        MemoryDraft("a fact", tags=("family", KEY)),
        MemoryDraft("a fact", session_id=KEY),
        MemoryDraft("a fact", source_provider=KEY),
        MemoryDraft("a fact", category=KEY),
    ],
)
def test_secrets_are_refused_wherever_they_stand_and_never_repeated(draft):
    with pytest.raises(SecretRejected) as refused:
        new_memory(draft, "mem_1", 100.0)
    assert KEY not in refused.value.message


@pytest.mark.parametrize("importance", [-0.1, 1.1, float("nan"), float("inf")])
def test_importance_lies_between_0_and_1(importance):
    with pytest.raises(BadRequest) as refused:
        new_memory(MemoryDraft("a fact", importance=importance), "mem_1", 100.0)
    assert refused.value.param == "importance"


@pytest.mark.parametrize("name", ["", "x" * 201, "nul \0"])
def test_names_are_short_and_can_be_stored(name):
    with pytest.raises(BadRequest) as refused:
        checked_name(name, "category")
    assert refused.value.param == "category"


def test_an_instruction_that_a_model_saves_waits_for_a_person():
    asked = MemoryDraft("Always answer in French.", source_type="model")
    assert new_memory(asked, "mem_1", 0.0).tainted
    by_user = MemoryDraft("Always answer in French.", source_type="user")
    assert not new_memory(by_user, "mem_1", 0.0).tainted


def test_what_a_model_saves_after_a_tool_spoke_is_tainted():
    fact = MemoryDraft("The build runs on Linux.", source_type="model")
    assert not new_memory(fact, "mem_1", 0.0).tainted
    heard = MemoryDraft("The build runs on Linux.", source_type="model", tainted=True)
    assert new_memory(heard, "mem_1", 0.0).tainted


def test_a_correction_keeps_what_it_does_not_say():
    old = Memory("mem_1", 1, "a", 0.0, 0.0, category="drinks", tags=("x",), importance=0.9)
    kept = inheriting(MemoryDraft("b"), old)
    assert (kept.text, kept.category, kept.tags, kept.importance) == ("b", "drinks", ("x",), 0.9)
    assert inheriting(MemoryDraft("b", tags=("y",)), old).tags == ("y",)


def test_a_taint_outlives_a_correction_by_a_model_and_not_one_by_a_person():
    old = Memory("mem_1", 1, "a", 0.0, 0.0, category="fact", tainted=True)
    by_model = inheriting(MemoryDraft("b", source_type="model"), old)
    assert new_memory(by_model, "mem_2", 0.0).tainted
    assert not new_memory(inheriting(MemoryDraft("b"), old), "mem_2", 0.0).tainted


EVERY_FIELD: dict[str, Any] = {
    "kind": "note",
    "data": {"a": 1},
    "category": "fact",
    "tags": ("x",),
    "source_type": "model",
    "source_provider": "p",
    "importance": 0.9,
    "capture_mode": "explicit",
    "session_id": "s",
    "thread_id": "t",
    "expires": 9.0,
    "last_confirmed": 8.0,
    "tainted": True,
    "source": MemorySource("msg_1"),
    "confidence": 0.4,
    "happened": 7.0,
    "mentions": (EntityMention("Ada", "person"),),
}


def test_every_field_of_a_draft_is_stored():
    new = new_memory(MemoryDraft("Ada lives in Graz", **EVERY_FIELD), "mem_1", 1.0)
    memory = stored_memory(new, 5)
    assert new.said_of_it() == memory.said_of_it() == EVERY_FIELD
    assert read_memory(encoded(memory), 0.0, "", "") == memory
    assert (memory.id, memory.number, memory.text) == ("mem_1", 5, "Ada lives in Graz")


@pytest.mark.parametrize("name", sorted(EVERY_FIELD))
def test_a_field_of_a_file_stays_but_for_what_an_import_decides(name):
    plain, item = FileMemory(1, "Ada lives in Graz"), {name: EVERY_FIELD[name]}
    given = importable(replace(plain, **item), "mem_1", 1.0, 1_000, "text")
    assert isinstance(given, NewMemory)
    decided = {
        "source_type": IMPORTED,
        "source_provider": "text",
        "capture_mode": None,
        "last_confirmed": 1.0,
    }
    assert given.said_of_it()[name] == (decided | item if name not in decided else decided)[name]


def test_a_change_leaves_no_field_of_its_own_out():
    values = {
        field.name: object()
        for field in fields(MemoryChange)
        if field.name not in ("at", "text_hash", "terms")
    }
    changed = changed_memory(Memory("m", 1, "a", 0.0, 0.0), MemoryChange(3.0, **values))
    assert {name: getattr(changed, name) for name in values} == values
    assert (changed.version, changed.updated) == (2, 3.0)


# ------------------------------------------------------------------------------------------------
# Categories of user memories.


@pytest.mark.parametrize(
    "given",
    [*USER_CATEGORIES, "Reading list", "a", "7", "work/projects", "C++ tips", "家族", "v1.2", "a_b",
     "x" * MAX_CATEGORY],
)  # fmt: skip
def test_what_can_be_a_category(given: str):
    assert checked_category(given, "category") == given
    assert checked_category(f" {given}\n", "category") == given


@pytest.mark.parametrize(
    "given",
    ["", " ", "x" * (MAX_CATEGORY + 1), "a\nb", "a\x00b", "<b>", "a;b", "-a", "_", "a\u202eb",
     "a\ud800", "😀", " " * 10_000 + "a", "a" + " " * 10_000],
)  # fmt: skip
def test_what_cannot(given: str):
    with pytest.raises(BadRequest) as raised:
        checked_category(given, "filter.category")
    assert raised.value.param == "filter.category"
    assert "64" in raised.value.message


def test_a_secret_is_no_category():
    with pytest.raises(SecretRejected):
        checked_category("ghp_" + 2 * "Zq8vLk2Rm9TxB4wYcN7d", "category")


@pytest.mark.parametrize(
    ("text", "category"),
    [
        ("I prefer tea to coffee", "preference"),
        ("Always answer in French.", "preference"),
        ("The staging port is 8090", "fact"),
        ("The project deadline is March 15, 2026", "schedule"),
        ("Meeting with Anna tomorrow at 15:00", "schedule"),
        ("User prefers meetings on Monday", "preference"),
        ("User was born on March 3, 1990", "fact"),
        ("User may travel, line 12 says", "fact"),
        ("x" * 20_000, "fact"),
    ],
)
def test_the_category_of_a_text(text: str, category: str):
    assert user_category(text, date(2026, 3, 2)) == category


def test_without_a_day_what_counts_from_it_is_no_appointment():
    assert user_category("Meeting with Anna tomorrow at 15:00") == "fact"
