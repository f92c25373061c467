"""Parts that a quotation shows of the JSON that makes a call."""

import json

import pytest

from memtree.conversation.message import Message
from memtree.unfolding.memory_message.call_texts import LONGEST, left_out, without_left_out

THOUGHT = "The option is not there, so set it."


def shown(message):
    text, start, pieces = message.text, 0, []
    for low, high in left_out(message):
        pieces.append(text[start:low])
        start = high
    return [piece for piece in (*pieces, text[start:]) if piece]


def said(content, role="assistant"):
    return Message.of({"role": role, "content": content})


def called(arguments):
    call = {"id": "c", "type": "function", "function": {"name": "run", "arguments": arguments}}
    return Message.of({"role": "assistant", "content": "", "tool_calls": [call]})


def test_a_call_in_prose_is_its_first_line_and_its_thought():
    call = {"command": "make build", "is_input": False, "thought": THOUGHT, "hidden": None}
    message = said(f"Running command: make build\n{json.dumps(call)}")
    assert shown(message) == ["Running command: make build\n", THOUGHT]


def test_blanks_stand_for_what_is_left_out():
    content = f"Running command: make\n{json.dumps({'command': 'make', 'thought': THOUGHT})}"
    seen = without_left_out(said(content))
    assert len(seen) == len(content)
    assert seen.split() == f"Running command: make {THOUGHT}".split()


def test_a_quoted_word_of_a_command_is_the_same_word():
    call = {"command": 'grep -n "iso" src/match.c', "thought": THOUGHT}
    message = said(f'Running command: grep -n "iso" src/match.c\n{json.dumps(call)}')
    assert shown(message) == ['Running command: grep -n "iso" src/match.c\n', THOUGHT]


def test_a_command_that_nothing_tells_is_shown():
    message = said(json.dumps({"command": "make build", "thought": THOUGHT}))
    assert shown(message) == ["make build", THOUGHT]


def test_an_edit_keeps_what_it_writes():
    call = {
        "path": "/srv/app.py",
        "old_str": "a = 1",
        "new_str": "a = 1\nb = 2",
        "thought": THOUGHT,
    }
    assert shown(said(json.dumps(call))) == ["a = 1\\nb = 2", THOUGHT]


@pytest.mark.parametrize(
    ("old", "new"), [("old_str", "new_str"), ("oldText", "newText"), ("search", "replace")]
)
def test_an_edit_shows_the_new_text_alone(old, new):
    edit = {"path": "src/app.py", old: "port = 8080  # local", new: "port = 8443  # staging"}
    assert shown(called(json.dumps(edit))) == ["\nrun ", "port = 8443  # staging"]
    gone = {**edit, new: ""}
    assert shown(called(json.dumps(gone))) == ["\nrun ", "port = 8080  # local"]


@pytest.mark.parametrize(
    "content",
    [
        '{"name": "Ann Lee", "city": "Graz on the Mur"}',  # an answer in JSON
        '{"command": "make all of it"}',  # nobody thinks in it
        f'{{"command": "make", "thought": "{THOUGHT}"}} and more',
        f'{{"command": "make", "thought": "{THOUGHT}"',  # cut off
        f"{'x' * LONGEST}" + f'\n{{"command": "make", "thought": "{THOUGHT}"}}',
        "No JSON at all.",
    ],
)
def test_any_other_text_is_quoted_as_it_is(content):
    assert shown(said(content)) == [content]


def test_what_the_user_posts_is_quoted_as_it_is():
    content = json.dumps({"command": "make", "thought": THOUGHT})
    assert shown(said(content, "user")) == [content]


def test_a_call_of_the_interface_is_told_by_its_label():
    arguments = json.dumps({"path": "src/app.py", "view_range": [650, 700], "note": THOUGHT})
    assert shown(called(arguments)) == ["\nrun ", THOUGHT]


def test_arguments_without_a_name_for_them_are_quoted_as_they_are():
    assert shown(called('{"lines": [1, 2]}')) == ['\nrun {"lines": [1, 2]}']
