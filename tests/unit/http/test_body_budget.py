"""Bodies and headers of requests: how large, how encoded, how often."""

from __future__ import annotations

import asyncio
import gzip
import threading
import zlib
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any
from unittest.mock import AsyncMock

import pytest
from starlette.datastructures import Headers
from starlette.requests import Request

from memtree.config import Settings
from memtree.errors import BadRequest, RateLimited
from memtree.history.keep_options import KeepOptions
from memtree.process import threads
from memtree_proxy.chat import request_fields
from memtree_proxy.http import request_body
from memtree_proxy.http.auth import Tenant, credentials, user_scope
from memtree_proxy.http.body_budget import FREE, BodyBudget, BodyHold, belongs_to, reach
from memtree_proxy.http.headers import own_value, own_values
from memtree_proxy.http.request_body import PIECE, Decoder
from memtree_proxy.wire.request_options import DEFAULTS

# ------------------------------------------------------------------------------------------------
# Bodies wait for room in memory: large ones for each other, small ones never.


LARGE = 100 * FREE
MOST = 256 * FREE


def scope(budget: BodyBudget) -> dict[str, Any]:
    return {BodyHold.KEY: BodyHold(budget)}


async def worked(budget: BodyBudget, tenant: str, size: int, done: asyncio.Event) -> None:
    """Hold a body of one tenant until `done`."""
    threads.OWNER.set(tenant)
    one = scope(budget)
    await reach(one, size)
    await done.wait()
    one[BodyHold.KEY].drop_to(0)


async def waits(task: asyncio.Task[None], budget: BodyBudget) -> bool:
    """Return True if the body of a task has got no room yet."""
    before = budget.used
    for _ in range(5):
        await asyncio.sleep(0)
    return budget.used == before and not task.done()


async def test_bodies_of_one_tenant_wait_for_each_other_and_others_pass():
    budget, done = BodyBudget(MOST), asyncio.Event()
    async with asyncio.TaskGroup() as tasks:
        peak = 0
        flood = [tasks.create_task(worked(budget, "flood", LARGE, done)) for _ in range(12)]
        for _ in range(5):
            await asyncio.sleep(0)
        assert budget.used == LARGE
        other = tasks.create_task(worked(budget, "other", LARGE, done))
        await asyncio.sleep(0)
        assert budget.used == 2 * LARGE
        done.set()
        while not all(task.done() for task in [*flood, other]):
            await asyncio.sleep(0)
            peak = max(peak, budget.used)
        assert peak <= MOST
    assert budget.used == 0


async def test_a_body_without_room_is_refused_in_time():
    budget, done = BodyBudget(MOST, wait=0.01), asyncio.Event()
    async with asyncio.TaskGroup() as tasks:
        for tenant in ("a", "b"):
            tasks.create_task(worked(budget, tenant, LARGE, done))
        await asyncio.sleep(0)
        one = scope(budget)
        with pytest.raises(RateLimited) as caught:
            await reach(one, LARGE)
        assert caught.value.retry_after > 0
        assert one[BodyHold.KEY].size == 0
        await reach(one, FREE)  # small ones never wait
        done.set()
    await reach(one, 128 * FREE)  # the largest that is allowed, as soon as nothing else is there


async def test_a_cancelled_body_leaves_the_queue():
    budget, done = BodyBudget(MOST), asyncio.Event()
    async with asyncio.TaskGroup() as tasks:
        tasks.create_task(worked(budget, "a", 128 * FREE, done))
        tasks.create_task(worked(budget, "b", 128 * FREE, done))
        late = tasks.create_task(worked(budget, "c", LARGE, done))
        assert not await waits(late, budget) or budget.used == MOST
        late.cancel()
        await asyncio.gather(late, return_exceptions=True)
        done.set()
    assert budget.used == 0


async def test_half_received_bodies_do_not_wait_for_each_other_for_ever():
    budget = BodyBudget(MOST, wait=60)
    scopes = [scope(budget) for _ in range(3)]
    for number, one in enumerate(scopes):
        threads.OWNER.set(f"tenant {number}")
        await reach(one, 85 * FREE)
    rest = [asyncio.ensure_future(reach(one, 128 * FREE)) for one in scopes]
    for one, task in zip(scopes, rest, strict=True):
        await asyncio.wait_for(task, 1)
        one[BodyHold.KEY].drop_to(0)
    assert budget.used == 0


async def test_a_body_is_counted_to_the_tenant_that_is_known_after_it():
    """The proof of a wallet signs the body, which is read before the proof is checked."""
    budget = BodyBudget(MOST)
    for know in (threads.OWNER.set, lambda tenant: belongs_to(one, tenant)):
        threads.OWNER.set("")
        await reach(one := scope(budget), LARGE)
        know("wallet")
        await reach(one, 2 * LARGE)
        assert budget.tenants == {"wallet": 2 * LARGE}
        belongs_to(one, "another")  # has no effect
        one[BodyHold.KEY].drop_to(0)
        assert budget.tenants == {}


async def test_a_body_that_went_on_without_room_has_a_successor():
    """It keeps what was unpacked for a whole stream; others go on meanwhile, in turn."""
    budget = BodyBudget(100 * FREE, wait=60)
    scopes = [scope(budget) for _ in range(25)]
    for number, one in enumerate(scopes):
        threads.OWNER.set(f"tenant {number}")
        await reach(one, 4 * FREE)
    rest = [asyncio.ensure_future(reach(one, 90 * FREE)) for one in scopes]
    for one, task in zip(scopes, rest, strict=True):
        await asyncio.wait_for(task, 1)
        assert budget.used <= 190 * FREE
        one[BodyHold.KEY].drop_to(FREE)
    for one in scopes:
        one[BodyHold.KEY].drop_to(0)
    assert budget.used == 0


@pytest.mark.parametrize("step", ["measured", "decoded", "unpack"])
async def test_a_body_is_held_until_its_thread_has_ended(
    step: str, monkeypatch: pytest.MonkeyPatch
):
    """A client that hangs up gives back what is in memory only when it no longer is."""
    begun, end, ended = threading.Event(), threading.Event(), []
    packed = gzip.compress(bytes(2 * FREE), 0)
    request = Request(
        {"type": "http", "headers": [(b"content-encoding", b"gzip")], "state": {}},
        AsyncMock(return_value={"type": "http.request", "body": packed}),
    )

    def slowly(work: Callable[..., Any], *given: Any) -> Any:
        begun.set()
        end.wait(5)
        ended.append(step)
        return work(*given)

    if step != "unpack":
        monkeypatch.setattr(request_body, step, partial(slowly, getattr(request_body, step)))
    unpack = partial(slowly, lambda whole, _: whole) if step == "unpack" else None
    task = asyncio.ensure_future(request_body.unpacked(request, 4 * FREE, unpack))
    while not (begun.is_set() or task.done()):  # noqa: ASYNC110  a thread tells nobody
        await asyncio.sleep(0.001)
    task.cancel()
    asyncio.get_running_loop().call_later(0.02, end.set)
    with pytest.raises(asyncio.CancelledError):
        await task
    assert ended == [step]


# ------------------------------------------------------------------------------------------------
# Nothing that could be decoded waits for more of an encoded body.


def test_all_is_decoded_that_has_come():
    """Also where a full piece leaves output behind, with all input looked at."""
    packed = gzip.compress(b"x" * (5 * PIECE))
    for end in range(20, len(packed)):
        shown = b"".join(Decoder("gzip").pieces(packed[:end]))
        assert shown == zlib.decompressobj(zlib.MAX_WBITS | 16).decompress(packed[:end]), end


# ------------------------------------------------------------------------------------------------
# Header fields of ours that clients or front proxies repeat.


def posted(name: str, *lines: str) -> Headers:
    return Headers(raw=[(name.encode(), line.encode()) for line in lines])


@pytest.mark.parametrize(
    ("lines", "values"),
    [
        ([" a "], ["a"]),
        (["a", "a"], ["a"]),
        (["a , a,a"], ["a"]),
        (["a,b"], ["a,b"]),  # a credential may hold a comma
        (["a", "b, b", "a"], ["a", "b"]),
        ([""], [""]),
    ],
)
def test_equal_values_count_once(lines: list[str], values: list[str]):
    assert own_values(posted("x-user-id", *lines), "x-user-id") == values


def _of(read: Callable[[Request], object]) -> Callable[[Headers], object]:
    return lambda headers: read(Request({"type": "http", "headers": headers.raw}))


def _kept(headers: Mapping[str, str]) -> KeepOptions:
    return request_fields.keep(DEFAULTS, headers, Settings())


READERS: dict[str, tuple[str, str, Callable[[Headers], Any]]] = {
    "x-user-id": ("ann", "ben", _of(lambda request: user_scope(request, Tenant("t", keyed=False)))),
    "x-chat-id": ("c", "d", lambda headers: own_value(headers, "x-chat-id")),
    "x-memtree-key": ("K", "L", _of(lambda request: list(credentials(request)))),
    "x-memtree-mode": (
        "fresh",
        "auto",
        lambda headers: request_fields.mode(None, headers, "stable"),
    ),
    "x-memtree-keep": ('{"keep_patterns": ["a"]}', "{}", _kept),
    "memory-expiration-days": (
        "3",
        "4",
        lambda headers: request_fields.expiration_days(None, headers, 9),
    ),
}


@pytest.mark.parametrize("name", READERS)
def test_each_reader_takes_equal_values_and_refuses_others(name: str):
    value, other, read = READERS[name]
    assert read(posted(name, value, value)) == read(posted(name, value))
    with pytest.raises(BadRequest) as refused:
        read(posted(name, value, other))
    assert refused.value.param == name
    assert refused.value.message == f"{name} is given twice, with different values"
