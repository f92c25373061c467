"""`RequestLog`: one contract, every back end."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable

from memtree.ports.context_store import HistoryEnd, IndexBatch, Receipt
from memtree.ports.request_log import (
    LOG_DAYS,
    STORE_ROWS,
    UNKNOWN,
    RequestFilter,
    RequestPlace,
    RequestRow,
    RequestTotals,
    StateSums,
)
from memtree.stores import Opened
from tests.contracts.backends import (
    A,
    B,
    Backend,
    OnMemory,
    OnPostgres,
    OnSqlite,
    address,
    frontier,
    leaf,
)
from tests.made.request_rows import row

DAY = 86_400.0
LEAF = leaf(1)
ID = f"{1_500:011x}00001"


def ids(rows: Iterable[RequestRow]) -> list[str]:
    return [each.id for each in rows]


class RequestLogContract(Backend):
    async def test_a_row_comes_back_as_it_was(self, store: Opened) -> None:
        every = [
            row(ID, time=1.5, saved_tokens=-3, model="m é", address=address(1), epoch=b"e" * 12),
            row("b", time=2.25, posted_tokens=2**40, wrap_run="run", error_type="other"),
        ]
        last = await store.add_requests({A: every})
        found = await store.requests(A, 9)
        assert [each._replace(number=0) for each in found] == every[::-1]
        assert [each.number for each in found] == [last, last - 1]
        assert await store.request(A, ID) == found[1]
        for odd in ("0000000000100000", "", "b", "x" * 16, "é" * 16):
            assert await store.request(A, odd) is None
        assert await store.request(B, ID) is None
        assert await store.check() == []

    async def test_pages(self, store: Opened) -> None:
        await store.add_requests({A: [row(f"{n}", time=float(n // 3)) for n in range(10)]})
        await store.add_requests({B: [row("other", time=9.0)]})
        listed: list[RequestRow] = []
        while True:
            last = RequestPlace(listed[-1].time, listed[-1].number) if listed else None
            page = await store.requests(A, 4, before=last)
            if not page:
                break
            listed += page
        assert ids(listed) == [f"{n}" for n in reversed(range(10))]

    async def test_filters_and_totals(self, store: Opened) -> None:
        packed = {"state": "packed", "epoch": b"e" * 12, "posted_tokens": 100, "sent_tokens": 30}
        await store.add_requests(
            {
                A: [
                    row("a", time=1.0, client="codex", address=address(1)),
                    row("b", time=2.0, address=address(2), saved_tokens=50, **packed),
                    row("c", time=3.0, wrap_run="run", saved_tokens=-7, **packed),
                    row("d", time=0.5, address=address(3)),
                    row("e", time=0.6, address=address(4), conversation=address(3)),
                ]
            }
        )
        for where, expected in (
            (RequestFilter(since=2.0), ["c", "b"]),
            (RequestFilter(since=2.0, until=3.0), ["b"]),
            (RequestFilter(state="packed", client="curl"), ["c", "b"]),
            (RequestFilter(client="codex"), ["a"]),
            (RequestFilter(addresses=frozenset({address(1), address(2)})), ["b", "a"]),
            (RequestFilter(addresses=frozenset({b""})), []),
            (RequestFilter(addresses=frozenset()), []),
            (RequestFilter(conversation=address(3)), ["e", "d"]),
            (RequestFilter(conversation=address(4)), ["e", "d"]),
            (RequestFilter(conversation=b""), []),
            (RequestFilter(wrap_run="run"), ["c"]),
        ):
            assert ids(await store.requests(A, 9, where)) == expected
            assert (await store.request_totals(A, where)).requests == len(expected)
        assert await store.request_totals(A) == RequestTotals(5, 2, 200, 60, 43)
        assert await store.request_totals(B) == RequestTotals()

    async def test_sums_of_spans_of_time(self, store: Opened) -> None:
        told = {"state": "packed", "posted_tokens": 100, "saved_tokens": -7}
        await store.add_requests(
            {
                A: [
                    row("a", time=1.0, **told),
                    row("b", time=1.5, **told, sent_tokens=30),
                    row("c", time=1.9, state="passed"),
                    row("off", time=1.5),
                    row("undecided", time=1.5, state=""),
                    row("d", time=2.0, **told),
                ],
                B: [row("theirs", time=1.5, **told)],
            }
        )
        one, none, two = await store.span_sums(A, [(1.0, 2.0), (5.0, 9.0), (2.0, 3.0)])
        packed = StateSums("packed", 2, 200, 30, -14)
        assert sorted(one) == [packed, StateSums("passed", 1, 0, 0, 0)]
        assert none == []
        assert two == [StateSums("packed", 1, 100, 0, -7)]
        assert await store.span_sums(A, []) == []

    async def test_whoever_saw_the_last_number_has_seen_all(self, store: Opened) -> None:
        assert await store.last_request() == 0
        first = await store.add_requests({A: [row("a", time=5.0)]})
        assert await store.last_request() == first
        last = await store.add_requests({A: [row("b", time=1.0), row("c", time=2.0)], B: []})
        assert ids(await store.requests_after(A, first, 9)) == ["b", "c"]
        assert ids(await store.requests_after(A, first, 1)) == ["b"]
        assert await store.requests_after(A, last, 9) == []
        assert await store.requests_after(B, 0, 9) == []
        await store.forget(A, None)
        assert await store.add_requests({A: [row("d", time=1.0)]}) > last

    async def test_many_write_at_once(self, store: Opened) -> None:
        await asyncio.gather(
            *(
                store.add_requests({A: [row(f"{n}a", time=1.0)], B: [row(f"{n}b", time=1.0)]})
                for n in range(8)
            )
        )
        rows = [*await store.requests(A, 99), *await store.requests(B, 99)]
        assert len({each.number for each in rows}) == len(rows) == 16

    async def test_the_previous_request_of_a_conversation(self, store: Opened) -> None:
        at = {"address": address(1), "model": "m"}
        await store.add_requests(
            {
                A: [
                    row("old", time=1.0, **at),
                    row("new", time=2.0, **at),
                    row("failed", time=3.0, **{**at, "status": 500}),
                    row("other", time=4.0, address=address(1), model="n"),
                    row("left", time=0.5, **{**at, "model": "l", "status": 499}),
                    row(
                        "gone",
                        time=0.5,
                        **{**at, "status": 499, "model": "g", "first_token_ms": UNKNOWN},
                    ),
                ]
            }
        )
        found = await store.previous_request(A, "m", [address(3), address(1)])
        assert found is not None
        assert found.id == "new"
        newest = await store.previous_request(A, None, [address(3), address(1)])
        assert newest is not None
        assert newest.id == "other"
        left = await store.previous_request(A, "l", [address(1)])
        assert left is not None
        assert left.id == "left"
        assert await store.previous_request(A, "g", [address(1)]) is None
        assert await store.previous_request(A, "m", [address(3), b""]) is None
        assert await store.previous_request(A, "m", []) is None
        assert await store.previous_request(B, "m", [address(1)]) is None

    async def test_titles_are_those_of_where_a_conversation_ended(self, store: Opened) -> None:
        for at in (1, 2, 3):
            end = HistoryEnd(used=float(at), title="The tea bar")
            grown = frontier([LEAF], 1)
            before = address(at - 1) if at > 1 else b""
            batch = IndexBatch((LEAF,), {address(at): grown}, 9e9, previous=before, end=end)
            await store.commit(A, batch)
        asked = [address(1), address(3), address(9)]
        titles = dict.fromkeys(asked[:2], "The tea bar")
        assert await store.titles(A, asked) == titles
        await store.rename(A, address(3), "Mine", 1.0)
        assert await store.titles(A, asked) == dict.fromkeys(asked[:2], "Mine")
        assert await store.titles(B, asked) == await store.titles(A, []) == {}
        await store.forget(A, [address(1), address(2), address(3)])
        assert await store.titles(A, asked) == {}

    async def test_rows_go_with_their_tenant(self, store: Opened) -> None:
        await store.add_requests({A: [row("a", time=1.0)], B: [row("b", time=1.0)]})
        assert await store.logged_tenants() == [A, B]
        assert await store.tenants() == []  # a log alone is no memory
        assert await store.forget(A, None) == Receipt()
        assert await store.requests(A, 9) == []
        assert ids(await store.requests(B, 9)) == ["b"]
        assert await store.check() == []

    async def test_old_days_go(self, store: Opened) -> None:
        now = (LOG_DAYS + 100) * DAY + 5.0
        times = {"old": 100 * DAY - 1.0, "kept": 100 * DAY, "new": now}
        await store.add_requests({A: [row(id_, time=time) for id_, time in times.items()]})
        assert await store.sweep(now) == Receipt()
        assert ids(await store.requests(A, 9)) == ["new", "kept"]
        assert await store.trim_requests(now) == 0

    async def test_the_oldest_go_where_there_are_too_many(self, store: Opened) -> None:
        rows = [row(f"{n}", time=float(n)) for n in range(6)]
        await store.add_requests({A: rows, B: rows[:3]})
        assert await store.trim_requests(9.0, [A], tenant_rows=4) == 2
        assert ids(await store.requests(A, 9)) == ["5", "4", "3", "2"]
        assert await store.trim_requests(9.0, tenant_rows=2) == 3
        assert ids(await store.requests(B, 9)) == ["2", "1"]
        assert await store.trim_requests(9.0, [], store_rows=3) == 1
        left = [len(await store.requests(tenant, 9)) for tenant in (A, B)]
        assert sum(left) == 3


class TestMemoryStore(OnMemory, RequestLogContract):
    pass


class TestPostgresStore(OnPostgres, RequestLogContract):
    pass


class TestSqliteStore(OnSqlite, RequestLogContract):
    async def test_a_store_at_its_limit_takes_256_megabytes(self, store: Opened) -> None:
        """Rows as long as they get, with all that finds them."""
        many = 4_000
        rows = [
            row(
                f"{n:016x}",
                time=1.7e9 + n,
                model="anthropic/claude-sonnet-5-5",
                address=address(n),
                client="claude-code",
                state="packed",
                epoch=b"e" * 12,
                posted_tokens=900_000,
                sent_tokens=20_000,
                saved_tokens=70_000,
            )
            for n in range(many)
        ]
        before = (await store.stats()).bytes
        await store.add_requests({A: rows})
        grown = (await store.stats()).bytes - before
        assert grown / many * STORE_ROWS < (256 << 20)
