"""Probes: what they are made of, and when one is kept."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from memtree.conversation import history
from memtree.conversation.message import Message, Volatile
from memtree.shadow.probes import (
    IDENTIFIER,
    KINDS,
    NAME,
    PATH,
    PROBES,
    RULE,
    VALUE,
    Probe,
    Score,
    ShadowResult,
    cut_of,
    is_kept,
    kind,
    positions,
    probes,
    survival,
    text_of,
    visible,
)
from memtree.text import tokens
from memtree.tree import growth
from memtree.tree.growth import Tail
from memtree.tree.node import Frontier, NodePlace, Summary
from tests.programs.sessions import chat, coding

RULE_TEXT = "From now on always answer in short sentences."


def read(messages: list[dict[str, Any]]) -> history.History:
    return history.read("t", tuple(map(Message.of, messages)), Volatile(), None, tokens.count)


def grown(posted: history.History) -> growth.GrownTree:
    return growth.grow(
        Tail(
            Frontier(),
            {},
            tuple(message.raw for message in posted.messages),
            tuple(fact.digest for fact in posted.facts),
            posted.addresses[1:],
            posted.volatile.tags,
            0,
        )
    )


def asked(messages: list[dict[str, Any]], cut: int | None = None, **options: Any) -> list[Probe]:
    posted = read(messages)
    tree = grown(posted)
    nodes = {node.id: node for node in tree.nodes}
    return probes(posted, tree.frontier, nodes, len(posted) if cut is None else cut, **options)


def session() -> list[dict[str, Any]]:
    said = {"role": "user", "content": f"Thanks. {RULE_TEXT} The port is 8080 in src/app.py."}
    return [said, {"role": "assistant", "content": "Noted."}, *coding(12_000)[1:]]


@pytest.mark.parametrize(
    ("anchor", "expected"),
    [
        ("src/app.py", PATH), ("app.py", PATH), ("C:\\tmp\\x", PATH), ("https://a.example/b", PATH),
        ("main.rs:12", PATH), ("8080", VALUE), ("12 %", VALUE), ("$5,000", VALUE),
        ("2024-03-01", VALUE), ("v1.2", VALUE), ("March 3", VALUE), ("3 hours", VALUE),
        ("#123", VALUE), ("deadbeef1", IDENTIFIER), ("1a2b3c4d", IDENTIFIER),
        ("parse_row", IDENTIFIER), ("KeyError", IDENTIFIER), ("--dry-run", IDENTIFIER),
        ("SHOP-105", IDENTIFIER), ("os.path", IDENTIFIER), ("ENOENT", IDENTIFIER),
        ("getName", IDENTIFIER), ("Sweden", NAME), ("Ada Lovelace", NAME), ("JSON", NAME),
        ("東京", NAME),
    ],
)  # fmt: skip
def test_kinds(anchor: str, expected: str):
    assert kind(anchor) == expected


@pytest.mark.slow
def test_probes_stand_in_the_text_and_come_once():
    messages = session()
    found = asked(messages)
    texts = "\n".join(one.text for one in map(Message.of, messages))
    assert all(one.text in texts for one in found)
    assert len(found) == len(set(found))
    assert {one.kind for one in found} >= {IDENTIFIER, PATH, RULE}
    assert Probe(RULE, RULE_TEXT) in found


def test_a_number_comes_with_its_word():
    assert Probe(VALUE, "8080", "port") not in asked(chat(40))
    said = [{"role": "user", "content": "Use port 8080 for it; 250 workers are enough."}, *chat(40)]
    found = [one for one in asked(said) if one.kind == VALUE]
    assert Probe(VALUE, "8080", "for") in found
    assert Probe(VALUE, "250", "workers") in found


def test_a_masked_secret_is_no_probe():
    key = "sk-proj-abcdefghijklmnopqrstuvwxyz0123456789ABCD"
    found = asked([{"role": "user", "content": f"My key is {key} in a.py"}, *chat(40)])
    assert not any("sk-" in one.text for one in found)
    assert Probe(PATH, "a.py") in found


@pytest.mark.slow
def test_what_stands_in_no_text_is_no_probe():
    posted = read(session())
    tree = grown(posted)
    ghost = Summary("headline", "body", ("ghost.py", "src/app.py"))
    nodes = {node.id: msgspec.structs.replace(node, summary=ghost) for node in tree.nodes}
    found = probes(posted, tree.frontier, nodes, len(posted))
    assert {one.text for one in found if one.kind == PATH} == {"src/app.py"}


@pytest.mark.slow
def test_nothing_is_asked_of_what_is_sent_whole():
    messages = session()
    assert asked(messages, 0) == []
    early = {one.text for one in asked(messages, 12, most=1000)}
    texts = "\n".join(one.text for one in map(Message.of, messages[:12]))
    assert early
    assert all(text in texts for text in early)


@pytest.mark.slow
def test_a_sample_is_bounded_and_always_the_same():
    messages = coding(30_000)
    found = asked(messages)
    for name in KINDS:
        assert sum(one.kind == name for one in found) <= PROBES
    assert found == asked(messages)
    assert len(asked(messages, most=3)) <= 3 * len(KINDS)
    later = asked([*messages, {"role": "user", "content": "Go on."}])
    assert {one.text for one in later} != {one.text for one in found}


@pytest.mark.parametrize(
    ("probe", "text", "kept"),
    [
        (Probe(PATH, "src/app.py"), "see src/app.py:", True),
        (Probe(PATH, "app.py"), "see src/app.py:", True),
        (Probe(PATH, "app.py"), "see myapp.py", False),
        (Probe(PATH, "app.py"), "see app.pyc", False),
        (Probe(VALUE, "8080"), "18080 and 80801 and x8080", False),
        (Probe(VALUE, "8080"), "18080 and 8080.", True),
        (Probe(VALUE, "8080", "port"), "Port: 8080", True),
        (Probe(VALUE, "8080", "port"), "8080 rows" + " " * 60 + "port", False),
        (Probe(VALUE, "8080", "port"), "8080 rows" + " " * 60 + "8080 is the port", True),
        (Probe(VALUE, "12 %"), "some 12 % of it", True),
        (Probe(RULE, RULE_TEXT), f"[3 user] {RULE_TEXT}", True),
        (Probe(RULE, RULE_TEXT), "From now on answer in short sentences.", False),
        (Probe(NAME, "東京"), "私は東京にいる", True),
        (Probe(IDENTIFIER, "x_y"), "", False),
    ],
)
def test_when_a_probe_is_kept(probe: Probe, text: str, kept: bool):
    assert is_kept(probe, text) is kept
    assert survival([probe], text) == {probe.kind: Score(1, int(kept))}


def test_every_place_of_a_term():
    assert list(positions("ab", "ab cab ab_ ab-ab")) == [0, 11, 14]


@pytest.mark.slow
def test_all_is_kept_of_what_is_sent_whole():
    messages = session()
    everything = visible(message.raw for message in map(Message.of, messages))
    assert all(
        score.kept == score.probes for score in survival(asked(messages), everything).values()
    )
    assert all(score.kept == 0 for score in survival(asked(messages), "").values())


def test_system_messages_are_not_in_sight():
    raws = [Message.of({"role": role, "content": role}).raw for role in ("system", "user")]
    assert visible(raws) == "user"


def test_the_cut_is_found_by_what_was_sent_whole():
    posted = read(chat(20))
    for cut in range(21):
        assert cut_of(posted, posted.size(cut)) == cut


def test_the_text_of_a_place():
    posted = read([{"role": "user", "content": text} for text in ("abcdef", "ghijkl", "mnop")])
    assert text_of(posted, NodePlace(0, 2, 1, 3)) == "cdef\nghi"
    assert text_of(posted, NodePlace(1, 3, 2, 0)) == "jkl"
    assert text_of(posted, NodePlace(1, 1, 1, 4)) == "hij"
    assert text_of(posted, NodePlace(0, 0, 3, 0)) == "abcdef\nghijkl\nmnop"


def test_amounts_for_the_tallies():
    assert ShadowResult(100, 100).amounts() == {"shadow.requests": 1}
    folded = ShadowResult(100, 40, True, {VALUE: Score(3, 2)})
    assert folded.amounts() == {
        "shadow.requests": 1, "shadow.folded": 1, "shadow.raw_tokens": 100,
        "shadow.sent_tokens": 40, "shadow.value.probes": 3, "shadow.value.kept": 2,
    }  # fmt: skip
