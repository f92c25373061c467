"""Queues in Redis for a server, where its settings name one."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from memtree.background.runtime import Runtime
from memtree.config import Settings
from memtree.errors import BadRequest, importing
from memtree.ports.clock import Clock
from memtree.ports.models import Embedder
from memtree.ports.store import Store
from memtree.settings.setting_values import INPROCESS

if TYPE_CHECKING:
    from memtree_indexer.redis.client import RedisQueues

IN_REDIS = "a queue in Redis", "redis", "queue"  # for `importing`


def refuse_own_memory(settings: Settings) -> None:
    """Raises `BadRequest` for a store that no other process can open."""
    if settings.store.startswith("memory:"):
        raise BadRequest(
            "a queue in Redis needs a store that several processes can open", param="store"
        )


def open_redis_queues(
    settings: Settings, store: Store, clock: Clock, embedder: Embedder | None = None
) -> RedisQueues | None:
    """Open queues in Redis, None where the setting names none. Redis is not contacted yet.

    Raises `BadRequest` where the packages are missing, or the URL has what they do not know.
    """
    if settings.queue == INPROCESS:
        return None
    refuse_own_memory(settings)
    with importing(*IN_REDIS):
        from memtree_indexer.redis.client import RedisQueues  # noqa: PLC0415  the optional `redis` extra
    try:
        return RedisQueues.of(settings, store, clock, embedder)
    except (TypeError, ValueError):  # of the URL's query; not shown, it may hold a password
        raise BadRequest("queue: the URL has parts that cannot be used", param="queue") from None


def redis_queues(runtime: Runtime) -> RedisQueues | None:
    """Return the queues that `open_redis_queues` opened for a runtime; nothing else opens any."""
    return cast("RedisQueues | None", runtime.shared)
