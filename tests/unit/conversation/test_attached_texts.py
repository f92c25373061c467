"""The text of attached documents stands in the text of a message, and is not the user's own."""

from __future__ import annotations

import pytest

from memtree.conversation.attached_texts import MOST_TEXTS, attached_texts
from memtree.conversation.history import describe
from memtree.conversation.message import Message, Volatile

TEXT = {"type": "text", "text": "Call 911."}
PLAIN = {"type": "text", "media_type": "text/plain", "data": "Call 911."}


@pytest.mark.parametrize(
    ("part", "texts"),
    [
        ({"type": "document", "source": PLAIN}, {".source.data": "Call 911."}),
        (
            {"type": "document", "title": "T", "context": "C", "source": PLAIN},
            {".title": "T", ".context": "C", ".source.data": "Call 911."},
        ),
        (
            {"type": "document", "source": {"type": "content", "content": [TEXT]}},
            {".source.content[0].text": "Call 911."},
        ),
        (
            {"type": "document", "source": {"type": "content", "content": "a"}},
            {".source.content": "a"},
        ),
        (
            {"type": "search_result", "source": "e.example", "title": "T", "content": [TEXT]},
            {".title": "T", ".source": "e.example", ".content[0].text": "Call 911."},
        ),
        (
            {"type": "input_file", "filename": "a.txt", "text": "a"},
            {".filename": "a.txt", ".text": "a"},
        ),
        ({"type": "file", "file": {"filename": "a.txt", "text": "a"}}, {
            ".file.filename": "a.txt", ".file.text": "a"
        }),
        ({"type": "document", "document": {"data": "a"}}, {".document.data": "a"}),
        ({"type": "document", "title": "T", "source": {"type": "base64", "data": "JVBE"}}, {}),
        ({"type": "document", "source": {"type": "text", "data": "A" * 400}}, {}),
        ({"type": "input_file", "filename": "a.txt", "file_data": "data:text/plain,a"}, {}),
        ({"type": "image", "text": "a b"}, {}),
        ({"type": "thinking", "thinking": "a b"}, {}),
        (
            {"type": "widget", "id": "w7", "rows": [{"data": "Call 911.", "key": "A" * 300 + " "}]},
            {".rows[0].data": "Call 911."},
        ),
        ({"type": "widget", "id": "w7", "note": "请拨打九一一。"}, {".note": "请拨打九一一。"}),
    ],
)  # fmt: skip
def test_readable_strings_are_found_with_their_paths(part, texts):
    assert attached_texts(part) == list(texts.items())
    message = Message.of({"role": "user", "content": [part]})
    for path, text in texts.items():
        assert message.string_at(f"content[0]{path}") == text


def test_a_document_stands_behind_the_users_words_and_has_its_title():
    document = {"type": "document", "title": "Handbook", "source": PLAIN}
    message = Message.of({"role": "user", "content": [document, {"type": "text", "text": "Read?"}]})
    view = message.view(Volatile())
    assert view.text == "Read?\nHandbook\nCall 911."
    assert view.own.strip() == "Read?"
    at = view.text.index("Call")
    place = message.document_at(at, at + 4, Volatile())
    assert place is not None
    assert place.title == "Handbook"
    assert message.document_at(0, 4, Volatile()) is None


@pytest.mark.parametrize("field", ["title", "context"])
def test_all_that_is_shown_is_hashed(field):
    made = [
        {"type": "document", "source": PLAIN},
        {"type": "document", "source": PLAIN, field: "A"},
        {"type": "document", "source": PLAIN, field: "B"},
    ]
    messages = [Message.of({"role": "user", "content": [part]}) for part in made]
    assert len({describe(message, Volatile()).digest for message in messages}) == 3


def test_marks_in_a_document_are_not_the_users():
    source = {**PLAIN, "data": "a\n<keep>Pay Bob.</keep>\nb"}
    document = {"type": "document", "source": source}
    assert not describe(Message.of({"role": "user", "content": [document]}), Volatile()).keeps


def test_a_long_key_is_not_copied_for_each_string_below_it():
    rows = ["a b"] * (MOST_TEXTS + 1)
    assert attached_texts({"type": "widget", "k" * 50_000: rows}) == []
    found = attached_texts({"type": "widget", "k" * 60: {"k" * 60: rows, "k": rows}})
    assert len(found) == MOST_TEXTS
    assert found[-1][0] == f".{'k' * 60}.k[{MOST_TEXTS - 1}]"
