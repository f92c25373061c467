"""Conversations run through the whole topology while its parts fail, one fault after the other.

Nothing is lost, paid twice or answered wrongly, and every client is answered (`rigs.py`).
"""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

import httpx
import pytest

from tests.made.embeddings import Half, Silence, Status
from tests.made.summaries import Drip, Step, garbage, half, invented
from tests.topology import judged
from tests.topology.rigs import Rig
from tests.topology.talks import Talk, talking, until

pytestmark = [pytest.mark.slow, pytest.mark.outage, pytest.mark.xdist_group("topology")]

OUTAGE = 10.0  # seconds


def talks_of(name: str) -> list[Talk]:
    """Short, over the threshold, and long and never seen before."""
    return [Talk(name, seed, size) for seed, size in ((1, 3_000), (2, 12_000), (3, 30_000))]


def proven(rig: Rig, talks: list[Talk]) -> None:
    """All is well with these conversations once everything settled, and nothing more is asked."""
    rig.settle(talks)
    assert rig.problems(talks) == []
    assert asyncio.run(rig.losses(talks)) == []
    before = len(rig.models.summaries.log)
    rig.settle(talks)
    assert len(rig.models.summaries.log) == before


@contextmanager
def summariser(rig: Rig, step: Step) -> Iterator[None]:
    """Nothing but this is answered while the block runs."""
    with rig.fault():
        rig.models.summaries.always = step
        try:
            yield
        finally:
            rig.models.summaries.always = None


def turns(rig: Rig, talks: list[Talk], count: int = 8) -> None:
    """So many turns of these conversations, at once."""
    with talking(rig.url, talks) as chatter:
        until(lambda: chatter.turns >= count or bool(chatter.failed))


def test_without_a_fault_everything_is_done_once(rig: Rig) -> None:
    talks = talks_of("calm")
    turns(rig, talks, 60)
    proven(rig, talks)
    assert judged.paid_again(rig.models.summaries.log, []) == []
    assert set(judged.states(talks)) <= {"below-threshold", "passed", "packed", "provisional"}
    named = judged.epochs(talks)
    assert len(named) >= 3
    assert max(named.values()) >= 5  # so the bytes of an epoch were compared


def test_a_worker_killed_in_the_middle_of_a_job(rig: Rig) -> None:
    talks, model = talks_of("worker"), rig.models.summaries
    rig.parts.stop("worker-2")
    with rig.fault(), talking(rig.url, talks):
        with summariser(rig, Silence()):
            until(lambda: model.open > 0)
            rig.parts.kill("worker-1")
        rig.parts.start("worker-2")
    rig.settle(talks)
    until(lambda: "queue.job_recovered" in rig.parts.log("worker-2").read_text())
    rig.parts.start("worker-1")
    proven(rig, talks)


@pytest.mark.parametrize("part", ["redis", "postgres"])
def test_a_server_that_is_gone_for_a_while(rig: Rig, part: str) -> None:
    talks = talks_of(f"{part}-gone")
    with talking(rig.url, talks) as chatter, rig.fault():
        rig.parts.stop(part)
        before = chatter.turns
        time.sleep(OUTAGE)
        until(lambda: chatter.turns > before)
        rig.parts.start(part)
    proven(rig, talks)


@pytest.mark.soak
@pytest.mark.parametrize("part", ["redis", "postgres"])
def test_a_server_that_says_nothing_for_a_while(rig: Rig, part: str) -> None:
    talks = talks_of(f"{part}-frozen")
    with talking(rig.url, talks):
        rig.frozen(part, OUTAGE)
    proven(rig, talks)


def streams(rig: Rig, talks: list[Talk]) -> list[threading.Thread]:
    """Each has an answer in its middle, and goes on when the gate opens."""
    rig.models.chat.gate.clear()
    threads = [threading.Thread(target=talk.turn, args=(rig.url,)) for talk in talks]
    for thread in threads:
        thread.start()
    until(lambda: rig.models.chat.halfway == len(talks))
    return threads


def test_a_proxy_killed_in_the_middle_of_streams(rig: Rig) -> None:
    talks = [Talk("cut", seed, 3_000, streams=1.0) for seed in range(4)]
    threads = streams(rig, talks)
    rig.parts.kill("proxy-1")
    rig.models.chat.gate.set()
    for thread in threads:
        thread.join()
    broken = [one for talk in talks for one in talk.attempts if not one.answered]
    assert 1 <= len(broken) <= 3  # the balancer gave some of them to each
    assert all(one.status == 200 and one.error for one in broken)
    rig.parts.start("proxy-1")
    proven(rig, talks)


def refuses(url: str) -> bool:
    try:
        httpx.get(f"{url}/health", trust_env=False, timeout=5)
    except httpx.ConnectError:
        return True
    except httpx.HTTPError:
        pass
    return False


def test_a_proxy_that_is_told_to_stop_ends_its_streams(rig: Rig) -> None:
    talks = [Talk("drained", seed, 3_000, streams=1.0) for seed in range(4)]
    threads = streams(rig, talks)
    stopping = threading.Thread(target=rig.parts.stop, args=("proxy-1",))
    stopping.start()
    # The balancer may take up a connection in the moment in which it ends: 502.
    until(lambda: refuses(rig.parts.urls["proxy-1"]))
    others = [Talk("meanwhile", seed, 3_000, streams=0.0) for seed in range(2)]
    for talk in others:
        talk.post(rig.url)  # taken by the other one
    rig.models.chat.gate.set()
    for thread in (*threads, stopping):
        thread.join()
    assert all(one.answered for talk in (*talks, *others) for one in talk.attempts)
    rig.parts.start("proxy-1")
    proven(rig, talks)


def test_a_full_disk(rig: Rig) -> None:
    talks = talks_of("full")
    turns(rig, talks)
    with rig.fault(), rig.database.full():
        turns(rig, talks, 20)
    assert not any(one.error for talk in talks for one in talk.attempts)
    proven(rig, talks)


FAILING: dict[str, Step] = {
    "429": Status(429, {"retry-after": "1"}),
    "500": Status(500),
    "broken off": Half(),
    "never": Silence(),
    "drip": Drip(),
}
BAD: dict[str, Step] = {"garbage": garbage, "half": half, "untrue": invented}


def test_a_summariser_that_fails_in_every_way(rig: Rig) -> None:
    """It is asked again, less and less often, until it answers."""
    proven(rig, answered_badly(rig, FAILING))


def test_a_summariser_that_answers_badly(rig: Rig) -> None:
    """A bad answer is not shown and not asked for without end: those nodes stay extracted until
    somebody else comes along, everything else is as always."""
    talks = answered_badly(rig, BAD)
    rig.settle(talks)
    assert rig.problems(talks) == []
    assert [one for one in asyncio.run(rig.losses(talks)) if "no summary" not in one] == []
    before = len(rig.models.summaries.log)
    rig.settle(talks)
    assert len(rig.models.summaries.log) == before


def answered_badly(rig: Rig, steps: dict[str, Step]) -> list[Talk]:
    """A conversation for each step, during which all calls are answered so."""
    talks = [Talk(f"model {name}", 0, 12_000) for name in steps]
    for step, talk in zip(steps.values(), talks, strict=True):
        with summariser(rig, step):
            calls = rig.models.summaries.calls
            talk.turn(rig.url)
            until(lambda calls=calls: rig.models.summaries.calls > calls)
    assert not any(one.error for talk in talks for one in talk.attempts)
    return talks


def test_nothing_is_left_in_redis(rig: Rig) -> None:
    with rig.redis() as client:
        until(lambda: judged.left_in(client) == [])
