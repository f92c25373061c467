"""An embedder is opened before it is loaded, and done without where that cannot be done.

What the remote one does when it does not answer: tests/contracts/models/test_embedder.py."""

from __future__ import annotations

import pytest

from memtree.background.embedder import OpenedEmbedder, loaded, open_unloaded
from memtree.config import Settings
from memtree.errors import BadRequest, EmbedderUnavailable
from memtree.models.local_embedder import LocalEmbedder
from tests.fakes import HashingEmbedder


async def test_none_is_no_trouble_to_load():
    opened = await open_unloaded(Settings(embedder="none"), patient=True)
    assert (opened.embedder, opened.trouble) == (None, "switched off")
    assert await loaded(opened) is opened


async def test_the_local_one_is_looked_for_and_not_loaded(monkeypatch):
    done = []
    monkeypatch.setattr(LocalEmbedder, "locate", lambda _: done.append("located"))
    monkeypatch.setattr(LocalEmbedder, "warm_up", lambda _: done.append("loaded"))
    opened = await open_unloaded(Settings(embedder="local"), patient=True)
    assert isinstance(opened.embedder, LocalEmbedder)
    assert (opened.trouble, done) == ("", ["located"])
    await opened.embedder.close()


async def test_without_its_files_there_is_none(monkeypatch, caplog):
    def gone(_):
        raise EmbedderUnavailable("no files")

    monkeypatch.setattr(LocalEmbedder, "locate", gone)
    opened = await open_unloaded(Settings(embedder="local"), patient=True)
    assert (opened.embedder, opened.trouble) == (None, "no files")
    assert "ranking by words alone" in caplog.text


async def test_one_that_cannot_be_loaded_is_done_without():
    async def fails() -> None:
        raise EmbedderUnavailable("broken")

    opened = await loaded(OpenedEmbedder(HashingEmbedder(), load=fails))
    assert (opened.embedder, opened.trouble) == (None, "broken")


async def test_a_remote_one_needs_its_settings():
    with pytest.raises(BadRequest, match="embedding_base_url"):
        await open_unloaded(Settings(embedder="remote"), patient=True)
