"""Conversations that several processes read for memories at once, of which one is killed: each
message gives its memories once, and never half of them."""

from __future__ import annotations

import pytest

from memtree.history import address_chain
from memtree.history.message import Message, Volatile
from memtree.memories.scope import Scope
from memtree.stores import open_store
from tests.contracts.processes import begin, child, ended
from tests.programs.postgres import victim_url, wait_for_victims

ME = Scope.of_user("t", "me")
MESSAGES, EACH = 60, 2  # memories of a message

CHILD = """
import asyncio, sys
sys.path.insert(0, sys.argv[1])
from tests.contracts.memory_lives.test_extraction_processes import read_all
print("ready", flush=True)
sys.stdin.readline()
asyncio.run(read_all(sys.argv[2], print_each=True))
"""


def conversation() -> list[Message]:
    rows = []
    for number in range(MESSAGES):
        rows.append({"role": "user", "content": f"Fact {number} and {number * 37 + 1001}."})
        rows.append({"role": "assistant", "content": "Noted."})
    return [Message.of(row) for row in rows]


def digests() -> list[bytes]:
    users = [message for message in conversation() if message.role == "user"]
    return [address_chain.digest(message, Volatile()) for message in users]


async def read_all(url: str, *, print_each: bool = False) -> None:
    """Do what a server does with the conversation; every message gives two memories."""
    from datetime import date

    from memtree.config import Settings
    from memtree.jobs.conversation_extraction import ConversationExtraction
    from memtree.jobs.memory_services import new_memory_id, open_memory_services
    from memtree.jobs.posted_messages import ReadMessages
    from memtree.jobs.runtime import SystemClock
    from memtree.jobs.snapshots import SnapshotKeeper
    from memtree.memories.memory_curation import MemoryForgetting
    from memtree.memories.message_extraction import MemoryExtraction, RuleReader
    from memtree.memories.rule_extraction import Candidate, Extraction
    from memtree.stores import open_memories

    def extract(
        text: str, said: date | None = None, *, most: int = 8, fiction: bool = False
    ) -> Extraction:
        if print_each:
            print("read", flush=True)
        numbers = [word.strip(".") for word in text.split() if word.strip(".").isdigit()]
        return Extraction(
            tuple(Candidate(f"User keeps number {n} in mind", "fact", 0, 4) for n in numbers)
        )

    clock, store = SystemClock(), open_store(url)
    memories = open_memories(store)
    services = open_memory_services(Settings(), memories, clock, None)
    extraction = MemoryExtraction(
        memories, services.book.saving, RuleReader(extract), clock, new_memory_id
    )
    snapshots = SnapshotKeeper(memories, services.book.saving, clock, new_memory_id)
    forgetting = MemoryForgetting(services.book, memories)
    reads = ConversationExtraction(
        extraction, snapshots, forgetting, services.users.effective, ReadMessages(1)
    )
    await reads.extract(ME, conversation())
    await services.close()
    await store.close()


async def kept(url: str) -> tuple[list[str], int]:
    """The texts of all memories but snapshots, and how many messages are done."""
    store = open_store(url)
    assert await store.check() == []
    page = await store.memories().page(ME, limit=10_000)
    done = await store.memories().extracted(ME, digests())
    await store.close()
    return [memory.text for memory in page.memories if memory.kind == ""], len(done)


@pytest.mark.long
async def test_processes_at_once_make_each_memory_once(url: str) -> None:
    ended(child(CHILD, url), child(CHILD, url))
    texts, done = await kept(url)
    assert done == MESSAGES
    assert len(texts) == len(set(texts)) == MESSAGES * EACH


@pytest.mark.slow
@pytest.mark.outage
@pytest.mark.parametrize("read", [1, 17, 40])  # messages that it has read by then, of 16 at once
async def test_a_process_that_is_killed_leaves_whole_messages_and_the_next_one_goes_on(
    url: str, read: int
) -> None:
    victim = child(CHILD, victim_url(url))
    begin(victim)
    assert victim.stdout
    for _ in range(read):
        assert victim.stdout.readline() == "read\n"
    victim.kill()
    victim.communicate(timeout=60)
    wait_for_victims(url)
    texts, done = await kept(url)
    assert read // 16 * 16 <= done
    assert len(texts) == len(set(texts)) == done * EACH
    await read_all(url)
    texts, done = await kept(url)
    assert done == MESSAGES
    assert len(texts) == len(set(texts)) == MESSAGES * EACH
