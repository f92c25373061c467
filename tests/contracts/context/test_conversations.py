"""`ConversationStore`: one contract, every back end."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from memtree.ports.context_store import ConversationPlace, HistoryEnd, IndexBatch
from memtree.stores.context.stored_conversations import conversations
from memtree.stores.sql import Sql
from memtree.stores.stored_rows import ConversationRow, left_at_ends
from tests.contracts.backends import (
    A,
    B,
    Backend,
    OnMemory,
    OnPostgres,
    OnSqlite,
    address,
    epoch,
    frontier,
    leaf,
    turn,
)

LEAVES = [leaf(number) for number in range(4)]
COVERED = frontier(LEAVES, 4)
DAY = 86_400.0


def end(used: float, messages: int = 8, *, whole: bool = True) -> HistoryEnd:
    return HistoryEnd(used, messages, 10 * messages, 1, whole)


async def grow(store, *at: int, used: float, after: int | None = None, expires=1000.0, tenant=A):
    """One request: addresses of a chain, the last of which ends it."""
    previous = b"" if after is None else address(after)
    covered = dict.fromkeys(map(address, at), COVERED)
    batch = IndexBatch(tuple(LEAVES), covered, expires, previous, end(used, at[-1]))
    await store.commit(tenant, batch)


async def titled(store, *at: int, after: int | None = None, tenant=A, **told: Any):
    """One request, of which a title, a client or a project is told."""
    previous = b"" if after is None else address(after)
    covered = dict.fromkeys(map(address, at), COVERED)
    ended = replace(end(float(at[-1]), at[-1]), **told)
    await store.commit(tenant, IndexBatch(tuple(LEAVES), covered, 1000.0, previous, ended))


class RoundTrips:
    """Counts the calls of a `Sql` that wait for rows."""

    def __init__(self) -> None:
        self.count = 0

    def of(self, sql: Sql) -> Any:
        self._sql = sql
        return self

    def __getattr__(self, name: str) -> Any:
        self.count += name in ("fetch", "many", "many_each", "count")
        return getattr(self._sql, name)


async def listed(store, tenant=A, now=0.0, limit=100, before=None) -> list[tuple[bytes, float]]:
    found = await store.conversations(tenant, now, limit, before)
    return [(one.address, one.end.used) for one in found]


class ConversationContract(Backend):
    async def test_nothing_at_first(self, store):
        assert await store.conversations(A, 0.0, 10) == []
        assert await store.conversation(A, address(0), 0.0) is None

    async def test_what_is_told_of_one(self, store):
        await grow(store, 1, 2, used=5.25)
        (one,) = await store.conversations(A, 0.0, 10)
        assert one == (address(2), end(5.25, 2), COVERED, None, "", 0, "", 0)
        assert await store.conversation(A, address(2), 0.0) == one
        inner = await store.conversation(A, address(1), 0.0)
        assert inner == (address(1), HistoryEnd(), COVERED, None, "", 0, "", 0)
        assert await store.check() == []

    async def test_one_that_grew_is_listed_once(self, store):
        await grow(store, 1, 2, used=1.0)
        await grow(store, 3, 4, after=2, used=2.0)
        await grow(store, 5, after=4, used=3.0)
        assert await listed(store) == [(address(5), 3.0)]

    async def test_each_branch_is_listed(self, store):
        await grow(store, 1, 2, 3, used=1.0)
        await grow(store, 10, 11, after=2, used=2.0)
        await grow(store, 20, after=1, used=3.0)
        assert await listed(store) == [(address(20), 3.0), (address(11), 2.0), (address(3), 1.0)]

    async def test_a_use_is_of_one_tenant(self, store):
        for tenant in (A, B):
            await grow(store, 1, used=1.0, tenant=tenant)
        await store.renew(A, [address(1)], 1000.0, 5.0)
        assert await listed(store) == [(address(1), 5.0)]
        assert await listed(store, B) == [(address(1), 1.0)]

    async def test_a_repeated_batch_changes_nothing(self, store):
        for used in (1.0, 2.0):
            await grow(store, 1, 2, used=used)
        await grow(store, 3, after=2, used=3.0)
        await grow(store, 1, 2, used=4.0)
        assert await listed(store) == [(address(3), 3.0)]

    async def test_a_batch_from_the_beginning_goes_on_from_what_is_known(self, store):
        await grow(store, 1, 2, used=1.0)
        await grow(store, 1, 2, 3, used=2.0)
        assert await listed(store) == [(address(3), 2.0)]

    async def test_part_of_a_history(self, store):
        batch = IndexBatch(tuple(LEAVES), {address(1): COVERED}, 9.0, b"", end(1.0, whole=False))
        await store.commit(A, batch)
        (one,) = await store.conversations(A, 0.0, 10)
        assert not one.end.whole
        await grow(store, 2, after=1, used=1.0)
        (one,) = await store.conversations(A, 0.0, 10)
        assert one.end.whole

    async def test_pages_newest_first(self, store):
        for at in range(25):
            await grow(store, at, used=float(at % 7))
        whole = await listed(store)
        assert len(set(whole)) == 25
        assert whole == sorted(whole, key=lambda one: (one[1], one[0]), reverse=True)
        paged, before = [], None
        while part := await store.conversations(A, 0.0, 4, before):
            assert len(part) <= 4
            paged += [(one.address, one.end.used) for one in part]
            before = part[-1].place
        assert paged == whole

    async def test_expired_ones_leave_no_gap_in_a_page(self, store):
        for at in range(20):
            await grow(store, at, used=float(at), expires=10.0 if at % 5 else 90.0)
        live = [(address(at), float(at)) for at in (15, 10, 5, 0)]
        for limit in (1, 2, 3, 4, 5):
            assert await listed(store, now=50.0, limit=limit) == live[:limit]
        second = ConversationPlace(10.0, address(10))
        assert await listed(store, now=50.0, limit=1, before=second) == live[2:3]

    async def test_a_page_takes_one_round_trip(self, store):
        """With the turns of all that it lists."""
        for at in range(9):
            await grow(store, at, used=float(at))
        of = epoch(1)
        await store.put_turn(A, b"key", address(7), turn(of, used=7.0), epoch=of, expires=100.0)
        for limit in (4, 9, 100):
            trips = RoundTrips()
            page = await store.database.read(
                lambda sql, trips=trips, limit=limit: conversations(trips.of(sql), A, 0.0, limit)
            )
            assert [one.address for one in page if one.turn] == [address(7)]
            assert trips.count == 1

    async def test_use_brings_to_the_front(self, store):
        await grow(store, 1, 2, used=1.0)
        await grow(store, 9, used=2.0)
        await store.renew(A, [address(1), address(2)], 2000.0, used=5.0)
        assert await listed(store) == [(address(2), 5.0), (address(9), 2.0)]
        await store.renew(A, [address(2)], 3000.0, used=4.0)
        assert await listed(store) == [(address(2), 5.0), (address(9), 2.0)]

    async def test_a_turn_that_is_asked_for_again_is_a_use(self, store):
        await grow(store, 1, used=1.0)
        one = epoch(1)
        for used in (1.0, 7.5):
            new = turn(one, used=used)
            await store.put_turn(A, b"key", address(1), new, epoch=one, expires=100.0)
        assert await listed(store) == [(address(1), 7.5)]

    async def test_the_newest_turn_comes_along(self, store):
        await grow(store, 1, used=1.0)
        await grow(store, 2, used=2.0)
        for number, used in ((1, 3.0), (2, 9.0), (3, 5.0)):
            of = epoch(number)
            key = b"key %d" % number
            new = turn(of, used=used)
            await store.put_turn(A, key, address(1), new, epoch=of, expires=100.0)
        two, one = await store.conversations(A, 0.0, 10)
        assert two.turn is None
        assert one.turn == turn(epoch(2), used=9.0)
        assert (await store.conversation(A, address(1), 0.0)).turn == one.turn

    async def test_tenants_never_meet(self, store):
        await grow(store, 1, used=1.0)
        await grow(store, 1, 2, used=2.0, tenant=B)
        of = epoch(1)
        await store.put_turn(B, b"key", address(1), turn(of), epoch=of, expires=100.0)
        assert await listed(store, A) == [(address(1), 1.0)]
        assert await listed(store, B) == [(address(2), 2.0)]
        assert (await store.conversation(A, address(1), 0.0)).turn is None
        assert await store.conversation(A, address(2), 0.0) is None
        assert await store.newest_turn(A, [address(1)]) is None

    # -- the newest turn -------------------------------------------------------------------

    async def test_the_newest_turn_under_any_key(self, store):
        assert await store.newest_turn(A, []) is None
        assert await store.newest_turn(A, [address(1)]) is None
        for number, used in ((1, 3.0), (2, 9.0), (3, 5.0)):
            of = epoch(number)
            key = b"key %d" % number
            for at in (1, 2):
                new = turn(of, used=used - at)
                await store.put_turn(A, key, address(at), new, epoch=of, expires=100.0)
        far = [address(n) for n in range(100, 400)]
        for asked, met in (([1, 2], 1), ([2, 1], 2), ([3, 2], 2)):
            for before in ([], far):
                found = await store.newest_turn(A, [*before, *map(address, asked)])
                assert (found.address, found.epoch) == (address(met), epoch(2))
                assert found.turn.used == 9.0 - met

    # -- forgetting ------------------------------------------------------------------------

    async def test_what_expired_is_not_there(self, store):
        await grow(store, 1, used=1.0, expires=50.0)
        await grow(store, 2, used=2.0, expires=60.0)
        assert await listed(store, now=50.0) == [(address(2), 2.0), (address(1), 1.0)]
        assert await listed(store, now=55.0) == [(address(2), 2.0)]
        assert await store.conversation(A, address(1), 55.0) is None

    async def test_a_sweep_takes_it(self, store):
        await grow(store, 1, 2, used=1.0, expires=50.0)
        await grow(store, 3, used=2.0, expires=60.0)
        await store.sweep(55.0)
        assert await listed(store) == [(address(3), 2.0)]
        assert await store.check() == []

    async def test_a_prefix_that_outlives_what_went_on_from_it(self, store):
        await grow(store, 1, 2, used=1.0, expires=90.0)
        await grow(store, 3, 4, after=2, used=7.0, expires=50.0)
        await grow(store, 5, after=3, used=8.0, expires=50.0)
        await store.sweep(55.0)
        (one,) = await store.conversations(A, 0.0, 10)
        assert one == (address(2), HistoryEnd(8.0, first=1), COVERED, None, "", 0, "", 0)
        await grow(store, 6, after=2, used=9.0)
        assert await listed(store) == [(address(6), 9.0)]

    async def test_a_prefix_with_a_branch_that_stays_is_none(self, store):
        await grow(store, 1, 2, used=1.0, expires=90.0)
        await grow(store, 3, after=2, used=7.0, expires=50.0)
        await grow(store, 4, after=2, used=6.0, expires=90.0)
        await store.sweep(55.0)
        assert await listed(store) == [(address(4), 6.0)]

    async def test_forgotten_ones_are_gone(self, store):
        await grow(store, 1, 2, used=1.0)
        await grow(store, 3, after=2, used=2.0)
        await grow(store, 9, used=3.0)
        await store.forget(A, [address(1), address(2), address(3)])
        assert await listed(store) == [(address(9), 3.0)]
        await store.forget(A, None)
        assert await listed(store) == []
        assert self.rows(store, A)["conversations"] == set()

    async def test_a_forgotten_beginning_leaves_the_end(self, store):
        await grow(store, 1, 2, used=1.0)
        await grow(store, 3, after=2, used=2.0)
        await store.forget(A, [address(1), address(2)])
        assert await listed(store) == [(address(3), 2.0)]
        assert await store.check() == []

    # -- titles -------------------------------------------------------------------------------

    async def test_a_title_stays_while_a_conversation_grows(self, store):
        await titled(store, 1, title="Rename the café's port", client="cline", project="tea-shop")
        await titled(store, 2, after=1)
        (one,) = await store.conversations(A, 0.0, 10)
        assert (one.address, one.ordinal, one.own_title) == (address(2), 1, "")
        told = (one.end.title, one.end.client, one.end.project)
        assert told == ("Rename the café's port", "cline", "tea-shop")
        await titled(store, 3, after=2, client="codex")
        (one,) = await store.conversations(A, 0.0, 10)
        assert (one.end.client, one.end.project) == ("codex", "tea-shop")
        assert await store.conversation(A, address(3), 0.0) == one

    async def test_equal_titles_of_one_tenant_are_numbered(self, store):
        for number in (1, 2, 3):
            await titled(store, number, title="Fix the tests")
        await titled(store, 4, title="Fix the tests", tenant=B)
        await titled(store, 5, after=2, title="Fix the tests")
        await titled(store, 6)
        found = {one.address: one.ordinal for one in await store.conversations(A, 0.0, 10)}
        assert found == {address(1): 1, address(5): 2, address(3): 3, address(6): 0}
        assert [one.ordinal for one in await store.conversations(B, 0.0, 10)] == [1]
        await titled(store, 7, after=6, title="Fix the tests")
        assert (await store.conversation(A, address(7), 0.0)).ordinal == 4

    async def test_a_typed_title_stays_with_the_newer_address(self, store):
        await titled(store, 1, title="Fix the tests")
        assert await store.rename(A, address(1), "Été d'or 'x'", 0.0) == 1
        await titled(store, 2, 3, after=1, title="Fix the tests")
        (one,) = await store.conversations(A, 0.0, 10)
        assert (one.address, one.own_title, one.end.title) == (
            address(3), "Été d'or 'x'", "Fix the tests",
        )  # fmt: skip

    async def test_a_branch_has_a_title_of_its_own(self, store):
        await titled(store, 1, 2, title="Fix the tests")
        await store.rename(A, address(2), "Mine", 0.0)
        await titled(store, 3, after=1, title="Fix the tests")
        found = {one.address: one.own_title for one in await store.conversations(A, 0.0, 10)}
        assert found == {address(2): "Mine", address(3): ""}
        # What both branches go on from names both.
        assert await store.rename(A, address(1), "Both", 0.0) == 2
        found = {one.address: one.own_title for one in await store.conversations(A, 0.0, 10)}
        assert found == {address(2): "Both", address(3): "Both"}

    async def test_nothing_unknown_foreign_or_expired_is_renamed(self, store):
        await titled(store, 1, title="Fix the tests")
        assert await store.rename(A, address(9), "Mine", 0.0) == 0
        assert await store.rename(B, address(1), "Mine", 0.0) == 0
        assert await store.rename(A, address(1), "Mine", 1_000_000.0) == 0
        (one,) = await store.conversations(A, 0.0, 10)
        assert one.own_title == ""

    async def test_titles_are_gone_with_the_conversation(self, store):
        await titled(store, 1, title="Fix the tests", project="tea-shop")
        await store.rename(A, address(1), "Mine", 0.0)
        await store.forget(A, [address(1)])
        await titled(store, 1, title="")
        (one,) = await store.conversations(A, 0.0, 10)
        assert (one.end.title, one.end.project, one.own_title, one.ordinal) == ("", "", "", 0)

    async def test_the_rest_of_a_conversation_keeps_its_title(self, store):
        await titled(store, 1, 2, title="Fix the tests", project="tea-shop")
        await store.rename(A, address(2), "Mine", 0.0)
        await store.forget(A, [address(2)])
        (one,) = await store.conversations(A, 0.0, 10)
        assert (one.end.title, one.end.project, one.own_title) == (
            "Fix the tests",
            "tea-shop",
            "Mine",
        )

    # -- pins ---------------------------------------------------------------------------------

    async def test_pins_stay_with_the_newer_address_and_with_the_rest(self, store):
        await titled(store, 1, 2)
        assert await store.put_pins(A, address(1), "[[1]]", 0.0) == 1
        assert await store.pins(A, [address(1), address(2)]) == ["[[1]]"]
        await titled(store, 3, after=2)
        assert (await store.conversation(A, address(3), 0.0)).pins == "[[1]]"
        assert await store.pins(A, [address(3), address(2)]) == ["[[1]]"]
        await store.forget(A, [address(3)])
        assert await store.pins(A, [address(2)]) == ["[[1]]"]
        assert await store.put_pins(A, address(2), "", 0.0) == 1
        assert await store.pins(A, [address(2)]) == []

    async def test_nothing_unknown_foreign_or_expired_is_pinned(self, store):
        await titled(store, 1)
        assert await store.put_pins(A, address(9), "[[1]]", 0.0) == 0
        assert await store.put_pins(B, address(1), "[[1]]", 0.0) == 0
        assert await store.put_pins(A, address(1), "[[1]]", 1_000_000.0) == 0
        await store.put_pins(A, address(1), "[[1]]", 0.0)
        assert await store.pins(B, [address(1)]) == []
        assert await store.pins(A, []) == []


class TestMemoryStore(OnMemory, ConversationContract):
    pass


class TestPostgresStore(OnPostgres, ConversationContract):
    pass


class TestSqliteStore(OnSqlite, ConversationContract):
    pass


# -- copies ------------------------------------------------------------------------------------


def test_chains_that_meet_themselves_end():
    previous = {b"a": b"b", b"b": b"a", b"c": b"b"}
    assert left_at_ends(previous, {b"a", b"b"}, [ConversationRow(b"a", 1.0)]) == []
    assert ConversationPlace(1.0, b"b") > ConversationPlace(1.0, b"a")
