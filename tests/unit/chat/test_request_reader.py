"""Check what a request becomes that nobody can read, and how one is read that began before."""

from __future__ import annotations

import asyncio
import json
import logging
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import pytest
from starlette.requests import Request

from memtree.config import Settings
from memtree.context.answer_state import State
from memtree.context.context_memory import ContextMemory
from memtree.jobs.embedding import NoQueue
from memtree.jobs.growing import StageOne
from memtree.jobs.runtime import SystemClock
from memtree.memories.user_memories import UserSettings
from memtree.stores import open_store
from memtree_proxy.chat import request_reader
from memtree_proxy.chat.chat_memory_sources import ChatUser
from memtree_proxy.chat.learned_refusals import ModelLimits
from memtree_proxy.chat.request_reader import PostedRequest, RequestReader
from memtree_proxy.dialects.chat_dialect import ChatDialect
from memtree_proxy.dialects.responses_dialect import OpenAIResponses
from memtree_proxy.http.known_bodies import KnownBodies

SECRET = "xyzzy"
ROLES = ("user", "assistant")
POSTED = b'{"model":"m","input":"%s"}' % SECRET.encode()


class Faulty(OpenAIResponses):
    def read(self, *args, **more):
        raise ValueError(SECRET)


@pytest.mark.parametrize(("memory", "state"), [(True, State.INTERNAL), (False, State.OFF)])
def test_an_error_of_ours_sends_the_request_on_as_it_came(caplog, memory, state):
    settings = Settings(memory=memory)
    dialect, user = Faulty(settings), ChatUser(None, UserSettings())
    with caplog.at_level(logging.ERROR, "memtree"):
        read = request_reader.read(
            PostedRequest(dialect, "t", POSTED, {}, settings, user), ModelLimits()
        )
    assert (read.plain, read.state, read.ask) == (POSTED, state, None)
    logged = [record.getMessage() for record in caplog.records]
    assert len(logged) == memory
    assert SECRET not in "".join(logged)


class CountingThreads(ThreadPoolExecutor):
    """The threads of an event loop, and how often work was handed to one."""

    def __init__(self) -> None:
        super().__init__(1)
        self.hops = 0

    def submit(self, *args, **more):
        self.hops += 1
        return super().submit(*args, **more)


def talk(turns):
    said = ({"role": role, "content": f"{n} {'x' * 500}"} for n in range(turns) for role in ROLES)
    return json.dumps({"model": "m", "messages": [*said, {"role": "user", "content": "?"}]})


@pytest.mark.slow
async def test_a_longer_chat_is_read_without_a_thread_and_as_a_reader_without_memory_reads_it():
    settings, user = Settings(memory=True), ChatUser(None, UserSettings())
    dialect, request = ChatDialect(settings), Request({"type": "http", "headers": []})
    threads = CountingThreads()
    asyncio.get_running_loop().set_default_executor(threads)
    reader = RequestReader(dialect, settings, ModelLimits(), KnownBodies(1))
    memory = ContextMemory(open_store("memory:"), StageOne(child=False), NoQueue(), SystemClock())
    hops, posted = [], [talk(400), talk(401), talk(401), talk(350)]
    for raw in (one.encode() for one in posted):
        before = threads.hops
        chat = await reader.read(request, "t", raw, user)
        read = await memory.read(chat.ask)
        hops.append(threads.hops - before)
        plain = request_reader.read(
            PostedRequest(dialect, "t", raw, {}, settings, user), ModelLimits()
        )
        assert [one.raw for one in chat.messages] == [one.raw for one in plain.messages]
        assert replace(chat.ask, messages=()) == replace(plain.ask, messages=())
        assert read.addresses == (await memory.read(plain.ask)).addresses
        assert (chat.body, chat.plain, chat.content) == (plain.body, plain.plain, raw)
    assert hops == [2, 0, 0, 0]
