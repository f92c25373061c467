"""Searches in what another tenant shares by grants."""

from __future__ import annotations

from typing import Any

import pytest

from memtree.agents.grant import Chain, SignedGrant
from memtree.agents.grant_json import HEADER, header_of
from memtree.memories.scope import Scope
from memtree_proxy.http.auth import tenant_id
from tests.fakes import HashingEmbedder
from tests.http.owned.kinds import Users, users
from tests.http.wire.documented import check_answer
from tests.made.saved_memories import save
from tests.made.wallets import Wallet

ADA, BOB, EVE = Wallet("Ada"), Wallet("Bob", Chain.SOLANA), Wallet("Eve")
GRANTOR = tenant_id("grantor")
EMBEDDER = HashingEmbedder()
CANARY = "The canary sings at 8090 Linden Street"


@pytest.fixture
async def served():
    """Ada's memories are the grantor's; Bob is who asks."""
    async with users(HashingEmbedder()) as made:
        for wallet, tenant in ((ADA, GRANTOR), (BOB, made.tenant), (EVE, tenant_id("eve"))):
            digest = wallet.name.encode()
            await made.opened.store.prove_wallet(wallet.canonical, tenant, digest, 2e9)
        for agent, subject in (("researcher", ""), ("researcher", "alice"), ("other", "")):
            await keep(made, f"{CANARY} {agent} {subject}", agent, subject)
        await save(made.opened.store, Scope.of_user(GRANTOR), f"{CANARY} user", EMBEDDER)
        await save(made.opened.store, Scope.of_chat(GRANTOR, "researcher"), CANARY, EMBEDDER)
        yield made


async def keep(of: Users, text: str, agent: str, subject: str = "", tenant: str = GRANTOR) -> Any:
    scope = Scope.of_agent(tenant, agent, subject)
    return await save(of.opened.store, scope, text, EMBEDDER, kind="Note", data={"text": text})


def header(*grants: SignedGrant) -> dict[str, str]:
    return {HEADER: header_of(list(grants))}


async def search(of: Users, *grants: SignedGrant, status: int = 200, **query: Any) -> Any:
    given = {"query": "canary", **query}
    answer = await of.ask("GET", "/search", params=given, headers=header(*grants))
    assert answer.status_code == status, answer.text
    check_answer("/memories/search", "get", answer)
    return answer.json()


async def said(of: Users, *grants: SignedGrant, **query: Any) -> set[str]:
    rows = (await search(of, *grants, **query))["memories"]
    return {row["data"]["text"].removeprefix(CANARY).strip() for row in rows}


EVERY = {"researcher", "researcher alice", "other"}


async def test_a_grant_opens_what_it_names_and_a_request_narrows_it(served):
    """And of a user or a chat nothing."""
    researcher = {"researcher", "researcher alice"}
    for grant, query, expected in (
        ({}, {}, EVERY),
        ({}, {"agentId": "*"}, EVERY),
        ({}, {"agentId": "researcher"}, researcher),
        ({}, {"agentId": "researcher", "subjectId": "alice"}, {"researcher alice"}),
        ({}, {"agentId": "researcher", "subjectId": "bob"}, set()),
        ({"agent": "researcher"}, {}, researcher),
        ({"agent": "researcher"}, {"agentId": "other"}, set()),
        ({"subject": "alice"}, {}, {"researcher alice"}),
        ({"subject": "alice"}, {"agentId": "researcher"}, {"researcher alice"}),
        ({"subject": "alice"}, {"agentId": "*", "subjectId": "bob"}, set()),
        ({"agent": "researcher", "subject": "alice"}, {}, {"researcher alice"}),
    ):
        given = ADA.grant(BOB, **grant)
        for scope in ({"scope": "shared"}, {}):
            assert await said(served, given, **scope, **query) == expected, (grant, query)
        assert await said(served, given, scope="own", **query) == set()


async def test_a_shared_row_tells_whose_it_is_and_own_ones_stand_beside_it(served):
    await keep(served, f"{CANARY} mine", "researcher", "", served.tenant)
    answer = await search(served, ADA.grant(BOB), agentId="researcher")
    rows = answer["memories"]
    assert "warnings" not in answer
    whose = {(row["source"], row["agentId"], row["subjectId"]) for row in rows}
    assert whose == {
        ("own", "researcher", None),
        ("shared:researcher", "researcher", None),
        ("shared:researcher", "researcher", "alice"),
    }


async def test_several_grants_show_a_memory_once(served):
    given = [ADA.grant(BOB, agent="researcher"), ADA.grant(BOB, subject="alice"), ADA.grant(BOB)]
    rows = (await search(served, *given, scope="shared"))["memories"]
    assert len({row["id"] for row in rows}) == len(rows) == 3


async def test_nobody_looks_at_grants_where_ones_own_memories_are_meant(served):
    given = {"query": "canary", "scope": "own"}
    answer = await served.ask("GET", "/search", params=given, headers={HEADER: "no base64!"})
    assert answer.status_code == 200
    answer = await served.ask("GET", "/search", params={"query": "x"}, headers={HEADER: "?"})
    assert answer.status_code == 400


async def test_a_batch_takes_grants_for_all_its_searches(served):
    queries = [
        {"query": "canary", "filters": {"agentId": "researcher"}},
        {"query": "canary", "filters": {"agentId": "other"}},
        {"query": "canary"},
    ]
    for scope, counts in (("all", [2, 1, 3]), ("shared", [2, 1, 3]), ("own", [0, 0, 0])):
        body = {"queries": queries, "scope": scope}
        answer = await served.ask(
            "POST", "/batch/search", json=body, headers=header(ADA.grant(BOB))
        )
        check_answer("/memories/batch/search", "post", answer)
        assert [len(one["memories"]) for one in answer.json()["results"]] == counts
    body = {"queries": queries, "scope": "shared"}
    assert (await served.ask("POST", "/batch/search", json=body)).status_code == 400
    answer = await served.ask("POST", "/batch/search", json=body, headers=header(ADA.grant(EVE)))
    assert answer.status_code == 403
