"""Whatever is put and deleted in whatever order, a namespace holds what a dictionary would."""

from __future__ import annotations

import asyncio
from itertools import count
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memtree.errors import NotFound
from memtree.memories.document_book import DocumentBook
from memtree.memories.document_passages import checked
from memtree.memories.scope import Scope
from memtree.tree.chunking import passages
from tests.fakes import HashingEmbedder
from tests.unit.memories.books import opened

SPACES = [Scope.of_namespace("t", "a"), Scope.of_namespace("t", "b"), Scope.of_namespace("u", "a")]
PIECES = (
    "# Head\n\n",
    "A sentence about ports. ",
    "\n\n",
    "x" * 400 + " ",
    "漢字。",
    "```\ncode\n```\n",
)
TEXTS = st.lists(st.sampled_from(PIECES), min_size=1, max_size=40).map("".join).filter(str.strip)
PUT = st.tuples(
    st.just("put"), st.sampled_from("abc"), TEXTS, st.sampled_from([None, "t"]),
    st.sampled_from([{}, {"a": 1}]),
)  # fmt: skip
DELETE = st.tuples(st.just("delete"), st.sampled_from("abc"), st.booleans())
CLEAR = st.tuples(st.just("clear"), st.booleans())
STEPS = st.lists(
    st.tuples(st.sampled_from(SPACES), st.one_of(PUT, PUT, PUT, DELETE, CLEAR)), max_size=25
)


async def holds(book: DocumentBook, scope: Scope, known: dict[str, tuple[Any, ...]]) -> None:
    page = await book.page(scope)
    assert {one.id: (one.type, one.metadata) for one in page.documents} == {
        id_: said[1:] for id_, said in known.items()
    }
    whole = 0
    for id_, (text, *_) in known.items():
        document, stored = await book.text(scope, id_)
        assert stored == text
        assert document.characters == len(text)
        whole += document.passages
    assert (await book.state(scope)).passages == whole
    found = await book.search(scope, "ports", limit=100)
    assert {hit.document.id for hit in found.hits} <= known.keys()
    assert all(hit.passage.text in known[hit.document.id][0] for hit in found.hits)


async def run(steps: list[Any]) -> None:
    known: dict[Scope, dict[str, tuple[Any, ...]]] = {scope: {} for scope in SPACES}
    async with opened(HashingEmbedder()) as on:
        ids = count(1)
        book = DocumentBook(
            on.book, on.store, on.store, on.clock, lambda: f"mem_{next(ids)}", passages
        )
        for scope, (what, *more) in steps:
            here = known[scope]
            if what == "put":
                id_, text, type_, metadata = more
                put = await book.put(scope, checked(id_, text, type_, metadata))
                said = (text, type_, metadata)
                assert put.changed == (here.get(id_) != said)
                assert put.replaced == (id_ in here and here[id_] != said)
                here[id_] = said
            elif what == "delete":
                if more[0] in here:
                    await book.delete(scope, more[0], purge=more[1])
                    del here[more[0]]
                else:
                    with pytest.raises(NotFound):
                        await book.delete(scope, more[0], purge=more[1])
            else:
                await book.clear(scope, purge=more[0])
                here.clear()
        for scope in SPACES:
            await holds(book, scope, known[scope])
        await on.book.join()
        assert await on.book.sweep() >= 0
        for scope in SPACES:
            await holds(book, scope, known[scope])
            assert not await book.pending(scope)


@given(STEPS)
@settings(deadline=None, max_examples=settings().max_examples // 4)
def test_a_namespace_is_a_dictionary(steps: list[Any]):
    asyncio.run(run(steps))
