"""Rows of the tables of memories, as copies and audits read them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Annotated, NamedTuple

from memtree.stores.memories.scopes import ScopeRow


class MemoryTenantRow(NamedTuple):
    tenant: str
    last: int
    counted: int


class MemoryRow(NamedTuple):
    scope: int
    number: int
    id: str
    version: int
    changed: int
    event: int
    counted: int
    vectors: int
    expires: float
    deleted: float
    superseded_by: str
    duplicate_of: str
    kind: str
    category: str
    source_type: str
    session_id: str
    thread_id: str
    tags: str
    text_hash: bytes
    terms: bytes
    data: bytes
    created: float
    updated: float
    replaced: float
    tainted: int
    unique_key: str
    standing: int


class ConflictRow(NamedTuple):
    scope: int
    number: int
    other: int
    place: int
    differs: str


class HistoryRow(NamedTuple):
    scope: int
    number: int
    version: int
    data: bytes


class TombstoneRow(NamedTuple):
    scope: int
    number: int
    at: float
    data: bytes


class ErasedRow(NamedTuple):
    scope: int
    number: int
    id: str
    version: int
    event: int
    at: float


class MemoryVectorRow(NamedTuple):
    scope: int
    recipe: str
    number: int
    data: bytes


class MemoryRecipeRow(NamedTuple):
    scope: int
    recipe: str
    counted: int


class ShownRow(NamedTuple):
    scope: int
    conversation: bytes
    number: int
    version: int
    hit: float
    expires: float


class GroupRow(NamedTuple):
    scope: int
    id: str
    name: str
    created: float
    updated: float
    data: bytes


class GroupMemberRow(NamedTuple):
    scope: int
    group_id: str
    number: int
    added: float


class SettingsRow(NamedTuple):
    scope: int
    data: bytes


class ExtractedRow(NamedTuple):
    scope: int
    key: str
    number: int
    at: float


class PlanRow(NamedTuple):
    tenant: str
    plan: str


class SchemaRow(NamedTuple):
    tenant: str
    kind: str
    unique_on: str
    created: float
    updated: float
    data: bytes


class WalletRow(NamedTuple):
    address: str
    tenant: str
    bound: float


class WalletProofRow(NamedTuple):
    digest: bytes
    tenant: str
    expires: float


class RevocationRow(NamedTuple):
    digest: bytes
    grantor: str
    tenant: str
    at: float
    expires: float


class ProviderObjectRow(NamedTuple):
    digest: bytes
    expires: float


class TableKey(NamedTuple):
    """`columns`: names of those that tell a table's rows apart. `same`: columns that never differ
    between rows with the same key, so that two stores that assigned equal numbers are told apart.
    """

    columns: str
    same: str = ""


@dataclass(frozen=True, slots=True)
class MemoryRows:
    """All rows of all tenants, each table read once and in this order. Segments are left out, since
    an index can be rebuilt."""

    memory_tenants: Annotated[Iterable[MemoryTenantRow], TableKey("tenant")] = ()
    memory_schemas: Annotated[Iterable[SchemaRow], TableKey("tenant kind")] = ()
    memory_scopes: Annotated[
        Iterable[ScopeRow], TableKey("number", "tenant kind owner subject")
    ] = ()
    memories: Annotated[Iterable[MemoryRow], TableKey("scope number", "id")] = ()
    memory_history: Annotated[Iterable[HistoryRow], TableKey("scope number version")] = ()
    memory_tombstones: Annotated[Iterable[TombstoneRow], TableKey("scope number")] = ()
    erased_memories: Annotated[Iterable[ErasedRow], TableKey("scope event number", "id")] = ()
    memory_vectors: Annotated[Iterable[MemoryVectorRow], TableKey("scope number recipe")] = ()
    memory_recipes: Annotated[Iterable[MemoryRecipeRow], TableKey("scope recipe")] = ()
    memory_conflicts: Annotated[Iterable[ConflictRow], TableKey("scope number other")] = ()
    shown_memories: Annotated[Iterable[ShownRow], TableKey("scope conversation number")] = ()
    memory_groups: Annotated[Iterable[GroupRow], TableKey("scope id")] = ()
    memory_group_members: Annotated[
        Iterable[GroupMemberRow], TableKey("scope group_id number")
    ] = ()
    memory_settings: Annotated[Iterable[SettingsRow], TableKey("scope")] = ()
    extracted_messages: Annotated[Iterable[ExtractedRow], TableKey("scope key")] = ()
    tenant_plans: Annotated[Iterable[PlanRow], TableKey("tenant")] = ()
    wallets: Annotated[Iterable[WalletRow], TableKey("address", "tenant")] = ()
    wallet_proofs: Annotated[Iterable[WalletProofRow], TableKey("digest", "tenant")] = ()
    grant_revocations: Annotated[Iterable[RevocationRow], TableKey("digest")] = ()
    provider_objects: Annotated[Iterable[ProviderObjectRow], TableKey("digest")] = ()
