"""Check what is promised of the Messages API: nothing posted is lost, and whatever memory sends is
a request that the API takes, with thinking behind the very prefix that it was made for."""

from __future__ import annotations

import asyncio
import json
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memtree.config import Settings
from memtree.context.answer import Answer, KeptMessage, MemoryText
from memtree.context.answer_state import State
from memtree.context.turn_request import CompressRequest
from memtree.history import cache_control, json_body
from memtree.history.conversation_beginning import preamble
from memtree_proxy.dialects.messages_dialect import AnthropicMessages
from tests.properties.strategies import a_world, history_of
from tests.wire.messages import messages_changes
from tests.wire.messages.messages_blocks import THINKING
from tests.wire.messages.messages_rules import blocks, broken, markers
from tests.wire.messages.messages_sessions import Session

DIALECT = AnthropicMessages(Settings())
MEMORY = "<context_memory>so far</context_memory>"

sessions = st.builds(
    Session,
    st.integers(0, 99_999),
    st.integers(1, 14),
    st.sampled_from([3, 30]),
    st.sampled_from(["adaptive", "enabled"]),
)


def posted(session: Session) -> dict:
    """The body at the end of a session that nobody changed anything of."""
    body = session.body()
    while session.goes_on:
        session.answer(body)
        body = session.body()
    return body


def read(body: dict):
    return DIALECT.read(json_body.split(json.dumps(body).encode()), "t")


def answer(items, **more) -> Answer:
    return Answer(State.PACKED, True, tuple(items), b"", 0, 0, 0, **more)


def sent(body: dict, changed) -> dict:
    return json.loads(json_body.split(json.dumps(body).encode()).rewritten(changed))


def thoughts(message: dict) -> list[dict]:
    return [block for block in blocks(message) if block["type"] in THINKING]


@given(sessions)
def test_what_sessions_post_is_valid_and_all_of_it_is_read(session):
    body = posted(session)
    assert broken(body) == []
    history = read(body)
    paired = history_of(history.messages)
    said = "\n".join(paired.view(index).text for index in range(len(paired)))
    for message in body["messages"]:
        for block in blocks(message):
            if block["type"] == "text" and not block["text"].startswith("<system-reminder>"):
                inside = message["role"] == "system" and block["text"].startswith("# Env")
                assert inside or block["text"] in said
            if block["type"] == "tool_use":
                assert json.dumps(next(iter(block["input"].values()))) in said
            if block["type"] == "web_search_tool_result":
                assert block["content"][0]["title"] in said


@given(sessions)
def test_there_and_back_loses_no_byte_of_any_message(session):
    history = read(posted(session))
    assert history.fields(None) == {}
    made = history.fields(answer(map(KeptMessage, range(len(history.messages)))))["messages"]
    assert made == json_body.joined(history.request.raws)


@given(sessions, st.data())
def test_any_cut_is_written_as_the_api_takes_it(session, data):
    body = posted(session)
    history = read(body)
    paired = history_of(history.messages)
    cut = data.draw(st.sampled_from([cut for cut in paired.cuts if cut] or [0]), "cut")
    if not cut:
        return
    border = paired.posted[cut]
    begun = data.draw(st.integers(border, len(history.messages)), "begun")
    marked = cache_control.used(paired, history.markers)
    memory = MemoryText(
        MEMORY,
        preamble(paired, 0, cut),
        as_parts=marked,
        cache_marker=cache_control.of_memory(paired, history.markers, cut) if marked else None,
    )
    recalled = {
        index
        for index in range(border, len(history.messages))
        if history.messages[index].role == "user"
        and not history.messages[index].aside
        and data.draw(st.booleans())
    }
    front = [KeptMessage(index) for index, _ in paired.system if index < border]
    kept = [
        KeptMessage(index, "<recalled_context>r</recalled_context>\n\n" * (index in recalled))
        for index in range(border, len(history.messages))
    ]
    made = sent(body, history.fields(answer([*front, memory, *kept], begun=begun)))
    made_anew = {**body, "thinking": {"type": "enabled", "budget_tokens": 2_000}}
    allowed = {one.rule for one in broken(made_anew)}  # its signatures are of another prefix
    faults = [one for one in broken(made) if one.rule != "thinking-of-another-prefix"]
    assert [one for one in faults if one.rule not in allowed] == []
    assert len(list(markers(made))) <= 4
    stripped = [bool(thoughts(message)) for message in made["messages"]]
    if begun == len(history.messages) and body["thinking"]["type"] != "enabled":
        assert not any(stripped)


def told(messages: list[dict], *, system: bool) -> list[dict]:
    """The blocks that are no thinking."""
    chosen = [message for message in messages if (message["role"] == "system") is system]
    return [b for message in chosen for b in blocks(message) if b["type"] not in THINKING]


@given(sessions, st.integers(0, 40))
def test_refused_thinking_goes_up_to_a_message_and_nothing_else(session, limit):
    body = posted(session)
    history = read(body)
    changed = history.fields(None, no_thinking_before=limit)
    if not limit:
        assert changed == {}
        return
    made = json.loads(changed["messages"])
    left = [block for message in made for block in thoughts(message)]
    own = [block for message in body["messages"] for block in thoughts(message)]
    assert left == own[len(own) - len(left) :]
    for system in (True, False):  # system messages stand behind the user's, whatever falls away
        assert told(made, system=system) == told(body["messages"], system=system)
    if limit >= len(history.messages):
        assert left == []
        assert [
            one for one in broken({**body, "messages": made}) if "thinking" not in one.rule
        ] == []


def bare(message: dict) -> tuple[str, list[dict]]:
    """Return the message as a cache sees it: neither markers nor the form of a single text
    count."""
    plain = [{k: v for k, v in block.items() if k != "cache_control"} for block in blocks(message)]
    return message["role"], plain


async def walked(session: Session, target: int, mode: str, found: list) -> None:
    """Walk a session through memory; `found`: each posted body, what was sent, and the answer."""
    async with a_world(embedding=False) as world:
        while session.goes_on:
            body = session.body()
            raw = json_body.split(json.dumps(body).encode())
            history = DIALECT.read(raw, "t")
            ask = CompressRequest(
                "t",
                history.messages,
                target=target,
                mode=mode,
                tools_tokens=history.tools_tokens,
                markers=history.markers,
                dialect="messages",
            )
            answered = await world.memory.compress(ask)
            made = json.loads(raw.rewritten(history.fields(answered)))
            await world.settle()
            found.append((body, made, answered))
            session.answer(made)


@pytest.mark.slow
@settings(max_examples=settings().max_examples // 6)
@given(
    st.integers(0, 99_999),
    st.sampled_from([1_500, 4_000]),
    st.sampled_from(["stable", "auto", "fresh"]),
    st.sampled_from(["adaptive", "adaptive", "enabled"]),
)
def test_whatever_memory_sends_is_valid_and_grows_within_an_epoch(seed, target, mode, thinking):
    found: list = []
    asyncio.run(walked(Session(seed, 30, 150, thinking), target, mode, found))
    for body, made, answered in found:
        assert broken(made) == []
        faults = messages_changes.changed(body, made)
        assert [one for one in faults if one.rule != "tool-load-lost"] == []
        assert len(list(markers(made))) <= 4
        if answered.folds and thinking != "enabled":
            assert answered.begun
    for (_, before, one), (_, after, other) in pairwise(found):
        if one.epoch and one.epoch == other.epoch:
            grown = [bare(message) for message in before["messages"]]
            assert [bare(message) for message in after["messages"]][: len(grown)] == grown
