import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memtree.errors import Unavailable
from memtree.memories.grants import evm
from tests.made.wallets import Wallet

ORDER = 0xFFFFFFFF_FFFFFFFF_FFFFFFFF_FFFFFFFE_BAAEDCE6_AF48A03B_BFD25E8C_D0364141
ADA = Wallet("Ada")
TEXT = "zkstash:grant:v1:eyJ4Ijoi8J+YgCJ9"
SIGNATURE = ADA.sign(TEXT)
# EIP-55
CHECKSUMMED = (
    "0x52908400098527886E0F7030069857D2E4169EE7",
    "0xde709f2102306220921060314715629080e2fb77",
    "0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed",
    "0xfB6916095ca1df60bB79Ce92cE3Ea74c37c5d359",
    "0xdbF03B407c01E7cD3CBea99509d93f8DDDC8C6FB",
    "0xD1220A0cf47c7B9Be7A2E6BA89F429762e7b9aDb",
)


def signer(text: str, signature: str) -> str | None:
    """Found alone, and among others."""
    (alone,) = evm.signers([(text, signature)])
    among = evm.signers([(TEXT, ""), (text, signature), (TEXT, SIGNATURE)])
    assert among == [None, alone, ADA.canonical]
    return alone


def parts(signature: str) -> tuple[int, int, int]:
    raw = bytes.fromhex(signature[2:])
    return int.from_bytes(raw[:32], "big"), int.from_bytes(raw[32:64], "big"), raw[64]


def joined(r: int, s: int, v: int) -> str:
    return f"0x{r:064x}{s:064x}{v:02x}"


def test_a_published_signature():
    """The example of web3.js: `web3.eth.accounts.sign("Some data", key)`."""
    key = evm.read_key("0x4c0883a69102937d6231471b5dbb6204fe5129617082792ae468d01a3f362318")
    signature = (
        "0xb91467e570a6466aa9e9876cbcd013baba02900b8979d43fe208a4a4f339f5fd"
        "6007e74cd82e037b800186422fc2da167c747ef045e5d18a5f5d4300f8e1a0291c"
    )
    address = "0x2c7536E3605D9C16a7a3D7b1898e529396a65c23"
    assert evm.address_of(key) == address
    assert evm.sign("Some data", key) == signature
    assert signer("Some data", signature) == address.lower()


@pytest.mark.slow
@given(st.text(max_size=300), st.integers(1, ORDER - 1))
def test_who_signed_is_found(text, number):
    text = text.encode("utf-8", "ignore").decode()
    key = number.to_bytes(32, "big")
    assert signer(text, evm.sign(text, key)) == evm.address_of(key).lower()


def test_another_text_is_somebody_elses():
    assert signer(TEXT + " ", SIGNATURE) != ADA.canonical


def test_v_may_be_written_in_two_ways():
    r, s, v = parts(SIGNATURE)
    assert v in (27, 28)
    assert signer(TEXT, joined(r, s, v - 27)) == ADA.canonical
    for other in (2, 3, 26, 29, 30, 31, 35, 36, 37, 38, 255):
        assert signer(TEXT, joined(r, s, other)) is None


def test_the_larger_s_is_refused():
    """With the other v it would recover the same address."""
    r, s, v = parts(SIGNATURE)
    assert s <= ORDER // 2
    assert signer(TEXT, joined(r, ORDER - s, 55 - v)) is None
    assert signer(TEXT, joined(r, ORDER - s, v)) is None


@pytest.mark.parametrize("number", [0, ORDER, ORDER + 1, (1 << 256) - 1])
def test_numbers_out_of_range_are_refused(number):
    r, s, v = parts(SIGNATURE)
    assert signer(TEXT, joined(number, s, v)) is None
    assert signer(TEXT, joined(r, number, v)) is None


def test_a_number_that_is_no_point_is_refused():
    """5 is the abscissa of no point of the curve."""
    assert signer(TEXT, joined(5, 1, 27)) is None


@pytest.mark.parametrize(
    "signature",
    [
        "",
        "0x",
        SIGNATURE[2:],
        SIGNATURE[:-2],
        SIGNATURE + "00",
        SIGNATURE + "\n",
        SIGNATURE.replace("0x", "0X"),
        SIGNATURE[:-2] + "1g",
        "0x" + "٣" * 130,
    ],
)
def test_anything_but_65_bytes_in_hex_is_refused(signature):
    assert signer(TEXT, signature) is None


def test_hex_in_capitals_is_hex():
    assert signer(TEXT, "0x" + SIGNATURE[2:].upper()) == ADA.canonical


@pytest.mark.parametrize("address", CHECKSUMMED)
def test_addresses_are_shown_with_their_checksum(address):
    assert evm.checksummed(address.lower()) == address
    assert not evm.has_wrong_checksum(address)
    assert not evm.has_wrong_checksum(address.lower())
    assert not evm.has_wrong_checksum("0x" + address[2:].upper())
    assert evm.canonical(address) == address.lower()


def test_a_wrong_checksum_is_noticed_and_compares_all_the_same():
    wrong = "0x5AAeb6053F3E94C9b9A09f33669435E7Ef1BeAed"
    assert evm.has_wrong_checksum(wrong)
    assert evm.canonical(wrong) == wrong.lower()


@pytest.mark.parametrize(
    "address", ["", "0x", "0x12", ADA.canonical[2:], "0X" + ADA.canonical[2:], ADA.canonical + "0"]
)
def test_what_is_no_address(address):
    assert evm.canonical(address) is None


def test_keys_are_read_as_wallets_export_them():
    assert evm.read_key(evm.shown_key(ADA.key)) == ADA.key
    assert evm.read_key(ADA.key.hex()) == ADA.key
    for text in ("", "0x", "0" * 64, f"{ORDER:064x}", ADA.key.hex()[:-1], "x" * 64):
        assert evm.read_key(text) is None


def test_without_the_package_it_is_said_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "coincurve", None)
    for use in (lambda: evm.signers([(TEXT, SIGNATURE)]), lambda: evm.sign(TEXT, ADA.key)):
        with pytest.raises(Unavailable, match=r"pip install 'memtree-proxy\[agents\]'"):
            use()
    assert evm.signers([(TEXT, "0x")]) == [None]
