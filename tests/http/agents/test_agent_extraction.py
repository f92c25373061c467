"""`POST /memories` with a conversation: what the user says is read, once, into memories."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Iterable
from typing import Any

import pytest

from memtree.stores import RamStore
from memtree.text import tokens
from memtree_proxy.api import agent_memory_routes
from memtree_proxy.http.auth import tenant_id
from memtree_proxy.upstream.relay import WHOLE
from tests.http.owned.kinds import AGENT, PROFILE, Agents, agents
from tests.http.served.fakes import FakeKeys
from tests.http.served.upstream import PLAIN, PLAIN_BYTES, FakeUpstream

FAVORITE = (
    "UserProfile",
    '{"type": "object", "properties": {"favoriteColor": {"type": "string"}, "name": '
    '{"type": "string"}}, "additionalProperties": false}',
    ("kind",),
)
SEED = [
    {"id": "msg_1", "role": "user", "content": "My favorite color is blue."},
    {"role": "assistant", "content": "Noted."},
]


MODEL = "gpt-5-nano"
SECRET = "sk-proj-" + "aB3dE5gH7jK9" * 4


@pytest.fixture
async def app(upstream: FakeUpstream, base: str) -> AsyncIterator[Agents]:
    """Over an upstream that can fill schemas."""
    upstream.mode = "spoken"
    async with agents(base=base) as made:
        yield made


async def read(app: Agents, *messages: Any, status: int = 201, **fields: Any) -> Any:
    """Texts are the user's. `model`: of the upstream."""
    fields = {"model": MODEL, **fields}
    conversation = [
        one if isinstance(one, dict) else {"role": "user", "content": one} for one in messages
    ]
    posted = {"agentId": AGENT, "conversation": conversation, **fields}
    return await app.got("POST", json=posted, status=status)


async def test_the_example_of_the_documents(app: Agents) -> None:
    await app.schemas(FAVORITE)
    answer = await read(app, *SEED)
    [row] = answer["created"]
    assert row == {
        "id": row["id"],
        "kind": "UserProfile",
        "metadata": {"favoriteColor": "blue"},
    }
    assert (answer["success"], answer["updated"], answer["messages"]) == (True, [], 1)
    memory = await app.one(row["id"])
    assert memory["data"] == {"favoriteColor": "blue"}
    assert memory["metadata"]["source"] == "extraction"
    assert 0.5 < memory["metadata"]["confidence"] < 1


async def test_without_a_schema_sentences_are_kept(app: Agents) -> None:
    answer = await read(app, "My name is Alice and I live in Seattle.")
    assert [(row["kind"], row["metadata"]) for row in answer["created"]] == [
        ("UserProfile", {"name": "Alice"}),
        ("fact", {"text": "User lives in Seattle"}),
    ]


async def test_a_message_is_read_once_and_by_force_again(app: Agents) -> None:
    await app.schemas(FAVORITE)
    created = (await read(app, *SEED))["created"]
    again = await read(app, *SEED, status=200)
    assert (again["created"], again["updated"], again["messages"]) == ([], [], 0)
    await app.got("DELETE", f"/{created[0]['id']}")
    assert (await read(app, *SEED, status=200))["created"] == []
    assert len((await read(app, *SEED, force=True))["created"]) == 1


async def test_what_was_skipped_is_said_with_its_reason(app: Agents) -> None:
    await app.schemas(PROFILE)
    answer = await read(app, "I'm 30. Is it late? I play chess.", status=200)
    assert [(row["text"], row["reason"]) for row in answer["skipped"]] == [("I'm 30", "incomplete")]


async def test_a_later_mention_supersedes_and_keeps_what_else_is_known(app: Agents) -> None:
    await app.schemas(FAVORITE)
    first = await read(app, "My name is Bo. My favorite color is blue.")
    later = await read(app, "My favorite color is green now.", status=200)
    [row] = later["updated"]
    assert row["supersedes"] == first["created"][0]["id"]
    assert await app.data() == [{"name": "Bo", "favoriteColor": "green"}]


async def test_ttl_of_the_request_is_that_of_all(app: Agents) -> None:
    await app.schemas(FAVORITE)
    [row] = (await read(app, *SEED, ttl="1h"))["created"]
    now = app.opened.clock.now()
    assert row["metadata"]["expiresAt"] == round((now + 3600) * 1000)


async def test_only_named_schemas_and_none_that_there_is_not(app: Agents) -> None:
    await app.schemas(FAVORITE)
    error = await read(app, *SEED, status=422, schemas=["UserProfiles"])
    assert error["error"]["param"] == "schemas[0]"
    assert "UserProfile" in error["error"]["message"]


async def test_roles_of_both_sdks(app: Agents) -> None:
    await app.schemas(FAVORITE)
    answer = await read(
        app,
        {"role": "ai", "content": "My favorite color is red."},
        {"role": "system", "content": "My favorite color is black."},
        {"role": "human", "content": "My favorite color is blue."},
    )
    assert await app.data() == [{"favoriteColor": "blue"}]
    assert answer["messages"] == 1


# -- the model ------------------------------------------------------------------------------------


async def test_schemas_without_a_model_are_told_what_to_do(
    app: Agents, upstream: FakeUpstream
) -> None:
    await app.schemas(FAVORITE)
    error = (await read(app, *SEED, status=422, model=None))["error"]
    assert (error["code"], error["param"]) == ("model_needed", "model")
    assert "your own credential" in error["message"]
    assert (upstream.seen, await app.data()) == ([], [])
    assert (await read(app, *SEED))["messages"] == 1  # it does not count as read


async def test_a_model_needs_an_upstream(base: str) -> None:
    async with agents() as app:
        await app.schemas(FAVORITE)
        error = (await read(app, *SEED, status=422))["error"]
        assert (error["code"], error["param"]) == ("model_needed", "model")
        assert "--upstream" in error["message"]
        assert await app.data() == []
        await app.book_of_schemas.delete(app.tenant, "UserProfile")
        assert len((await read(app, *SEED))["created"]) == 1  # a sentence needs no model


async def test_the_callers_model_is_asked_with_the_callers_credential(
    app: Agents, upstream: FakeUpstream
) -> None:
    await app.schemas(FAVORITE)
    more = {"openai-organization": "org", "x-mine": "1", "cookie": "session=x"}
    posted = {"agentId": AGENT, "conversation": SEED, "model": MODEL}
    answer = await app.got("POST", json=posted, headers=more, status=201)
    assert answer["usage"] == {
        "prompt_tokens": 7,
        "completion_tokens": 1,
        "total_tokens": 8,
        "prompt_tokens_details": {"cached_tokens": 0},
    }
    [seen] = upstream.seen
    assert (seen.method, seen.path) == ("POST", b"/up/v1/chat/completions")
    assert json.loads(seen.body)["model"] == MODEL
    assert seen.header("authorization") == ["Bearer key"]
    assert seen.header("openai-organization") == ["org"]
    assert not seen.header("x-mine") + seen.header("cookie")


async def test_a_key_of_ours_stays_here_and_the_servers_own_is_lent(
    upstream: FakeUpstream, base: str
) -> None:
    upstream.mode = "spoken"
    keys = FakeKeys(**{tenant_id("key"): ["key"]})
    async with agents(keys=keys, base=base, upstream_api_key="theirs") as app:
        await app.schemas(FAVORITE)
        await read(app, *SEED)
    assert upstream.last.header("authorization") == ["Bearer theirs"]


async def test_the_configured_model_comes_before_the_callers(
    upstream: FakeUpstream, base: str
) -> None:
    upstream.mode = "spoken"
    configured: dict[str, Any] = {"summary_model": "small", "summary_base_url": base}
    async with agents(base=base, tallies=RamStore(), **configured) as app:
        await app.schemas(FAVORITE)
        assert (await read(app, *SEED))["usage"]["total_tokens"] == 8
    assert [json.loads(seen.body)["model"] for seen in upstream.seen] == ["small"]


async def test_no_model_is_asked_without_schemas(app: Agents, upstream: FakeUpstream) -> None:
    answer = await read(app, *SEED)
    assert [(row["kind"], row["metadata"]) for row in answer["created"]] == [
        ("UserProfile", {"favoriteColor": "blue"})
    ]
    assert (upstream.seen, answer["usage"]["total_tokens"]) == ([], 0)


@pytest.mark.parametrize(
    ("mode", "status", "code"),
    [
        ("error", 502, "upstream_refused"),
        ("json", 200, None),
        ("echo", 502, "upstream_unreachable"),
    ],
)
async def test_an_upstream_that_fails_stores_nothing(
    app: Agents, upstream: FakeUpstream, mode: str, status: int, code: str | None
) -> None:
    await app.schemas(FAVORITE)
    upstream.mode, upstream.status = mode, 401
    answer = await read(app, *SEED, status=status)
    if code is None:  # it answers, but no records
        assert [skip["reason"] for skip in answer["skipped"]] == ["no_answer"]
    else:
        assert answer["error"]["code"] == code
        assert "upstream says no" not in str(answer)
    assert await app.data() == []
    upstream.mode = "spoken"
    assert (await read(app, *SEED))["messages"] == 1


@pytest.mark.parametrize("field", ["response_format", "max_tokens", "temperature"])
async def test_what_the_upstream_does_not_know_is_left_out(
    app: Agents, upstream: FakeUpstream, field: str
) -> None:
    await app.schemas(FAVORITE)
    upstream.refuses = field
    assert len((await read(app, *SEED))["created"]) == 1
    assert field not in json.loads(upstream.last.body)


async def test_an_error_without_an_error_object_names_what_is_left_out(
    app: Agents, upstream: FakeUpstream
) -> None:
    await app.schemas(FAVORITE)
    upstream.mode, upstream.status = "narrow", 422
    upstream.refusal = b'{"detail": [{"loc": ["body", "temperature"], "msg": "extra"}]}'
    assert (await read(app, *SEED, status=502))["error"]["code"] == "upstream_refused"
    first, second = (set(json.loads(seen.body)) for seen in upstream.seen)
    assert first - second == {"temperature"}


async def test_a_refused_text_is_asked_for_alone_and_is_no_error(
    app: Agents, upstream: FakeUpstream
) -> None:
    await app.schemas(FAVORITE)
    upstream.mode, upstream.status = "narrow", 400
    upstream.refusal = b'{"error": {"message": "no", "code": "content_filter"}}'
    answer = await read(app, "My favorite color is blue.", "My name is Bo.", status=200)
    assert [skip["reason"] for skip in answer["skipped"]] == ["no_answer"] * 2
    assert (len(upstream.seen), answer["usage"]["total_tokens"]) == (3, 0)


async def test_all_calls_of_a_request_have_one_limit_of_time(
    app: Agents, upstream: FakeUpstream, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(agent_memory_routes, "SECONDS", 0.5)
    await app.schemas(FAVORITE)
    upstream.mode, upstream.script = "script", [0.3, PLAIN_BYTES]  # nobody can read that
    answer = await read(app, "My favorite color is blue.", "My name is Bo.", status=504)
    assert answer["error"]["code"] == "upstream_timeout"


async def test_a_longer_answer_is_not_read(app: Agents, upstream: FakeUpstream) -> None:
    await app.schemas(FAVORITE)
    long = {"role": "assistant", "content": '{"records": []}' + " " * WHOLE}
    upstream.mode = "bytes"
    upstream.answer_body = json.dumps(PLAIN | {"choices": [{"message": long}]}).encode()
    answer = await read(app, *SEED, status=502)
    assert answer["error"]["code"] == "upstream_unreachable"


async def test_tokens_are_counted_if_the_upstream_does_not_report_them(
    app: Agents, upstream: FakeUpstream, monkeypatch: pytest.MonkeyPatch
) -> None:
    await app.schemas(FAVORITE)
    counted: list[str] = []
    count = tokens.count_many

    def counting(texts: Iterable[str]) -> list[int]:
        listed = list(texts)
        counted.extend(listed)
        return count(listed)

    monkeypatch.setattr(tokens, "count_many", counting)
    await read(app, *SEED)
    asked = [message["content"] for message in json.loads(upstream.last.body)["messages"]]
    assert not set(asked) & set(counted)
    upstream.mode, upstream.answer_body = "bytes", json.dumps(PLAIN | {"usage": None}).encode()
    usage = (await read(app, "My name is Bo.", status=200))["usage"]
    assert usage["prompt_tokens"] > usage["completion_tokens"] > 0


async def test_the_name_of_a_model_may_have_our_suffix(app: Agents, upstream: FakeUpstream) -> None:
    await app.schemas(FAVORITE)
    await read(app, *SEED, model=f"{MODEL}:memory-90")
    assert json.loads(upstream.last.body)["model"] == MODEL


async def test_what_was_not_said_is_dropped_and_told_but_no_secret(
    app: Agents, upstream: FakeUpstream
) -> None:
    await app.schemas(FAVORITE)
    values = [{"field": "name", "value": "Rex"}, {"field": "favoriteColor", "value": "blue"}]
    record = {"message": "1", "quote": "My favorite color is blue", "kind": "UserProfile"}
    invented = record | {"quote": f"my key is {SECRET}", "values": values}
    said = json.dumps({"records": [record | {"values": values}, invented]})
    answer = PLAIN | {"choices": [{"message": {"role": "assistant", "content": said}}]}
    upstream.mode, upstream.answer_body = "bytes", json.dumps(answer).encode()
    told = await read(app, f"My favorite color is blue. My token is {SECRET}.")
    assert SECRET not in upstream.last.body.decode()
    assert await app.data() == [{"favoriteColor": "blue"}]
    assert [(skip["text"], skip["reason"]) for skip in told["skipped"]] == [
        ("", "secret"),
        ("Rex", "not_grounded"),
        ("my key is [secret]", "not_grounded"),
    ]


async def test_the_name_of_a_model_is_a_string(app: Agents) -> None:
    for wrong in ("", 7, "m" * 201):
        error = (await read(app, *SEED, status=400, model=wrong))["error"]
        assert error["param"] == "model"


async def test_two_servers_at_once_create_it_once(app: Agents, base: str) -> None:
    await app.schemas(FAVORITE)
    async with agents(beside=app.opened, base=base) as beside:
        posted = {"agentId": AGENT, "conversation": SEED, "model": MODEL}
        answers = await asyncio.gather(*(one.ask("POST", json=posted) for one in (app, beside) * 4))
    assert sorted(answer.status_code for answer in answers) == [200] * 7 + [201]
    assert await app.data() == [{"favoriteColor": "blue"}]


async def test_hostile_text_is_answered_for(app: Agents) -> None:
    await app.schemas(FAVORITE)
    body = (
        '{"agentId": "a", "model": "m", "conversation": '
        '[{"id": "\\u0000\\ud800", "role": "user", "content": '
        '"My favorite color is \\ud800. My name is Bo. Why \\ud800?"}]}'
    )
    answer = await app.ask("POST", content=body, headers={"content-type": "application/json"})
    assert answer.status_code in (200, 201, 400)
    assert "\ufffd" in answer.text or answer.status_code == 400 or "?" in answer.text
