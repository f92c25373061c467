"""Messages that are made when they are looked at."""

from __future__ import annotations

import pytest

from memtree.conversation.message import Message
from memtree.conversation.message_list import EarlierList
from memtree.dialects.translated_messages import TranslatedMessages

SYSTEM = Message(b'{"role":"system"}')


class Maker:
    """Record of which messages were made."""

    def __init__(self) -> None:
        self.made: list[int] = []

    def __call__(self, index: int) -> Message:
        self.made.append(index)
        return Message(b"%d" % index)


def test_a_message_is_made_once_when_it_is_looked_at():
    make = Maker()
    messages = TranslatedMessages((SYSTEM,), 4, make, size=4, made={3: Message(b"known")})
    assert len(messages) == 5
    assert messages.size == 4 + len(SYSTEM.raw)
    assert make.made == []
    assert messages[0] is SYSTEM
    assert messages[-1].raw == b"known"
    assert messages[2].raw == b"1"
    assert messages[2] is messages[2:3][0]
    assert make.made == [1]
    assert [message.raw for message in messages[1:]] == [b"0", b"1", b"2", b"known"]
    assert make.made == [1, 0, 2]


@pytest.mark.parametrize("index", [5, -6])
def test_there_are_no_others(index):
    with pytest.raises(IndexError):
        TranslatedMessages((SYSTEM,), 4, Maker(), size=4)[index]


def test_what_the_list_says_of_itself():
    earlier = EarlierList(7, 2)
    messages = TranslatedMessages((SYSTEM,), 4, Maker(), size=4, loading=(0, 3), earlier=earlier)
    assert messages.earlier == earlier
    assert list(messages.loading) == [1, 4]
    assert messages.number != TranslatedMessages((), 0, Maker(), size=0).number
