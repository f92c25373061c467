"""Sign and verify for Solana wallets, whose ed25519 keys are their own addresses.

No other file knows PyNaCl. Its libsodium refuses what makes forgeries possible: keys and
commitments of small order (the identity point signs every text), encodings that are not canonical,
and an s that is not reduced.

Solana writes addresses and keys in base58. Converting bases takes time in the square of the length,
so no more digits are read than the known number of bytes can have.
"""

from __future__ import annotations

import base64
import binascii
from typing import TYPE_CHECKING

from memtree.agents.grant import NEEDS_EXTRA
from memtree.errors import Unavailable

ALPHABET = "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz"

_VALUES = {digit: value for value, digit in enumerate(ALPHABET)}
_DIGITS_A_BYTE = 138  # per 100 bytes: log(256) / log(58) is 1.366


def base58_decoded(text: str, size: int) -> bytes | None:
    """The `size` bytes that `text` means; None where it means anything else.

    >>> base58_decoded("1112", 4)
    b'\\x00\\x00\\x00\\x01'
    >>> base58_decoded("112", 4) is None
    True
    """
    if not text or len(text) > size * _DIGITS_A_BYTE // 100 + 1:
        return None
    number = 0
    for digit in text:
        if digit not in _VALUES:
            return None
        number = number * 58 + _VALUES[digit]
    zeros = len(text) - len(text.lstrip(ALPHABET[0]))
    length = (number.bit_length() + 7) // 8
    # Each leading zero byte is a digit of its own, so no two texts mean the same bytes.
    return number.to_bytes(size, "big") if zeros + length == size else None


def base58_encoded(raw: bytes) -> str:
    """The digits of a key or an address."""
    number = int.from_bytes(raw, "big")
    digits: list[str] = []
    while number:
        number, value = divmod(number, 58)
        digits.append(ALPHABET[value])
    zeros = len(raw) - len(raw.lstrip(b"\0"))
    return ALPHABET[0] * zeros + "".join(reversed(digits))


if TYPE_CHECKING:
    from nacl.signing import SigningKey

_SIGNATURE_CHARS = 88  # base64 of 64 bytes


def canonical(address: str) -> str | None:
    """Unchanged: base58 of 32 bytes has one form. None for what is no address."""
    return None if base58_decoded(address, 32) is None else address


def is_signed_by(address: str, text: str, signature: str) -> bool:
    """Return True if `signature`, 64 bytes in padded base64, is that address's of `text` in UTF-8.
    Raises `Unavailable` without PyNaCl."""
    key, raw = base58_decoded(address, 32), _signature(signature)
    if key is None or raw is None:
        return False
    try:
        from nacl.exceptions import BadSignatureError  # noqa: PLC0415  the optional extra
        from nacl.signing import VerifyKey  # noqa: PLC0415  the optional extra
    except ImportError as error:
        raise Unavailable(NEEDS_EXTRA) from error
    try:
        VerifyKey(key).verify(text.encode(), raw)
    except BadSignatureError:
        return False
    return True


def sign(text: str, seed: bytes) -> str:
    """By the private key that is made from a seed of 32 bytes. Raises `Unavailable`."""
    return base64.b64encode(_signing(seed).sign(text.encode()).signature).decode()


def address_of(seed: bytes) -> str:
    return base58_encoded(bytes(_signing(seed).verify_key))


def read_key(text: str) -> bytes | None:
    """The seed in a private key as wallets export it: base58 of seed and public key, or of the
    seed alone; None for what is no key, or where the two do not belong together."""
    seed = base58_decoded(text, 32)
    if seed is not None:
        return seed
    both = base58_decoded(text, 64)
    if both is None or base58_encoded(both[32:]) != address_of(both[:32]):
        return None
    return both[:32]


def shown_key(seed: bytes) -> str:
    """Write a key of 64 bytes as wallets import it."""
    return base58_encoded(seed + bytes(_signing(seed).verify_key))


def _signature(text: str) -> bytes | None:
    """None unless it is the one way to write 64 bytes."""
    if len(text) != _SIGNATURE_CHARS or not text.isascii():
        return None
    try:
        raw = base64.b64decode(text, validate=True)
    except binascii.Error:
        return None
    return raw if len(raw) == 64 and base64.b64encode(raw).decode() == text else None


def _signing(seed: bytes) -> SigningKey:
    try:
        from nacl.signing import SigningKey  # noqa: PLC0415  the optional extra
    except ImportError as error:
        raise Unavailable(NEEDS_EXTRA) from error
    return SigningKey(seed)
