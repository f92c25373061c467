"""Files that other programs wrote."""

from __future__ import annotations

import json
from typing import Any

import pytest

from memtree.transfer.file_items import FileMemory, LineResult, LineStatus
from memtree.transfer.foreign_formats import (
    MOST_DATA_CHARS,
    found_tags,
    kept_data,
    list_items,
    list_line,
    moment,
    without_marks,
)
from memtree.transfer.memory_file import read_memory_file

# ------------------------------------------------------------------------------------------------
# Foreign.


@pytest.mark.parametrize(
    ("value", "seconds"),
    [
        ("2026-03-07T10:30:00Z", 1772879400.0),
        ("2026-03-07T02:30:00.5-08:00", 1772879400.5),
        ("2026-03-07", 1772841600.0),
        (1772879400, 1772879400.0),
        (1772879400.25, 1772879400.25),
        (1772879400000, 1772879400.0),
        ("yesterday", None),
        ("", None),
        (None, None),
        (True, None),
        (-5, None),
        (float("nan"), None),
        (float("inf"), None),
        (["2026-03-07"], None),
    ],
)
def test_times_are_taken_as_programs_write_them(value: object, seconds: float | None):
    assert moment(value) == seconds


@pytest.mark.parametrize(
    ("values", "tags"),
    [
        (["Food", "food", 5, None, "x" * 40, " ", "Family Trip"], ("food", "family-trip")),
        ([str(n) for n in range(50)], tuple(str(n) for n in range(32))),
        ("food", ()),
        (None, ()),
        ({"a": 1}, ()),
    ],
)
def test_those_that_can_be_tags_are_kept(values: object, tags: tuple[str, ...]):
    assert found_tags(values) == tags


def deep(levels: int) -> dict[str, Any]:
    value: dict[str, Any] = {}
    for _ in range(levels):
        value = {"a": [value]}
    return value


@pytest.mark.parametrize("value", [{"a": 1}, {"a": [1, {"b": None}]}, deep(6)])
def test_a_plain_object_is_kept(value: dict[str, Any]):
    assert kept_data(value) == value


@pytest.mark.parametrize(
    "value",
    [{}, None, [1], "a", {"a": "x" * MOST_DATA_CHARS}, deep(9), deep(5_000), {"a": float("nan")}],
)
def test_what_is_too_large_or_too_deep_is_not(value: object):
    assert kept_data(value) is None


# ------------------------------------------------------------------------------------------------
# Chatgpt.


def message(parts: list[Any], recipient: str = "all", **more: Any) -> dict[str, Any]:
    return {
        "author": {"role": "assistant", "name": None, "metadata": {}},
        "create_time": 1772879400.5,
        "content": {"content_type": "text", "parts": parts},
        "recipient": recipient,
        "metadata": {},
        **more,
    }


def conversation(*messages: Any) -> dict[str, Any]:
    """A conversation as `conversations.json` has it: a tree of nodes."""
    nodes = {"root": {"id": "root", "message": None, "parent": None, "children": ["n0"]}}
    for at, one in enumerate(messages):
        nodes[f"n{at}"] = {"id": f"n{at}", "message": one, "parent": "root", "children": []}
    return {"title": "A talk", "create_time": 1.0, "mapping": nodes, "current_node": "root"}


def read(value: Any, format_: str = "auto") -> tuple[str, list[Any]]:
    file = read_memory_file(json.dumps(value).encode(), format_)
    return file.format, list(file.items)


SAVED = message(["User lives in Graz."], "bio")
TOLD = message(["Model set context updated."], author={"role": "tool", "name": "bio"})


def test_what_the_model_saved_is_found_in_every_branch():
    later = message(["User likes tea."], "bio", create_time=1772879401)
    talk = conversation(later, message(["Noted."]), TOLD, SAVED)
    for document in ([talk, conversation(message(["Hello"]))], talk):
        format_, found = read(document)
        assert format_ == "chatgpt"
        assert [(one.text, one.created) for one in found] == [
            ("User lives in Graz.", 1772879400.5),
            ("User likes tea.", 1772879401.0),
        ]


def test_a_request_to_forget_is_no_memory():
    _, (found,) = read([conversation(message(["Forget that the user likes tea."], "bio"))])
    assert isinstance(found, LineResult)
    assert found.reason == "forget_request"
    assert "tea" not in found.message


def test_the_list_that_a_conversation_began_with_is_read():
    known = (
        "1. [2026-03-02]. Works night\nshifts.\n\n2. [2026-04-11]. Is allergic \ue200x\ue201to it."
    )
    content = {"content_type": "model_editable_context", "model_set_context": known}
    _, found = read([conversation(message([], content=content), SAVED)])
    assert [one.text for one in found] == [
        "Works night\nshifts.", "User lives in Graz.", "Is allergic to it.",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("Quick. \ue200cite\ue202turn0search3\ue202turn0news1\ue201 It", "Quick. It"),
        ('At \ue200entity\ue202["place","Café \\"X\\"",0]\ue201.', 'At Café "X".'),
        ("At \ue200entity\ue202[broken\ue201.", "At."),
        ("See \ue200url\ue202the page\ue202https://a.b\ue201", "See the page"),
        ("\ue200link_title\ue202Open Site\ue202s1\ue201 and", "Open Site and"),
        ("a\ue200filecite\ue202turn0file0\ue202L1-L2\ue201b", "ab"),
        ("cut \ue200cite\ue202turn0sea", "cut "),
        ("\ue200\ue200cite\ue202a\ue201\ue201\ue202", ""),
        ("Ten 【4:0†source】 or 【12†notes.pdf】.", "Ten or."),
        ("【a】 † 【a†b】 plain", "【a】 † 【a†b】 plain"),
    ],
)
def test_marks_go_and_their_labels_stay(text: str, left: str):
    assert without_marks(text) == left


def test_nothing_else_of_a_conversation_is_one():
    odd = [
        message(["User lives in Linz."]),
        message(["User lives in Linz."], "bio", author={"role": "user"}),
        message([{"content_type": "image_asset_pointer"}], "bio"),
        message(["x"], "bio", content="x"),
        message(["x"], "bio", content={"content_type": "text"}),
        TOLD,
        "text",
        None,
    ]
    assert read([conversation(SAVED, *odd)])[1] == [
        FileMemory(1, "User lives in Graz.", created=1772879400.5)
    ]


def test_a_copied_list_is_read_under_this_name_as_well():
    file = read_memory_file(b"Lives in Graz.\nLikes tea.", "chatgpt")
    assert file.format == "chatgpt"
    assert [getattr(one, "text", "") for one in file.items] == ["Lives in Graz.", "Likes tea."]


# ------------------------------------------------------------------------------------------------
# Claude ai.


TEXT = """**Work context**

Nora is a ceramic artist in Ghent.
She sells online.

# Brief history
*Recent months*:
- Keeps bees.
* Likes *tea*
2. [2026-03-07] Moved to Linz.

**She is never to be called before noon.**
"""
POINTS = [
    ("Nora is a ceramic artist in Ghent.\nShe sells online.", ("work-context",)),
    ("Keeps bees.", ("brief-history", "recent-months")),
    ("Likes *tea*", ("brief-history", "recent-months")),
    ("Moved to Linz.", ("brief-history", "recent-months")),
    ("**She is never to be called before noon.**", ("brief-history", "recent-months")),
    ("Rebuilds her shop.", ()),
    ("Uses Astro.", ("notes",)),
]
EXPORT = {
    "conversations_memory": TEXT.replace("\n", "\r\n"),
    "project_memories": {"p1": "Rebuilds her shop."},
    "memory_files": [{"path": "/a.md", "content": "## Notes\nUses Astro."}],
    "account_uuid": "a",
}


def claude_ai_read(value: Any, **how: Any) -> list[FileMemory]:
    file = read_memory_file(json.dumps(value, **how).encode())
    assert file.format == "claude-ai"
    items = list(file.items)
    assert all(isinstance(item, FileMemory) for item in items)
    return [item for item in items if isinstance(item, FileMemory)]


@pytest.mark.parametrize("indent", [None, 1])
def test_each_point_is_a_memory_with_its_heading_as_a_tag(indent: int | None):
    for value in ([EXPORT], EXPORT):
        assert [(item.text, item.tags) for item in claude_ai_read(value, indent=indent)] == POINTS
    dated = next(item for item in claude_ai_read(EXPORT) if item.text == "Moved to Linz.")
    assert dated.created == 1772841600.0


def test_fields_that_are_missing_or_odd_are_no_memories():
    odd = {"conversations_memory": None, "project_memories": {"p": 5}, "memory_files": [[], {}, 1]}
    assert claude_ai_read([odd, {"project_memories": "Paints."}])[0].text == "Paints."
    items = list(read_memory_file(json.dumps([EXPORT, 5]).encode()).items)
    assert isinstance(items[-1], LineResult)
    assert items[-1].reason == "not_an_object"


# ------------------------------------------------------------------------------------------------
# Fixtures in the shape of what mem0's `get_all` answers, and of both files of OpenMemory's backup.


CREATED = "2026-03-07T02:30:00.123456-08:00"
TEA: dict[str, Any] = {
    "id": "0b8f8f6e-8a8e-4b5f-9f4e-5d1f6f6f0001",
    "memory": "Likes green tea",
    "hash": "d41d8cd98f00b204e9800998ecf8427e",
    "metadata": {"app": "kitchen"},
    "categories": ["Food", "preferences"],
    "created_at": CREATED,
    "updated_at": None,
    "user_id": "ada",
}
DOG = {"id": "2", "memory": "Has a beagle named Otto", "user_id": "ada", "categories": None}
BACKUP: dict[str, Any] = {
    "user": {"id": "u", "user_id": "ada", "name": None, "email": None, "metadata": {}},
    "apps": [{"id": "p", "name": "openmemory", "description": None, "is_active": True}],
    "categories": [{"id": "c1", "name": "Home"}, {"id": "c2", "name": "Pets"}],
    "memories": [
        {"id": "1", "user_id": "u", "content": "Lives in Graz", "metadata": {"a": 1},
         "state": "active", "created_at": "2026-03-07T10:30:00+00:00",
         "category_ids": ["c1", "c9"]},
        {"id": "2", "user_id": "u", "content": "Lived in Linz", "state": "deleted"},
        {"id": "3", "user_id": "u", "content": "Has a cat", "state": "paused"},
        {"id": "4", "user_id": "u", "content": None, "state": "active"},
    ],
    "memory_categories": [{"memory_id": "1", "category_id": "c1"}],
    "status_history": [],
    "export_meta": {"version": "1"},
}  # fmt: skip


@pytest.mark.parametrize(
    "document",
    [
        {"results": [TEA, DOG]},
        {"count": 2, "next": None, "previous": None, "results": [TEA, DOG]},
        [TEA, DOG],
        {"memories": [TEA, DOG]},
    ],
)
def test_every_form_of_mem0_is_read(document: Any):
    format_, (tea, dog) = read(document)
    assert format_ == "mem0"
    assert tea == FileMemory(
        1,
        "Likes green tea",
        tags=("food", "preferences"),
        created=1772879400.123456,
        data={"app": "kitchen"},
        user="ada",
    )
    assert (dog.text, dog.created, dog.tags) == ("Has a beagle named Otto", None, ())


def test_an_expiration_date_is_kept():
    _, (tea,) = read({"results": [{**TEA, "expiration_date": "2026-03-07"}]})
    assert tea.expires == 1772841600.0


def test_what_is_no_memory_of_mem0_is_told():
    graph = [{"source": "ada", "relationship": "likes", "target": "tea"}]
    _, found = read({"results": [TEA, {"memory": 5}, "text"], "relations": graph})
    assert [(one.line, one.reason) for one in found[1:]] == [
        (2, "no_text"), (3, "not_an_object"), (1, "relation"),
    ]  # fmt: skip


def test_the_document_of_openmemory_is_read():
    format_, found = read(BACKUP)
    assert format_ == "openmemory"
    assert found[0] == FileMemory(
        1, "Lives in Graz", tags=("home",), created=1772879400.0, data={"a": 1}, user="u"
    )
    assert [(one.line, one.status, one.reason) for one in found[1:]] == [
        (2, LineStatus.SKIPPED, "not_active"),
        (3, LineStatus.SKIPPED, "not_active"),
        (4, LineStatus.INVALID, "no_text"),
    ]


def test_its_lines_name_their_categories():
    lines = [
        {"id": "1", "content": "Lives in Graz", "metadata": {}, "created_at": CREATED,
         "updated_at": CREATED, "state": "active", "app": "openmemory", "categories": ["Home"]},
        {"id": "2", "content": "Lived in Linz", "state": "archived", "categories": []},
        {"id": "3", "content": "x", "state": "never heard of"},
    ]  # fmt: skip
    raw = "".join(json.dumps(line) + "\n" for line in lines).encode()
    file = read_memory_file(raw)
    first, *others = file.items
    assert file.format == "openmemory"
    assert first == FileMemory(1, "Lives in Graz", tags=("home",), created=1772879400.123456)
    messages = [one.message for one in others if isinstance(one, LineResult)]
    assert messages == [
        "it is archived where it comes from",
        "it is not active where it comes from",
    ]


# ------------------------------------------------------------------------------------------------
# Plain list.


DAY = 1772841600.0


@pytest.mark.parametrize(
    ("line", "text", "created"),
    [
        ("Lives in Graz.", "Lives in Graz.", None),
        ("  - Lives in Graz.  ", "Lives in Graz.", None),
        ("* Lives in Graz.", "Lives in Graz.", None),
        ("• Lives in Graz.", "Lives in Graz.", None),
        ("12. Lives in Graz.", "Lives in Graz.", None),
        ("(3) Lives in Graz.", "Lives in Graz.", None),
        ("- [x] Lives in Graz.", "Lives in Graz.", None),
        ("1. [2026-03-07]. Lives in Graz.", "Lives in Graz.", DAY),
        ("[2026-03-07] - Lives in Graz.", "Lives in Graz.", DAY),
        ("[2026-03-07]: Lives in Graz.", "Lives in Graz.", DAY),
        ("1.[2026-03-07] Lives in Graz.", "Lives in Graz.", DAY),
        ("[2026-03-07 10:30] Lives in Graz.", "Lives in Graz.", DAY + 37_800),
        ("[2026-13-07] Lives in Graz.", "Lives in Graz.", None),
        ("[maybe] Lives in Graz.", "[maybe] Lives in Graz.", None),
        ("3.5 litres of tea a day", "3.5 litres of tea a day", None),
        ("-5 degrees is too cold", "-5 degrees is too cold", None),
        ("2026 is the year of the move", "2026 is the year of the move", None),
    ],
)
def test_marks_and_dates_are_no_part_of_a_text(line: str, text: str, created: float | None):
    assert list_line(line) == (text, created)


def test_each_line_with_a_word_is_a_memory():
    raw = "# Saved memories\r\n\r\n- Lives in Graz.\r\n---\n```\n  \n2. Likes tea 🍵\n".encode()
    raw += b"\xff\xfe\n* \n"
    first, second, broken = list_items(raw)
    assert first == FileMemory(3, "Lives in Graz.")
    assert second == FileMemory(7, "Likes tea 🍵")
    assert (broken.line, getattr(broken, "reason", "")) == (8, "encoding")


# ------------------------------------------------------------------------------------------------
# Server memory.


ADA = {
    "type": "entity",
    "name": "Ada Klein",
    "entityType": "person",
    "observations": ["Plays the cello", "Speaks French "],
}
LAB = {"type": "entity", "name": "Harbour Lab", "entityType": "organization", "observations": []}
WORKS = {"type": "relation", "from": "Ada Klein", "to": "Harbour Lab", "relationType": "works_at"}
TEXTS = [
    "Ada Klein: Plays the cello",
    "Ada Klein: Speaks French",
    "Harbour Lab: organization",
    "Ada Klein works at Harbour Lab",
]


def server_memory_read(*lines: Any) -> tuple[str, list[Any]]:
    file = read_memory_file("\n".join(json.dumps(line) for line in lines).encode())
    return file.format, list(file.items)


def test_each_observation_and_each_relation_is_a_memory():
    format_, found = server_memory_read(ADA, LAB, WORKS)
    assert format_ == "server-memory"
    assert [one.text for one in found] == TEXTS
    assert [one.line for one in found] == [1, 1, 2, 3]
    assert [one.tags for one in found] == [("person",), ("person",), ("organization",), ()]


def test_a_graph_that_the_tool_answers_is_read_as_well():
    graph = {"entities": [ADA, LAB], "relations": [WORKS]}
    format_, found = server_memory_read(graph)
    assert (format_, [one.text for one in found]) == ("server-memory", TEXTS)


def test_one_line_is_a_file():
    assert [one.text for one in server_memory_read(ADA)[1]] == TEXTS[:2]


def test_what_is_broken_is_told_and_the_rest_is_read():
    _, found = server_memory_read(
        {**ADA, "observations": ["Plays the cello", 7]},
        {**ADA, "name": " "},
        {**ADA, "observations": "Plays the cello"},
        {**WORKS, "to": None},
        {"type": "note", "entityType": "x"},
        {**LAB, "observations": ["Opened in 2019"]},
    )
    told = [one.text if isinstance(one, FileMemory) else (one.line, one.reason) for one in found]
    assert told == [
        "Ada Klein: Plays the cello",
        (1, "not_a_memory"),
        (2, "not_a_memory"),
        (3, "not_a_memory"),
        (4, "not_a_memory"),
        (5, "not_a_memory"),
        "Harbour Lab: Opened in 2019",
    ]
