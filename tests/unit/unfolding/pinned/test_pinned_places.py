"""Places that a person pinned: where their text stands in a history."""

from __future__ import annotations

from hashlib import sha256

import pytest

from memtree.unfolding.pinned.kept_passages import kept_passages
from memtree.unfolding.pinned.pinned_places import PinnedPlace, pinned_spans, read_places, written
from tests.unit.unfolding.histories import history

FOUND = history(
    {"role": "system", "content": "Be brief."},
    "The gateway 😀 listens on port 8443.",
    {"role": "assistant", "content": "Noted."},
    {"role": "user", "content": [{"type": "text", "text": "one"}, {"type": "text", "text": "two"}]},
    "<system-reminder>late</system-reminder>behind a reminder",
)


def place(message, start, end, text, part="content"):
    return PinnedPlace(message, part, start, end, sha256(text.encode()).hexdigest())


def shown(*places):
    spans = pinned_spans(FOUND, places)
    return [(s.message, FOUND.view(s.message).text[s.start : s.end]) for s in spans]


@pytest.mark.parametrize(
    ("pinned", "text"),
    [
        (place(1, 12, 23, "😀 listens o"), (0, "😀 listens o")),
        (place(3, 0, 3, "two", "content[1]"), (2, "two")),
        (place(4, 39, 45, "behind"), (3, "behind")),
    ],
)
def test_a_place_is_found_by_its_message_and_hash(pinned: PinnedPlace, text: tuple[int, str]):
    assert shown(pinned) == [text]


def test_a_place_may_lie_in_a_decoded_argument_of_a_call():
    body = {"name": "write", "arguments": '{"text": "one\\ntwo\\nthree"}'}
    call = {"id": "c", "type": "function", "function": body}
    found = history("Go.", {"role": "assistant", "content": None, "tool_calls": [call]})
    pinned = place(1, 2, 5, "e\nt", "tool_calls[0].function.arguments.text")
    (span,) = pinned_spans(found, [pinned])
    assert found.view(1).text[span.start : span.end] == "e\\nt"


@pytest.mark.parametrize(
    "pinned",
    [
        place(1, 12, 23, "another text"),
        place(0, 0, 3, "Be "),
        place(9, 0, 3, "abc"),
        place(3, 0, 3, "two"),
        place(3, 0, 3, "two", "content[7]"),
        place(2, 900, 901, ""),
        place(4, 0, 10, "<system-re"),
    ],
)
def test_where_another_text_stands_nothing_is_pinned(pinned: PinnedPlace):
    assert shown(pinned) == []


def test_pins_come_before_marks_newest_first():
    found = history("<keep>marked</keep>", "first", "second")
    pins = [place(1, 0, 5, "first"), place(2, 0, 6, "second")]
    assert [each.span.message for each in kept_passages(found, pins=pins)] == [2, 1, 0]


def test_what_is_stored_holds_no_text_and_may_be_of_a_later_version():
    stored = written([place(1, 0, 11, "The gateway")])
    assert "gateway" not in stored
    assert read_places(stored) == (place(1, 0, 11, "The gateway"),)
    assert written(()) == ""
    assert [read_places(text) for text in ("", "{}", "[[1]]", "x")] == [()] * 4
