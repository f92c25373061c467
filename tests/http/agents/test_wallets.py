"""A wallet's proof in the headers of a request: who it lets in, and whose it makes the wallet."""

from __future__ import annotations

import gzip
import json
from collections.abc import AsyncIterator

import httpx
import pytest
from starlette.requests import Request

from memtree.agents.grant import Chain
from memtree.agents.grant_book import GrantBook
from memtree.errors import Unauthorized
from memtree.stores import RamStore, open_memories
from memtree_proxy.http import request_trace
from memtree_proxy.http.auth import Gate, WalletAccess, tenant_id, wallet_tenant
from memtree_proxy.http.body_budget import BodyBudget, BodyHold
from memtree_proxy.http.headers import WALLET_HEADERS
from tests.http.owned.granting import Granting, granting, refused
from tests.http.served.fakes import FakeKeys
from tests.made.wallets import NOW, FixedClock, Wallet

ADA, BOB = Wallet("Ada"), Wallet("Bob", Chain.SOLANA)
KEYS = {"acme": ["K"], "other": ["L"]}


@pytest.fixture
async def server() -> AsyncIterator[Granting]:
    """Any credential is a tenant."""
    async with granting() as made:
        yield made


@pytest.fixture
async def keyed() -> AsyncIterator[Granting]:
    async with granting(FakeKeys(**KEYS)) as made:
        yield made


@pytest.mark.parametrize("wallet", [ADA, BOB])
async def test_a_proof_binds_the_wallet_to_its_tenant(keyed: Granting, wallet: Wallet):
    answer = await keyed.bind(wallet, "K")
    (row,) = answer.json()["wallets"]
    assert (row["address"], row["chain"]) == (wallet.address, wallet.chain)
    assert len(row["since"]) == len("2026-11-22T14:22:32.000Z")
    assert answer.headers["cache-control"] == "no-store"
    assert await keyed.wallets("K") == [wallet.address]
    assert await keyed.wallets("L") == []


async def test_without_a_proof_nothing_is_bound(keyed: Granting):
    answer = await keyed.ask("POST", "/wallets", key="K")
    assert refused(answer) == (400, "x-wallet-address")
    assert await keyed.wallets("K") == []


async def test_a_wallet_is_one_tenants_until_it_is_released(keyed: Granting):
    await keyed.bind(ADA, "K")
    keyed.clock.time += 1
    assert (await keyed.bind(ADA, "L")).status_code == 409
    foreign = await keyed.ask("DELETE", f"/wallets/{ADA.address}", key="L")
    assert refused(foreign) == (404, "address")
    released = await keyed.ask("DELETE", f"/wallets/{ADA.canonical}", key="K")
    assert released.json() == {"success": True}
    assert await keyed.wallets("K") == []
    keyed.clock.time += 1
    assert (await keyed.bind(ADA, "L")).status_code == 200
    assert await keyed.wallets("L") == [ADA.address]


@pytest.mark.parametrize(
    ("address", "status"), [(BOB.address, 404), ("0x1", 400), ("nothing", 400), ("%2e%2e", 400)]
)
async def test_what_is_not_yours_cannot_be_released(server: Granting, address: str, status: int):
    await server.bind(ADA, "K")
    answer = await server.ask("DELETE", f"/wallets/{address}", key="K")
    assert refused(answer) == (status, "address")


async def test_a_proof_counts_for_one_tenant(keyed: Granting):
    """Its headers may have been copied from a log."""
    copied = ADA.headers("GET", "/wallets", at=NOW)
    for _ in range(2):
        retried = await keyed.ask("GET", "/wallets", key="K", headers=copied)
        assert retried.status_code == 200
    await keyed.ask("DELETE", f"/wallets/{ADA.address}", key="K")
    stolen = await keyed.ask("GET", "/wallets", key="L", headers=copied)
    assert stolen.status_code == 403
    assert await keyed.wallets("L") == []


@pytest.mark.parametrize("path", ["/wallets", "/memories", "/memories/search?query=tea"])
async def test_routes_of_memories_look_at_proofs(keyed: Granting, path: str):
    answer = await keyed.ask("GET", path, key="K", wallet=ADA)
    assert answer.status_code == 200
    assert await keyed.wallets("K") == [ADA.address]
    wrong = await keyed.ask("GET", path, key="K", wallet=ADA, signed_path="/other")
    assert refused(wrong) == (401, "x-wallet-signature")


async def test_another_route_does_not_look_at_them(keyed: Granting):
    answer = await keyed.ask("GET", "/context_memory/status", key="K", wallet=ADA)
    assert answer.status_code == 200
    assert await keyed.wallets("K") == []


@pytest.mark.parametrize("prefix", ["", "/v1", "/api", "/api/v1"])
async def test_the_path_is_signed_as_the_client_knows_it(server: Granting, prefix: str):
    asked = f"{prefix}/memories?limit=3"
    for path in (asked, "/memories?limit=3", "/memories"):
        answer = await server.ask("GET", asked, key="K", wallet=ADA, signed_path=path)
        assert answer.status_code == 200, path


@pytest.mark.parametrize("signed", ["/v1/memories", "/memories?limit=4", "/memories?", "memories"])
async def test_no_other_path_is_taken(server: Granting, signed: str):
    answer = await server.ask("GET", "/memories?limit=3", wallet=ADA, signed_path=signed)
    assert refused(answer) == (401, "x-wallet-signature")


async def test_the_body_is_signed_as_it_was_sent():
    body = {"text": "Ada likes tea."}
    async with granting() as server:
        answer = await server.ask("POST", "/memories", body, wallet=ADA)
        assert answer.status_code == 201
        raw = json.dumps(body).encode()
        packed = gzip.compress(raw)
        headers = {"content-type": "application/json", "content-encoding": "gzip"}
        for signed, status in ((packed, 200), (raw, 401)):
            answer = await server.client.post(
                "/memories",
                content=packed,
                headers={**headers, **ADA.headers("POST", "/memories", signed)},
            )
            assert answer.status_code == status, answer.text


async def test_a_body_over_the_limit_is_refused_before_it_is_hashed():
    async with granting(max_body_bytes=1_000) as server:
        answer = await server.ask("POST", "/memories", {"text": "x" * 2_000}, wallet=ADA)
        assert answer.status_code == 413


async def test_a_header_that_is_missing_or_stands_twice_is_named(server: Granting):
    headers = ADA.headers("GET", "/wallets")
    for name in WALLET_HEADERS:
        others = {other: value for other, value in headers.items() if other != name}
        for given in (others, [*headers.items(), (name, headers[name])]):
            assert refused(await server.client.get("/wallets", headers=given)) == (400, name)


@pytest.mark.parametrize("away", [-121, 121])
async def test_a_proof_of_another_time_does_not_count(server: Granting, away: float):
    headers = ADA.headers("GET", "/wallets", at=NOW + away)
    answer = await server.ask("GET", "/wallets", headers=headers)
    assert refused(answer) == (401, "x-wallet-timestamp")


# -- without another credential --------------------------------------------------------------


async def test_without_keys_a_proof_is_a_credential():
    async with granting(host="0.0.0.0", open=True) as server:
        saved = await server.ask("POST", "/v1/memories", {"text": "Ada likes tea."}, wallet=ADA)
        assert saved.status_code == 201
        server.clock.time += 60
        listed = await server.ask("GET", "/v1/memories", wallet=ADA)
        assert len(listed.json()["memories"]) == 1
        assert (await server.ask("GET", "/v1/memories", wallet=BOB)).json()["memories"] == []
        assert await server.wallets(wallet=ADA) == [ADA.address]
        assert (await server.ask("GET", "/v1/memories")).status_code == 401


async def test_with_keys_a_proof_alone_is_not(keyed: Granting):
    for headers in ({}, {"x-api-key": "wrong"}):
        answer = await keyed.ask("GET", "/wallets", wallet=ADA, headers=headers)
        assert answer.status_code == 401
    assert await keyed.wallets("K") == []


async def test_nobody_is_a_wallet_by_its_address(server: Granting):
    """Addresses are public, and any bearer is a tenant of its own without keys."""
    await server.ask("POST", "/memories", {"text": "Ada likes tea."}, wallet=ADA)
    for key in (ADA.canonical, f"wallet:{ADA.canonical}", wallet_tenant(ADA.canonical)):
        assert (await server.ask("GET", "/memories", key=key)).json()["memories"] == []
        assert tenant_id(key) != wallet_tenant(ADA.canonical)


async def test_a_proof_that_does_not_hold_is_nobody(server: Granting):
    await server.ask("POST", "/memories", {"text": "Ada likes tea."}, wallet=ADA)
    headers = ADA.headers("GET", "/memories")
    headers["x-wallet-signature"] = Wallet("Eve").sign("x")
    answer = await server.ask("GET", "/memories", headers=headers)
    assert refused(answer) == (401, "x-wallet-signature")


async def test_a_wallet_of_another_tenant_does_not_come_in_as_its_own(server: Granting):
    await server.bind(ADA, "K")
    server.clock.time += 1
    assert (await server.ask("GET", "/memories", wallet=ADA)).status_code == 409


@pytest.mark.usefixtures("rates_without_time")
async def test_wallets_are_counted_as_tenants_are():
    async with granting(requests_per_minute=2) as server:
        for turn, status in enumerate((200, 200, 429)):
            server.clock.time = NOW + turn
            assert (await server.ask("GET", "/memories", wallet=ADA)).status_code == status
        assert (await server.ask("GET", "/memories", wallet=BOB)).status_code == 200


async def test_a_stream_outlives_its_proof_and_not_the_open_server():
    """Streams of events and exports ask again whether they are let in still."""
    clock, now, keys = FixedClock(), [0.0], FakeKeys()
    book = GrantBook(open_memories(RamStore()), clock)
    gate = Gate(keys, True, lambda: now[0], wallets=WalletAccess(book, 1_000))
    headers = httpx.Headers(ADA.headers("GET", "/memories/events")).raw
    scope = {"type": "http", "method": "GET", "path": "/memories/events", "query_string": b"",
             "headers": headers}  # fmt: skip
    request_trace.begin(scope)
    scope[BodyHold.KEY] = hold = BodyHold(BodyBudget(1_000))

    async def receive() -> dict[str, object]:
        return {"type": "http.request", "body": b"", "more_body": False}

    request = Request(scope, receive)
    assert (await gate.memory_tenant(request)).id == wallet_tenant(ADA.canonical)
    assert hold.tenant == wallet_tenant(ADA.canonical)
    clock.time += 3_600
    now[0] += 3_600
    found = await gate.memory_tenant(request, counted=False)
    assert found.id == wallet_tenant(ADA.canonical)
    await keys.add_key("late", ["L"])
    now[0] += 3_600
    with pytest.raises(Unauthorized):
        await gate.memory_tenant(request, counted=False)
