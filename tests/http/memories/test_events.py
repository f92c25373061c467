"""Live changes of memories, as server-sent events over real connections."""

from __future__ import annotations

import asyncio
import dataclasses
import json
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import AsyncExitStack, asynccontextmanager, contextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest

from memtree.memories.book import MemoryRules
from memtree.stores import open_memories, open_store
from memtree_proxy.http.event_streams import MOST_STREAMS, EventPace
from memtree_proxy.server.app import create_app
from tests.http.owned.kinds import Agents, Asking, Chats, Users, counts, each, wrong
from tests.http.served.fakes import FakeKeys, edge, services
from tests.http.served.running import PATIENCE, running, wait_for
from tests.programs.server import Server
from tests.unit.memories.books import Opened

pytestmark = pytest.mark.slow

QUICK = EventPace(check=0.2, beat=0.3)
CANARY = "xyzzy plugh is what the memory says"
EVENTS = "/chat/api/c1/memories/events"


class Listener:
    def __init__(self, answer: httpx.Response) -> None:
        self._lines = answer.aiter_lines()
        self.last = ""

    async def block(self) -> list[str]:
        """The lines of the next block; none at the end of the stream."""
        block: list[str] = []
        async with asyncio.timeout(PATIENCE):
            async for line in self._lines:
                assert "xyzzy" not in line
                if line.startswith("id: "):
                    self.last = line.removeprefix("id: ")
                if line:
                    block.append(line)
                elif block:
                    return block
        return block

    async def event(self) -> dict[str, Any]:
        """The next event, empty at the end of the stream."""
        while block := await self.block():
            if block == [": keep-alive"]:
                continue
            (data,) = [line for line in block if line.startswith("data: ")]
            assert len(block) == 2
            shown: dict[str, Any] = json.loads(data.removeprefix("data: "))
            return shown
        return {}


@asynccontextmanager
async def listening(of: Asking, whom: str = "", **headers: str) -> AsyncIterator[Listener]:
    url, named = of.at(f"{of.LIST}/events", whom)
    named |= of.key | {name.replace("_", "-"): value for name, value in headers.items()}
    async with of.client.stream("GET", url, headers=named, params=of.named(whom)) as answer:
        assert answer.status_code == 200
        assert answer.headers["content-type"] == "text/event-stream"
        assert answer.headers["cache-control"] == "no-store"
        listener = Listener(answer)
        assert await listener.block()  # the count to come back with
        yield listener


@contextmanager
def serving(path: Path | None = None, keys: Any = None) -> Iterator[str]:
    """A proxy on a store of its own, or on the one at `path`."""
    more: dict[str, Any] = (
        {"memories": open_memories(open_store(f"sqlite:///{path}"))} if path else {}
    )
    built = dataclasses.replace(services(None, keys=keys, **more), event_pace=QUICK)
    with running(create_app(built)) as address:
        yield address


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    """One whose tests have tenants of their own."""
    with serving() as made:
        yield made


@asynccontextmanager
async def asking(address: str, key: str, kind: type[Asking] = Chats) -> AsyncIterator[Asking]:
    async with httpx.AsyncClient(base_url=address, trust_env=False, timeout=PATIENCE) as client:
        yield kind(client, Opened(None, MemoryRules(), None), key)


def created(id_: str) -> dict[str, Any]:
    return {"type": "created", "id": id_, "count": 1, "version": 1}


@each(Users, Chats, Agents)
async def test_each_change_is_an_event_without_text(address: str, kind: type[Asking]):
    async with asking(address, f"each {kind}", kind) as of, listening(of) as events:
        await of.saved(CANARY, "c2")
        id_ = await of.id_of(CANARY)
        assert await events.event() == created(id_)
        await of.got("PATCH", f"{of.LIST}/{id_}", json={"tags": ["a"]})
        assert await events.event() == {**created(id_), "type": "updated", "version": 2}
        await of.ask("DELETE", f"{of.LIST}/{id_}")
        gone = await events.event()
        assert (gone["type"], gone["id"], gone["count"]) == ("deleted", id_, 0)


async def test_what_becomes_of_many_is_told_of_each(address: str):
    async with asking(address, "many", Users) as of, listening(of, "u1") as events:
        old, new = [await of.id_of(f"{CANARY} {n}", "u1") for n in (1, 2)]
        assert [(await events.event())["id"] for _ in range(2)] == [old, new]
        await of.got("POST", f"/{new}/settle", "u1", json={"with": old, "action": "replace"})
        seen = [await events.event(), await events.event()]
        assert {(one["type"], one["id"]) for one in seen} == {("deleted", old), ("updated", new)}
        assert counts(await of.many("delete", "u1", all=True)) == (2, True)
        gone = [await events.event(), await events.event()]
        assert {one["id"] for one in gone} == {old, new}
        assert [(one["type"], one["count"]) for one in gone] == [("deleted", 0)] * 2


async def test_a_listener_that_comes_back_misses_nothing(address: str):
    async with asking(address, "comes back") as of:
        first = await of.id_of("Fact one")
        async with listening(of) as events:
            second = await of.id_of("Fact two")
            assert (await events.event())["id"] == second
        third = await of.id_of("Fact three")
        await of.ask("DELETE", f"{of.LIST}/{first}")
        async with listening(of, last_event_id=events.last) as again:
            seen = [await again.event(), await again.event()]
            assert [(one["type"], one["id"]) for one in seen] == [
                ("created", third), ("deleted", first),
            ]  # fmt: skip
        async with listening(of, last_event_id="0") as whole:
            assert {(await whole.event())["id"] for _ in range(3)} == {first, second, third}


@each(Users, Chats)
async def test_a_last_event_that_is_none(address: str, kind: type[Asking]):
    async with asking(address, f"last {kind}", kind) as of:
        for value in ("x", "1.5", "", "-1", "9" * 30):
            headers = {"last-event-id": value}
            answer = await of.ask("GET", f"{of.LIST}/events", headers=headers)
            wrong(answer, "last-event-id")
        # Of another store, or of the future: what comes from now on.
        async with listening(of, last_event_id="9" * 18) as events:
            id_ = await of.id_of("Fact one")
            assert (await events.event())["id"] == id_


async def test_what_another_proxy_changes_is_seen(tmp_path: Path):
    path = tmp_path / "memories.db"
    with serving(path) as here, serving(path) as there:
        async with (
            asking(here, "key") as of,
            asking(there, "key") as writing,
            listening(of) as events,
        ):
            id_ = await writing.id_of(CANARY)
            assert await events.event() == created(id_)
            await writing.ask("DELETE", f"{of.LIST}/{id_}")
            seen = await events.event()
            assert (seen["type"], seen["count"]) == ("deleted", 0)


async def test_other_scopes_and_tenants_are_not_heard(address: str):
    async with (
        asking(address, "heard") as of,
        asking(address, "not heard") as other,
        listening(of) as events,
    ):
        await other.saved(CANARY)
        await of.saved(CANARY, "c2")
        id_ = await of.id_of("Fact one")
        assert await events.event() == created(id_)


async def test_a_stream_ends_with_its_key():
    keys = FakeKeys(acme=["K"], other=["L"])
    with serving(keys=keys) as address:
        async with asking(address, "K") as of, asking(address, "L") as other:
            async with listening(of) as events, listening(other) as stays:
                await keys.revoke_key("acme")
                assert await events.event() == {}
                id_ = await other.id_of("Fact one")
                assert (await stays.event())["id"] == id_
            assert (await of.ask("GET", f"{of.LIST}/events")).status_code == 401


async def test_nothing_is_heard_once_the_key_is_gone(tmp_path: Path):
    """A change wakes the stream, and by then its key is looked at again."""
    path, keys = tmp_path / "memories.db", FakeKeys(acme=["K", "K2"])
    with serving(path, keys) as address:
        async with (
            asking(address, "K") as of,
            asking(address, "K2") as still,
            listening(of) as events,
        ):
            keys.tenants.pop("K", None)
            await asyncio.sleep(2.1)  # as long as a key may be remembered
            await still.saved(CANARY)
            assert await events.event() == {}


@each(Users, Chats)
async def test_streams_of_a_tenant_are_limited(address: str, kind: type[Asking]):
    """Over all its scopes."""
    async with asking(address, f"limited {kind}", kind) as of, asking(address, "o") as other:
        async with AsyncExitStack() as held:
            for number in range(MOST_STREAMS):
                await held.enter_async_context(listening(of, f"c{number}"))
            answer = await of.ask("GET", f"{of.LIST}/events", "one-more")
            assert answer.status_code == 429
            assert answer.json()["error"]["code"] == "rate_limit_exceeded"
            assert int(answer.headers["retry-after"]) > 0
            async with listening(other):
                pass
        deadline = time.monotonic() + PATIENCE
        while (await of.ask("HEAD", f"{of.LIST}/events")).status_code == 429:
            assert time.monotonic() < deadline
            await asyncio.sleep(0.05)
        async with listening(of):
            pass


async def test_signs_of_life(address: str):
    async with asking(address, "life") as of, listening(of) as events:
        assert [await events.block(), await events.block()] == [[": keep-alive"]] * 2


async def test_a_head_has_no_body_and_takes_no_place():
    async with edge(None) as client:
        for _ in range(2 * MOST_STREAMS):
            answer = await client.head(EVENTS)
            assert (answer.status_code, answer.content) == (200, b"")


def test_the_end_of_the_server_is_the_end_of_its_streams():
    built = services(None)
    app = create_app(built)
    with running(app) as address, httpx.Client(trust_env=False, timeout=PATIENCE) as client:
        with client.stream("GET", f"{address}{EVENTS}") as answer:
            pieces = answer.iter_raw()
            assert next(pieces) == b"id: 0\n\n"
            assert len(app.state.streams) == 1
            app.state.streams.stop()
            assert list(pieces) == []
        # One that is begun after it ends as well.
        begun = client.get(f"{address}{EVENTS}")
        assert (begun.status_code, begun.content) == (200, b"id: 0\n\n")
        wait_for(lambda: len(app.state.streams) == 0)


def test_a_server_that_stops_does_not_wait_for_its_listeners(tmp_path: Path):
    flags = ("--upstream", "none", "--embedder", "none", "--shutdown-seconds", "300")
    server = Server(tmp_path / "stop.db", *flags)
    with httpx.stream("GET", f"{server.url}{EVENTS}", timeout=60, trust_env=False) as answer:
        pieces = answer.iter_raw()
        assert next(pieces) == b"id: 0\n\n"
        assert server.stop() == 0  # waits a minute for that
        assert list(pieces) == []
    assert "Traceback" not in server.log.read_text()
