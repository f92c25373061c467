"""Every form of an answer is read, and none breaks it."""

from __future__ import annotations

import json

import pytest

from memtree.memories.extraction.model_prompt import ModelNote, ModelNotes, read

NOTE = {"message": "1", "quote": "I am Jo", "text": "User is Jo.", "category": "fact"}
KEPT = ModelNote("1", "I am Jo", "User is Jo.", "fact")
IDS = ["1", "2"]


def answer(*notes: object) -> str:
    return json.dumps({"memories": list(notes)})


@pytest.mark.parametrize(
    "text",
    [
        answer(NOTE),
        f"Sure, here it is:\n```json\n{answer(NOTE)}\n```\nAnything else?",
        json.dumps([NOTE]),
        json.dumps(NOTE),
        f"<think>The user [is] {{Jo}}.</think>{answer(NOTE)}",
        answer(NOTE, NOTE),
        answer(NOTE)[:-1] + ", ",
        f'{{"memories": [{json.dumps(NOTE)}, {{"message": "2", "quo',
        answer(NOTE | {"message": 1, "more": 5}),
        answer(NOTE | {"message": "Message 1"}),
        answer(NOTE | {"text": "User\n is   Jo.", "category": "FACT"}),
    ],
)
def test_a_note_is_read_whatever_stands_around_it(text: str) -> None:
    assert read(text, IDS) == ModelNotes((KEPT,), readable=True)


@pytest.mark.parametrize("text", ['{"memories": []}', "[]", "Nothing to note: []"])
def test_nothing_to_note_is_an_answer(text: str) -> None:
    assert read(text, IDS) == ModelNotes((), readable=True)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "I cannot help with that.",
        "{",
        "[" * 5_000,
        '{"a": ' * 5_000,
        '{"error": "busy"}',
        '{"memories": "none"}',
        '{"memories": [{"message": "1", "quote": "I am',
        "<think>" + answer(NOTE),
    ],
)
def test_what_is_no_answer_is_told(text: str) -> None:
    assert read(text, IDS) == ModelNotes((), readable=False)


@pytest.mark.parametrize(
    "change",
    [
        {"quote": ""},
        {"quote": 5},
        {"text": " "},
        {"text": ["User is Jo."]},
        {"text": "x" * 3_000},
    ],
)
def test_a_note_that_lacks_something_is_none(change: dict[str, object]) -> None:
    assert read(answer(NOTE | change), IDS) == ModelNotes((), readable=True)


@pytest.mark.parametrize("message", ["3", True, None, ["1"], "I am Jo, and I"])
def test_a_note_that_names_no_message_is_told_without_one(message: object) -> None:
    [note] = read(answer(NOTE | {"message": message}), IDS).notes
    assert note == ModelNote("", "I am Jo", "User is Jo.", "fact")


@pytest.mark.parametrize("category", ["instruction", "", None, 7])
def test_a_category_that_was_not_asked_for_is_general(category: object) -> None:
    [note] = read(answer(NOTE | {"category": category}), IDS).notes
    assert note.category == "general"


def test_the_notes_of_an_answer_are_bounded() -> None:
    notes = [NOTE | {"text": f"User is {number}."} for number in range(1_000)]
    assert len(read(answer(*notes), IDS).notes) == 200
