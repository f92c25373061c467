"""Wallets of either chain: which one an address is of, and whose signature this is."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from memtree.memories.grants.grant import Chain
from memtree.memories.grants.signatures import ed25519, evm


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
