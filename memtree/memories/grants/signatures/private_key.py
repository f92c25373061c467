"""Private keys of either chain. The server needs none: they are for `memtree grants` and tests."""

from __future__ import annotations

from dataclasses import dataclass, field

from memtree.memories.grants.grant import Chain
from memtree.memories.grants.signatures import ed25519, evm


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
