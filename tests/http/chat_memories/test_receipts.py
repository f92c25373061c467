"""Hold what the log says was saved against what a provider bills: it counts by a tokenizer of its
own, caches the beginnings of prompts itself, and is asked once with memory and once without."""

from __future__ import annotations

import dataclasses
import json
from typing import Any

import httpx
import pytest

from memtree.budget.prices import Prices
from memtree.stores import RamStore
from memtree.text import tokens
from memtree_proxy.server.app import create_app
from tests.http.served.fakes import real_memory, services
from tests.http.served.running import running
from tests.http.served.upstream import JSON, reply
from tests.programs.sessions import chat

PRICES = Prices(write=1.0, read=0.1)
SYSTEM = {"role": "system", "content": "Answer in one sentence. " * 40}
TALK = chat(161, words=120)


class BillingProvider:
    """Caches each prompt, message by message. `tells`: usage names cached tokens. `bill`: in
    uncached input tokens of its own; it counts `more` than others do."""

    def __init__(self, more: float = 1.0, *, tells: bool = True) -> None:
        self.more, self.tells = more, tells
        self.bill = 0.0
        self.known: set[tuple[str, ...]] = set()

    def ask(self, messages: list[Any]) -> dict[str, Any]:
        texts = tuple(json.dumps(message, sort_keys=True) for message in messages)
        sizes = [round(self.more * (tokens.count(str(each["content"])) + 4)) for each in messages]
        cached = next((end for end in range(len(texts), 0, -1) if texts[:end] in self.known), 0)
        self.known.update(texts[:end] for end in range(1, len(texts) + 1))
        read, whole = sum(sizes[:cached]), sum(sizes)
        self.bill += PRICES.cost(read, whole - read)
        usage = {"prompt_tokens": whole, "completion_tokens": 5}
        return {**usage, "prompt_tokens_details": {"cached_tokens": read}} if self.tells else usage

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        body = b""
        while True:
            message = await receive()
            body += message.get("body", b"")
            if not message.get("more_body"):
                break
        usage = self.ask(json.loads(body)["messages"])
        said = {"role": "assistant", "content": "yes"}
        told = {"choices": [{"message": said}], "usage": usage}
        await reply(send, 200, JSON, json.dumps(told).encode())


@pytest.mark.parametrize(
    ("more", "tells", "first"),
    [(1.0, True, 3), (1.25, True, 3), (1.0, False, 3), (1.1, True, 131)],
    ids=["the same tokens", "more tokens", "it does not tell", "begun long ago"],
)
async def test_receipt_and_bill_agree(more: float, tells: bool, first: int) -> None:
    store = RamStore()
    provider, other = BillingProvider(more, tells=tells), BillingProvider(more)
    with running(provider) as address:
        built = services(address + "/v1", real_memory(), prices=("*=1/0.1",))
        built = dataclasses.replace(built, requests=store, tallies=store, log_pace=0.01)
        app = create_app(built)
        transport = httpx.ASGITransport(app)
        async with (
            app.router.lifespan_context(app),
            httpx.AsyncClient(transport=transport, base_url="http://edge") as client,
        ):
            client.headers.clear()
            for end in range(first, len(TALK) + 1, 2):
                messages = [SYSTEM, *TALK[:end]]
                other.ask(messages)
                body = {"model": "some", "messages": messages, "target_tokens": 6_000,
                        "memory": True, "mode": "stable"}  # fmt: skip
                answer = await client.post("/v1/chat/completions", json=body)
                assert answer.status_code == 200
            usage = (await client.get("/v1/usage")).json()
            metrics = (await client.get("/metrics")).text
        await built.upstreams.close()
    rows = await store.requests("anonymous", 1_000)
    receipt = sum(row.saved_tokens for row in rows)
    counted = dict(line.split(" ") for line in metrics.splitlines() if "folding_" in line[:20])
    # Every surface says the same.
    assert usage["saved_tokens"] == usage["daily"][-1]["saved_tokens"] == receipt
    assert receipt == rows[0].saved_before + rows[0].saved_tokens
    assert receipt == float(counted["memtree_folding_saved_tokens_total"]) - float(
        counted["memtree_folding_lost_tokens_total"]
    )
    assert any(row.state == "packed" for row in rows)
    # And what the bills say.
    saved = other.bill - provider.bill
    assert abs(receipt - saved) <= 0.02 * other.bill
    if tells:
        assert abs(receipt - saved) <= 0.02 * max(abs(saved), 0.5 * other.bill), (receipt, saved)
