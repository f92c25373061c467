"""Processes that take turns and hear of deletions, over a real server: two `RedisPeers` are two
processes."""

from __future__ import annotations

import asyncio
import contextlib
import logging

import pytest

from memtree.errors import QueueUnavailable
from memtree.ports.indexing_stages import OWN, NoPeers, Peers
from memtree_indexer.peers import KEY, RedisPeers, lock_name
from memtree_indexer.redis_connection import RedisConnection
from tests.programs.redis_server import redis_server

pytestmark = pytest.mark.slow

LONG = ["1" * 32, "2" * 32, "3" * 32]
CHAIN = [bytes.fromhex(one) for one in LONG]


@pytest.fixture(scope="module")
def shared_server():
    with redis_server() as server:
        yield server


@pytest.fixture
def server(shared_server):
    with shared_server.client() as client:
        client.flushall()
    return shared_server


@pytest.fixture
def own_server():
    """One that a test may stop."""
    with redis_server() as server:
        yield server


class Process:
    """Parts of one process. Its turns last, unless a test says otherwise: a busy machine must not
    fail a test."""

    def __init__(self, server, database=0, **options):
        options = {"lease": 600.0} | options
        self.dropped = []
        self.told = asyncio.Event()
        self.link = RedisConnection(server.url(database))
        self.shared = RedisPeers(self.link, **options)

    def _drop(self, tenant):
        self.dropped.append(tenant)
        self.told.set()

    async def hears(self):
        """The next deletion."""
        await asyncio.wait_for(self.told.wait(), 60)
        self.told.clear()
        return self.dropped[-1]

    async def __aenter__(self):
        await self.shared.start(self._drop)
        self.dropped.clear()
        self.told.clear()
        return self

    async def __aexit__(self, *_):
        await self.shared.close()
        await self.link.close()


@contextlib.asynccontextmanager
async def two(server, **options):
    async with Process(server, **options) as one, Process(server, **options) as other:
        yield one, other


async def until(condition):
    async with asyncio.timeout(60):
        while not condition():  # noqa: ASYNC110  what other processes do sets no event here
            await asyncio.sleep(0.01)


class Taking:
    """A `take` under way."""

    def __init__(self, process, tenant="t", chain=CHAIN):
        self.task = asyncio.create_task(process.shared.take(tenant, chain))

    async def waits(self, process):
        """It was told that somebody else has the turn."""
        await until(lambda: process.shared.locks.waiting)
        await asyncio.sleep(0.1)
        assert not self.task.done()

    async def result(self):
        return await asyncio.wait_for(self.task, 60)


# -- the contract of `Peers` -----------------------------------------------------------------


@pytest.fixture(params=["alone", "redis"])
async def peers(request):
    if request.param == "alone":
        yield NoPeers()
        return
    async with Process(request.getfixturevalue("server")) as process:
        yield process.shared


class TestPeers:
    async def test_a_turn_may_be_had_again_and_again(self, peers: Peers):
        for _ in range(3):
            turn = await peers.take("t", CHAIN)
            assert turn is not None
            async with turn:
                pass

    async def test_requests_of_one_process_have_it_together(self, peers: Peers):
        turn = await peers.take("t", CHAIN)
        assert turn is not None
        async with turn:
            again = await peers.take("t", CHAIN)
            assert again is not None
            async with again:
                pass
            once_more = await peers.take("t", CHAIN)
            assert once_more is not None

    async def test_an_error_in_it_goes_on(self, peers: Peers):
        turn = await peers.take("t", CHAIN)
        assert turn is not None
        with pytest.raises(KeyError):
            async with turn:
                raise KeyError
        await peers.forgotten("t")


# -- turns -----------------------------------------------------------------------------------


async def test_another_process_waits_until_it_is_told(server):
    async with two(server) as (one, other):
        async with await one.shared.take("t", CHAIN):
            taking = Taking(other)
            await taking.waits(other)
        assert await taking.result() is None
        turn = await other.shared.take("t", CHAIN)
        assert turn is not None
        assert turn is not OWN


async def test_it_waits_for_a_prefix_and_not_for_what_is_longer(server):
    async with two(server) as (one, other):
        async with await one.shared.take("t", CHAIN[:2]):
            assert await other.shared.take("t", CHAIN[:1]) is not None
            taking = Taking(other)
            await taking.waits(other)
        assert await taking.result() is None


async def test_other_histories_and_tenants_do_not_wait(server):
    async with two(server) as (one, other), await one.shared.take("t", CHAIN):
        for tenant, chain in [("u", CHAIN), ("t", [b"another"]), ("t", [*CHAIN[:2], b"x"])]:
            turn = await asyncio.wait_for(other.shared.take(tenant, chain), 60)
            assert turn not in (None, OWN)


async def test_an_end_that_is_told_while_the_answer_comes_is_not_missed(server):
    """The turn ends between the asking and the waiting."""
    async with two(server, lease=60.0) as (one, other):
        turn = await one.shared.take("t", CHAIN)
        await turn.__aenter__()
        run = other.shared.channel.ask

        async def slow(action):
            found = await run(action)
            await turn.__aexit__(None, None, None)
            await until(
                lambda: any(e.is_set() for es in other.shared.locks.waiting.values() for e in es)
            )
            return found

        other.shared.channel.ask = slow
        assert await asyncio.wait_for(other.shared.take("t", CHAIN), 60) is None


async def test_a_turn_is_prolonged_while_it_is_held_and_then_let_go(server, monkeypatch):
    monkeypatch.setattr("memtree_indexer.peers.RENEW", 0.0001)
    key = KEY + lock_name("t", CHAIN[-1])
    with server.client() as client:
        async with Process(server) as one:
            async with await one.shared.take("t", CHAIN):
                for _ in range(3):
                    client.pexpire(key, 300_000)
                    await until(lambda: client.pttl(key) > 300_000)
            await until(lambda: not client.keys(KEY + "*"))


async def test_who_waits_looks_again_when_the_turn_would_have_lapsed(server):
    """It may have been prolonged meanwhile."""
    async with two(server) as (one, other), await one.shared.take("t", CHAIN):
        lapsing(other, lock_name("t", CHAIN[-1]), 600_000)
        for _ in range(2):
            assert await other.shared.take("t", CHAIN) is None


async def test_the_turn_of_a_dead_process_lapses(server):
    async with two(server) as (dead, other):
        await dead.shared.take("t", CHAIN)  # never entered, so never prolonged
        lapsing(other, lock_name("t", CHAIN[-1]), 0)
        assert await other.shared.take("t", CHAIN) is None
        del other.shared.channel.ask
        assert await granted(other) is not OWN


async def granted(process):
    """The turn, as soon as it is to be had."""
    async with asyncio.timeout(60):
        while (turn := await process.shared.take("t", CHAIN)) is None:
            pass
    return turn


def lapsing(process, held, then):
    """When `process` asks for it, this turn has 0.2 seconds yet, and `then` so many milliseconds
    more, in one step: so nobody can come too late to see it."""

    async def ask(action):
        async with process.link.client.pipeline() as pipe:
            await pipe.pexpire(KEY + held, 200)
            await action(pipe)
            if then:
                await pipe.pexpire(KEY + held, then)
            return (await pipe.execute())[1]

    process.shared.channel.ask = ask


async def test_a_request_that_is_given_up_leaves_nothing(server):
    async with two(server, lease=60.0) as (one, other):
        for _ in range(20):
            task = asyncio.create_task(one.shared.take("t", CHAIN))
            await asyncio.sleep(0)
            await asyncio.sleep(0)
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)
        with server.client() as client:
            await until(lambda: not client.keys(KEY + "*"))
        assert not one.shared.locks.waiting
        # What was on its way to Redis may come only now, and is taken back then.
        await granted(other)


async def test_the_last_request_of_a_process_lets_go(server):
    async with two(server) as (one, other):
        first = await one.shared.take("t", CHAIN)
        second = await one.shared.take("t", CHAIN)
        await first.__aenter__()
        second = await one.shared.take("t", CHAIN)
        await second.__aenter__()
        await first.__aexit__(None, None, None)
        taking = Taking(other)
        await taking.waits(other)
        await second.__aexit__(None, None, None)
        assert await taking.result() is None


async def test_nobody_lets_go_of_the_turn_of_another(server):
    async with Process(server) as one:
        turn = await one.shared.take("t", CHAIN)
        await turn.__aenter__()
        with server.client() as client:
            key = KEY + lock_name("t", CHAIN[-1])
            client.set(key, "somebody", px=60_000)
            await turn.__aexit__(None, None, None)
            await one.shared.channel.drain()
            assert client.get(key) == b"somebody"


async def test_keys_and_messages_tell_nothing_of_addresses(server):
    seen = []
    async with two(server) as (one, other), other.link.client.pubsub() as tap:
        await tap.subscribe(one.shared.channel.name)
        with server.client() as client:
            async with await one.shared.take("t-id", CHAIN):
                seen += client.keys("*")
        await one.shared.channel.drain()
        async with asyncio.timeout(60):
            while len(seen) < 3:
                if message := await tap.get_message(timeout=1.0):
                    seen.append(message["data"] if isinstance(message["data"], bytes) else b"")
        assert await tap.get_message(timeout=0.1) is None
    shown = b" ".join(seen)
    assert not any(one.encode() in shown for one in LONG)
    assert not any(one in shown for one in CHAIN)
    assert b"t-id" not in shown


# -- Redis down or slow ----------------------------------------------------------------------


async def test_who_waits_goes_on_when_redis_dies(own_server):
    async with two(own_server, lease=60.0) as (one, other), await one.shared.take("t", CHAIN):
        taking = Taking(other)
        await taking.waits(other)
        own_server.kill()
        assert await taking.result() is None
        assert await other.shared.take("t", CHAIN) is OWN


async def test_a_server_that_is_silent_costs_one_wait_and_then_nothing(own_server):
    async with Process(own_server, answer=0.3) as one:
        await until(lambda: one.shared.live)
        own_server.freeze()
        asked = 0
        run = one.link.run

        async def counted(action):
            nonlocal asked
            asked += 1
            return await run(action)

        one.link.run = counted
        for _ in range(5):
            assert await one.shared.take("t", CHAIN) is OWN
        assert asked == 1
        own_server.thaw()
        await asked_again(one)


async def asked_again(process):
    """Until Redis answers within the little time that it has."""
    async with asyncio.timeout(60):
        while await process.shared.take("t", CHAIN) is OWN:
            await until(lambda: process.shared.live)


async def test_a_server_that_is_not_there_at_the_start_is_met_later(own_server, caplog):
    caplog.set_level(logging.INFO)
    own_server.kill()
    async with Process(own_server, answer=0.1) as one:
        assert await one.shared.take("t", CHAIN) is OWN
        await one.shared.forgotten("t")
        attempts, wake_all = [], one.shared.locks.wake_all
        one.shared.locks.wake_all = lambda: attempts.append(wake_all())
        await until(lambda: len(attempts) >= 2)
        own_server.start()
        assert await one.hears() is None  # what others deleted meanwhile nobody knows
        await asked_again(one)
    lost = [r for r in caplog.records if r.getMessage().startswith("channel.lost")]
    assert len(lost) == 1


# -- deletions -------------------------------------------------------------------------------


async def test_others_hear_of_a_deletion_and_oneself_does_not(server):
    async with two(server) as (one, other):
        await one.shared.forgotten("t")
        assert await other.hears() == "t"
        await other.shared.forgotten("u")
        assert await one.hears() == "u"
        assert (one.dropped, other.dropped) == (["u"], ["t"])


async def test_another_database_is_another_installation(server):
    async with two(server) as (one, other), Process(server, 1) as stranger:
        async with await one.shared.take("t", CHAIN):
            assert await asyncio.wait_for(stranger.shared.take("t", CHAIN), 60) is not None
        await one.shared.forgotten("t")
        assert await other.hears() == "t"
        await stranger.shared.forgotten("u")
        await stranger.shared.channel.drain()
        assert stranger.dropped == []
        await one.shared.forgotten("v")
        await until(lambda: "v" in other.dropped)
        assert "u" not in other.dropped


async def test_who_was_deaf_lets_go_of_everything_and_hears_of_what_was_owed(own_server):
    async with two(own_server) as (one, other):
        own_server.stop()
        await until(lambda: not one.shared.live and not other.shared.live)
        await one.shared.forgotten("t")
        assert other.dropped == []
        own_server.start()
        await until(lambda: "t" in other.dropped)
        assert None in other.dropped
        assert one.dropped == [None]


async def test_what_could_not_be_told_is_told_with_the_next_sign_of_life(server):
    async with two(server) as (one, other):
        run = one.link.run

        async def failing(action):
            one.link.run = run
            raise QueueUnavailable("not now")

        one.link.run = failing
        await one.shared.forgotten("t")
        assert one.shared.owed == ("t",)
        assert not one.shared.live
        assert await other.hears() == "t"
        assert one.shared.live


async def test_a_request_that_is_cancelled_leaves_its_notice_owed(server, monkeypatch):
    async with two(server) as (one, other):
        asked = asyncio.Event()

        async def hangs(_):
            asked.set()
            await asyncio.Event().wait()

        with monkeypatch.context() as patch:
            patch.setattr(one.shared.channel, "ask", hangs)
            telling = asyncio.create_task(one.shared.forgotten("t"))
            await asked.wait()
            telling.cancel()
            await asyncio.gather(telling, return_exceptions=True)
        assert one.shared.owed == ("t",)
        one.shared.alive()
        assert await other.hears() == "t"


async def test_of_too_many_nobody_is_named(own_server, monkeypatch):
    monkeypatch.setattr("memtree_indexer.peers.MAX_OWED", 3)
    async with two(own_server) as (one, other):
        own_server.stop()
        await until(lambda: not one.shared.live and not other.shared.live)
        for number in range(5):
            await one.shared.forgotten(f"t{number}")
        assert one.shared.owed == (None,)
        own_server.start()
        await until(lambda: other.dropped == [None, None])


async def test_a_message_of_another_version_is_passed_over(server):
    async with two(server) as (one, other):
        with server.client() as client:
            for unknown in (b"\xff nothing of ours", b'{"type":"later","x":1}'):
                assert client.publish(one.shared.channel.name, unknown) == 2
        await one.shared.forgotten("t")
        assert await other.hears() == "t"
