"""Check what a posted list is made of: history, system messages, rounds, facts."""

from __future__ import annotations

import pytest

from memtree.conversation.history import extended, nothing_read, read
from memtree.conversation.message import Message, Volatile


def history(*messages, **options):
    return read("t", [Message.of(one) for one in messages], Volatile(), **options)


USER = {"role": "user", "content": "go"}
DONE = {"role": "assistant", "content": "done"}


def calls(*ids):
    made = [
        {"id": i, "type": "function", "function": {"name": f"f{i}", "arguments": ""}} for i in ids
    ]
    return {"role": "assistant", "content": None, "tool_calls": made}


def result(id_):
    return {"role": "tool", "tool_call_id": id_, "content": f"result {id_}"}


def test_system_and_developer_messages_stand_apart():
    system, developer = {"role": "system", "content": "S"}, {"role": "developer", "content": "D"}
    found = history(system, USER, developer, DONE, count=len)
    assert len(found) == 2
    assert found.posted == (1, 3)
    assert [index for index, _ in found.system] == [0, 2]
    assert found.system_tokens == 2 * (1 + 4)
    assert found.tokens == (2 + 4) + (4 + 4)


def test_a_round_is_a_user_message_or_an_assistant_message_with_all_its_results():
    found = history(USER, calls("a", "b"), result("b"), result("a"), DONE, USER, USER)
    assert found.rounds == (0, 1, 4, 5, 6)
    assert list(found.round_ends()) == [(0, 1), (1, 4), (4, 5), (5, 6), (6, 7)]


def test_a_system_message_between_call_and_result_does_not_part_them():
    found = history(USER, calls("a"), {"role": "system", "content": "S"}, result("a"))
    assert found.rounds == (0, 1)


def joined(message):
    return Message(Message.of(message).raw, joined=True)


def test_a_joined_message_has_its_round_but_no_cut_before_it():
    """One posted message may hold the results of calls and words of the user."""
    posted = [USER, calls("a"), result("a"), USER, USER, DONE, USER]
    apart = history(*posted)
    read_together = [
        joined(one) if at in (3, 4) else Message.of(one) for at, one in enumerate(posted)
    ]
    found = read("t", read_together, Volatile())
    assert apart.cuts == apart.rounds == found.rounds == (0, 1, 3, 4, 5, 6)
    assert found.cuts == (0, 1, 5, 6)
    assert found.addresses == apart.addresses


def test_what_a_program_says_in_the_users_place_is_no_ask():
    reminder = {"role": "user", "content": "<system-reminder>\nBe brief.\n</system-reminder>"}
    one = Message.of(USER)
    messages = [one, Message.of(DONE), joined(USER), joined(reminder), Message.of(reminder)]
    messages.append(Message(one.raw, joined=True, aside=True))
    found = read("t", messages, Volatile())
    assert [found.asks(at) for at in range(6)] == [True, False, True, False, True, False]
    assert messages[-1].role == "user"
    assert messages[-1].unread().aside


def test_the_first_message_is_a_cut_whatever_it_is_joined_to():
    assert read("t", [joined(USER), Message.of(DONE)], Volatile()).cuts == (0, 1)


def test_legacy_functions_answer_by_name():
    call = {"role": "assistant", "content": None, "function_call": {"name": "f", "arguments": "1"}}
    assert history(USER, call, {"role": "function", "name": "f", "content": "x"}).rounds == (0, 1)
    assert history(USER, call, {"role": "function", "name": "g", "content": "x"}).rounds == (0, 1)


@pytest.mark.parametrize(
    ("messages", "rounds", "cuts"),
    [
        ((result("a"), result("b"), USER), (0, 2), (0, 2)),
        ((USER, DONE, result("a"), USER), (0, 1, 3), (0, 1, 3)),
        ((USER, calls("a"), result("b"), result("a"), DONE), (0, 1, 4), (0, 1, 4)),
        ((USER, calls("a"), USER, result("a"), DONE), (0, 1, 2, 4), (0, 1, 4)),
        ((calls("a"), DONE, USER, result("a"), USER), (0, 1, 2, 4), (0, 4)),
        ((calls("a"), result("a"), USER, result("a"), USER), (0, 2, 4), (0, 4)),
        ((calls("a"), *[USER] * 30, result("a")), tuple(range(31)), tuple(range(31))),
    ],
)
def test_no_cut_makes_an_orphan(messages, rounds, cuts):
    """A result without its call stays in the round before it, and no cut separates a late one
    from its call."""
    found = history({"role": "system", "content": "S"}, *messages)
    assert (found.rounds, found.cuts) == (rounds, cuts)


def test_a_late_result_in_a_longer_list_changes_the_cuts_and_a_branch_has_them_again():
    talk = [Message.of(each) for each in (calls("a"), USER, DONE, USER, result("a"), DONE, USER)]
    whole = extended(nothing_read("t"), "t", talk, Volatile())
    for length in range(len(talk)):
        known = whole.first(length)
        again = extended(known, "t", talk, Volatile())
        assert again == whole
        branch = [*talk[: known.length], Message.of(DONE)]
        read_on = extended(known, "t", branch, Volatile()).history("t", branch, Volatile())
        assert read_on.cuts == history(*(each.fields for each in branch)).cuts
    assert whole.history("t", talk, Volatile()).cuts == (0, 5, 6)


def test_an_empty_history_has_an_address():
    found = history({"role": "system", "content": "S"})
    assert (len(found), found.tokens, found.rounds) == (0, 0, ())
    assert len(found.addresses) == 1


def test_facts_that_are_known_are_not_looked_for_again():
    class Remembering:
        def __init__(self):
            self.known, self.asked = {}, []

        def get(self, tenant, raw):
            self.asked.append((tenant, raw))
            return self.known.get((tenant, raw))

        def put(self, tenant, raw, facts):
            self.known[tenant, raw] = facts

    cache, counted = Remembering(), []

    def count(text):
        counted.append(text)
        return len(text)

    first = history(USER, calls("a"), result("a"), cache=cache, count=count)
    counted.clear()
    again = history(USER, calls("a"), result("a"), DONE, cache=cache, count=count)
    assert counted == ["done"]
    assert again.addresses[: len(first.addresses)] == first.addresses
    assert again.facts[:3] == first.facts
    assert {tenant for tenant, _ in cache.asked} == {"t"}
