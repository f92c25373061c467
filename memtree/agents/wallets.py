"""Tell wallets of either chain apart, and check their signatures and the proofs of requests.

A proof shows for two minutes whose wallet sent a request. The signed text names method, path, body
and time, but no server and no wallet: so a proof counts for one tenant only, and is known by its
text and its wallet.

The server needs no private keys: they are for `memtree grants` and tests.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from memtree.agents import ed25519, evm
from memtree.agents.grant import Chain
from memtree.errors import BadRequest, Unauthorized


def chain_of(address: str) -> Chain | None:
    """By its form; None for what is no address."""
    if evm.canonical(address) is not None:
        return Chain.EVM
    return None if ed25519.canonical(address) is None else Chain.SOLANA


def canonical_address(address: str) -> str | None:
    """The one form that a wallet is stored and compared in; None for what is no address."""
    return evm.canonical(address) or ed25519.canonical(address)


class SignedMessage(NamedTuple):
    """A text, and the signature that is said to be this address's."""

    address: str
    text: str
    signature: str


def are_signed(messages: Sequence[SignedMessage]) -> list[bool]:
    """Return for each message whether it is signed. False for what is no address. Raises
    `Unavailable` where the package of a chain is missing."""
    wanted = [evm.canonical(message.address) for message in messages]
    signers = iter(
        evm.signers([row[1:] for row, of in zip(messages, wanted, strict=True) if of is not None])
    )
    return [
        ed25519.is_signed_by(*row) if of is None else next(signers) == of
        for row, of in zip(messages, wanted, strict=True)
    ]


def is_signed_by(address: str, text: str, signature: str) -> bool:
    return are_signed([SignedMessage(address, text, signature)])[0]


def shown_address(address: str) -> str:
    """Write an address as wallets show it."""
    return address if evm.canonical(address) is None else evm.checksummed(address)


@dataclass(frozen=True, slots=True)
class PrivateKey:
    """`raw`: 32 bytes; never shown by accident. Everything raises `Unavailable` where the chain's
    package is missing."""

    chain: Chain
    raw: bytes = field(repr=False)

    @property
    def address(self) -> str:
        """Address of the key, as wallets show it."""
        if self.chain is Chain.EVM:
            return evm.address_of(self.raw)
        return ed25519.address_of(self.raw)

    @property
    def exported(self) -> str:
        """Key as wallets import it."""
        if self.chain is Chain.EVM:
            return evm.shown_key(self.raw)
        return ed25519.shown_key(self.raw)

    def sign(self, text: str) -> str:
        if self.chain is Chain.EVM:
            return evm.sign(text, self.raw)
        return ed25519.sign(text, self.raw)


def read_private_key(text: str) -> PrivateKey | None:
    """Read a private key as wallets export it; None for what is no key. No text is a key of both
    chains."""
    if (raw := evm.read_key(text)) is not None:
        return PrivateKey(Chain.EVM, raw)
    if (raw := ed25519.read_key(text)) is not None:
        return PrivateKey(Chain.SOLANA, raw)
    return None


WINDOW_SECONDS = 120
ADDRESS_HEADER = "x-wallet-address"
TIMESTAMP_HEADER = "x-wallet-timestamp"
SIGNATURE_HEADER = "x-wallet-signature"

_TIMESTAMP = re.compile(r"[0-9]{1,16}")


@dataclass(frozen=True, slots=True)
class WalletProof:
    """Proof of a wallet as it was sent. `timestamp`: unix milliseconds. `paths`: the ways to write
    the request's path that a client may have signed, the likeliest first. `body`: the bytes that
    were received."""

    address: str
    timestamp: str
    signature: str
    method: str
    paths: tuple[str, ...]
    body: bytes


@dataclass(frozen=True, slots=True)
class ProvenWallet:
    """`address`: canonical. `digest`: what the proof is known by, `until`: as long as it counts, in
    unix seconds."""

    address: str
    digest: bytes
    until: float


def proof_text(method: str, path: str, body_hash: str, timestamp: str) -> str:
    """Return the text that the wallet signs. `body_hash`: sha256 of the body, in hex."""
    return f"{method}|{path}|{body_hash}|{timestamp}"


def proven(proof: WalletProof, now: float) -> ProvenWallet:
    """Raises `BadRequest` for headers that cannot be read, `Unauthorized` for a proof that does not
    hold or is not of now, and `Unavailable` where the package of its chain is missing."""
    address = canonical_address(proof.address)
    if address is None:
        raise BadRequest(f"{ADDRESS_HEADER} must be the address of a wallet", param=ADDRESS_HEADER)
    if not _TIMESTAMP.fullmatch(proof.timestamp):
        raise BadRequest(f"{TIMESTAMP_HEADER} must be unix milliseconds", param=TIMESTAMP_HEADER)
    signed_at = int(proof.timestamp) / 1000
    if abs(now - signed_at) > WINDOW_SECONDS:
        raise Unauthorized(
            f"{TIMESTAMP_HEADER} is more than {WINDOW_SECONDS} seconds away from the server's time",
            param=TIMESTAMP_HEADER,
        )
    body_hash = hashlib.sha256(proof.body).hexdigest()
    texts = [proof_text(proof.method, path, body_hash, proof.timestamp) for path in proof.paths]
    signed = are_signed([SignedMessage(address, text, proof.signature) for text in texts])
    for text in (text for text, valid in zip(texts, signed, strict=True) if valid):
        digest = hashlib.sha256(f"{address}|{text}".encode()).digest()
        return ProvenWallet(address, digest, signed_at + WINDOW_SECONDS)
    raise Unauthorized(
        f"{SIGNATURE_HEADER} is not this wallet's signature of this request: it signs "
        "METHOD|path|sha256 of the body in hex|timestamp",
        param=SIGNATURE_HEADER,
    )
