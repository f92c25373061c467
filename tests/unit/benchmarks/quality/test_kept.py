"""The parts of the benchmark of summaries: its story, its ways of reading, its best model."""

from __future__ import annotations

import pytest

from benchmarks import stories
from benchmarks.data import Probe
from benchmarks.facts import FACTS, kept, plant
from benchmarks.quality import outlines
from benchmarks.quality.quoting import Quoting
from benchmarks.quality.views import BOTH, EXTRACTION, MODEL, VIEWS, View
from memtree.conversation.message import Message
from memtree.summaries.batching import settled, written
from memtree.summaries.check import check
from memtree.summaries.prompts import FICTION, TOLD, SourcePiece, kind_of, leaf_task, node_task
from memtree.summaries.replies import Draft
from memtree.text import tokens
from memtree.tree.node import Node, Summary

FIRST = Summary("extracted", "what the text says", ("a.py",))
NODE = Node(b"1", 0, 9, 1, 0, FIRST)
OTHER = Node(b"2", 0, 9, 1, 0, FIRST)


class OneStore:
    """`both`: how the process that wrote the summary was set."""

    def __init__(self, both):
        draft = Draft("a headline", "what the model says")
        self._later = {
            b"1": written(NODE, draft, "m", (5, 6), both=both),
            b"2": settled(OTHER, "m", (7, 8)),
        }

    async def newest_summaries(self, tenant, ids):
        return {id_: self._later[id_] for id_ in ids if id_ in self._later}

    async def nodes(self, tenant, ids):
        return {one.id: one for one in (NODE, OTHER) if one.id in ids}

    def other(self):
        return "other"


@pytest.mark.parametrize("both", [True, False])
async def test_one_store_is_read_three_ways(both):
    shown = {}
    for way in VIEWS:
        found = await View(OneStore(both), way).newest_summaries("t", [b"1", b"2", b"3"])
        shown[way] = [one.shown for one in found.values()]
    assert shown == {
        EXTRACTION: [],
        MODEL: ["what the model says", "what the text says"],
        BOTH: ["what the model says what the text says", "what the text says"],
    }
    assert View(OneStore(both), MODEL).other() == "other"


@pytest.mark.slow
def test_the_story_holds_its_facts_and_nothing_like_them():
    told = stories.story()
    text = "\n".join(one.text for one in told)
    assert [fact for fact in stories.FACTS if kept(fact, text)] == []
    planted = plant(told, stories.FACTS)
    text = "\n".join(one.text for one in planted)
    assert all(text.count(fact.sentence) == 1 for fact in stories.FACTS)
    for fact in stories.FACTS:
        assert [one for one in (*stories.FACTS, *FACTS) if kept(one, fact.sentence)] == [fact]
    assert stories.SIZE < sum(tokens.count(one.text) for one in told) < stories.SIZE + 400
    assert [one.role for one in told[:4]] == ["user", "assistant"] * 2
    sources = [SourcePiece(one.role, at, one.text) for at, one in enumerate(planted[:8])]
    assert kind_of(sources) == FICTION


ALL = (*FACTS, *stories.FACTS)


@pytest.mark.slow
def test_no_check_refuses_a_quoted_fact():
    quoting = Quoting(ALL)
    for fact in ALL:
        text = f"Well, here we are. {fact.sentence} So much."
        task = leaf_task("1", [SourcePiece(fact.role, 0, text)])
        draft = quoting.draft(task)
        assert kept(fact, draft.body), fact
        assert check(draft, task, tokens.count) == [], fact


async def test_as_many_facts_are_quoted_as_fit_and_above_leaves_they_are_found_again():
    held = FACTS[:12]
    sources = [SourcePiece(fact.role, at, fact.sentence) for at, fact in enumerate(held)]
    leaf = leaf_task("1", sources)
    draft = (await Quoting(held).write([leaf])).drafts["1"]
    assert TOLD * leaf.cap - 25 < tokens.count(draft.body) <= TOLD * leaf.cap
    quoted = [fact for fact in held if kept(fact, draft.body)]
    assert 2 <= len(quoted) < len(held)
    above = node_task("1", [Summary(draft.headline, draft.body)], 1, leaf.kind)
    again = Quoting(held).draft(above)
    assert [fact for fact in held if kept(fact, again.body)] == quoted
    assert check(again, above, tokens.count) == []


def test_without_a_fact_a_sentence_of_the_text_is_quoted():
    task = leaf_task(
        "1", [SourcePiece("user", 0, "Yes. Version 5.3 of Bootstrap is what we use. Fine.")]
    )
    draft = Quoting(FACTS).draft(task)
    assert draft.body == "Version 5.3 of Bootstrap is what we use."
    assert check(draft, task, tokens.count) == []


def test_words_that_only_the_answer_has():
    probe = Probe("When did Jon lose his job?", "temporal", {}, "He lost it on 19 January, 2023")
    assert outlines.telling(probe) == ["2023", "january", "lost"]
    assert outlines.telling(Probe("Did Jon?", "single-hop", {}, "Yes")) == []


def test_of_a_part_of_a_history_only_its_evidence_is_asked_for():
    part = [Message.of({"role": "user", "content": "I moved to Leith in May."})]
    both = Probe("Where?", "x", {"user": ("I moved to Leith", "I left"), "assistant": ("Ah",)})
    (found,) = outlines.within([both, Probe("Who?", "x", {"user": ("Nobody",)})], part)
    assert found.evidence == {"user": ("I moved to Leith",)}
