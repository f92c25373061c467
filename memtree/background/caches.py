"""Caches of posted conversations, created from the settings; one set per process."""

from __future__ import annotations

import secrets
from collections.abc import Mapping
from dataclasses import dataclass, fields

from memtree.context.caches.caches import TreeCaches
from memtree.context.caches.read_histories import ReadHistories
from memtree.conversation.message_cache import MessageCache
from memtree.process.bounded import SizedCache
from memtree.process.cache_limits import CacheLimits


@dataclass(frozen=True, slots=True)
class ContextCaches:
    """Caches of `ContextMemory`, named as in `CacheLimits`."""

    message_infos: MessageCache
    read_histories: ReadHistories
    trees: TreeCaches

    @classmethod
    def of(cls, limits: CacheLimits) -> ContextCaches:
        return cls(
            MessageCache(secrets.randbits(32), limits.message_infos),
            ReadHistories(limits.read_histories),
            TreeCaches.of(limits),
        )

    def by_name(self) -> Mapping[str, SizedCache]:
        trees = {each.name: getattr(self.trees, each.name) for each in fields(self.trees)}
        return {
            "message_infos": self.message_infos,
            "read_histories": self.read_histories,
            **trees,
        }
