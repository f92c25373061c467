"""Bodies that came before, on the routes: what is deleted is not known any more, and a longer body
is answered as if it were the first."""

from __future__ import annotations

import json
from typing import Any

import httpx
import pytest

from memtree.background.embedding_queue import NoQueue
from memtree.background.runtime import SystemClock
from memtree.background.stage_one import StageOne
from memtree.context.context_memory import ContextMemory
from memtree.conversation.message_cache import MessageCache
from memtree.stores import open_store
from tests.http.served.fakes import edge, turn
from tests.http.served.upstream import FakeUpstream

SAMPLE = 'memtree_cache_bytes{cache="known_bodies"} '
LONG = 900  # messages: some 45 kB


def memory() -> ContextMemory:
    store, builder = open_store("memory:"), StageOne(child=False)
    return ContextMemory(store, builder, NoQueue(), SystemClock(), facts=MessageCache(1))


async def kept(client: httpx.AsyncClient) -> float:
    """Bytes that are kept of known bodies."""
    page = (await client.get("/metrics")).text.splitlines()
    return next(float(line[len(SAMPLE) :]) for line in page if line.startswith(SAMPLE))


@pytest.mark.parametrize("how", ["a tenant deletes all", "another process deleted something"])
async def test_every_deletion_forgets_what_was_posted(how: str):
    used = memory()
    async with edge(None, used) as client:
        for key in "AB":
            posted = await client.post(
                "/context_memory", json=turn(LONG), headers={"x-api-key": key}
            )
            assert posted.status_code == 200
        before = await kept(client)
        if how == "a tenant deletes all":
            body = {"all": True}
            await client.post("/context_memory/delete", json=body, headers={"x-api-key": "A"})
            assert await kept(client) == pytest.approx(before / 2, rel=0.1)
        else:
            used.forgotten(None)
            assert await kept(client) == 0


def grown(count: int, asked: str, **fields: Any) -> dict[str, Any]:
    body = turn(count, **fields)
    return {**body, "messages": [*body["messages"], {"role": "user", "content": asked}]}


BODIES = [
    grown(LONG, "first"),
    grown(LONG, "first"),
    grown(LONG, "another branch", user="me"),
    grown(LONG + 2, "longer", tools=[]),
    grown(LONG + 2, "longer", memory=True),
    grown(LONG // 2, "shorter"),
    {**grown(LONG, "asked of another"), "model": "gpt-4o-mini"},
    {**grown(LONG, "no history"), "messages": [*turn(LONG)["messages"], {"role": "tool"}]},
    grown(LONG + 4, "longer still"),
]


@pytest.mark.parametrize("path", ["/v1/chat/completions", "/context_memory"])
async def test_each_body_is_answered_as_if_it_were_the_first(
    path: str, upstream: FakeUpstream, base: str
):
    headers = {"x-polychat-memory": "on", "x-memtree-mode": "fresh"}

    async def told(client: httpx.AsyncClient, body: dict[str, Any]) -> object:
        upstream.seen.clear()
        answer = await client.post(path, json=body, headers=headers)
        shown = json.loads(answer.content)
        shown.pop("id", None)
        shown.get("error", {}).pop("request_id", None)
        return answer.status_code, shown, answer.headers.get("x-memtree-state"), [
            one.body for one in upstream.seen
        ]  # fmt: skip

    alone = []
    for body in BODIES:
        async with edge(base, memory()) as client:
            alone.append(await told(client, body))
    async with edge(base, memory()) as client:
        together = [await told(client, body) for body in BODIES]
        assert await kept(client) > 0
    assert together == alone
