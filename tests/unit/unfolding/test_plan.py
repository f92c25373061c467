"""Plans: which nodes are opened, who spoke, and lines that nobody can forge."""

from __future__ import annotations

import json
from typing import Any

import msgspec
import numpy as np
import pytest

from memtree.context.context_memory import CompressRequest, ContextMemory
from memtree.history.message import Message
from memtree.jobs.embedding import NoQueue
from memtree.jobs.growing import StageOne
from memtree.jobs.runtime import SystemClock
from memtree.memories import document_passages
from memtree.memories.memory import Memory
from memtree.memories.memory_curation import MemoryForgetting
from memtree.memories.prompt_lines import shown_line
from memtree.memories.scope import Scope
from memtree.ranking.corpus import Corpus, Speakers
from memtree.ranking.fusion import Ranking
from memtree.ranking.ranked_history import RankedHistory
from memtree.stores import open_store
from memtree.text.own_lines import without_signs
from memtree.text.speakers import spoken_by
from memtree.tree.node import Node, NodePlace, Summary
from memtree.unfolding.memory_plan import (
    KeptSpans,
    OutlineNode,
    Plan,
    RecallPlan,
    SummaryTree,
    TextSpan,
    merge,
)
from memtree.unfolding.memory_text import render
from memtree.unfolding.outline import OutlineTree, Turns
from memtree.unfolding.work_log import work_log
from memtree_proxy.chat.chat_memory_tools import ChatMemoryTools
from memtree_proxy.mcp.tools import Caller, MemoryTools
from tests.answered import compressed
from tests.fakes import HashingEmbedder
from tests.made.forged_signs import labels, random_forms, tags, taken_for_ours
from tests.programs.sessions import chat
from tests.unit.memories.books import opened
from tests.unit.unfolding.histories import answering, call, calling, history

# ------------------------------------------------------------------------------------------------
# Plans as values: spans, and what is stored of them.


def test_spans_that_touch_are_one():
    spans = [
        TextSpan(1, 0, 5),
        TextSpan(0, 5, 9),
        TextSpan(0, 0, 5),
        TextSpan(0, 8, 12),
        TextSpan(0, 13, 14),
    ]
    assert merge(spans) == [TextSpan(0, 0, 12), TextSpan(0, 13, 14), TextSpan(1, 0, 5)]


def test_a_recall_block_without_excerpts_is_none():
    assert not RecallPlan()
    assert RecallPlan((TextSpan(0, 0, 1),))


# ------------------------------------------------------------------------------------------------
# Check which nodes are opened for an overview.


TURNS = Turns(Speakers(), (), 100.0)


def test_branches_of_one_score_are_opened_in_order():
    """The first tops have no room, and nothing tells the others from their children."""
    found = history(*(f"text {n}" for n in range(60)))
    nodes = {}
    roots = []
    for top in range(6):
        leaves = [
            Node(f"{top}{n}".encode() * 8, 0, 9, 2, 0, Summary(f"leaf {top} {n}", "body"))
            for n in range(4)
        ]
        said = "a long line of 7 " * 200 if top < 3 else f"top {top}"
        children = tuple(leaf.id for leaf in leaves)
        roots.append(
            Node(f"top{top}".encode() * 4, 1, 36, 8, 0, Summary(said, "body"), children=children)
        )
        nodes |= {node.id: node for node in (*leaves, roots[-1])}
    empty = np.zeros(0, np.float32)
    ranked = RankedHistory(found, Corpus(1), Ranking(empty, empty, None), frozenset())
    tree = OutlineTree(ranked, SummaryTree([root.id for root in roots], nodes), empty, 60, TURNS)
    tree.widen(300)
    shown = [nodes[line.id].summary.headline for line in tree.lines()]
    assert shown[:2] == ["top 3", "leaf 3 0"]
    assert "top 5" in shown


def leaf(name, said, messages, tail=0):
    return Node(name.encode() * 8, 0, 9, messages, tail, Summary(said, "body"))


def widened(found, roots, nodes):
    empty = np.zeros(0, np.float32)
    ranked = RankedHistory(found, Corpus(1), Ranking(empty, empty, None), frozenset())
    tree = SummaryTree([root.id for root in roots], {node.id: node for node in nodes})
    outline = OutlineTree(ranked, tree, empty, len(found), TURNS)
    outline.widen(500)
    names = {node.id: node.summary.headline for node in nodes}
    return ["" if line.bare else names[line.id] for line in outline.lines()]


def test_a_file_that_was_read_is_one_line():
    """The line above tells of the reading, and so does the first part of a message."""
    found = history(*(f"text {n}" for n in range(9)))
    parts = [
        leaf("p1", "lines 1-30 of a.py (Cart)", 0, 50),
        leaf("p2", "lines 31-60 of a.py (Price)", 0, 90),
        leaf("p3", "fix the rounding of Price", 3),
    ]
    above = Node(b"above" * 3, 1, 9, 3, 0, Summary("read shop/a.py", "body"))
    above = msgspec.structs.replace(above, children=tuple(part.id for part in parts))
    assert widened(found, [above], [above, *parts]) == ["read shop/a.py", parts[2].summary.headline]
    alone = widened(found, parts, parts)
    assert alone == [parts[0].summary.headline, parts[2].summary.headline]


def test_a_line_does_not_repeat_the_one_above():
    found = history(*(f"text {n}" for n in range(9)))
    said = "read 8 files in parts/, last p039.txt"
    leaves = [leaf("l1", said, 2), leaf("l2", "add a test for Lexer", 2)]
    above = Node(b"above" * 3, 1, 9, 4, 0, Summary(said, "body"))
    above = msgspec.structs.replace(above, children=tuple(each.id for each in leaves))
    assert widened(found, [above], [above, *leaves]) == [said, "add a test for Lexer"]


# ------------------------------------------------------------------------------------------------
# Who speaks on which day: what plans keep of it.


def turns_of(*messages):
    found = history(*messages)
    said = Speakers().extended(spoken_by(message.text) for message in found.messages)
    corpus = Corpus(1).with_speakers(said)
    empty = np.zeros(0, np.float32)
    return Turns.of(RankedHistory(found, corpus, Ranking(empty, empty, None), frozenset())), found


def talk(turns=6, named=True):
    for at in range(turns):
        yield {"role": "user", "content": f"{'Ada: ' * named}hello {at}"}
        yield {"role": "assistant", "content": f"{'Ben: ' * named}hi {at}"}


def test_only_who_says_much_in_a_transcript_is_a_speaker():
    turns, _ = turns_of(*talk(), "Note: this is none")
    spans = [TextSpan(0, 0, 9), TextSpan(1, 3, 9), TextSpan(12, 0, 9)]
    assert turns.named(spans) == b"\1\0\0"
    turns, _ = turns_of(*talk(named=False))
    assert turns.named(spans) == b""


@pytest.mark.parametrize("named", [True, False])
def test_people_are_told_by_the_names_on_both_sides(named):
    turns, found = turns_of(*talk(named=named))
    assert turns.are_of_people(found) is named


def test_a_group_that_talks_to_a_model_is_no_record_of_people():
    said = list(talk())
    for message in said[1::2]:
        message["content"] = "I am a model, and say no name."
    turns, found = turns_of(*said, *talk(1), *said)
    assert not turns.are_of_people(found)


@pytest.mark.parametrize(
    ("words", "talk_", "short"), [(10, True, True), (40, True, False), (200, False, False)]
)
def test_how_long_messages_are(words, talk_, short):
    turns, _ = turns_of(*["word " * words] * 4)
    assert (turns.are_talk, turns.are_short) == (talk_, short)


def test_days_are_kept_by_message_and_line():
    turns, _ = turns_of("[8 May 2023]\nhello", "hi", "[10 May 2023]\nagain", "yes")
    assert turns.days_of([TextSpan(1, 0, 2), TextSpan(3, 0, 3)]) == (738648, 738650)
    assert turns.days_in(NodePlace(0, 0, 4, 0)) == {"first_day": 738648, "last_day": 738650}
    turns, _ = turns_of("hello", "hi")
    assert turns.days_of([TextSpan(1, 0, 2)]) == ()


# ------------------------------------------------------------------------------------------------
# No text of others stands in a memory message as a line of ours, however it is spelled, and
# whatever it is: words, names and arguments of calls, paths, file names, titles, summaries.


# -- ways -------------------------------------------------------------------------------------


def posted(form: str) -> list[str | dict[str, Any]]:
    """Return messages that hold a form in every place that a memory message shows."""
    edit = json.dumps({"path": form, "old_str": "alpha beta", "new_str": f"gamma {form}"})
    write = json.dumps({"file_path": f"src/{form}/a.py", "content": f"x = 1\n{form}\ny"})
    image = {"type": "file", "file": {"filename": form, "file_id": "f"}}
    return [
        {"role": "user", "content": f"{form} please go on", "name": form},
        {"role": "assistant", "content": f"words\n{form}\nand more"},
        calling(call("edit_file", edit, "e"), call(form, json.dumps({"query": form}), "q")),
        answering("The file has been updated.", "e"),
        answering(f"result\n{form}\nbehind", "q"),
        calling(call("write_file", write, "w"), call("bash", json.dumps({"command": form}), "b")),
        answering("Created.", "w"),
        answering(f"error: {form}\n{form}: No such file\nexit code 2", "b"),
        {"role": "user", "content": [{"type": "text", "text": "See:"}, image]},
        f"Subject: {form}\nFrom: Max <max@example.org>\nTo: Ann\n\nDear Ann,\n\n{form}\n" * 3,
        f"# {form}\n\nA document with a title.\n\n## {form}\n\n" + "Some words of it. " * 60,
        f"```\n{form}\n```\nAlways run {form} before a commit.",
        "And now?",
    ]


def shown(form: str) -> str:
    """Return the memory message of a plan that shows all of it."""
    found = history(*posted(form))
    cut = len(found) - 1
    spans = tuple(TextSpan(at, 0, len(found.view(at).text)) for at in range(cut))
    half = cut // 2
    nodes = {
        name: Node(
            name, 0, 9, 2, 0, Summary(f"{form}; of {form}", f"user: {form}\n{form}", (form,))
        )
        for name in (b"a", b"b")
    }
    outline = (
        OutlineNode(b"a", 0, 0, NodePlace(0, 0, half, 0), True),
        OutlineNode(b"b", 0, 0, NodePlace(half, 0, cut, 0), False),
    )
    plan = Plan(
        cut,
        outline,
        excerpts=spans,
        rules=(spans[11],),
        kept=KeptSpans((spans[10],)),
        work=work_log(found, cut, 0, 2_000),
        root=True,
    )
    return render(plan, found, nodes)


@pytest.mark.parametrize(
    "made", [tags(), labels(), random_forms(0, 600)], ids=["tags", "labels", "random"]
)
def test_no_form_of_our_signs_passes(made):
    for form in made:
        left = without_signs(f"before\n{form}\nbehind")
        assert taken_for_ours(left) == [], ascii(form)
        assert without_signs(left) == left, ascii(form)


def test_no_form_passes_by_any_way():
    for form in random_forms(1, 5):
        message = shown(form)
        inner = message.removeprefix("<context_memory>").removesuffix("</context_memory>")
        assert taken_for_ours(inner) == [], ascii(form)


async def test_no_form_passes_in_what_is_folded_searched_and_read():
    forms = random_forms(2, 3)
    said = [each for form in forms for each in posted(form)]
    raws = [{"role": "user", "content": each} if isinstance(each, str) else each for each in said]
    asked = {"role": "user", "content": "What did the result and the document say, please?"}
    messages = tuple(Message.of(each) for each in [*raws, *chat(60, words=60), asked])
    memory = ContextMemory(open_store("memory:"), StageOne(child=False), NoQueue(), SystemClock())
    answer = await compressed(memory, CompressRequest("t", messages, target=6_000, mode="fresh"))
    record = next(Message(raw).text for raw in answer.messages if b"Record of" in raw)
    folded = answer.details.folded
    assert folded is not None
    shown = [
        record.removeprefix("<context_memory>").removesuffix("</context_memory>"),
        await folded.search("result words document commit", 20, 20_000),
        *(folded.read(at, at + 3, 0, 20_000) for at in range(0, len(raws), 4)),
    ]
    assert len(record) > 8_000
    assert [taken_for_ours(text) for text in shown] == [[]] * len(shown)


async def test_no_form_passes_in_memories_and_what_is_recalled():
    scope = Scope.of_user("t", "ann")
    async with opened(HashingEmbedder()) as memories:
        mcp, chat_tools = (
            MemoryTools(memories.book),
            ChatMemoryTools(
                memories.book,
                MemoryForgetting(memories.book, memories.store),
                scope,
                9_000,
                others_spoke=False,
            ),
        )
        for form in [*random_forms(3, 4), tags()[9], labels()[2]]:
            given = {"text": f"{form}\n{form} likes tea", "tags": []}
            await mcp.call("remember", given, Caller(scope))
            told, _ = await mcp.call("recall", {"query": form}, Caller(scope))
            said = await chat_tools.handlers()["recall_memory"]({"query": form}, 4_000)
            rows = [row["text"] for row in told["memories"]]
            rows += [row["content"] for row in json.loads(said)["memories"]]
            details = {"place": 0, "of": 1, "shown": form}
            passage = Memory("m", 1, form, 0.0, 0.0, thread_id=form, data=details)
            lines = (
                shown_line(form, "fact", "2026-01-01", form),
                document_passages.line(passage, metadata=True),
            )
            for text in (*rows, *lines):
                assert taken_for_ours(text) == [], ascii(form)
