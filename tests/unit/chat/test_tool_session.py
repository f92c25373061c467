"""Rounds in which a model calls tools of ours, whichever these are."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping
from typing import Any

from memtree.config import Settings
from memtree.context.answer import Answer, KeptMessage
from memtree.context.answer_state import State
from memtree.context.turn_request import CompressRequest
from memtree.dialects.tool_definitions import CHAT_MEMORY_TOOLS, CONTEXT_TOOLS
from memtree.errors import BadRequest, SecretRejected
from memtree.history import json_body
from memtree.history.message import Message
from memtree.memories.memory_curation import MemoryForgetting
from memtree.memories.scope import Scope
from memtree_proxy.chat import tool_rounds
from memtree_proxy.chat.chat_memory_tools import ChatMemoryTools
from memtree_proxy.chat.chat_request import ChatRequest
from memtree_proxy.chat.tool_rounds import BROKEN, MOST_CALLS, MOST_ROUNDS, TOO_MANY, ToolSession
from memtree_proxy.dialects import tool_offer
from memtree_proxy.dialects.chat_dialect import ChatDialect, ChatHistory
from memtree_proxy.dialects.round_calls import StreamedCall, ToolHandler, ToolRound, identified
from tests.unit.memories.books import opened

BODY = json_body.split(b'{"model": "m", "messages": [1]}')
ASK = CompressRequest("t", (Message(b"1"), Message(b"2")))
DIALECT = ChatDialect(Settings())
HISTORY = ChatHistory(BODY, ASK.messages)
CHAT = ChatRequest(DIALECT, BODY.raw, BODY.raw, body=BODY, ask=ASK, history=HISTORY)


async def save(arguments: Mapping[str, Any], room: int) -> str:
    if "fact" not in arguments:
        raise BadRequest("fact is missing")
    return f"saved {arguments['fact']} within {room}"


async def broken(arguments: Mapping[str, Any], room: int) -> str:
    raise RuntimeError("disk")


def session(room: int = 1_000) -> ToolSession:
    offered = tool_offer.of(BODY, (CHAT_MEMORY_TOOLS,))
    assert offered
    packed = Answer(State.PACKED, True, (KeptMessage(1),), b"", 0, 0, 0)
    return ToolSession(DIALECT, offered, packed, {"save_memory": save, "broken": broken}, room)


async def test_without_context_memory_posted_messages_stay_byte_for_byte():
    raw = b'{"model": "m", "messages": [ {"role" : "user","content":"a"} ] }'
    posted = json_body.split(raw)
    offered = tool_offer.of(posted, (CHAT_MEMORY_TOOLS, CONTEXT_TOOLS))
    history = DIALECT.read(posted, "t")
    chat = ChatRequest(DIALECT, raw, raw, body=posted, offer=offered, history=history)
    assert tool_rounds.begin(chat, None, None) is None
    async with opened() as memories:
        scope = Scope.of_chat("t", "c")
        forgetting = MemoryForgetting(memories.book, memories.store)
        saved = ChatMemoryTools(memories.book, forgetting, scope, 100, others_spoke=False)
        rounds = tool_rounds.begin(chat, None, None, saved)
        assert rounds
        tools = CHAT_MEMORY_TOOLS.definitions
        assert rounds.body(chat) == raw[:-2] + b',"tools":[' + tools + b"] }"
        call = StreamedCall(name="save_memory", said=['{"content": "Tea, please"}'])
        await rounds.answer(asked(call))
        more = b",".join(rounds.messages)
        head = raw[:-3] + b"," + more + b"]"
        assert rounds.body(chat) == head + b',"tools":[' + tools + b"] }"
        rounds.withdrawn, rounds.messages = True, []
        assert rounds.body(chat) is raw
        assert (await memories.book.state(scope)).total == 1


async def test_who_reads_older_messages_may_have_read_a_tool():
    async with opened() as memories:
        rounds = session()
        scope, forgetting = (
            Scope.of_chat("t", "c"),
            MemoryForgetting(memories.book, memories.store),
        )
        rounds.saved = ChatMemoryTools(memories.book, forgetting, scope, 100, others_spoke=False)
        rounds.handlers = {"memory_search": keep([]), **rounds.saved.handlers()}
        await rounds.answer(asked(StreamedCall(name="recall_memory", said=['{"query": "a"}'])))
        assert not rounds.saved.others_spoke
        await rounds.answer(asked(StreamedCall(name="memory_search", said=['{"query": "a"}'])))
        assert rounds.saved.others_spoke


def keep(kept: list[Any]) -> ToolHandler:
    async def handler(arguments: Mapping[str, Any], room: int) -> str:
        kept.append(arguments)
        raise SecretRejected("a password")

    return handler


def test_what_is_to_be_saved_is_saved_though_nobody_sees_the_result():
    kept: list[Any] = []
    rounds = session()
    rounds.handlers = {"save_memory": keep(kept), "recall_memory": keep(kept)}
    calls = [StreamedCall(name=name, said=["{}"]) for name in ("recall_memory", "save_memory")]
    asyncio.run(rounds.settle(calls))
    assert (kept, rounds.messages, rounds.rounds) == ([{}], [], 0)
    asyncio.run(rounds.settle([calls[1]] * 20))
    assert len(kept) == 1 + MOST_CALLS
    asyncio.run(rounds.answer(asked(calls[1])))
    assert results(rounds) == ["Error: a password"]


def asked(*calls: StreamedCall) -> ToolRound:
    made = identified(calls, 1)
    said = {"role": "assistant", "tool_calls": [{"id": call.id} for call in made]}
    return ToolRound((json.dumps(said).encode(),), made)


def results(session: ToolSession) -> list[str]:
    messages = [json.loads(raw) for raw in session.messages]
    return [message["content"] for message in messages if message["role"] == "tool"]


def test_each_call_is_answered_by_the_handler_of_its_name():
    rounds = session()
    assert rounds.names == {"save_memory", "broken"}
    calls = [
        StreamedCall(name="save_memory", said=['{"fact": "tea"}']),
        StreamedCall(name="save_memory"),
        StreamedCall(name="save_memory", said=["[1]"]),
        StreamedCall(name="broken"),
    ]
    asyncio.run(rounds.answer(asked(*calls)))
    saved, *errors = results(rounds)
    assert saved.startswith("saved tea within 9")  # what is left of 1,000 after the model's words
    assert errors == [
        "Error: fact is missing",
        "Error: the arguments are not a JSON object",
        BROKEN,
    ]
    body = json.loads(rounds.body(CHAT))
    assert body["messages"] == [2, *map(json.loads, rounds.messages)]


def test_what_a_round_adds_is_taken_off_the_room_of_the_next_call():
    rounds = session()
    calls = [StreamedCall(name="save_memory", said=['{"fact": "x"}'])] * 2
    asyncio.run(rounds.answer(asked(*calls)))
    first, second = (int(text.rpartition(" ")[2]) for text in results(rounds))
    assert second < first < 1_000
    assert rounds.size > first - second


def test_calls_and_rounds_are_bounded():
    rounds = session()
    calls = [StreamedCall(name="save_memory", said=['{"fact": "x"}'])] * (MOST_CALLS + 1)
    asyncio.run(rounds.answer(asked(*calls)))
    assert [text == TOO_MANY for text in results(rounds)] == [False] * MOST_CALLS + [True]
    for _ in range(MOST_ROUNDS - 1):
        assert rounds.offered
        asyncio.run(rounds.answer(asked()))
    assert not rounds.offered
    assert json.loads(rounds.body(CHAT))["tool_choice"] == "none"
