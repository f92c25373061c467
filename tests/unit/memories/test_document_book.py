"""Documents: what is refused, how they are kept, and their passages."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from itertools import count
from typing import Any

import pytest

from memtree.errors import (
    BadRequest,
    MemoryLimit,
    MemTreeError,
    NotFound,
    RequestTooLarge,
    SecretRejected,
)
from memtree.memories import document_passages as memory_passages
from memtree.memories.book import MemoryRules
from memtree.memories.document_book import DocumentBook, PutDocument
from memtree.memories.document_passages import (
    MAX_BYTES,
    MAX_DEPTH,
    MAX_METADATA_BYTES,
    NewDocument,
    checked,
    depth_beyond,
)
from memtree.memories.draft import MemoryDraft
from memtree.memories.memory import Memory, NewMemory
from memtree.memories.memory_store import MemoryFilter
from memtree.memories.scope import Scope
from memtree.ports.models import Embedder
from memtree.stores.memories.table_rows import new_memory
from memtree.tree.chunking import passages
from tests.fakes import HashingEmbedder
from tests.unit.memories.books import MoodyEmbedder, Opened, opened

# ------------------------------------------------------------------------------------------------
# Documents are put, found, shown and deleted whole, and what says the same is left alone.


HERE = Scope.of_namespace("t", "handbook")
PORTS = "# Ports\n\nStaging listens on port 8090.\n\n"
LONG = "".join(f"# Chapter {n}\n\n" + f"It is about subject {n}. " * 30 + "\n\n" for n in range(9))


@dataclass
class Books:
    on: Opened
    documents: DocumentBook

    async def put(
        self, id_: str = "ports.md", text: str = PORTS, scope: Scope = HERE, **more: Any
    ) -> PutDocument:
        document = checked(id_, text, more.get("type"), more.get("metadata"))
        return await self.documents.put(scope, document)

    async def ids(self, **more: Any) -> list[str]:
        return [one.id for one in (await self.documents.page(HERE, **more)).documents]

    async def found(self, query: str, **more: Any) -> list[tuple[str, str]]:
        found = await self.documents.search(HERE, query, **more)
        return [(hit.document.id, hit.passage.text) for hit in found.hits]

    async def stored(self) -> int:
        """Rows, deleted ones too."""
        wanted = MemoryFilter(deleted=True, superseded=True, expired=True)
        return len((await self.on.store.page(HERE, wanted, limit=1_000)).memories)


@asynccontextmanager
async def books(embedder: Embedder | None = None, **more: Any) -> AsyncIterator[Books]:
    async with opened(embedder, MemoryRules(**more)) as on:
        documents = DocumentBook(
            on.book,
            on.store,
            on.store,
            on.clock,
            lambda: f"mem_{next(on.ids):024x}",
            passages,
        )
        yield Books(on, documents)


# -- putting -----------------------------------------------------------------------------------


async def test_a_document_is_there_as_soon_as_it_is_put():
    async with books() as b:
        put = await b.put(type="manual", metadata={"author": "Ada"})
        assert (put.replaced, put.changed) == (False, True)
        assert await b.documents.get(HERE, "ports.md") == put.document
        assert put.document.created == b.on.clock.time
        assert await b.documents.text(HERE, "ports.md") == (put.document, PORTS)
        assert await b.found("staging port") == [("ports.md", PORTS)]


async def test_a_long_document_is_several_passages_and_one_text():
    async with books() as b:
        put = await b.put("long.md", LONG)
        assert put.document.passages == 9
        assert (await b.documents.text(HERE, "long.md"))[1] == LONG
        ((id_, text), *_) = await b.found("subject 4", limit=1)
        assert id_ == "long.md"
        assert text.startswith("# Chapter 4\n")


async def test_the_same_again_changes_nothing_and_embeds_nothing():
    embedder = HashingEmbedder()
    async with books(embedder) as b:
        first = await b.put(metadata={"a": 1, "b": 2}, type="t")
        await b.on.book.join()
        state, calls = await b.on.store.state(HERE), list(embedder.embedded)
        b.on.clock.time += 60
        again = await b.put(metadata={"b": 2, "a": 1}, type="t")
        assert (again.replaced, again.changed) == (False, False)
        assert again.document == first.document
        await b.on.book.join()
        assert await b.on.store.state(HERE) == state
        assert embedder.embedded == calls


async def test_of_an_edited_document_only_what_changed_is_embedded_anew():
    embedder = HashingEmbedder()
    async with books(embedder) as b:
        await b.put("long.md", LONG)
        await b.on.book.join()
        known = len(embedder.embedded)
        await b.put("long.md", LONG.replace("subject 4", "topic 4"), metadata={"a": 1})
        await b.on.book.join()
        assert len(embedder.embedded) == known + 1
        assert "topic 4" in embedder.embedded[-1]
        assert await b.documents.state(HERE) == (9, False)
        (best,) = await b.found("topic 4", limit=1)
        assert "topic 4" in best[1]


@pytest.mark.parametrize(
    "other", [{"text": PORTS + "More."}, {"type": "faq"}, {"metadata": {"a": 2}}]
)
async def test_another_one_under_its_id_takes_its_place(other: dict[str, Any]):
    async with books() as b:
        await b.put("long.md", LONG)
        await b.put(metadata={"a": 1})
        put = await b.put(**other)
        assert (put.replaced, put.changed) == (True, True)
        assert await b.ids() == ["ports.md", "long.md"]
        assert await b.documents.get(HERE, "ports.md") == put.document
        assert (await b.documents.text(HERE, "ports.md"))[1] == other.get("text", PORTS)
        assert (await b.documents.text(HERE, "long.md"))[1] == LONG


async def test_what_a_replaced_document_said_is_not_found_any_more():
    async with books(HashingEmbedder()) as b:
        await b.put()
        await b.put(text="# Ports\n\nStaging listens on port 9000.\n")
        await b.on.book.join()
        assert await b.found("staging port 8090") == [
            ("ports.md", "# Ports\n\nStaging listens on port 9000.\n")
        ]


async def test_over_the_limit_the_old_one_stays():
    async with books(most=3) as b:
        await b.put()
        with pytest.raises(MemoryLimit, match="has 9 passages"):
            await b.put(text=LONG)
        assert (await b.documents.text(HERE, "ports.md"))[1] == PORTS
        with pytest.raises(MemoryLimit):
            await b.put("long.md", LONG)
        assert await b.ids() == ["ports.md"]


async def test_a_document_may_be_as_long_as_the_limit_when_it_is_replaced():
    async with books(most=9) as b:
        await b.put("long.md", LONG)
        assert (await b.put("long.md", LONG.upper())).replaced


async def test_concurrent_puts_leave_one_whole_document():
    texts = [LONG.replace("subject", f"topic{n}") for n in range(5)]
    async with books() as b:
        await asyncio.gather(*(b.put("long.md", text) for text in texts))
        document, text = await b.documents.text(HERE, "long.md")
        assert text in texts
        assert (await b.documents.state(HERE)).passages == document.passages == 9


# -- vectors -----------------------------------------------------------------------------------


async def test_words_find_it_until_its_vectors_follow():
    embedder = MoodyEmbedder()
    embedder.down = True
    async with books(embedder) as b:
        await b.put("long.md", LONG)
        assert await b.documents.state(HERE) == (9, True)
        found = await b.documents.search(HERE, "subject 4")
        assert found.degraded == ("embedder",)
        assert found.hits
        embedder.down = False
        await b.on.book.join()
        assert await b.documents.state(HERE) == (9, False)
        assert (await b.documents.search(HERE, "subject 4")).degraded == ()


async def test_without_an_embedder_nothing_is_pending():
    async with books() as b:
        await b.put()
        assert await b.documents.state(HERE) == (1, False)


# -- lists and searches ------------------------------------------------------------------------


async def test_pages_are_of_documents_latest_first():
    async with books() as b:
        for n in range(5):
            await b.put(f"d{n}", LONG, type="even" if n % 2 == 0 else "odd")
        first = await b.documents.page(HERE, limit=2)
        assert [one.id for one in first.documents] == ["d4", "d3"]
        second = await b.documents.page(HERE, limit=3, cursor=first.next_cursor)
        assert [one.id for one in second.documents] == ["d2", "d1", "d0"]
        assert second.next_cursor is None
        assert await b.ids(type_="odd") == ["d3", "d1"]
        assert await b.ids(type_="other") == []
        with pytest.raises(BadRequest, match="cursor"):
            await b.ids(cursor="x")


async def test_a_search_filters_by_type_and_relevance():
    async with books(HashingEmbedder()) as b:
        await b.put("a", "Staging listens on port 8090.", type="manual")
        await b.put("b", "Staging listens on port 8091.", metadata={"type": "faq"})
        await b.put("c", "Lunch is at noon in the blue hall.")
        await b.on.book.join()
        asked = "Staging listens on port 8090."
        assert {id_ for id_, _ in await b.found(asked)} >= {"a", "b"}
        assert [id_ for id_, _ in await b.found(asked, type_="faq")] == ["b"]
        assert [id_ for id_, _ in await b.found(asked, type_="manual")] == ["a"]
        assert await b.found(asked, type_="nothing") == []
        assert "c" not in {id_ for id_, _ in await b.found(asked, least=0.9)}
        assert len(await b.found(asked, limit=1)) == 1


async def test_a_hit_knows_its_document_whichever_passage_it_is():
    async with books() as b:
        await b.put("long.md", LONG, metadata={"deep": {"a": [1]}}, type="t")
        (hit,) = (await b.documents.search(HERE, "subject 7", limit=1)).hits
        assert hit.document == await b.documents.get(HERE, "long.md")
        assert hit.document.metadata == {"deep": {"a": [1]}}
        assert LONG[hit.passage.data["start"] : hit.passage.data["end"]] == hit.passage.text


async def test_an_empty_query_is_refused():
    async with books() as b:
        with pytest.raises(BadRequest, match="query"):
            await b.found(" ")


# -- deleting ----------------------------------------------------------------------------------


async def test_a_deleted_document_is_nowhere():
    async with books() as b:
        await b.put("long.md", LONG)
        await b.put()
        assert await b.documents.delete(HERE, "long.md") == 9
        assert await b.ids() == ["ports.md"]
        assert await b.found("subject 4") == []
        for answer in (b.documents.get, b.documents.text, b.documents.delete):
            with pytest.raises(NotFound):
                await answer(HERE, "long.md")
        assert (await b.put("long.md", LONG)).replaced is False


@pytest.mark.parametrize(("purge", "days"), [(True, 30), (False, 0)])
async def test_a_purge_leaves_no_row(purge: bool, days: int):
    async with books(deleted_days=days) as b:
        await b.put("long.md", LONG)
        await b.put()
        await b.documents.delete(HERE, "long.md", purge=purge)
        assert await b.stored() == 1
        assert await b.documents.clear(HERE, purge=purge) == 1
        assert await b.stored() == 0


async def test_a_namespace_is_cleared_alone():
    there = Scope.of_namespace("t", "other")
    async with books() as b:
        await b.put("long.md", LONG)
        await b.put()
        await b.put(scope=there)
        assert await b.documents.clear(HERE) == 10
        assert await b.documents.clear(HERE) == 0
        assert await b.ids() == []
        assert (await b.documents.get(there, "ports.md")).id == "ports.md"


# -- whose -------------------------------------------------------------------------------------

OTHERS = [
    Scope.of_namespace("t", "other"),
    Scope.of_namespace("u", "handbook"),
    Scope.of_user("t", "handbook"),
    Scope.of_chat("t", "handbook"),
    Scope.of_agent("t", "handbook"),
    Scope.of_user("t"),
]


@pytest.mark.parametrize("other", OTHERS, ids=str)
async def test_no_other_scope_sees_a_document_nor_is_seen(other: Scope):
    async with books() as b:
        await b.put(type="manual")
        await b.on.book.save(other, MemoryDraft("Staging listens on port 7777."))
        assert (await b.documents.page(other)).documents == ()
        assert (await b.documents.search(other, "staging port", type_="manual")).hits == ()
        for answer in (b.documents.get, b.documents.text, b.documents.delete):
            with pytest.raises(NotFound):
                await answer(other, "ports.md")
        assert await b.found("staging port") == [("ports.md", PORTS)]
        theirs = await b.on.book.search(other, "staging port")
        assert [hit.memory.text for hit in theirs.hits] == ["Staging listens on port 7777."]


async def test_namespaces_are_those_of_the_tenant_that_hold_something():
    async with books() as b:
        assert await b.documents.namespaces("t") == []
        await b.put("long.md", LONG)
        for other in OTHERS:
            await b.put(scope=other)
        assert await b.documents.namespaces("t") == [("handbook", 9), ("other", 1)]
        assert await b.documents.namespaces("u") == [("handbook", 1)]
        await b.documents.clear(HERE)
        assert await b.documents.namespaces("t") == [("other", 1)]


# ------------------------------------------------------------------------------------------------
# Check what is refused of a document, and what is masked in it.


KEY = "ghp_" + "a1B2c3" * 6


def nested(depth: int) -> dict[str, Any]:
    value: Any = 1
    for _ in range(depth):
        value = {"a": value}
    return value  # type: ignore[no-any-return]


@pytest.mark.parametrize(
    ("error", "param", "fields"),
    [
        (BadRequest, "id", {"id_": ""}),
        (BadRequest, "id", {"id_": "a b"}),
        (BadRequest, "id", {"id_": "a" * 201}),
        (BadRequest, "text", {"text": " \n"}),
        (BadRequest, "text", {"text": "a\0b"}),
        (BadRequest, "text", {"text": "a\ud800"}),
        (RequestTooLarge, "text", {"text": "é" * (MAX_BYTES // 2) + "a"}),
        (BadRequest, "type", {"type_": ""}),
        (BadRequest, "type", {"type_": "t" * 201}),
        (BadRequest, "metadata", {"metadata": {"a": "b" * MAX_METADATA_BYTES}}),
        (BadRequest, "metadata", {"metadata": nested(MAX_DEPTH + 1)}),
        (BadRequest, "metadata", {"metadata": {"a": 1 << 70}}),
        (BadRequest, "metadata", {"metadata": {"a": "\ud800"}}),
        (SecretRejected, "metadata", {"metadata": {KEY: 1}}),
        (SecretRejected, "type", {"type_": KEY}),
    ],
)
def test_what_cannot_be_kept_is_refused_by_its_name(
    error: type[MemTreeError], param: str | None, fields: dict[str, Any]
):
    given = {"id_": "a.md", "text": "Text", "type_": None, "metadata": None} | fields
    with pytest.raises(error) as refused:
        checked(**given)
    assert refused.value.param == param
    assert KEY not in refused.value.message


@pytest.mark.slow
def test_the_largest_document_and_the_deepest_metadata_are_kept():
    text = "a" * MAX_BYTES
    document = checked("a" * 200, text, "t" * 200, nested(MAX_DEPTH))
    assert document.text == text
    assert document.metadata == nested(MAX_DEPTH)
    assert document.masked == 0


def test_secrets_are_masked_and_counted():
    document = checked(
        "a.md",
        f"Deploy with {KEY}.\nPort 8090.\n",
        None,
        {"owner": "Ada", "keys": [KEY], "password": "x9Kq2LmZ8Rt4Vb7N", "deep": {"a": KEY}},
    )
    assert document.text == "Deploy with [secret].\nPort 8090.\n"
    assert document.metadata == {
        "owner": "Ada",
        "keys": ["[secret]"],
        "password": "[secret]",
        "deep": {"a": "[secret]"},
    }
    assert document.masked == 4


def test_the_type_is_the_one_in_the_metadata_where_none_is_given():
    assert checked("a", "T", None, {"type": "manual"}).type == "manual"
    assert checked("a", "T", "faq", {"type": "manual"}).type == "faq"
    for other in ({"type": 3}, {"type": ""}, {"type": ["manual"]}, {}):
        assert checked("a", "T", None, other).type is None


def test_documents_that_say_the_same_have_one_digest():
    one = checked("a", "Text", "t", {"a": 1, "b": [2]})
    assert checked("b", "Text", "t", {"b": [2], "a": 1}).digest == one.digest
    others = [
        checked("a", "Text.", "t", {"a": 1, "b": [2]}),
        checked("a", "Text", "u", {"a": 1, "b": [2]}),
        checked("a", "Text", "t", {"a": 1, "b": [3]}),
        checked("a", "Text", None, {"a": 1, "b": [2]}),
    ]
    assert len({one.digest, *(other.digest for other in others)}) == 5


@pytest.mark.parametrize(
    ("value", "depth"), [(1, 0), ({}, 1), ([], 1), ({"a": [1]}, 2), ([[], [{"a": {}}]], 4)]
)
def test_depth(value: object, depth: int):
    assert depth_beyond(value, depth - 1) if depth else not depth_beyond(value, 0)
    assert not depth_beyond(value, depth)


# ------------------------------------------------------------------------------------------------
# A document is its passages, and can be put together from them.


TEXT = "# Ports\n\nStaging: 8090.\n\n# Owners\n\nAda owns staging.\n"


def cut(text: str) -> list[tuple[int, int]]:
    """At headings."""
    starts = [at for at in range(len(text)) if text.startswith("# ", at)]
    return list(zip(starts, [*starts[1:], len(text)], strict=True))


def made(document: NewDocument, first: int = 1) -> list[NewMemory]:
    ids = count(first)
    return memory_passages.memories_of(document, cut, lambda: f"mem_{next(ids)}", 7.0)


def stored(document: NewDocument, first: int = 1) -> list[Memory]:
    return [new_memory(new, number) for number, new in enumerate(made(document, first), first)]


def test_each_passage_is_a_memory_of_the_document():
    rows = made(checked("ports.md", TEXT, "manual", {"author": "Ada"}))
    assert [row.text for row in rows] == [TEXT[:25], TEXT[25:]]
    assert {(r.kind, r.thread_id, r.category, r.source_type, r.created) for r in rows} == {
        ("passage", "ports.md", "manual", "document", 7.0)
    }
    assert [row.tags for row in rows] == [("document",), ()]
    assert dict(rows[1].data or {}) == {
        "place": 1, "start": 25, "end": len(TEXT), "of": 2, "head": "mem_1", "shown": "author=Ada",
    }  # fmt: skip


def test_the_document_is_known_from_its_first_passage():
    new = checked("ports.md", TEXT + "ghp_" + "a1B2c3" * 6, None, {"author": "Ada", "deep": [{}]})
    first, second = stored(new)
    document = memory_passages.document_of(first)
    assert (document.id, document.type, document.digest) == (new.id, new.type, new.digest)
    assert (document.passages, document.created) == (2, 7.0)
    assert (document.metadata, document.masked) == ({"author": "Ada", "deep": [{}]}, 1)
    assert document.characters == len(TEXT) + len("[secret]")
    assert memory_passages.head_of(first) == memory_passages.head_of(second) == first.id


def test_the_text_is_put_together_from_all_passages_in_any_order():
    rows = stored(checked("ports.md", TEXT, None, None))
    assert memory_passages.text_of(rows) == memory_passages.text_of(rows[::-1]) == TEXT


def test_no_text_is_made_of_some_passages_nor_of_two_documents():
    rows = stored(checked("ports.md", TEXT, None, None))
    others = stored(checked("ports.md", TEXT.replace("8090", "8091"), None, None), first=10)
    assert memory_passages.text_of([]) is None
    assert memory_passages.text_of(rows[:1]) is None
    assert memory_passages.text_of([*rows, *others]) is None
    assert memory_passages.text_of([rows[0], others[1]]) is None
