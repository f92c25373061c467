import pytest

from memtree.memories.extraction import gate
from memtree.memories.extraction.candidates import SkipReason


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


@pytest.mark.parametrize(
    "text",
    ["Translate this to German:\nI live in Ghent", "Here is my essay:\nI live in Ghent"],
)
def test_handed_over_text_is_not_the_users_word(text):
    assert text[gate.own_words_end(text) :] == "I live in Ghent"


def test_all_is_own_where_nothing_is_handed_over():
    assert gate.own_words_end("I live in Ghent") == len("I live in Ghent")
