"""One server for the tests of a file, emptied for each."""

from __future__ import annotations

import pytest

from tests.redis_server import redis_server


@pytest.fixture(scope="module")
def module_server():
    with redis_server() as server:
        yield server


@pytest.fixture
def clean_server(module_server):
    with module_server.client() as client:
        client.flushall()
    return module_server
