"""Plain ways to fit an agent's history into a budget."""

from __future__ import annotations

import json

import numpy as np

from benchmarks.recall.agent_needs import Session
from benchmarks.recall.agent_rivals import (
    MASK,
    NAMES,
    Rivals,
    files,
    last_tokens,
    newest,
    passages,
)
from memtree.conversation.message import Message
from memtree.text import tokens
from tests.made.saved_memories import TopicEmbedder
from tests.properties.strategies import prose

LAMP = "def pier_lamp():\n    return 'the lamp is lit at dusk'\n"


def _call(name: str, arguments: dict[str, str], id_: str) -> Message:
    function = {"name": name, "arguments": json.dumps(arguments)}
    calls = [{"id": id_, "type": "function", "function": function}]
    return Message.of({"role": "assistant", "content": None, "tool_calls": calls})


def _round(number: int, path: str, result: str) -> list[Message]:
    id_ = f"c{number}"
    return [
        _call("read", {"path": path}, id_),
        Message.of({"role": "tool", "tool_call_id": id_, "content": result}),
    ]


def _session() -> Session:
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
    session = _session()
    rivals, cut = await _rivals(session), len(session.messages)
    for target in (400, 1_000, 3_000):
        for name in NAMES:
            shown = await rivals.shown(name, cut, target)
            assert 0.6 * target < shown.tokens <= target, (name, target)
            assert tokens.count(shown.text) <= target
            assert session.texts[-1] in shown.text


async def test_a_file_in_hand_is_shown_though_it_was_read_long_ago():
    session = _session()
    rivals, cut = await _rivals(session), len(session.messages)
    assert LAMP in (await rivals.shown("files", cut, 1_000)).text
    assert LAMP not in (await rivals.shown("newest", cut, 1_000)).text


async def test_nothing_behind_the_cut_is_shown():
    session = _session()
    rivals = await _rivals(session)
    for name in NAMES:
        assert "no change" not in (await rivals.shown(name, 20, 3_000)).text


def test_the_newest_text_is_cut_to_the_token():
    session = _session()
    shown, begin = newest(session, len(session.messages), 500)
    assert 490 <= shown.tokens <= 500
    assert session.texts[begin - 1].endswith(shown.text.split("\n")[0])


async def test_old_results_are_masked_first():
    session = _session()
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
    session = _session()
    assert files(session, 1) == files(session, 2) == {"src/lamp.py"}
    assert files(session, 0) == frozenset()


def test_passages_join_neighbouring_texts_of_one_message():
    session = Session(
        "s",
        [
            Message.of({"role": "user", "content": "Tide one. Tide two."}),
            _call("edit", {"old": 'say "tide"'}, "c"),
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
