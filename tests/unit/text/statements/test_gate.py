import pytest

from memtree.text.statements import gate
from memtree.text.statements.skips import SkipReason


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("*draws a sword* I am the king of Ash", SkipReason.FICTION),
        ("Let's do a role-play: I am a thief", SkipReason.FICTION),
        ("Write me a short story about a nurse", SkipReason.FICTION),
        ("You are a helpful assistant. We use pnpm.", SkipReason.SYSTEM_TEXT),
        ("I live in Ghent", None),
    ],
)
def test_messages_that_are_not_the_users_own_word(text, reason):
    assert gate.message_reason(text) is reason


def test_what_no_rule_takes_has_a_reason_too():
    assert gate.other_reason("fix the build") is SkipReason.REQUEST
    assert gate.other_reason("she said so") is SkipReason.OTHERS
    assert gate.other_reason("gold is heavy") is SkipReason.NOT_ABOUT_USER
    assert gate.other_reason("remind me at noon") is SkipReason.REQUEST
    assert gate.other_reason("i see") is SkipReason.VAGUE


@pytest.mark.parametrize(
    ("lower", "reason"),
    [
        ("i moved there", SkipReason.VAGUE),
        ("i chose to write about this", SkipReason.VAGUE),
        ("i love your turtles", SkipReason.VAGUE),
        ("i live in ghent", None),
        ("i'm based in nairobi these days", None),
        ("i'm hungry", SkipReason.TRANSIENT),
        ("ich bin total müde", SkipReason.TRANSIENT),
    ],
)
def test_what_nobody_understands_later_is_left_out(lower, reason):
    assert gate.refused(lower) is reason


def test_what_holds_for_now():
    assert gate.lasting("we use postgres right now") == ""
    assert gate.lasting("we use postgres, but it is slow right now") == "we use postgres"
    assert gate.lasting("we use postgres") == "we use postgres"


@pytest.mark.parametrize(
    ("text", "private"),
    [
        ("it is 4111 1111 1111 1111", True),
        ("send it to DE89 3704 0044 0532 0130 00", True),
        ("my PIN is in the drawer", True),
        ("call me on 030 1234567", False),
        ("I live at Kingsway 12", False),
    ],
)
def test_numbers_of_accounts_are_private(text, private):
    assert gate.is_private(text) is private


@pytest.mark.parametrize(
    "text",
    ["I have 3 apples and 2 pears. How many are left?", "Solve: my train leaves at 3, at 80"],
)
def test_exercises_are_about_nobody(text):
    assert gate.message_reason(text) is SkipReason.FICTION
