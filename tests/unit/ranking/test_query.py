"""Check what an answer is unfolded for."""

from __future__ import annotations

import json

import pytest

from memtree.conversation.history import read
from memtree.conversation.message import Message, Volatile
from memtree.ranking.query import CALLED, REACH, ROUNDS, SAID, Query, query_of


def history(*messages):
    return read("t", [Message.of(one) for one in messages], Volatile())


def asked(*messages):
    return query_of(history(*messages))


def user(content):
    return {"role": "user", "content": content}


def assistant(content, **more):
    return {"role": "assistant", "content": content, **more}


def calling(content, *arguments):
    functions = [{"name": "grep", "arguments": json.dumps(each)} for each in arguments]
    calls = [
        {"id": f"c{number}", "type": "function", "function": function}
        for number, function in enumerate(functions)
    ]
    return assistant(content, tool_calls=calls)


def result(content, call="c0"):
    return {"role": "tool", "tool_call_id": call, "content": content}


LOOP = (
    user("Fix the parser."),
    calling("I will look for x." + "." * 900, {"p": "x"}),
    result("DUMP " * 500),
)


def test_a_given_query_wins():
    assert query_of(history(user("a")), "given") == Query.of("given")
    assert query_of(history(*LOOP), "given") == Query.of("given")


def test_the_newest_words_of_the_user():
    assert asked(user("old"), assistant("x"), user("new")) == Query("new", ("new",))
    assert asked(user("new"), assistant("x")) == Query.of("new")


def test_volatile_blocks_are_no_query():
    assert asked(user("<system-reminder>x</system-reminder>new")) == Query.of("new")


def test_in_a_tool_loop_text_and_call_are_meanings_and_dumps_are_none():
    found = asked(*LOOP)
    said, called = found.meanings
    assert said.startswith("I will look for x.")
    assert len(said) == SAID
    assert called == "grep x"
    assert found.words == f"Fix the parser.\n{said}\n{called}"


def test_arguments_are_read_without_escapes_and_every_call_has_its_share():
    edit = {"path": "src/a.py", "old": 'say("no")\nend', "new": "x" * 5_000}
    calls = calling("", edit, {"p": "b.py"})
    [called] = asked(user("Go."), calls, result("1"), result("2", "c1")).meanings
    assert called.startswith('grep src/a.py say("no")\nend xxx')
    assert called.endswith("\ngrep b.py")
    assert len(called) <= CALLED


def test_the_newest_calls_come_first_and_old_ones_are_not_read():
    rounds = [
        message
        for number in range(ROUNDS + 2)
        for message in (calling(f"Step {number}.", {"p": f"f{number}.py"}), result("ok"))
    ]
    newest = range(ROUNDS + 1, 1, -1)
    called = "\n".join(f"grep f{number}.py" for number in newest)
    assert asked(user("Fix it."), *rounds).meanings == (f"Step {ROUNDS + 1}.", called)


def test_a_silent_agent_said_its_last_text_before():
    silent = calling(None, {"p": "y"}), result("ok")
    assert asked(*LOOP, *silent).meanings[0].startswith("I will look for x.")


@pytest.mark.parametrize("said", ["continue", "Yes, go on.", "weiter", "ok, thanks"])
def test_an_acknowledgement_stands_for_the_request_before_it(said):
    """Both before the agent goes on, and while it does."""
    done = (*LOOP, assistant("That is done."), user(said))
    words = "Fix the parser.\nThat is done.\ngrep x"
    assert asked(*done) == Query(words, ("That is done.", "grep x"))
    again = asked(*done, calling("Next is z.", {"p": "z"}), result("ok"))
    words = "Fix the parser.\nNext is z.\ngrep z\ngrep x"
    assert again == Query(words, ("Next is z.", "grep z\ngrep x"))


def test_an_acknowledgement_without_a_request_adds_no_words():
    loop = (user("continue"), calling("", {"p": "x"}), result("ok"))
    assert asked(*loop) == Query.of("grep x")


def test_in_talk_an_acknowledgement_stays_what_is_asked():
    talk = user("Tell me of Graz."), assistant("It is a town."), user("go on")
    assert asked(*talk) == Query.of("go on")


def test_a_word_of_the_client_s_program_is_no_query():
    reminder = user("<system-reminder>x</system-reminder>")
    aside = Message(Message.of(user("The user has 3,000 tokens left.")).raw, True, aside=True)
    messages = [*map(Message.of, LOOP), Message(Message.of(reminder).raw, joined=True), aside]
    alone = query_of(history(*LOOP))
    assert query_of(read("t", messages, Volatile())) == alone
    assert query_of(read("t", messages[:-1], Volatile())) == alone
    said = Message(Message.of(user("Stop, and fix the lexer.")).raw, joined=True)
    stopped = query_of(read("t", [*messages, said], Volatile()))
    assert stopped == Query.of("Stop, and fix the lexer.")


def test_a_long_message_asks_at_its_ends():
    found = asked(user("Please explain. " + "x" * 50_000 + " What is wrong?")).words
    assert found.startswith("Please explain.")
    assert found.endswith("What is wrong?")
    assert len(found) <= REACH + 1


def test_a_history_without_a_user():
    assert asked(assistant("hi")) == Query.of("")
