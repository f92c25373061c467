"""Usage is written seldom, all of it, and never in a request's way."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Mapping
from typing import Any

import pytest

from memtree.context.answer_state import State
from memtree.context.sent_requests import Saving
from memtree.errors import StoreUnavailable
from memtree.ports.context_store import Tallies
from memtree.stores import RamStore
from memtree_proxy.http import request_log_writer
from memtree_proxy.http.request_trace import LogEntry, MemoryShare, Trace
from memtree_proxy.http.usage_tallies import (
    DAILY,
    LATENCY,
    MICROS,
    PRICED,
    RAW,
    SAVED,
    SENT,
    STATE,
    UsageTallies,
    amounts,
)

DAY = 20_000
NOON = DAY * 86_400 + 43_200.0
LONG = 3_600.0  # a pace that no test lives to see


def ended(tenant: str, state: State, came: float = NOON, saved: int = 0, **memory: Any) -> Trace:
    entry = LogEntry(came=came, saving=Saving(saved))
    return Trace("POST", "/", tenant=tenant, memory=MemoryShare(state, **memory), entry=entry)


SIZES = {"raw_tokens": 100, "sent_tokens": 40}
PACKED = ended("t", State.PACKED, ms=20.0, **SIZES)


async def nothing() -> None:
    pass


class Trouble:
    """`Tallies` that fail while `error` is set, and count what they were asked."""

    def __init__(self) -> None:
        self.under: Tallies = RamStore()
        self.error: Exception | None = None
        self.writes = 0
        self.written = asyncio.Event()
        self.hangs: set[str] = set()  # whose reads and writes never end
        self.between: Callable[[], Awaitable[None]] = nothing  # after a read of days

    async def add(
        self,
        tenant: str,
        day: int,
        amounts: Mapping[str, int],
        limits: Mapping[str, int] | None = None,
    ) -> bool:
        self.writes += 1
        self.written.set()
        await self.hang(tenant)
        if self.error:
            raise self.error
        return await self.under.add(tenant, day, amounts, limits)

    async def hang(self, tenant: str) -> None:
        if tenant in self.hangs:
            await asyncio.Event().wait()

    async def tallies(self, tenant: str, first: int, last: int) -> dict[str, int]:
        return await self.under.tallies(tenant, first, last)

    async def daily(
        self, tenant: str, first: int, last: int, prefix: str
    ) -> dict[int, dict[str, int]]:
        if self.error:
            raise self.error
        await self.hang(tenant)
        found = await self.under.daily(tenant, first, last, prefix)
        await self.between()
        return found


def opened(store: Tallies | None, pace: float = LONG, most: int = 100_000) -> UsageTallies:
    return UsageTallies(store, pace=pace, most=most)


def test_what_a_request_adds() -> None:
    whole = ended(
        "t", State.NO_STORE, raw_tokens=9, sent_tokens=7, saved=-123, ms=3.0, input_price=2.5
    )
    assert amounts(whole) == {
        f"{STATE}degraded:store": 1, f"{LATENCY}4": 1, RAW: 9, SENT: 7, SAVED: -123_000, PRICED: 1,
        MICROS: -308,
    }  # fmt: skip
    assert amounts(ended("t", State.REFUSED, raw_tokens=9)) == {
        f"{STATE}refused": 1, RAW: 9,
    }  # fmt: skip


async def test_nothing_is_written_before_its_time_and_all_is_read() -> None:
    store = Trouble()
    usage = opened(store)
    for _ in range(3):
        usage.count(PACKED)
    found = await usage.read("t", DAY, DAY)
    assert store.writes == 0
    assert found.daily == {DAY: {f"{STATE}packed": 3, RAW: 300, SENT: 120}}
    assert found.sums == {f"{STATE}packed": 3, RAW: 300, SENT: 120, f"{LATENCY}23": 3}
    await usage.close()
    assert store.writes == 1
    assert (await store.under.tallies("t", DAY, DAY)) == found.sums
    assert await usage.read("t", DAY, DAY) == found  # now from the store, and not twice


async def test_many_requests_are_one_write() -> None:
    store = Trouble()
    usage = opened(store, pace=0.01)
    for _ in range(1_000):
        usage.count(PACKED)
    await store.written.wait()
    await usage.close()
    assert store.writes == 1
    assert (await store.under.tallies("t", DAY, DAY))[RAW] == 100_000


async def test_it_goes_on_after_a_pause() -> None:
    store = Trouble()
    usage = opened(store, pace=0.01)
    for _ in range(3):
        store.written.clear()
        usage.count(PACKED)
        await store.written.wait()
    assert (await usage.read("t", DAY, DAY)).sums[RAW] == 300
    await usage.close()
    assert store.writes == 3


@pytest.mark.parametrize("error", [StoreUnavailable("gone"), RuntimeError("odd")])
async def test_a_store_that_fails_loses_nothing(
    error: Exception, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.WARNING)
    store = Trouble()
    store.error = error
    usage = opened(store, pace=0.01)
    for _ in range(5):
        usage.count(PACKED)
        store.written.clear()
        await store.written.wait()
    if isinstance(error, StoreUnavailable):
        with pytest.raises(StoreUnavailable):
            await usage.read("t", DAY, DAY)
        assert [r.message for r in caplog.records] == ["usage.unwritten code=store_unavailable"]
    store.error = None
    assert (await usage.read("t", DAY, DAY)).sums[RAW] == 500
    await usage.close()
    assert (await store.under.tallies("t", DAY, DAY))[RAW] == 500


async def test_what_waits_is_bounded(caplog: pytest.LogCaptureFixture) -> None:
    store = Trouble()
    store.error = StoreUnavailable("gone")
    usage = opened(store, most=8)  # two tenants with four numbers each
    for number in range(50):
        usage.count(ended(f"t{number}", State.PACKED, ms=20.0, **SIZES))
    usage.count(ended("t0", State.PACKED, ms=20.0, **SIZES))
    usage.count(ended("t0", State.PROVISIONAL, **SIZES))  # but for its state
    store.error = None
    await usage.close()
    tenants = [f"t{number}" for number in range(50)]
    stored = {tenant: await store.under.tallies(tenant, DAY, DAY) for tenant in tenants}
    assert [tenant for tenant in tenants if stored[tenant]] == ["t0", "t1"]
    assert stored["t0"][RAW] == 300
    assert f"{STATE}provisional" not in stored["t0"]
    assert [r.message for r in caplog.records] == ["usage.dropped numbers=8"]


async def test_a_store_that_fails_to_the_end_is_told(caplog: pytest.LogCaptureFixture) -> None:
    store = Trouble()
    store.error = StoreUnavailable("gone")
    usage = opened(store)
    usage.count(PACKED)
    await usage.close()
    assert caplog.records[-1].message == "usage.lost numbers=4"


async def test_what_a_write_that_hangs_holds_is_told_as_lost(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(request_log_writer, "PATIENCE", 0.01)
    store = Trouble()
    store.hangs.add("t")
    usage = opened(store)
    usage.count(PACKED)
    await usage.close()
    assert caplog.records[-1].message == "usage.lost numbers=4"


async def test_readers_keep_no_other_tenant_waiting_and_no_writer() -> None:
    store = Trouble()
    store.hangs.add("slow")
    usage = opened(store, pace=0.01)
    readers = [asyncio.create_task(usage.read("slow", DAY, DAY)) for _ in range(3)]
    await asyncio.sleep(0)
    usage.count(PACKED)
    async with asyncio.timeout(300):
        assert (await usage.read("t", DAY, DAY)).sums[RAW] == 100
        await store.written.wait()
        store.hangs.clear()  # for what is asked from now on; the first reader hangs on
        assert not [one for one in readers if one.done()]
        readers[0].cancel()
        for reader in readers[1:]:
            assert await reader == ({}, {})
    await usage.close()


async def test_a_write_in_the_middle_of_a_read_is_neither_missed_nor_doubled() -> None:
    store = Trouble()
    usage = opened(store, pace=0.01)

    async def count_and_wait() -> None:
        store.between = nothing
        usage.count(PACKED)
        await store.written.wait()

    store.between = count_and_wait
    found = await usage.read("t", DAY, DAY)
    assert found.daily[DAY][RAW] == found.sums[RAW] == 100
    await usage.close()


async def test_who_and_what_is_not_counted() -> None:
    store = Trouble()
    usage = opened(store)
    usage.count(ended("t", State.OFF))
    usage.count(ended("", State.PACKED))
    explained, indexed, undecided = (ended("t", State.PACKED) for _ in range(3))
    explained.entry.explained = indexed.entry.index_only = True
    undecided.memory.state = None
    for seen in (explained, indexed, undecided):
        usage.count(seen)
    await usage.close()
    assert store.writes == 0
    usage.count(PACKED)  # too late: nothing is begun after the end
    assert store.writes == 0
    silent = opened(None)
    silent.count(PACKED)
    assert await silent.read("t", DAY, DAY) == ({}, {})
    await silent.close()


async def test_days_and_tenants_stand_apart() -> None:
    store = Trouble()
    usage = opened(store)
    usage.count(PACKED)
    usage.count(ended("t", State.PACKED, NOON + 86_400, **SIZES))
    usage.count(ended("other", State.PACKED, NOON + 86_400, raw_tokens=5, sent_tokens=5))
    assert (await usage.read("t", DAY, DAY)).daily == {
        DAY: {f"{STATE}packed": 1, RAW: 100, SENT: 40}
    }
    assert set((await usage.read("t", DAY, DAY + 1)).daily) == {DAY, DAY + 1}
    assert (await usage.read("other", DAY, DAY + 1)).sums[RAW] == 5
    assert (await usage.read("third", DAY, DAY + 1)) == ({}, {})
    await usage.close()
    assert (await store.under.daily("t", DAY, DAY + 1, DAILY))[DAY + 1][RAW] == 100


async def test_two_processes_on_one_store_add_up() -> None:
    store = RamStore()
    one, two = opened(store), opened(store)
    for usage in (one, one, two):
        usage.count(PACKED)
    await one.close()
    assert (await two.read("t", DAY, DAY)).sums[RAW] == 300
    await two.close()
    assert (await store.tallies("t", DAY, DAY))[RAW] == 300
