"""Signatures of wallets, and the codes they are written in."""

from __future__ import annotations

import base64
import hashlib
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memtree.agents import ed25519, evm
from memtree.agents.evm import RATE, keccak256, keccak256_many
from memtree.agents.grant import Chain
from memtree.agents.wallets import (
    PrivateKey,
    canonical_address,
    chain_of,
    is_signed_by,
    read_private_key,
    shown_address,
)
from memtree.errors import Unavailable
from tests.made.wallets import Wallet

# ------------------------------------------------------------------------------------------------
# Base58.


# draft-msporny-base58, section 5
VECTORS = {
    b"Hello World!": "2NEpo7TZRRrLZSi2U",
    b"The quick brown fox jumps over the lazy dog.": (
        "USm3fpXnKG5EUBx2ndxBDMPVciP5hGey2Jh4NDv6gmeo1LkMeiKrLJUUBk6Z"
    ),
    bytes.fromhex("0000287fb4cd"): "11233QC4",
}


@pytest.mark.parametrize("raw", VECTORS)
def test_published_vectors(raw):
    assert ed25519.base58_encoded(raw) == VECTORS[raw]
    assert ed25519.base58_decoded(VECTORS[raw], len(raw)) == raw


@given(st.binary(min_size=1, max_size=70))
def test_what_is_encoded_is_decoded(raw):
    assert ed25519.base58_decoded(ed25519.base58_encoded(raw), len(raw)) == raw


@given(st.binary(max_size=34))
def test_another_size_is_refused(raw):
    found = ed25519.base58_decoded(ed25519.base58_encoded(raw), 32)
    assert (found == raw) if len(raw) == 32 else found is None


@given(st.text(alphabet=ed25519.ALPHABET, max_size=46))
def test_no_two_texts_mean_the_same_bytes(text):
    found = ed25519.base58_decoded(text, 32)
    assert found is None or ed25519.base58_encoded(found) == text


@pytest.mark.parametrize("text", ["", "0" * 32, "O" * 43, "l" * 43, "I" * 43, "é" * 32, " " * 32])
def test_other_characters_are_refused(text):
    assert ed25519.base58_decoded(text, 32) is None


# ------------------------------------------------------------------------------------------------
# Ed25519.


BOB = Wallet("Bob", Chain.SOLANA)
TEXT = "zkstash:grant:v1:eyJ4Ijoi8J+YgCJ9"
SIGNATURE = BOB.sign(TEXT)
PRIME = 2**255 - 19
ORDER = 2**252 + 27742317777372353535851937790883648493
SIGN_BIT = 1 << 255
# The y of the eight points of small order (of order 1, 2, 4, and twice two of order 8), and the
# encodings of the same points that are not reduced
EIGHTH = int.from_bytes(
    bytes.fromhex("26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05"), "little"
)
SMALL = (0, 1, PRIME - 1, EIGHTH, PRIME - EIGHTH, PRIME, PRIME + 1)
ENCODINGS = [(y | sign) for y in SMALL for sign in (0, SIGN_BIT)]


def encoded(number: int) -> str:
    return ed25519.base58_encoded(number.to_bytes(32, "little"))


def on_curve(y: int) -> bool:
    d = -121665 * pow(121666, PRIME - 2, PRIME) % PRIME
    square = (y * y - 1) * pow(d * y * y + 1, PRIME - 2, PRIME) % PRIME
    return square == 0 or pow(square, (PRIME - 1) // 2, PRIME) == 1


def test_a_published_signature():
    """RFC 8032, section 7.1, test 2."""
    seed = bytes.fromhex("4ccd089b28ff96da9db6c346ec114e0f5b8a319f35aba624da8cf6ed4fb8a6fb")
    key = bytes.fromhex("3d4017c3e843895a92b70aa74d1b7ebc9c982ccf2ec4968cc0cd55f12af4660c")
    signature = bytes.fromhex(
        "92a009a9f0d4cab8720e820b5f642540a2b27b5416503f8fb3762223ebdb69da"
        "085ac1e43e15996e458f3613d0f11d8c387b2eaeb4302aeeb00d291612bb0c00"
    )
    assert ed25519.address_of(seed) == ed25519.base58_encoded(key)
    assert ed25519.sign("r", seed) == base64.b64encode(signature).decode()
    assert ed25519.is_signed_by(
        ed25519.base58_encoded(key), "r", base64.b64encode(signature).decode()
    )


@pytest.mark.slow
@given(st.text(max_size=300), st.binary(min_size=32, max_size=32))
def test_what_a_key_signs_is_its_own(text, seed):
    text = text.encode("utf-8", "ignore").decode()
    signature = ed25519.sign(text, seed)
    assert ed25519.is_signed_by(ed25519.address_of(seed), text, signature)
    assert not ed25519.is_signed_by(ed25519.address_of(seed), text + "!", signature)
    assert not ed25519.is_signed_by(BOB.address, text, signature)


@pytest.mark.parametrize("number", ENCODINGS)
def test_keys_of_small_order_sign_nothing(number):
    """With the identity, R = [S]B is a signature of every text; the others take a few tries."""
    assert on_curve(number % SIGN_BIT % PRIME)
    identity = (1).to_bytes(32, "little")
    for commitment in (identity, number.to_bytes(32, "little")):
        signature = base64.b64encode(commitment + bytes(32)).decode()
        for turn in range(32):
            assert not ed25519.is_signed_by(encoded(number), f"text {turn}", signature)


def test_an_encoding_that_is_not_reduced_is_refused():
    for y in range(PRIME, 2**255):
        if on_curve(y - PRIME):
            for sign in (0, SIGN_BIT):
                assert not ed25519.is_signed_by(encoded(y | sign), TEXT, SIGNATURE)


def test_an_s_that_is_not_reduced_is_refused():
    raw = base64.b64decode(SIGNATURE)
    more = int.from_bytes(raw[32:], "little") + ORDER
    changed = base64.b64encode(raw[:32] + more.to_bytes(32, "little")).decode()
    assert ed25519.is_signed_by(BOB.address, TEXT, SIGNATURE)
    assert not ed25519.is_signed_by(BOB.address, TEXT, changed)


@pytest.mark.parametrize(
    "signature",
    [
        "",
        SIGNATURE[:-2],
        SIGNATURE[:-1],
        SIGNATURE + "=",
        SIGNATURE + "\n",
        " " + SIGNATURE[1:],
        SIGNATURE.replace("==", "A="),
        SIGNATURE[:-3] + chr(ord(SIGNATURE[-3]) + 1) + "==",  # bits that nobody reads
        base64.b64encode(base64.b64decode(SIGNATURE)[:63]).decode(),
        base64.b64encode(base64.b64decode(SIGNATURE) + b"x").decode(),
        base64.b64decode(SIGNATURE).hex(),
        "é" * 88,
    ],
)
def test_anything_but_64_bytes_in_padded_base64_is_refused(signature):
    assert not ed25519.is_signed_by(BOB.address, TEXT, signature)


def test_the_alphabet_of_urls_is_refused():
    seed = next(n for n in range(99) if {"+", "/"} & set(ed25519.sign(TEXT, bytes([n]) * 32)))
    signature = ed25519.sign(TEXT, bytes([seed]) * 32)
    address = ed25519.address_of(bytes([seed]) * 32)
    assert ed25519.is_signed_by(address, TEXT, signature)
    other = signature.replace("+", "-").replace("/", "_")
    assert not ed25519.is_signed_by(address, TEXT, other)


def test_keys_are_read_as_wallets_export_them():
    assert ed25519.read_key(ed25519.shown_key(BOB.key)) == BOB.key
    assert ed25519.read_key(ed25519.base58_encoded(BOB.key)) == BOB.key
    foreign = ed25519.base58_encoded(
        BOB.key + ed25519.base58_decoded(Wallet("Eve", Chain.SOLANA).address, 32)
    )
    for text in ("", "1", foreign, BOB.key.hex(), "0" * 44):
        assert ed25519.read_key(text) is None


def test_an_address_is_its_own_canonical_form():
    assert ed25519.canonical(BOB.address) == BOB.address
    assert ed25519.canonical(BOB.address.lower()) is None
    assert ed25519.canonical(f" {BOB.address}") is None


def test_without_the_package_it_is_said_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "nacl.signing", None)
    for use in (
        lambda: ed25519.is_signed_by(BOB.address, TEXT, SIGNATURE),
        lambda: ed25519.sign(TEXT, BOB.key),
    ):
        with pytest.raises(Unavailable, match=r"pip install 'memtree-proxy\[agents\]'"):
            use()


# ------------------------------------------------------------------------------------------------
# Evm.


EVM_ORDER = 0xFFFFFFFF_FFFFFFFF_FFFFFFFF_FFFFFFFE_BAAEDCE6_AF48A03B_BFD25E8C_D0364141
ADA = Wallet("Ada")
EVM_SIGNATURE = ADA.sign(TEXT)
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
    among = evm.signers([(TEXT, ""), (text, signature), (TEXT, EVM_SIGNATURE)])
    assert among == [None, alone, ADA.canonical]
    return alone


def parts(signature: str) -> tuple[int, int, int]:
    raw = bytes.fromhex(signature[2:])
    return int.from_bytes(raw[:32], "big"), int.from_bytes(raw[32:64], "big"), raw[64]


def joined(r: int, s: int, v: int) -> str:
    return f"0x{r:064x}{s:064x}{v:02x}"


def test_a_published_signature_of_evm():
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
@given(st.text(max_size=300), st.integers(1, EVM_ORDER - 1))
def test_who_signed_is_found(text, number):
    text = text.encode("utf-8", "ignore").decode()
    key = number.to_bytes(32, "big")
    assert signer(text, evm.sign(text, key)) == evm.address_of(key).lower()


def test_another_text_is_somebody_elses():
    assert signer(TEXT + " ", EVM_SIGNATURE) != ADA.canonical


def test_v_may_be_written_in_two_ways():
    r, s, v = parts(EVM_SIGNATURE)
    assert v in (27, 28)
    assert signer(TEXT, joined(r, s, v - 27)) == ADA.canonical
    for other in (2, 3, 26, 29, 30, 31, 35, 36, 37, 38, 255):
        assert signer(TEXT, joined(r, s, other)) is None


def test_the_larger_s_is_refused():
    """With the other v it would recover the same address."""
    r, s, v = parts(EVM_SIGNATURE)
    assert s <= EVM_ORDER // 2
    assert signer(TEXT, joined(r, EVM_ORDER - s, 55 - v)) is None
    assert signer(TEXT, joined(r, EVM_ORDER - s, v)) is None


@pytest.mark.parametrize("number", [0, EVM_ORDER, EVM_ORDER + 1, (1 << 256) - 1])
def test_numbers_out_of_range_are_refused(number):
    r, s, v = parts(EVM_SIGNATURE)
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
        EVM_SIGNATURE[2:],
        EVM_SIGNATURE[:-2],
        EVM_SIGNATURE + "00",
        EVM_SIGNATURE + "\n",
        EVM_SIGNATURE.replace("0x", "0X"),
        EVM_SIGNATURE[:-2] + "1g",
        "0x" + "٣" * 130,
    ],
)
def test_anything_but_65_bytes_in_hex_is_refused(signature):
    assert signer(TEXT, signature) is None


def test_hex_in_capitals_is_hex():
    assert signer(TEXT, "0x" + EVM_SIGNATURE[2:].upper()) == ADA.canonical


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


def test_keys_are_read_as_wallets_export_them_of_evm():
    assert evm.read_key(evm.shown_key(ADA.key)) == ADA.key
    assert evm.read_key(ADA.key.hex()) == ADA.key
    for text in ("", "0x", "0" * 64, f"{EVM_ORDER:064x}", ADA.key.hex()[:-1], "x" * 64):
        assert evm.read_key(text) is None


def test_without_the_package_it_is_said_what_to_install_of_evm(monkeypatch):
    monkeypatch.setitem(sys.modules, "coincurve", None)
    for use in (lambda: evm.signers([(TEXT, EVM_SIGNATURE)]), lambda: evm.sign(TEXT, ADA.key)):
        with pytest.raises(Unavailable, match=r"pip install 'memtree-proxy\[agents\]'"):
            use()
    assert evm.signers([(TEXT, "0x")]) == [None]


# ------------------------------------------------------------------------------------------------
# Keccak.


# The team's own vectors (KeccakKAT, ShortMsgKAT_256), and what wallets' documents show
KECCAK_VECTORS = {
    b"": "c5d2460186f7233c927e7db2dcc703c0e500b653ca82273b7bfad8045d85a470",
    b"\xcc": "eead6dbfc7340a56caedc044696a168870549a6a7f6f56961e84a54bd9970b8a",
    b"\x41\xfb": "a8eaceda4d47b3281a795ad9e1ea2122b407baf9aabcb9e18b5717b7873537d2",
    b"abc": "4e03657aea45a94fc7d47ba826c8d667c0d1e6e33a64a036ec44f58fa12d6c45",
    b"transfer(address,uint256)": (
        "a9059cbb2ab09eb219583f4a59a5d0623ade346d962bcd4e46b11da047c9049b"
    ),
}


@pytest.mark.parametrize("message", KECCAK_VECTORS)
def test_published_vectors_of_keccak(message):
    assert keccak256(message).hex() == KECCAK_VECTORS[message]


@pytest.mark.parametrize("length", [RATE - 2, RATE - 1, RATE, RATE + 1, 2 * RATE - 1, 2 * RATE])
def test_lengths_around_a_block_hash_apart(length):
    """The padding of the last block may have one byte, or all."""
    assert keccak256(bytes(length)) != keccak256(bytes(length + 1))


@pytest.mark.parametrize("length", [0, 1, RATE - 1, RATE, RATE + 1, 3 * RATE - 1, 1000])
def test_the_permutation_is_that_of_sha3(length):
    """SHA3-256 is the same with another first byte of padding: that is the standard library's."""
    message = bytes(at % 251 for at in range(length))
    assert keccak256(message, padding=6) == hashlib.sha3_256(message).digest()


@given(st.lists(st.binary(max_size=3 * RATE + 1), max_size=33))
def test_many_are_hashed_as_each_alone(messages):
    assert keccak256_many(messages, 6) == [hashlib.sha3_256(one).digest() for one in messages]
    assert keccak256_many(messages[:3]) == [keccak256(one) for one in messages[:3]]


# ------------------------------------------------------------------------------------------------
# Private key.


@pytest.mark.parametrize("chain", list(Chain))
def test_a_key_signs_as_its_address(chain):
    key = PrivateKey(chain, bytes(range(32)))
    assert chain_of(key.address) is chain
    assert is_signed_by(key.address, "text", key.sign("text"))
    assert read_private_key(key.exported) == key


@pytest.mark.parametrize("chain", list(Chain))
def test_a_key_is_not_shown_by_accident(chain):
    raw = b"\x07" * 32
    shown = f"{PrivateKey(chain, raw)}"
    assert raw.hex() not in shown
    assert repr(raw) not in shown


def test_what_is_no_key():
    for text in ("", "0x", "secret", "0" * 64, "1" * 88):
        assert read_private_key(text) is None


# ------------------------------------------------------------------------------------------------
# Wallets.


WALLETS_ADA, WALLETS_BOB = Wallet("Ada"), Wallet("Bob", Chain.SOLANA)


@pytest.mark.parametrize("wallet", [WALLETS_ADA, WALLETS_BOB])
def test_the_form_of_an_address_tells_its_chain(wallet):
    assert chain_of(wallet.address) is wallet.chain
    assert canonical_address(wallet.address) == wallet.canonical
    assert shown_address(wallet.canonical) == wallet.address
    assert is_signed_by(wallet.address, "text", wallet.sign("text"))
    assert is_signed_by(wallet.canonical, "text", wallet.sign("text"))


def test_evm_addresses_compare_case_insensitively_and_those_of_solana_do_not():
    assert canonical_address("0x" + WALLETS_ADA.address[2:].upper()) == WALLETS_ADA.canonical
    assert canonical_address(WALLETS_BOB.address.swapcase()) != WALLETS_BOB.address


@pytest.mark.parametrize("address", ["", "0x", "x" * 44, "0x" + "g" * 40, "1" * 33, "1" * 31])
def test_what_is_no_address_of_wallets(address):
    assert chain_of(address) is None
    assert canonical_address(address) is None
    assert not is_signed_by(address, "text", WALLETS_ADA.sign("text"))


def test_a_signature_of_the_other_chain_is_none():
    assert not is_signed_by(WALLETS_ADA.address, "text", WALLETS_BOB.sign("text"))
    assert not is_signed_by(WALLETS_BOB.address, "text", WALLETS_ADA.sign("text"))
