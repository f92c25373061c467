"""Data sets, cases and checkers of the benchmarks."""

from __future__ import annotations

import gzip
import json
from collections import Counter
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from benchmarks.data import Data, MissingData, Needle
from benchmarks.extraction.conversations import FILES as EXTRACTION_CASES_FILES
from benchmarks.extraction.conversations import conversations
from benchmarks.extraction.conversations import score as extraction_cases_score
from benchmarks.extraction.sentences import FILES, PRECISION, RIGHT, UNKNOWN, score
from benchmarks.facts import FACTS, KINDS, Fact, Told, kept, plant, shares, told
from benchmarks.invariants import Reply, recalled, size, violations
from benchmarks.kept_vectors import KeptVectors
from benchmarks.memories.secrets import texts
from memtree.history.chat_history import read
from memtree.history.message import Message, Volatile
from memtree.statements.grammar import SkipReason
from memtree.text import secrets
from memtree.tree import growth
from memtree.tree.node import EMPTY, Summary
from tests.made.saved_memories import TopicEmbedder
from tests.properties.strategies import prose

# ------------------------------------------------------------------------------------------------
# Readers of the data sets, on files of the same form written here.


TALK = {
    "sample_id": "a talk",
    "conversation": {
        "speaker_a": "Ida",
        "speaker_b": "Ole",
        "session_2_date_time": "02.03.2024, 10:00:00",
        "session_2": [{"speaker": "Ole", "dia_id": "D2:1", "text": "It was fun."}],
        "session_1_date_time": "01.03.2024, 10:00:00",
        "session_1": [
            {"speaker": "Ida", "dia_id": "D1:1", "text": "I row.", "blip_caption": "a boat"},
            {"speaker": "Ole", "dia_id": "D1:9000", "text": "My knee hurts."},
        ],
    },
    "qa": [
        {"question": "Who rows?", "answer": "Ida", "evidence": ["D1:1; D2:01"], "category": 1},
        {"question": "Stairs again.", "answer": "", "evidence": ["D1:9000"], "category": 2},
        {"question": "Nobody knows.", "evidence": ["D7:1"], "category": 3},
    ],
}


def _data(folder: Path, name: str, content: Any) -> Data:
    with gzip.open(folder / f"{name}.json.gz", "wt") as file:
        json.dump(content, file)
    return Data(folder)


@pytest.mark.parametrize(
    ("name", "file", "kinds"),
    [
        ("realtalk", "realtalk_dev", ["multi-hop", "temporal"]),
        ("plus", "locomo_plus_dev", ["causal", "state"]),
    ],
)
def test_talks_are_read_session_by_session(tmp_path, name, file, kinds):
    (talk,) = _data(tmp_path, file, [TALK]).talks(name)
    assert [(m.role, m.text) for m in talk.messages] == [
        ("user", "[01.03.2024, 10:00:00]\nIda: I row. [photo: a boat]"),
        ("assistant", "Ole: My knee hurts."),
        ("assistant", "[02.03.2024, 10:00:00]\nOle: It was fun."),
    ]
    assert [probe.kind for probe in talk.probes] == kinds
    assert talk.probes[0].evidence == {"user": ("I row.",), "assistant": ("It was fun.",)}
    assert talk.probes[1].evidence == {"assistant": ("My knee hurts.",)}


def test_hard_needles_are_read_with_their_roles(tmp_path):
    (tmp_path / "needles_hard.json").write_text('[["tool", "disk full", "What ran out?"]]')
    assert Data(tmp_path).hard_needles() == [Needle("tool", "disk full", "What ran out?")]


def test_a_missing_file_is_named(tmp_path):
    with pytest.raises(MissingData, match=r"needles_hard\.json"):
        Data(tmp_path).hard_needles()


# ------------------------------------------------------------------------------------------------
# Facts that are planted to measure summaries: where they stand, and what counts as kept.


FACT = Fact("number", "coding", "user", "It took the 3.7 s.", ("took 3.7 s", "it|this"))


def history_of(messages):
    return read("t", messages, Volatile(()))


def grown(history):
    raws = tuple(one.raw for one in history.messages)
    digests = tuple(one.digest for one in history.facts)
    return growth.grow(growth.Tail(EMPTY, {}, raws, digests, history.addresses[1:], ())).nodes


def chat(length, words=250):
    return [
        Message.of({"role": role, "content": prose(2 * at + (role == "user"), words)})
        for at in range(length)
        for role in ("user", "assistant")
    ]


@pytest.mark.slow
@pytest.mark.long
def test_a_hundred_facts_of_all_kinds_that_differ():
    assert len(FACTS) == len({fact.sentence for fact in FACTS}) == 100
    counts = Counter(fact.kind for fact in FACTS)
    assert set(counts) == set(KINDS)
    assert min(counts.values()) >= 9
    assert all(kept(fact, fact.sentence) and "{" not in fact.sentence for fact in FACTS)
    # No fact is kept by another one's sentence.
    for fact in FACTS:
        assert [one for one in FACTS if kept(fact, one.sentence)] == [fact]


@pytest.mark.parametrize(
    ("text", "is_kept"),
    [
        ("this TOOK 3.7 s", True),
        ("It took\nthe 3.7 s.", True),
        ("It took 3.7 seconds", False),
        ("It took 13.7 s", False),
        ("took 3.7 s", False),
        ("", False),
    ],
)
def test_kept(text, is_kept):
    assert kept(FACT, text) is is_kept


def test_planting_is_the_same_every_time_and_changes_nothing_else():
    messages = chat(20)
    planted = plant(messages, FACTS)
    assert [one.raw for one in planted] == [one.raw for one in plant(messages, FACTS)]
    views = [one.view(Volatile(())).text for one in planted]
    for fact in FACTS:
        at = [place for place, text in enumerate(views) if fact.sentence in text]
        assert len(at) == 1
        assert messages[at[0]].role == fact.role
    for fact in FACTS:
        views = [text.replace(f" {fact.sentence}", "") for text in views]
    assert views == [one.view(Volatile(())).text for one in messages]


def test_no_fact_stands_in_code_or_in_a_message_with_calls():
    call = {"id": "1", "type": "function", "function": {"name": "f", "arguments": "{}"}}
    messages = [
        Message.of({"role": "user", "content": "Look:\n\n```\na\n\nb\n```\n\nWell?"}),
        Message.of({"role": "assistant", "content": "Yes.", "tool_calls": [call]}),
    ]
    facts = [fact for fact in FACTS if fact.role == "user"]
    text = plant(messages, facts)[0].view(Volatile(())).text
    assert "```\na\n\nb\n```" in text
    assert all(fact.sentence in text for fact in facts)
    with pytest.raises(ValueError, match="assistant"):
        plant(messages, FACTS)


def test_shares_count_only_what_stands_below():
    texts = [
        Told("0", f"a {FACT.sentence}", "it took 3.7 s"),
        Told("0", "nothing of it", "it took 3.7 s"),
        Told("1", f"a {FACT.sentence} b", "something"),
    ]
    assert shares([FACT], texts) == {
        "0": {"number": (1, 1), "all": (1, 1)},
        "1": {"number": (0, 1), "all": (0, 1)},
    }


@pytest.mark.slow
def test_levels_of_a_tree():
    history = history_of(plant(chat(30), FACTS))
    nodes = grown(history)
    texts = list(told(history, nodes))
    assert sum(one.level == "0" for one in texts) == sum(node.is_leaf for node in nodes)
    found = shares(FACTS, texts)
    assert set(found) >= {"0", "1", "top"}
    # Each fact but those at the end, whose leaf is not final, stands in one leaf and one root.
    assert found["0"]["all"][1] == found["top"]["all"][1] > 80
    assert found["0"]["all"][0] > found["top"]["all"][0] > 0
    empty = {node.id: Summary("", "") for node in nodes}
    assert shares(FACTS, told(history, nodes, empty))["0"]["all"][0] == 0


# ------------------------------------------------------------------------------------------------
# The checker of the benchmarks lets honest answers through and finds each broken promise.


TARGET = 2_000
OPENING = "<recalled_context>"
CLOSING = "</recalled_context>"


def message(role, content, **fields):
    return Message.of({"role": role, "content": content, **fields})


POSTED = (
    message("system", "Be brief."),
    message("user", "Our port is 7341.\n¶0 user\nis how a label looks."),
    message("assistant", "Noted. `retry()` waits 90 seconds.\n```\nretry()\n```"),
    message("user", "Go on."),
    message("assistant", "Gone on."),
    message("user", "Which port?", name="ada"),
)
MEMORY = "<context_memory>\n- ¶1-2 port\n¶2 assistant\n`retry()` waits 90 s\n</context_memory>"
BLOCK = (
    f"{OPENING}\nEarlier:\n¶1 user\nOur port is 7341.\n0 user\nis how a label looks.\n"
    f"- ¶2 retries\n¶2 assistant\nNoted.\n[...]\n```\nretry()\n```\n{CLOSING}"
)


def before(block, posted):
    content = posted.content
    if isinstance(content, str):
        return Message.of({**posted.fields, "content": f"{block}\n\n{content}"})
    parts = [{"type": "text", "text": f"{block}\n\n"}, *content]
    return Message.of({**posted.fields, "content": parts})


def sent(*tail):
    return [m.raw for m in (POSTED[0], message("user", MEMORY), *tail)]


HONEST = sent(*POSTED[3:5], before(BLOCK, POSTED[5]))


def check(raws, *excerpts):
    return violations(POSTED, raws, {"excerpts": list(excerpts)}, TARGET)


def excerpt(number, piece):
    start = POSTED[number].text.index(piece)
    digest = sha256(piece.encode()).hexdigest()
    where = {"message": number, "part": "content", "start": start, "end": start + len(piece)}
    return {**where, "sha256": digest}


def test_an_honest_answer_with_a_block_passes():
    assert check(HONEST, excerpt(1, "Our port is 7341.")) == []


def test_a_block_may_be_a_first_part():
    newest = message("user", [{"type": "text", "text": "Which port?"}])
    posted = (*POSTED[:5], newest)
    raws = sent(*POSTED[3:5], before(BLOCK, newest))
    assert violations(posted, raws, {}, TARGET) == []


def test_a_block_is_visible_and_the_question_is_not():
    reply = Reply.of(HONEST, POSTED)
    assert "Our port is 7341." in reply.visible
    assert "Which port?" not in reply.visible


def test_without_its_blocks_an_answer_has_the_posted_bytes():
    assert Reply.of(HONEST, POSTED).unblocked == sent(*POSTED[3:])


@pytest.mark.parametrize(
    "block",
    [
        BLOCK.replace("7341", "7342"),
        BLOCK.replace("¶1 user", "¶1 assistant"),
        BLOCK.replace("¶2 assistant\nNoted.", "¶3 user\nGo on."),
        BLOCK.replace("¶2 assistant\nNoted.", "¶2 assistant\nNoted, done."),
        f"{OPENING}\nOur port is 7341.\n{CLOSING}",
    ],
    ids=["changed", "role", "not before the cut", "added", "no label"],
)
def test_a_block_that_is_not_verbatim_is_found(block):
    found = check(sent(*POSTED[3:5], before(block, POSTED[5])))
    assert found
    assert all("recall block" in one for one in found)


def test_a_message_changed_beside_its_block_is_found():
    fields = before(BLOCK, POSTED[5]).fields
    for changed in (
        {**fields, "content": fields["content"] + "!"},
        {**fields, "name": "bob"},
        {key: value for key, value in fields.items() if key != "name"},
    ):
        assert recalled(Message.of(changed), POSTED[5]) is None
        assert "the newest message is not whole and last" in check(
            sent(*POSTED[3:5], Message.of(changed))
        )


def test_only_users_get_blocks():
    raws = sent(POSTED[3], before(BLOCK, POSTED[4]), POSTED[5])
    assert "the recent part is no suffix of what was posted" in check(raws)


def test_a_block_needs_a_memory_message():
    raws = [m.raw for m in (*POSTED[:5], before(BLOCK, POSTED[5]))]
    assert any("no memory message" in one for one in check(raws))


def test_an_excerpt_that_stands_nowhere_is_found():
    assert any("neither" in one for one in check(HONEST, excerpt(2, "Noted. `retry()`")))


def test_blocks_count_against_a_hard_target_and_less_against_a_soft_one():
    long = message("user", "Again: " + "port " * 3 * TARGET)
    posted = (POSTED[0], long, *POSTED[2:])
    block = f"{OPENING}\nEarlier:\n¶1 user\n{long.text}\n{CLOSING}"
    raws = sent(*POSTED[3:5], before(block, POSTED[5]))
    assert TARGET < size([Message(raw) for raw in raws]) < 4 * TARGET
    assert any("at a target of" in one for one in violations(posted, raws, {}, TARGET))
    assert violations(posted, raws, {}, TARGET, hard=False) == []


def test_json_may_be_written_otherwise():
    loose = Message(json.dumps(before(BLOCK, POSTED[5]).fields, indent=1).encode())
    assert check(sent(*POSTED[3:5], loose)) == []


# ------------------------------------------------------------------------------------------------
# Vectors kept in a file between runs.


class Counting(TopicEmbedder):
    """Counts the texts that it embeds."""

    def __init__(self) -> None:
        super().__init__()
        self.texts: list[str] = []

    async def embed(self, texts):
        self.texts += texts
        return await super().embed(texts)

    async def embed_query(self, text):
        self.texts.append(f"? {text}")
        return await super().embed_query(text)


async def test_a_text_is_embedded_once_for_all_runs(tmp_path):
    rows = []
    first, second = Counting(), Counting()
    for embedder in (first, second):
        kept = KeptVectors(embedder, tmp_path / "vectors.db")
        rows.append(await embedder.embed(["a tide", "a port", "a tide"]))
        rows.append(await embedder.embed_queries(["a port", "a tide"]))
        assert np.array_equal(rows[-1][0], await embedder.embed_query("a port"))
        kept.close()
    assert first.texts == ["a tide", "a port", "? a port", "? a tide"]
    assert second.texts == []
    assert np.array_equal(rows[0], rows[2])
    assert np.array_equal(rows[1], rows[3])


async def test_texts_of_another_recipe_are_embedded_anew(tmp_path):
    first, second = Counting(), Counting()
    second.recipe = "another"
    for embedder in (first, second):
        kept = KeptVectors(embedder, tmp_path / "vectors.db")
        await embedder.embed(["a tide"])
        kept.close()
    assert second.texts == ["a tide"]


# ------------------------------------------------------------------------------------------------
# Names behind `losses` and `midepoch` choose their data sets.


@pytest.mark.parametrize(
    ("typed", "names", "sets"),
    [
        ([], None, ()),
        (["losses"], ["losses"], ()),
        (["losses", "realtalk", "beam"], ["losses"], ("realtalk", "beam")),
        (["midepoch", "locomo"], ["midepoch"], ("locomo",)),
        (["losses", "cost"], ["losses", "cost"], ()),
        (["realtalk", "losses"], ["realtalk", "losses"], ()),
    ],
)
def test_names_behind_a_benchmark_choose_its_sets(typed, names, sets):
    from benchmarks import __main__ as program  # which imports all benchmarks

    assert program.chosen(typed) == (names or list(program.ALL), sets)


def test_each_set_is_a_name_that_can_be_typed():
    from benchmarks import __main__ as program

    assert all(set(sets) <= set(program.ALL) for sets in program.SETS.values())


# ------------------------------------------------------------------------------------------------
# The texts of the benchmark of secrets: all that hold one are found, none of the others.


WITH, WITHOUT = texts()


@pytest.mark.parametrize("text", WITH, ids=lambda text: text[:30])
def test_a_secret_is_found(text):
    assert secrets.find(text)


@pytest.mark.parametrize("text", WITHOUT, ids=lambda text: text[:30])
def test_what_is_none_is_left_alone(text):
    assert not secrets.find(text)


# ------------------------------------------------------------------------------------------------
# Single sentences written by hand: stored or skipped no worse than they were.


@pytest.mark.slow
@pytest.mark.parametrize("name", FILES)
def test_nine_of_ten_sentences_are_right(name):
    cases = conversations(f"{name}.txt")
    assert score(cases).precision >= PRECISION, score(cases).errors
    known = score(case for case in cases if case.kind not in UNKNOWN)
    assert 100 * known.right / known.messages >= RIGHT, known.errors


def test_each_sentence_has_a_label_or_known_reasons():
    for name in FILES:
        for case in conversations(f"{name}.txt"):
            for said in case.messages:
                assert bool(said.labels) != bool(said.reasons), said.text
                assert set(said.reasons) <= {str(reason) for reason in SkipReason}


# ------------------------------------------------------------------------------------------------
# Check what is extracted by rule from conversations written by hand: no worse than it was.


@pytest.mark.slow
@pytest.mark.parametrize("name", EXTRACTION_CASES_FILES)
def test_most_of_what_is_found_is_right_and_half_of_it_is_found(name):
    total = extraction_cases_score(conversations(name))
    assert total.precision >= 90, total.wrong
    assert total.recall >= 50, total.missed


def test_the_conversations():
    cases = [case for name in EXTRACTION_CASES_FILES for case in conversations(name)]
    empty = [case for case in cases if not any(said.labels for said in case.messages)]
    assert len(cases) >= 270
    assert len(empty) >= 0.4 * len(cases)
    assert sum(not case.kind.startswith("en ") for case in cases) >= 0.15 * len(cases)
