"""The rows of the tables of memories, as a copy or an audit reads them."""

from __future__ import annotations

from typing import NamedTuple

from memtree.stores.memories.counters import ScopeRow

__all__ = [
    "ConflictRow",
    "ErasedRow",
    "ExtractedRow",
    "GroupMemberRow",
    "GroupRow",
    "HistoryRow",
    "MemoryKeyRow",
    "MemoryRecipeRow",
    "MemoryRow",
    "MemoryTenantRow",
    "MemoryVectorRow",
    "MemoryWriteRow",
    "PlanRow",
    "ProviderObjectRow",
    "RevocationRow",
    "SchemaRow",
    "ScopeRow",
    "SettingsRow",
    "ShownRow",
    "TombstoneRow",
    "WalletProofRow",
    "WalletRow",
]


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
    told: int
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
    updated: float
    expires: float


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
    told: int
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


class MemoryKeyRow(NamedTuple):
    scope: int
    key: bytes
    number: int
    at: float


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


class MemoryWriteRow(NamedTuple):
    scope: int
    key: bytes
    at: float
    data: bytes


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
