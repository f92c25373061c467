"""Check what a server says of its store when it begins."""

from __future__ import annotations

import asyncio
from types import SimpleNamespace
from typing import Any, cast

import pytest

from memtree.background.embedder import OpenedEmbedder
from memtree.background.runtime import Runtime
from memtree.config import Settings
from memtree.errors import StoreUnavailable
from memtree_proxy.server import serve


class SlowStore:
    """A store that takes longer to open than a server of databases is waited for."""

    def __init__(self, error: Exception | None = None) -> None:
        self.error, self.answered = error, False

    async def has_keys(self) -> bool:
        for _ in range(5):
            await asyncio.sleep(0)
        self.answered = True
        if self.error:
            raise self.error
        return False


def runtime(store: Any) -> Runtime:
    return cast(
        "Runtime",
        SimpleNamespace(store=store, embedder=None, opened=OpenedEmbedder(None, None), shared=None),
    )


async def test_a_file_that_opens_slowly_is_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(serve, "STORE_SECONDS", 0)
    store = SlowStore()
    assert not await serve.store_is_away(runtime(store), Settings(store="sqlite:///m.db"))
    assert store.answered


async def test_a_server_that_does_not_answer_may_come_later(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    settings = Settings(store="postgresql://db/memtree")
    assert not await serve.store_is_away(runtime(SlowStore()), settings)
    refused = runtime(SlowStore(StoreUnavailable("away")))
    assert await serve.store_is_away(refused, settings)
    monkeypatch.setattr(serve, "STORE_SECONDS", 0)
    assert await serve.store_is_away(runtime(SlowStore()), settings)


@pytest.mark.parametrize("away", [False, True])
def test_the_banner_says_so(away: bool, capsys: pytest.CaptureFixture[str]) -> None:
    serve.announce(Settings(store="sqlite:///m.db"), runtime(SlowStore()), 8787, away)
    assert ("chats go on without memory" in capsys.readouterr().err) is away
