"""A wallet's proof in a request: who sent it, for two minutes.

The signed text names method, path, body and time, but no server and no wallet: so a proof counts
for one tenant only, and is known by its text and its wallet.
"""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass

from memtree.agents.grants_wallets import SignedMessage, are_signed, canonical_address
from memtree.errors import BadRequest, Unauthorized

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
