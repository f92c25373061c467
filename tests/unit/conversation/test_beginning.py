"""The beginning of a conversation: what tells its branches, and by what name it is known again."""

from __future__ import annotations

from typing import Any

import pytest

from memtree.conversation import history
from memtree.conversation.beginning import keys_of, origin
from memtree.conversation.message import Message, Volatile

SYSTEM = {"role": "system", "content": "be brief"}
FIRST = {"role": "user", "content": "Hi"}
ANSWER = {"role": "assistant", "content": "Hello!"}
LONG = {"role": "user", "content": "I keep bees and want to know more about honey. " * 6}


def read(*said: Any) -> history.History:
    return history.read("t", [Message.of(one) for one in said], Volatile())


def keys(*said: Any, tenant: str = "t") -> tuple[str, ...]:
    return keys_of(tenant, [Message.of(one) for one in said], Volatile())


def test_a_beginning_ends_with_an_answer_and_before_the_message_itself():
    posted = read(SYSTEM, LONG, ANSWER, FIRST, ANSWER, FIRST)
    assert origin(posted, 0) == origin(posted, 1) == ""
    assert origin(posted, 2) == origin(posted, 4) == posted.addresses[2].hex()


def test_a_greeting_is_no_beginning():
    posted = read(FIRST, ANSWER, FIRST, ANSWER, LONG, ANSWER, FIRST)
    assert origin(posted, 4) == ""
    assert origin(posted, 6) == posted.addresses[5].hex()


def test_a_name_stays_while_the_conversation_goes_on():
    assert keys(FIRST, ANSWER) == keys(SYSTEM, FIRST, ANSWER, LONG, ANSWER)
    assert [len(key) for key in keys(FIRST, ANSWER)] == [64, 64]


def test_before_the_first_answer_it_has_the_former_name():
    assert keys(FIRST, ANSWER)[1:] == keys(FIRST) == keys(FIRST, SYSTEM)


def test_other_answers_other_users_and_other_tenants_are_other_conversations():
    names = [
        keys(FIRST, ANSWER),
        keys(FIRST, {**ANSWER, "content": "Good day!"}),
        keys({**FIRST, "content": "Hello"}, ANSWER),
        keys(FIRST, ANSWER, tenant="u"),
        keys(FIRST),
    ]
    assert len({name[0] for name in names}) == len(names)


@pytest.mark.parametrize("said", [(), (SYSTEM,), (ANSWER,), ({"role": "bot", "content": 7},)])
def test_a_conversation_without_the_user_has_no_name(said):
    assert keys(*said) == ()
