"""Check grants and the wallets that sign them, and decide what each grant opens.

    prove    a request's proof -> the wallet is the tenant's from now on
    opened   the grants of a search -> the scopes of others that they open, and why some do not
    revoke   a grant, by the tenant of its grantor

Grants are not kept: they come with each request. Valid signatures are remembered in the process.
Times, wallets and revocations are looked at each time.

The order of the checks keeps a secret: whether a wallet is bound here, or a grant revoked, is told
only to the tenants whom a grant with a valid signature names, its grantor and its grantee.
"""

from __future__ import annotations

import asyncio
import enum
import hashlib
from collections import OrderedDict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass

from memtree.agents.agent_memory import AgentScopes
from memtree.agents.grant import (
    GrantPayload,
    OpenedGrants,
    SignedGrant,
    WalletStore,
    grant_digest,
    signed_text,
)
from memtree.agents.grant_json import HEADER, read_header
from memtree.agents.wallets import (
    ProvenWallet,
    SignedMessage,
    WalletProof,
    are_signed,
    canonical_address,
    proven,
)
from memtree.clock import Clock
from memtree.errors import BadRequest, Forbidden, NotFound
from memtree.process.bounded import remember


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


MAX_CACHED = 4_096  # valid signatures of a process, some 100 bytes each
CLOCKS_DIFFER = 3_600.0  # seconds for which another server may take a grant that has expired here
OFF_LOOP = 2  # so many signatures are checked in a thread


@dataclass(frozen=True, slots=True)
class GrantReport:
    """Report on what a grant would open for the tenant that asks, or why nothing. `digest`: what it
    is known by."""

    grant: SignedGrant
    digest: bytes
    opens: AgentScopes | Refusal


class GrantBook:
    """Bound to its store; safe for concurrent calls."""

    def __init__(self, store: WalletStore, clock: Clock) -> None:
        self._store, self._clock = store, clock
        self._valid: OrderedDict[bytes, None] = OrderedDict()

    # -- grants ------------------------------------------------------------------------------

    async def opened(
        self,
        tenant: str,
        header: str | None,
        wanted: AgentScopes | None = None,
        *,
        strict: bool = False,
    ) -> OpenedGrants:
        """`header`: the value of `x-grants`. `wanted`: the agent and subject that the request
        names (of any tenant; `subject` "" is not narrowed), None for none. The scopes may overlap,
        and may be the tenant's own.

        `strict`: raises `Forbidden` where a grant is not sound; what is just for another agent
        or subject is a warning still. `BadRequest`, `HeadersTooLarge` as `read_header`, and
        `BadRequest` where `strict` has no grants.
        """
        given = read_header(header) if header else []
        if strict and not given:
            raise BadRequest(f"scope=shared needs grants in {HEADER}", param=HEADER)
        grants = [grant for grant in given if isinstance(grant, SignedGrant)]
        judged = iter(await self._judged(tenant, grants, wanted))
        scopes: list[AgentScopes] = []
        warnings: list[str] = []
        for number, grant in enumerate(given, start=1):
            verdict = next(judged) if isinstance(grant, SignedGrant) else grant
            if isinstance(verdict, AgentScopes):
                scopes.append(verdict)
                continue
            warning = f"grant {number}: {verdict}"
            if strict and not (isinstance(verdict, Refusal) and verdict.narrows):
                raise Forbidden(f"{HEADER}: {warning}", param=HEADER)
            warnings.append(warning)
        return OpenedGrants(without_covered(scopes), tuple(warnings))

    async def inspected(self, tenant: str, grant: SignedGrant) -> GrantReport:
        """Report what it would open for a tenant now, in a request that names no agent."""
        (verdict,) = await self._judged(tenant, [grant], None)
        return GrantReport(grant, grant_digest(grant.payload), verdict)

    async def revoke(self, tenant: str, grant: SignedGrant) -> bool:
        """From now on it opens nothing, on any server of this store. Whether it was not revoked
        before, and has not expired. Raises `Forbidden` unless the tenant is the grantor's."""
        (signed,) = await self._signed([grant])
        if not signed:
            raise Forbidden(f"the grant cannot be revoked: {Refusal.BAD_SIGNATURE}", param="grant")
        grantor = canonical_address(grant.payload.grantor) or ""
        if (await self._store.wallet_tenants([grantor])).get(grantor) != tenant:
            raise Forbidden(
                "only its grantor can revoke the grant: prove first that you own that wallet",
                param="grant",
            )
        if grant.payload.expires <= self._clock.now():
            return False
        until = grant.payload.expires + CLOCKS_DIFFER
        return await self._store.revoke_grant(grant_digest(grant.payload), grantor, tenant, until)

    # -- wallets -----------------------------------------------------------------------------

    async def proven(self, proof: WalletProof) -> ProvenWallet:
        """Raises as `wallets.proven`."""
        return await asyncio.to_thread(proven, proof, self._clock.now())

    async def prove(self, tenant: str, wallet: ProvenWallet) -> None:
        """The wallet is this tenant's from now on. Raises `Conflict` where it is another's, and
        `Forbidden` where another tenant used this proof."""
        await self._store.prove_wallet(wallet.address, tenant, wallet.digest, wallet.until)

    async def wallets(self, tenant: str) -> list[tuple[str, float]]:
        """Canonical addresses, and since when they are this tenant's (unix seconds)."""
        return await self._store.wallets(tenant)

    async def release(self, tenant: str, address: str, *, dry_run: bool = False) -> None:
        """Let another tenant have it. `dry_run`: only check that it is this tenant's. Raises
        `BadRequest` for what is no address, `NotFound` where it is not this tenant's."""
        known = canonical_address(address)
        if known is None:
            raise BadRequest("address must be the address of a wallet", param="address")
        if dry_run:
            mine = any(known == wallet for wallet, _ in await self._store.wallets(tenant))
        else:
            mine = await self._store.release_wallet(known, tenant)
        if not mine:
            raise NotFound("You have no wallet with this address.", param="address")

    # -- checking ----------------------------------------------------------------------------

    async def _judged(
        self, tenant: str, grants: Sequence[SignedGrant], wanted: AgentScopes | None
    ) -> list[AgentScopes | Refusal]:
        if not grants:
            return []
        now = self._clock.now()
        live = [grant for grant in grants if grant.payload.expires > now]
        signed = dict(zip(live, await self._signed(live), strict=True))
        sound = [grant for grant in live if signed[grant]]
        addresses = {
            canonical_address(address) or ""
            for grant in sound
            for address in (grant.payload.grantor, grant.payload.grantee)
        }
        digests = {grant: grant_digest(grant.payload) for grant in sound}
        facts = GrantFacts(
            now,
            await self._store.wallet_tenants(sorted(addresses)) if sound else {},
            await self._store.revoked_grants(sorted(digests.values())) if sound else (),
        )
        return [
            opens(
                grant.payload,
                digests.get(grant, b""),
                facts,
                tenant,
                wanted,
                signed=signed.get(grant, False),
            )
            for grant in grants
        ]

    async def _signed(self, grants: Sequence[SignedGrant]) -> list[bool]:
        """Return for each grant whether its signature is valid."""
        messages = [
            SignedMessage(one.payload.grantor, signed_text(one.payload), one.signature)
            for one in grants
        ]
        # Text and signature: a valid signature of a text says nothing of another one.
        keys = [hashlib.sha256(f"{one.text}|{one.signature}".encode()).digest() for one in messages]
        new = {key: one for key, one in zip(keys, messages, strict=True) if key not in self._valid}
        if len(new) < OFF_LOOP:
            checked = are_signed([*new.values()])
        else:
            checked = await asyncio.to_thread(are_signed, [*new.values()])
        invalid = {key for key, valid in zip(new, checked, strict=True) if not valid}
        for key in keys:
            if key not in invalid:
                remember(self._valid, key, None, MAX_CACHED)
        return [key not in invalid for key in keys]
