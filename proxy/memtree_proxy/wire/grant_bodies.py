"""Requests and answers of grants and wallets."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any, Literal

import msgspec
from msgspec import Meta

from memtree.agents.agent_memory import AgentScopes
from memtree.agents.grant import Chain, SignedGrant
from memtree.agents.grant_book import GrantReport
from memtree.agents.grant_json import MAX_CODE_CHARS, read_grant, read_share_code
from memtree.agents.wallets import chain_of, shown_address
from memtree.errors import BadRequest
from memtree.memories.checked_fields import shown as shown_time
from memtree_proxy.http.decoding import FieldError, Posted
from memtree_proxy.wire.values import Answer, Success

GRANT, SHARE_CODE = "grant", "shareCode"
ChainName = Literal["evm", "sol"]


class PostedGrant(Posted, frozen=True):
    """Body with a grant, or with a share code that holds a grant."""

    grant: dict[str, Any] | None = None
    share_code: Annotated[str, Meta(max_length=MAX_CODE_CHARS)] | None = msgspec.field(
        default=None, name=SHARE_CODE
    )

    def check(self) -> None:
        if (self.grant is None) == (self.share_code is None):
            raise FieldError(GRANT, f"or {SHARE_CODE} is required, and not both")

    def signed(self) -> SignedGrant:
        """Read the grant. Raises `BadRequest` naming the field."""
        name = GRANT if self.share_code is None else SHARE_CODE
        try:
            code = self.share_code
            return read_grant(self.grant) if code is None else read_share_code(code)
        except BadRequest as error:
            if error.param in (GRANT, SHARE_CODE):
                raise
            raise BadRequest(f"{name}.{error.message}", param=f"{name}.{error.param}") from None


class ShownGrant(Success, frozen=True, kw_only=True, rename="camel"):
    """The terms of a grant, and what it opens for the tenant that asks."""

    id: str
    chain: ChainName
    grantor: str
    grantee: str
    agent_id: str | None
    subject_id: str | None
    expires_at: int
    opens: bool
    reason: str | None

    @classmethod
    def of(cls, report: GrantReport) -> ShownGrant:
        payload, opens = report.grant.payload, report.opens
        return cls(
            id=report.digest.hex(),
            chain=report.grant.chain.value,
            grantor=shown_address(payload.grantor),
            grantee=shown_address(payload.grantee),
            agent_id=payload.agent,
            subject_id=payload.subject,
            expires_at=payload.expires * 1000,
            opens=isinstance(opens, AgentScopes),
            reason=None if isinstance(opens, AgentScopes) else opens,
        )


class ShownWallet(Answer, frozen=True, kw_only=True):
    address: str
    chain: ChainName
    since: str


class Wallets(Success, frozen=True, kw_only=True):
    wallets: Sequence[ShownWallet]

    @classmethod
    def of(cls, rows: Sequence[tuple[str, float]]) -> Wallets:
        return cls(
            wallets=[
                ShownWallet(
                    address=shown_address(address),
                    chain=(chain_of(address) or Chain.EVM).value,
                    since=shown_time(since),
                )
                for address, since in rows
            ]
        )


class RevokedGrant(Success, frozen=True, kw_only=True):
    """`already`: it opened nothing before."""

    already: bool
