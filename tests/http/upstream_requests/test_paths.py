"""Paths as clients write them: memory works, or the answer says that it could not."""

from __future__ import annotations

from typing import Any

import pytest

from tests.http.served.fakes import FakeKeys, FakeMemory, dumps, edge, turn
from tests.http.served.upstream import PLAIN_BYTES, FakeUpstream

ON = {"x-polychat-memory": "on"}
QUERY = "api-version=2024-10-21"
DEPLOYED = "/openai/deployments/gpt-4o/chat/completions"


def told(answer: Any) -> tuple[str | None, str | None]:
    return answer.headers.get("x-memtree-state"), answer.headers.get("x-memtree-reason")


@pytest.mark.parametrize(
    ("posted", "arrives"),
    [
        ("/v1/chat/completions/", "/chat/completions"),
        ("/v1//chat/completions", "/chat/completions"),
        ("//v1/chat///completions//", "/chat/completions"),
        ("/api//v1/chat/completions", "/chat/completions"),
        ("/v1%2Fchat%2fcompletions", "/chat/completions"),
        ("/v1/%2Fchat/completions%2F", "/chat/completions"),
        ("/v1/chat_completions/", "/chat/completions"),
        ("/v1//messages", "/messages"),
        ("/v1/responses/", "/responses"),
        (DEPLOYED, DEPLOYED),
        ("/v1" + DEPLOYED, DEPLOYED),
        ("//openai/deployments/gpt-4o//chat/completions/", DEPLOYED),
        (DEPLOYED.replace("gpt-4o", "my%20model"), DEPLOYED.replace("gpt-4o", "my%20model")),
        (DEPLOYED.replace("gpt-4o", "gpt-4o:memory-3"), DEPLOYED),
        ("/openai/v1/chat/completions", "/openai/v1/chat/completions"),
        ("/openai/v1/responses", "/openai/v1/responses"),
        ("/openai/responses/", "/openai/responses"),
    ],
)
async def test_memory_works_under_each(
    posted: str, arrives: str, base: str, upstream: FakeUpstream
):
    name = "input" if "responses" in posted else "messages"
    body = {"model": "m", name: turn(3)["messages"]}
    async with edge(base, FakeMemory()) as client:
        answer = await client.post(f"http://edge{posted}?{QUERY}", json=body, headers=ON)
    assert told(answer) == ("below-threshold", None)
    assert upstream.last.path.decode() == "/up/v1" + arrives
    assert upstream.last.query.decode() == QUERY


@pytest.mark.parametrize("path", ["/v1//memories", "/memories/", "/v1/memories//search/?query=x"])
async def test_other_routes_of_ours_do_not_go_upstream(
    path: str, base: str, upstream: FakeUpstream
):
    async with edge(base) as client:
        assert (await client.get(path)).status_code == 200
    assert not upstream.seen


@pytest.mark.parametrize("model", [None, "gpt-4o-mini"])
async def test_the_deployment_stands_for_a_model_that_is_not_named(
    model: str | None, base: str, upstream: FakeUpstream
):
    memory = FakeMemory()
    body = dumps({name: value for name, value in turn(3, model=model).items() if value})
    windows = ("gpt-4o=50000", "gpt-4o-mini=60000")
    async with edge(base, memory, window=windows) as client:
        await client.post(DEPLOYED, content=body, headers=ON)
        assert memory.asks[-1].window == (60_000 if model else 50_000)
        await client.post(DEPLOYED, content=body)
    assert upstream.last.body == body


@pytest.mark.parametrize("model", [None, "gpt-4o"])
async def test_the_suffix_of_a_deployment_turns_memory_on(
    model: str | None, base: str, upstream: FakeUpstream
):
    """The body may name its model, too."""
    memory = FakeMemory()
    body = {name: value for name, value in turn(3, model=model).items() if value}
    async with edge(base, memory) as client:
        answer = await client.post(DEPLOYED.replace("gpt-4o", "gpt-4o:memory-3"), json=body)
    assert told(answer) == ("below-threshold", None)
    assert memory.asks[-1].expiration_days == 3
    assert upstream.last.path.decode() == "/up/v1" + DEPLOYED


@pytest.mark.parametrize(
    ("path", "status"), [("/openai/responses", 400), ("/openai/v1/responses", 400), (DEPLOYED, 413)]
)
async def test_errors_have_the_form_of_the_api(path: str, status: int, base: str):
    async with edge(base, max_body_bytes=9) as client:
        answer = await client.post(path, json=turn(1))
    assert (answer.status_code, answer.json()["error"]["code"]) == (status, "request_too_large")


async def test_the_key_of_azures_clients_is_ours_or_replaced(base: str, upstream: FakeUpstream):
    async with edge(base, keys=FakeKeys(t=["K"]), upstream_api_key="sk-up") as client:
        assert (
            await client.post(DEPLOYED, json=turn(1), headers={"api-key": "L"})
        ).status_code == 401
        await client.post(DEPLOYED, json=turn(1), headers={"api-key": "K"})
    assert upstream.last.header("api-key") == ["sk-up"]
    assert not upstream.last.header("authorization")


RELAYED = [
    ("POST", "/v1/completions"),
    ("POST", "/v1/embeddings"),
    ("GET", "/v1/models"),
    ("GET", "/v1/chat/completions"),
    ("POST", "/v1/v1/chat/completions"),
    ("POST", "/openai/deployments/gpt-4o/embeddings"),
    ("POST", "/nobody/knows"),
]


@pytest.mark.parametrize(("method", "path"), RELAYED)
@pytest.mark.parametrize(
    ("headers", "memory", "reason"),
    [
        (ON, False, ("off", "path-without-memory")),
        ({}, True, ("off", "path-without-memory")),
        ({"x-polychat-memory": "off"}, True, (None, None)),
        ({}, False, (None, None)),
    ],
)
async def test_a_path_without_memory_says_so_where_it_was_asked_for(
    method: str,
    path: str,
    headers: dict[str, str],
    memory: bool,
    reason: tuple[str | None, str | None],
    base: str,
    upstream: FakeUpstream,
):
    async with edge(base, memory=memory) as client:
        answer = await client.request(method, path, headers=headers)
    assert (answer.content, told(answer)) == (PLAIN_BYTES, reason)


async def test_an_error_on_such_a_path_says_it_too():
    async with edge(None) as client:
        answer = await client.post("/v1/embeddings", json={}, headers=ON)
    assert (answer.status_code, *told(answer)) == (503, "off", "path-without-memory")
