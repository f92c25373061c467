"""Check what an answer used of what was in sight."""

from __future__ import annotations

from typing import Any

from memtree.conversation import history
from memtree.conversation.message import Message, Volatile
from memtree.shadow.probes import Score
from memtree.shadow.usage import MOST, RECALLED, USED, forms, seen, terms, used
from memtree.text import tokens
from memtree.text.words.anchors import REACH

KEY = b"k" * 32


def read(*texts: str) -> history.History:
    """User and assistant in turn."""
    roles = ("user", "assistant")
    posted: list[dict[str, Any]] = [
        {"role": roles[at % 2], "content": text} for at, text in enumerate(texts)
    ]
    return history.read("t", tuple(map(Message.of, posted)), Volatile(), None, tokens.count)


OLD = "The file lib/old_part.py raises OldError; see lost_one()."
RECENT = "Now fix recent_one() in src/new.py."
POSTED = (OLD, "Yes.", RECENT)


def scores(answer: str, visible: str, cut: int = 2) -> dict[str, Score]:
    posted = read(*POSTED, answer)
    return used(posted, 3, seen(cut, visible, KEY), KEY)


def test_what_was_in_sight_and_what_was_lost():
    visible = f"lib/old_part.py raises OldError\n{RECENT}"
    answer = "I fixed recent_one() with lost_one() in lib/old_part.py, and wrote brand_new()."
    assert scores(answer, visible) == {USED: Score(3, 2), RECALLED: Score(2, 1)}


def test_what_the_recent_messages_hold_is_no_merit_of_memory():
    assert scores("recent_one in src/new.py", RECENT) == {USED: Score(2, 2), RECALLED: Score(0, 0)}


def test_nothing_in_sight_and_nothing_new():
    assert scores("OldError", "") == {USED: Score(1, 0), RECALLED: Score(1, 0)}
    assert scores("brand_new and Brand2New", OLD) == {USED: Score(0, 0), RECALLED: Score(0, 0)}
    assert scores("Just words.", OLD) == {USED: Score(0, 0), RECALLED: Score(0, 0)}


def test_a_short_name_of_what_is_in_sight_is_in_sight():
    assert scores("old_part.py", "lib/old_part.py")[USED] == Score(1, 1)
    assert scores("lib/old_part.py", "old_part.py")[USED] == Score(1, 0)
    assert list(forms("a/b/c.py")) == ["a/b/c.py", "b/c.py", "c.py"]
    assert list(forms("a.Thing")) == ["a.Thing", "a", "Thing"]
    assert list(forms("thing_one")) == ["thing_one"]


def test_the_calls_of_an_answer_count():
    fields: dict[str, Any] = {
        "role": "assistant",
        "content": None,
        "tool_calls": [
            {"id": "1", "type": "function",
             "function": {"name": "read", "arguments": '{"path": "lib/old_part.py"}'}}
        ],
    }  # fmt: skip
    messages = [{"role": "user", "content": OLD}, fields]
    posted = history.read("t", tuple(map(Message.of, messages)), Volatile(), None, tokens.count)
    assert used(posted, 1, seen(1, "", KEY), KEY)[USED] == Score(1, 0)


def test_what_is_no_answer_is_not_measured():
    posted = read(*POSTED, "old_part.py")
    before = seen(2, OLD, KEY)
    assert used(posted, 2, before, KEY) == {}
    assert used(posted, 4, before, KEY) == {}


def test_only_hashes_are_kept_and_they_need_the_key():
    before = seen(2, OLD, KEY)
    for word in ("old_part", "OldError", "lost_one"):
        assert word.encode() not in before.hashes
    assert len(before.hashes) % 8 == 0
    assert before.hashes == seen(2, OLD, KEY).hashes != seen(2, OLD, b"x" * 32).hashes
    posted = read(*POSTED, "OldError")
    assert used(posted, 3, before, b"x" * 32)[USED] == Score(1, 0)


def test_an_answer_of_any_length():
    names = [f"name_{at}" for at in range(3 * MOST)]
    text = " ".join(names)
    posted = read(text, text)
    assert used(posted, 1, seen(1, text, KEY), KEY)[USED] == Score(MOST, MOST)
    long = "\n".join(f"some words and then name_{at} " for at in range(2_000))
    assert len(long) > 5 * REACH
    assert terms(long) == {f"name_{at}" for at in range(2_000)}
    assert terms("x" * (3 * REACH)) == set()


def test_words_and_numbers_are_no_terms():
    assert terms("The JSON of 2024-03-01 has 8080 rows, says Ada. See a.py, --dry-run") == {
        "a.py",
        "--dry-run",
    }
