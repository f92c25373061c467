import pytest

from memtree.memories.grants.grant import Chain
from memtree.memories.grants.wallets import (
    canonical_address,
    chain_of,
    is_signed_by,
    shown_address,
)
from tests.made.wallets import Wallet

ADA, BOB = Wallet("Ada"), Wallet("Bob", Chain.SOLANA)


@pytest.mark.parametrize("wallet", [ADA, BOB])
def test_the_form_of_an_address_tells_its_chain(wallet):
    assert chain_of(wallet.address) is wallet.chain
    assert canonical_address(wallet.address) == wallet.canonical
    assert shown_address(wallet.canonical) == wallet.address
    assert is_signed_by(wallet.address, "text", wallet.sign("text"))
    assert is_signed_by(wallet.canonical, "text", wallet.sign("text"))


def test_evm_addresses_compare_case_insensitively_and_those_of_solana_do_not():
    assert canonical_address("0x" + ADA.address[2:].upper()) == ADA.canonical
    assert canonical_address(BOB.address.swapcase()) != BOB.address


@pytest.mark.parametrize("address", ["", "0x", "x" * 44, "0x" + "g" * 40, "1" * 33, "1" * 31])
def test_what_is_no_address(address):
    assert chain_of(address) is None
    assert canonical_address(address) is None
    assert not is_signed_by(address, "text", ADA.sign("text"))


def test_a_signature_of_the_other_chain_is_none():
    assert not is_signed_by(ADA.address, "text", BOB.sign("text"))
    assert not is_signed_by(BOB.address, "text", ADA.sign("text"))
