"""Shared parts of the tests of the remote embedder: a clock, a key, and when something has
arrived."""

from __future__ import annotations

import asyncio

from tests.made.embeddings import Embeddings

KEY = "sk-secret-of-the-tests"
TEXT = "the quick brown fox"


class Hand:
    """A clock that is moved by hand."""

    def __init__(self) -> None:
        self.at = 100.0

    def __call__(self) -> float:
        return self.at


def probes() -> list[asyncio.Task[None]]:
    return [task for task in asyncio.all_tasks() if task.get_name() == "embedder-probe"]


async def arrived(endpoint: Embeddings, count: int = 1) -> None:
    """When so many requests have come. A request that never comes fails the test."""
    async with asyncio.timeout(60):
        while len(endpoint.asked) < count:  # noqa: ASYNC110  it has no event
            await asyncio.sleep(0.001)


async def probed(endpoint: Embeddings, count: int) -> None:
    """When so many requests have been answered, and what came of them is known."""
    await arrived(endpoint, count)
    async with asyncio.timeout(60):
        while endpoint.open:  # noqa: ASYNC110  it has no event
            await asyncio.sleep(0.001)
        await asyncio.gather(*probes())
