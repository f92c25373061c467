"""Define a grant (who opens what for whom, until when), its signed text, and the port of its store.

The text that a wallet signs is a prefix and the base64 of the payload as `JSON.stringify` writes it
with sorted keys; the digest of this text is what a grant is known by. The text is written anew from
the checked values, never taken from a request. Ids and addresses are ASCII without quotes, and a
time is a whole number, so there is one way to write them.

The store keeps whose wallets are, which proofs were used, and what was revoked. Grants themselves
are not kept: they come with each request.
"""

from __future__ import annotations

import base64
import enum
import hashlib
import json
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Protocol

from memtree.agents.agent_memory import AgentScopes
from memtree.errors import needs_extra

NEEDS_EXTRA = needs_extra("a grant or wallet", "agents")
MAX_GRANTS = 32  # of one request
MAX_HEADER_BYTES = 16_384


class Chain(enum.StrEnum):
    """Kind of the wallet that signed."""

    EVM = "evm"
    SOLANA = "sol"


@dataclass(frozen=True, slots=True)
class GrantPayload:
    """`grantor` and `grantee`: wallet addresses as signed. `agent`, `subject`: None: not limited.
    `expires`: unix seconds."""

    grantor: str
    grantee: str
    expires: int
    agent: str | None = None
    subject: str | None = None


@dataclass(frozen=True, slots=True)
class SignedGrant:
    payload: GrantPayload
    signature: str
    chain: Chain


@dataclass(frozen=True, slots=True)
class OpenedGrants:
    """Scopes that the grants of a request open for the tenant that asks. `warnings`: why other
    grants open nothing, as in "grant 2: expired", without addresses and signatures."""

    scopes: tuple[AgentScopes, ...] = ()
    warnings: tuple[str, ...] = ()


PREFIX = "zkstash:grant:v1:"


def payload_json(payload: GrantPayload) -> dict[str, str | int]:
    """`p` of a grant: what is not limited is left out; keys in their order."""
    fields: dict[str, str | int | None] = {
        "a": payload.agent,
        "e": payload.expires,
        "f": payload.grantor,
        "g": payload.grantee,
        "u": payload.subject,
    }
    return {name: value for name, value in fields.items() if value is not None}


def signed_text(payload: GrantPayload) -> str:
    shown = json.dumps(payload_json(payload), separators=(",", ":"), ensure_ascii=False)
    return PREFIX + base64.b64encode(shown.encode()).decode()


def grant_digest(payload: GrantPayload) -> bytes:
    """Return the digest that a grant is known by, as its revocation is."""
    return hashlib.sha256(signed_text(payload).encode()).digest()


class WalletStore(Protocol):
    """Addresses are canonical (`wallets.canonical_address`). Times are unix seconds. Raises as
    `MemoryStore` does."""

    async def prove_wallet(self, address: str, tenant: str, proof: bytes, until: float) -> None:
        """A tenant showed a valid proof (sha256 of its signed text): the wallet is bound to it, if
        it was nobody's. `Conflict` where the wallet is another tenant's, `Forbidden` where another
        tenant used the proof: that is known until ten minutes after `until`, for clocks differ.
        The same tenant may use it again. Over any number of processes, of two tenants at once one
        wins."""
        ...

    async def wallet_tenants(self, addresses: Collection[str]) -> Mapping[str, str]:
        """By address; those that are bound."""
        ...

    async def wallets(self, tenant: str) -> list[tuple[str, float]]:
        """Addresses bound to a tenant, and since when; oldest first."""
        ...

    async def release_wallet(self, address: str, tenant: str) -> bool:
        """Let another tenant bind it; whether it was this tenant's."""
        ...

    async def revoke_grant(self, digest: bytes, grantor: str, tenant: str, expires: float) -> bool:
        """From now on, until the grant would have expired; also after the tenant was erased.
        Whether it is new."""
        ...

    async def revoked_grants(self, digests: Collection[bytes]) -> set[bytes]:
        """Those of these digests that are revoked."""
        ...
