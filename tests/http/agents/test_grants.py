"""The routes of grants: what they would open, and that they can be taken back."""

from __future__ import annotations

from typing import Any

from memtree.agents.grant import Chain, SignedGrant, grant_digest
from memtree.agents.grant_json import grant_json, share_code
from tests.http.owned.granting import granting, refused
from tests.http.served.fakes import FakeKeys
from tests.http.wire.documented import check_answer
from tests.made.wallets import NOW, Wallet

ADA, BOB, EVE = Wallet("Ada"), Wallet("Bob", Chain.SOLANA), Wallet("Eve")
GRANT = ADA.grant(BOB, agent="a")


def keys() -> FakeKeys:
    return FakeKeys(ada=["A"], bob=["B"], eve=["E"])


def row(grant: SignedGrant, reason: str | None) -> dict[str, Any]:
    return {
        "success": True,
        "id": grant_digest(grant.payload).hex(),
        "chain": "evm",
        "grantor": ADA.address,
        "grantee": BOB.address,
        "agentId": "a",
        "subjectId": None,
        "expiresAt": (int(NOW) + 3600) * 1000,
        "opens": reason is None,
        "reason": reason,
    }


async def test_a_grant_tells_each_tenant_what_it_opens_for_it():
    async with granting(keys()) as server:
        await server.bind(ADA, "A")
        await server.bind(BOB, "B")
        told = {
            "B": None,
            "A": "you gave it: its grantee alone can use it",
            "E": "its grantee is no wallet that you have proved to own",
        }
        for key, reason in told.items():
            for body in ({"grant": grant_json(GRANT)}, {"shareCode": share_code(GRANT)}):
                answer = await server.ask("POST", "/v1/grants/inspect", body, key=key)
                assert answer.json() == row(GRANT, reason)


async def test_a_revoked_grant_opens_nothing():
    async with granting(keys()) as server:
        await server.bind(ADA, "A")
        await server.bind(BOB, "B")
        body = {"grant": grant_json(GRANT)}
        for key in "BE":
            answer = await server.ask("POST", "/v1/grants/revoke", body, key=key)
            assert refused(answer) == (403, "grant")
        for already in (False, True):
            answer = await server.ask("POST", "/v1/grants/revoke", body, key="A")
            assert answer.json() == {"success": True, "already": already}
        answer = await server.ask("POST", "/v1/grants/inspect", body, key="B")
        assert answer.json() == row(GRANT, "it was revoked")
        stranger = await server.ask("POST", "/v1/grants/inspect", body, key="E")
        assert "revoked" not in stranger.text


async def test_what_is_no_grant_is_named():
    async with granting() as server:
        for at, (body, place) in enumerate((
            ({}, "grant"), ({"grant": None}, "grant"), ({"grant": "zkg1_"}, "grant"),
            ({"grant": grant_json(GRANT), "shareCode": share_code(GRANT)}, "grant"),
            ({"grant": {**grant_json(GRANT), "p": {}}}, "grant.p.f"),
            ({"grant": {**grant_json(GRANT), "c": 5}}, "grant.c"), ({"shareCode": 5}, "shareCode"),
            ({"shareCode": "zkg1_"}, "shareCode"), ({"shareCode": "zkg1_e30"}, "shareCode.c"),
        )):  # fmt: skip
            route = ("inspect", "revoke")[at % 2]
            answer = await server.ask("POST", f"/grants/{route}", body, key="K")
            assert refused(answer) == (400, place)


async def test_other_paths_and_methods_are_not_relayed():
    async with granting() as server:
        for method, path, status in (
            ("POST", "/grants/other", 404), ("POST", "/v1/grants/inspect/more", 404),
            ("POST", "/wallets/a/b", 404), ("GET", "/grants/inspect", 405),
            ("PUT", "/wallets", 405), ("GET", "/wallets/0x1", 405),
        ):  # fmt: skip
            body = {} if method == "POST" else None
            assert (await server.ask(method, path, body, key="K")).status_code == status


async def test_answers_about_wallets_are_as_documented():
    asked = [
        ("post", "/wallets", 200), ("get", "/wallets", 200),
        ("delete", "/wallets/{address}", 200), ("delete", "/wallets/{address}", 404),
    ]  # fmt: skip
    async with granting() as server:
        for method, path, status in asked:
            target = path.replace("{address}", ADA.address)
            wallet = ADA if method == "post" else None
            answer = await server.ask(method.upper(), target, key="K", wallet=wallet)
            assert answer.status_code == status
            check_answer(path, method, answer)
