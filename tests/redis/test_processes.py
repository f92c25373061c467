"""Workers as real processes: killed, stopped, and without Redis for a while."""

from __future__ import annotations

import asyncio
import signal
from contextlib import asynccontextmanager

import pytest

from tests.made.embeddings import serving
from tests.made.summaries import Summaries
from tests.made.summaries import serving as serving_summaries
from tests.programs.redis_server import redis_server
from tests.programs.server import Server
from tests.programs.sessions import chat
from tests.redis.processes import SECONDS, Held, Rig

pytestmark = pytest.mark.slow

PASSWORD = "correct-horse"


def key(name: str) -> dict[str, str]:
    return {"authorization": f"Bearer {name}"}


@asynccontextmanager
async def rigged(folder, **more):
    with redis_server(password=PASSWORD) as redis:
        async with serving(Held()) as endpoint:
            rig = Rig(folder, redis, endpoint, **more)
            rig.endpoint = endpoint
            try:
                yield rig
            finally:
                endpoint.gate.set()
                await asyncio.to_thread(rig.close)


async def post(server: Server, name: str, turns: int = 40, seed: int = 1, **more):
    body = {"messages": chat(turns, seed, words=300), "target_tokens": 3_000, **more}
    answer = await asyncio.to_thread(lambda: server.post("/context_memory", body, **key(name)))
    assert answer.status_code in (200, 202), answer.text
    return answer


async def status(server: Server, name: str):
    return (
        await asyncio.to_thread(lambda: server.get("/context_memory/status", **key(name)))
    ).json()


def passages(texts):
    """Without what a process asks once at its start."""
    return [text for text in texts if len(text) > 100]


async def until(condition):
    async with asyncio.timeout(SECONDS):
        while not condition():  # noqa: ASYNC110  what is waited for is in another process
            await asyncio.sleep(0.02)


@pytest.mark.outage
async def test_what_a_killed_worker_was_at_is_done_by_another(tmp_path):
    async with rigged(tmp_path) as rig:
        server = await rig.serve()
        first = rig.worker()
        with rig.redis.client() as client:
            await until(lambda: client.zcard("memtree:workers") == 1)
            rig.endpoint.gate.clear()
            rig.endpoint.arrived.clear()
            await post(server, "a", index_only=True)
            await asyncio.wait_for(rig.endpoint.arrived.wait(), SECONDS)
            assert len(client.keys("memtree:lease:*")) == 1
            first.send_signal(signal.SIGKILL)
            await rig.ended(first)
            rig.endpoint.gate.set()
            assert (await status(server, "a"))["pending_jobs"] == 1
            rig.worker()
            await rig.settled(server, key("a"))
            # A job is given back a moment after nothing of it is left to do.
            await until(lambda: client.keys("memtree:payload:*") == [])
        answer = await post(server, "a")
        assert answer.headers["x-memtree-state"] == "packed"
        assert "job_recovered" in rig.said()
        checked = await rig.run("check")
        assert checked.returncode == 0, checked.stdout


@pytest.mark.long
async def test_two_workers_do_nothing_twice_and_stop_when_told(tmp_path):
    model = Summaries()
    async with serving_summaries(model) as summariser:
        more = {
            "MEMTREE_SUMMARY_BASE_URL": summariser.url,
            "MEMTREE_SUMMARY_MODEL": "m",
        }
        async with rigged(tmp_path, **more) as rig:
            server = await rig.serve()
            for _ in range(2):
                rig.worker()
            names = [f"k{n}" for n in range(4)]
            for n, name in enumerate(names):
                await post(server, name, seed=10 + n)
            await rig.settled(server, *(key(name) for name in names))
            found = passages(rig.endpoint.texts)
            assert len(found) == len(set(found)) > 100, rig.said()
            states = [(await status(server, name))["summaries"] for name in names]
            assert {(one["state"], one["pending_nodes"]) for one in states} == {("ok", 0)}
            assert sum(one["today"]["calls"] for one in states) == len(model.asked)
            texts = passages(part.text for asked in model.asked for part in asked.parts)
            texts = [text for text in texts if "In short" not in text]  # leaves
            assert len(texts) == len(set(texts)) > 20
            for worker in rig.workers:
                worker.terminate()
            assert [await rig.ended(worker) for worker in rig.workers] == [0, 0]
            assert "Traceback" not in rig.said()
            with rig.redis.client() as client:
                assert client.zcard("memtree:workers") == 0
                assert client.keys("memtree:payload:*") == []


async def test_a_burst_ends_by_itself_and_nobody_tells_text_or_password(tmp_path):
    async with rigged(tmp_path) as rig:
        server = await rig.serve()
        doctor = await rig.run("doctor")
        assert doctor.returncode == 1
        assert "0 worker(s) live" in doctor.stdout
        await post(server, "a", index_only=True)
        before = await status(server, "a")
        assert (before["pending_jobs"], len(passages(rig.endpoint.texts))) == (1, 0)
        await post(server, "b", seed=3)  # somebody talks
        with rig.redis.client() as client:
            queues = [f"rq:queue:memtree:embed:{name}" for name in ("interactive", "backfill")]
            await until(lambda: [client.llen(name) for name in queues] == [1, 1])
        assert await rig.ended(rig.worker("--burst")) == 0
        assert (await status(server, "a"))["pending_tokens"] == 0
        assert (await status(server, "b"))["pending_tokens"] == 0
        assert passages(rig.endpoint.texts)
        told = rig.said() + doctor.stdout + doctor.stderr
        assert PASSWORD not in told
        assert "***@127.0.0.1" in told
        assert "harbour" not in told  # a word of every chat


@pytest.mark.outage
async def test_chats_go_on_while_redis_is_away_and_all_is_made_up_for(tmp_path):
    async with rigged(tmp_path) as rig:
        server = await rig.serve()
        rig.worker()
        await post(server, "a")
        await rig.settled(server, key("a"))
        await asyncio.to_thread(rig.redis.stop)
        for n in range(4):
            answer = await post(server, "b", turns=50 + 4 * n, seed=5)
            assert answer.headers["x-memtree-state"] in ("provisional", "packed")
        assert (await status(server, "b"))["pending_tokens"] > 0
        await asyncio.to_thread(rig.redis.start)
        await rig.settled(server, key("b"))
        answer = await post(server, "b", turns=64, seed=5)
        assert answer.headers["x-memtree-state"] == "packed"
        said = rig.said()
        assert said.count("queue.unavailable") <= 2 + said.count("queue.back")
        assert "Traceback" not in said


@pytest.mark.outage
async def test_a_worker_without_redis_waits_and_one_without_a_queue_says_why(tmp_path):
    async with rigged(tmp_path) as rig:
        rig.variables |= {"MEMTREE_QUEUE": "inprocess"}
        refused = await rig.run("worker")
        assert refused.returncode == 1
        assert "MEMTREE_QUEUE" in refused.stderr
        rig.variables |= {"MEMTREE_QUEUE": rig.redis.url()}
        refused = await rig.run("worker", "--store", "memory:")
        assert (refused.returncode, "several processes" in refused.stderr) == (1, True)
        strange = f"{rig.redis.url(patient=False)}?colour=red"
        refused = await rig.run("worker", "--queue", strange)
        assert (refused.returncode, "URL has parts" in refused.stderr) == (1, True)
        assert PASSWORD not in refused.stderr
        rig.redis.stop()
        one = rig.worker()
        async with asyncio.timeout(SECONDS):
            while "queue.unavailable" not in rig.said():  # noqa: ASYNC110  another process says it
                await asyncio.sleep(0.05)
        rig.redis.start()
        server = await rig.serve()
        await post(server, "a")
        await rig.settled(server, key("a"))
        one.terminate()
        assert await rig.ended(one) == 0
