"""A model that searches and reads what memory folded, inside one answer."""

from __future__ import annotations

import json
from typing import Any

import pytest

from memtree.context.answer_state import State
from memtree.context.retrieval import Retriever
from memtree.dialects.tool_definitions import CONTEXT_TOOLS
from memtree.unfolding.folded_history import NO_ROOM
from memtree_proxy.chat.tool_rounds import BROKEN, MOST_ROUNDS, TOO_MANY
from memtree_proxy.dialects import tool_offer
from tests.http.owned.recalling import CHAT, FACT, KEY, ON, READ_FILE, SEARCH, body, large, rounds
from tests.http.served.fakes import FakeMemory, real_memory
from tests.made.completion import completed
from tests.made.scripted import Call, Say

# ---------------------------------------------------------------- one answer


async def test_a_streamed_answer_with_a_search_in_it():
    asked, told = Say("Let me look.", (SEARCH,), reasoning="Hm. "), Say("It is KX-4471.")
    async with rounds(asked, told) as upstream:
        answer = await upstream.post(large(stream=True, stream_options={"include_usage": True}))
        upstream.check(2)
    seen = completed(answer.content)
    assert (seen.content, seen.finish) == ("Let me look.\n\nIt is KX-4471.", "stop")
    assert (seen.calls, seen.problems, seen.usages) == ([], [], 1)
    assert seen.fields["reasoning_content"] == "Hm. "
    assert answer.headers["x-memtree-state"] == "packed"
    assert answer.headers["content-type"] == "text/event-stream"
    first, second = upstream.sent
    assert [m["role"] for m in second["messages"][-2:]] == ["assistant", "tool"]
    assert f"¶6 user\n{FACT}" in upstream.results(1)[0]
    assert second["messages"][-2]["reasoning_content"] == "Hm. "
    assert second["tools"] == first["tools"]
    assert seen.usage
    assert seen.usage["completion_tokens"] == 40
    assert seen.usage["prompt_tokens"] > len(json.dumps(second)) / 4


async def test_the_same_answer_not_streamed():
    asked, told = Say("Let me look.", (SEARCH,), reasoning="Hm. "), Say("It is KX-4471.")
    async with rounds(asked, told) as upstream:
        answer = await upstream.post(large())
        upstream.check(2)
    found = answer.json()
    message = found["choices"][0]["message"]
    assert message == {
        "role": "assistant",
        "content": "Let me look.\n\nIt is KX-4471.",
        "reasoning_content": "Hm. ",
    }
    assert found["id"] == "chatcmpl-key-1"
    assert found["choices"][0]["finish_reason"] == "stop"
    assert found["usage"]["completion_tokens"] == 40
    assert int(answer.headers["content-length"]) == len(answer.content)


@pytest.mark.parametrize("streams", [True, False])
async def test_an_answer_without_calls_is_the_upstreams_byte_for_byte(streams: bool):
    async with rounds(Say("Hello.", (Call("read_file", {"path": "a"}),))) as upstream:
        answer = await upstream.post(large(stream=streams, tools=[READ_FILE]))
        upstream.check(1)
    assert answer.content == upstream.script.seen[0].answered


async def test_messages_are_read_by_number_until_all_is_read():
    calls = [Call("memory_read", {"first": 6}), Call("memory_read", {"first": "1", "last": 170.0})]
    async with rounds(Say("", tuple(calls)), Say("done")) as upstream:
        await upstream.post(large(stream=True))
        upstream.check(2)
    one, many = upstream.results(1)
    assert one.splitlines()[1:] == ["¶6 user", FACT]
    assert "\n¶1 user\n" in many
    assert many.splitlines()[-1].startswith("¶ cut here; the rest: first=")
    assert "last=170" in many.splitlines()[-1]


async def test_several_rounds():
    read = Call("memory_read", {"first": 6})
    steps = [Say("a", (SEARCH,)), Say("", (read, SEARCH)), Say("b", (read,)), Say("c")]
    async with rounds(*steps) as upstream:
        answer = await upstream.post(large(stream=True))
        upstream.check(4)
    assert completed(answer.content).content == "a\n\nb\n\nc"
    assert [len(upstream.results(n)) for n in range(4)] == [0, 1, 3, 4]


# ---------------------------------------------------------------- whether


OFFERED: list[dict[str, Any]] = [
    {},
    {"tools": None},
    {"tools": []},
    {"tool_choice": "auto"},
    {"tools": [READ_FILE]},
    {"tools": [READ_FILE], "tool_choice": "required"},
    {"n": 1, "response_format": {"type": "text"}, "modalities": ["text"]},
]
NOT_OFFERED: list[dict[str, Any]] = [
    {"n": 2},
    {"tool_choice": "none"},
    {"tool_choice": "required"},
    {"tools": [READ_FILE], "tool_choice": "none"},
    {"tools": [READ_FILE], "tool_choice": {"type": "function", "function": {"name": "read_file"}}},
    {"functions": [{"name": "f", "parameters": {}}]},
    {"tools": [{"type": "function", "function": {"name": "memory_read", "parameters": {}}}]},
    {"tools": "none of the sort"},
    {"tools": ["nor this"]},
    {"response_format": {"type": "json_object"}},
    {"modalities": ["text", "audio"]},
    {"prediction": {"type": "content", "content": "x"}},
    {"stream": "yes"},
]


@pytest.mark.parametrize("fields", OFFERED)
async def test_tools_are_offered(fields: dict[str, Any]):
    async with rounds(Say("ok")) as upstream:
        await upstream.post(large(**fields))
        upstream.check(1)
    tools = upstream.sent[0]["tools"]
    assert [tool["function"]["name"] for tool in tools][-2:] == ["memory_search", "memory_read"]
    assert len(tools) == 2 + len(fields.get("tools") or [])
    assert upstream.sent[0].get("tool_choice") == fields.get("tool_choice")
    assert upstream.script.seen[0].headers["accept-encoding"] == "identity"


@pytest.mark.parametrize("fields", NOT_OFFERED)
async def test_tools_are_not_offered(fields: dict[str, Any]):
    """And the request is the same as with the setting off."""
    sent = []
    for setting in (True, False):
        async with rounds(Say("ok"), recall_tools=setting) as upstream:
            await upstream.post(large(**fields))
            sent.append(upstream.script.seen[0])
    assert sent[0].raw == sent[1].raw
    assert sent[0].headers["accept-encoding"] == sent[1].headers["accept-encoding"] == "gzip"


@pytest.mark.parametrize(
    ("setting", "header", "offered"),
    [(False, "on", True), (True, "off", False), (True, "perhaps", True), (False, None, False)],
)
async def test_the_header_wins_over_the_setting_and_stays_here(
    setting: bool, header: str | None, offered: bool
):
    headers = {"x_memtree_recall_tools": header} if header else {}
    async with rounds(Say("ok"), recall_tools=setting) as upstream:
        await upstream.post(large(), **headers)
    assert ("tools" in upstream.sent[0]) == offered
    assert "x-memtree-recall-tools" not in upstream.script.seen[0].headers


@pytest.mark.parametrize(
    "posted",
    [
        {**body(), "messages": body()["messages"][-5:]},
        {**large(), "memory": False},
        {**body(), "mode": "auto"},
    ],
    ids=["below the threshold", "memory off", "passed"],
)
async def test_not_where_nothing_was_folded(posted: dict[str, Any]):
    async with rounds(Say("ok")) as upstream:
        headers = {**ON} if posted.get("mode") is None else {**KEY, "x-polychat-memory": "on"}
        answer = await upstream.client.post(CHAT, json=posted, headers=headers)
    assert answer.headers["x-memtree-state"] in ("below-threshold", "off", "passed")
    assert "tools" not in upstream.sent[0]


@pytest.mark.parametrize(
    ("state", "offered"),
    [
        ("packed", True),
        ("provisional", True),
        ("degraded:embedder", True),
        ("degraded:store", False),
    ],
)
async def test_not_where_memory_is_degraded(state: str, offered: bool):
    memory = FakeMemory()
    memory.told, memory.folded = {"state": State(state)}, object()
    async with rounds(Say("ok"), memory=memory) as upstream:
        await upstream.post(large())
    assert ("tools" in upstream.sent[0]) == offered


async def test_the_tools_count_against_the_budget():
    memory = FakeMemory()
    async with rounds(Say("ok"), Say("ok"), memory=memory) as upstream:
        for word in ("on", "off"):
            await upstream.post(large(tools=[READ_FILE]), x_memtree_recall_tools=word)
    on, off = (ask.tools_tokens for ask in memory.asks)
    assert on - off == tool_offer.CHAT.size(CONTEXT_TOOLS)


@pytest.mark.parametrize(("limit", "state"), [(128_000, "passed"), (10_000, "packed")])
async def test_not_in_side_requests(limit: int, state: str):
    ordered = "Generate a concise 3-7 word title for this conversation, omitting punctuation."
    async with rounds(Say("ok")) as upstream:
        posted = large(model_context_limit=limit)
        posted["messages"][-1]["content"] = ordered
        answer = await upstream.post(posted)
    assert answer.headers["x-memtree-state"] == state
    assert "tools" not in upstream.sent[0]


async def test_tools_are_the_same_bytes_in_every_turn_of_an_epoch():
    posted = large(tools=[READ_FILE])
    async with rounds(Say("one"), Say("two")) as upstream:
        first = await upstream.post(posted)
        posted["messages"] += [{"role": "assistant", "content": "one"},
                               {"role": "user", "content": "ok, and then?"}]  # fmt: skip
        second = await upstream.post(posted)
    assert first.headers["x-memtree-epoch"] == second.headers["x-memtree-epoch"]
    tails = [seen.raw.partition(b',"tools":')[2] or seen.raw.partition(b'"tools":')[2]
             for seen in upstream.script.seen]  # fmt: skip
    assert tails[0] == tails[1] != b""
    sent = [seen.body["messages"] for seen in upstream.script.seen]
    assert sent[1][: len(sent[0])] == sent[0]


# ---------------------------------------------------------------- limits


@pytest.mark.parametrize("streams", [True, False])
async def test_after_eight_rounds_the_model_must_answer(streams: bool):
    async with rounds(*(Say(f"{n} ", (SEARCH,)) for n in range(20))) as upstream:
        answer = await upstream.post(large(stream=streams))
        upstream.check(MOST_ROUNDS + 1)
    last = upstream.sent[-1]
    assert (last["tools"], last["tool_choice"]) == (upstream.sent[0]["tools"], "none")
    if streams:
        seen = completed(answer.content)
        assert (seen.finish, seen.calls, seen.problems) == ("stop", [], [])
        assert seen.content == "".join(f"{n} " for n in range(9))
    else:
        choice = answer.json()["choices"][0]
        assert choice["finish_reason"] == "stop"
        assert "tool_calls" not in choice["message"]


async def test_after_eight_rounds_the_clients_tools_are_left():
    steps = [Say("", (SEARCH,))] * MOST_ROUNDS + [Say("", (Call("read_file", {}),))]
    async with rounds(*steps) as upstream:
        answer = await upstream.post(large(stream=True, tools=[READ_FILE]))
        upstream.check(MOST_ROUNDS + 1)
    assert upstream.sent[-1]["tools"] == [READ_FILE]
    assert [name for _, name, _ in completed(answer.content).calls] == ["read_file"]


async def test_many_calls_in_one_round_are_not_all_answered():
    async with rounds(Say("", (SEARCH,) * 12), Say("ok")) as upstream:
        await upstream.post(large(stream=True))
        upstream.check(2)
    assert [text == TOO_MANY for text in upstream.results(1)] == [False] * 8 + [True] * 4


async def test_results_end_with_the_room_in_the_window():
    read = Call("memory_read", {"first": 1, "last": 170})
    async with rounds(*(Say("", (read,)) for _ in range(4)), Say("ok")) as upstream:
        await upstream.post(large(stream=True, model_context_limit=16_000))
        upstream.check(5)
    sizes = [len(text) for text in upstream.results(4)]
    assert sizes[0] > 10_000
    assert upstream.results(4)[-1] == NO_ROOM
    assert sizes == sorted(sizes, reverse=True)


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (Call("memory_search", {}), "query is required"),
        (Call("memory_search", {"query": " "}), "query must be a text that is not empty"),
        (Call("memory_search", {"query": 7}), "query must be a string"),
        (Call("memory_search", {"query": "x", "limit": "many"}), "limit must be an integer"),
        (Call("memory_read", {}), "first is required"),
        (Call("memory_read", {"first": -3}), "first must be an integer of at least 0"),
        (Call("memory_read", {"first": 9, "last": 3}), "nor `last` below `first`"),
        (Call("memory_read", {"first": 9_999}), "there is no message 9999; the last one is 171"),
        (Call("memory_read", {"first": 6, "start": 9_999}), "message 6 has 66 characters"),
        (Call("memory_read", {"first": 0}), "is a system message"),
        (Call("memory_read", {"first": [1]}), "first must be an integer"),
    ],
)  # fmt: skip
async def test_a_bad_call_is_told_to_the_model(call: Call, said: str):
    async with rounds(Say("", (call,)), Say("ok")) as upstream:
        answer = await upstream.post(large(stream=True))
        upstream.check(2)
    assert said in upstream.results(1)[0]
    assert completed(answer.content).content == "ok"


async def test_a_search_that_fails_is_told_to_the_model(monkeypatch: pytest.MonkeyPatch):
    memory = real_memory()

    async def broken(*_: Any) -> str:
        raise RuntimeError("a text that nobody may see")

    async with rounds(Say("", (SEARCH,)), Say("ok"), memory=memory) as upstream:
        first = await upstream.post(large(stream=True), x_memtree_recall_tools="off")
        assert first.status_code == 200
        upstream.script.at = 0
        monkeypatch.setattr(Retriever, "rank", broken)
        answer = await upstream.post(large(stream=True))
    assert upstream.results(-1) == [BROKEN]
    assert completed(answer.content).content == "ok"


# ---------------------------------------------------------------- the client's tools


async def test_calls_of_the_client_pass_after_a_search():
    mine = Call("read_file", {"path": "x"})
    async with rounds(Say("a", (SEARCH,)), Say("b", (mine, mine))) as upstream:
        answer = await upstream.post(large(stream=True, tools=[READ_FILE]))
        upstream.check(2)
    seen = completed(answer.content)
    assert (seen.content, seen.finish, seen.problems) == ("a\n\nb", "tool_calls", [])
    assert [call[0] for call in seen.calls] == list(upstream.script.seen[1].ids)


@pytest.mark.parametrize("streams", [True, False])
async def test_in_a_mixed_round_the_client_gets_its_own_calls(streams: bool):
    mine = Call("read_file", {"path": "x"})
    async with rounds(Say("a", (SEARCH, mine, SEARCH, mine))) as upstream:
        answer = await upstream.post(large(stream=streams, tools=[READ_FILE]))
        upstream.check(1)
    ids = upstream.script.seen[0].ids
    if streams:
        seen = completed(answer.content)
        assert (seen.finish, seen.problems, seen.indices) == ("tool_calls", [], [0, 1])
        assert [call[0] for call in seen.calls] == [ids[1], ids[3]]
    else:
        choice = answer.json()["choices"][0]
        assert [call["id"] for call in choice["message"]["tool_calls"]] == [ids[1], ids[3]]
        assert choice["finish_reason"] == "tool_calls"


def test_names_are_those_of_the_tools():
    assert {"memory_search", "memory_read"} == CONTEXT_TOOLS.names
