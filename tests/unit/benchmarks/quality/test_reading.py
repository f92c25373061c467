"""Check what counts as a fragment, as near, and as a line that says nothing."""

from __future__ import annotations

from typing import Any

from benchmarks.quality.overhead import Overhead
from benchmarks.quality.particular import Particular
from benchmarks.quality.reading import FEW, MANY, Reading, families, path_limit
from memtree.conversation.message import Message
from memtree.text import tokens

SHORT, LONG = "Yes, at nine.", "The ferry to the islands leaves " + "in the morning and " * 12
POSTED = [Message.of({"role": "user", "content": text}) for text in (SHORT, LONG)]


def _excerpt(message: int, start: int, end: int, size: int) -> dict[str, Any]:
    place = {"message": message, "part": "content", "start": start, "end": end}
    return {**place, "tokens": size, "reason": "excerpt", "path": ["a"]}


def _read(*excerpts: dict[str, Any], most: int = FEW, last: int = 30) -> Reading:
    reading = Reading(most)
    reading.add(POSTED, {"nodes": [{"id": "a", "messages": [0, last]}], "excerpts": excerpts})
    return reading


def test_a_short_message_is_no_fragment():
    assert _read(_excerpt(0, 0, len(SHORT), 5)).fragments == 0


def test_a_short_piece_of_a_message_is_a_fragment():
    assert _read(_excerpt(1, 0, 20, 5)).fragments == 1


def test_a_long_piece_of_a_message_is_no_fragment():
    assert _read(_excerpt(1, 0, 120, 30)).fragments == 0


def test_a_path_may_end_higher_in_a_chat_of_short_messages():
    short, long = [POSTED[0]] * 9, [POSTED[1]] * 9
    assert (path_limit(short), path_limit(long)) == (MANY, FEW)
    assert _read(_excerpt(0, 0, len(SHORT), 5)).below == 0
    assert _read(_excerpt(0, 0, len(SHORT), 5), most=MANY).below == 1


def test_lines_are_compared_with_those_under_the_same_parent():
    depths = [(0, "whole"), (1, "a"), (2, "b"), (2, "c"), (1, "d"), (2, "e")]
    nodes = [{"depth": depth, "headline": line} for depth, line in depths]
    assert families(nodes) == [["whole"], ["a", "d"], ["b", "c"], ["e"]]


def test_a_bare_range_is_no_line_that_says_nothing():
    reading = Reading()
    nodes = [{"depth": 0, "headline": ""}, {"depth": 0, "headline": "I guess so"}]
    reading.add_lines(nodes, Particular(POSTED))
    assert (reading.lines, reading.empty) == (1, 1)


TALK = Particular(
    [
        Message.of({"role": "user", "content": f"Vera: I guess so, well, the {word} again"})
        for word in ("ferry harbour pier anchor sail mast keel rudder deck hull " * 8).split()
    ]
)


def test_chat_words_and_speakers_are_not_particular():
    for line in ("Vera: I guess", "Vera: Who knows", "Its weird", "I dont know"):
        assert not TALK.says(line, [])


def test_numbers_names_paths_and_rare_words_are_particular():
    for line in ("at 19:30", "Vera: we met Olufsen", "src/app.py", "Vera: the walrus", "引っ越し"):
        assert TALK.says(line, [])


def test_a_word_of_all_blocks_is_not_particular():
    assert not TALK.says("the ferry again", [])


def test_a_word_of_the_lines_beside_it_is_not_particular():
    assert not TALK.says("the walrus", ["a walrus", "walrus and more"])


def test_what_is_spent_is_held_against_the_whole():
    overhead = Overhead()
    size = tokens.count("a memory message")
    overhead.add("a memory message", {"excerpts": size - 1, "labels": 1, "memories": 9})
    assert overhead.missed == 0
    overhead.add("a memory message", {"excerpts": size - 1})
    assert overhead.missed == 1
    assert overhead.rows("x")[0].figure == size - 0.5
