"""Check what may be saved, and how a refusal names what is wrong."""

from __future__ import annotations

from dataclasses import fields, replace
from typing import Any

import pytest

from memtree.errors import BadRequest, SecretRejected
from memtree.memories.draft import MemoryDraft, checked_name, checked_text, inheriting, new_memory
from memtree.memories.memory import (
    IMPORTED,
    EntityMention,
    Memory,
    MemoryChange,
    MemorySource,
    NewMemory,
)
from memtree.memories.transfer.checked import importable
from memtree.memories.transfer.file_items import FileMemory
from memtree.stores.memories.rows import changed_memory, encoded, read_memory
from memtree.stores.memories.rows import new_memory as stored_memory
from memtree.text.canonical_form import text_hash

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
