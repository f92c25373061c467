"""Wallets of JavaScript libraries (viem, tweetnacl), used as the public SDK uses them.

`make node` installs them. Without node these tests are skipped at the desk and fail in CI.
"""

from __future__ import annotations

import json
import os
import random
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

from memtree.agents.grant import Chain, signed_text
from memtree.agents.grant_json import grant_json, read_grant, read_share_code, share_code
from memtree.agents.wallets import is_signed_by
from tests.made.wallets import Wallet
from tests.programs.server import PATIENCE, Server

pytestmark = [pytest.mark.slow, pytest.mark.long, pytest.mark.clients]

HERE = Path(__file__).parents[1] / "node"
PACKAGES = ("viem", "tweetnacl", "bs58")
WALLETS = {chain: Wallet("Ada", chain) for chain in Chain}
KEYS = {str(chain): wallet.private.exported for chain, wallet in WALLETS.items()}
IDS = "ABCxyz019._~:@-"
LATER = 4_102_444_800


@pytest.fixture(scope="module")
def node() -> str:
    found = shutil.which("node")
    if found and all((HERE / "node_modules" / package).is_dir() for package in PACKAGES):
        return found
    missing = "the wallet libraries are not installed: `make node` does it, and needs node and npm"
    if "CI" in os.environ:
        pytest.fail(missing)
    pytest.skip(missing)


def told(node: str, **task: Any) -> Any:
    run = subprocess.run(
        [node, "wallets.mjs"], cwd=HERE, input=json.dumps({"keys": KEYS, **task}),
        capture_output=True, text=True, timeout=PATIENCE, check=False,
    )  # fmt: skip
    assert run.returncode == 0, run.stderr
    return json.loads(run.stdout)


def limits(pick: random.Random) -> dict[str, Any]:
    """Return what a grant may say beside its grantor, in any order."""
    grantee = pick.choice([wallet.address for wallet in WALLETS.values()])
    fields = {"g": grantee, "e": pick.randrange(1, 10**11)}
    for name in pick.sample(["a", "u"], pick.randrange(3)):
        fields[name] = "".join(pick.choices(IDS, k=pick.randrange(1, 201)))
    return dict(pick.sample(list(fields.items()), len(fields)))


def test_keys_have_the_same_addresses(node: str) -> None:
    found = told(node)
    assert found["addresses"] == {str(c): wallet.address for c, wallet in WALLETS.items()}
    assert found["checksummed"] == WALLETS[Chain.EVM].address


def test_we_take_what_they_sign(node: str) -> None:
    pick = random.Random(7)
    payloads = [{"chain": str(pick.choice(list(Chain))), **limits(pick)} for _ in range(60)]
    for posted, made in zip(payloads, told(node, payloads=payloads)["grants"], strict=True):
        grant = read_grant(made["grant"])
        assert signed_text(grant.payload) == made["text"]
        assert is_signed_by(grant.payload.grantor, made["text"], grant.signature)
        assert read_share_code(made["code"]) == grant
        assert share_code(grant) == made["code"]
        assert grant_json(grant)["p"] == {
            "f": WALLETS[Chain(posted["chain"])].address,
            **{name: posted[name] for name in "aegu" if name in posted},
        }


def test_they_take_what_we_sign(node: str) -> None:
    texts = ["", "text", "ünïcödé 🗝", "zkstash:grant:v1:" + "A" * 400]
    checks = [
        {"chain": str(chain), "address": wallet.address, "text": text + more, "signature": signed}
        for chain, wallet in WALLETS.items()
        for text in texts
        for signed in [wallet.sign(text)]
        for more in ("", "!")
    ]
    assert told(node, checks=checks)["checks"] == [not one["text"].endswith("!") for one in checks]


@pytest.mark.parametrize("chain", list(Chain))
def test_a_client_with_a_wallet_alone(node: str, server: Server, chain: Chain) -> None:
    """The SDK signs each request; its base URL may have our prefix."""
    base = {"chain": str(chain), "base": f"{server.url}/v1"}
    said = f"The {chain} office is in Graz."
    requests = [
        {**base, "method": "POST", "path": "/memories", "body": {"text": said}},
        {**base, "method": "GET", "path": "/memories/search?query=office&limit=5"},
        {**base, "method": "GET", "path": "/wallets"},
        {**base, "method": "GET", "path": "/wallets", "chain": None},
        {**base, "method": "GET", "path": "/memories", "chain": None},
    ]
    saved, found, wallets, nobody, nothing = told(node, requests=requests)["answers"]
    assert saved["status"] == 201
    assert [row["text"] for row in found["body"]["memories"]] == [said]
    assert [row["address"] for row in wallets["body"]["wallets"]] == [WALLETS[chain].address]
    assert nobody["body"]["wallets"] == []
    assert nothing["body"]["memories"] == []


def test_a_grant_is_looked_at(node: str, server: Server) -> None:
    grantor, grantee = WALLETS[Chain.EVM], WALLETS[Chain.SOLANA]
    payload = {"chain": "evm", "g": grantee.address, "e": LATER, "a": "researcher"}
    (made,) = told(node, payloads=[payload])["grants"]
    body = {"shareCode": made["code"]}
    base = {"base": server.url, "method": "POST"}
    requests = [
        {**base, "chain": "evm", "path": "/v1/wallets"},
        {**base, "chain": "sol", "path": "/v1/grants/inspect", "body": body},
        {**base, "chain": "evm", "path": "/v1/grants/revoke", "body": {"grant": made["grant"]}},
        {**base, "chain": "sol", "path": "/grants/inspect", "body": body},
    ]
    bound, sound, revoked, gone = told(node, requests=requests)["answers"]
    assert bound["status"] == 200
    assert (sound["body"]["opens"], sound["body"]["grantor"]) == (True, grantor.address)
    assert revoked["body"] == {"success": True, "already": False}
    assert gone["body"]["reason"] == "it was revoked"


def test_a_grant_is_used(node: str, server: Server) -> None:
    """The SDK makes the same searches, alone and in a batch, with all grants it holds."""
    evm, sol = Wallet("Giver"), Wallet("Taker", Chain.SOLANA)
    keys = {"evm": evm.private.exported, "sol": sol.private.exported}
    payload = {"chain": "evm", "g": sol.address, "e": LATER, "a": "researcher"}
    (made,) = told(node, keys=keys, payloads=[payload])["grants"]
    kept = {"kind": "Finding", "data": {"text": "Staging listens on port 8090."}}
    search = "/memories/search?query=staging+port&agentId=researcher&scope=shared"
    agents = ("researcher", "b")
    batch = [{"query": "staging port", "filters": {"agentId": agent}} for agent in agents]
    posted = {"agentId": "researcher", "memories": [kept]}
    base = {"base": f"{server.url}/v1", "method": "POST", "chain": "sol"}
    requests = [
        {**base, "chain": "evm", "path": "/memories", "body": posted},
        {**base, "method": "GET", "path": search, "grants": [made["grant"]]},
        {**base, "path": "/memories/batch/search", "body": {"queries": batch, "scope": "shared"},
         "grants": [made["grant"]]},
        {**base, "method": "GET", "path": search},
        {**base, "method": "GET", "path": search, "grants": [{**made["grant"], "s": "0x00"}]},
    ]  # fmt: skip
    stored, found, several, without, forged = told(node, keys=keys, requests=requests)["answers"]
    assert stored["status"] in (200, 201), stored
    (row,) = found["body"]["memories"]
    assert (row["source"], row["data"]) == ("shared:researcher", kept["data"])
    assert [len(one["memories"]) for one in several["body"]["results"]] == [1, 0]
    assert (without["status"], forged["status"]) == (400, 403)
