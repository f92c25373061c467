"""`/requests`: what the log tells of each request, to whom, and for how long."""

from __future__ import annotations

import asyncio
import dataclasses
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta
from typing import Any

import httpx
import pytest
from starlette.applications import Starlette

from memtree.context.context_memory import ContextMemory
from memtree.stores import RamStore
from memtree_proxy.server.app import create_app
from tests.http.pages.test_usage import metrics
from tests.http.served.fakes import FakeKeys, FakeMemory, edge, real_memory, services, turn
from tests.http.served.running import PATIENCE, running
from tests.http.served.upstream import JSON, FakeUpstream
from tests.programs.sessions import chat

ON = {"x-polychat-memory": "on"}
ROOT = "/v1/requests"
CHAT = "/v1/chat/completions"
USAGE = {
    "prompt_tokens": 30,
    "completion_tokens": 7,
    "prompt_tokens_details": {"cached_tokens": 12},
}
LONG = chat(101, words=120)


class Logged:
    """An app with a log, and a client of it."""

    def __init__(self, app: Starlette, client: httpx.AsyncClient, store: RamStore) -> None:
        self.app, self.client, self.store = app, client, store

    async def chat(self, body: Any = None, **headers: str) -> httpx.Response:
        return await self.client.post(CHAT, json=body or turn(9), headers=headers)

    async def told(self, count: int, **query: Any) -> dict[str, Any]:
        """The list, as soon as so many requests are in it."""
        page: dict[str, Any] = {"totals": {"requests": -1}}

        async def asked() -> bool:
            answer = await self.client.get(ROOT, params=query)
            assert answer.status_code == 200, answer.text
            page.update(answer.json())
            return bool(page["totals"]["requests"] >= count)

        async with asyncio.timeout(PATIENCE):
            while not await asked():  # noqa: ASYNC110  the log tells nobody here
                await asyncio.sleep(0.01)
        return page

    async def rows(self, count: int, **query: Any) -> list[dict[str, Any]]:
        rows: list[dict[str, Any]] = (await self.told(count, **query))["requests"]
        return rows


@asynccontextmanager
async def logging(
    base: str | None,
    memory: FakeMemory | ContextMemory | None = None,
    store: RamStore | None = None,
    **changes: Any,
) -> AsyncIterator[Logged]:
    own = store or RamStore()
    built = dataclasses.replace(services(base, memory, **changes), requests=own, tallies=own)
    built = dataclasses.replace(built, log_pace=0.01)
    app = create_app(built)
    transport = httpx.ASGITransport(app)
    async with (
        app.router.lifespan_context(app),
        httpx.AsyncClient(transport=transport, base_url="http://edge") as client,
    ):
        client.headers.clear()
        yield Logged(app, client, own)
    await built.upstreams.close()


def answering(upstream: FakeUpstream, usage: Any, status: int = 200) -> None:
    upstream.mode, upstream.answer_status = "bytes", status
    upstream.answer_headers = JSON
    upstream.answer_body = json.dumps({"choices": [], "usage": usage}).encode()


async def test_a_row_with_memory_off(base: str, upstream: FakeUpstream) -> None:
    answering(upstream, USAGE)
    begun = datetime.now(UTC) - timedelta(seconds=1)
    async with logging(base) as log:
        answer = await log.chat(**{"user-agent": "curl/8.1"})
        (row,) = await log.rows(1)
        one = (await log.client.get(f"{ROOT}/{row['id']}")).json()
    assert one == {**row, "plan": None}
    assert answer.headers["x-memtree-request"] == row.pop("id")
    assert begun < datetime.fromisoformat(row.pop("time")) < datetime.now(UTC)
    assert 0 <= row.pop("first_token_ms") <= row.pop("total_ms")
    assert row == {
        "client": "curl", "dialect": "chat", "model": "gpt-4o", "address": None,
        "conversation": None, "title": "",
        "state": "off", "reason": None, "epoch": None, "turn": None, "posted_tokens": None,
        "sent_tokens": None, "cached_tokens": 12, "written_tokens": None, "output_tokens": 7,
        "saved_tokens": 0, "memories": 0, "recalled": 0, "retries": 0, "wrap_run": None,
        "status": 200, "error_type": None,
    }  # fmt: skip


async def test_a_folded_request_tells_its_plan(base: str) -> None:
    async with logging(None, real_memory()) as log:
        told = []
        for end in (95, 97, 99):
            body = {"messages": LONG[:end], "model": "m", "target_tokens": 4_000}
            told.append((await log.client.post("/v1/context_memory", json=body)).json())
        rows = await log.rows(3)
        newest, *_ = rows
        one = (await log.client.get(f"{ROOT}/{newest['id']}")).json()
        plan = await log.client.get(f"/v1/context_memory/conversations/{newest['address']}/plan")
        listed = await log.rows(3, conversation=newest["address"])
        usage = (await log.client.get("/v1/usage")).json()
        page = await log.told(3)
    assert [row["turn"] for row in rows] == [3, 2, 1]
    assert {row["dialect"] for row in rows} == {"context_memory"}
    assert [row["address"] for row in rows[::-1]] == [each["memory"]["address"] for each in told]
    assert one["epoch"] == one["plan"]["epoch"]["id"] == told[-1]["memory"]["epoch"]
    assert one["plan"] == plan.json()
    assert one["plan"]["excerpts"][0]["reason"]
    assert listed == rows
    sums = page["totals"]
    for name in ("posted_tokens", "sent_tokens", "saved_tokens"):
        assert sums[name] == sum(row[name] for row in rows)
    assert sums["saved_tokens"] == usage["saved_tokens"] == usage["daily"][-1]["saved_tokens"] > 0
    assert (sums["requests"], sums["folded"]) == (3, 3)


async def test_what_went_whole_because_memory_failed_has_its_tokens(
    base: str, upstream: FakeUpstream, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def fail(*_: Any) -> Any:
        raise KeyError

    answering(upstream, None)
    body = {"model": "m", "messages": LONG[:9], "memory": True}
    async with logging(base, real_memory()) as log:
        await log.chat(body)
        with monkeypatch.context() as broken:
            broken.setattr(ContextMemory, "compress_with_details", fail)
            answer = await log.chat(body)
        failed, whole = await log.rows(2)
        usage = (await log.client.get("/v1/usage")).json()
        found = await metrics(log.client)
    assert failed["state"] == answer.headers["x-memtree-state"] == "degraded:internal"
    assert answer.headers["x-memtree-sent-tokens"] == str(failed["sent_tokens"])
    assert failed["posted_tokens"] == failed["sent_tokens"] == whole["sent_tokens"] > 0
    assert failed["saved_tokens"] == 0
    assert usage["requests"]["by_state"]["degraded:internal"] == 1
    assert usage["sent_tokens"] == 2 * whole["sent_tokens"] == found["memtree_sent_tokens_total"]


@pytest.mark.parametrize("status", [200, 400])
@pytest.mark.parametrize(("usage", "tokens"), [(USAGE, 30), (None, 8)])
async def test_what_could_not_be_read_is_counted_by_the_provider_or_estimated(
    usage: Any, tokens: int, status: int, base: str, upstream: FakeUpstream
) -> None:
    answering(upstream, usage, status)
    raw = b'{"model": "m", "messages": 7}'
    async with logging(base) as log:
        await log.client.post(CHAT, content=raw, headers=ON)
        (row,) = await log.rows(1)
    assert row["state"] == "degraded:invalid-history"
    assert row["posted_tokens"] == row["sent_tokens"] == tokens
    assert row["saved_tokens"] == 0


@pytest.mark.parametrize(
    ("cached", "reckoned"),
    [
        ((0, 0, 0), (False, False, False)),
        ((9, 9, 9), (False, False, False)),
        ((4_900, 4_900, 0), (False, True, True)),  # it caches, so a single miss costs
        ((0, 0, 4_900), (False, False, True)),
    ],
)
async def test_what_a_provider_never_caches_is_not_reckoned_as_cached(
    cached: tuple[int, ...], reckoned: tuple[bool, ...], base: str, upstream: FakeUpstream
) -> None:
    talk = chat(101, words=300)
    async with logging(base, real_memory(), prices=("m=1/0.25",)) as log:
        for end, tokens in zip((95, 97, 99), cached, strict=True):
            details = {"prompt_tokens_details": {"cached_tokens": tokens}}
            answering(upstream, {"prompt_tokens": 5_000, **details})
            body = {"model": "m", "messages": talk[:end], "target_tokens": 4_000}
            await log.chat({**body, "mode": "stable"}, **ON)
        rows = (await log.rows(3))[::-1]
    assert [row["turn"] for row in rows] == [1, 2, 3]
    for row, tokens, caches in zip(rows, cached, reckoned, strict=True):
        billed = 5_000 - 0.75 * tokens
        without = (row["saved_tokens"] + billed) * row["sent_tokens"] / 5_000
        assert without == pytest.approx(row["posted_tokens"] * (0.25 if caches else 1), rel=0.1)


async def test_pages_and_filters(base: str, upstream: FakeUpstream) -> None:
    async with logging(base, FakeMemory()) as log:
        for number in range(5):
            on = ON if number % 2 else {}
            await log.chat(**on, **{"user-agent": "codex_cli/1" if number == 4 else "curl/8"})
        every = await log.rows(5)
        pages: list[Any] = []
        cursor: dict[str, str] = {}
        while True:
            answer = (await log.client.get(ROOT, params={"limit": 2, **cursor})).json()
            pages += answer["requests"]
            assert answer["totals"]["requests"] == 5
            if answer["next_cursor"] is None:
                break
            cursor = {"cursor": answer["next_cursor"]}
        assert pages == every
        assert await log.rows(2, state="packed") == [every[1], every[3]]
        assert await log.rows(1, client="codex") == every[:1]
        assert await log.rows(2, since=every[1]["time"]) in (every[:1], every[:2])
        earlier = await log.told(1, until=every[0]["time"])
        assert every[-1] in earlier["requests"]
        assert all(row in every[1:] for row in earlier["requests"])
        assert earlier["totals"]["requests"] == len(earlier["requests"])
        address = every[1]["address"]
        assert await log.rows(2, conversation=address) == [every[1], every[3]]
        assert await log.rows(0, conversation="0" * 64) == []
        assert await log.rows(0, wrap="run-1") == []


@pytest.mark.parametrize(
    ("query", "param"),
    [
        ({"limit": "x"}, "limit"), ({"cursor": "x"}, "cursor"), ({"cursor": "A" * 22}, None),
        ({"since": "yesterday"}, "since"), ({"state": "banana"}, "state"),
        ({"until": "x"}, "until"),
        ({"client": "me"}, "client"), ({"conversation": "12"}, "conversation"),
        ({"wrap": "a b"}, "wrap"), ({"tenant": "x"}, "tenant"),
        ({"cursor": "\u00e9" * 22}, "cursor"),
        ({"cursor": "__________________8"}, "cursor"),
    ],
)  # fmt: skip
async def test_odd_queries(query: dict[str, str], param: str | None) -> None:
    async with logging(None) as log:
        answer = await log.client.get(ROOT, params=query)
    assert (answer.status_code, (answer.json().get("error") or {}).get("param")) == (
        (200, None) if param is None else (400, param)
    )


async def test_tenants_see_their_own() -> None:
    keys = FakeKeys(acme=["A"], other=["B"])
    async with logging(None, keys=keys) as log:
        await log.client.post("/context_memory", json=turn(9), headers={"x-api-key": "A"})
        log.client.headers["x-api-key"] = "A"
        (row,) = await log.rows(1)
        log.client.headers["x-api-key"] = "B"
        assert await log.rows(0) == []
        assert (await log.client.get(f"{ROOT}/{row['id']}")).status_code == 404
        del log.client.headers["x-api-key"]
        assert (await log.client.get(ROOT)).status_code == 401
        assert (await log.client.get(f"{ROOT}/events")).status_code == 401


async def test_errors_lead_to_their_rows(base: str, upstream: FakeUpstream) -> None:
    async with logging(base) as log:
        upstream.mode, upstream.status = "error", 503
        theirs = await log.chat()
        upstream.mode, upstream.answer_status = "bytes", 429
        upstream.answer_body = b'{"error": {"type": "insufficient_quota", "code": "SECRET words"}}'
        quota = await log.chat()
        ours = await log.client.post("/v1/context_memory", json={"messages": 5})
        rows = await log.rows(3)
    told = {row["id"]: (row["status"], row["error_type"], row["state"]) for row in rows}
    assert told == {
        theirs.headers["x-memtree-request"]: (503, "other", "off"),
        quota.headers["x-memtree-request"]: (429, "insufficient_quota", "off"),
        ours.headers["x-memtree-request"]: (400, "invalid_request", None),
    }
    assert ours.json()["error"]["request_id"] == ours.headers["x-memtree-request"]


async def test_every_answer_has_an_id(base: str, upstream: FakeUpstream) -> None:
    """Those that are relayed and those of errors as well; an upstream's own one does not pass."""
    upstream.mode, upstream.answer_headers = "headers", [(b"x-memtree-request", b"theirs")]
    async with logging(base, ui=False) as log:
        answers = [
            await log.client.request(method, path)
            for method, path in (
                ("GET", "/v1/models"), ("GET", "/health"), ("GET", "/nothing"),
                ("PUT", "/v1/memory"), ("POST", CHAT), ("GET", ROOT), ("GET", "/ui"),
            )
        ]  # fmt: skip
        answers.append(await log.chat())
    ids = [answer.headers.get_list("x-memtree-request") for answer in answers]
    assert all(len(each) == 1 and len(each[0]) == 16 for each in ids)
    assert len({each[0] for each in ids}) == len(ids)


async def test_what_is_not_logged(base: str) -> None:
    async with logging(base, FakeMemory()) as log:
        await log.client.post("/context_memory", json=turn(9, index_only=True))
        await log.client.post("/context_memory", json=turn(9, explain=True))
        await log.client.get("/v1/models")
        await log.chat()
        assert len(await log.rows(1)) == 1


async def test_a_deletion_takes_the_log_along(base: str) -> None:
    async with logging(base, FakeMemory()) as log:
        await log.chat()
        await log.rows(1)
        await log.chat(**ON)  # it may wait yet
        assert (await log.client.post("/v1/context_memory/delete", json={"all": True})).is_success
        await log.store.forget("anonymous", None)  # the fake memory has no store
        assert await log.rows(0) == []
        await log.chat()
        assert len(await log.rows(1)) == 1


async def test_without_a_log(base: str) -> None:
    async with edge(base) as client:
        answer = await client.get(ROOT)
        chat = await client.post(CHAT, json=turn(9))
    assert answer.status_code == 403
    assert "requests_log" in answer.json()["error"]["message"]
    assert len(chat.headers["x-memtree-request"]) == 16


async def test_a_wrapped_run_is_found_by_its_id(base: str) -> None:
    async with logging(base) as log:

        async def wrapped(scope: Any, receive: Any, send: Any) -> None:
            scope.setdefault("state", {})["wrap_run"] = "a1b2"
            await log.app(scope, receive, send)

        inside = httpx.ASGITransport(wrapped)
        async with httpx.AsyncClient(transport=inside, base_url="http://edge") as client:
            client.headers.clear()
            await client.post(CHAT, json=turn(9))
            await log.chat()
            await log.rows(1)
            page: dict[str, Any] = {"requests": []}
            async with asyncio.timeout(PATIENCE):
                while not page["requests"]:  # of the tenant `local`
                    page = (await client.get(ROOT, params={"wrap": "a1b2"})).json()
    assert [row["wrap_run"] for row in page["requests"]] == ["a1b2"]
    assert page["totals"]["requests"] == 1


async def test_a_listener_is_told_of_each_request_and_misses_none() -> None:
    store = RamStore()
    built = dataclasses.replace(services(None, FakeMemory()), requests=store, log_pace=0.01)
    with running(create_app(built)) as address:
        async with httpx.AsyncClient(base_url=address, timeout=PATIENCE) as client:

            async def told(**headers: str) -> tuple[int, dict[str, Any]]:
                async with client.stream("GET", f"{ROOT}/events", headers=headers) as answer:
                    assert answer.headers["content-type"] == "text/event-stream"
                    lines = answer.aiter_lines()
                    if not headers:  # it is listening
                        await anext(lines)
                        await client.post("/context_memory", json=turn(9))
                    count = 0
                    async for line in lines:
                        if line.startswith("id: "):
                            count = int(line.removeprefix("id: "))
                        if line.startswith("data: "):
                            return count, json.loads(line.removeprefix("data: "))
                raise AssertionError("the stream ended")

            first, row = await told()
            later = await client.post("/context_memory", json=turn(7))
            count, second = await told(**{"last-event-id": str(first)})
    assert row["dialect"] == "context_memory"
    assert second["id"] == later.headers["x-memtree-request"]
    assert count > first


async def test_all_lengths_of_a_chat_that_is_not_indexed_yet_are_one_conversation(
    base: str, upstream: FakeUpstream
) -> None:
    answering(upstream, USAGE)
    store = RamStore()
    for ends in ((1, 3), (5,)):  # the second server knows the first requests from the log alone
        async with logging(base, real_memory(), store) as log:
            for end in ends:
                await log.chat({"model": "m", "messages": LONG[:end]}, **ON)
                seen = await log.rows(end // 2 + 1)
    async with logging(base, real_memory(), store) as log:
        await log.chat({"model": "m", "messages": LONG[20:21]}, **ON)
        other, *rows = await log.rows(4)
        found = [await log.rows(3, conversation=row["address"]) for row in rows]
        alone = await log.rows(1, conversation=other["address"])
    assert {row["state"] for row in rows} == {"below-threshold"}
    assert rows == seen
    assert len({row["address"] for row in rows}) == 3
    assert {row["conversation"] for row in rows} == {rows[-1]["address"]}
    assert found == [rows] * 3
    assert alone == [other]
