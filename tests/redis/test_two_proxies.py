"""Two real `memtree serve` on one store and one Redis: a long history that both get, the death of
the one that grows it, the death of Redis, and a deletion."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import Any

import pytest

from tests.programs.processes import descendants, needs_proc
from tests.programs.redis_server import RedisServer, redis_server
from tests.programs.server import Server
from tests.programs.sessions import coding

pytestmark = [pytest.mark.slow, pytest.mark.clients, needs_proc]

KEY = {"authorization": "Bearer two-proxies"}
QUESTION = {"role": "user", "content": "Which limit did we set for the invoice, and why?"}
TOKENS = 300_000  # above a million bytes, of which a child process grows the tree
BEGAN, WAITS, WAITED = "build.began", "build.elsewhere", "build.waited"
FLAGS = ("--upstream", "none", "--embedder", "none")


@pytest.fixture(scope="module")
def history() -> list[dict[str, Any]]:
    return [*coding(TOKENS), QUESTION]


class Pair:
    """Two servers on one store and one Redis of their own."""

    def __init__(self, folder: Path, stack: ExitStack) -> None:
        self.redis: RedisServer = stack.enter_context(redis_server())
        self.store = folder / "m.db"
        variables = {"MEMTREE_QUEUE": self.redis.url()}
        self.servers = [Server(self.store, *FLAGS, variables=variables) for _ in range(2)]
        for server in self.servers:
            stack.callback(server.stop)
        self._threads = stack.enter_context(ThreadPoolExecutor(2))

    def post(self, history: list[dict[str, Any]]):
        """To both at once: the answers to come."""
        return {server: self._threads.submit(ask, server, history) for server in self.servers}

    @contextmanager
    def halfway(self, history: list[dict[str, Any]]) -> Iterator[tuple[Future[Any], Future[Any]]]:
        """While the first one grows the history and the second one waits for it: their answers to
        come. The child process that does it goes on behind the block."""
        one, other = self.servers
        until(lambda: descendants(one.process.pid))  # each server has one ready for a long history
        held = descendants(one.process.pid)
        send(held, signal.SIGSTOP)
        try:
            first = self._threads.submit(ask, one, history)
            until(lambda: times(BEGAN, one))
            second = self._threads.submit(ask, other, history)
            until(lambda: times(WAITS, other))
            assert (times(BEGAN, one), times(BEGAN, other)) == (1, 0)
            yield first, second
        finally:
            send(held, signal.SIGCONT)

    def check(self) -> None:
        command = [
            sys.executable,
            "-m",
            "memtree_proxy.cli",
            "check",
            "--store",
            f"sqlite:///{self.store}",
        ]
        checked = subprocess.run(command, capture_output=True, text=True, check=False)
        assert checked.returncode == 0, checked.stdout


@pytest.fixture
def pair(tmp_path: Path):
    with ExitStack() as stack:
        yield Pair(tmp_path, stack)


@pytest.fixture(scope="module")
def wanted(history: list[dict[str, Any]], tmp_path_factory: pytest.TempPathFactory):
    """The answer of a server that is alone."""
    server = Server(tmp_path_factory.mktemp("alone") / "m.db", *FLAGS)
    try:
        return ask(server, history)
    finally:
        server.stop()


def ask(server: Server, history: list[dict[str, Any]]) -> Any:
    body = {"messages": history, "target_tokens": 4000, "mode": "fresh"}
    answer = server.post("/v1/context_memory", body, **KEY)
    assert answer.status_code == 200, answer.text
    return answer.json()["messages"]


def send(pids: set[int], number: signal.Signals) -> None:
    for pid in pids:
        with suppress(ProcessLookupError):
            os.kill(pid, number)


def times(word: str, server: Server) -> int:
    return server.log.read_text().count(word)


def until(condition) -> None:
    end = time.monotonic() + 120
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.005)


@pytest.mark.long
def test_a_long_history_that_both_get_is_grown_once(pair, history, wanted) -> None:
    one, other = pair.servers
    with pair.halfway(history) as posts:
        pass
    assert [post.result(600) for post in posts] == [wanted, wanted]
    assert (times(BEGAN, one), times(BEGAN, other)) == (1, 0)
    assert times(WAITED, other) >= 1
    pair.check()


@pytest.mark.outage
def test_the_other_goes_on_when_the_one_that_grows_is_killed(pair, history, wanted) -> None:
    one, other = pair.servers
    with pair.halfway(history) as (first, second):
        one.kill()
        assert first.exception(60) is not None
        assert second.result(600) == wanted
    assert (times(BEGAN, one), times(BEGAN, other)) == (1, 1)
    pair.check()


@pytest.mark.outage
def test_who_waits_goes_on_when_redis_dies(pair, history, wanted) -> None:
    with pair.halfway(history) as (first, second):
        pair.redis.kill()
        assert second.result(600) == wanted
    assert first.result(600) == wanted
    pair.check()


@pytest.mark.outage
def test_without_redis_each_does_it(pair, history, wanted) -> None:
    pair.redis.kill()
    until(lambda: all(times("channel.lost", server) for server in pair.servers))
    posts = pair.post(history)
    assert [post.result(600) for post in posts.values()] == [wanted, wanted]
    assert [times(BEGAN, server) for server in pair.servers] == [1, 1]
    pair.check()


@pytest.mark.long
def test_a_deletion_is_heard_of_elsewhere(pair, history, wanted) -> None:
    one, other = pair.servers
    for server in pair.servers:
        assert ask(server, history) == wanted
    deleted = one.post("/v1/context_memory/delete", {"all": True}, **KEY)
    assert deleted.status_code == 200, deleted.text
    until(lambda: times("deletion.received", other))
    assert times("deletion.received", one) == 0
    assert ask(other, history) == wanted
    assert times(BEGAN, other) == 1  # it was read from the store before, and is grown now
    pair.check()
