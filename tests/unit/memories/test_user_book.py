"""Groups, settings and plans of users, over a store in RAM."""

from __future__ import annotations

import pytest

from memtree.errors import BadRequest, SecretRejected
from memtree.memories.scope import Scope
from memtree.memories.user_book import GroupDraft, UserBook
from memtree.memories.user_memories import GroupChange
from memtree.stores import RamStore, open_memories
from tests.unit.memories.books import HandClock

SCOPE = Scope.of_user("t", "u")
TOKEN = "ghp_" + 2 * "Zq8vLk2Rm9TxB4wYcN7d"


def user_book(clock: HandClock | None = None, **more: int) -> UserBook:
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
