"""`KeyStore` over dicts: access keys and the hashes of their values."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

from memtree.ports.store import KeyRow
from memtree.stores.access_keys import new_key, taken, value_hash, value_hashes
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

    async def add_key(self, label: str, values: Sequence[str]) -> str:
        self.database.require_open()
        hashes = value_hashes(values)
        if not self.database.key_values.keys().isdisjoint(hashes):
            raise taken()
        key = new_key(label, len(hashes), self.now())
        self.database.keys[key.id] = key
        self.database.key_values.update(dict.fromkeys(hashes, key.id))
        return key.id

    async def list_keys(self) -> list[KeyRow]:
        self.database.require_open()
        counted = Counter(self.database.key_values.values())
        keys = (replace(key, values=counted[key.id]) for key in self.database.keys.values())
        return sorted(keys, key=lambda key: (key.created, key.id))

    async def revoke_key(self, key_id: str) -> bool:
        self.database.require_open()
        values = self.database.key_values.items()
        self.database.key_values = {value: key for value, key in values if key != key_id}
        return self.database.keys.pop(key_id, None) is not None
