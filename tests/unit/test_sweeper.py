"""What has expired is forgotten now and then, whatever the store says in between."""

from __future__ import annotations

import asyncio
from typing import cast

from indexer.retention import Sweeper
from memtree.compress import Memory
from memtree.errors import StoreUnavailable
from memtree.ports import Receipt


class Swept:
    """The part of a memory that is swept; `fails` of the first sweeps meet a locked store."""

    def __init__(self, fails: int = 0) -> None:
        self.fails, self.sweeps = fails, 0
        self.again = asyncio.Event()

    async def sweep(self) -> Receipt:
        self.sweeps += 1
        if self.sweeps <= self.fails:
            raise StoreUnavailable("locked")
        if self.sweeps >= self.fails + 2:
            self.again.set()
        return Receipt(addresses=3, nodes=2, epochs=1)


def sweeper(memory: Swept, **times: float) -> Sweeper:
    return Sweeper(cast(Memory, memory), **{"first": 0.0, "interval": 0.0} | times)


async def test_it_goes_on_after_a_store_that_failed(caplog):
    memory = Swept(fails=2)
    running = sweeper(memory)
    with caplog.at_level("INFO"):
        running.start()
        await asyncio.wait_for(memory.again.wait(), 5)
        await running.close()
    said = [record.getMessage() for record in caplog.records]
    assert said[:3] == [
        "retention.failed code=store_unavailable",
        "retention.failed code=store_unavailable",
        "retention.swept addresses=3 nodes=2 epochs=1",
    ]
    done = memory.sweeps
    await asyncio.sleep(0.02)
    assert memory.sweeps == done


async def test_the_first_requests_are_left_alone():
    memory = Swept()
    running = sweeper(memory, first=60.0)
    running.start()
    await asyncio.sleep(0.01)
    await running.close()
    assert memory.sweeps == 0


async def test_closing_what_never_started_is_nothing():
    await sweeper(Swept()).close()
