"""Sign and verify for EVM wallets: `personal_sign` (EIP-191), addresses (EIP-55) and Keccak-256.

No other file knows coincurve. A signature can be changed into another one that recovers the same
address (s to n - s), so the larger s is refused, as chains do since EIP-2; libraries make the
smaller.

Keccak-256, the hash of EVM chains, is SHA3-256 with the padding of before the standard, so
`hashlib` does not have it. Many messages are hashed together: a lane of the state is one integer
that holds that lane of all of them, 64 bits each. Python's time for an operation hardly depends on
its width, so that 32 messages take less than twice the time of one
(docs/decisions/0028-agent-memories.md).
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

from memtree.agents.grant import NEEDS_EXTRA
from memtree.errors import Unavailable

RATE = 136  # bytes of a message that one permutation takes in

_LANE = 8  # bytes
_MASK = (1 << 64) - 1


def keccak256(message: bytes, padding: int = 1) -> bytes:
    """`padding`: its first byte; 6 makes it SHA3-256.

    >>> keccak256(b"abc").hex()
    '4e03657aea45a94fc7d47ba826c8d667c0d1e6e33a64a036ec44f58fa12d6c45'
    """
    return keccak256_many([message], padding)[0]


def keccak256_many(messages: Sequence[bytes], padding: int = 1) -> list[bytes]:
    """The hash of each. All take as long as the longest of them."""
    padded = [_padded(message, padding) for message in messages]
    state, steps = [0] * 25, _Permutation(len(messages))
    hashes = [b""] * len(messages)
    for end in range(RATE, max(map(len, padded), default=0) + 1, RATE):
        blocks = [message[end - RATE : end].ljust(RATE, b"\0") for message in padded]
        for lane in range(RATE // _LANE):
            at = lane * _LANE
            joined = b"".join(block[at : at + _LANE] for block in blocks)
            state[lane] ^= int.from_bytes(joined, "little")
        state = steps.permuted(state)
        ended = [place for place, message in enumerate(padded) if len(message) == end]
        lanes = [lane.to_bytes(_LANE * len(messages), "little") for lane in state[:4]]
        for place in ended:
            at = place * _LANE
            hashes[place] = b"".join(lane[at : at + _LANE] for lane in lanes)
    return hashes


def _padded(message: bytes, padding: int) -> bytes:
    whole = bytearray(message) + bytes([padding]) + bytes(-(len(message) + 1) % RATE)
    whole[-1] |= 0x80
    return bytes(whole)


def _round_constants() -> tuple[int, ...]:
    """Those of FIPS 202, section 3.2.5."""
    constants, register = [], 1
    for _ in range(24):
        constant = 0
        for bit in range(7):
            constant |= (register & 1) << ((1 << bit) - 1)
            register = (register << 1) ^ (0x171 if register & 0x80 else 0)
        constants.append(constant)
    return tuple(constants)


def _moves() -> tuple[tuple[int, int], ...]:
    """For each lane that a round writes (rho and pi, sections 3.2.2 and 3.2.3): the lane that it
    comes from, and by how many bits it is rotated."""
    moves = {0: (0, 0)}
    x, y = 1, 0
    for turn in range(24):
        target_x, target_y = y, (2 * x + 3 * y) % 5
        moves[target_x + 5 * target_y] = (x + 5 * y, (turn + 1) * (turn + 2) // 2 % 64)
        x, y = target_x, target_y
    return tuple(moves[lane] for lane in range(25))


_ROUNDS = _round_constants()
_MOVES = _moves()


class _Permutation:
    """Keccak-f[1600] of several states at once; lane (x, y) of them all stands at x + 5y."""

    def __init__(self, states: int) -> None:
        ones = int.from_bytes((1).to_bytes(_LANE, "little") * states, "little")
        self._full = ones * _MASK
        self._rounds = [constant * ones for constant in _ROUNDS]
        # What stays of a lane that is shifted up, and what comes in again below.
        self._moves = [
            (source, turn, ones * (_MASK << turn & _MASK), ones * (_MASK >> 64 - turn))
            for source, turn in _MOVES
        ]
        self._up, self._below = ones * (_MASK - 1), ones

    def permuted(self, a: list[int]) -> list[int]:
        """Columns are written out: loops double the time."""
        full, up, below = self._full, self._up, self._below
        for constant in self._rounds:
            c0 = a[0] ^ a[5] ^ a[10] ^ a[15] ^ a[20]
            c1 = a[1] ^ a[6] ^ a[11] ^ a[16] ^ a[21]
            c2 = a[2] ^ a[7] ^ a[12] ^ a[17] ^ a[22]
            c3 = a[3] ^ a[8] ^ a[13] ^ a[18] ^ a[23]
            c4 = a[4] ^ a[9] ^ a[14] ^ a[19] ^ a[24]
            theta = (
                c4 ^ (c1 << 1 & up | c1 >> 63 & below),
                c0 ^ (c2 << 1 & up | c2 >> 63 & below),
                c1 ^ (c3 << 1 & up | c3 >> 63 & below),
                c2 ^ (c4 << 1 & up | c4 >> 63 & below),
                c3 ^ (c0 << 1 & up | c0 >> 63 & below),
            ) * 5
            b = [
                (lane := a[source] ^ theta[source]) << turn & high | lane >> 64 - turn & low
                for source, turn, high, low in self._moves
            ]
            a = []
            for row in (0, 5, 10, 15, 20):
                b0, b1, b2, b3, b4 = b[row : row + 5]
                a += (b0 ^ (full ^ b1) & b2, b1 ^ (full ^ b2) & b3, b2 ^ (full ^ b3) & b4)
                a += (b3 ^ (full ^ b4) & b0, b4 ^ (full ^ b0) & b1)
            a[0] ^= constant
        return a


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
