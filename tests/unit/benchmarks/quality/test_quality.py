"""The rules by which summaries, headlines and excerpts are judged."""

from __future__ import annotations

from typing import Any

import pytest

from benchmarks import facts, multilingual, stories
from benchmarks.data import Probe
from benchmarks.facts import FACTS, kept, plant
from benchmarks.quality import outlines
from benchmarks.quality.cuts import Cut, cuts
from benchmarks.quality.headlines import faults, grown, is_empty, is_torn
from benchmarks.quality.overhead import Overhead
from benchmarks.quality.particular import Particular
from benchmarks.quality.quoting import Quoting
from benchmarks.quality.reading import FEW, MANY, Reading, families, path_limit
from benchmarks.quality.views import BOTH, EXTRACTION, MODEL, VIEWS, View
from memtree.history.message import Message
from memtree.text import tokens
from memtree.tree.node import Node, Summary
from memtree.tree.summary_batches import settled, written
from memtree.tree.summary_check import check
from memtree.tree.summary_prompts import FICTION, TOLD, SourcePiece, kind_of, leaf_task, node_task
from memtree.tree.summary_replies import Draft

# ------------------------------------------------------------------------------------------------
# Check which excerpts begin or end inside a message without a mark in the text.


TEXT = "The boat is red.\n\nIt leaks at the bow.\n\nWe sail on Monday."
POSTED = [Message.of({"role": "user", "content": TEXT})]
LEAKS = TEXT.index("It leaks"), TEXT.index("It leaks") + len("It leaks at the bow.")


def _excerpt(start: int, end: int, reason: str = "excerpt") -> dict[str, Any]:
    return {"message": 0, "part": "content", "start": start, "end": end, "reason": reason}


def _cuts(text: str, *excerpts: dict[str, Any], posted: list[Message] = POSTED) -> list[Cut]:
    return list(cuts(posted, excerpts, text))


def test_a_whole_message_is_not_cut():
    assert _cuts(f"[0 user]\n{TEXT}\n", _excerpt(0, len(TEXT))) == [Cut(False, False, False, False)]


def test_a_piece_without_marks_is_cut_twice():
    (cut,) = _cuts("[0 user]\nIt leaks at the bow.\n[1 user]\nYes.", _excerpt(*LEAKS))
    assert cut == Cut(True, False, True, False)


def test_marks_stand_in_the_label_and_behind_the_piece():
    (cut,) = _cuts("[0 user ...]\nIt leaks at the bow.\n[...]\n", _excerpt(*LEAKS))
    assert cut == Cut(True, True, True, True)


def test_a_label_may_stand_on_the_line_of_the_text():
    (cut,) = _cuts("\u00b60 It leaks at the bow.\n[...]", _excerpt(*LEAKS))
    assert cut == Cut(True, False, True, True)
    (cut,) = _cuts(
        "\u00b60 user, run x; older version of 3 ...\nIt leaks at the bow.", _excerpt(*LEAKS)
    )
    assert cut == Cut(True, True, True, False)


def test_a_mark_may_say_what_is_left_out():
    (cut,) = _cuts("[0 user ...]\nIt leaks at the bow. [... 40 lines of code]", _excerpt(*LEAKS))
    assert cut.end_marked


def test_a_gap_marks_the_end_of_one_piece_and_the_begin_of_the_next():
    first, last = _excerpt(0, 16), _excerpt(TEXT.index("We sail"), len(TEXT))
    shown = "[0 user]\nThe boat is red.\n[...]\nWe sail on Monday.\n"
    assert _cuts(shown, first, last) == [
        Cut(False, False, True, True),
        Cut(True, True, False, False),
    ]


def test_what_the_next_excerpt_shows_is_not_left_out():
    first, second = _excerpt(0, LEAKS[0]), _excerpt(LEAKS[0], len(TEXT))
    shown = f"[0 user]\n{TEXT[: LEAKS[0]]}{TEXT[LEAKS[0] :]}"
    assert not any(cut.begins_inside or cut.ends_inside for cut in _cuts(shown, first, second))


def test_blocks_that_clients_rewrite_may_be_left_out():
    text = "<system-reminder>12:00</system-reminder>\nGo on."
    posted = [Message.of({"role": "user", "content": text})]
    (cut,) = _cuts("[0 user]\nGo on.", _excerpt(text.index("Go"), len(text)), posted=posted)
    assert not cut.begins_inside


def test_rules_have_a_list_of_their_own():
    assert _cuts("- It leaks at the bow.", _excerpt(*LEAKS, reason="rule")) == []


def test_the_label_of_a_run_covers_each_message_in_it():
    posted = [Message.of({"role": "user", "content": text}) for text in ("Yes.", TEXT, "No.")]
    excerpt = {**_excerpt(*LEAKS), "message": 1}
    (cut,) = _cuts("[0-2 user ...]\nYes.\nIt leaks at the bow.\nNo.", excerpt, posted=posted)
    assert cut.begin_marked


def test_a_piece_is_looked_for_under_its_own_label():
    posted = [Message.of({"role": "user", "content": text}) for text in ("bow", f"a {LEAKS} bow")]
    excerpts = [_excerpt(0, 3), {**_excerpt(len(f"a {LEAKS} "), len(posted[1].text)), "message": 1}]
    assert [cut.begin_marked for cut in _cuts("[0 user]\nbow\n[1 user ...]\nbow", *excerpts,
                                              posted=posted)] == [False, True]  # fmt: skip


# ------------------------------------------------------------------------------------------------
# The rules by which headlines are judged, on lines that are plainly good or bad.


HEADLINES_TEXT = (
    "We keep **SQLite** for the installers, because they work offline.\nThe lock file is pinned"
)


@pytest.mark.parametrize(
    "line",
    [
        "We keep SQLite for the installers",
        "they work offline",
        "We keep SQLite for the installers -> The lock file is pinned",
        "SQLite, installers, lock file",
    ],
)
def test_a_line_that_ends_with_its_clause_is_whole(line):
    assert not is_torn(line, HEADLINES_TEXT)


@pytest.mark.parametrize("line", ["We keep SQLite for the", "installers; The lock file is"])
def test_a_line_whose_clause_goes_on_is_torn(line):
    assert is_torn(line, HEADLINES_TEXT)


def test_a_line_without_telling_words_is_empty():
    assert is_empty("(empty)")
    assert is_empty("/undo")
    assert not is_empty("parser rewritten")
    assert not is_empty("src/app.py")


@pytest.mark.slow
@pytest.mark.long
def test_the_cases_in_other_languages_have_their_facts_and_a_tree():
    for language in multilingual.LANGUAGES:
        own = multilingual.facts(language)
        planted = facts.plant(multilingual.messages(language), own)
        text = "\n".join(message.text for message in planted)
        assert all(facts.kept(fact, fact.sentence) for fact in own), language
        assert all(fact.sentence in text for fact in own), language


def test_each_node_of_a_tree_is_judged():
    tree = grown(multilingual.messages("german"))
    found = list(faults(tree))
    assert len(found) == len(tree.nodes) > 4
    assert all(fault["headlines"] == 1 for fault in found)


# ------------------------------------------------------------------------------------------------
# The parts of the benchmark of summaries: its story, its ways of reading, its best model.


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


# ------------------------------------------------------------------------------------------------
# Check what counts as a fragment, as near, and as a line that says nothing.


SHORT, LONG = "Yes, at nine.", "The ferry to the islands leaves " + "in the morning and " * 12
READING_POSTED = [Message.of({"role": "user", "content": text}) for text in (SHORT, LONG)]


def reading_excerpt(message: int, start: int, end: int, size: int) -> dict[str, Any]:
    place = {"message": message, "part": "content", "start": start, "end": end}
    return {**place, "tokens": size, "reason": "excerpt", "path": ["a"]}


def _read(*excerpts: dict[str, Any], most: int = FEW, last: int = 30) -> Reading:
    reading = Reading(most)
    reading.add(
        READING_POSTED, {"nodes": [{"id": "a", "messages": [0, last]}], "excerpts": excerpts}
    )
    return reading


def test_a_short_message_is_no_fragment():
    assert _read(reading_excerpt(0, 0, len(SHORT), 5)).fragments == 0


def test_a_short_piece_of_a_message_is_a_fragment():
    assert _read(reading_excerpt(1, 0, 20, 5)).fragments == 1


def test_a_long_piece_of_a_message_is_no_fragment():
    assert _read(reading_excerpt(1, 0, 120, 30)).fragments == 0


def test_a_path_may_end_higher_in_a_chat_of_short_messages():
    short, long = [READING_POSTED[0]] * 9, [READING_POSTED[1]] * 9
    assert (path_limit(short), path_limit(long)) == (MANY, FEW)
    assert _read(reading_excerpt(0, 0, len(SHORT), 5)).below == 0
    assert _read(reading_excerpt(0, 0, len(SHORT), 5), most=MANY).below == 1


def test_lines_are_compared_with_those_under_the_same_parent():
    depths = [(0, "whole"), (1, "a"), (2, "b"), (2, "c"), (1, "d"), (2, "e")]
    nodes = [{"depth": depth, "headline": line} for depth, line in depths]
    assert families(nodes) == [["whole"], ["a", "d"], ["b", "c"], ["e"]]


def test_a_bare_range_is_no_line_that_says_nothing():
    reading = Reading()
    nodes = [{"depth": 0, "headline": ""}, {"depth": 0, "headline": "I guess so"}]
    reading.add_lines(nodes, Particular(READING_POSTED))
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
