"""Check what a search finds by the grants of its request, and what no grant opens."""

from __future__ import annotations

import json
from typing import Any

import pytest

from memtree.agents.grant import Chain, SignedGrant
from memtree.agents.grant_json import header_of
from memtree.jobs import agent_services
from memtree.memories.memory import MemoryChange
from memtree.memories.scope import Scope
from memtree.stores import RamStore
from memtree_proxy.http.auth import tenant_id
from tests.fakes import HashingEmbedder
from tests.http.owned.granting import refused
from tests.http.owned.kinds import Users, users
from tests.http.served.fakes import AnsweringModel
from tests.made.saved_memories import save
from tests.made.wallets import Wallet

EMBEDDER = HashingEmbedder()
CANARY = "The canary sings at 8090 Linden Street"
ADA, BOB, EVE = Wallet("Ada"), Wallet("Bob", Chain.SOLANA), Wallet("Eve")
OWNERS = {ADA: "ada", BOB: "bob", EVE: "eve"}


class Sharing:
    """Three tenants, each with a wallet; the memories are Ada's unless a key is named."""

    def __init__(self, served: Users) -> None:
        self.served, self.store, self.clock = served, served.opened.store, served.opened.clock

    async def bind(self) -> None:
        for wallet, key in OWNERS.items():
            headers = wallet.headers("POST", "/wallets", at=self.clock.time)
            headers["authorization"] = f"Bearer {key}"
            answer = await self.served.client.post("/v1/wallets", headers=headers)
            assert answer.status_code == 200, answer.text

    async def keep(
        self, text: str = CANARY, agent: str = "a", subject: str = "", key: str = "ada", **more: Any
    ) -> str:
        scope = Scope.of_agent(tenant_id(key), agent, subject)
        given = {"kind": "Note", "data": {"text": text}} | more
        return (await save(self.store, scope, text, EMBEDDER, **given)).id

    def grant(self, *, seconds: float = 60, to: Wallet = BOB, **limits: Any) -> SignedGrant:
        return ADA.grant(to, expires=self.clock.time + seconds, **limits)

    async def only(self, said: str) -> str:
        """A memory that takes the place of the one before: its kind stands once."""
        headers = {"authorization": "Bearer ada"}
        schema = {"json_schema": {"type": "object"}, "uniqueOn": ["kind"]}
        put = await self.served.client.put("/v1/schemas/Only", json=schema, headers=headers)
        assert put.status_code in (200, 201), put.text
        memories = [{"kind": "Only", "data": {"text": f"{CANARY} {said}"}}]
        posted = {"agentId": "a", "memories": memories}
        answer = await self.served.ask("POST", "", headers=headers, json=posted)
        (row,) = answer.json()["created"] + answer.json()["updated"]
        id_: str = row["id"]
        return id_

    async def ask(self, *grants: SignedGrant, key: str = "bob", **query: Any) -> Any:
        headers = {"authorization": f"Bearer {key}"}
        if grants:
            headers["x-grants"] = header_of(list(grants))
        return await self.served.ask(
            "GET", "/search", headers=headers, params={"query": "canary", **query}
        )

    async def found(self, *grants: SignedGrant, **query: Any) -> list[str]:
        answer = await self.ask(*grants, **{"scope": "shared", **query})
        assert answer.status_code == 200, answer.text
        return [row["id"] for row in answer.json()["memories"]]


@pytest.fixture
async def sharing():
    async with users(HashingEmbedder()) as served:
        made = Sharing(served)
        await made.bind()
        yield made


async def test_what_is_gone_is_not_opened(sharing: Sharing):
    """Deleted, superseded or expired: before the grant was given, or after."""
    scope = Scope.of_agent(tenant_id("ada"), "a")
    deleted, expired = await sharing.keep(), await sharing.keep(f"{CANARY} today")
    kept = await sharing.keep(f"{CANARY} for ever")
    older = await sharing.only("first")
    grant = sharing.grant(seconds=10_000)
    assert len(await sharing.found(grant)) == 4
    await sharing.store.change(
        scope, expired, MemoryChange(sharing.clock.time, expires=sharing.clock.time + 60)
    )
    await sharing.store.delete(scope, [deleted])
    newer = await sharing.only("second")
    sharing.clock.time += 120
    for query in ({}, {"agentId": "a"}, {"include_superseded": "true"}):
        assert set(await sharing.found(grant, **query)) == {kept, newer}, query
    assert older != newer


async def test_a_grant_opens_nothing_but_searches(sharing: Sharing):
    id_ = await sharing.keep()
    headers = {"authorization": "Bearer bob", "x-grants": header_of([sharing.grant()])}
    for method, path, posted in (
        ("GET", f"/{id_}", None),
        ("GET", f"/{id_}/history", None),
        ("DELETE", f"/{id_}", None),
        ("PATCH", f"/{id_}", {"tags": ["x"]}),
    ):
        answer = await sharing.served.ask(method, path, headers=headers, json=posted)
        assert answer.status_code == 404, (method, path)
        assert CANARY not in answer.text
    for path in ("", "/export"):
        answer = await sharing.served.ask("GET", path, headers=headers)
        assert CANARY not in answer.text
    assert await sharing.found(sharing.grant()) == [id_]


@pytest.mark.parametrize(
    ("spoil", "reason"),
    [
        (lambda s: s.grant(seconds=0), "it has expired"),
        (lambda s: s.grant(to=EVE), "its grantee is no wallet that you have proved to own"),
        (lambda s: Wallet("Nobody").grant(BOB, expires=s.clock.time + 9),
         "its grantor has no memories here"),
        (lambda s: SignedGrant(s.grant(agent="a").payload, s.grant().signature, Chain.EVM),
         "its signature is not its grantor's"),
    ],
)  # fmt: skip
async def test_an_unsound_grant_is_a_warning_or_a_refusal(sharing: Sharing, spoil, reason: str):
    theirs = await sharing.keep()
    own = await sharing.keep(f"{CANARY}, too", key="bob")
    grants = (sharing.grant(), spoil(sharing))
    answer = await sharing.ask(*grants, agentId="a")
    assert answer.json()["warnings"] == [f"grant 2: {reason}"]
    assert {row["id"] for row in answer.json()["memories"]} == {own, theirs}
    strict = await sharing.ask(*grants, agentId="a", scope="shared")
    assert refused(strict) == (403, "x-grants")
    assert strict.json()["error"]["message"] == f"x-grants: grant 2: {reason}"
    assert (await sharing.ask(*grants, agentId="a", scope="own")).status_code == 200


@pytest.mark.parametrize("scope", ["all", "shared"])
async def test_a_grant_for_another_agent_or_subject_is_a_warning(sharing: Sharing, scope: str):
    """Clients send all their grants with each search."""
    other, subject = sharing.grant(agent="b"), sharing.grant(subject="s")
    answer = await sharing.ask(other, subject, agentId="a", subjectId="t", scope=scope)
    assert answer.status_code == 200
    assert answer.json()["warnings"] == [
        "grant 1: it is for another agent",
        "grant 2: it is for another subject",
    ]


async def test_nothing_of_a_grant_is_logged(sharing: Sharing, caplog: pytest.LogCaptureFixture):
    caplog.set_level("INFO")
    grant = sharing.grant()
    await sharing.ask(grant, scope="shared")
    await sharing.ask(sharing.grant(to=EVE), scope="shared")
    lines = " ".join(record.getMessage() for record in caplog.records)
    assert "http.request" in lines
    for secret in (grant.signature, ADA.address, ADA.canonical, BOB.address, json.dumps("p")):
        assert secret not in lines


async def test_a_model_is_told_what_others_wrote(monkeypatch: pytest.MonkeyPatch):
    model = AnsweringModel(json.dumps({"answer": "On Linden Street.", "sources": [1]}))
    monkeypatch.setattr(agent_services, "open_endpoint", lambda *_: model)
    configured: dict[str, Any] = {"summary_model": "m", "summary_base_url": "http://127.0.0.1:1/v1"}
    configured |= {"memories_extraction": "rules", "tallies": RamStore()}
    async with users(HashingEmbedder(), **configured) as served:
        sharing = Sharing(served)
        await sharing.bind()
        await sharing.keep(CANARY, key="bob", data={"text": "OWN"})
        await sharing.keep(f"{CANARY}!", data={"text": "THEIRS"}, tainted=True)
        answer = await sharing.ask(sharing.grant(), agentId="a", mode="answer")
        assert answer.status_code == 200, answer.text
        lines = model.asked[0].messages[1]["content"].split("\n")
        (own,) = (line for line in lines if "OWN" in line)
        (theirs,) = (line for line in lines if "THEIRS" in line)
        assert ", shared by others, unconfirmed: {" in theirs
        assert "shared" not in own
        assert "unconfirmed" not in own
