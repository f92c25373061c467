"""A store with memories, and a client of the app over it."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest

from tests.http.owned.injecting import Chat, Notebook, chatting
from tests.http.served.upstream import FakeUpstream


@pytest.fixture
def notebook() -> Notebook:
    return Notebook()


@pytest.fixture
async def chat(base: str, upstream: FakeUpstream, notebook: Notebook) -> AsyncIterator[Chat]:
    async with chatting(base, upstream, notebook) as made:
        yield made
