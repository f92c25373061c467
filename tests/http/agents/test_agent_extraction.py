"""`POST /memories` with a conversation: what the user says is read, once, into memories."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import pytest

from tests.http.owned.agents import AGENT, PROFILE, Agents, agents

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


@pytest.fixture
async def app() -> AsyncIterator[Agents]:
    async with agents() as made:
        yield made


async def read(app: Agents, *messages: Any, status: int = 201, **fields: Any) -> Any:
    """Texts are the user's."""
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
        ("fact", {"text": "User's name is Alice"}),
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
    assert [(row["text"], row["reason"]) for row in answer["skipped"]] == [
        ("Is it late?", "question"),
        ("I play chess.", "no_schema"),
        ("30", "incomplete"),
    ]


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


async def test_two_servers_at_once_create_it_once(app: Agents) -> None:
    await app.schemas(FAVORITE)
    async with agents(beside=app.opened) as beside:
        posted = {"agentId": AGENT, "conversation": SEED}
        answers = await asyncio.gather(*(one.ask("POST", json=posted) for one in (app, beside) * 4))
    assert sorted(answer.status_code for answer in answers) == [200] * 7 + [201]
    assert await app.data() == [{"favoriteColor": "blue"}]


async def test_hostile_text_is_answered_for(app: Agents) -> None:
    await app.schemas(FAVORITE)
    body = (
        '{"agentId": "a", "conversation": [{"id": "\\u0000\\ud800", "role": "user", "content": '
        '"My favorite color is \\ud800. My name is Bo. Why \\ud800?"}]}'
    )
    answer = await app.ask("POST", content=body, headers={"content-type": "application/json"})
    assert answer.status_code in (200, 201, 400)
    assert "\ufffd" in answer.text or answer.status_code == 400 or "?" in answer.text
