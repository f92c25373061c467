import base64
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memtree.errors import Unavailable
from memtree.memories.grants import ed25519
from memtree.memories.grants.grant import Chain
from tests.made.wallets import Wallet

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
