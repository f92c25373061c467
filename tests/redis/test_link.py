"""The link to Redis against a real server: there, gone, silent, and back."""

import asyncio
import contextlib
import logging

import pytest

from memtree.errors import QueueUnavailable
from memtree_indexer.redis_connection import COMMAND, RedisConnection, blocking
from tests.programs.redis_server import redis_server, refuses


@pytest.fixture
def server():
    with redis_server() as server:
        yield server


@pytest.fixture
async def link(server):
    link = RedisConnection(server.url())
    yield link
    await link.close()


async def ask(link):
    return await link.run(lambda client: client.ping())


async def test_it_comes_back_by_itself_and_says_so_once(server, link, caplog):
    caplog.set_level(logging.INFO)
    assert await ask(link)
    server.kill()
    for _ in range(3):
        with pytest.raises(QueueUnavailable):
            await ask(link)
    assert not link.up
    server.start()
    assert await ask(link)
    assert link.up
    said = [record.getMessage() for record in caplog.records if record.name == "memtree.queue"]
    assert said == ["queue.unavailable error=ConnectionError", "queue.back"]


async def test_a_restart_between_two_calls_is_not_noticed(server, link, caplog):
    caplog.set_level(logging.INFO)
    assert await ask(link)
    server.stop()
    server.start()
    assert await ask(link)
    assert caplog.records == []


async def test_a_server_that_says_nothing_is_down(server):
    link = RedisConnection(server.url(patient=False), command=0.2)
    server.freeze()
    with pytest.raises(QueueUnavailable):
        await ask(link)
    server.thaw()
    async with asyncio.timeout(60):
        while not link.up:
            with contextlib.suppress(QueueUnavailable):
                assert await ask(link)
    await link.close()


async def test_after_a_command_without_an_answer_others_fail_at_once(server):
    link = RedisConnection(server.url(patient=False), command=0.3)
    server.freeze()
    calls = await asyncio.gather(*(ask(link) for _ in range(12)), return_exceptions=True)
    assert {type(each) for each in calls} == {QueueUnavailable}
    asked = []

    async def noticed(client):
        asked.append(client)

    with pytest.raises(QueueUnavailable, match="cannot be used"):
        await link.run(noticed)
    assert asked == []
    server.thaw()
    async with asyncio.timeout(60):
        while not asked:
            with contextlib.suppress(QueueUnavailable):
                await link.run(noticed)
            await asyncio.sleep(0.02)
    assert link.up
    await link.close()


async def test_the_url_may_say_how_long_a_command_may_take(server):
    hasty = RedisConnection(server.url(patient=False))
    patient = RedisConnection(f"{server.url(patient=False)}?socket_timeout=7")
    assert (hasty.seconds, patient.seconds) == (COMMAND, 7.0)
    for link in (hasty, patient):
        await link.close()


async def test_what_it_held_is_there_after_a_restart_unless_it_was_emptied(server):
    with server.client() as client:
        client.set("a", 1)
        server.stop()
        server.start()
        assert client.get("a") == b"1"
        server.stop()
        server.empty()
        server.start()
        assert client.get("a") is None


async def test_a_password_is_neither_told_nor_logged(caplog):
    with redis_server(password="correct-horse") as server:
        link = RedisConnection(server.url())
        assert await ask(link)
        await link.close()
        wrong = RedisConnection(server.url().replace("correct", "battery"))
        with pytest.raises(QueueUnavailable) as caught:
            await ask(wrong)
        await wrong.close()
    assert "battery" not in caught.value.message + caplog.text
    assert refuses(server.port)


@pytest.mark.parametrize("opened", [RedisConnection, blocking])
def test_a_url_with_parts_that_nobody_knows_is_found_at_once(opened):
    with pytest.raises((TypeError, ValueError)):
        opened("redis://127.0.0.1:1/0?colour=red")
