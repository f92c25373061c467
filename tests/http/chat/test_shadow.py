"""Shadow mode: the chat is as with memory off, and beside it memory is measured."""

from __future__ import annotations

import asyncio
import dataclasses
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, cast

import httpx
import pytest
from prometheus_client.parser import text_string_to_metric_families

from memtree.background.embedding.queue import NoQueue
from memtree.background.growing.builder import StageOne
from memtree.background.runtime import SystemClock
from memtree.context.context_memory import Answer, AnswerDetails, ContextMemory
from memtree.context.request import CompressRequest
from memtree.conversation.history import History
from memtree.errors import ContextOverflow, StoreUnavailable
from memtree.ports.store import Store
from memtree.stores import open_store
from memtree.tenant_names import ANONYMOUS as TENANT
from memtree_proxy.chat import shadow as shadowing
from memtree_proxy.chat.shadow import AT_ONCE, WAITING, ShadowRunner
from memtree_proxy.server.app import create_app
from tests.http.served.fakes import dumps, services, turn
from tests.http.served.running import PATIENCE, refused_port
from tests.http.served.upstream import PLAIN_BYTES, FakeUpstream
from tests.programs.sessions import coding

pytestmark = pytest.mark.usefixtures("upstream")
SHADOW = {"x-memtree-mode": "shadow"}
ODD = b'{ "model" : "m\\u0041", "messages":[ {"role":"user","content":"hi"} ] ,"x":1.0e1, "n":null}'
EVER = (0, 10**6)


class Watched:
    """A memory that waits for `go` in each compression, and raises `error` where it is set."""

    def __init__(self, store: Store) -> None:
        self._memory = ContextMemory(store, StageOne(child=False), NoQueue(), SystemClock())
        self.go = asyncio.Event()
        self.go.set()
        self.begun = asyncio.Event()
        self.error: Exception | None = None
        self.asks: list[CompressRequest] = []

    async def read(self, ask: CompressRequest) -> History:
        return await self._memory.read(ask)

    async def compress(self, ask: CompressRequest) -> Answer:
        return (await self.compress_with_details(ask))[0]

    async def compress_with_details(self, ask: CompressRequest) -> tuple[Answer, AnswerDetails]:
        self.asks.append(ask)
        self.begun.set()
        await self.go.wait()
        if self.error:
            raise self.error
        return await self._memory.compress_with_details(ask)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._memory, name)


@dataclasses.dataclass
class Edge:
    client: httpx.AsyncClient
    shadows: ShadowRunner
    memory: Watched
    store: Store

    async def post(self, body: Any, **headers: str) -> httpx.Response:
        content = body if isinstance(body, bytes) else dumps(body)
        return await self.client.post("/v1/chat/completions", content=content, headers=headers)

    async def shadow(self, body: Any) -> httpx.Response:
        """Posted, and measured to the end."""
        answer = await self.post(body, **SHADOW)
        await self.shadows.settle()
        return answer

    async def counts(self) -> dict[str, float]:
        """Samples of shadow mode, as in `shadows folded`."""
        page = await self.client.get("/metrics")
        return {
            " ".join([one.name[len("memtree_"):-len("_total")], *one.labels.values()]): one.value
            for family in text_string_to_metric_families(page.text)
            for one in family.samples
            if one.name.startswith("memtree_shadow") and one.name.endswith("_total")
        }  # fmt: skip

    async def tallied(self) -> dict[str, dict[str, int]]:
        """Return what the store has of shadow mode. Usage is written beside it, every few
        seconds."""
        kept = {
            tenant: {name: n for name, n in amounts.items() if name.startswith("shadow.")}
            for tenant, amounts in (await self.store.tallied(*EVER)).items()
        }
        return {tenant: amounts for tenant, amounts in kept.items() if amounts}

    async def outcomes(self) -> dict[str, float]:
        found = await self.counts()
        return {n.removeprefix("shadows "): v for n, v in found.items() if n[:8] == "shadows "}


@asynccontextmanager
async def opened(base: str | None, url: str = "memory:", **changes: Any) -> AsyncIterator[Edge]:
    store = open_store(url)
    memory = Watched(store)
    built = dataclasses.replace(
        services(base, cast(ContextMemory, memory), **changes), tallies=store
    )
    app = create_app(built)
    try:
        async with (
            app.router.lifespan_context(app),
            httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://edge") as client,
        ):
            client.headers.clear()
            yield Edge(client, app.state.shadows, memory, store)
    finally:
        memory.go.set()
        await memory.close()
        await store.close()
        await built.upstreams.close()


def ours(answer: httpx.Response) -> dict[str, str]:
    found = {name: value for name, value in answer.headers.items() if name[:10] == "x-memtree-"}
    assert found.pop("x-memtree-request-id")
    assert found.pop("x-memtree-request")
    return found


def files(folder: Path) -> bytes:
    return b"".join(path.read_bytes() for path in folder.iterdir())


def session(tokens: int = 30_000, *more: dict[str, Any]) -> dict[str, Any]:
    return {"model": "gpt-4o", "messages": [*coding(tokens), *more]}


# ---------------------------------------------------------------- the request


@pytest.mark.parametrize(
    "body",
    [
        ODD,
        ODD.replace(b'"x":1.0e1', b'"x":1.0e1, "target_tokens": 5000, "memory": true'),
        ODD.replace(b"m\\u0041", b"m:online:memory-90"),
        dumps(session()),
        dumps({**session(), "stream": True}),
    ],
    ids=["plain", "own fields", "suffix", "long", "streamed"],
)
async def test_the_upstream_gets_what_it_gets_with_memory_off(
    body: bytes, base: str, upstream: FakeUpstream
):
    async with opened(base) as edge:
        await edge.post(body, **{"x-polychat-memory": "off"})
        off = upstream.last
        answer = await edge.shadow(body)
    assert upstream.last.body == off.body
    assert sorted(upstream.last.headers) == sorted(off.headers)
    assert not any(name.startswith(b"x-memtree") for name, _ in upstream.last.headers)
    assert (answer.status_code, answer.content) == (200, PLAIN_BYTES)
    assert ours(answer) == {"x-memtree-state": "shadow"}
    assert len(edge.memory.asks) == 1


async def test_what_is_not_ours_goes_as_it_came(base: str, upstream: FakeUpstream):
    async with opened(base) as edge:
        await edge.shadow(ODD)
    assert upstream.last.body == ODD


async def test_a_stream_comes_as_it_is(base: str, upstream: FakeUpstream):
    upstream.mode = "sse"
    async with opened(base) as edge:
        off = await edge.post(turn(9, stream=True), **{"x-polychat-memory": "off"})
        answer = await edge.shadow(turn(9, stream=True))
    assert answer.content == off.content
    assert answer.headers["content-type"] == off.headers["content-type"]


@pytest.mark.parametrize(
    ("changes", "headers", "own", "state"),
    [
        ({}, SHADOW, {}, "shadow"),
        ({}, {}, {"mode": "shadow"}, "shadow"),
        ({"mode": "shadow"}, {}, {}, "shadow"),
        ({"mode": "shadow"}, {"x-polychat-memory": "on"}, {}, "shadow"),
        ({"mode": "shadow"}, {"x-polychat-memory": "off"}, {}, "off"),
        ({"mode": "shadow"}, {}, {"memory": False}, "off"),
        ({"memory": True}, SHADOW, {"memory": False}, "off"),
        ({"memory": True}, SHADOW, {"mode": "fresh"}, "shadow"),
        ({"memory": True, "mode": "shadow"}, {"x-memtree-mode": "fresh"}, {}, "below-threshold"),
        ({"mode": "shadow"}, {"x-polychat-memory": "on"}, {"mode": "auto"}, "below-threshold"),
        ({"mode": "shadow"}, {"x-memtree-mode": "quick"}, {}, "off"),
    ],
)
async def test_who_is_shadowed(
    changes: dict[str, Any],
    headers: dict[str, str],
    own: dict[str, Any],
    state: str,
    base: str,
    upstream: FakeUpstream,
):
    async with opened(base, **changes) as edge:
        answer = await edge.post(turn(3, **own), **headers)
        await edge.shadows.settle()
        assert answer.headers["x-memtree-state"] == state
        assert sum((await edge.outcomes()).values()) == (state == "shadow")
    assert "mode" not in json.loads(upstream.last.body)


async def test_memory_is_asked_as_it_would_have_been_in_mode_stable(base: str):
    body = session() | {"target_tokens": 9_000, "tools": [{"type": "function"}]}
    async with opened(base) as edge:
        await edge.post(body, **SHADOW, **{"memory-expiration-days": "7"})
        await edge.shadows.settle()
        await edge.post(body, **{"x-polychat-memory": "on", "x-memtree-mode": "stable"})
    shadowed, real = edge.memory.asks
    assert (shadowed.expiration_days, real.expiration_days) == (7, 30)
    assert dataclasses.replace(shadowed, expiration_days=30, patience=0.0, messages=()) == (
        dataclasses.replace(real, patience=0.0, messages=())
    )


@pytest.mark.parametrize("where", ["header", "body"])
async def test_context_memory_has_no_shadow(where: str):
    async with opened(None) as edge:
        answer = await edge.client.post(
            "/context_memory",
            json=turn(3, **({"mode": "shadow"} if where == "body" else {})),
            headers=SHADOW if where == "header" else {},
        )
    assert answer.status_code == 400
    assert answer.json()["error"]["param"] == ("mode" if where == "body" else "x-memtree-mode")


async def test_context_memory_is_stable_where_the_setting_says_shadow():
    async with opened(None, mode="shadow") as edge:
        answer = await edge.client.post("/context_memory", json=turn(3))
    assert answer.json()["memory"]["mode"] == "stable"


async def test_a_wrong_mode_is_an_error_where_memory_is_on(base: str, upstream: FakeUpstream):
    async with opened(base) as edge:
        answer = await edge.post(turn(3, mode="shady"), **{"x-polychat-memory": "on"})
    assert (answer.status_code, answer.json()["error"]["param"]) == (400, "mode")
    assert "shadow" in answer.json()["error"]["message"]
    assert not upstream.seen


# ---------------------------------------------------------------- in nobody's way


async def test_nobody_waits_for_memory(base: str):
    async with opened(base) as edge:
        edge.memory.go.clear()
        for _ in range(AT_ONCE + 3):
            answer = await edge.post(session(12_000), **SHADOW)
            assert answer.content == PLAIN_BYTES
        assert await edge.outcomes() == {}
        edge.memory.go.set()
        await edge.shadows.settle()
        outcomes = await edge.outcomes()
    assert sum(outcomes.values()) == AT_ONCE + 3


async def test_it_begins_when_the_upstream_has_answered(base: str, upstream: FakeUpstream):
    upstream.mode = "hang"
    async with opened(base) as edge:
        posting = asyncio.create_task(edge.post(turn(9), **SHADOW))
        assert await asyncio.to_thread(upstream.reached.wait, PATIENCE)
        assert not edge.memory.asks
        posting.cancel()
        await asyncio.gather(posting, return_exceptions=True)


async def test_of_too_many_the_newest_are_kept(base: str):
    async with opened(base) as edge:
        edge.memory.go.clear()
        for number in range(AT_ONCE + WAITING + 3):
            await edge.post(turn(1, messages=[{"role": "user", "content": f"{number}"}]), **SHADOW)
        assert await edge.outcomes() == {"dropped": 3}
        edge.memory.go.set()
        await edge.shadows.settle()
        assert await edge.outcomes() == {"dropped": 3, "whole": AT_ONCE + WAITING}
    asked = [int(ask.messages[0].text) for ask in edge.memory.asks]
    assert sorted(asked) == [*range(AT_ONCE), *range(AT_ONCE + 3, AT_ONCE + WAITING + 3)]


async def test_waiting_bodies_have_a_limit(base: str, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(shadowing, "WAITING_BYTES", 5_000)
    long = turn(1, messages=[{"role": "user", "content": "x" * 2_000}])
    async with opened(base) as edge:
        edge.memory.go.clear()
        for _ in range(AT_ONCE + 4):
            await edge.post(long, **SHADOW)
        assert await edge.outcomes() == {"dropped": 2}
        edge.memory.go.set()
        await edge.shadows.settle()


async def test_a_shadow_does_not_go_on_for_ever(base: str, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(shadowing, "PATIENCE", 0.01)
    async with opened(base) as edge:
        edge.memory.go.clear()
        await edge.shadow(turn(9))
        assert await edge.outcomes() == {"late": 1}


async def test_the_end_of_the_app_is_the_end_of_its_shadows(base: str):
    async with opened(base) as edge:
        edge.memory.go.clear()
        for _ in range(AT_ONCE + 2):
            await edge.post(turn(9), **SHADOW)
        await edge.memory.begun.wait()
    await edge.shadows.settle()
    assert len(edge.memory.asks) <= AT_ONCE


# ---------------------------------------------------------------- what goes wrong


@pytest.mark.parametrize(
    ("error", "outcome"),
    [(KeyError("x"), "failed"), (ContextOverflow(1, 2), "overflow"),
     (StoreUnavailable("gone"), "failed")],
)  # fmt: skip
async def test_a_failing_memory_shows_in_the_metrics_alone(
    error: Exception, outcome: str, base: str, caplog: pytest.LogCaptureFixture
):
    async with opened(base) as edge:
        edge.memory.error = error
        answer = await edge.shadow(turn(9))
        assert (answer.status_code, answer.content) == (200, PLAIN_BYTES)
        assert ours(answer) == {"x-memtree-state": "shadow"}
        assert await edge.outcomes() == {outcome: 1}
        assert await edge.tallied() == {}
    assert "message 8" not in caplog.text


@pytest.mark.parametrize(
    "body",
    [
        turn(3, target_tokens="many"),
        turn(3, messages=[{"role": "tool", "tool_call_id": "x", "content": "orphan"}]),
        turn(3, messages=[]),
    ],
)
async def test_a_request_that_memory_could_not_read_goes_through(
    body: dict[str, Any], base: str, upstream: FakeUpstream
):
    async with opened(base) as edge:
        answer = await edge.shadow(body)
        assert answer.status_code == 200
        assert await edge.outcomes() == {"invalid": 1}
    assert json.loads(upstream.last.body)["messages"] == body["messages"]


async def test_an_upstreams_error_is_the_clients(base: str, upstream: FakeUpstream):
    upstream.mode, upstream.status = "error", 429
    async with opened(base) as edge:
        answer = await edge.shadow(turn(9))
        assert (answer.status_code, answer.headers["retry-after"]) == (429, "7")
        assert await edge.outcomes() == {"whole": 1}
    async with opened(f"http://127.0.0.1:{refused_port()}") as edge:
        answer = await edge.shadow(turn(9))
        assert answer.status_code == 502
        assert ours(answer)["x-memtree-state"] == "shadow"


async def test_a_store_without_room_for_tallies_is_no_failure(
    base: str, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
):
    caplog.set_level("INFO", "memtree")
    async with opened(base) as edge:

        async def full(*_: object) -> bool:
            raise StoreUnavailable("full")

        monkeypatch.setattr(edge.store, "add", full)
        await edge.shadow(session())
        assert await edge.outcomes() == {"folded": 1}
    assert "shadow.not_tallied code=" in caplog.text


# ---------------------------------------------------------------- what is measured


async def test_metrics_and_tallies_say_the_same(base: str):
    async with opened(base) as edge:
        await edge.shadow(session())
        await edge.shadow(turn(9))
        counts = await edge.counts()
        tallies = (await edge.tallied())[TENANT]
    assert (counts["shadows folded"], counts["shadows whole"]) == (1, 1)
    assert (tallies["shadow.requests"], tallies["shadow.folded"]) == (2, 1)
    assert tallies["shadow.raw_tokens"] == counts["shadow_raw_tokens"] > 29_000
    assert 0 < tallies["shadow.sent_tokens"] == counts["shadow_sent_tokens"] < 20_000
    for kind in ("identifier", "path"):
        assert tallies[f"shadow.{kind}.probes"] == counts[f"shadow_probes {kind}"] > 0
        assert tallies[f"shadow.{kind}.kept"] == counts[f"shadow_kept {kind}"]
        assert counts[f"shadow_kept {kind}"] <= counts[f"shadow_probes {kind}"]


async def test_what_the_next_answer_used(base: str):
    """The first message names a file, and so do the answers much later."""
    first = {"role": "user", "content": "Look at src/deep/hidden_thing.py please."}
    said = {"role": "assistant", "content": "Done. I read src/deep/hidden_thing.py and new_idea()."}
    asked = {"role": "user", "content": "Go on."}
    history = [first, {"role": "assistant", "content": "Yes."}, *coding(40_000)[1:], asked]
    async with opened(base) as edge:
        await edge.shadow({"model": "m", "messages": history})
        tallies = (await edge.tallied())[TENANT]
        assert "shadow.used.probes" not in tallies
        await edge.shadow({"model": "m", "messages": [*history, said, asked]})
        tallies = (await edge.tallied())[TENANT]
        counts = await edge.counts()
        # `new_idea` stood nowhere before: it is asked for from the next request on.
        assert tallies["shadow.used.probes"] == 1
        assert tallies["shadow.recalled.probes"] == counts["shadow_probes recalled"] == 1
        await edge.shadow({"model": "m", "messages": [*history, said, asked, said, asked]})
        later = (await edge.tallied())[TENANT]
        assert later["shadow.used.probes"] == 3
        assert later["shadow.recalled.probes"] == 1  # it stands in the recent messages by now


async def test_the_same_request_again_is_not_measured_again(base: str):
    async with opened(base) as edge:
        for _ in range(3):
            await edge.shadow(session())
        assert await edge.outcomes() == {"folded": 1, "again": 2}
        assert (await edge.tallied())[TENANT]["shadow.requests"] == 1


async def test_a_deletion_leaves_nothing_that_comes_back(base: str):
    async with opened(base) as edge:
        edge.memory.go.clear()
        for number in range(AT_ONCE + 2):
            await edge.post(session(12_000 + 500 * number), **SHADOW)
        await edge.memory.begun.wait()
        receipt = await edge.client.post("/context_memory/delete", json={"all": True})
        assert receipt.status_code == 200
        edge.memory.go.set()
        await edge.shadows.settle()
        assert (await edge.store.stats()).nodes == 0
        assert await edge.outcomes() == {}
        await edge.shadow(session())
        await edge.client.post("/context_memory/delete", json={"all": True})
        await edge.shadow(session())  # measured anew: its record is gone, too
        assert await edge.outcomes() == {"folded": 2}


async def test_no_text_and_no_credential_at_rest(base: str, tmp_path: Path):
    """The store holds what memory keeps of any history; of shadow mode it holds numbers."""
    secret = "sk-shadow-0123456789abcdef"
    asked = {"role": "user", "content": "a tail that is not indexed: zyxwvut"}
    async with opened(base, f"sqlite:///{tmp_path}/store.db") as edge:
        body = session(30_000, asked)
        await edge.post(body, **SHADOW, authorization=f"Bearer {secret}")
        await edge.shadows.settle()
        said = {"role": "assistant", "content": "An answer about zyxwvut."}
        await edge.post(
            {**body, "messages": [*body["messages"], said, asked]},
            **SHADOW,
            authorization=f"Bearer {secret}",
        )
        await edge.shadows.settle()
        ((tenant, amounts),) = (await edge.store.tallied(*EVER)).items()
        found = files(tmp_path)
        kept = repr(edge.shadows.records.kept).encode()
    assert secret not in tenant
    assert all(name.startswith(("shadow.", "usage.", "usage_")) for name in amounts)
    assert b"shadow.requests" in found
    for text in (secret, "zyxwvut", *(m["content"] for m in body["messages"] if m.get("content"))):
        if len(text) > 300 or text in (secret, "zyxwvut"):
            assert text.encode() not in found
        assert text.encode() not in kept
