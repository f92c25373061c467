"""Rows that are bounded in bytes: those used least lately go, and the sum stays right."""

from __future__ import annotations

import asyncio
from threading import Thread

from hypothesis import given
from hypothesis import strategies as st

from memtree.process.bounded import SizedRows

KEYS = st.integers(0, 9)
STEPS = st.lists(
    st.one_of(
        st.tuples(st.just("put"), KEYS, st.integers(0, 12)),
        st.tuples(st.just("get"), KEYS, st.just(0)),
        st.tuples(st.just("drop"), KEYS, st.just(0)),
        st.tuples(st.just("drop_where"), KEYS, st.just(0)),
        st.tuples(st.just("clear"), st.just(0), st.just(0)),
    )
)


def sized(most: int) -> SizedRows[int, str]:
    return SizedRows(most, lambda _, value: len(value))


@given(STEPS)
def test_they_are_a_list_with_the_latest_last(steps: list[tuple[str, int, int]]) -> None:
    rows = sized(20)
    expected: list[tuple[int, str]] = []
    for name, key, length in steps:
        value = dict(expected).get(key)
        if name == "put":
            expected = [row for row in expected if row[0] != key]
            expected += [(key, "x" * length)] * (length <= 20)
            rows.put(key, "x" * length)
        elif name == "get":
            assert rows.get(key) == value
            if value is not None:
                expected = [row for row in expected if row[0] != key] + [(key, value)]
        elif name == "drop":
            expected = [row for row in expected if row[0] != key]
            rows.drop(key)
        elif name == "drop_where":
            expected = [row for row in expected if row[0] > key]
            rows.drop_where(lambda at, _, key=key: at <= key)  # type: ignore[misc]
        else:
            expected = []
            rows.clear()
        while sum(len(text) for _, text in expected) > 20:
            expected.pop(0)
        assert list(rows) == [at for at, _ in expected]
        assert rows.nbytes == sum(len(text) for _, text in expected)
        assert len(rows) == len(expected)


def test_what_is_larger_than_everything_is_not_kept_and_drops_nothing_else() -> None:
    rows = sized(5)
    rows.put(1, "one")
    rows.put(2, "sixsix")
    assert list(rows) == [1]
    rows.put(1, "sixsix")
    assert not list(rows)
    assert rows.nbytes == 0


async def test_several_threads_leave_the_sum_right() -> None:
    rows = sized(200)

    def work(start: int) -> None:
        for number in range(2_000):
            rows.put((start * 7 + number) % 300, "x" * (number % 9))
            rows.get(number % 300)

    await asyncio.gather(*(asyncio.to_thread(work, start) for start in range(4)))
    assert rows.nbytes == sum(len(rows.get(key) or "") for key in list(rows))
    assert rows.nbytes <= 200


def test_a_row_may_be_used_while_others_are_dropped():
    rows = sized(200)
    for key in range(3):
        rows.put(key, "four")
    readers: list[Thread] = []

    def is_odd(key: int, value: str) -> bool:
        readers.append(Thread(target=rows.get, args=(0,)))
        readers[-1].start()
        readers[-1].join(0.05)  # the order has changed by now
        return key % 2 == 1

    rows.drop_where(is_odd)
    for reader in readers:
        reader.join()
    assert sorted(rows) == [0, 2]
    assert rows.nbytes == 8
