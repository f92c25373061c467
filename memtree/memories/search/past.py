"""Memories as they were at some time, as rows of an index for one search."""

from __future__ import annotations

from collections.abc import Sequence

from memtree.memories.memory import Memory
from memtree.memories.ports import SearchRow, SearchRows
from memtree.memories.search.text_terms import packed_terms


def rows_of_then(memories: Sequence[Memory], now: SearchRows) -> SearchRows:
    """`memories`: as they were; `now`: all rows as they are. The vector of a memory is that of what
    it says now, so one that said something else has none: words rank it."""
    known = {row.number: row for row in now.rows}
    rows = [_row(memory, known.get(memory.number)) for memory in memories]
    return SearchRows(now.state, tuple(sorted(rows, key=lambda row: row.number)))


def _row(memory: Memory, now: SearchRow | None) -> SearchRow:
    terms = packed_terms(memory.text)
    same = now is not None and now.terms == terms
    vector = now.vector if now is not None and same else None
    return SearchRow(memory.number, True, None, terms, vector, memory.session_id)
