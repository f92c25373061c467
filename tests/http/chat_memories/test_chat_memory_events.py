"""Live changes of a chat's memories, as server-sent events over real connections."""

from __future__ import annotations

import asyncio
import dataclasses
import json
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest

from memtree.stores import open_memories, open_store
from memtree_proxy.access.event_streams import MOST_STREAMS, EventPace
from memtree_proxy.server.app import create_app
from tests.http.owned.remembering import error
from tests.http.served.fakes import FakeKeys, edge, services
from tests.http.served.running import PATIENCE, running, wait_for
from tests.programs.server import Server

pytestmark = pytest.mark.slow

QUICK = EventPace(check=0.2, beat=0.3)
CANARY = "xyzzy plugh is what the memory says"


class Chat:
    """One proxy and one credential."""

    def __init__(self, address: str, client: httpx.AsyncClient) -> None:
        self.address, self.client = address, client

    async def save(self, content: str, chat: str = "c1") -> Any:
        posted = {"messageId": "m", "content": content}
        answer = await self.client.post(f"{self.address}/chat/api/{chat}/memory", json=posted)
        assert answer.status_code == 201, answer.text
        return answer.json()

    async def change(self, method: str, id_: str, chat: str = "c1", **more: Any) -> None:
        path = f"{self.address}/chat/api/{chat}/memories/{id_}"
        answer = await self.client.request(method, path, **more)
        assert answer.status_code < 300, answer.text

    @asynccontextmanager
    async def listening(self, chat: str = "c1", **headers: str) -> AsyncIterator[Listener]:
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        path = f"{self.address}/chat/api/{chat}/memories/events"
        async with self.client.stream("GET", path, headers=named) as answer:
            assert answer.status_code == 200
            assert answer.headers["content-type"] == "text/event-stream"
            assert answer.headers["cache-control"] == "no-store"
            listener = Listener(answer)
            assert await listener.block()  # the count to come back with
            yield listener


class Listener:
    def __init__(self, answer: httpx.Response) -> None:
        self._lines = answer.aiter_lines()
        self.comments = 0
        self.raw: list[str] = []
        self.last = ""

    async def block(self) -> list[str]:
        """The lines of the next block; none at the end of the stream."""
        block: list[str] = []
        async with asyncio.timeout(PATIENCE):
            async for line in self._lines:
                self.raw.append(line)
                if line.startswith("id: "):
                    self.last = line.removeprefix("id: ")
                if line:
                    block.append(line)
                elif block:
                    return block
        return block

    async def event(self) -> dict[str, Any] | None:
        """The next event, None at the end of the stream."""
        while block := await self.block():
            if block == [": keep-alive"]:
                self.comments += 1
                continue
            (data,) = [line for line in block if line.startswith("data: ")]
            assert len(block) == 2
            shown: dict[str, Any] = json.loads(data.removeprefix("data: "))
            return shown
        return None


@contextmanager
def serving(path: Path | None = None, keys: Any = None, **more: Any) -> Iterator[str]:
    """A proxy on a store of its own, or on the one at `path`."""
    if path is not None:
        more["memories"] = open_memories(open_store(f"sqlite:///{path}"))
    built = dataclasses.replace(services(None, keys=keys, **more), event_pace=QUICK)
    with running(create_app(built)) as address:
        yield address


@asynccontextmanager
async def chatting(address: str, key: str = "key") -> AsyncIterator[Chat]:
    headers = {"authorization": f"Bearer {key}"}
    async with httpx.AsyncClient(headers=headers, trust_env=False, timeout=PATIENCE) as client:
        yield Chat(address, client)


async def test_each_change_is_an_event_without_text():
    with serving() as address:
        async with chatting(address) as chat, chat.listening() as listener:
            row = await chat.save(CANARY)
            assert await listener.event() == {
                "type": "created", "id": row["id"], "count": 1, "version": 1,
            }  # fmt: skip
            await chat.change("PATCH", row["id"], json={"content": CANARY + " now"})
            assert await listener.event() == {
                "type": "updated", "id": row["id"], "count": 1, "version": 2,
            }  # fmt: skip
            await chat.change("DELETE", row["id"])
            gone = await listener.event()
            assert gone
            assert (gone["type"], gone["id"], gone["count"]) == ("deleted", row["id"], 0)
            assert "xyzzy" not in "\n".join(listener.raw)


async def test_a_listener_that_comes_back_misses_nothing():
    with serving() as address:
        async with chatting(address) as chat:
            first = await chat.save("Fact one")
            async with chat.listening() as listener:
                second = await chat.save("Fact two")
                seen = await listener.event()
                assert seen
                assert seen["id"] == second["id"]
            third = await chat.save("Fact three")
            await chat.change("DELETE", first["id"])
            async with chat.listening(last_event_id=listener.last) as again:
                ids = [await again.event(), await again.event()]
                assert [(one["type"], one["id"]) for one in ids if one] == [
                    ("created", third["id"]), ("deleted", first["id"]),
                ]  # fmt: skip
            async with chat.listening(last_event_id="0") as whole:
                kinds = [await whole.event() for _ in range(3)]
                assert {one["id"] for one in kinds if one} == {
                    first["id"], second["id"], third["id"],
                }  # fmt: skip


async def test_a_last_event_that_is_none():
    with serving() as address:
        async with chatting(address) as chat:
            path = f"{address}/chat/api/c1/memories/events"
            for value in ("x", "1.5", "", "-1", "9" * 30):
                answer = await chat.client.get(path, headers={"last-event-id": value})
                error(answer, 400, "invalid_request", "last-event-id")
            # Of another store, or of the future: what comes from now on.
            async with chat.listening(last_event_id="9" * 18) as listener:
                row = await chat.save("Fact one")
                seen = await listener.event()
                assert seen
                assert seen["id"] == row["id"]


async def test_what_another_proxy_changes_is_seen(tmp_path: Path):
    path = tmp_path / "memories.db"
    with serving(path) as here, serving(path) as there:
        async with (
            chatting(here) as listening,
            chatting(there) as writing,
            listening.listening() as listener,
        ):
            row = await writing.save(CANARY)
            seen = await listener.event()
            assert seen == {"type": "created", "id": row["id"], "count": 1, "version": 1}
            await writing.change("DELETE", row["id"])
            seen = await listener.event()
            assert seen
            assert (seen["type"], seen["count"]) == ("deleted", 0)


async def test_other_chats_and_tenants_are_not_heard():
    with serving() as address:
        async with (
            chatting(address) as chat,
            chatting(address, "other") as other,
            chat.listening() as listener,
        ):
            await other.save(CANARY)
            await chat.save(CANARY, chat="c2")
            row = await chat.save("Fact one")
            seen = await listener.event()
            assert seen == {"type": "created", "id": row["id"], "count": 1, "version": 1}


async def test_a_stream_ends_with_its_key():
    keys = FakeKeys(acme=["K"], other=["L"])
    with serving(keys=keys) as address:
        async with chatting(address, "K") as chat, chatting(address, "L") as other:
            async with chat.listening() as listener, other.listening() as stays:
                await keys.revoke_key("acme")
                assert await listener.event() is None
                row = await other.save("Fact one")
                seen = await stays.event()
                assert seen
                assert seen["id"] == row["id"]
            answer = await chat.client.get(f"{address}/chat/api/c1/memories/events")
            assert answer.status_code == 401


async def test_nothing_is_heard_once_the_key_is_gone(tmp_path: Path):
    """A change wakes the stream, and by then its key is looked at again."""
    path, keys = tmp_path / "memories.db", FakeKeys(acme=["K", "K2"])
    with serving(path, keys) as address:
        async with (
            chatting(address, "K") as chat,
            chatting(address, "K2") as still,
            chat.listening() as listener,
        ):
            keys.tenants.pop("K", None)
            await asyncio.sleep(2.1)  # as long as a key may be remembered
            await still.save(CANARY)
            assert await listener.event() is None


async def test_streams_of_a_tenant_are_limited():
    with serving() as address:
        async with chatting(address) as chat, chatting(address, "other") as other:
            path = f"{address}/chat/api/c1/memories/events"
            held = [chat.listening(f"c{number}") for number in range(MOST_STREAMS)]
            for one in held:
                await one.__aenter__()
            answer = await chat.client.get(path)
            assert answer.status_code == 429
            assert answer.json()["error"]["code"] == "rate_limit_exceeded"
            assert int(answer.headers["retry-after"]) > 0
            async with other.listening():
                pass
            for one in held:
                await one.__aexit__(None, None, None)
            deadline = time.monotonic() + PATIENCE
            while (await chat.client.head(path)).status_code == 429:
                assert time.monotonic() < deadline
                await asyncio.sleep(0.05)
            async with chat.listening():
                pass


async def test_signs_of_life():
    with serving() as address:
        async with chatting(address) as chat, chat.listening() as listener:
            assert await listener.block() == [": keep-alive"]
            assert await listener.block() == [": keep-alive"]


async def test_a_head_has_no_body_and_takes_no_place():
    async with edge(None) as client:
        for _ in range(2 * MOST_STREAMS):
            answer = await client.head("/chat/api/c1/memories/events")
            assert (answer.status_code, answer.content) == (200, b"")


def test_the_end_of_the_server_is_the_end_of_its_streams():
    built = services(None)
    app = create_app(built)
    with running(app) as address, httpx.Client(trust_env=False, timeout=PATIENCE) as client:
        with client.stream("GET", f"{address}/chat/api/c1/memories/events") as answer:
            pieces = answer.iter_raw()
            assert next(pieces) == b"id: 0\n\n"
            assert len(app.state.streams) == 1
            app.state.streams.stop()
            assert list(pieces) == []
        # One that is begun after it ends as well.
        begun = client.get(f"{address}/chat/api/c1/memories/events")
        assert (begun.status_code, begun.content) == (200, b"id: 0\n\n")
        wait_for(lambda: len(app.state.streams) == 0)


def test_a_server_that_stops_does_not_wait_for_its_listeners(tmp_path: Path):
    flags = ("--upstream", "none", "--embedder", "none", "--shutdown-seconds", "300")
    server = Server(tmp_path / "stop.db", *flags)
    path = f"{server.url}/chat/api/c1/memories/events"
    with httpx.stream("GET", path, timeout=60, trust_env=False) as answer:
        pieces = answer.iter_raw()
        assert next(pieces) == b"id: 0\n\n"
        assert server.stop() == 0  # waits a minute for that
        assert list(pieces) == []
    assert "Traceback" not in server.log.read_text()
