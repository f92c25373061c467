"""Every back end of a store does the same: the same steps leave the same rows."""

from __future__ import annotations

import asyncio

import pytest
from hypothesis import event, example, given, settings
from hypothesis import strategies as st

from memtree.errors import NodesGone
from memtree.ports.context_store import RECIPE_DAYS, IndexBatch, Receipt
from memtree.tree.node import EMPTY
from tests.contracts.backends import (
    A,
    OnMemory,
    OnPostgres,
    OnSqlite,
    Store,
    address,
    epoch,
    frontier,
    garbage,
    leaf,
    over,
    turn,
    version,
)
from tests.programs.postgres import drop_schema

LEAVES = [leaf(number) for number in range(18)]
LOW = [over(LEAVES[at : at + 4]) for at in range(0, 16, 4)]
EVERY = (*LEAVES, *LOW, over(LOW))
KEY = b"key"
RECIPE = "minilm/1"
DAY = 86_400.0

numbers = st.integers(0, 11)
steps = st.lists(
    st.one_of(
        st.tuples(st.just("commit"), numbers, numbers, numbers, st.booleans()),
        st.tuples(st.just("renew"), numbers, numbers),
        st.tuples(st.just("vectors"), numbers),
        st.tuples(st.just("summaries"), numbers, st.integers(1, 3)),
        st.tuples(st.just("turn"), numbers, numbers, numbers, st.integers(0, 2), numbers),
        st.tuples(st.just("claim"), numbers, numbers, numbers),
        st.tuples(st.just("release"), numbers, numbers),
        st.tuples(st.just("forget"), st.lists(numbers, max_size=3)),
        st.tuples(st.just("sweep"), numbers),
        st.tuples(st.just("days"), st.integers(0, 60)),
    ),
    min_size=3,
    max_size=30,
)
# A chain whose addresses expire one after the other, in no order, with summaries and turns.
BEGINNING: list[tuple] = [
    ("commit", 11, 11, 11, True),
    *(("commit", at, at, (at * 5) % 12, True) for at in range(0, 12, 2)),
    ("vectors", 0),
    *(("summaries", at, number) for at in (3, 9, 11) for number in (1, 2, 3)),
    *(("claim", at, at, 11 - at) for at in (1, 4, 8)),
    *(("turn", at, at, 11 - at, at % 3, 11) for at in (2, 3, 5, 8)),
]


async def take(store: Store, step: tuple) -> object:
    """One step; what it gives, or the error's class."""
    try:
        match step:
            case "commit", node, at, expires, whole:
                top = EVERY[node + 11]
                brought = EVERY if whole else (top,)
                covered = {address(at): frontier([top], 4**top.level), address(at + 1): EMPTY}
                batch = IndexBatch(brought, covered, float(expires), address(at - 1))
                await store.commit(A, batch)
            case "renew", at, expires:
                await store.renew(A, [address(at), address(at + 1)], float(expires))
            case "vectors", node:
                ids = [each.id for each in EVERY[node : node + 12]]
                await store.put_vectors(A, RECIPE, dict.fromkeys(ids, b"1234"))
            case "summaries", node, number:
                ids = [each.id for each in EVERY[node + 9 : node + 12]]
                await store.put_summaries(A, dict.fromkeys(ids, version(number)))
            case "turn", number, at, expires, named, node:
                one = epoch(number, (EVERY[node + 11].id, named))
                old = epoch(number // 2).id
                new = turn(one, used=float(node))
                return await store.put_turn(
                    A, KEY, address(at), new, epoch=one, expires=float(expires), instead_of=old
                )
            case "claim", node, now, until:
                ids = [each.id for each in EVERY[node : node + 12]]
                return await store.claim(A, ids, str(now % 2), float(now), float(until))
            case "release", node, owner:
                await store.release(A, [each.id for each in EVERY[node:]], str(owner % 2))
            case "forget", ats:
                return await store.forget(A, [address(at) for at in ats])
            case "sweep", now:
                return await store.sweep(float(now))
            case "days", kept:  # a month in which nothing expires; it is used on one day, or none
                receipts = []
                for day in range(-RECIPE_DAYS - 1, 0):
                    if day == kept - RECIPE_DAYS:
                        await store.keep_recipe(RECIPE, day * DAY)
                    receipts.append(await store.sweep(day * DAY))
                return receipts
            case _:
                return await store.forget(A, None)
    except NodesGone:
        return NodesGone
    return None


def _outcome(given: object) -> str:
    if isinstance(given, list):
        return _outcome(Receipt(*map(sum, zip(*given, strict=True))))
    if isinstance(given, Receipt):
        return "something" if any(given) else "nothing"
    if isinstance(given, set):
        return "claimed" if given else "nothing"
    return "refused" if given is NodesGone else "done"


@given(taken=steps)
@example(taken=[])
@settings(max_examples=min(20, settings().max_examples))
def test_sqlite_does_the_same_as_memory(taken, tmp_path_factory):
    same(taken, OnSqlite(), tmp_path_factory)


@pytest.mark.long
@given(taken=steps)
@example(taken=[])
@settings(max_examples=10)
def test_postgres_does_the_same_as_memory(taken, tmp_path_factory):
    same(taken, OnPostgres(), tmp_path_factory)


def same(taken, durable, tmp_path_factory) -> None:
    """Compare both after each step: after those of the beginning, which are always the same, only
    where none follow."""

    async def main() -> None:
        folder = tmp_path_factory.mktemp("alike")
        pairs = [(kind, kind.open(folder)) for kind in (durable, OnMemory())]
        for number, step in enumerate([*BEGINNING, *taken, ("forget all", None)]):
            one, other = [await take(store, step) for _, store in pairs]
            assert one == other
            event(f"{step[0]}: {_outcome(one)}")
            if taken and number < len(BEGINNING):
                continue
            rows, same = [kind.rows(store, A) for kind, store in pairs]
            assert rows == same
            if step[0].startswith("forget"):
                assert garbage(rows) == []
            asked = [address(n) for n in range(13)]
            one, other = [await store.latest(A, KEY, asked) for _, store in pairs]
            assert one == other
            for at in asked:
                one, other = [await store.chain(A, at) for _, store in pairs]
                assert one == other
            assert [await store.check() for _, store in pairs] == [[], []]
        for _, store in pairs:
            await store.close()
        if isinstance(durable, OnPostgres):
            drop_schema(folder)

    asyncio.run(main())
