"""Cache of facts about raw fragments that were read before (docs/decisions/0033).

The key is xxh3-128 of the fragment, seeded by process and tenant: it is only a cache key, the
address stays the canonical form, and a collision crafted by one tenant does not affect another.
"""

from __future__ import annotations

from collections import OrderedDict

import xxhash

from memtree.history.chat_history import MessageInfo
from memtree.process.bounded import SizedRows, remember
from memtree.process.cache_limits import CacheLimits

ROW_BYTES = 500  # a key, its place, and a `MessageInfo` without calls
CALL_BYTES = 200  # of one call in it, besides its text
MARK_BYTES = 200  # of a day mark
KEEP_BYTES = 130  # of a passage that must be kept


class FragmentKeys:
    """Keys of raw fragments: 16 bytes that nobody outside this process can predict."""

    def __init__(self, seed: int) -> None:
        """`seed`: random per process."""
        self._seed = seed & 0xFFFF_FFFF
        self._seeds: OrderedDict[str, int] = OrderedDict()

    def of(self, tenant: str, raw: bytes) -> bytes:
        return xxhash.xxh3_128_digest(raw, self._tenant_seed(tenant))

    def forget(self) -> None:
        """Drop the tenants' seeds; the same keys are computed again."""
        self._seeds.clear()

    def _tenant_seed(self, tenant: str) -> int:
        seed = self._seeds.get(tenant)
        if seed is None:
            seed = xxhash.xxh3_64_intdigest(tenant.encode(), self._seed)
            remember(self._seeds, tenant, seed)
        return seed


class MessageCache:
    """A bounded `history.MessageInfoCache`; least recently used first out."""

    def __init__(self, seed: int, most: int = CacheLimits.of().message_infos) -> None:
        """`seed`: random per process. `most`: bytes."""
        self.keys = FragmentKeys(seed)
        self._facts: SizedRows[bytes, MessageInfo] = SizedRows(most, row_bytes)

    @property
    def nbytes(self) -> int:
        return self._facts.nbytes

    def get(self, tenant: str, raw: bytes) -> MessageInfo | None:
        return self._facts.get(self.keys.of(tenant, raw))

    def put(self, tenant: str, raw: bytes, facts: MessageInfo) -> None:
        self._facts.put(self.keys.of(tenant, raw), facts)

    def forget(self) -> None:
        """Drop everything: the keys do not tell which tenant they belong to."""
        self._facts.clear()
        self.keys.forget()


def row_bytes(_: bytes, info: MessageInfo) -> int:
    """Return the bytes that a row takes."""
    texts = sum(CALL_BYTES + len(id_) + len(name) for id_, name in info.calls)
    mark = MARK_BYTES if info.day_mark else 0
    mark += KEEP_BYTES * len(info.keeps)
    return ROW_BYTES + texts + mark + len(info.answers or "")
