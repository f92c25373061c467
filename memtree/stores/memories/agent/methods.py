"""What agent memories ask of a store, over SQL."""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Mapping, Sequence

from memtree.errors import StoreUnavailable
from memtree.memories.agents.agent_memory import (
    AgentPage,
    AgentScopes,
    LocatedMemory,
    StructuredResult,
    StructuredWrite,
)
from memtree.memories.memory import Memory, MemoryChange
from memtree.memories.ports import ANY, MemoryFilter
from memtree.memories.schemas.memory_schema import MemorySchema
from memtree.memories.schemas.ports import UniqueKey
from memtree.memories.scope import Scope
from memtree.stores.memories.agent import (
    locating,
    several,
    wallets,
    writing,
)
from memtree.stores.memories.agent.schemas import (
    ScopesChanged,
    delete_schema,
    put_schema,
    schemas,
)
from memtree.stores.memories.agent.unique import unique_holders
from memtree.stores.memories.transactions import MemoryTransactions
from memtree.stores.sql import Work

TRIES = 20  # while others store memories of a kind in scopes that had none


class SqlAgentMemories(MemoryTransactions):
    """Its docstrings are those of the ports."""

    # -- structured memories -----------------------------------------------------------------

    async def write(
        self,
        scope: Scope,
        writes: Sequence[StructuredWrite],
        *,
        done: Sequence[bytes] = (),
        idempotency_key: str = "",
        most: int = 0,
    ) -> list[StructuredResult] | None:
        return await self.write_memories(
            lambda sql: writing.write(
                sql,
                scope,
                writes,
                done=done,
                idempotency_key=idempotency_key,
                most=most,
                now=self.now(),
            )
        )

    async def unique_holders(
        self, scope: Scope, kind: str, keys: Sequence[bytes]
    ) -> dict[bytes, Memory]:
        return await self.read_memories(
            lambda sql: unique_holders(sql, scope, kind, keys, self.now())
        )

    async def locate(
        self, scopes: AgentScopes, ids: Sequence[str], also: Sequence[Scope] = ()
    ) -> list[LocatedMemory]:
        return await self.read_memories(
            lambda sql: locating.locate(sql, scopes, ids, also, self.now())
        )

    async def agent_page(
        self,
        scopes: AgentScopes,
        wanted: MemoryFilter = ANY,
        *,
        before: int | None = None,
        limit: int = 100,
    ) -> AgentPage:
        return await self.read_memories(
            lambda sql: locating.agent_page(
                sql, scopes, wanted, before=before, limit=limit, now=self.now()
            )
        )

    async def change_all(
        self, rows: Sequence[tuple[Scope, str]], change: MemoryChange
    ) -> list[LocatedMemory]:
        return await self.write_memories(
            lambda sql: several.change_all(sql, rows, change, now=self.now())
        )

    async def delete_all(
        self, rows: Sequence[tuple[Scope, str]], *, purge: bool = False
    ) -> list[tuple[Scope, str]]:
        gone = await self.write_memories(
            lambda sql: several.delete_all(sql, rows, purge=purge, now=self.now())
        )
        if purge:
            await self.scrub_memories(at_once=True)
        return gone

    async def delete_matching_all(
        self, scopes: AgentScopes, wanted: MemoryFilter, *, purge: bool = False
    ) -> list[tuple[Scope, str]]:
        gone = await self.write_memories(
            lambda sql: several.delete_matching_all(
                sql, scopes, wanted, purge=purge, now=self.now()
            )
        )
        if purge:
            await self.scrub_memories(at_once=True)
        return gone

    # -- schemas -----------------------------------------------------------------------------

    async def schemas(self, tenant: str) -> list[MemorySchema]:
        return await self.read_memories(lambda sql: schemas(sql, tenant))

    async def put_schema(
        self,
        tenant: str,
        schema: MemorySchema,
        unique_key: UniqueKey,
        *,
        most: int,
        once: bool = False,
        expected: MemorySchema | None = None,
    ) -> bool:
        return await self._with_scopes(
            lambda sql: put_schema(
                sql,
                tenant,
                schema,
                unique_key,
                most=most,
                now=self.now(),
                once=once,
                expected=expected,
            )
        )

    async def delete_schema(self, tenant: str, kind: str) -> bool:
        return await self._with_scopes(lambda sql: delete_schema(sql, tenant, kind))

    async def _with_scopes(self, work: Work[bool]) -> bool:
        for _ in range(TRIES):
            try:
                return await self.write_memories(work)
            except ScopesChanged:
                await asyncio.sleep(0)
        raise StoreUnavailable("Many memories of this kind are being stored: try again.")

    # -- wallets and grants ------------------------------------------------------------------

    async def prove_wallet(self, address: str, tenant: str, proof: bytes, until: float) -> None:
        await self.write_memories(
            lambda sql: wallets.prove_wallet(sql, address, tenant, proof, until, self.now())
        )

    async def wallet_tenants(self, addresses: Collection[str]) -> Mapping[str, str]:
        return await self.read_memories(lambda sql: wallets.wallet_tenants(sql, addresses))

    async def wallets(self, tenant: str) -> list[tuple[str, float]]:
        return await self.read_memories(lambda sql: wallets.wallets(sql, tenant))

    async def release_wallet(self, address: str, tenant: str) -> bool:
        return await self.write_memories(lambda sql: wallets.release_wallet(sql, address, tenant))

    async def revoke_grant(self, digest: bytes, grantor: str, tenant: str, expires: float) -> bool:
        return await self.write_memories(
            lambda sql: wallets.revoke_grant(sql, digest, grantor, tenant, expires, self.now())
        )

    async def revoked_grants(self, digests: Collection[bytes]) -> set[bytes]:
        return await self.read_memories(lambda sql: wallets.revoked_grants(sql, digests))
