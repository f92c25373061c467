"""Check what was rendered of an epoch is sent again as it is, and anew when what it quotes
changed."""

from __future__ import annotations

from dataclasses import replace

import pytest

from memtree.budget.epoch import Epoch
from memtree.context.caches.rendered_texts import RenderedTexts
from memtree.conversation.message import Message
from memtree.unfolding import recall_block
from memtree.unfolding.memory_message.memory_text import render
from memtree.unfolding.plan import Plan, RecallPlan, TextSpan
from tests.properties.strategies import history_of
from tests.work_counts import counting


def said(role, content, **more):
    return Message.of({"role": role, "content": content, **more})


CALL = {
    "id": "c",
    "type": "function",
    "function": {"name": "read", "arguments": '{"path": "a.py"}'},
}
POSTED = [
    said("system", "Be brief."),
    said("user", "The harbour opens at seven."),
    said("assistant", None, tool_calls=[CALL]),
    said("tool", "one = 1\ntwo = 2", tool_call_id="c"),
    said("assistant", "It opens at seven."),
    said("user", "And when does it close?"),
]
PLAN = Plan(4, excerpts=(TextSpan(0, 0, 27), TextSpan(2, 0, 15)))
EPOCH = Epoch(b"an epoch", 5, 100, 50, PLAN, 0.0)
BLOCK = RecallPlan((TextSpan(0, 0, 27),))


def memory(texts, posted, epoch=EPOCH):
    return texts.memory_message(history_of(posted), epoch, {}).text


@pytest.mark.slow
def test_the_same_request_is_rendered_once():
    texts = RenderedTexts()
    with counting() as first:
        one = memory(texts, POSTED)
    with counting() as second:
        two = memory(texts, POSTED)
    assert one == two == render(PLAN, history_of(POSTED), {})
    assert (first.of["renders"], second.of["renders"]) == (1, 0)
    assert texts.nbytes > len(one)


@pytest.mark.parametrize(
    ("at", "other"),
    [
        (1, said("user", "The harbour opens at eight.")),
        (3, said("tool", "one = 1\ntwo = 3", tool_call_id="c")),
        (2, said("assistant", None, tool_calls=[{**CALL, "function": {
            "name": "read", "arguments": '{"path":  "a.py"}'}}])),
        (2, said("assistant", None, tool_calls=[{**CALL, "function": {
            "name": "read", "arguments": '{"path": "b.py"}'}}])),
    ],
    ids=["a quoted message", "a quoted result", "another spelling", "the call it answers"],
)  # fmt: skip
def test_what_is_quoted_is_never_that_of_another_history(at, other):
    texts = RenderedTexts()
    memory(texts, POSTED)
    changed = [*POSTED[:at], other, *POSTED[at + 1 :]]
    assert memory(texts, changed) == render(PLAN, history_of(changed), {})


def test_numbers_are_those_of_the_request_at_hand():
    texts = RenderedTexts()
    with_system, without = memory(texts, POSTED), memory(texts, POSTED[1:])
    assert with_system != without
    assert without == render(PLAN, history_of(POSTED[1:]), {})
    between = [*POSTED[:4], said("system", "Be kind."), *POSTED[4:]]
    assert memory(texts, between) == render(PLAN, history_of(between), {})


def test_a_block_is_rendered_once_and_belongs_to_its_epoch():
    texts, history = RenderedTexts(), history_of(POSTED)
    with counting() as work:
        one = texts.block(history, EPOCH, BLOCK, {}, behind=False)
    with counting() as again:
        assert texts.block(history, EPOCH, BLOCK, {}, behind=False) == one
    assert again.lines < work.lines
    assert one == recall_block.text_of(BLOCK, history, {})
    other = replace_epoch(b"another", 2)
    assert texts.block(history, other, BLOCK, {}, behind=False) == one
    assert texts.block(history, EPOCH, RecallPlan(), {}, behind=False) == ""


def replace_epoch(id_, cut):
    return Epoch(id_, 5, 100, 50, Plan(cut, excerpts=PLAN.excerpts[:1]), 0.0)


def test_no_text_of_a_tenant_answers_another_and_a_deletion_takes_all_of_one():
    texts, history = RenderedTexts(), history_of(POSTED)
    for tenant in ("one", "two"):
        with counting() as work:
            texts.memory_message(replace(history, tenant=tenant), EPOCH, {})
        assert work.of["renders"] == 1
    assert texts.tenants == {"one", "two"}
    texts.forget("one")
    assert texts.tenants == {"two"}
    texts.forget(None)
    assert (texts.tenants, texts.nbytes) == (set(), 0)


def test_it_takes_no_more_bytes_than_it_may():
    texts, history = RenderedTexts(2_000), history_of(POSTED)
    for number in range(9):
        texts.memory_message(history, replace_epoch(bytes([number]), 4), {})
        assert 0 < texts.nbytes <= 2_000
    tiny = RenderedTexts(1)
    assert memory(tiny, POSTED) == memory(texts, POSTED)
    assert tiny.nbytes == 0
