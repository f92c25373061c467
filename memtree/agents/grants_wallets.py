"""Wallets of either chain: which one an address is of, and whose signature this is.

Private keys of either chain. The server needs none: they are for `memtree grants` and tests.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from memtree.agents import ed25519, evm
from memtree.agents.grant import Chain


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
