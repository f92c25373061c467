"""Commands embed what they stored before they end."""

from __future__ import annotations

import asyncio

import pytest

from memtree.memories.draft import DedupPolicy, MemoryDraft
from memtree.memories.scope import Scope
from memtree_proxy.cli.memories import opening
from memtree_proxy.cli.memories.opening import LATER, embed_rest
from tests.unit.memories.books import MoodyEmbedder, Opened, opened

ADA, BEN = Scope.of_user("t", "ada"), Scope.of_user("t", "ben")
BEGINS = "embedding 3 memories; Ctrl-C is safe: a server embeds the rest\n"


async def left_behind(of: Opened, scope: Scope) -> None:
    """Save three memories as a process without an embedder does."""
    for number in range(3):
        draft = MemoryDraft(f"fact {number} of {scope.owner}")
        await of.book.save(scope, draft, DedupPolicy.INSERT)


async def test_it_ends_when_the_vectors_of_the_scope_are_there(
    capsys: pytest.CaptureFixture[str],
) -> None:
    async with opened(None) as of:
        await left_behind(of, ADA)
        embedder = MoodyEmbedder()
        book = Opened(embedder, of.book.rules, of).book
        await asyncio.wait_for(embed_rest(book, ADA, "memories"), 300)
        assert await of.store.count_without_vectors(ADA, embedder.recipe) == 0
        await embed_rest(book, ADA, "memories")  # nothing is left: says nothing
        await book.close()
    assert capsys.readouterr().err == BEGINS


async def test_an_interruption_says_how_many_are_left(capsys: pytest.CaptureFixture[str]) -> None:
    async with opened(None) as of:
        await left_behind(of, ADA)
        embedder = MoodyEmbedder()
        embedder.seconds = 300.0
        book = Opened(embedder, of.book.rules, of).book
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(embed_rest(book, ADA, "memories"), 0.3)
        await book.close()
    assert capsys.readouterr().err == f"{BEGINS}3 memories are without vectors: {LATER}\n"


async def test_an_embedder_that_makes_no_vector_is_not_waited_for_long(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(opening, "MAX_STILL", 0.2)
    async with opened(None) as of:
        await left_behind(of, ADA)
        embedder = MoodyEmbedder()
        embedder.down = True
        book = Opened(embedder, of.book.rules, of).book
        await asyncio.wait_for(embed_rest(book, ADA, "memories"), 300)
        await book.close()
    assert capsys.readouterr().err == f"{BEGINS}3 memories are without vectors: {LATER}\n"


async def test_another_scope_is_not_waited_for() -> None:
    async with opened(None) as of:
        await left_behind(of, ADA)
        await left_behind(of, BEN)
        embedder = MoodyEmbedder()
        embedder.seconds = 0.2
        book = Opened(embedder, of.book.rules, of).book
        await asyncio.wait_for(embed_rest(book, BEN, "memories"), 300)
        assert await of.store.count_without_vectors(BEN, embedder.recipe) == 0
        await book.close()
