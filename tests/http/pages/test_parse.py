"""`POST /context_memory/parse`: credentials, limits, and nothing that stays."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from typing import Any

import pytest

from memtree.stores import RamStore
from memtree_proxy.imports.posted_file import SMALL
from tests.http.served.fakes import FakeKeys, edge, real_memory, turn

PATH = "/v1/context_memory/parse"
OCTETS = {"content-type": "application/octet-stream"}
CHAT: list[dict[str, Any]] = turn(9)["messages"]


async def test_a_file_becomes_messages_that_can_be_posted():
    async with edge(None, real_memory()) as client:
        answer = await client.post(PATH, content=json.dumps(CHAT), headers=OCTETS)
        (one,) = answer.json()["conversations"]
        posted = await client.post("/context_memory", json={"messages": one["messages"]})
    assert (answer.status_code, posted.status_code) == (200, 200)
    shown = {"title": "message 0", "format": "messages", "messages": CHAT, "belongs": None}
    assert one == {**shown, "notes": []}


@pytest.mark.parametrize("cut", [3, 10])
async def test_an_address_tells_whether_it_belongs(cut: int):
    async with edge(None, real_memory()) as client:
        known = (await client.post("/context_memory", json={"messages": CHAT[:cut]})).json()
        address = known["memory"]["address"]
        for asked in (address, address.upper()):
            path = f"{PATH}?address={asked}"
            answer = await client.post(path, content=json.dumps(CHAT), headers=OCTETS)
            assert answer.json()["conversations"][0]["belongs"] == cut
        other = {**OCTETS, "x-api-key": "another tenant"}
        answer = await client.post(f"{PATH}?address={address}", content=json.dumps(CHAT),
                                   headers=other)  # fmt: skip
        assert answer.json()["conversations"][0]["belongs"] is None
        for wrong in ("", "abc", "x" * 64):
            answer = await client.post(f"{PATH}?address={wrong}", content="[]", headers=OCTETS)
            assert (answer.status_code, answer.json()["error"]["param"]) == (400, "address")


async def test_what_cannot_be_read_is_a_400_with_its_name():
    async with edge(None) as client:
        answer = await client.post(f"{PATH}?name=a.zip", content=b"PK\x03\x04", headers=OCTETS)
        assert answer.status_code == 400
        assert answer.json()["error"]["message"].startswith("a.zip: is a zip")
        assert answer.json()["error"]["param"] is None
        answer = await client.post(PATH, content=b'[{"content": "\xff"}]', headers=OCTETS)
        assert answer.status_code == 400
        answer = await client.post(PATH, content=b"[]", headers={"content-type": "text/plain"})
        assert answer.status_code == 415
        assert "a file with `application/octet-stream`" in answer.json()["error"]["message"]
        answer = await client.post(f"{PATH}?name={'n' * 300}", content=b"[]", headers=OCTETS)
        assert (answer.status_code, answer.json()["error"]["param"]) == (400, "name")
        answer = await client.post(PATH, headers=OCTETS)
        assert answer.status_code == 400
        assert "is empty" in answer.json()["error"]["message"]


async def test_who_may_and_how_much():
    body = json.dumps(CHAT)
    async with edge(None, keys=FakeKeys(acme=["K"]), max_body_bytes=len(body)) as client:
        assert (await client.post(PATH, content=body, headers=OCTETS)).status_code == 401
        keyed = {**OCTETS, "x-api-key": "K"}
        assert (await client.post(PATH, content=body, headers=keyed)).status_code == 200
        assert (await client.post(PATH, content=body + " ", headers=keyed)).status_code == 413
        assert (await client.get(PATH, headers=keyed)).status_code == 405
    async with edge(None, max_messages=5) as client:
        answer = await client.post(PATH, content=body, headers=OCTETS)
    assert answer.status_code == 400


async def test_one_large_file_of_a_tenant_at_a_time():
    body, begun, go_on = json.dumps(CHAT).encode(), asyncio.Event(), asyncio.Event()

    async def unannounced() -> AsyncIterator[bytes]:
        begun.set()
        await go_on.wait()
        yield body

    async with edge(None, keys=FakeKeys(acme=["A"], other=["B"])) as client:
        acme, other = ({**OCTETS, "x-api-key": key} for key in "AB")
        first = asyncio.create_task(client.post(PATH, content=unannounced(), headers=acme))
        await begun.wait()
        refused = await client.post(PATH, content=b" " * (SMALL + 1), headers=acme)
        assert refused.status_code == 429
        assert int(refused.headers["retry-after"]) > 0
        assert (await client.post(PATH, content=body, headers=acme)).status_code == 200
        go_on.set()
        assert (await client.post(PATH, content=unannounced(), headers=other)).status_code == 200
        assert (await first).status_code == 200
        assert (await client.post(PATH, content=unannounced(), headers=acme)).status_code == 200


async def test_nothing_of_it_is_kept(caplog: pytest.LogCaptureFixture):
    store = RamStore()
    secret = [{"role": "user", "content": "a secret of the file"}]
    async with edge(None, real_memory(), tallies=store) as client:
        await client.post(f"{PATH}?name=secret.json", content=json.dumps(secret), headers=OCTETS)
        await client.post(PATH, content=b'{"secret": 1}', headers=OCTETS)
        pending = (await client.get("/v1/context_memory/status")).json()
    assert b"secret" not in store.database.connection.serialize()
    assert pending["pending_tokens"] == 0
    assert not [record for record in caplog.records if "secret" in record.getMessage()]
