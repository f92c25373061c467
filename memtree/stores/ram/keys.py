"""`KeyStore` over dicts: access keys, the hashes of their values, and aliases of tenants."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

from memtree.ports.store import KeyRow, TenantRow
from memtree.stores.access_keys import (
    label_taken,
    last_value,
    new_key,
    unknown_key,
    unknown_value,
    value_hash,
    value_hashes,
    value_taken,
)
from memtree.stores.ram.database import RamPart


class RamKeys(RamPart):
    """`KeyStore`."""

    async def tenant_of(self, credential: str) -> str | None:
        self.database.require_open()
        key = self.database.key_values.get(value_hash(credential))
        return self.database.keys[key].tenant if key else None

    async def has_keys(self) -> bool:
        self.database.require_open()
        return bool(self.database.keys)

    async def add_key(self, label: str, values: Sequence[str], tenant: str | None = None) -> str:
        self.database.require_open()
        hashes = value_hashes(values)
        key = new_key(label, len(hashes), self.now(), tenant)
        if any(other.label == label for other in self.database.keys.values()):
            raise label_taken(label)
        self._put_values(key.id, hashes)
        self.database.keys[key.id] = key
        return key.id

    async def add_values(self, key_id: str, values: Sequence[str], *, only: bool = False) -> None:
        self.database.require_open()
        hashes = value_hashes(values)
        if key_id not in self.database.keys:
            raise unknown_key(key_id)
        self._put_values(key_id, hashes)
        for digest in self._values(key_id) - set(hashes) if only else ():
            del self.database.key_values[digest]

    async def remove_value(self, key_id: str, value: str) -> None:
        self.database.require_open()
        own, removed = self._values(key_id), value_hash(value)
        if removed not in own:
            raise unknown_value()
        if len(own) == 1:
            raise last_value()
        del self.database.key_values[removed]

    async def list_keys(self) -> list[KeyRow]:
        self.database.require_open()
        counted = Counter(self.database.key_values.values())
        keys = (replace(key, values=counted[key.id]) for key in self.database.keys.values())
        return sorted(keys, key=lambda key: (key.created, key.id))

    async def revoke_key(self, key_id: str) -> bool:
        self.database.require_open()
        for digest in self._values(key_id):
            del self.database.key_values[digest]
        return self.database.keys.pop(key_id, None) is not None

    async def aliases(self) -> dict[str, str]:
        self.database.require_open()
        return dict(self.database.aliases)

    async def tenants(self) -> list[TenantRow]:
        self.database.require_open()
        return [
            TenantRow(
                name,
                len(data.addresses),
                len(data.nodes),
                max((row.expires for row in data.addresses.values()), default=0.0),
            )
            for name, data in sorted(self.database.tenants.items())
            if data.addresses or data.nodes
        ]

    async def move_tenant(self, source: str, target: str, *, share: bool = False) -> None:
        self.database.require_open()
        moved = {source: source if share else target, target: source}
        keys = self.database.keys.items()
        self.database.keys = {
            at: replace(key, tenant=moved.get(key.tenant, key.tenant)) for at, key in keys
        }
        # Who names a tenant without an alias is let in as that one.
        meant = {source: source, target: target, **self.database.aliases}
        meant = {name: moved.get(tenant, tenant) for name, tenant in meant.items()}
        self.database.aliases = {name: at for name, at in meant.items() if name != at}

    def _values(self, key_id: str) -> set[str]:
        return {digest for digest, key in self.database.key_values.items() if key == key_id}

    def _put_values(self, key_id: str, hashes: Sequence[str]) -> None:
        if any(self.database.key_values.get(digest, key_id) != key_id for digest in hashes):
            raise value_taken()
        self.database.key_values.update(dict.fromkeys(hashes, key_id))
