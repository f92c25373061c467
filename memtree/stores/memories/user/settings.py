"""Store the switches of a user, and the plan of a tenant."""

from __future__ import annotations

from dataclasses import asdict, replace

import msgspec

from memtree.errors import StoreCorrupt
from memtree.memories.scope import Scope
from memtree.memories.user_memories import PLAN, SettingsChange, UserSettings
from memtree.stores.memories.tables.counters import begin
from memtree.stores.memories.tables.rows import SCOPE, plain, scope_values
from memtree.stores.sql import Sql

_SETTINGS = f"SELECT data FROM memory_settings WHERE scope = {SCOPE}"
_PUT = """
    INSERT INTO memory_settings (scope, data) VALUES (:scope, :data)
    ON CONFLICT (scope) DO UPDATE SET data = excluded.data"""
_PLAN = "SELECT plan FROM tenant_plans WHERE tenant = :tenant"
_PUT_PLAN = """
    INSERT INTO tenant_plans (tenant, plan) VALUES (:tenant, :plan)
    ON CONFLICT (tenant) DO UPDATE SET plan = excluded.plan"""
_decode = msgspec.msgpack.Decoder(UserSettings).decode


async def settings(sql: Sql, scope: Scope) -> UserSettings:
    rows = await sql.fetch(_SETTINGS, scope_values(scope))
    return read_settings(rows[0][0]) if rows else UserSettings()


async def change_settings(sql: Sql, scope: Scope, change: SettingsChange) -> UserSettings:
    at = await begin(sql, scope)
    given = {name: value for name, value in asdict(change).items() if value is not None}
    after = replace(await settings(sql, scope), **given)
    await sql.run(_PUT, {"scope": at.number, "data": msgspec.msgpack.encode(after)})
    return after


def read_settings(data: bytes) -> UserSettings:
    """Decode settings. Raises `StoreCorrupt`."""
    try:
        return _decode(data)
    except msgspec.DecodeError as error:
        raise StoreCorrupt(f"Stored settings of a user do not decode ({error}).") from error


async def plan(sql: Sql, tenant: str) -> str:
    rows = await sql.fetch(_PLAN, {"tenant": tenant})
    return str(rows[0][0]) if rows else PLAN


async def set_plan(sql: Sql, tenant: str, plan: str) -> None:
    await sql.run(_PUT_PLAN, {"tenant": tenant, "plan": plain(plan)})
