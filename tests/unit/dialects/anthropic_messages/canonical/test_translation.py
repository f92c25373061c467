"""Positions and marks of the canonical messages of a posted list. What is read from a known
beginning on is what is read anew: `tests/properties/dialects/test_translating_on.py`."""

from __future__ import annotations

import msgspec
import pytest

from memtree.dialects.anthropic_messages import posted_message, posted_request
from memtree.dialects.anthropic_messages.posted_request import ASIDE, JOINED, TranslatedList
from memtree.dialects.translated_messages import RawItems, raw_items
from memtree.wire import json_body
from tests.wire.messages.messages_shorthand import (
    assistant,
    called,
    result,
    server_call,
    text,
    user,
)

NOTE = {"role": "system", "content": "n"}
TALK = [
    user("a"),
    NOTE,
    assistant(text("b"), called("t", "n", {})),
    user([result("t", "r"), text("c")]),
    NOTE,
    assistant(server_call("s")),
    user("d"),
]


class Posted:
    """Record of which posted messages were looked at."""

    def __init__(self, talk: list[dict]) -> None:
        body = json_body.split(msgspec.json.encode({"messages": talk}))
        raws = raw_items(body, "messages")
        assert raws is not None
        self.raws: RawItems = raws
        self.looked: list[int] = []

    def __getitem__(self, place: int) -> posted_message.PostedMessage:
        self.looked.append(place)
        return posted_message.read(self.raws[place], f"messages[{place}]")


def translated(
    talk: list[dict], known: TranslatedList = posted_request.NOTHING, start: int = 0
) -> tuple[TranslatedList, list[int]]:
    posted = Posted(talk)
    made = posted_request.extended(known, start, posted.raws, posted)
    return made, posted.looked


def test_where_each_canonical_message_stands():
    made, _ = translated(TALK)
    assert list(made.firsts) == [0, 1, 2, 3, 5, 6, 7, 8]
    assert [made.place(index) for index in range(8)] == [0, 1, 2, 3, 3, 4, 5, 6]
    assert list(made.joined) == [0, 0, 0, 0, JOINED, JOINED | ASIDE, 0, 0]
    assert len(made.sizes) == len(made.firsts)
    assert made.newest_words() is None  # a tool of the provider is at work
    assert translated(TALK[:5])[0].newest_words() == 3
    assert translated(TALK[2:3])[0].newest_words() is None


def test_the_turn_that_is_open():
    assert translated(TALK[:3])[0].open_turn() == 3
    working = [*TALK[:3], user([result("t", "r")]), NOTE]
    assert translated(working)[0].open_turn() == 0
    assert translated(working[2:])[0].open_turn() == -1


@pytest.mark.parametrize("start", range(len(TALK) + 1))
def test_only_what_is_new_is_looked_at(start):
    known, _ = translated(TALK)
    made, looked = translated([*TALK[:start], user("e")], known, start)
    assert made == translated([*TALK[:start], user("e")])[0]
    # And the message whose calls may be answered, or that a tool interrupted.
    assert set(looked) - {start} <= {start - 1, 2}


def test_messages_of_unknown_roles_are_no_talk():
    made, _ = translated([user("a"), {"role": "human", "content": "b"}, assistant("c")])
    assert list(made.firsts) == [0, 1, 2, 3]
    assert made.newest_words() == 0


def test_it_takes_what_it_says():
    known, _ = translated(TALK * 50)
    arrays = (known.firsts, known.sizes, known.loading)
    held = len(known.marks) + len(known.joined) + sum(len(a) * a.itemsize for a in arrays)
    assert held < known.nbytes < 3 * held
