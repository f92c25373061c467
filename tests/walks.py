"""Walk six requests through the app, and count what each costs.

    python -m tests.walks              the walk of a warm turn, file by file
    python -m tests.walks --lower      write lower figures into scripts/ceilings.toml
    python -m tests.walks --raise docs/decisions/NNNN-why.md

Counts are the same on every run: work for other threads runs at once in the thread of the event
loop, and the upstream answers from this process without a socket. `files`, `functions` and
`folder_changes` (from one function to the next, each counted once in the order of first calls) end
with the answer. `calls`, a coroutine that goes on again among them, and rows include what
the request leaves behind. Each request is posted by two tenants; the first one warms caches.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import logging
import selectors
import sqlite3
import sys
import tracemalloc
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import partial, wraps
from itertools import groupby, pairwise
from pathlib import PurePath
from typing import Any, ClassVar

import pytest

from benchmarks.speed.clients.apps import EVENT
from benchmarks.speed.clients.in_process import InProcess, in_process
from benchmarks.speed.clients.sessions import PATHS, written
from memtree.jobs.runtime import SystemClock
from memtree.stores.sqlite.sqlite_sql import SqliteSql
from memtree_proxy.http import auth
from memtree_proxy.http.auth import RecentLookups
from scripts import ceilings, size
from tests.programs.garbage import uncollected
from tests.wire.conversations import conversation
from tests.work_counts import ROOT, counting

Function = tuple[str, str]  # its file, its name
Walk = tuple[Counter[str], list[Function]]  # counts of a request, and what it called
KINDS = ("relayed", "warm", "tool", "fresh", "cold", "save")
WARMING = 1  # tenants whose requests only warm caches
TURNS, WORDS, TARGET = 60, 10, 4_000
NOON = 1_800_014_400.0  # seconds since 1970, at the beginning
BATCHED = 10.0  # seconds of the loop's own time: then batches of rows are written
LARGE = 1 << 20  # bytes of the body whose copies are counted
CHAT = PATHS["chat"]
BODY = EVENT * 3 + b"data: [DONE]\n\n"
ANSWER = (
    b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ncontent-length: %d\r\n\r\n" % len(BODY)
) + BODY


class Answering(asyncio.Transport):
    """An upstream that answers a request when its last byte is written."""

    def __init__(self, protocol: Any, socket: Any) -> None:
        super().__init__({"socket": socket})
        self._protocol, self._socket = protocol, socket
        self._missing = 0

    def write(self, data: Any) -> None:
        if not self._missing:
            head, _, rest = bytes(data[:4_096]).partition(b"\r\n\r\n")
            fields = dict(line.split(b": ", 1) for line in head.lower().split(b"\r\n")[1:])
            self._missing = len(head) + 4 + int(fields[b"content-length"])
            assert rest or len(data) <= self._missing
        self._missing -= len(data)
        if not self._missing:
            asyncio.get_running_loop().call_soon(self._protocol.data_received, ANSWER)

    def is_closing(self) -> bool:
        return self._protocol is None

    def abort(self) -> None:
        if self._protocol is not None:
            asyncio.get_running_loop().call_soon(self._protocol.connection_lost, None)
            self._protocol = None
            self._socket.close()

    close = abort

    def pause_reading(self) -> None:
        pass

    resume_reading = pause_reading


class Selector(selectors.DefaultSelector):
    """Lets time pass only where the loop waits for it, and then at once."""

    passed = 0.0

    def select(self, timeout: float | None = None) -> Any:
        ready = super().select(None if timeout is None else 0)
        if not ready and timeout:
            self.passed += timeout
        return ready


class OneThread(asyncio.SelectorEventLoop):
    """Nothing depends on how fast the machine is, or on how threads and sockets take turns."""

    def __init__(self) -> None:
        self._selector_of_time = Selector()
        super().__init__(self._selector_of_time)

    def time(self) -> float:
        return self._selector_of_time.passed

    def run_in_executor(self, _: Any, work: Any, *given: Any) -> Any:  # type: ignore[override]
        done = self.create_future()
        try:
            done.set_result(work(*given))
        except Exception as error:  # noqa: BLE001  it is the caller's
            done.set_exception(error)
        return done

    async def sock_connect(self, sock: Any, address: Any) -> None:
        sock.setblocking(True)
        sock.connect(address)
        sock.setblocking(False)

    async def create_connection(self, protocol: Any, *, sock: Any, **_: Any) -> Any:  # type: ignore[override]
        made = protocol()
        made.connection_made(Answering(made, sock))
        return None, made


class Connection(sqlite3.Connection):
    """Is known, so that what it changed can be counted."""

    opened: ClassVar[list[Connection]] = []

    def __init__(self, *given: Any, **named: Any) -> None:
        super().__init__(*given, **named)
        self.opened.append(self)


@contextmanager
def counted_rows(counts: Counter[str]) -> Iterator[None]:
    """Count the rows that statements return and change."""

    def counted(read: Callable[..., Any]) -> Callable[..., Any]:
        @wraps(read)
        async def rows(*given: Any) -> Any:
            found = await read(*given)
            counts["rows_read"] += len(found)
            return found

        return rows

    counts["rows_read"] = 0
    before = sum(each.total_changes for each in Connection.opened)
    with pytest.MonkeyPatch.context() as patch:
        for name in ("fetch", "many"):
            patch.setattr(SqliteSql, name, counted(getattr(SqliteSql, name)))
        yield
    counts["rows_written"] = sum(each.total_changes for each in Connection.opened) - before


def posts(kind: str) -> Iterator[tuple[str, bytes]]:
    """Path and body of each request of a tenant; the last one is counted."""
    if kind == "save":
        saved = {"text": "Our staging server listens on port 8090."}
        yield "/v1/memories", json.dumps(saved).encode()
        return
    if kind == "warm":
        yield from ((CHAT, chat(length)) for length in (TURNS - 2, TURNS - 1))
    elif kind == "fresh":
        yield "/v1/context_memory", chat(TURNS, index_only=True)
    elif kind == "tool":
        yield from ((CHAT, chat(length)) for length in (TURNS - 1, TURNS))
        yield CHAT, chat(TURNS, called=True)
        return
    yield CHAT, chat(2 if kind == "relayed" else TURNS)


def chat(length: int, *, called: bool = False, **fields: Any) -> bytes:
    """Return a request whose newest message is the user's, or the result of a call."""
    talk = conversation(5, TURNS + 1, WORDS)[: length + 1]
    calls = (step for exchange in talk for step in exchange.steps if step.calls)
    steps = (next(calls),) if called else ()
    return written("chat", (*talk[:-1], replace(talk[-1], steps=steps)), stream=True, **fields)


def headers(kind: str, tenant: int) -> dict[str, str]:
    return {
        "content-type": "application/json",
        "authorization": f"Bearer {kind} {tenant}",
        "x-polychat-memory": "off" if kind == "relayed" else "on",
    }


async def settled(server: InProcess) -> None:
    await server.runtime.settle()
    await asyncio.sleep(BATCHED)


async def walked(server: InProcess, kind: str, tenant: int) -> Walk:
    """Return the counts of the last request of a tenant, and its walk up to the answer."""
    *earlier, (path, body) = posts(kind)
    given, epoch = headers(kind, tenant), ""
    for known, sent in earlier:
        answer = await server.post(known, sent, given)
        await settled(server)
        epoch = answer.headers.get("x-memtree-epoch", "")
    counts = Counter[str]()
    with counted_rows(counts), counting(lines=False) as work:
        answer = await server.post(path, body, given)
        walk = list(work.walk)
        await settled(server)
    state = {"relayed": "off", "save": None}.get(kind, "packed")
    assert answer.status in (200, 201)
    assert answer.headers.get("x-memtree-state") == state
    if earlier:
        assert (answer.headers["x-memtree-epoch"] == epoch) == (kind != "fresh")
    counts["files"] = len({file for file, _ in walk})
    counts["functions"] = len(walk)
    folders = [PurePath(file).parent for file, _ in walk]
    counts["folder_changes"] = sum(one != other for one, other in pairwise(folders))
    counts["calls"] = work.of["calls of ours"]
    return counts, walk


async def body_tenths(server: InProcess) -> int:
    """Relay a large body; return how often it is held at once, in tenths. What the posted
    pieces take is left out."""
    message = {"role": "user", "content": "x" * LARGE}
    body = json.dumps({"model": "m", "stream": True, "messages": [message]}).encode()
    for _ in range(WARMING + 1):
        with uncollected():
            tracemalloc.start()
            await server.post(CHAT, body, headers("relayed", 0))
            _, peak = tracemalloc.get_traced_memory()
            tracemalloc.stop()
        await settled(server)
    return round(10 * (peak - len(body)) / len(body))


async def _walks(kinds: Sequence[str]) -> dict[str, Walk]:
    found = dict[str, Walk]()
    async with in_process(target_tokens=TARGET) as server:
        for kind in kinds:
            for tenant in range(WARMING + 1):
                found[kind] = await walked(server, kind, tenant)
        if "relayed" in kinds:
            found["relayed"][0]["body_tenths"] = await body_tenths(server)
    return found


def walks(kinds: Sequence[str] = KINDS) -> dict[str, Walk]:
    """Counts and walk of each kind of request."""
    with (
        pytest.MonkeyPatch.context() as patch,
        asyncio.Runner(loop_factory=OneThread) as runner,
    ):
        passed = runner.get_loop().time
        patch.setattr(SystemClock, "monotonic", lambda _: passed())
        patch.setattr(SystemClock, "now", lambda _: NOON + passed())
        patch.setattr(auth, "RecentLookups", lambda _: RecentLookups(passed))
        patch.setattr(sqlite3, "connect", partial(sqlite3.connect, factory=Connection))
        patch.setattr(Connection, "opened", [])
        return runner.run(_walks(kinds))


def drawn(walk: Sequence[Function]) -> Iterator[str]:
    """One row for each stay in a file: the file, and its functions that are called first then."""
    for file, stay in groupby(walk, key=lambda function: function[0]):
        yield f"| {PurePath(file).relative_to(ROOT)} | {', '.join(name for _, name in stay)} |"


def main(arguments: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(description="Draw walks, and hold them to their ceilings.")
    parser.add_argument("kind", nargs="?", choices=KINDS, default="warm", help="what is drawn")
    parser.add_argument("--lower", action="store_true", help="write lower figures as ceilings")
    parser.add_argument("--raise", dest="record", default="", help="write higher ones, too")
    options = parser.parse_args(arguments)
    logging.getLogger("memtree").setLevel(logging.ERROR)
    if not (options.lower or options.record):
        counts, walk = walks([options.kind])[options.kind]
        print("| file | functions |", "|---|---|", *drawn(walk), "", sep="\n")
        print(*(f"{name}: {count}" for name, count in counts.items()), sep="\n")
        return 0
    if options.record and not ceilings.is_record(options.record):
        parser.error(f"{options.record} is no record in docs/decisions")
    files = size.read_files()
    figures = size.figures(files, size.measure_all(files, nodes_of=size.PRODUCT))
    figures |= {kind: counts for kind, (counts, _) in walks().items()}
    table = ROOT / ceilings.TABLE
    text = ceilings.changed(table.read_text("utf-8"), figures, options.record)
    table.write_text(text, "utf-8")
    over = [
        each
        for group in figures
        for each in ceilings.faults(group, figures[group], ceilings.read(text))
    ]
    print(*over or [f"{ceilings.TABLE} is written"], sep="\n")
    return bool(over)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
