"""Decide what a grant opens from what is known of it.

The order of the checks is what keeps a secret: whether a wallet is bound here, or a grant revoked,
is told only to whom a valid signature of that wallet names.
"""

from __future__ import annotations

import enum
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass

from memtree.memories.agents.agent_memory import AgentScopes
from memtree.memories.grants.grant import GrantPayload
from memtree.memories.grants.signatures.wallets import canonical_address


class Refusal(enum.StrEnum):
    """Why a grant opens nothing."""

    EXPIRED = "it has expired"
    BAD_SIGNATURE = "its signature is not its grantor's"
    GIVEN = "you gave it: its grantee alone can use it"
    WRONG_GRANTEE = "its grantee is no wallet that you have proved to own"
    REVOKED = "it was revoked"
    UNKNOWN_GRANTOR = "its grantor has no memories here"
    OTHER_AGENT = "it is for another agent"
    OTHER_SUBJECT = "it is for another subject"

    @property
    def narrows(self) -> bool:
        """The grant is sound; the request just asks for something else."""
        return self in (Refusal.OTHER_AGENT, Refusal.OTHER_SUBJECT)


@dataclass(frozen=True, slots=True)
class GrantFacts:
    """`tenants`: those of the wallets, by canonical address. `revoked`: digests of grants."""

    now: float
    tenants: Mapping[str, str]
    revoked: Collection[bytes]


def opens(
    payload: GrantPayload,
    digest: bytes,
    facts: GrantFacts,
    tenant: str,
    wanted: AgentScopes | None,
    *,
    signed: bool,
) -> AgentScopes | Refusal:
    """Return the scopes that a grant opens for the tenant that asks, or why it opens none.
    `signed`: its signature is valid. `wanted`: the agent and subject that the request names; where
    it names none, or does not narrow them, those of the grant count."""
    if payload.expires <= facts.now:
        return Refusal.EXPIRED
    if not signed:
        return Refusal.BAD_SIGNATURE
    grantor = _tenant(payload.grantor, facts)
    given = grantor == tenant
    taken = _tenant(payload.grantee, facts) == tenant
    if not given and not taken:
        return Refusal.WRONG_GRANTEE
    if digest in facts.revoked:
        return Refusal.REVOKED
    if not taken:
        return Refusal.GIVEN
    if grantor is None:
        return Refusal.UNKNOWN_GRANTOR
    agent = wanted.agent if wanted else None
    subject = (wanted.subject or None) if wanted else None
    if agent is not None and payload.agent not in (None, agent):
        return Refusal.OTHER_AGENT
    if subject is not None and payload.subject not in (None, subject):
        return Refusal.OTHER_SUBJECT
    return AgentScopes(grantor, agent or payload.agent, subject or payload.subject)


def without_covered(scopes: Iterable[AgentScopes]) -> tuple[AgentScopes, ...]:
    """Each once, and none that another one holds."""
    kept: list[AgentScopes] = []
    for scope in scopes:
        if not any(_covers(other, scope) for other in kept):
            kept = [other for other in kept if not _covers(scope, other)]
            kept.append(scope)
    return tuple(kept)


def _covers(wide: AgentScopes, narrow: AgentScopes) -> bool:
    return (
        wide.tenant == narrow.tenant
        and wide.agent in (None, narrow.agent)
        and wide.subject in (None, narrow.subject)
    )


def _tenant(address: str, facts: GrantFacts) -> str | None:
    return facts.tenants.get(canonical_address(address) or "")
