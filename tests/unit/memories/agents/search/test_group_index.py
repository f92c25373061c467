"""The index of many small scopes: what has to be read, and what stays."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from memtree.memories.agents.agent_memory import PlacedRow, ScopeTotals, ScopeVersion
from memtree.memories.agents.search.group_index import AT_ONCE, LARGE, NO_GROUP, GroupIndex
from memtree.memories.ports import SearchRow
from memtree.memories.search.vector_bytes import packed_terms


def version(number: int, changed: int = 1, purges: int = 0, counted: int = 1) -> ScopeVersion:
    return ScopeVersion(number, f"agent{number}", "", changed, purges, counted)


def row(place: int, number: int, *, live: bool = True) -> PlacedRow:
    return PlacedRow(place, SearchRow(number, live, None, packed_terms(f"text {number}"), b"\1\2"))


def refreshed(
    index: GroupIndex, versions: list[ScopeVersion], rows: Sequence[PlacedRow] = ()
) -> GroupIndex:
    totals = ScopeTotals(changed=sum(one.changed for one in versions))
    return index.refreshed(totals, versions, index.reading(versions), rows)


def live(index: GroupIndex) -> list[int]:
    return sorted(index.index.numbers[index.index.live(0.0)].tolist())


def test_at_first_every_scope_that_holds_something_is_read():
    reading = NO_GROUP.reading([version(1), version(2, counted=0), version(3)])
    assert (reading.anew, dict(reading.changed), reading.dropped) == ((1, 3), {}, ())


def test_then_what_changed_after_the_last_time():
    index = refreshed(NO_GROUP, [version(1), version(2)], [row(1, 10), row(2, 20)])
    reading = index.reading([version(1), version(2, changed=4), version(3)])
    assert (reading.anew, dict(reading.changed), reading.dropped) == ((3,), {2: 1}, ())
    versions = [version(1), version(2, changed=4), version(3)]
    index = refreshed(index, versions, [row(2, 20, live=False), row(2, 21), row(3, 30)])
    assert live(index) == [10, 21, 30]
    assert index.reading(versions) == NO_GROUP.reading([])


def test_where_rows_were_erased_the_scope_is_read_anew():
    index = refreshed(NO_GROUP, [version(1), version(2)], [row(1, 10), row(1, 11), row(2, 20)])
    versions = [version(1, changed=2, purges=1), version(2)]
    reading = index.reading(versions)
    assert (reading.anew, reading.dropped) == ((1,), (1,))
    assert live(refreshed(index, versions, [row(1, 11)])) == [11, 20]
    emptied = [version(1, changed=2, purges=1, counted=0), version(2)]
    assert index.reading(emptied).anew == ()
    assert live(refreshed(index, emptied)) == [20]


def test_a_scope_that_grew_large_leaves_and_comes_back_when_it_is_half_as_large():
    index = refreshed(NO_GROUP, [version(1), version(2)], [row(1, 10), row(2, 20)])
    grown = version(1, changed=2, counted=LARGE)
    index = refreshed(index, [grown, version(2)])
    assert (live(index), index.large) == ([20], (grown,))
    less = version(1, changed=3, counted=LARGE // 2)
    index = refreshed(index, [less, version(2)])
    assert (live(index), index.large) == ([20], (less,))
    small = version(1, changed=4, counted=LARGE // 2 - 1)
    assert index.reading([small, version(2)]).anew == (1,)
    assert live(refreshed(index, [small, version(2)], [row(1, 10)])) == [10, 20]


def test_many_that_changed_are_read_anew():
    many = [version(number) for number in range(1, AT_ONCE + 3)]
    index = refreshed(NO_GROUP, many, [row(number, number) for number in range(1, AT_ONCE + 3)])
    few = [version(one.number, changed=2) for one in many[:AT_ONCE]]
    assert len(index.reading([*few, *many[AT_ONCE:]]).changed) == AT_ONCE
    reading = index.reading([version(one.number, changed=2) for one in many])
    assert not reading.changed
    assert len(reading.anew) == len(reading.dropped) == len(many)


def test_each_row_knows_its_scope_and_bytes_are_counted():
    index = refreshed(NO_GROUP, [version(7), version(8)], [row(8, 3), row(7, 5), row(8, 9)])
    assert index.places_of(np.array([9, 3, 5], np.int32)).tolist() == [8, 8, 7]
    compact = index.compact()
    assert compact.index.outdated == 0
    assert live(compact) == [3, 5, 9]
    more = refreshed(index, [version(7, 2), version(8)], [row(7, at) for at in range(10, 90)])
    assert more.nbytes > index.nbytes > NO_GROUP.nbytes
