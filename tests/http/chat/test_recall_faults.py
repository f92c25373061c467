"""Upstreams that fail, refuse, hang or linger in an answer in which the model searches."""

from __future__ import annotations

import gzip
import json
from typing import Any

import httpx
import pytest

from memtree_proxy.server.app import create_app
from tests.http.chat.test_streaming import connection, read_until
from tests.http.owned.recalling import (
    CHAT,
    ON,
    READ_FILE,
    SEARCH,
    large,
    rounds,
    sequel,
    served,
    streamed,
    told,
)
from tests.http.served.fakes import real_memory, services
from tests.http.served.running import PATIENCE, running, wait_for
from tests.http.served.upstream import JSON, SSE
from tests.made.completion import completed
from tests.made.scripted import Answer, Cut, Fail, Say, Scripted


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
        with running(create_app(built), built.upstreams) as address:
            got: list[bytes] = []
            with (
                httpx.stream(
                    "POST", address + CHAT, json=large(stream=True), headers=ON, timeout=PATIENCE
                ) as answer,
                pytest.raises(httpx.RemoteProtocolError),
            ):
                got.extend(answer.iter_raw())
    seen = completed(b"".join(got), partial=True)
    assert seen.content.startswith("Wait.\n\n")
    assert (seen.finish, seen.done, len(script.seen)) == (None, 0, 2)


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


def test_hanging_up_in_a_later_round_cancels_upstream():
    with served(streamed(Say("Wait.", (SEARCH,))), "hang") as (upstream, address):
        with connection(address, json.dumps(large(stream=True)).encode()) as client:
            read_until(client, b": thinking")
        wait_for(lambda: upstream.left)
    assert len(upstream.bodies) == 2


def test_a_server_that_keeps_its_connection_open_is_not_waited_for():
    lingers = ("linger", streamed(Say("a", (SEARCH,)))[2])
    with served(lingers, streamed(Say("b"))) as (upstream, address):
        answer = httpx.post(address + CHAT, json=large(stream=True), headers=ON, timeout=PATIENCE)
        wait_for(lambda: upstream.left)
    assert completed(answer.content).content == "a\n\nb"


def test_events_arrive_while_later_rounds_go_on():
    with (
        served(streamed(Say("Wait.", (SEARCH,))), "hang") as (_, address),
        connection(address, json.dumps(large(stream=True)).encode()) as client,
    ):
        got = read_until(client, b": thinking")
    assert b'"Wait."' in got
    assert b"memory_search" not in got
