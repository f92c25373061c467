"""Objects at the provider in every store: known until they expire, over any number of writers."""

from __future__ import annotations

import asyncio
from hashlib import sha256

from memtree.stores import open_memories
from tests.contracts.memory_backends import START, InEveryStore

DAY = 86_400.0
FIRST, SECOND, NEVER = (sha256(word).digest() for word in (b"first", b"second", b"never"))


class TestProviderObjects(InEveryStore):
    async def test_what_was_put_is_known_and_nothing_else(self, memories):
        await memories.put_objects([FIRST, SECOND], START + DAY)
        assert await memories.known_objects([SECOND, NEVER, FIRST, FIRST]) == {FIRST, SECOND}
        assert await memories.known_objects([NEVER]) == set()
        assert await memories.known_objects([]) == set()
        await memories.put_objects([], START + DAY)

    async def test_it_is_known_until_it_expires(self, memories, clock):
        await memories.put_objects([FIRST], START + DAY)
        await memories.put_objects([SECOND], START + 2 * DAY)
        clock.time = START + DAY
        assert await memories.known_objects([FIRST, SECOND]) == {SECOND}

    async def test_the_later_time_counts(self, memories, clock):
        for days in (1, 3, 2):
            await memories.put_objects([FIRST], START + days * DAY)
        clock.time = START + 2.5 * DAY
        assert await memories.known_objects([FIRST]) == {FIRST}
        clock.time = START + 3 * DAY
        assert await memories.known_objects([FIRST]) == set()

    async def test_the_sweep_takes_what_expired(self, memories, store, clock):
        await memories.put_objects([FIRST], START + DAY)
        await memories.put_objects([SECOND], START + 2 * DAY)
        await memories.sweep_memories(START + DAY, 30)
        assert (await store.counts())["provider_objects"] == 1
        assert await memories.known_objects([FIRST, SECOND]) == {SECOND}

    async def test_many_at_once(self, memories):
        digests = [sha256(bytes([n])).digest() for n in range(100)]
        parts = [digests[at:] + digests[:at] for at in range(0, 100, 10)]
        await asyncio.gather(*(memories.put_objects(part, START + DAY) for part in parts))
        assert await memories.known_objects([*digests, NEVER]) == set(digests)

    async def test_they_outlive_the_memories_of_a_tenant(self, memories):
        await memories.put_objects([FIRST], START + DAY)
        await memories.erase_memories("tenant")
        assert await memories.known_objects([FIRST]) == {FIRST}

    async def test_other_connections_know_them(self, memories, store):
        await memories.put_objects([FIRST], START + DAY)
        assert await open_memories(store).known_objects([FIRST]) == {FIRST}
