"""A list of posted messages makes a message when it is looked at."""

from __future__ import annotations

from array import array

import pytest

from memtree.conversation.message import Message
from memtree.conversation.message_list import (
    ChosenMessages,
    EarlierList,
    MessageList,
    NumberedMessages,
    RawMessages,
    raws_of,
    size_from,
    unread,
)
from tests.made.listed_messages import ListedMessages

RAWS = [b'{"role":"user","content":"a"}', b'{"role":"assistant"}', b"[]", b'{"role":"tool"}']


def in_buffer(raws=RAWS, earlier=None):
    buffer, starts, ends = b"[", array("q"), array("q")
    for raw in raws:
        starts.append(len(buffer))
        buffer += raw
        ends.append(len(buffer))
        buffer += b" ,\n"
    return RawMessages(buffer, starts, ends, earlier)


def listed(earlier=None):
    return ListedMessages(tuple(map(Message, RAWS)), earlier)


@pytest.mark.parametrize("made", [in_buffer, listed])
def test_a_list_is_a_sequence_of_messages(made):
    posted = made(earlier=EarlierList(7, 2))
    assert [message.raw for message in posted] == RAWS
    assert [message.raw for message in posted[1:-1]] == RAWS[1:-1]
    assert [message.raw for message in posted[::-1]] == RAWS[::-1]
    assert posted[-1] is posted[3]
    assert len(posted) == 4
    assert posted.earlier == (7, 2)
    assert posted.size == sum(map(len, RAWS))
    assert [posted.size_from(at) for at in (1, 3, 4)] == [
        sum(map(len, RAWS[at:])) for at in (1, 3, 4)
    ]
    for beyond in (4, -5):
        with pytest.raises(IndexError):
            posted[beyond]


def test_what_was_looked_at_is_parsed_once():
    posted = in_buffer()
    assert posted[0] is posted[0]
    assert posted[0].fields is posted[0:1][0].fields


@pytest.mark.parametrize("made", [in_buffer, listed, lambda: tuple(map(Message, RAWS))])
def test_unread_nothing_is_parsed(made):
    posted = made()
    assert posted[0].role == "user"
    bare = unread(posted)
    assert [message.raw for message in bare] == RAWS
    assert bare[0] is not posted[0]
    assert size_from(bare) == size_from(posted)


def test_every_list_has_a_number_of_its_own():
    numbers = [made().number for made in (in_buffer, listed, in_buffer)]
    assert len(set(numbers)) == 3


def test_chosen_messages_are_those_of_the_list():
    posted = in_buffer()
    chosen = ChosenMessages(posted, (0, 3))
    assert list(chosen) == [posted[0], posted[3]]
    assert chosen[-1] is posted[3]
    assert chosen[:1] == (posted[0],)
    assert len(chosen) == 2
    assert size_from(chosen) == posted.size  # they keep all of it
    assert size_from(chosen, 1) == len(RAWS[3])
    numbered = NumberedMessages(posted, (0, 3))
    assert list(numbered) == [(0, posted[0]), (3, posted[3])]
    assert numbered[1:] == ((3, posted[3]),)


def test_the_size_of_any_sequence():
    plain: list[tuple[Message, ...] | MessageList] = [tuple(map(Message, RAWS)), in_buffer()]
    for posted in plain:
        assert size_from(posted) == sum(map(len, RAWS))
        assert size_from(posted, 2) == sum(map(len, RAWS[2:]))


@pytest.mark.parametrize("made", [in_buffer, listed, lambda: tuple(map(Message, RAWS))])
def test_raws_are_those_of_the_messages(made):
    posted = made()
    assert list(map(raws_of(posted), range(len(RAWS)))) == RAWS
    chosen = ChosenMessages(posted, (1, 3))
    assert list(map(raws_of(chosen), range(2))) == [RAWS[1], RAWS[3]]
