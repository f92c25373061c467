"""Parts of the benchmarks of recall."""

from __future__ import annotations

import json
import random
from datetime import date
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from benchmarks.data import Conversation, Needle
from benchmarks.recall import losses
from benchmarks.recall.baselines import Turns
from benchmarks.recall.dates import dates_in, days_of, is_dated, session_days
from benchmarks.recall.locomo import OURS, RIVAL, Outcome, differences, interval
from benchmarks.recall.losses import TurnOrders
from benchmarks.recall.needles import LONG, as_messages, as_sentences
from benchmarks.recall.plain_rival import PlainRival
from benchmarks.recall.trail import (
    ended_claims,
    is_shown,
    is_told,
    is_written,
    own_lines,
    written_claims,
)
from benchmarks.recall.trail_truth import Change, Trail, normal, trail
from benchmarks.recall.trail_truth import Outcome as TrailOutcome
from memtree.history.message import Message
from memtree.text import tokens
from tests.made.saved_memories import TopicEmbedder
from tests.properties.strategies import prose

# ------------------------------------------------------------------------------------------------
# The plain ways that a memory is compared with.


TEXTS = [*(prose(n, 40) for n in range(30)), "The launch code is marigold."]


@cache
def talk() -> Turns:
    return Turns([Message.of({"role": "user", "content": text}) for text in TEXTS[::-1]])


def test_the_newest_turns_fill_the_target():
    shown = talk().newest("Why?", 300)
    assert TEXTS[0] in shown
    assert TEXTS[-1] not in shown
    assert 150 < tokens.count(shown) <= 300


def test_bm25_shows_what_holds_the_words():
    shown = talk().by_words("Which launch code?", 60)
    assert shown.startswith(TEXTS[-1])
    assert tokens.count(shown) <= 60


# ------------------------------------------------------------------------------------------------
# Check whether a day stands where somebody who reads the evidence finds it.


DAY = date(2023, 5, 8)
TALK = Conversation(
    "talk",
    tuple(
        Message.of({"role": "user", "content": content})
        for content in (
            "[1:56 pm on 8 May, 2023]\nAda: hello",
            "Bob: hi there",
            "[09.05.2023, 00:51:12]\nAda: hello",
        )
    ),
)


@pytest.mark.parametrize(
    "line", ["2023-05-08", "on 8 May, 2023", "May 8th, 2023", "08.05.2023, 13:56", "8 may 2023 -"]
)
def test_a_day_of_a_line(line):
    assert dates_in(line) == {DAY}


@pytest.mark.parametrize("line", ["may", "8 May", "2.10.12", "2023-13-08", "12023-05-08", ""])
def test_a_line_without_one(line):
    assert dates_in(line) == set()


@pytest.mark.parametrize(
    ("visible", "dated"),
    [
        ("[8 May 2023]\nAda: hello", True),
        ("[3 user, 8 May 2023] Ada: hello", True),
        ("[8 May 2023]\nBob: yes\nAda: hello", True),
        ("[8 May 2023]\n[9 May 2023]\nAda: hello", False),
        ("[8 May 2023]\n[3 user, 9 May 2023] Ada: hello", False),
        ("Ada: hello\n[8 May 2023]", False),
        ("[9 May 2023]\nAda: hello\n[8 May 2023]\nAda: hello", True),
        ("[8 May]\nAda: hello", False),
    ],
)
def test_where_a_day_is_told(visible, dated):
    assert is_dated(visible, "hello", {DAY}) is dated


def test_days_of_sessions():
    days = session_days(TALK)
    assert days == [DAY, DAY, date(2023, 5, 9)]
    assert days_of("hi there", TALK, days) == {DAY}
    assert days_of("hello", TALK, days) == {DAY, date(2023, 5, 9)}


# ------------------------------------------------------------------------------------------------
# How the product is compared with its rival, question by question.


def _outcome(ours: float, rival: float) -> Outcome:
    return Outcome("talk", "temporal", 2_000, {OURS: ours, RIVAL: rival})


def test_differences_are_paired():
    outcomes = [_outcome(1.0, 0.5), _outcome(0.0, 1.0)]
    assert differences(outcomes).tolist() == [0.5, -1.0]


def test_an_interval_holds_the_mean_and_is_the_same_in_each_run():
    values = np.array([0.0, 1.0, 1.0, 0.0, 1.0] * 20)
    low, high = interval(values)
    assert 0.45 < low < values.mean() < high < 0.75
    assert interval(values) == (low, high)


def test_an_interval_of_equal_differences_is_a_point():
    assert interval(np.full(10, 0.25)) == pytest.approx((0.25, 0.25))


# ------------------------------------------------------------------------------------------------
# Why a text that was posted is not visible.


LOSSES_LONG = " ".join(f"word{n}" for n in range(20))
LINES = "\n".join(f"A line of its own, which tells of thing number {n}." for n in range(3))
LOSSES_TEXTS = ("fine", LOSSES_LONG, "thanks", "thanks", "thanks", f"{LOSSES_LONG} again", LINES)


@pytest.fixture(scope="module")
def turns():
    return Turns([Message.of({"role": "user", "content": text}) for text in LOSSES_TEXTS])


def orders(words=(9,) * 7, meaning=(9,) * 7):
    return TurnOrders(list(range(7)), np.array(words), np.array(meaning))


@pytest.mark.parametrize(
    ("text", "cause"),
    [("fine", losses.SHORT), ("thanks", losses.COMMAND), (LOSSES_LONG, losses.UNPAID)],
)
def test_what_the_ranking_reaches_is_forbidden_or_not_paid_for(turns, text, cause):
    assert losses.cause_of(text, turns, orders(), [0, 1, 2]) == cause


def test_a_text_of_which_lines_are_visible_is_shown_in_part(turns):
    assert losses.cause_of(LINES, turns, orders(), [6], LINES.splitlines()[1]) == losses.PART


def test_a_text_whose_words_another_text_shows_is_quoted_elsewhere(turns):
    shown = f"Say {LOSSES_LONG.replace('word19', 'other')}"
    assert losses.cause_of(LOSSES_LONG, turns, orders(), [1], shown) == losses.ELSEWHERE
    assert losses.cause_of(LOSSES_LONG, turns, orders(), [1], LOSSES_LONG[:40]) == losses.UNPAID


def test_needles_are_planted_twice_and_asked_for_by_role():
    session = [
        Message.of({"role": role, "content": f"{LINES} {number} " + "It is said. " * 60})
        for number in range(60)
        for role in ("user", "assistant")
    ]

    class Planted:
        def coding_session(self):
            return tuple(session)

        def hard_needles(self):
            return [Needle("user", "My cat is Tom.", "pet?"), Needle("tool", "port 81", "where?")]

    [needles] = [each for each in losses.SETS if each.name == "needles"]
    short, long = needles.chats(Planted())
    assert [probe.kind for probe in short.probes] == [
        "as short messages, user",
        "as short messages, tool",
    ]
    assert [probe.kind for probe in long.probes] == ["in long texts, user", "in long texts, tool"]
    for probe in (*short.probes, *long.probes):
        [text] = [text for texts in probe.evidence.values() for text in texts]
        chat = short if probe in short.probes else long
        [holding] = [message for message in chat.messages if text in message.text]
        assert (holding.text == text) == (chat is short)


@pytest.mark.parametrize(
    ("words", "meaning", "cause"),
    [
        (0, 9, losses.LOW_MEANING),
        (9, 0, losses.LOW_WORDS),
        (9, 9, losses.LOW),
        (0, 1, losses.LOW_FUSED),
    ],
)
def test_what_it_does_not_reach_is_ranked_low_by_a_list(turns, words, meaning, cause):
    places = orders((9,) * 5 + (words, 9), (9,) * 5 + (meaning, 9))
    assert losses.cause_of(f"{LOSSES_LONG} again", turns, places, [0, 2]) == cause


# ------------------------------------------------------------------------------------------------
# Where needles are planted in a long session.


NEEDLES = [
    Needle("user", "The mooring fee is nine marks.", "What does it cost to stay?"),
    Needle("assistant", "I chose the blue sail.", "Which canvas is up?"),
    Needle("tool", "E42: the anchor is stuck", "What is jammed?"),
]
SESSION = [
    Message.of(
        {
            "role": role,
            "content": f"Round {number}.\n" + "The wind is fair, the sea is calm.\n" * 40,
        }
    )
    for number in range(20)
    for role in ("user", "assistant")
]


def test_short_messages_have_the_role_of_their_needle():
    planted = as_messages(SESSION, NEEDLES, random.Random(1))
    roles = {m.text: m.role for m in planted if m.text in {needle.text for needle in NEEDLES}}
    assert roles == {needle.text: needle.role for needle in NEEDLES}
    assert [m for m in planted if m in SESSION] == SESSION


def test_a_tool_message_follows_its_call():
    planted = as_messages(SESSION, NEEDLES, random.Random(1))
    (at,) = (number for number, message in enumerate(planted) if message.role == "tool")
    assert [call.id for call in planted[at - 1].calls] == [planted[at].fields["tool_call_id"]]


def test_sentences_stand_inside_longer_texts():
    planted = as_sentences(SESSION, NEEDLES, random.Random(1))
    for needle in NEEDLES:
        (host,) = (message for message in planted if needle.text in message.text)
        assert host.role == needle.role
        assert len(host.text) > LONG
        assert not host.text.startswith(needle.text)


# ------------------------------------------------------------------------------------------------
# The day's work that every recall table shows beside the product.


PLAIN_RIVAL_TEXTS = [
    *(" ".join(prose(n, 30).split()) for n in range(20)),
    "The launch code is marigold.",
    *(" ".join(prose(n, 30).split()) for n in range(20, 40)),
    "We sail into port at nine.",
    "Yes, at last!",
    *(" ".join(prose(n, 30).split()) for n in range(40, 50)),
]
MESSAGES = [Message.of({"role": "user", "content": text}) for text in PLAIN_RIVAL_TEXTS]
CODE, PORT, ANSWER = 20, 41, 42


async def _rival(keep: Path | None = None, overhead: int = 1) -> PlainRival:
    return await PlainRival.of(MESSAGES, TopicEmbedder(), keep, overhead)


async def test_a_turn_is_found_by_its_words():
    assert (await (await _rival()).order("Which launch code?"))[0] == CODE


async def test_a_turn_is_found_by_its_meaning():
    assert (await (await _rival()).order("Which port?"))[0] == PORT


async def test_a_turn_lends_its_scores_to_its_neighbours():
    assert set((await (await _rival()).order("Which port?"))[:3]) == {PORT - 1, PORT, ANSWER}


async def test_lines_fill_the_target_in_the_order_of_the_conversation():
    rival = await _rival()
    shown = (await rival.shown("Which port?", 300)).split("\n")
    assert shown == [text for text in PLAIN_RIVAL_TEXTS if text in shown]
    spent = tokens.count("Which port?") + sum(tokens.count(text) + 1 for text in shown)
    assert 230 < spent <= 300


async def test_a_turn_that_does_not_fit_is_skipped():
    # Long prose ranks between the two.
    assert await (await _rival()).chosen("Which launch code?", 20) == [CODE, ANSWER]


async def test_overhead_is_paid_for_each_turn():
    cheap = await (await _rival()).chosen("Which port?", 400)
    dear = await (await _rival(overhead=20)).chosen("Which port?", 400)
    assert len(dear) < len(cheap)


async def test_vectors_are_kept_for_the_next_run(tmp_path):
    first, second = TopicEmbedder(recipe="kept"), TopicEmbedder(recipe="kept")
    await PlainRival.of(MESSAGES, first, tmp_path)
    rival = await PlainRival.of(MESSAGES, second, tmp_path)
    assert first.asked
    assert not second.asked
    assert (await rival.order("Which port?"))[0] == PORT


# ------------------------------------------------------------------------------------------------
# Check what an agent did, out of its calls, and what a memory message tells of it.


def _called(name: str, arguments: dict[str, Any], result: str) -> list[Message]:
    function = {"name": name, "arguments": json.dumps(arguments)}
    calls = [{"id": "c", "type": "function", "function": function}]
    return [
        Message.of({"role": "assistant", "content": None, "tool_calls": calls}),
        Message.of({"role": "tool", "tool_call_id": "c", "content": result}),
    ]


def _written_out(call: str, result: str) -> list[Message]:
    return [
        Message.of({"role": "assistant", "content": call}),
        Message.of({"role": "user", "content": result}),
    ]


EDIT = {"command": "str_replace", "path": "/app/src/tide.py", "new_str": "HIGH = 3"}


@pytest.mark.parametrize(
    "messages",
    [
        _called("write", {"filePath": "/app/src/tide.py", "content": "HIGH = 3"}, "ok"),
        _called("editor", EDIT, "The file has been edited."),
        _written_out(f"I edit it.\n{json.dumps(EDIT)}", "The file has been edited."),
        _written_out(
            "Now:\n```\nedit 1:1\nHIGH = 3\nend_of_edit\n```",
            "[File: /app/src/tide.py (3 lines total)]\n1:HIGH = 3",
        ),
        _called("bash", {"command": "echo HIGH = 3 > src/tide.py"}, ""),
        _called("bash", {"command": "sed -i 's/LOW/HIGH/' src/tide.py"}, ""),
    ],
)
def test_a_written_file_is_found_in_each_form(messages):
    (change,) = trail(messages).changes
    assert (change.message, change.name) == (0, "tide.py")
    assert "HIGH" in change.text


@pytest.mark.parametrize("result", ["ERROR:\nNo replacement was performed.", "<tool_use_error>x"])
def test_an_edit_that_was_refused_is_none(result):
    assert trail(_called("editor", EDIT, result)).changes == ()


def test_what_was_written_before_a_command_failed_is_a_change():
    command = "echo HIGH > tide.py && moonc tide.py"
    (change,) = trail(
        _called("bash", {"command": command}, "bash: moonc: command not found")
    ).changes
    assert change.name == "tide.py"
    denied = "bash: tide.py: Permission denied"
    assert trail(_called("bash", {"command": command}, denied)).changes == ()


@pytest.mark.parametrize(
    ("result", "failed"),
    [
        ("3 passed", False),
        ("1 failed, 3 passed", True),
        ("0 failed, 3 passed", False),
        ("Traceback (most recent call last):\nValueError: no tide", True),
        ("exit code: 2", True),
        ("Process exited with code 0\nerror: none", False),
        ("built", False),
    ],
)
def test_how_a_command_ended(result, failed):
    (outcome,) = trail(_called("bash", {"command": "make test"}, result)).outcomes
    assert outcome.failed is failed


def test_readers_and_searches_are_no_commands():
    for line in ("ls -la", "cd src && grep -n 'a; b' x.py | head", "git log -3", "cat x | sort"):
        assert trail(_called("bash", {"command": line}, "")).outcomes == ()


@pytest.mark.parametrize(
    ("command", "same"),
    [
        ("cd /app && make test", "make test"),
        ("CI=1 make test 2>&1 | tail -20", "make test"),
        ("python3 /workspace/proj/run.py; echo rc=$?", "python3 proj/run.py"),
    ],
)
def test_commands_are_equal_after_what_does_not_matter(command, same):
    assert normal(command) == same


def test_a_file_is_told_beside_a_word_of_editing():
    assert is_written("tide.py", ["tide.py edited 3 times, last: `HIGH` [4]"])
    assert not is_written("tide.py", ["Reading file: tide.py"])
    assert not is_written("edit.py", ["Reading file: edit.py"])
    assert not is_written("tide.py", [f"Reading tide.py, {'and so on ' * 9}then I edit moon.py"])


def test_an_edit_is_shown_by_its_text_or_its_place():
    change = Change(4, "tide.py", "def high():\n    return compute_high(3)")
    assert is_shown(change, "    return compute_high(3)")
    assert is_shown(change, "tide.py edited, last: `compute_high` [4]")
    assert not is_shown(change, "tide.py edited, last: `compute_low` [4]")


FAILED = TrailOutcome(9, "make test", True, ("ValueError: no tide",))


def test_an_outcome_is_told_in_words_or_quoted():
    assert is_told(FAILED, ["make test: failed 3 times [9]"])
    assert is_told(FAILED, ["$ make test", "ValueError: no tide"])
    assert is_told(
        TrailOutcome(1, "python3 proj/run.py", False, ()), ["python3 /app/run.py: ok [1]"]
    )
    assert not is_told(FAILED, ["make test: 3 passed [5]"])
    assert not is_told(FAILED, ["ValueError: no tide"])


def test_what_was_quoted_claims_nothing():
    posted = [Message.of({"role": "user", "content": "tide.py edited\nmake test: ok"})]
    assert own_lines(["tide.py edited", "moon.py edited"], posted) == ["moon.py edited"]


def test_wrong_claims_are_found():
    done = Trail((Change(1, "tide.py", ""),), (FAILED,))
    line = "tide.py edited 2 times; moon.py created; make test: ok [9]"
    assert list(written_claims([line], done)) == [True, False]
    assert list(ended_claims([line], done)) == [False]
    assert list(ended_claims(["make test: failed 3 times, last `tide` [9]"], done)) == [True]
    assert list(ended_claims(["make lint: failed"], done)) == []
