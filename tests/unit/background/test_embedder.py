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
    assert opened.memories not in (None, opened.embedder)
    assert (opened.trouble, done) == ("", ["located", "located"])
    await opened.close()
    with pytest.raises(EmbedderUnavailable, match="closed"):
        await opened.memories.ready()


async def test_without_the_files_of_memories_the_english_one_serves(monkeypatch, caplog):
    def gone(embedder):
        if embedder.dimensions == 512:
            raise EmbedderUnavailable("no files")

    monkeypatch.setattr(LocalEmbedder, "locate", gone)
    opened = await open_unloaded(Settings(embedder="local"), patient=True)
    assert opened.memories is opened.embedder
    assert opened.trouble == ""
    assert "memories go by the English one: no files" in caplog.text
    await opened.close()


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

    embedder = HashingEmbedder()
    opened = await loaded(OpenedEmbedder(embedder, embedder, load=fails))
    assert (opened.embedder, opened.memories, opened.trouble) == (None, None, "broken")


async def test_a_remote_one_needs_its_settings():
    with pytest.raises(BadRequest, match="embedding_base_url"):
        await open_unloaded(Settings(embedder="remote"), patient=True)
