"""Port of a store of grants: whose wallets are, which proofs were used, what was revoked. Grants
themselves are not kept: they come with each request."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Protocol


class WalletStore(Protocol):
    """Addresses are canonical (`grants/signatures/wallets.py`). Times are unix seconds. Raises as
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
