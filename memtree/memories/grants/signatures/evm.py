"""EVM wallets: `personal_sign` (EIP-191) and addresses (EIP-55). No other file knows coincurve.

A signature can be changed into another one that recovers the same address (s to n - s), so the
larger s is refused, as chains do since EIP-2; libraries make the smaller.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

from memtree.errors import Unavailable
from memtree.memories.grants.signatures import NEEDS_EXTRA
from memtree.memories.grants.signatures.keccak import keccak256, keccak256_many

if TYPE_CHECKING:
    from coincurve import PrivateKey, PublicKey

_ORDER = 0xFFFFFFFF_FFFFFFFF_FFFFFFFF_FFFFFFFE_BAAEDCE6_AF48A03B_BFD25E8C_D0364141  # of secp256k1
_RECOVERY = {0: 0, 1: 1, 27: 0, 28: 1}  # v as wallets write it
_ADDRESS = re.compile(r"0x[0-9a-fA-F]{40}")
_SIGNATURE = re.compile(r"0x[0-9a-fA-F]{130}")
_KEY = re.compile(r"(?:0x)?[0-9a-fA-F]{64}")


def canonical(address: str) -> str | None:
    """In lower case; None for what is no address. A wrong EIP-55 checksum is not looked at:
    addresses compare case-insensitively."""
    return address.lower() if _ADDRESS.fullmatch(address) else None


def checksummed(address: str) -> str:
    """An address as wallets show it: EIP-55.

    >>> checksummed("0x5aaeb6053f3e94c9b9a09f33669435e7ef1beaed")
    '0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed'
    """
    digits = address[2:].lower()
    wanted = keccak256(digits.encode()).hex()
    shown = (
        digit.upper() if mark >= "8" else digit for digit, mark in zip(digits, wanted, strict=False)
    )
    return "0x" + "".join(shown)


def has_wrong_checksum(address: str) -> bool:
    """Return True if an address in mixed case is not as EIP-55 writes it: most likely a typing
    error."""
    digits = address[2:]
    mixed = digits not in (digits.lower(), digits.upper())
    return mixed and address != checksummed(address)


def signers(signed: Sequence[tuple[str, str]]) -> list[str | None]:
    """For each text and its signature (`personal_sign`: 65 bytes in hex, r, s and v) the canonical
    address that it is of; None for what is no acceptable signature. Raises `Unavailable` without
    coincurve."""
    read = [_signature(signature) for _, signature in signed]
    digests = keccak256_many([_message(text) for text, _ in signed])
    keys = [
        None if signature is None else _recovered(signature, digest)
        for signature, digest in zip(read, digests, strict=True)
    ]
    addresses = iter(_addresses([key for key in keys if key is not None]))
    return [None if key is None else next(addresses) for key in keys]


def sign(text: str, key: bytes) -> str:
    """`personal_sign` of a text by a private key of 32 bytes. Raises `Unavailable`."""
    made = _private(key).sign_recoverable(keccak256(_message(text)), hasher=None)
    return "0x" + made[:64].hex() + f"{27 + made[64]:02x}"


def address_of(key: bytes) -> str:
    """The address of a private key, as wallets show it. Raises `Unavailable`."""
    return checksummed(_addresses([_private(key).public_key])[0])


def read_key(text: str) -> bytes | None:
    """A private key as wallets export it: 32 bytes in hex; None for what is no key."""
    if not _KEY.fullmatch(text):
        return None
    raw = bytes.fromhex(text.removeprefix("0x"))
    return raw if 0 < int.from_bytes(raw, "big") < _ORDER else None


def shown_key(key: bytes) -> str:
    return "0x" + key.hex()


def _message(text: str) -> bytes:
    """Return the bytes that are hashed and signed (EIP-191)."""
    raw = text.encode()
    return b"\x19Ethereum Signed Message:\n" + str(len(raw)).encode() + raw


def _signature(text: str) -> bytes | None:
    """r, s and a recovery id of 0 or 1, as libsecp256k1 takes them."""
    if not _SIGNATURE.fullmatch(text):
        return None
    raw = bytes.fromhex(text[2:])
    r, s = int.from_bytes(raw[:32], "big"), int.from_bytes(raw[32:64], "big")
    recovery = _RECOVERY.get(raw[64])
    if recovery is None or not 0 < r < _ORDER or not 0 < s <= _ORDER // 2:
        return None
    return raw[:64] + bytes([recovery])


def _addresses(keys: Sequence[PublicKey]) -> list[str]:
    hashes = keccak256_many([key.format(compressed=False)[1:] for key in keys])
    return ["0x" + digest[-20:].hex() for digest in hashes]


def _recovered(signature: bytes, digest: bytes) -> PublicKey | None:
    try:
        from coincurve import PublicKey  # noqa: PLC0415  the optional extra
    except ImportError as error:
        raise Unavailable(NEEDS_EXTRA) from error
    try:
        return PublicKey.from_signature_and_message(signature, digest, hasher=None)
    except ValueError:  # r is the abscissa of no point
        return None


def _private(key: bytes) -> PrivateKey:
    try:
        from coincurve import PrivateKey  # noqa: PLC0415  the optional extra
    except ImportError as error:
        raise Unavailable(NEEDS_EXTRA) from error
    return PrivateKey(key)
