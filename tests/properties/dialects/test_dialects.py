"""Check what is promised of every dialect: one conversation has one address, nothing of it is lost,
and what is sent is a request that its API takes."""

from __future__ import annotations

import asyncio
import json
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memtree.config import Settings
from memtree.context.answer import Answer, KeptMessage
from memtree.context.answer_state import State
from memtree.context.turn_request import CompressRequest
from memtree.errors import BadRequest
from memtree.history import json_body
from memtree.history.message import Message
from memtree_proxy.dialects.messages_dialect import AnthropicMessages
from memtree_proxy.dialects.responses_dialect import OpenAIResponses
from tests.properties.strategies import a_world, history_of
from tests.wire.conversations import (
    as_chat,
    as_messages,
    as_responses,
    conversation,
    conversations,
    needs,
)
from tests.wire.responses import responses_changes
from tests.wire.responses.any_responses import items_of_all_kinds, sound
from tests.wire.responses.odd_responses import as_odd_responses

RESPONSES, MESSAGES = OpenAIResponses(Settings()), AnthropicMessages(Settings())


def posted(body):
    return json_body.split(json.dumps(body).encode())


def kept(history):
    items = tuple(KeptMessage(index) for index in range(len(history.messages)))
    return Answer(State.PACKED, True, items, b"", 0, 0, 0)


@given(conversations)
def test_a_conversation_has_one_address_in_all_dialects(talk):
    chat = history_of([Message.of(fields) for fields in as_chat(talk)])
    responses = history_of(RESPONSES.read(posted(as_responses(talk)), "t").messages)
    messages = history_of(MESSAGES.read(posted(as_messages(talk)), "t").messages)
    assert chat.addresses == responses.addresses == messages.addresses
    assert chat.rounds == responses.rounds == messages.rounds
    texts = [[h.view(i).text for i in range(len(h))] for h in (chat, responses, messages)]
    assert texts[0] == texts[1] == texts[2]


@given(conversations, st.integers(0, 40))
def test_the_beginning_of_a_conversation_is_the_same_whatever_follows(talk, size):
    items = as_responses(talk)["input"]
    whole = RESPONSES.read(posted({"input": items}), "t").messages
    try:
        first = RESPONSES.read(posted({"input": items[:size] or items}), "t").messages
    except BadRequest:
        return
    known = [message.raw for message in first[:-1]]
    assert known == [message.raw for message in whole[: len(known)]]


# ---------------------------------------------------------------- whatever clients send


def read(body):
    """The history, else what cannot be read."""
    try:
        return RESPONSES.read(body, "t"), ""
    except BadRequest as error:
        return None, str(error.param)


_lists = st.lists(items_of_all_kinds, min_size=1, max_size=14)


@given(st.one_of(_lists, _lists.map(sound), _lists.map(sound)).filter(bool), st.booleans())
def test_there_and_back_loses_no_byte_of_any_item(items, instructed):
    body = posted({"input": items, **({"instructions": "i"} if instructed else {})})
    history, param = read(body)
    if history is None:
        assert param.startswith("input[")
        return
    sent = history.fields(kept(history))["input"]
    assert json.loads(sent) == items
    assert all(raw in sent for raw in history.raws)
    paired = history_of(history.messages)  # no tool message without its call
    joined = [paired.posted.index(i) for i, m in enumerate(history.messages) if m.joined]
    assert not set(joined) & set(paired.cuts)


# ---------------------------------------------------------------- what is sent


async def session(bodies, target):
    """An agent's requests one after another: (posted, sent, answer)."""
    async with a_world(embedding=False) as world:
        for body in bodies:
            raw = posted(body)
            history = RESPONSES.read(raw, "t")
            ask = CompressRequest(
                "t", history.messages, target=target, mode="stable", dialect=RESPONSES.name
            )
            answer = await world.memory.compress(ask)
            await world.settle()
            yield body, json.loads(raw.rewritten(history.fields(answer))), answer


def growing(talk):
    """A conversation up to each of its questions."""
    for length, exchange in enumerate(talk, 1):
        yield [*talk[: length - 1], replace(exchange, steps=())]


async def broken_rules(bodies, needs, target):
    """Return what is wrong with what is sent, and how often something was folded."""
    epoch, before, folds, found = None, [], 0, []
    async for body, sent, answer in session(bodies, target):
        found += responses_changes.changed(body, sent, needs)
        same_epoch = answer.folds and answer.epoch == epoch
        if same_epoch and sent["input"][: len(before) - 1] != before[:-1]:
            found.append("the prefix changed within an epoch")
        folds += answer.folds
        epoch, before = answer.epoch, sent["input"]
    return found, folds


@pytest.mark.slow
@settings(max_examples=settings().max_examples // 2)
@given(st.integers(0, 9_999), st.sampled_from([1_500, 4_000]))
def test_what_is_sent_is_valid_and_grows_within_an_epoch(seed, target):
    bodies = [as_responses(talk) for talk in growing(conversation(seed, 14, 300))]
    found, folds = asyncio.run(broken_rules(bodies, needs(bodies[-1]), target))
    assert found == []
    assert folds


@pytest.mark.slow
@settings(max_examples=settings().max_examples // 2)
@given(st.integers(0, 9_999), st.sampled_from([1_500, 4_000]), st.sampled_from([None, None, 1, 4]))
def test_so_it_is_with_all_that_an_input_may_hold(seed, target, compacted):
    talks = growing(conversation(seed, 14, 300))
    odd = [as_odd_responses(talk, seed, compacted=compacted) for talk in talks]
    found, folds = asyncio.run(broken_rules([body for body, _ in odd], odd[-1][1], target))
    # A search for tools is sent again only where it is small beside the target.
    assert [one for one in found if getattr(one, "rule", "") != "tool-load-lost"] == []
    assert folds or compacted is not None


@pytest.mark.slow
def test_a_tool_that_was_loaded_stays():
    tool = {"type": "function", "name": "later", "parameters": {}}
    search = [
        {"type": "reasoning", "id": "rs_s", "summary": []},
        {"type": "tool_search_call", "id": "tsc_1", "call_id": "s", "arguments": {"q": "later"}},
        {"type": "tool_search_output", "call_id": "s", "tools": [tool]},
    ]
    bodies = [as_responses(talk) for talk in growing(conversation(1, 16, 300))]
    for body in bodies[2:]:
        at = next(i for i, item in enumerate(body["input"]) if item["id"] == "msg_u2")
        body["input"][at + 1 : at + 1] = search
    found, folds = asyncio.run(broken_rules(bodies, {}, 4_000))
    assert found == []
    assert folds > 1
