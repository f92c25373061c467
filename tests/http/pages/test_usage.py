"""`GET /usage`: what metrics say, by tenant and day, and nobody else's."""

from __future__ import annotations

import dataclasses
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, date, datetime, time, timedelta
from pathlib import Path
from typing import Any

import httpx
import pytest
from prometheus_client.parser import text_string_to_metric_families

from memtree.clock import day_of
from memtree.context.answer_state import State
from memtree.errors import ContextOverflow, StoreUnavailable
from memtree.ports.context_store import Store
from memtree.ports.indexing_stages import Pending
from memtree.stores import RamStore, open_store
from tests.http.served.fakes import FakeKeys, FakeMemory, client_of, raising, services, turn
from tests.programs.server import Server

ON = {"x-polychat-memory": "on"}
GAINS = (100, -20, 3, 0, -1)


@asynccontextmanager
async def opened(
    base: str | None, memory: FakeMemory | None = None, store: Any = None, **changes: Any
) -> AsyncIterator[httpx.AsyncClient]:
    """An app with its beginning and its end."""
    own = store or RamStore()
    built = dataclasses.replace(services(base, memory, **changes), tallies=own)
    async with client_of(built, lives=True) as client:
        yield client


async def usage(client: httpx.AsyncClient, days: int | str = 30, **headers: str) -> dict[str, Any]:
    answer = await client.get(f"/v1/usage?days={days}", headers=headers)
    assert answer.status_code == 200, answer.text
    found: dict[str, Any] = answer.json()
    return found


async def metrics(client: httpx.AsyncClient) -> dict[str, float]:
    found: dict[str, float] = {}
    for family in text_string_to_metric_families((await client.get("/metrics")).text):
        for one in family.samples:
            found[one.name] = found.get(one.name, 0.0) + one.value
    return found


async def test_before_anything_came():
    before = datetime.now(UTC).date()
    async with opened(None) as client:
        found = await usage(client)
    today = date.fromisoformat(found["period"]["last"])
    assert before <= today <= datetime.now(UTC).date()  # the day may have ended meanwhile
    assert found.pop("daily") == [
        {
            "date": (today - timedelta(days=ago)).isoformat(),
            "requests": {}, "raw_tokens": 0, "sent_tokens": 0, "saved_tokens": 0,
        }
        for ago in range(29, -1, -1)
    ]  # fmt: skip
    assert found == {
        "period": {
            "first": (today - timedelta(days=29)).isoformat(), "last": today.isoformat(),
            "days": 30, "timezone": "UTC",
        },
        "requests": {"total": 0, "by_state": {}}, "raw_tokens": 0, "sent_tokens": 0,
        "saved_tokens": 0, "saved_money": None, "pending": {"tokens": 0, "jobs": 0},
        "latency_ms": {"p50": None, "p95": None},
    }  # fmt: skip


async def test_usage_and_metrics_say_the_same(base: str):
    memory = FakeMemory()
    raw = sent = 0
    async with opened(base, memory) as client:
        for gain in GAINS:
            memory.told = {"gain": gain}
            answer = (await client.post("/context_memory", json=turn(9))).json()
            raw, sent = raw + answer["usage"]["prompt_tokens"], sent + 20
        memory.told = {}
        chat = await client.post("/v1/chat/completions", json=turn(9), headers=ON)
        raw += int(chat.headers["x-memtree-raw-tokens"])
        sent += int(chat.headers["x-memtree-sent-tokens"])
        memory.waiting = Pending(700, 2)
        found, counted = await usage(client), await metrics(client)
    assert found["requests"] == {"total": 6, "by_state": {"packed": 6}}
    assert (found["raw_tokens"], found["sent_tokens"]) == (raw, sent)
    assert found["raw_tokens"] == counted["memtree_raw_tokens_total"]
    assert found["sent_tokens"] == counted["memtree_sent_tokens_total"]
    saved = counted["memtree_folding_saved_tokens_total"]
    assert (saved, counted["memtree_folding_lost_tokens_total"]) == (103, 21)
    assert found["saved_tokens"] == round(sum(GAINS))
    assert found["pending"] == {"tokens": 700, "jobs": 2}
    assert 0 < found["latency_ms"]["p50"] <= found["latency_ms"]["p95"]
    assert found["daily"][-1] == {
        "date": found["period"]["last"], "requests": {"packed": 6}, "raw_tokens": raw,
        "sent_tokens": sent, "saved_tokens": found["saved_tokens"],
    }  # fmt: skip


async def test_states_and_what_does_not_count(base: str):
    memory = FakeMemory()
    async with opened(base, memory) as client:
        await client.post("/v1/chat/completions", json=turn(9))  # memory is off
        await client.post("/context_memory", json=turn(9, index_only=True))
        await client.post("/context_memory", json=turn(9, explain=True))
        await client.post("/context_memory/tree", json=turn(9))
        await client.post("/context_memory", json={"messages": 5})
        await client.get("/v1/models")
        await client.post("/context_memory", json=turn(1))
        await client.post("/v1/chat/completions", content=b"no json", headers=ON)
        for error in (KeyError("x"), ContextOverflow(100, 10)):
            memory.before = raising(error)
            await client.post("/v1/chat/completions", json=turn(9), headers=ON)
        found = await usage(client)
    assert found["requests"]["by_state"] == {
        "below-threshold": 1, "degraded:internal": 1, "degraded:invalid-history": 1, "refused": 1,
    }  # fmt: skip
    assert found["requests"]["total"] == 4
    assert found["raw_tokens"] == found["sent_tokens"] + 10 > 10  # what is refused was posted
    assert found["saved_tokens"] == 0


async def test_a_balance_may_be_negative():
    memory = FakeMemory()
    memory.told = {"gain": -5_000}
    async with opened(None, memory) as client:
        await client.post("/context_memory", json=turn(9))
        found = await usage(client)
    assert found["saved_tokens"] == found["daily"][-1]["saved_tokens"] == -5_000


async def test_money_where_a_price_is_known(base: str):
    memory = FakeMemory()
    memory.told = {"gain": 400_000}
    prices = ("gpt-5=2.5", "mine=0")
    async with opened(base, memory, input_prices=prices) as client:
        for model in ("gpt-5-mini", "openai/gpt-5", "other"):
            await client.post("/context_memory", json=turn(9, model=model))
        assert (await usage(client))["saved_money"] == {"amount": 2.0, "requests": 2}
        memory.told = {"gain": -100_000}
        for model in ("gpt-5", "mine", "other"):
            body = turn(9, model=model)
            await client.post("/v1/chat/completions", json=body, headers=ON)
        found = await usage(client)
        await client.post("/context_memory", json={"messages": turn(9)["messages"]})
        assert (await usage(client))["saved_money"] == found["saved_money"]  # it names no model
    assert found["saved_money"] == {"amount": 1.75, "requests": 4}
    assert found["saved_tokens"] == 900_000


async def test_tenants_see_their_own():
    keys = FakeKeys(acme=["A"], other=["B"])
    async with opened(None, keys=keys) as client:
        for key, times in (("A", 3), ("B", 1)):
            for _ in range(times):
                await client.post("/context_memory", json=turn(9), headers={"x-api-key": key})
        totals = [
            (await usage(client, **{"x-api-key": key}))["requests"]["total"] for key in ("A", "B")
        ]
        refused = await client.get("/v1/usage")
        wrong = await client.get("/v1/usage?tenant=other", headers={"x-api-key": "C"})
    assert totals == [3, 1]
    assert (refused.status_code, wrong.status_code) == (401, 401)


async def test_a_deletion_leaves_the_numbers():
    async with opened(None) as client:
        await client.post("/context_memory", json=turn(9))
        await client.post("/context_memory/delete", json={"all": True})
        assert (await usage(client))["requests"]["total"] == 1


@pytest.mark.parametrize(
    ("asked", "days"),
    [("1", 1), ("400", 400)],
)
async def test_days(asked: str, days: int):
    async with opened(None) as client:
        found = await usage(client, asked)
    assert found["period"]["days"] == len(found["daily"]) == days
    first, last = (date.fromisoformat(found["period"][name]) for name in ("first", "last"))
    assert (last - first).days == days - 1
    assert [found["daily"][0]["date"], found["daily"][-1]["date"]] == [
        first.isoformat(), last.isoformat(),
    ]  # fmt: skip


async def test_a_time_zone_that_is_not_known_and_days_without_a_log():
    async with opened(None) as client:
        answer = await client.get("/v1/usage?timezone=Atlantis")
        assert (answer.status_code, answer.json()["error"]["param"]) == (400, "timezone")
        found = (await client.get("/v1/usage?timezone=Pacific/Kiritimati")).json()
    assert found["period"]["timezone"] == "UTC"  # there is no log here


async def test_old_days_are_left_out():
    store = RamStore()
    async with opened(None, store=store) as client:
        today = date.fromisoformat((await usage(client))["period"]["last"])
        for ago in (0, 6, 7):
            day = day_of(datetime.combine(today, time(), UTC).timestamp()) - ago
            await store.add("anonymous", day, {"usage.raw_tokens": 10**ago})
        for days, tokens in ((7, 1 + 10**6), (8, 1 + 10**6 + 10**7)):
            found = await usage(client, days)
            if found["period"]["last"] == today.isoformat():  # it may have ended meanwhile
                assert found["raw_tokens"] == tokens


class Broken:
    """A store whose tallies cannot be reached."""

    def __getattr__(self, name: str) -> Any:
        async def fail(*_: Any) -> Any:
            raise StoreUnavailable("the store is gone")

        return fail


async def test_a_store_that_fails_costs_no_answer():
    async with opened(None, store=Broken()) as client:
        for _ in range(3):
            answer = await client.post("/context_memory", json=turn(9))
            assert answer.status_code == 200
        refused = await client.get("/v1/usage")
    assert refused.status_code == 503
    assert refused.json()["error"]["code"] == "store_unavailable"


async def test_what_was_counted_is_there_after_the_end(tmp_path: Path):
    store: Store = open_store(f"sqlite:///{tmp_path}/m.db")
    for _ in range(2):
        async with opened(None, store=store) as client:
            await client.post("/context_memory", json=turn(9))
    async with opened(None, store=store) as client:
        assert (await usage(client))["requests"] == {"total": 2, "by_state": {"packed": 2}}
    await store.close()


async def test_nothing_but_numbers_is_stored():
    store = RamStore()
    async with opened(None, store=store, input_prices=("secret-model=1",)) as client:
        secret = {"authorization": "Bearer sk-secret"}
        await client.post("/context_memory", json=turn(9, model="secret-model"), headers=secret)
    rows = store.database.connection.execute("SELECT * FROM tallies").fetchall()
    names = {name for _, _, name, _ in rows}
    assert names
    allowed = ("usage.requests.", "usage.raw_", "usage.sent_", "usage.saved_", "usage_")
    assert all(name.startswith(allowed) for name in names)
    assert "secret" not in repr(rows)


@pytest.mark.slow
def test_a_server_that_is_stopped_writes_what_it_counted(tmp_path: Path):
    path = tmp_path / "m.db"
    server = Server(path, "--upstream", "", "--embedder", "none")
    server.post("/v1/context_memory", turn(9))
    assert server.get("/v1/usage").json()["requests"]["total"] == 1
    assert server.stop() == 0
    server = Server(path, "--upstream", "", "--embedder", "none")
    try:
        found = server.get("/v1/usage").json()
        assert found["requests"] == {"total": 1, "by_state": {str(State.BELOW_THRESHOLD): 1}}
    finally:
        server.stop()
