"""A document is its passages, and can be put together from them."""

from __future__ import annotations

from itertools import count

from memtree.memories import passages
from memtree.memories.document import NewDocument, checked
from memtree.memories.memory import Memory, NewMemory
from memtree.stores.memories.rows import new_memory

TEXT = "# Ports\n\nStaging: 8090.\n\n# Owners\n\nAda owns staging.\n"


def cut(text: str) -> list[tuple[int, int]]:
    """At headings."""
    starts = [at for at in range(len(text)) if text.startswith("# ", at)]
    return list(zip(starts, [*starts[1:], len(text)], strict=True))


def made(document: NewDocument, first: int = 1) -> list[NewMemory]:
    ids = count(first)
    return passages.memories_of(document, cut, lambda: f"mem_{next(ids)}", 7.0)


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
    document = passages.document_of(first)
    assert document == passages.new_document(new, 2, 7.0)
    assert (document.metadata, document.masked) == ({"author": "Ada", "deep": [{}]}, 1)
    assert document.characters == len(TEXT) + len("[secret]")
    assert passages.head_of(first) == passages.head_of(second) == first.id


def test_the_text_is_put_together_from_all_passages_in_any_order():
    rows = stored(checked("ports.md", TEXT, None, None))
    assert passages.text_of(rows) == passages.text_of(rows[::-1]) == TEXT


def test_no_text_is_made_of_some_passages_nor_of_two_documents():
    rows = stored(checked("ports.md", TEXT, None, None))
    others = stored(checked("ports.md", TEXT.replace("8090", "8091"), None, None), first=10)
    assert passages.text_of([]) is None
    assert passages.text_of(rows[:1]) is None
    assert passages.text_of([*rows, *others]) is None
    assert passages.text_of([rows[0], others[1]]) is None
