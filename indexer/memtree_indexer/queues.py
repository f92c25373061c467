"""Open the queues in Redis for a server, if its settings name them."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from memtree.clock import Clock
from memtree.config import Settings
from memtree.errors import BadRequest, importing
from memtree.jobs.runtime import Runtime
from memtree.ports.context_store import Store
from memtree.ports.models import Embedder
from memtree.setting_values import INPROCESS

if TYPE_CHECKING:
    from memtree_indexer.redis_queues import RedisQueues

IN_REDIS = "a queue in Redis", "redis", "queue"  # for `importing`


def refuse_own_memory(settings: Settings) -> None:
    """Raise `BadRequest` for a store that no other process can open."""
    if settings.store.startswith("memory:"):
        raise BadRequest(
            "a queue in Redis needs a store that several processes can open", param="store"
        )


def open_redis_queues(
    settings: Settings, store: Store, clock: Clock, embedder: Embedder | None = None
) -> RedisQueues | None:
    """Open queues in Redis; None if the setting names none. Does not connect to Redis yet. Raises
    `BadRequest` if packages are missing, or the URL has options that they do not know.
    """
    if settings.queue == INPROCESS:
        return None
    refuse_own_memory(settings)
    with importing(*IN_REDIS):
        from memtree_indexer.redis_queues import RedisQueues  # noqa: PLC0415  the optional `redis` extra
    try:
        return RedisQueues.of(settings, store, clock, embedder)
    # caused by the URL's query; not shown, since it may contain a password
    except (TypeError, ValueError):
        raise BadRequest("queue: the URL has unsupported options", param="queue") from None


def redis_queues(runtime: Runtime) -> RedisQueues | None:
    """Return the queues that `open_redis_queues` opened for a runtime; nothing else opens any."""
    return cast("RedisQueues | None", runtime.shared)
