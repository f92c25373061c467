"""Entries of a file as they are read and checked, and what the report says."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

import pytest

from memtree.memories.memory import Memory, MemorySource, NewMemory, Tombstone
from memtree.memories.memory_store import MemoryRecord
from memtree.memories.search.vector_bytes import packed_terms
from memtree.memories.user_memories import MemoryGroup
from memtree.text.normal_form import text_hash
from memtree.transfer.file_items import (
    BROKEN,
    CUT_OFF,
    MOST_LINES,
    FileGroup,
    FileMemory,
    ImportReport,
    LineResult,
    LineStatus,
)
from memtree.transfer.import_rules import checked_group, importable, restorable
from memtree.transfer.json_entries import (
    MOST_VALUES,
    FileEntry,
    RepeatedKeys,
    document_entries,
    line_entries,
)

# ------------------------------------------------------------------------------------------------
# Checked.


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


# ------------------------------------------------------------------------------------------------
# Json entries.


JSON_ENTRIES_SECRET = "the user's own words"


def shown(found: Iterable[FileEntry | LineResult]) -> list[tuple[Any, ...]]:
    return [
        (one.line, one.reason) if isinstance(one, LineResult) else (one.line, one.key, one.value)
        for one in found
    ]


# -- lines -----------------------------------------------------------------------------------


def test_each_line_is_an_entry_whatever_its_end():
    raw = b'{"a": 1}\r\n\n  \t\r\n{"b": "x\xe2\x80\xa8y"}\n[2]'
    assert shown(line_entries(raw)) == [
        (1, "", {"a": 1}), (4, "", {"b": "x\u2028y"}), (5, "", [2]),
    ]  # fmt: skip


def test_a_broken_line_costs_itself():
    raw = b'{"a": 1}\n{"a": \n{"a": "\xff"}\n{"a": 1} {"b": 2}\n{"a": 5}\n'
    assert shown(line_entries(raw)) == [
        (1, "", {"a": 1}), (2, "json"), (3, "encoding"), (4, "", {"a": 1}), (4, "", {"b": 2}),
        (5, "", {"a": 5}),
    ]  # fmt: skip


@pytest.mark.parametrize("last", [b'{"a": "b', b'{"a": 1', b'{"a', b"{", b'{"a": tr'])
def test_half_of_a_last_line_is_told_from_a_broken_one(last: bytes):
    assert shown(line_entries(b'{"a": 1}\n' + last)) == [(1, "", {"a": 1}), (2, "cut_off")]


def test_no_message_holds_what_was_read():
    raw = b'{"a": 1}\n{"%s": "\xff"}\n{"%s": }\n{"%s": "' % ((JSON_ENTRIES_SECRET.encode(),) * 3)
    told = [one.message for one in line_entries(raw) if isinstance(one, LineResult)]
    assert told[0] == f"not text in UTF-8, byte {len(JSON_ENTRIES_SECRET) + 6}"
    assert told[1] == f"column {len(JSON_ENTRIES_SECRET) + 6}: not valid JSON: Expecting value"
    assert len(told) == 3
    assert not any(JSON_ENTRIES_SECRET in message for message in told)


def test_a_stub_in_front_of_a_line_costs_itself():
    raw = b'{"text": "a", "id": 1}\n{"text": "b{"text": "c", "id": 2}\n\0\0{"text": "d"}\0\n'
    assert shown(line_entries(raw)) == [
        (1, "", {"text": "a", "id": 1}), (2, "json"), (2, "", {"text": "c", "id": 2}),
        (3, "", {"text": "d"}),
    ]  # fmt: skip


def test_documents_one_behind_the_other_count_as_one():
    assert shown(document_entries('[{"a": 1}, 2]\n[]\n[3]{"b": [4], "c": 5}')) == [
        (1, "", {"a": 1}), (2, "", 2), (3, "", 3), (1, "b", 4), (1, "c", 5),
    ]  # fmt: skip


def test_what_is_no_object_stands_alone_on_its_line():
    raw = b'{"a": 1} "b"\n "entities": [\n"c"\n5 {"a": 2}\n{}'
    assert shown(line_entries(raw)) == [
        (1, "", {"a": 1}), (1, "json"), (2, "json"), (3, "", "c"), (4, "json"), (4, "", {"a": 2}),
        (5, "", {}),
    ]  # fmt: skip


def test_an_object_with_a_key_twice_is_marked():
    (first, second) = line_entries(b'{"a": 1, "a": 2}\n{"a": {"b": 1, "b": 2}}')
    assert isinstance(first, FileEntry)
    assert isinstance(first.value, RepeatedKeys)
    assert isinstance(second, FileEntry)
    assert not isinstance(second.value, RepeatedKeys)


@pytest.mark.parametrize(
    "bomb", ["[" * 100_000, '{"a":' * 100_000, "]]" * 50_000, "[[" * 50 + "]]" * 50_000]
)
def test_deep_lines_are_invalid(bomb: str):
    found = list(line_entries(b'{"a": 1}\n' + bomb.encode() + b"\n{}\n"))
    assert [type(one) for one in found] == [FileEntry, LineResult, FileEntry]


def test_numbers_beyond_what_a_database_holds_are_no_integers():
    raw = b'{"a": 1%s, "b": 9223372036854775807}' % (b"0" * 9_000)
    ((_, _, value),) = shown(line_entries(raw))
    assert value == {"a": float("inf"), "b": 2**63 - 1}


# -- documents -------------------------------------------------------------------------------


@pytest.mark.parametrize("space", ["", " ", "\r\n\t "])
def test_lists_of_a_document_are_gone_through_one_by_one(space: str):
    text = space.join('{|"a"|:|[|{"b":1}|,|2|]|,|"c"|:|"x,]}"|,|"d"|:|[|]|}|'.split("|"))
    assert shown(document_entries(text)) == [
        (1, "a", {"b": 1}), (2, "a", 2), (1, "c", "x,]}"),
    ]  # fmt: skip


def test_a_list_is_a_document_as_well():
    assert shown(document_entries(' [{"a": "]"}, [1], "b"] ')) == [
        (1, "", {"a": "]"}), (2, "", [1]), (3, "", "b"),
    ]  # fmt: skip
    assert shown(document_entries("[]")) == shown(document_entries("{}")) == []


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ('[{"a": 1}, {"a": 2', "cut_off"),
        ('[{"a": 1}, {"a": "2', "cut_off"),
        ('[{"a": 1},', "cut_off"),
        ('[{"a": 1}', "cut_off"),
        ('[{"a": 1} {"a": 2}]', "broken"),
        ('[{"a": 1}, nonsense]', "broken"),
        ('[{"a": 1}, {"a": 2]]', "broken"),
        ('[{"a": 1}, ' + "[" * 100_000, "broken"),
        ('[{"a": 1}]]', "json"),
    ],
)
def test_what_stands_before_a_break_is_read(text: str, reason: str):
    first, last = shown(document_entries(text))
    assert first == (1, "", {"a": 1})
    assert last[1] == reason


@pytest.mark.parametrize("text", ['{"a": 1, "b"', '{"a": 1, b: 2}', '{"a": 1', '{"a": 1, []: 2}'])
def test_a_broken_object_as_well(text: str):
    first, last = document_entries(text)
    assert first == FileEntry(1, 1, "a")
    assert isinstance(last, LineResult)
    assert last.status is LineStatus.INVALID


@pytest.mark.slow
def test_an_entry_of_too_many_values_is_refused_and_not_built():
    bomb = "[" + "0," * MOST_VALUES + "0]"
    text = f'[{{"a": 1}}, {bomb}, {{"b": "{{[,"}}, 7, "x,y"]'
    assert shown(document_entries(text)) == [
        (1, "", {"a": 1}), (2, "too_large"), (3, "", {"b": "{[,"}), (4, "", 7), (5, "", "x,y"),
    ]  # fmt: skip
    assert shown(document_entries(f'{{"a": {{"b": {bomb}}}, "c": 5}}')) == [
        (1, "too_large"), (1, "c", 5),
    ]  # fmt: skip
    assert shown(line_entries(f"{bomb}\n5\n".encode())) == [(1, "too_large"), (2, "", 5)]


# ------------------------------------------------------------------------------------------------
# Report.


IMPORTED = LineResult(1, LineStatus.IMPORTED, id="mem_1")


def built() -> ImportReport:
    return ImportReport(dry_run=True, keep_ids=False, format="mem0")


def test_every_line_is_counted_once():
    builder = built()
    for result in (
        LineResult(4, LineStatus.INVALID, "json", "not JSON"),
        IMPORTED,
        LineResult(2, LineStatus.IMPORTED, id="mem_2", tainted=True),
        LineResult(3, LineStatus.DUPLICATE, id="mem_1"),
        LineResult(5, LineStatus.SKIPPED, "expired"),
        LineResult(6, LineStatus.REFUSED, "secret"),
        LineResult(7, LineStatus.REFUSED, "secret"),
    ):
        builder.add(result)
    report = builder
    assert (report.read, report.imported, report.skipped, report.failed) == (7, 2, 2, 3)
    assert report.tainted == 1
    assert report.reasons == {"duplicate": 1, "expired": 1, "json": 1, "secret": 2}
    assert [result.line for result in report.lines] == [1, 2, 3, 4, 5, 6, 7]
    assert (report.format, report.dry_run, report.complete) == ("mem0", True, True)
    assert not report.truncated


def test_problems_have_a_room_of_their_own():
    builder = built()
    for at in range(3 * MOST_LINES):
        builder.add(IMPORTED._replace(line=at + 1))
    builder.add(LineResult(9_999, LineStatus.INVALID, "json"))
    report = builder
    assert len(report.lines) == MOST_LINES + 1
    assert report.lines[-1].line == 9_999
    assert report.imported == 3 * MOST_LINES
    assert report.truncated


def test_a_file_that_breaks_off_is_not_complete():
    for reason in (CUT_OFF, BROKEN):
        builder = built()
        builder.add(LineResult(3, LineStatus.INVALID, reason, "the file breaks off here"))
        report = builder
        assert not report.complete
        assert report.stopped == "the file breaks off here (line 3)"


def test_a_warning_is_said_once():
    builder = built()
    for message in ("a", "b", "a"):
        builder.warn(message)
    assert builder.warnings == ("a", "b")
