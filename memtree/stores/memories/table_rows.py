"""Rows of the tables of memories."""

from __future__ import annotations

from typing import NamedTuple


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


class SchemaRow(NamedTuple):
    tenant: str
    kind: str
    unique_on: str
    created: float
    updated: float
    data: bytes
