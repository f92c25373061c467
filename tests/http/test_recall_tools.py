"""A model that searches and reads what memory folded, inside one answer."""

from __future__ import annotations

import gzip
import json
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from typing import Any

import httpx
import pytest

from memtree.recollect import NO_ROOM
from proxy import wire
from proxy.app import create_app
from proxy.tools.answering import MOST_ROUNDS, TOO_MANY
from proxy.tools.offer import NAMES
from tests.completion import completed
from tests.http.fakes import FakeMemory, edge, real_memory, services
from tests.http.running import running
from tests.http.test_streaming import connection, read_until, wait_for
from tests.http.upstream import JSON, SSE, piece, reply, start
from tests.outgoing import problems, without_recall
from tests.scripted import Answer, Call, Cut, Fail, Say, Script, Scripted
from tests.sessions import chat

CHAT = "/v1/chat/completions"
KEY = {"authorization": "Bearer key"}
ON = {
    **KEY,
    "x-polychat-memory": "on",
    "x-memtree-mode": "stable",
    "accept-encoding": "gzip",
}
FACT = "The launch code of the harbour crane is KX-4471, said the foreman."
SEARCH = Call("memory_search", {"query": "launch code of the crane"})
READ_FILE = {
    "type": "function",
    "function": {"name": "read_file", "parameters": {"type": "object"}},
}


def body(**fields: Any) -> dict[str, Any]:
    """Some 16,000 tokens; the fact stands in message 6, far from what is asked."""
    said = chat(240, words=60)
    said[5] = {"role": "user", "content": FACT}
    asked = {"role": "user", "content": "Thanks, that was all about the garden. What is next?"}
    system = {"role": "system", "content": "be brief"}
    return {"model": "scripted", "messages": [system, *said, asked], **fields}


def large(**fields: Any) -> dict[str, Any]:
    return body(target_tokens=4_000, **fields)


class Rounds:
    """Scripted answers in front of real memory, and what was sent for them."""

    def __init__(self, script: Script, client: httpx.AsyncClient) -> None:
        self.script, self.client = script, client

    async def post(self, posted: dict[str, Any], **headers: str) -> httpx.Response:
        self.posted = {k: v for k, v in posted.items() if k != "target_tokens"}
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        return await self.client.post(CHAT, json=posted, headers={**ON, **named})

    @property
    def sent(self) -> list[dict[str, Any]]:
        return [seen.body for seen in self.script.seen]

    def results(self, round_: int) -> list[str]:
        """What the tools had told the model when round `round_` (from 0) was asked for."""
        return [m["content"] for m in self.sent[round_]["messages"] if m["role"] == "tool"]

    def check(self, rounds: int) -> None:
        """Each request is sound, and begins with the one before it."""
        assert len(self.sent) == rounds
        for sent in self.sent:
            stripped, found = without_recall(self.posted, sent)
            assert found == []
            assert problems(self.posted, stripped) == []
        for earlier, later in zip(self.script.seen, self.script.seen[1:], strict=False):
            before, after = (wire.split(seen.raw).fragment("messages") for seen in (earlier, later))
            assert before
            assert after
            assert after.startswith(before[:-1])


@asynccontextmanager
async def rounds(*steps: Any, memory: Any = None, **settings: Any) -> AsyncIterator[Rounds]:
    upstream = Scripted()
    script = upstream.script("key", steps)
    with running(upstream) as above:
        settings = {"recall_tools": True, **settings}
        async with edge(f"{above}/v1", memory or real_memory(), **settings) as client:
            yield Rounds(script, client)


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
    assert FACT not in json.dumps(first)
    assert [m["role"] for m in second["messages"][-2:]] == ["assistant", "tool"]
    assert f"[6 user] {FACT}" in upstream.results(1)[0]
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
    calls = [Call("memory_read", {"first": 6}), Call("memory_read", {"first": "1", "last": 240.0})]
    async with rounds(Say("", tuple(calls)), Say("done")) as upstream:
        await upstream.post(large(stream=True))
        upstream.check(2)
    one, many = upstream.results(1)
    assert one.splitlines()[1:] == [f"[6 user] {FACT}"]
    assert "\n[1 user] " in many
    assert many.splitlines()[-1].startswith("[cut here; the rest: first=")
    assert "last=240" in many.splitlines()[-1]


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
    ("state", "offered"), [("packed", True), ("provisional", True), ("degraded:store", False)]
)
async def test_not_where_memory_is_degraded(state: str, offered: bool):
    memory = FakeMemory()
    memory.told = {"state": state, "folded": object()}
    async with rounds(Say("ok"), memory=memory) as upstream:
        await upstream.post(large())
    assert ("tools" in upstream.sent[0]) == offered


async def test_not_in_side_requests():
    ordered = "Generate a concise 3-7 word title for this conversation, omitting punctuation."
    async with rounds(Say("ok")) as upstream:
        posted = large()
        posted["messages"][-1]["content"] = ordered
        answer = await upstream.post(posted)
    assert answer.headers["x-memtree-state"] == "passed"
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
    read = Call("memory_read", {"first": 1, "last": 240})
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
        (Call("memory_search", {}), "query must be a string that is not empty"),
        (Call("memory_search", {"query": " "}), "query must be a string that is not empty"),
        (Call("memory_search", {"query": 7}), "query must be a string"),
        (Call("memory_search", {"query": "x", "limit": "many"}), "limit must be an integer"),
        (Call("memory_read", {}), "first is missing"),
        (Call("memory_read", {"first": -3}), "must not be negative"),
        (Call("memory_read", {"first": 9, "last": 3}), "nor `last` below `first`"),
        (Call("memory_read", {"first": 9_999}), "there is no message 9999; the last one is 241"),
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
        monkeypatch.setattr(memory._seeker, "seek", broken)
        answer = await upstream.post(large(stream=True))
    assert upstream.results(-1) == ["Error: the record cannot be read at the moment. "
                                    "Answer without it."]  # fmt: skip
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


# ---------------------------------------------------------------- what goes wrong


async def test_a_later_round_that_fails_is_an_event_of_the_stream():
    async with rounds(Say("Wait.", (SEARCH,)), Fail(503, "busy")) as upstream:
        answer = await upstream.post(large(stream=True))
    seen = completed(answer.content)
    assert (seen.content, seen.done) == ("Wait.", 1)
    assert seen.errors == [{"code": "busy", "message": "the script wants an error here",
                            "type": "server_error", "param": None}]  # fmt: skip


async def test_a_later_round_that_fails_is_the_answer_where_nothing_was_sent_yet():
    async with rounds(Say("Wait.", (SEARCH,)), Fail(429, "slow", retry_after=7)) as upstream:
        answer = await upstream.post(large())
    assert (answer.status_code, answer.headers["retry-after"]) == (429, "7")
    assert answer.content == upstream.script.seen[1].answered


def test_a_later_round_that_breaks_off_breaks_the_answer_off():
    upstream = Scripted()
    script = upstream.script("key", [Say("Wait.", (SEARCH,)), Cut(), Say("never whole")])
    with running(upstream) as above:
        built = services(f"{above}/v1", real_memory(), recall_tools=True)
        with running(create_app(built), built.upstream) as address:
            got: list[bytes] = []
            with (
                httpx.stream("POST", address + CHAT, json=large(stream=True), headers=ON) as answer,
                pytest.raises(httpx.RemoteProtocolError),
            ):
                got.extend(answer.iter_raw())
    seen = completed(b"".join(got), partial=True)
    assert seen.content.startswith("Wait.\n\n")
    assert (seen.finish, seen.done, len(script.seen)) == (None, 0, 2)


class Sequel:
    """An upstream that answers its n-th request with the n-th of `answers` (status, headers, body),
    `hang`, or (`linger`, body) for one that never ends; the last one stands for all that follow."""

    def __init__(self, *answers: Any) -> None:
        self.answers = list(answers)
        self.bodies: list[bytes] = []
        self.left = False

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] != "http":
            return
        raw, more = b"", True
        while more:
            message = await receive()
            raw, more = raw + message.get("body", b""), message.get("more_body", False)
        self.bodies.append(raw)
        answer = self.answers[min(len(self.bodies), len(self.answers)) - 1]
        if answer == "hang" or answer[0] == "linger":
            await start(send, SSE)
            await piece(send, b": thinking\n\n" if answer == "hang" else answer[1])
            while (await receive())["type"] != "http.disconnect":
                pass
            self.left = True
            return
        await reply(send, *answer)


def streamed(step: Say) -> tuple[int, Any, bytes]:
    usage = {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2}
    return 200, SSE, b"".join(Answer(step, "x", usage).stream(False))


@asynccontextmanager
async def sequel(*answers: Any, **settings: Any) -> AsyncIterator[tuple[Sequel, httpx.AsyncClient]]:
    upstream = Sequel(*answers)
    with running(upstream) as above:
        memory = real_memory()
        async with edge(f"{above}/v1", memory, recall_tools=True, **settings) as client:
            yield upstream, client


def told(status: int, message: str) -> tuple[int, Any, bytes]:
    return status, JSON, json.dumps({"error": {"message": message}}).encode()


@pytest.mark.parametrize(
    "refused",
    [
        told(400, "registry.ollama.ai/library/gemma:2b does not support tools"),
        told(404, "No endpoints found that support tool use."),
        told(400, '"auto" tool choice requires --enable-auto-tool-choice'),
        (200, SSE, b'data: {"error": {"message": "tool calling is not supported"}}\n\n'),
    ],
)
async def test_a_model_without_tools_is_asked_again_and_remembered(refused: Any):
    told_it = streamed(Say("Hello."))
    async with sequel(refused, told_it, told_it, refused, told_it) as (upstream, client):
        for model, tenant, requests in (("m", "a", 2), ("m", "a", 3), ("m", "b", 5)):
            headers = {**ON, "authorization": f"Bearer {tenant}"}
            answer = await client.post(CHAT, json=large(stream=True, model=model), headers=headers)
            assert (answer.status_code, completed(answer.content).content) == (200, "Hello.")
            assert len(upstream.bodies) == requests
    offered = [b"memory_search" in raw for raw in upstream.bodies]
    assert offered == [True, False, False, True, False]


async def test_an_error_about_the_clients_own_tools_is_not_held_against_ours():
    refused = told(400, "Invalid schema for function 'read_file': tools[0]")
    async with sequel(refused) as (upstream, client):
        for requests in (2, 4):
            answer = await client.post(CHAT, json=large(tools=[READ_FILE]), headers=ON)
            assert (answer.status_code, answer.content) == (400, refused[2])
            assert len(upstream.bodies) == requests
    assert b"memory_search" in upstream.bodies[2]


@pytest.mark.parametrize("streams", [True, False])
async def test_a_later_prompt_that_is_too_long_is_packed_smaller(streams: bool):
    long = told(400, "This model's maximum context length is 6000 tokens. However, your messages "
                     "resulted in 9000 tokens.")  # fmt: skip
    usage = {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2}
    steps = [Say("a", (SEARCH,)), Say("b")]
    one, two = (
        streamed(step) if streams else (200, JSON, Answer(step, "x", usage).whole())
        for step in steps
    )
    async with sequel(one, long, two) as (upstream, client):
        answer = await client.post(CHAT, json=large(stream=streams), headers=ON)
    assert len(upstream.bodies) == 3
    second, third = (json.loads(raw) for raw in upstream.bodies[1:])
    assert len(upstream.bodies[2]) < len(upstream.bodies[1])
    assert third["messages"][-2:] == second["messages"][-2:]
    assert third["tools"] == second["tools"]
    content = (
        completed(answer.content).content
        if streams
        else answer.json()["choices"][0]["message"]["content"]
    )
    assert content == "a\n\nb"


async def test_gzip_that_nobody_wanted_is_undone():
    status, headers, raw = streamed(Say("a", (SEARCH,)))
    packed = (status, [*headers, (b"content-encoding", b"gzip")], gzip.compress(raw))
    async with sequel(packed, streamed(Say("b"))) as (_, client):
        answer = await client.post(CHAT, json=large(stream=True), headers=ON)
    assert completed(answer.content).content == "a\n\nb"
    assert "content-encoding" not in answer.headers


@contextmanager
def served(*answers: Any) -> Iterator[tuple[Sequel, str]]:
    upstream = Sequel(*answers)
    with running(upstream) as above:
        built = services(f"{above}/v1", real_memory(), recall_tools=True, mode="stable")
        with running(create_app(built), built.upstream) as address:
            yield upstream, address


def test_hanging_up_in_a_later_round_cancels_upstream():
    with served(streamed(Say("Wait.", (SEARCH,))), "hang") as (upstream, address):
        with connection(address, json.dumps(large(stream=True)).encode()) as client:
            read_until(client, b": thinking")
        wait_for(lambda: upstream.left, 5)
    assert len(upstream.bodies) == 2


def test_a_server_that_keeps_its_connection_open_is_not_waited_for():
    lingers = ("linger", streamed(Say("a", (SEARCH,)))[2])
    with served(lingers, streamed(Say("b"))) as (upstream, address):
        answer = httpx.post(address + CHAT, json=large(stream=True), headers=ON)
        wait_for(lambda: upstream.left, 5)
    assert completed(answer.content).content == "a\n\nb"


def test_events_arrive_while_later_rounds_go_on():
    with (
        served(streamed(Say("Wait.", (SEARCH,))), "hang") as (_, address),
        connection(address, json.dumps(large(stream=True)).encode()) as client,
    ):
        got = read_until(client, b": thinking")
    assert b'"Wait."' in got
    assert b"memory_search" not in got


def test_names_are_those_of_the_tools():
    assert {"memory_search", "memory_read"} == NAMES
