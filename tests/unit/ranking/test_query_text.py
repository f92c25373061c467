"""Check what an answer is unfolded for."""

from __future__ import annotations

from memtree.conversation.history import read
from memtree.conversation.message import Message, Volatile
from memtree.ranking.query_text import INTENT, REACH, query_text


def history(*messages):
    return read("t", [Message.of(one) for one in messages], Volatile())


def user(content):
    return {"role": "user", "content": content}


def assistant(content, **more):
    return {"role": "assistant", "content": content, **more}


CALL = [{"id": "c", "type": "function", "function": {"name": "grep", "arguments": '{"p":"x"}'}}]
LOOP = (
    user("Fix the parser."),
    assistant("I will look for x." + "." * 900, tool_calls=CALL),
    {"role": "tool", "tool_call_id": "c", "content": "DUMP " * 500},
)


def test_a_given_query_wins():
    assert query_text(history(user("a")), "given") == "given"


def test_the_newest_words_of_the_user():
    assert query_text(history(user("old"), assistant("x"), user("new"))) == "new"
    assert query_text(history(user("new"), assistant("x"))) == "new"


def test_volatile_blocks_are_no_query():
    assert query_text(history(user("<system-reminder>x</system-reminder>new"))) == "new"


def test_in_a_tool_loop_the_intent_comes_first_and_dumps_never():
    found = query_text(history(*LOOP))
    assert found.startswith("I will look for x.")
    assert found.endswith("\nFix the parser.")
    assert "DUMP" not in found
    assert len(found) <= INTENT + 20


def test_a_word_of_the_client_s_program_is_no_query():
    reminder = user("<system-reminder>x</system-reminder>")
    aside = Message(Message.of(user("The user has 3,000 tokens left.")).raw, True, aside=True)
    messages = [*map(Message.of, LOOP), Message(Message.of(reminder).raw, joined=True), aside]
    alone = query_text(history(*LOOP))
    assert query_text(read("t", messages, Volatile())) == alone
    assert query_text(read("t", messages[:-1], Volatile())) == alone
    said = Message(Message.of(user("Stop, and fix the lexer.")).raw, joined=True)
    assert query_text(read("t", [*messages, said], Volatile())) == "Stop, and fix the lexer."


def test_a_long_message_asks_at_its_ends():
    found = query_text(history(user("Please explain. " + "x" * 50_000 + " What is wrong?")))
    assert found.startswith("Please explain.")
    assert found.endswith("What is wrong?")
    assert len(found) <= REACH + 1


def test_a_history_without_a_user():
    assert query_text(history(assistant("hi"))) == ""
