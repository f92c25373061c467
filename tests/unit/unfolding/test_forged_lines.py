"""No text of others stands in a memory message as a line of ours, however it is spelled, and
whatever it is: words, names and arguments of calls, paths, file names, titles, summaries."""

from __future__ import annotations

import json
from typing import Any

import pytest

from memtree.background.embedding_queue import NoQueue
from memtree.background.runtime import SystemClock
from memtree.background.stage_one import StageOne
from memtree.context.context_memory import CompressRequest, ContextMemory
from memtree.conversation.message import Message
from memtree.memories import passages
from memtree.memories.forgetting import MemoryForgetting
from memtree.memories.injection.rendering import shown_line
from memtree.memories.memory import Memory
from memtree.memories.scope import Scope
from memtree.stores import open_store
from memtree.text.own_lines import without_signs
from memtree.tree.node import Node, NodePlace, Summary
from memtree.unfolding.memory_message.memory_text import render
from memtree.unfolding.plan import KeptSpans, OutlineNode, Plan, TextSpan
from memtree.unfolding.work_log.work_log import work_log
from memtree_proxy.chat.memories.chat_memory_tools import ChatMemoryTools
from memtree_proxy.mcp.tools import Caller, MemoryTools
from tests.answered import compressed
from tests.fakes import HashingEmbedder
from tests.made.forged_signs import labels, random_forms, tags, taken_for_ours
from tests.programs.sessions import chat
from tests.unit.memories.books import opened
from tests.unit.unfolding.histories import answering, call, calling, history

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
                passages.line(passage, metadata=True),
            )
            for text in (*rows, *lines):
                assert taken_for_ours(text) == [], ascii(form)
