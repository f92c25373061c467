"""What is known of raw fragments that were met before (docs/decisions/0002).

The key is xxh3-128 of the fragment, seeded by process and tenant: it is only a cache key, the
address stays the canonical form, and a collision crafted by one tenant does not meet another's.
"""

from __future__ import annotations

import xxhash

from memtree.conversation.history import MessageInfo

ENTRIES = 200_000  # about 300 bytes each


class MessageCache:
    """A bounded `history.MessageInfoCache`; the older half goes when it is full."""

    def __init__(self, seed: int, entries: int = ENTRIES) -> None:
        """`seed`: random per process."""
        self._seed = seed & 0xFFFF_FFFF
        self._entries = entries
        self._facts: dict[bytes, MessageInfo] = {}
        self._seeds: dict[str, int] = {}

    def get(self, tenant: str, raw: bytes) -> MessageInfo | None:
        return self._facts.get(self.key(tenant, raw))

    def put(self, tenant: str, raw: bytes, facts: MessageInfo) -> None:
        if len(self._facts) >= self._entries:
            for key in list(self._facts)[: self._entries // 2]:
                self._facts.pop(key, None)
        self._facts[self.key(tenant, raw)] = facts

    def key(self, tenant: str, raw: bytes) -> bytes:
        """16 bytes that nobody outside this process can foresee."""
        return xxhash.xxh3_128_digest(raw, self._tenant_seed(tenant))

    def forget(self) -> None:
        """All of it: the keys do not tell whose they are."""
        self._facts.clear()
        self._seeds.clear()

    def _tenant_seed(self, tenant: str) -> int:
        seed = self._seeds.get(tenant)
        if seed is None:
            if len(self._seeds) > self._entries:
                self._seeds.clear()
            seed = self._seeds[tenant] = xxhash.xxh3_64_intdigest(tenant.encode(), self._seed)
        return seed
