"""Judge what a model is sent by what the agent used next."""

from __future__ import annotations

import gzip
import json

import pytest

from benchmarks.data import Data
from benchmarks.recall.agent_needs import Need, Session, Wanted
from benchmarks.recall.agent_points import Point, half_of, points, spread
from benchmarks.recall.agent_rivals import VERSION, Shown
from benchmarks.recall.next_step import described, judged, turns_of, visible_text
from memtree.conversation.message import Message

NEEDS = (Need("pier_lamp", 3.0, 100), Need("HIGH_WATER", 1.0, 9_000))
LINES = ("return tide + 1", "depth_limit = 2")
POINT = Point("s@5", 5, 30_000, "edit", Wanted(NEEDS, LINES, ("class Harbour:",)))


def test_needs_are_weighed_and_parted_by_where_they_stood():
    figures = judged(POINT, Shown("see pier_lamp; depth_limit = 2", 10), 8_000)
    assert (figures["needs"], figures["near"], figures["far"]) == (0.75, 1.0, 0.0)
    assert (figures["old"], figures["again"]) == (0.5, 0.0)
    assert figures["missing"]["needs"] == [["HIGH_WATER", 9_000]]
    assert figures["missing"]["old"] == ["return tide + 1"]


def test_an_answer_over_the_target_shows_nothing():
    shown = Shown("pier_lamp HIGH_WATER", 8_001)
    assert judged(POINT, shown, 8_000)["needs"] == 0.0
    assert judged(POINT, shown, None)["needs"] == 1.0


def test_what_was_not_wanted_has_no_share():
    figures = judged(Point("s@5", 5, 30_000, "even", Wanted(NEEDS[:1])), Shown("", 0), 8_000)
    assert (figures["far"], figures["old"], figures["again"]) == (None, None, None)


def test_rivals_of_an_earlier_run_count_while_the_point_is_the_same():
    rivals = {"8000": {"newest": {"needs": 0.5}}}
    known = {"s@5": {"digest": POINT.digest, "version": VERSION, "rivals": rivals}}
    assert described(POINT, known)["rivals"] == rivals
    other = Point("s@5", 5, 30_000, "edit", Wanted(NEEDS[:1]))
    assert described(other, known)["rivals"] == {}
    known["s@5"]["version"] = VERSION - 1
    assert described(POINT, known)["rivals"] == {}


def test_calls_are_visible_and_system_messages_are_not():
    function = {"name": "edit", "arguments": '{"old": "say \\"yes\\""}'}
    calls = [{"id": "c", "type": "function", "function": function}]
    text = visible_text(
        [
            Message.of({"role": "system", "content": "be_quick"}),
            Message.of({"role": "assistant", "content": "so_be_it", "tool_calls": calls}),
        ]
    )
    assert 'say "yes"' in text
    assert "so_be_it" in text
    assert "be_quick" not in text


def _long_session(rounds: int) -> Session:
    messages = [Message.of({"role": "user", "content": "Mend pier_lamp in src/lamp.py."})]
    for number in range(rounds):
        function = {"name": "read", "arguments": '{"path": "src/lamp.py"}'}
        call = {"id": f"c{number}", "type": "function", "function": function}
        messages.append(Message.of({"role": "assistant", "content": None, "tool_calls": [call]}))
        text = "\n".join(f"a line of round {number}: {line}" for line in range(100))
        messages.append(Message.of({"role": "tool", "tool_call_id": f"c{number}", "content": text}))
    return Session("s", messages)


def test_points_have_enough_behind_them_and_are_spread():
    session = _long_session(40)
    found = points(session, 6)
    assert len(found) == 6
    assert all(point.behind >= 20_000 and point.wanted.needs for point in found)
    assert found[-1].behind - found[0].behind > 0.4 * (found[-1].behind - 20_000)


@pytest.mark.parametrize(("places", "number"), [(range(50), 8), (range(3), 8), (range(8), 8)])
def test_places_are_evenly_spread(places, number):
    found = spread(list(places), number)
    assert len(set(found)) == min(number, len(places))
    assert min(found) < len(places) / 2 <= max(found) + 1


def test_a_running_mode_replays_the_turns_before_a_cut():
    session = _long_session(100)
    assert turns_of(session, [151], running=False) == [151]
    assert turns_of(session, [151], running=True) == list(range(33, 152, 2))


def test_the_halves_depend_on_the_session_alone():
    halves = [half_of(f"session {number}") for number in range(100)]
    assert halves == [half_of(f"session {number}") for number in range(100)]
    assert 30 < halves.count("dev") < 70


def test_sessions_of_agents_are_read_as_they_are(tmp_path):
    with gzip.open(tmp_path / "runs.json.gz", "wt") as file:
        json.dump([{"id": "a", "messages": [{"role": "user", "content": "Hello."}]}], file)
    (talk,) = Data(tmp_path).agent_sessions("runs")
    assert (talk.id, talk.messages[0].text) == ("a", "Hello.")
