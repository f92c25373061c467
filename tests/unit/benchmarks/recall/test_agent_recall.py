"""Check what an agent used next, and how it is found in what a model is sent."""

from __future__ import annotations

import gzip
import json
from typing import Any

import numpy as np
import pytest

from benchmarks.data import Data
from benchmarks.recall.agent_needs import (
    Need,
    Session,
    Visible,
    Wanted,
    fetched,
    is_look_up,
    old_lines,
    plain,
    specific,
    stands,
    unescaped,
)
from benchmarks.recall.agent_points import Point, half_of, points, spread
from benchmarks.recall.agent_rivals import (
    MASK,
    NAMES,
    VERSION,
    Rivals,
    Shown,
    files,
    last_tokens,
    newest,
    passages,
)
from benchmarks.recall.next_step import described, judged, turns_of, visible_text
from memtree.history.message import Message
from memtree.text import tokens
from tests.made.saved_memories import TopicEmbedder
from tests.properties.strategies import prose

# ------------------------------------------------------------------------------------------------
# Read what an agent used next from the session, and find it in what a model is sent.


def _user(text: str) -> Message:
    return Message.of({"role": "user", "content": text})


def _said(text: str) -> Message:
    return Message.of({"role": "assistant", "content": text})


def _call(name: str, arguments: dict[str, Any], id_: str = "c") -> Message:
    function = {"name": name, "arguments": json.dumps(arguments)}
    calls = [{"id": id_, "type": "function", "function": function}]
    return Message.of({"role": "assistant", "content": None, "tool_calls": calls})


def _result(text: str, id_: str = "c") -> Message:
    return Message.of({"role": "tool", "tool_call_id": id_, "content": text})


FILE = "def rise(tide):\n    return tide + HIGH_WATER\n\n\nclass Harbour:\n    depth_limit = 1750\n"
LINES = [line.strip() for line in FILE.split("\n") if len(line.strip()) >= 12]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("see /home/me/app/src/tide.py", ["src/tide.py"]),
        ("see ./src/tide", ["src/tide"]),
        ("either and/or both", []),
        ("edit README.md", ["README.md"]),
        ("call result.error now", []),
        ("parse_line, parseLine, Harbour, sha256sum", ["parse_line", "parseLine", "sha256sum"]),
        ("port 8443 of 12, at most 2000", ["8443"]),
        ('says "no such harbour" and "yes"', ["no such harbour"]),
        ("https://tides.example/a/b?c=1 is down", ["https://tides.example/a/b?c=1"]),
        ("ENOENT or TS2345", ["TS2345", "ENOENT"]),
    ],
)
def test_specific_strings(text, found):
    assert specific(text) == found


@pytest.mark.parametrize(
    ("text", "whole", "answer"),
    [
        ("1750", "limit 1750.", True),
        ("1750", "limit 21750", False),
        ("rise_tide", "rise_tides, then rise_tide", True),
        ("src/tide.py", "/home/me/src/tide.py", True),
        ("src/tide.py", "/home/my_src/tide.py", False),
    ],
)
def test_a_string_stands_as_a_word_of_its_own(text, whole, answer):
    assert stands(text, whole) is answer


def _session() -> Session:
    return Session(
        "s",
        [
            _user("Raise HIGH_WATER in src/tide.py, and tell me of `pier_lamp`."),
            _call("read", {"path": "/app/src/tide.py"}, "a"),
            _result("     1\u2192" + FILE.replace("\n", "\n     2\u2192"), "a"),
            _call("bash", {"command": "make check"}, "b"),
            _result("3 failures, see only_here_below", "b"),
            _call(
                "edit",
                {
                    "path": "/app/src/tide.py",
                    "old_string": LINES[1],
                    "new_string": "only_here_below",
                },
                "d",
            ),
            _result("done", "d"),
            _call("read", {"path": "/app/src/tide.py"}, "e"),
            _result(FILE, "e"),
            _said("Done: HIGH_WATER, and new_name_of_it."),
        ],
    )


def test_needs_stood_in_the_history_before_the_newest_round():
    session = _session()
    needs = {need.text: need for need in session.wanted(5).needs}
    assert set(needs) == {"src/tide.py", "HIGH_WATER"}
    assert needs["HIGH_WATER"].back < session.before(5)


def test_a_rare_string_weighs_more_than_a_frequent_one():
    lines = "\n".join(["see often_named"] * 9)
    session = Session("s", [_user(f"{lines}\nsee rarely_named"), *_session().messages[1:5]])
    said = Session("s", [*session.messages, _said("often_named and rarely_named")])
    weights = {need.text: need.weight for need in said.wanted(5).needs}
    assert weights["rarely_named"] > weights["often_named"]


def test_needs_are_far_by_the_tokens_behind_their_last_place():
    body = "word " * 500
    session = Session(
        "s", [_user("first_name"), _said(body), _user("last_name"), _said("ok"), _user("go on")]
    )
    said = Session("s", [*session.messages, _said("first_name, last_name")])
    back = {need.text: need.back for need in said.wanted(5).needs}
    assert back["last_name"] < 30 < 500 < back["first_name"] <= said.before(5)


def test_names_of_tools_are_no_needs():
    messages = [_user("use read_file"), _call("read_file", {"path": "a"}), _result("x")]
    session = Session("s", [*messages, _said("read_file again")])
    assert session.wanted(3).needs == ()


def test_messages_with_nothing_but_a_recorders_calls_are_none_of_the_agents():
    messages = [_user("go on"), _call("thought", {"input": "tide"}), _result("hm"), _said("yes")]
    session = Session("s", messages)
    assert [session.is_cut(index) for index in range(4)] == [False, False, False, True]


def test_old_lines_are_those_that_the_history_held():
    assert _session().wanted(5).old == (LINES[1],)
    assert _session().wanted(7).old == ()


@pytest.mark.parametrize(
    "message",
    [
        _call("edit", {"path": "a", "oldText": FILE, "newText": "HIGH = 1"}),
        _call("MultiEdit", {"edits": [{"old_string": FILE, "new_string": "nothing of it all"}]}),
        _call("edit", {"search": FILE, "replace": ""}),
        _said(f"a.py\n<<<<<<< SEARCH\n{FILE}=======\nsomething else now\n>>>>>>> REPLACE"),
        _said(
            "I edit\n" + json.dumps({"path": "a", "old_str": FILE, "new_str": "other text here"})
        ),
        _call(
            "apply_patch",
            {
                "input": "*** Begin Patch\n*** Update File: a.py\n@@\n-"
                + FILE.rstrip("\n").replace("\n", "\n ")
                + "\n+and a new line of it\n*** End Patch"
            },
        ),
    ],
    ids=["pi", "several", "search", "aider", "written out", "patch"],
)
def test_old_lines_of_each_form_of_edit(message):
    assert old_lines(message) == LINES


def test_a_repeated_look_up_asks_for_the_lines_that_the_history_held():
    few = "\n".join([*LINES[:3], "one more line here"])
    session = Session("s", [*_session().messages[:7], *_read_again(few)])
    assert session.wanted(7).again == ()  # four lines are too few to tell
    longer = FILE + "pier_lamp = Harbour()\nquay_wall = Harbour()\n"
    messages = list(_session().messages[:7])
    messages[2] = _result(longer, "a")
    session = Session("s", [*messages, *_read_again(longer + "one more line here\n")])
    assert session.wanted(7).again == (*LINES, "pier_lamp = Harbour()", "quay_wall = Harbour()")


def test_a_look_up_of_new_lines_is_no_repetition():
    new = "\n".join(f"a line that is new {number}" for number in range(20))
    session = Session("s", [*_session().messages[:7], *_read_again(FILE + new)])
    assert session.wanted(7).again == ()


def _read_again(result: str) -> list[Message]:
    return [_call("read", {"path": "/app/src/tide.py"}, "z"), _result(result, "z")]


@pytest.mark.parametrize(
    ("tool", "arguments", "answer"),
    [
        ("Read", {"path": "a"}, True),
        ("Grep", {"input": "a"}, True),
        ("Bash", {"command": "cd /app && sed -n '1,20p' a.py"}, True),
        ("Bash", {"command": "git diff HEAD"}, True),
        ("Bash", {"command": "make check"}, False),
        ("Edit", {"path": "a"}, False),
        ("thought", {"input": "read"}, False),
    ],
)
def test_look_ups(tool, arguments, answer):
    assert is_look_up(tool, arguments) is answer


def test_numbers_in_front_of_fetched_lines_are_none_of_them():
    assert fetched("     7\u2192def parse(line):\nsrc/a.py:12:    return parse(line)\n") == [
        "def parse(line):",
        "return parse(line)",
    ]


def test_plain_text_has_no_escapes_of_json():
    assert plain(_call("edit", {"path": "a", "old": 'say "yes"\n\tnow'})) == 'a\nsay "yes"\n\tnow'
    assert unescaped('say \\"yes\\"\\n\\tnow \\u00e9') == 'say "yes"\n\tnow \u00e9'


def test_visible_is_what_is_quoted_with_and_without_escapes():
    quoted = Visible('\u00b63 assistant\n{"old": "    return \\"high\\"\\n    depth_limit = 2"}')
    assert quoted.holds('return "high"')
    assert quoted.holds("depth_limit = 2")
    assert quoted.has("depth_limit")
    assert not quoted.has("limit")
    assert Visible('print("a\\n")').holds('print("a\\n")')


# ------------------------------------------------------------------------------------------------
# Plain ways to fit an agent's history into a budget.


LAMP = "def pier_lamp():\n    return 'the lamp is lit at dusk'\n"


def agent_rivals_call(name: str, arguments: dict[str, str], id_: str) -> Message:
    function = {"name": name, "arguments": json.dumps(arguments)}
    calls = [{"id": id_, "type": "function", "function": function}]
    return Message.of({"role": "assistant", "content": None, "tool_calls": calls})


def _round(number: int, path: str, result: str) -> list[Message]:
    id_ = f"c{number}"
    return [
        agent_rivals_call("read", {"path": path}, id_),
        Message.of({"role": "tool", "tool_call_id": id_, "content": result}),
    ]


def agent_rivals_session() -> Session:
    """The file `lamp.py` is read early, and touched once more shortly before the end."""
    messages = [Message.of({"role": "user", "content": "Mend the lamp."})]
    messages += _round(0, "src/lamp.py", LAMP)
    for number in range(1, 40):
        messages += _round(number, f"src/other{number}.py", prose(number, 60))
    messages += _round(40, "src/lamp.py", "no change")
    for number in range(41, 45):
        messages += _round(number, f"src/other{number}.py", prose(number, 60))
    return Session("s", messages)


async def _rivals(session: Session) -> Rivals:
    embedder = TopicEmbedder()
    texts = [text for text in session.texts if text]
    rows = await embedder.embed(texts)
    return Rivals(session, list(zip(texts, rows, strict=True)), embedder)


async def test_no_rival_is_over_the_target():
    session = agent_rivals_session()
    rivals, cut = await _rivals(session), len(session.messages)
    for target in (400, 1_000, 3_000):
        for name in NAMES:
            shown = await rivals.shown(name, cut, target)
            assert 0.6 * target < shown.tokens <= target, (name, target)
            assert tokens.count(shown.text) <= target
            assert session.texts[-1] in shown.text


async def test_a_file_in_hand_is_shown_though_it_was_read_long_ago():
    session = agent_rivals_session()
    rivals, cut = await _rivals(session), len(session.messages)
    assert LAMP in (await rivals.shown("files", cut, 1_000)).text
    assert LAMP not in (await rivals.shown("newest", cut, 1_000)).text


async def test_nothing_behind_the_cut_is_shown():
    session = agent_rivals_session()
    rivals = await _rivals(session)
    for name in NAMES:
        assert "no change" not in (await rivals.shown(name, 20, 3_000)).text


def test_the_newest_text_is_cut_to_the_token():
    session = agent_rivals_session()
    shown, begin = newest(session, len(session.messages), 500)
    assert 490 <= shown.tokens <= 500
    assert session.texts[begin - 1].endswith(shown.text.split("\n")[0])


async def test_old_results_are_masked_first():
    session = agent_rivals_session()
    shown = await (await _rivals(session)).shown("masked", len(session.messages), 1_500)
    assert MASK in shown.text
    assert "Mend the lamp." in shown.text
    assert session.texts[-1] in shown.text


def test_the_end_of_a_text_has_as_many_tokens_as_allowed():
    text = prose(1, 300)
    end = last_tokens(text, 50)
    assert text.endswith(end)
    assert 45 <= tokens.count(end) <= 50


def test_files_of_a_result_are_those_of_its_call():
    session = agent_rivals_session()
    assert files(session, 1) == files(session, 2) == {"src/lamp.py"}
    assert files(session, 0) == frozenset()


def test_passages_join_neighbouring_texts_of_one_message():
    session = Session(
        "s",
        [
            Message.of({"role": "user", "content": "Tide one. Tide two."}),
            agent_rivals_call("edit", {"old": 'say "tide"'}, "c"),
        ],
    )
    one, two = np.array([1.0, 0.0], np.float32), np.array([0.0, 1.0], np.float32)
    found = list(
        passages(session, [("Tide one. ", one), ("Tide two.", two), ('say \\"tide\\"', two)])
    )
    assert [(each.message, each.text) for each in found] == [
        (0, "Tide one. Tide two."),
        (1, 'say "tide"'),
    ]
    assert np.allclose(found[0].vector, np.array([1, 1]) / np.sqrt(2))


# ------------------------------------------------------------------------------------------------
# Judge what a model is sent by what the agent used next.


NEEDS = (Need("pier_lamp", 3.0, 100), Need("HIGH_WATER", 1.0, 9_000))
NEXT_STEP_LINES = ("return tide + 1", "depth_limit = 2")
POINT = Point("s@5", 5, 30_000, "edit", Wanted(NEEDS, NEXT_STEP_LINES, ("class Harbour:",)))


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
