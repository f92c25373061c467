"""A client that hangs up, wherever its request is then, changes no later answer."""

from __future__ import annotations

import asyncio
import gc
import json
import threading
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path
from typing import Any

import httpx
import pytest

from memtree.context import retrieval
from memtree.context.context_memory import ContextMemory
from memtree.context.read_histories import MessageCache
from memtree.jobs.embedding import InProcessQueue
from memtree.jobs.growing import StageOne
from memtree.jobs.runtime import SystemClock
from memtree.ports.context_store import Store
from memtree.ranking import ranked_history
from memtree.ranking.corpus import Corpus
from memtree.stores import open_store
from tests.fakes import HashingEmbedder
from tests.http.served.fakes import client_of, services
from tests.http.served.running import PATIENCE
from tests.http.served.upstream import FakeUpstream
from tests.programs.hang_up import cancelled_at
from tests.properties.process import QUESTION, assistant, story, user

CONTEXT, CHAT = "/v1/context_memory", "/v1/chat/completions"


class Process:
    """A server process on a store that others may have used before."""

    def __init__(self, client: httpx.AsyncClient, queue: InProcessQueue, upstream: FakeUpstream):
        self._client, self._queue, self._upstream = client, queue, upstream

    async def settled(self, route: str, turns: int, mode: str) -> Any:
        """Return what a model is sent for a turn once all vectors are there."""
        await self.sent(route, turns, mode)
        await self._queue.join()
        return await self.sent(route, turns, mode)

    async def sent(self, route: str, turns: int, mode: str) -> Any:
        """Return what a model is sent for a turn, which is folded."""
        body = {"model": "m", "messages": posted(turns), "mode": mode, "target_tokens": 4_000}
        on = {"x-polychat-memory": "on"}
        answer = await self._client.post(route, content=json.dumps(body), headers=on)
        assert answer.headers["x-memtree-state"] in ("packed", "provisional"), answer.text
        if route == CHAT:
            return json.loads(self._upstream.last.body)["messages"]
        return answer.json()["messages"]


@asynccontextmanager
async def process(store: Store, base: str, upstream: FakeUpstream) -> AsyncIterator[Process]:
    embedder = HashingEmbedder()
    queue = InProcessQueue(store, embedder, SystemClock())
    memory = ContextMemory(
        store, StageOne(child=False), queue, SystemClock(), embedder=embedder, facts=MessageCache(7)
    )
    built = services(base, memory)
    queue.start()
    try:
        async with client_of(built, lives=True) as client:
            yield Process(client, queue, upstream)
    finally:
        await memory.close()
        await queue.close()


def posted(turns: int) -> list[dict[str, str]]:
    """A history that grows by a round with each turn; it ends in an open leaf and a question."""
    said = story()[:-1]
    for number in range(turns):
        said += [user(f"{QUESTION} I ask for time {number}."), assistant(f"It is ZETA: {number}.")]
    return said[:-1]


@pytest.mark.parametrize(
    ("route", "mode", "delay"),
    [(CONTEXT, "fresh", 0.01), (CHAT, "stable", 0), (CHAT, "stable", 0.01)],
)
@pytest.mark.slow
async def test_a_request_may_be_cancelled_at_each_of_its_awaits(
    route: str,
    mode: str,
    delay: float,
    base: str,
    upstream: FakeUpstream,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    def ranking(*given: Any) -> Any:
        if slow:  # so that a thread which outlives its request meets the next one
            slow.clear()
            time.sleep(0.5)
        return ranked_history.ranking(*given)

    slow: set[int] = set()
    monkeypatch.setattr(retrieval, "ranking", ranking)
    store = open_store(f"sqlite:///{tmp_path}/memtree.db")
    async with process(store, base, upstream) as used:
        await used.settled(route, 1, mode)
        turns, reached = 1, True
        while reached:
            turns += 1
            slow.add(turns)
            request = partial(used.sent, route, turns, mode)
            reached = await cancelled_at(turns - 1, request, delay)
            slow.clear()
            after = await used.settled(route, turns, mode)
            async with process(store, base, upstream) as restarted:
                assert await restarted.sent(route, turns, mode) == after, turns - 1
    await store.close()
    assert turns > 6
    assert "memory.tried_again" not in caplog.text


async def test_a_conversation_is_ranked_while_a_cancelled_request_still_ranks_it(
    base: str, upstream: FakeUpstream, monkeypatch: pytest.MonkeyPatch
) -> None:
    began, go, ended = threading.Event(), threading.Event(), threading.Event()
    made: list[Any] = []

    def ranking(*given: Any) -> Any:
        if not began.is_set():
            began.set()
            go.wait(PATIENCE)
            made.append(ranked_history.ranking(*given))
            ended.set()
            return made[0]
        made.append(ranked_history.ranking(*given))
        return made[-1]

    async with process(open_store("memory:"), base, upstream) as used:
        expected = await used.settled(CONTEXT, 1, "fresh")
        monkeypatch.setattr(retrieval, "ranking", ranking)
        cancelled = asyncio.create_task(used.sent(CONTEXT, 1, "fresh"))
        await asyncio.to_thread(began.wait, PATIENCE)
        cancelled.cancel()
        assert await used.sent(CONTEXT, 1, "fresh") == expected
        assert not ended.is_set()
        go.set()
        await asyncio.to_thread(ended.wait, PATIENCE)
        assert await used.sent(CONTEXT, 1, "fresh") == expected
    await asyncio.wait((cancelled,))
    assert cancelled.cancelled()
    assert [list(each.fused) for each in made] == [list(made[0].fused)] * 3


async def test_a_damaged_cache_is_left_and_the_request_tried_again(
    base: str, upstream: FakeUpstream, caplog: pytest.LogCaptureFixture
) -> None:
    async with process(open_store("memory:"), base, upstream) as used:
        expected = await used.settled(CONTEXT, 1, "fresh")
        for corpus in [each for each in gc.get_objects() if isinstance(each, Corpus)]:
            corpus.columns = corpus.columns[:, :3]
        assert await used.sent(CONTEXT, 1, "fresh") == expected
    assert "memory.tried_again" in caplog.text
