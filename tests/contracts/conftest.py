"""A scripted endpoint, and remote embedders that ask it."""

from __future__ import annotations

import pytest

from memtree.models.remote import RemoteEmbedder
from tests.contracts.remote import KEY
from tests.embeddings import Embeddings, serving


@pytest.fixture
async def endpoint():
    async with serving(Embeddings()) as app:
        yield app


@pytest.fixture
async def opened(endpoint):
    made = []

    def make(**options):
        options = {"retries": 0, "relevant": 0.3, "key": KEY, "dimensions": 0} | options
        made.append(RemoteEmbedder(endpoint.url, "a-model", **options))
        return made[-1]

    yield make
    for one in made:
        await one.close()


@pytest.fixture
async def embedder(endpoint, opened):
    """Warm, and the endpoint's record is empty."""
    one = opened()
    await one.warm_up()
    endpoint.asked.clear()
    return one
