"""Check what a proxy's `/metrics` tells of a queue in a real Redis, which is there and then is
not."""

from __future__ import annotations

import asyncio
from pathlib import Path

import httpx
import pytest

from memtree.config import Settings
from memtree.jobs.runtime import open_runtime
from memtree_indexer.queues import open_redis_queues
from memtree_proxy.server.app import create_app
from memtree_proxy.server.serve import open_services
from tests.programs.redis_server import redis_server

pytestmark = pytest.mark.slow


async def shown(client: httpx.AsyncClient) -> dict[str, float]:
    """Samples without buckets, by the name with its labels."""
    page = (await client.get("/metrics")).text
    pairs = (line.rsplit(" ", 1) for line in page.splitlines() if not line.startswith("#"))
    return {name: float(value) for name, value in pairs}


async def test_what_waits_in_redis(tmp_path: Path):
    said = [
        {"role": ("user", "assistant")[at % 2], "content": f"line {at} of the talk. " * 60}
        for at in range(120)
    ]
    with redis_server(password="hush") as server:
        settings = Settings(
            store=f"sqlite:///{tmp_path}/m.db", queue=server.url(), embedder="local", upstream=None
        )
        async with (
            open_runtime(settings, drain=0, lasting=True, queues=open_redis_queues) as runtime,
            open_services(settings, runtime) as services,
            httpx.AsyncClient(
                transport=httpx.ASGITransport(create_app(services)), base_url="http://edge"
            ) as client,
        ):
            assert (await shown(client))['memtree_queue_jobs{stage="2"}'] == 0
            await client.post("/context_memory", json={"messages": said})
            async with asyncio.timeout(60):
                while not (found := await shown(client))['memtree_queue_jobs{stage="2"}']:  # noqa: ASYNC110 - another process
                    await asyncio.sleep(0.05)
            assert found['memtree_queue_up{stage="2"}'] == 1
            assert found['memtree_queue_tokens{stage="2"}'] > 10_000
            assert 0 <= found['memtree_index_lag_seconds{stage="2"}'] < 60
            server.close()
            gone = await shown(client)
            assert gone['memtree_queue_up{stage="2"}'] == 0
            assert 'memtree_queue_jobs{stage="2"}' not in gone
