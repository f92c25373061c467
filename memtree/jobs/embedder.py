"""Open the embedder named by the settings, without making the server wait for it.

A missing embedder is not an error: ranking is then BM25 alone, and `trouble` says why. A server
uses a remote embedder that was down at start-up as soon as it answers; a short-lived command
continues without it.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from memtree.config import Settings
from memtree.errors import BadRequest, EmbedderUnavailable, importing
from memtree.ports.models import Embedder

log = logging.getLogger("memtree.indexer")


async def nothing() -> None:
    """Load nothing: the embedder is ready."""


@dataclass(frozen=True, slots=True)
class OpenedEmbedder:
    """`memories`: of memories, which may be another one; loaded on first use. `trouble`: why there
    is no embedder, or what is wrong with it; "" if all is well. `load`: does the work that the
    first use of `embedder` would otherwise wait for; raises `EmbedderUnavailable`."""

    embedder: Embedder | None
    memories: Embedder | None
    trouble: str = ""
    load: Callable[[], Awaitable[None]] = nothing

    async def close(self) -> None:
        """Close both."""
        for each in dict.fromkeys((self.embedder, self.memories)):
            if each is not None:
                await each.close()


async def open_embedder(settings: Settings, *, patient: bool) -> tuple[Embedder | None, str]:
    """Return the loaded embedder, and what is wrong with it.

    `patient`: keep a remote one that does not answer yet. Raises `BadRequest` if a required setting
    is missing.
    """
    opened = await loaded(await open_unloaded(settings, patient=patient))
    return opened.embedder, opened.trouble


async def loaded(opened: OpenedEmbedder) -> OpenedEmbedder:
    """Return the embedder loaded, or none with the reason if it cannot be loaded."""
    try:
        await opened.load()
    except EmbedderUnavailable as error:
        await opened.close()
        return _without(error.message)
    return opened


async def open_unloaded(settings: Settings, *, patient: bool) -> OpenedEmbedder:
    """Open the embedder for loading later; checks that its files exist and are the right ones."""
    if settings.embedder == "none":
        return OpenedEmbedder(None, None, "switched off")
    if settings.embedder == "remote" or (settings.embedder == "auto" and settings.embedding_model):
        return await _remote(settings, patient=patient)
    try:
        # Half a second, where it is used.
        from memtree.models.local_embedder import MULTILINGUAL, LocalEmbedder  # noqa: PLC0415
        from memtree.models.memory_embedder import MemoryEmbedder  # noqa: PLC0415
    except ImportError as error:
        return _without(f"{error.name} is not installed, and may not exist for this machine")
    query_bytes = settings.cache_limits.queries // 2
    english = LocalEmbedder(query_bytes=query_bytes)
    multilingual = LocalEmbedder(MULTILINGUAL, query_bytes=query_bytes)
    try:
        await asyncio.to_thread(english.locate)
    except EmbedderUnavailable as error:
        return _without(error.message)
    try:
        await asyncio.to_thread(multilingual.locate)
    except EmbedderUnavailable as error:
        log.warning("embedder.unavailable, memories go by the English one: %s", error.message)
        return OpenedEmbedder(english, english, load=english.warm_up)
    memories = MemoryEmbedder(english, multilingual)
    return OpenedEmbedder(english, memories, load=english.warm_up)


def _without(trouble: str) -> OpenedEmbedder:
    log.warning("embedder.unavailable, ranking by words alone: %s", trouble)
    return OpenedEmbedder(None, None, trouble)


async def _remote(settings: Settings, *, patient: bool) -> OpenedEmbedder:
    with importing("a remote embedder", "remote", "embedding_model"):
        # Takes half a second and 25 MB, so only users of it should pay.
        from memtree.models.remote_embedder import (  # noqa: PLC0415
            QUERY_SECONDS,
            RemoteEmbedder,
        )

    if not settings.embedding_base_url or not settings.embedding_model:
        raise BadRequest(
            "the remote embedder needs embedding_base_url and embedding_model",
            param="embedding_base_url",
        )
    embedder = RemoteEmbedder(
        settings.embedding_base_url,
        settings.embedding_model,
        settings.embedding_api_key,
        dimensions=settings.embedding_dimensions,
        max_tokens=settings.embedding_tokens,
        relevant=settings.embedding_relevant,
        query_bytes=settings.cache_limits.queries,
        query_seconds=max(QUERY_SECONDS, settings.embedding_seconds),
    )
    try:
        await embedder.warm_up()
    except EmbedderUnavailable as error:
        if patient:
            log.warning("embedder.unavailable, retried later: %s", error.message)
            return OpenedEmbedder(embedder, embedder, error.message)
        await embedder.close()
        return _without(error.message)
    return OpenedEmbedder(embedder, embedder)
