"""Wallets whose keys everybody knows, and what they sign."""

from __future__ import annotations

from dataclasses import dataclass
from hashlib import sha256

from memtree.agents.grant import Chain, GrantPayload, SignedGrant, signed_text
from memtree.agents.wallets import (
    ADDRESS_HEADER,
    SIGNATURE_HEADER,
    TIMESTAMP_HEADER,
    PrivateKey,
    WalletProof,
    proof_text,
)

NOW = 1_760_000_000.0


@dataclass(frozen=True)
class Wallet:
    """`address`: as wallets show it."""

    name: str
    chain: Chain = Chain.EVM

    @property
    def key(self) -> bytes:
        return sha256(f"test wallet {self.name}".encode()).digest()

    @property
    def private(self) -> PrivateKey:
        return PrivateKey(self.chain, self.key)

    @property
    def address(self) -> str:
        return self.private.address

    @property
    def canonical(self) -> str:
        return self.address.lower() if self.chain is Chain.EVM else self.address

    def sign(self, text: str) -> str:
        return self.private.sign(text)

    def grant(
        self,
        grantee: Wallet,
        *,
        expires: float = NOW + 3600,
        agent: str | None = None,
        subject: str | None = None,
    ) -> SignedGrant:
        payload = GrantPayload(self.address, grantee.address, int(expires), agent, subject)
        return SignedGrant(payload, self.sign(signed_text(payload)), self.chain)

    def proof(
        self,
        method: str = "POST",
        path: str = "/wallets",
        body: bytes = b"",
        at: float = NOW,
    ) -> WalletProof:
        timestamp = str(int(at * 1000))
        signature = self.sign(proof_text(method, path, sha256(body).hexdigest(), timestamp))
        return WalletProof(self.address, timestamp, signature, method, (path,), body)

    def headers(self, method: str, path: str, body: bytes = b"", at: float = NOW) -> dict[str, str]:
        proof = self.proof(method, path, body, at)
        return {
            ADDRESS_HEADER: proof.address,
            TIMESTAMP_HEADER: proof.timestamp,
            SIGNATURE_HEADER: proof.signature,
        }


@dataclass
class FixedClock:
    time: float = NOW

    def now(self) -> float:
        return self.time

    def monotonic(self) -> float:
        return self.time
