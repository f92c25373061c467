"""Wallets and grants of two servers over one store: what one has seen, the other knows at once."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import httpx
import pytest

from memtree.agents.grant import Chain
from memtree.agents.grant_json import grant_json, header_of
from tests.made.wallets import Wallet
from tests.programs.server import Server

pytestmark = pytest.mark.slow

TURNS = 4


@pytest.fixture(scope="module")
def servers(tmp_path_factory: pytest.TempPathFactory) -> Iterator[list[Server]]:
    store = tmp_path_factory.mktemp("two") / "m.db"
    flags = "--upstream", "none", "--embedder", "none", "--no-index-processes"  # no chat comes
    made = [Server(store, *flags) for _ in range(2)]
    yield made
    for server in made:
        server.stop()


def bind(server: Server, tenant: str, headers: dict[str, str]) -> int:
    given = {**headers, "authorization": f"Bearer {tenant}"}
    answer = httpx.post(f"{server.url}/v1/wallets", headers=given, timeout=60, trust_env=False)
    return answer.status_code


def proof(wallet: Wallet) -> dict[str, str]:
    return wallet.headers("POST", "/wallets", at=time.time())


def owners(server: Server, wallet: Wallet, *tenants: str) -> list[str]:
    return [
        tenant
        for tenant in tenants
        for row in server.get("/v1/wallets", authorization=f"Bearer {tenant}").json()["wallets"]
        if row["address"] == wallet.address
    ]


def test_of_two_tenants_at_once_one_gets_the_wallet(servers: list[Server]) -> None:
    with ThreadPoolExecutor(2) as pool:
        for turn in range(TURNS):
            wallet = Wallet(f"raced {turn}", list(Chain)[turn % 2])
            given = [proof(wallet), wallet.headers("POST", "/v1/wallets", at=time.time() - 1)]
            found = list(pool.map(bind, servers, ("first", "second"), given))
            assert sorted(found) == [200, 409]
            winner = ("first", "second")[found.index(200)]
            for server in servers:
                assert owners(server, wallet, "first", "second") == [winner]


@pytest.mark.long
def test_of_two_tenants_that_use_one_proof_one_is_let_in(servers: list[Server]) -> None:
    outcomes: Counter[int] = Counter()
    with ThreadPoolExecutor(2) as pool:
        for turn in range(TURNS):
            wallet = Wallet(f"copied {turn}")
            outcomes.update(pool.map(bind, servers, ("first", "second"), [proof(wallet)] * 2))
            assert len(owners(servers[0], wallet, "first", "second")) == 1
    assert outcomes == {200: TURNS, 403: TURNS}


def test_a_proof_that_one_server_has_seen_counts_for_nobody_else_at_the_other(
    servers: list[Server],
) -> None:
    wallet, other = Wallet("seen"), servers[1]
    headers = proof(wallet)
    assert bind(servers[0], "first", headers) == 200
    released = httpx.delete(
        f"{servers[0].url}/v1/wallets/{wallet.address}",
        headers={"authorization": "Bearer first"}, timeout=60, trust_env=False,
    )  # fmt: skip
    assert released.status_code == 200
    assert bind(other, "second", headers) == 403
    assert bind(other, "first", headers) == 200


def test_a_revocation_counts_everywhere_at_once(servers: list[Server]) -> None:
    ada, bob = Wallet("Ada"), Wallet("Bob", Chain.SOLANA)
    assert bind(servers[0], "ada", proof(ada)) == 200
    assert bind(servers[1], "bob", proof(bob)) == 200
    for turn in range(TURNS):
        grant = ada.grant(bob, expires=time.time() + 600, agent=f"agent-{turn}")
        query = "/v1/memories/search?query=tea&scope=shared"
        headers = {"authorization": "Bearer bob", "x-grants": header_of([grant])}
        for server in servers:
            assert server.get(query, **headers).status_code == 200
        servers[turn % 2].post(
            "/v1/grants/revoke", {"grant": grant_json(grant)}, authorization="Bearer ada"
        )
        for server in servers:
            answer = server.get(query, **headers)
            assert answer.status_code == 403
            assert answer.json()["error"]["message"] == "x-grants: grant 1: it was revoked"
