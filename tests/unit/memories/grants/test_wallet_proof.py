import hashlib
from dataclasses import replace

import pytest

from memtree.errors import BadRequest, Unauthorized
from memtree.memories.grants.grant import Chain
from memtree.memories.grants.wallet_proof import WINDOW_SECONDS, proof_text, proven
from tests.made.wallets import NOW, Wallet

ADA, BOB = Wallet("Ada"), Wallet("Bob", Chain.SOLANA)
BODY = b'{"agentId":"a"}'


def test_the_text_is_that_of_the_sdk():
    empty = hashlib.sha256(b"").hexdigest()
    assert proof_text("GET", "/memories/search?query=x", empty, "17") == (
        f"GET|/memories/search?query=x|{empty}|17"
    )


@pytest.mark.parametrize("wallet", [ADA, BOB])
def test_a_proof_names_its_wallet_until_its_window_ends(wallet):
    found = proven(wallet.proof("POST", "/memories", BODY), NOW + 10)
    assert found.address == wallet.canonical
    assert found.until == NOW + WINDOW_SECONDS
    again = proven(wallet.proof("POST", "/memories", BODY), NOW + 20)
    assert again.digest == found.digest


def test_two_wallets_that_sign_one_text_have_two_proofs():
    assert proven(ADA.proof(), NOW).digest != proven(BOB.proof(), NOW).digest


@pytest.mark.parametrize("away", [-WINDOW_SECONDS, 0, WINDOW_SECONDS])
def test_clocks_may_differ(away):
    assert proven(ADA.proof(at=NOW + away), NOW).until == NOW + away + WINDOW_SECONDS


@pytest.mark.parametrize("away", [-WINDOW_SECONDS - 1, WINDOW_SECONDS + 1, 10**10])
def test_a_proof_of_another_time_does_not_count(away):
    with pytest.raises(Unauthorized, match="more than 120 seconds") as raised:
        proven(ADA.proof(at=NOW + away), NOW)
    assert raised.value.param == "x-wallet-timestamp"


@pytest.mark.parametrize("part", ["method", "body", "timestamp", "address", "signature", "paths"])
def test_each_part_is_signed(part):
    proof = ADA.proof("POST", "/memories", BODY)
    others = {
        "method": "PUT",
        "body": BODY + b" ",
        "timestamp": str(int(proof.timestamp) + 1),
        "address": BOB.address,
        "signature": BOB.sign("x"),
        "paths": ("/memories/other", "/v1/memories"),
    }
    with pytest.raises(Unauthorized) as raised:
        proven(replace(proof, **{part: others[part]}), NOW)
    assert raised.value.param == "x-wallet-signature"


def test_a_path_may_be_written_in_several_ways():
    proof = replace(ADA.proof("GET", "/v1/x?a=1"), paths=("/x?a=1", "/v1/x?a=1", "/x", "/v1/x"))
    assert proven(proof, NOW).address == ADA.canonical


@pytest.mark.parametrize("timestamp", ["", "x", "-5", "1e13", "1.5", "٣", "1" * 17, "1 "])
def test_a_timestamp_is_whole_milliseconds(timestamp):
    with pytest.raises(BadRequest) as raised:
        proven(replace(ADA.proof(), timestamp=timestamp), NOW)
    assert raised.value.param == "x-wallet-timestamp"


@pytest.mark.parametrize("address", ["", "0x1", ADA.address + "0"])
def test_an_address_is_one(address):
    with pytest.raises(BadRequest) as raised:
        proven(replace(ADA.proof(), address=address), NOW)
    assert raised.value.param == "x-wallet-address"
