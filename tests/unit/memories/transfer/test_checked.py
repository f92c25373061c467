from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from memtree.memories.memory import Memory, MemorySource, NewMemory, Tombstone
from memtree.memories.ports import MemoryRecord
from memtree.memories.search.vector_bytes import packed_terms
from memtree.memories.transfer.checked import checked_group, importable, restorable
from memtree.memories.transfer.file_items import FileGroup, FileMemory, LineResult, LineStatus
from memtree.memories.user_memories import MemoryGroup
from memtree.text.normal_form import text_hash

NOW = 1_000_000.0
KEY = "sk-proj-abcdefghijklmnopqrstuvwxyz0123456789ABCD"
SECRET = f"my key is {KEY}"
MOST = 100


def item(text: str = "Lives in Graz.", **fields: Any) -> FileMemory:
    return FileMemory(7, text, **fields)


def new(found: FileMemory) -> NewMemory:
    made = importable(found, "mem_1", NOW, MOST, "mem0")
    assert isinstance(made, NewMemory), made
    return made


def refused(found: FileMemory) -> LineResult:
    made = importable(found, "mem_1", NOW, MOST, "mem0")
    assert isinstance(made, LineResult), made
    assert made.line == 7
    assert KEY not in made.message
    return made


# -- new memories ----------------------------------------------------------------------------


def test_a_memory_of_a_file_says_where_it_is_from():
    made = new(item(tags=("home",)))
    assert (made.id, made.text, made.tags) == ("mem_1", "Lives in Graz.", ("home",))
    assert (made.source_type, made.source_provider) == ("import", "mem0")
    assert made.text_hash == text_hash("lives in graz")
    assert (made.created, made.category, made.tainted) == (NOW, "fact", True)
    assert made.source is None


def test_it_is_as_old_as_it_was_there():
    made = new(item(created=5.5))
    assert (made.created, made.last_confirmed) == (5.5, 5.5)
    assert made.source == MemorySource(recorded=5.5)


def test_nothing_is_younger_than_now():
    made = new(item(created=NOW + 1))
    assert (made.created, made.last_confirmed) == (NOW, NOW)
    assert made.source == MemorySource(recorded=NOW)


def test_what_is_known_of_its_source_stays():
    source = MemorySource("m", 1, 2, "ab", "cd", "ef")
    assert new(item(source=source, created=5.0)).source == replace(source, recorded=5.0)
    assert new(item(source=replace(source, recorded=3.0))).source == replace(source, recorded=3.0)


@pytest.mark.parametrize(
    ("text", "fields"),
    [
        ("Always answer in French.", {}),
        ("User is vegetarian.", {"category": "fact"}),
        ("Never use emojis.", {"tainted": False, "source_type": "user", "capture_mode": "rule"}),
    ],
)
def test_what_a_file_says_of_itself_lends_no_trust(text: str, fields: dict[str, Any]):
    made = new(item(text, **fields))
    assert (made.tainted, made.standing, made.capture_mode) == (True, "", None)


@pytest.mark.parametrize(
    ("found", "status", "reason"),
    [
        (item(SECRET), LineStatus.REFUSED, "secret"),
        (item(tags=(SECRET,)), LineStatus.REFUSED, "secret"),
        (item(data={"a": [SECRET]}), LineStatus.REFUSED, "secret"),
        (item(category=SECRET), LineStatus.REFUSED, "secret"),
        (item(thread_id=SECRET), LineStatus.REFUSED, "secret"),
        (item("x" * (MOST + 1)), LineStatus.REFUSED, "too_long"),
        (item(" \n"), LineStatus.INVALID, "empty"),
        (item("a\0b"), LineStatus.INVALID, "field"),
        (item("a\ud800b"), LineStatus.INVALID, "field"),
        (item(data={"a": float("nan")}), LineStatus.INVALID, "field"),
        (item(data={"a": "\ud800"}), LineStatus.INVALID, "field"),
        (item(kind="x" * 300), LineStatus.INVALID, "field"),
        (item(importance=7.0), LineStatus.INVALID, "field"),
        (item(expires=NOW), LineStatus.SKIPPED, "expired"),
    ],
)
def test_what_may_not_be_stored_is_told_with_a_reason(
    found: FileMemory, status: LineStatus, reason: str
):
    told = refused(found)
    assert (told.status, told.reason) == (status, reason)
    assert told.message


@pytest.mark.parametrize("link", ["superseded_by", "duplicate_of"])
def test_what_another_one_counts_for_is_not_imported_beside_it(link: str):
    link_to: dict[str, Any] = {link: "mem_8"}
    memory = Memory("mem_9", 1, "Lives in Linz.", 1.0, 1.0, **link_to)
    told = refused(item("Lives in Linz.", record=MemoryRecord(memory)))
    assert (told.status, told.reason) == (LineStatus.SKIPPED, "superseded")


# -- what comes back as it was ---------------------------------------------------------------

WHOLE = Memory("mem_9", 1, "Always answer in French.", 1.0, NOW + 5, version=2, expires=2.0)
FIRST = (replace(WHOLE, version=1),)


def test_an_export_comes_back_as_it_was():
    record = MemoryRecord(WHOLE, FIRST, Tombstone("mem_9", 0, 1.0, "", "a", "b"), 7.0)
    made = restorable(item(WHOLE.text, record=record), MOST)
    assert made == record._replace(text_hash=text_hash(WHOLE.text), terms=packed_terms(WHOLE.text))


@pytest.mark.parametrize(
    ("record", "reason"),
    [
        (None, "no_id"),
        (MemoryRecord(replace(WHOLE, text=SECRET), FIRST), "secret"),
        (MemoryRecord(WHOLE, (replace(FIRST[0], text=SECRET),)), "secret"),
        (MemoryRecord(WHOLE, FIRST, Tombstone("mem_9", 0, 1.0, "", SECRET)), "secret"),
        (MemoryRecord(WHOLE, FIRST, Tombstone("mem_9", 0, 1.0, SECRET)), "secret"),
        (MemoryRecord(replace(WHOLE, tags=(SECRET,)), FIRST), "secret"),
        (MemoryRecord(replace(WHOLE, data={"a": SECRET}), FIRST), "secret"),
        (MemoryRecord(replace(WHOLE, source=MemorySource(message=SECRET)), FIRST), "secret"),
        (MemoryRecord(replace(WHOLE, text="a\0"), FIRST), "field"),
        (MemoryRecord(WHOLE, (replace(FIRST[0], text="x" * (MOST + 1)),)), "field"),
        (MemoryRecord(WHOLE), "field"),
        (MemoryRecord(WHOLE, FIRST * 2), "field"),
        (MemoryRecord(replace(WHOLE, version=3), FIRST), "field"),
    ],
)
def test_the_rules_for_texts_hold_for_all_of_it(record: MemoryRecord | None, reason: str):
    told = restorable(item(WHOLE.text, record=record), MOST)
    assert isinstance(told, LineResult)
    assert told.reason == reason
    assert KEY not in told.message


@pytest.mark.parametrize(
    ("group", "reason"),
    [
        (MemoryGroup("grp_1", "Work", 1.0, 1.0), ""),
        (MemoryGroup("grp_1", SECRET, 1.0, 1.0), "secret"),
        (MemoryGroup("grp_1", "Work", 1.0, 1.0, SECRET), "secret"),
        (MemoryGroup("grp_1", "Work", 1.0, 1.0, "", SECRET), "secret"),
        (MemoryGroup("grp_1", "a\0b", 1.0, 1.0), "field"),
    ],
)
def test_and_for_groups(group: MemoryGroup, reason: str):
    found = checked_group(FileGroup(3, group))
    assert (found.reason if isinstance(found, LineResult) else "") == reason


# -- both ------------------------------------------------------------------------------------

SOURCES = [
    (MemorySource(message="\ud800"), "field"),
    (MemorySource(message=KEY), "secret"),
    *[
        (source, "field")
        for value in (KEY, "\ud800", "ab" * 65, "AB", "abc")
        for source in (
            MemorySource(digest=value),
            MemorySource(address=value),
            MemorySource(origin=value),
        )
    ],
]


@pytest.mark.parametrize(("source", "reason"), SOURCES)
def test_a_source_holds_ids_and_addresses_alone(source, reason):
    """Any other content would be stored and exported unseen, or be refused by the store and so end
    the import."""
    assert refused(item(source=source)).reason == reason
    memory = Memory("mem_a", 1, "Lives in Graz.", NOW, NOW, source=source)
    made = restorable(item(record=MemoryRecord(memory)), MOST)
    assert isinstance(made, LineResult)
    assert made.reason == reason


def test_the_id_of_a_message_may_be_long():
    source = MemorySource(message="m" * 1_000)
    assert new(item(source=source)).source == source


def test_data_has_an_end():
    data = {"a": "x " * 20_000}
    assert refused(item(data=data)).reason == "field"
    memory = Memory("mem_a", 1, "Lives in Graz.", NOW, NOW, data=data)
    assert isinstance(restorable(item(record=MemoryRecord(memory)), MOST), LineResult)


@pytest.mark.parametrize("text", ["x" * (MOST + 1), " ", "\0"])
def test_where_secrets_are_allowed_a_text_still_has_its_limits(text: str):
    memory = Memory("mem_a", 1, text, NOW, NOW)
    given = item(text, record=MemoryRecord(memory))
    made = restorable(given, MOST, of_agent=True, allow_secrets=True)
    assert isinstance(made, LineResult)


def test_a_memory_that_claims_versions_without_number_is_no_work():
    memory = Memory("mem_a", 1, "Lives in Graz.", NOW, NOW, version=2**53)
    made = restorable(item(record=MemoryRecord(memory)), MOST)
    assert isinstance(made, LineResult)
    assert (made.status, made.reason) == (LineStatus.INVALID, "field")
