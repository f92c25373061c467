"""One server for the tests of a file, emptied for each."""

from __future__ import annotations

import pytest

from tests.contracts.queues import OverRedis
from tests.made.summaries import ScriptedSummarizer
from tests.programs.redis_server import redis_server


@pytest.fixture(scope="module")
def module_server():
    with redis_server() as server:
        yield server


@pytest.fixture
def clean_server(module_server):
    with module_server.client() as client:
        client.flushall()
    return module_server


@pytest.fixture
async def bench(clean_server):
    made = await OverRedis(clean_server).open()
    made.server = clean_server
    made.client = clean_server.client()
    yield made
    made.client.close()
    await made.close()


@pytest.fixture
async def desk(clean_server):
    made = []

    async def open_(*steps, **more):
        model = ScriptedSummarizer(*steps, **more)
        one = await OverRedis(clean_server, model).open()
        one.client = clean_server.client()
        made.append(one)
        return one

    yield open_
    for one in made:
        one.client.close()
        await one.close()


@pytest.fixture
async def away():
    """A bench on a server of its own, which a test may stop."""
    with redis_server() as server:
        made = await OverRedis(server).open()
        made.server = server
        yield made
        await made.close()
