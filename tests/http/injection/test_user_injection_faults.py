"""A store or an embedder that fails, is slow or hangs, while a chat gets memories of its user."""

from __future__ import annotations

import asyncio
import time
from typing import Any

import pytest

from memtree.errors import StoreUnavailable
from memtree.memories.memory_injection import MemoryInjection
from memtree.memories.scope import Scope
from tests.fakes import LONG, HashingEmbedder
from tests.http.owned.injecting import ASKED, DEADLINE, Notebook, chatting, user
from tests.http.served.upstream import FakeUpstream

TEA = "The user drinks green tea, no coffee"
ASKED_TEA = "Which tea does the user drink, green or black?"
ENABLED = {"memory_options": {"enabled": True}}


@pytest.mark.parametrize("method", ["settings", "plan"])
@pytest.mark.parametrize("error", [StoreUnavailable("away"), RuntimeError("a fault of ours")])
async def test_settings_that_cannot_be_read_stop_no_chat(
    base: str, upstream: FakeUpstream, notebook: Notebook, method: str, error: Exception
):
    await notebook.save(TEA, scope=notebook.user())
    await notebook.switch(notebook.user(), save=True)
    memories = notebook.memories

    class Broken:
        def __getattr__(self, name: str) -> Any:
            async def fail(*args: Any) -> Any:
                raise error

            return fail if name == method else getattr(memories, name)

    notebook.memories = Broken()  # type: ignore[assignment]
    async with chatting(base, upstream, notebook) as chat:
        await chat.post([user(ASKED_TEA)], None)
        assert chat.messages == [user(ASKED_TEA)]
        assert chat.waiting == 0
        answer = await chat.post([user(ASKED_TEA)], None, ENABLED)
        assert "x-memtree-memories" in answer.headers


async def test_one_source_that_fails_takes_nothing_from_the_others(
    base: str, upstream: FakeUpstream, notebook: Notebook
):
    await notebook.save(TEA, scope=notebook.user())
    deadline = await notebook.save(DEADLINE)

    class Broken:
        def __getattr__(self, name: str) -> Any:
            async def state(scope: Scope) -> Any:
                if scope == notebook.user():
                    raise StoreUnavailable("away")
                return await notebook.memories.state(scope)

            return state if name == "state" else getattr(notebook.memories, name)

    notebook.book = notebook.over(Broken())
    async with chatting(base, upstream, notebook) as chat:
        answer = await chat.post([user(f"{ASKED} {ASKED_TEA}")], fields=ENABLED)
    assert answer.headers["x-memtree-memories"] == deadline.id
    assert answer.headers["x-memtree-memories-degraded"] == "store"


class SlowEmbedder(HashingEmbedder):
    """It answers too late."""

    async def embed_query(self, text: str) -> Any:
        await asyncio.sleep(600)


async def test_a_slow_embedder_is_waited_for_once(base: str, upstream: FakeUpstream):
    notebook = Notebook(embedder=SlowEmbedder())
    other = await notebook.save(f"{DEADLINE} in Graz", scope=notebook.user())
    deadline = await notebook.save(DEADLINE)
    notebook.book.injection = MemoryInjection(
        notebook.memories, notebook.book.searching, time.time, patience=0.1, deadline=LONG
    )
    async with chatting(base, upstream, notebook) as chat:
        answer = await chat.post([user(f"{DEADLINE}?")], fields=ENABLED)
    assert answer.headers["x-memtree-memories"] == f"{deadline.id},{other.id}"
    assert answer.headers["x-memtree-memories-degraded"] == "embedder"


async def test_a_store_that_hangs_stops_no_chat(
    base: str, upstream: FakeUpstream, notebook: Notebook
):
    await notebook.save(TEA, scope=notebook.user())

    class Hanging:
        def __getattr__(self, name: str) -> Any:
            async def hang(*given: Any, **named: Any) -> Any:
                await asyncio.Event().wait()

            return hang if name == "search_rows" else getattr(notebook.memories, name)

    notebook.book = notebook.over(Hanging(), patience=0.1)
    async with chatting(base, upstream, notebook) as chat:
        answer = await chat.post([user(ASKED_TEA)], None, ENABLED)
        assert chat.messages == [user(ASKED_TEA)]
    assert answer.headers["x-memtree-memories-degraded"] == "timeout"
