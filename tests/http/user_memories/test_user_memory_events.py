"""Live changes of a user's memories, as server-sent events over real connections."""

from __future__ import annotations

import asyncio
import dataclasses
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import httpx
import pytest

from memtree_proxy.access.event_streams import MOST_STREAMS, EventPace
from memtree_proxy.server.app import create_app
from tests.http.owned.deleting import counts
from tests.http.owned.remembering import error
from tests.http.served.fakes import services
from tests.http.served.running import PATIENCE, running

pytestmark = pytest.mark.slow

QUICK = EventPace(check=0.2, beat=60.0)
CANARY = "xyzzy plugh is what the memory says"


@pytest.fixture
async def client() -> AsyncIterator[httpx.AsyncClient]:
    built = dataclasses.replace(services(None), event_pace=QUICK)
    with running(create_app(built)) as address:
        headers = {"authorization": "Bearer key"}
        async with httpx.AsyncClient(
            base_url=f"{address}/v1", headers=headers, trust_env=False, timeout=PATIENCE
        ) as made:
            yield made


@asynccontextmanager
async def listening(client: httpx.AsyncClient, user: str) -> AsyncIterator[AsyncIterator[str]]:
    """The data of events, as they come."""
    async with client.stream("GET", "/memories/events", headers={"x-user-id": user}) as answer:
        assert answer.status_code == 200
        assert answer.headers["content-type"] == "text/event-stream"
        lines = answer.aiter_lines()
        assert (await anext(lines)).startswith("id: ")  # the count to come back with
        yield lines


async def event(lines: AsyncIterator[str]) -> dict[str, Any]:
    async with asyncio.timeout(PATIENCE):
        async for line in lines:
            assert "xyzzy" not in line
            if line.startswith("data: "):
                shown: dict[str, Any] = json.loads(line.removeprefix("data: "))
                return shown
    raise AssertionError("the stream ended")


async def test_each_change_of_a_users_memories_is_an_event_for_that_user(
    client: httpx.AsyncClient,
):
    mine, theirs = {"x-user-id": "u1"}, {"x-user-id": "u2"}
    async with listening(client, "u1") as events:
        other = await client.post("/memories", json={"text": "A stranger's"}, headers=theirs)
        assert other.status_code == 201
        row = (await client.post("/memories", json={"text": f"{CANARY} 1"}, headers=mine)).json()
        assert await event(events) == {
            "type": "created", "id": row["id"], "count": 1, "version": 1,
        }  # fmt: skip
        new = (await client.post("/memories", json={"text": f"{CANARY} 2"}, headers=mine)).json()
        assert (await event(events))["id"] == new["id"]
        merged = await client.post(
            f"/memories/{new['id']}/settle",
            json={"with": row["id"], "action": "replace"},
            headers=mine,
        )
        assert merged.status_code == 200
        seen = [await event(events), await event(events)]
        assert {(one["type"], one["id"]) for one in seen} == {
            ("deleted", row["id"]), ("updated", new["id"]),
        }  # fmt: skip
        receipt = await client.post("/memories/delete", json={"all": True}, headers=mine)
        assert counts(receipt.json()) == (2, True)
        gone = [await event(events), await event(events)]
        assert {one["id"] for one in gone} == {row["id"], new["id"]}
        assert [(one["type"], one["count"]) for one in gone] == [("deleted", 0)] * 2


async def test_streams_of_a_tenant_are_limited_over_its_users(client: httpx.AsyncClient):
    async with several(client, MOST_STREAMS):
        answer = await client.get("/memories/events", headers={"x-user-id": "one-more"})
        assert answer.status_code == 429
        assert answer.json()["error"]["code"] == "rate_limit_exceeded"


@asynccontextmanager
async def several(client: httpx.AsyncClient, streams: int) -> AsyncIterator[None]:
    if not streams:
        yield
        return
    async with listening(client, f"u{streams}"), several(client, streams - 1):
        yield


async def test_what_is_no_count_is_refused(client: httpx.AsyncClient):
    answer = await client.get("/memories/events", headers={"last-event-id": "x"})
    error(answer, 400, "invalid_request", "last-event-id")
