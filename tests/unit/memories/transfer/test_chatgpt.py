from __future__ import annotations

import json
from typing import Any

import pytest

from memtree.memories.transfer.file_items import FileMemory, LineResult
from memtree.memories.transfer.foreign_formats import without_marks
from memtree.memories.transfer.memory_file import read_memory_file


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
