"""The demo's session: the same for everyone, as long as asked for, its questions answered once."""

from __future__ import annotations

from itertools import pairwise

from memtree.history.chat_history import describe
from memtree.history.message import Message, Volatile
from memtree_proxy.server.demo_session import session


def tokens(messages: tuple[Message, ...]) -> int:
    return sum(describe(message, Volatile()).tokens for message in messages)


def test_the_same_arguments_give_the_same_session():
    messages, facts = session(8_000)
    again, same = session(8_000)
    other, _ = session(8_000, seed=7)
    assert [message.raw for message in messages] == [message.raw for message in again]
    assert facts == same
    assert [message.raw for message in messages] != [message.raw for message in other]


def test_it_is_as_long_as_asked_for_and_a_longer_one_goes_on():
    short, facts = session(8_000)
    long, more = session(16_000)
    assert 8_000 <= tokens(short) < 11_000
    assert 16_000 <= tokens(long) < 19_000
    assert [message.raw for message in long[: len(short)]] == [message.raw for message in short]
    assert more[: len(facts)] == facts


def test_every_question_is_answered_in_one_place_by_its_own_task():
    messages, facts = session(8_000)
    assert facts
    for fact in facts:
        ticket = fact.question.removeprefix("In ").partition(",")[0]
        told = [at for at, message in enumerate(messages) if fact.answer in message.text]
        begun = next(at for at, message in enumerate(messages) if ticket in message.text)
        assert any(begun <= at < begun + 12 for at in told), fact


def test_tool_results_follow_their_calls():
    messages, _ = session(4_000)
    for before, message in pairwise(messages):
        if message.role == "tool":
            assert [call.id for call in before.calls] == [message.fields["tool_call_id"]]
