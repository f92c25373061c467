"""How the document at `/openapi.json` is served, and to whom."""

from __future__ import annotations

import json
from typing import Any

from memtree.config import Settings
from memtree_proxy.wire.document import document
from tests.http.served.fakes import edge
from tests.http.wire.documented import DOCUMENT


async def test_it_is_served_at_the_root_to_anybody(base: str, upstream: Any):
    async with edge(base, host="0.0.0.0") as client:
        answer = await client.get("/openapi.json")
        others = [await client.head("/openapi.json"), await client.post("/openapi.json")]
    assert answer.headers["content-type"] == "application/json"
    assert answer.json() == document(Settings(host="0.0.0.0"))
    assert answer.text.startswith('{\n  "openapi": "3.1')
    assert [one.status_code for one in others] == [200, 405]
    assert not upstream.seen


async def test_beyond_loopback_a_credential_is_not_optional():
    assert {} in DOCUMENT["security"]
    assert {} not in document(Settings(host="0.0.0.0"))["security"]
    shown = document(Settings(metrics_key="operator-9"))
    assert {} not in shown["paths"]["/metrics"]["get"]["security"]
    assert "operator-9" not in json.dumps(shown)


async def test_under_a_prefix_it_is_the_upstreams(base: str, upstream: Any):
    async with edge(base) as client:
        await client.get("/v1/openapi.json")
    assert upstream.last.path == b"/up/v1/openapi.json"
