"""Check what a tenant made: known at once, written behind the request, and again where that
failed."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Collection

import pytest

from memtree.errors import StoreUnavailable
from memtree_proxy.upstream.server_key import KEPT_SECONDS, OwnObjects, digest_of


class Kept:
    """`ProviderObjects` in a dict; while `closed` nothing gets in, and `failing` says so."""

    def __init__(self) -> None:
        self.rows: dict[bytes, float] = {}
        self.failing = False
        self.writes = self.reads = 0
        self.opened = asyncio.Event()
        self.opened.set()

    async def put_objects(self, digests: Collection[bytes], expires: float) -> None:
        self.writes += 1
        await self.opened.wait()
        if self.failing:
            self.failing = False
            raise StoreUnavailable("full")
        self.rows |= dict.fromkeys(digests, expires)

    async def known_objects(self, digests: Collection[bytes]) -> set[bytes]:
        self.reads += 1
        return set(digests) & self.rows.keys()


async def test_it_is_known_before_it_is_written():
    store = Kept()
    store.opened.clear()
    objects = OwnObjects(store, lambda: 100.0, look_again=0)
    objects.made("ann", {"file-1"})
    assert await objects.all_of("ann", {"file-1"})
    assert not await objects.all_of("bob", {"file-1"})
    assert not await objects.all_of("ann", {"file-1", "file-2"})
    assert store.rows == {}
    store.opened.set()
    await objects.close()
    assert store.rows == {digest_of("ann", "file-1"): 100.0 + KEPT_SECONDS}


async def test_when_its_time_is_over_the_store_alone_knows():
    now, store = [0.0], Kept()
    objects = OwnObjects(store, lambda: now[0], look_again=0)
    objects.made("ann", {"file-1"})
    now[0] = KEPT_SECONDS - 1
    assert await objects.all_of("ann", {"file-1"})
    assert store.reads == 0
    await objects.close()
    now[0], store.rows = KEPT_SECONDS, {}
    assert not await objects.all_of("ann", {"file-1"})
    assert store.reads == 1


async def test_a_write_that_failed_is_made_again(caplog: pytest.LogCaptureFixture):
    store = Kept()
    store.failing = True
    objects = OwnObjects(store, pace=0)
    objects.made("ann", {"file-1"})
    await objects.close()
    assert (store.writes, len(store.rows)) == (2, 1)
    assert "objects.unwritten code=store_unavailable" in caplog.text
    assert "file-1" not in caplog.text


async def test_many_are_written_together_and_none_twice():
    store = Kept()
    objects = OwnObjects(store)
    objects.made("ann", {f"file-{n}" for n in range(500)})
    objects.made("ann", {"file-1"})
    await objects.close()
    objects.made("ann", {"file-1", "file-2"})
    await objects.close()
    assert (store.writes, len(store.rows)) == (1, 500)


async def test_what_another_process_is_just_writing_is_asked_for_once_more():
    store = Kept()
    other = OwnObjects(store, look_again=0.001)
    asked = asyncio.create_task(other.all_of("ann", {"file-1"}))
    while not store.reads:  # noqa: ASYNC110
        await asyncio.sleep(0)
    store.rows[digest_of("ann", "file-1")] = 9e9
    assert await asked


async def test_a_stop_says_what_is_lost(
    caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr("memtree_proxy.upstream.server_key.PATIENCE", 0.001)
    caplog.set_level(logging.WARNING)
    store = Kept()
    store.opened.clear()
    objects = OwnObjects(store)
    objects.made("ann", {"file-1"})
    await objects.close()
    assert "objects.lost number=1" in caplog.text


def test_a_digest_is_of_one_tenant_and_one_id():
    pairs = [("a", "bc"), ("ab", "c"), ("abc", ""), ("", "abc"), ("1:a", "b"), ("é", "\ud800")]
    assert len({digest_of(*pair) for pair in pairs}) == len(pairs)
