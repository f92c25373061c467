"""A grant, as values: who opens what for whom, until when."""

from __future__ import annotations

import enum
from dataclasses import dataclass

from memtree.memories.agents.agent_memory import AgentScopes

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
