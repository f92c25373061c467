"""Conversations that are read for an agent, over every store: once per message, over restarts and
by two processes at once, and no field of a profile is lost on the way."""

from __future__ import annotations

from typing import Any

import pytest

from memtree.memories.scope import Scope
from memtree.stores import Opened, open_memories, open_store
from tests.contracts.memory_backends import InEveryStore
from tests.contracts.processes import child, ended
from tests.spoken_model import SpokenModel

ME = Scope.of_agent("t", "agent-007", "bo")
FIELDS = {
    "name": {"type": "string"},
    "age": {"type": "integer"},
    "city": {"type": "string"},
    "likes": {"type": "array", "items": {"type": "string"}},
}
MESSAGES = 24

CHILD = """
import asyncio, sys
sys.path.insert(0, sys.argv[1])
from tests.contracts.agents.test_agent_extraction import read_all
print("ready", flush=True)
sys.stdin.readline()
asyncio.run(read_all(sys.argv[2], int(sys.argv[3])))
"""


async def read(store: Opened, *texts: str, **more: Any) -> Any:
    """Read as a server does that has just started."""
    from memtree.agents.agent_extraction import AgentMessage
    from memtree.config import Settings
    from memtree.jobs.memory_services import open_memory_services
    from memtree.jobs.runtime import SystemClock

    services = open_memory_services(Settings(), open_memories(store), SystemClock(), None)
    await services.agents.schemas.put("t", "UserProfile", {"properties": FIELDS}, ["kind"])
    document = {"properties": {"title": {"type": "string"}}, "required": ["title"]}
    await services.agents.schemas.put("t", "Task", document)
    messages = []
    for text in texts:
        id_, mark, rest = text.partition(": ")
        messages.append(AgentMessage("user", rest, id_) if mark else AgentMessage("user", text))
    readers, _ = services.extracting.readers(SpokenModel())
    report = await services.agents.extraction.extract(ME, messages, readers, **more)
    await services.close()
    return report


async def data(store: Opened) -> list[Any]:
    return [row.data for row in (await open_memories(store).page(ME, limit=1_000)).memories]


class TestAgentExtraction(InEveryStore):
    async def test_a_message_is_read_once_over_restarts(self, store: Opened) -> None:
        said = ("m1: My name is Bo.", "Remind me to call Ann.")
        first = await read(store, *said)
        assert len(first.created) == 2
        again = await read(store, *said, "m3: I'm 30.")
        assert (again.created, len(again.updated), again.messages) == ((), 1, 1)
        assert await data(store) == [{"name": "Bo", "age": 30}, {"title": "call Ann"}]

    async def test_the_profile_before_is_superseded_and_stays_in_the_past(
        self, store: Opened
    ) -> None:
        first = (await read(store, "m1: My name is Bo. I like tea.")).created[0].memory
        later = (await read(store, "m2: I live in Graz. I like cake.")).updated[0]
        assert later.superseded == first.id
        assert await data(store) == [{"name": "Bo", "city": "Graz", "likes": ["tea", "cake"]}]
        [old] = await open_memories(store).get(ME, [first.id], deleted=True)
        assert old.superseded_by == later.memory.id

    async def test_what_was_deleted_stays_away(self, store: Opened) -> None:
        row = (await read(store, "m1: Remind me to call Ann.")).created[0].memory
        await open_memories(store).delete(ME, [row.id], purge=True)
        assert (await read(store, "m1: Remind me to call Ann.")).created == ()
        assert len((await read(store, "m1: Remind me to call Ann.", force=True)).created) == 1

    async def test_confidence_source_and_thread_are_kept(self, store: Opened) -> None:
        await read(store, "m1: My name is Bo.", thread="chat-1")
        [row] = (await open_memories(store).page(ME)).memories
        assert (row.confidence, row.thread_id, row.capture_mode) == (0.8, "chat-1", "model")
        assert row.source
        assert (row.source.message, row.source.start, row.source.end) == ("m1", 0, 13)


# -- two processes --------------------------------------------------------------------------------


async def read_all(url: str, which: int) -> None:
    """Read the same tasks in every process; likes of its own, message by message."""
    store = open_store(url)
    for number in range(MESSAGES):
        await read(
            store,
            f"task{number}: Remind me to call number {number}.",
            f"like{which}-{number}: I like thing{which}x{number}.",
        )
    await store.close()


@pytest.mark.long
async def test_two_processes_make_each_memory_once_and_lose_no_field(url: str) -> None:
    ended(*(child(CHILD, url, which) for which in range(2)))
    store = open_store(url)
    rows = await data(store)
    assert await store.check() == []
    await store.close()
    titles = [row["title"] for row in rows if "title" in row]
    assert sorted(titles) == sorted(f"call number {number}" for number in range(MESSAGES))
    [profile] = [row for row in rows if "likes" in row]
    wanted = [f"thing{which}x{number}" for which in range(2) for number in range(MESSAGES)]
    assert sorted(profile["likes"]) == sorted(wanted)
