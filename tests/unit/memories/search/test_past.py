"""Memories of another time as rows of an index."""

from __future__ import annotations

from memtree.memories.memory import Memory
from memtree.memories.ports import ScopeState, SearchRow, SearchRows
from memtree.memories.search.past import rows_of_then
from memtree.memories.search.text_terms import packed_terms


def memory(number: int, text: str) -> Memory:
    return Memory(f"mem_{number}", number, text, 1.0, 1.0, session_id="s")


def test_what_was_changed_since_has_no_vector_and_the_terms_of_then():
    state = ScopeState(9, 2)
    rows = (
        SearchRow(1, False, 5.0, packed_terms("The port is 8090"), b"a"),
        SearchRow(2, True, None, packed_terms("The tea is green"), b"b"),
        SearchRow(3, True, None, packed_terms("It came later"), b"c"),
    )
    then = [
        memory(4, "It was erased"),
        memory(2, "The tea is black"),
        memory(1, "The port is 8090"),
    ]
    found = rows_of_then(then, SearchRows(state, rows))
    assert found.state == state
    assert found.rows == (
        SearchRow(1, True, None, packed_terms("The port is 8090"), b"a", "s"),
        SearchRow(2, True, None, packed_terms("The tea is black"), None, "s"),
        SearchRow(4, True, None, packed_terms("It was erased"), None, "s"),
    )
