"""The real app over a real store in one event loop, and rules that hold for every answer of it.

Requests go in as an HTTP server would hand them on, so their bytes may be anything that gets past
its parser. Every answer is looked at: status, shape of the error, what was written, what was
logged, what the upstream got.
"""

from __future__ import annotations

import asyncio
import json
import logging
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import unquote

from starlette.types import Message

from memtree.config import Settings
from memtree.context.context_memory import ContextMemory
from memtree.context.read_histories import MessageCache
from memtree.jobs.embedding import NoQueue
from memtree.jobs.growing import StageOne
from memtree.jobs.memory_services import open_memory_services
from memtree.jobs.runtime import SystemClock
from memtree.stores import open_memories, open_store
from memtree_proxy.http.request_body import PREFIXES
from memtree_proxy.server.app import Services, create_app
from memtree_proxy.upstream.upstreams import Upstreams
from tests.http.served.upstream import FakeUpstream, Seen
from tests.http.wire.documented import error_tree

SECRET = "xyzzy-plugh"  # stands in what is posted, and must not come back in errors or in the log
SECONDS = 600.0  # for what would never end: a busy machine may be slow
WRITES = frozenset(
    {"commit", "renew", "put_vectors", "put_summaries", "put_turn", "forget", "add_key"}
)
ERRORS = {(one.status, one.code) for one in error_tree()}
# Where the fault is not in one field, `param` may be null.
WHOLE = (
    "the body is not valid JSON", "the body must be a JSON object", "a field is given twice",
    "give exactly one of", "the path must not hold", "CONNECT is not supported",
    "the file ", "the zip ", "the request has an unknown",
)  # fmt: skip
# What input can bring about; the others are faults of ours.
DEGRADED = ("degraded:invalid-history", "degraded:encoded-body", "refused")
UPSTREAM_REFUSED = b"Invalid HTTP request received."  # by uvicorn in front of the fake upstream

Headers = list[tuple[bytes, bytes]]


class WatchedStore:
    """A real store that counts what is written to it."""

    def __init__(self, path: Path) -> None:
        self._store = open_store(f"sqlite:///{path}")
        self.writes: list[str] = []

    def __getattr__(self, name: str) -> Any:
        if name in WRITES:
            self.writes.append(name)
        return getattr(self._store, name)


class Lines(logging.Handler):
    """Lines that are logged, by us and by asyncio (tasks whose errors nobody took)."""

    def __init__(self) -> None:
        super().__init__(logging.INFO)
        self.records: list[logging.LogRecord] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.records.append(record)


@dataclass(frozen=True, slots=True)
class Answer:
    """`relayed`: what the upstream saw of the request, None where it saw nothing."""

    status: int
    headers: dict[str, str]
    body: bytes
    relayed: Seen | None
    writes: tuple[str, ...]
    lines: tuple[str, ...]

    @property
    def ours(self) -> bool:
        return self.relayed is None and self.body != UPSTREAM_REFUSED

    @property
    def error(self) -> dict[str, Any]:
        shown: dict[str, Any] = json.loads(self.body)["error"]
        return shown

    @property
    def state(self) -> str:
        return self.headers.get("x-memtree-state", "")


class World:
    """`send` is synchronous: the loop runs while a request does, and until its work is done."""

    def __init__(self, folder: Path, base: str | None, upstream: FakeUpstream | None) -> None:
        self._fake = upstream
        self._store = WatchedStore(folder / "fuzz.db")
        store: Any = self._store
        self._memory = ContextMemory(
            store, StageOne(child=False), NoQueue(), SystemClock(), facts=MessageCache(1)
        )
        settings = Settings(upstream=base, max_body_bytes=4_000_000)
        self._upstreams = Upstreams.of_settings(settings)
        saved = open_memory_services(settings, open_memories(store), SystemClock(), None)
        self._app = create_app(Services(self._memory, saved, store, self._upstreams, settings))
        self._runner = asyncio.Runner()
        self._lines = Lines()
        self.tried: Counter[tuple[str, int]] = Counter()

    def send(
        self, method: str, target: bytes, body: bytes = b"", headers: Headers | None = None
    ) -> Answer:
        """`target`: raw path and query. A content-length is added."""
        self._lines.records.clear()
        written = len(self._store.writes)
        seen = len(self._fake.seen) if self._fake else 0
        given = [(b"host", b"edge"), *(headers or [])]
        if body and not any(name == b"transfer-encoding" for name, _ in given):
            given.append((b"content-length", str(len(body)).encode()))
        scope = _scope(method, target, given)
        status, answered, content = self._runner.run(self._exchange(scope, body))
        self.tried[(label(method, scope["path"]), status)] += 1
        relayed = self._fake.seen[-1] if self._fake and len(self._fake.seen) > seen else None
        answer = Answer(
            status, answered, content, relayed, tuple(self._store.writes[written:]),
            tuple(record.getMessage() for record in self._lines.records),
        )  # fmt: skip
        self._hold(answer)
        return answer

    def post(self, path: str, body: bytes, headers: Headers | None = None) -> Answer:
        return self.send("POST", path.encode(), body, headers)

    async def _exchange(
        self, scope: dict[str, Any], body: bytes
    ) -> tuple[int, dict[str, str], bytes]:
        sent: list[Message] = []
        waiting = [{"type": "http.request", "body": body, "more_body": False}]
        answered = asyncio.Event()

        async def receive() -> Any:
            if waiting:
                return waiting.pop()
            await answered.wait()
            return {"type": "http.disconnect"}

        async def send(message: Message) -> None:
            sent.append(message)
            if message["type"] == "http.response.body" and not message.get("more_body"):
                answered.set()

        async with asyncio.timeout(SECONDS):
            await self._app(scope, receive, send)
            await self._memory.close()
        start, *pieces = sent
        assert start["type"] == "http.response.start"
        assert answered.is_set(), "an answer that does not end"
        headers = {n.decode("latin-1").lower(): v.decode("latin-1") for n, v in start["headers"]}
        return start["status"], headers, b"".join(piece["body"] for piece in pieces)

    def _hold(self, answer: Answer) -> None:
        """The rules."""
        for record, line in zip(self._lines.records, answer.lines, strict=True):
            assert record.levelno < logging.ERROR, line
            assert "\n" not in line, line
            assert SECRET not in line, line
        if answer.status >= 400:
            assert not answer.writes, answer.writes
        if answer.state.startswith("degraded:"):
            assert answer.state in DEGRADED, answer
            assert not answer.writes, answer.writes
        if answer.ours and answer.status >= 400:
            check_error(answer)
        if self._fake:
            # No model is set here, so that what only a model can answer is told to be unavailable.
            assert answer.status < 500 or answer.error["param"] == "mode", answer

    @contextmanager
    def listening(self) -> Iterator[None]:
        """Take the log while this lasts."""
        loggers = [logging.getLogger(name) for name in ("memtree", "asyncio")]
        before = [(one.level, one.propagate) for one in loggers]
        for one in loggers:
            one.addHandler(self._lines)
            one.setLevel(logging.INFO)
            one.propagate = False  # pytest would keep every line
        try:
            yield
        finally:
            for one, (level, propagate) in zip(loggers, before, strict=True):
                one.removeHandler(self._lines)
                one.setLevel(level)
                one.propagate = propagate

    def close(self) -> None:
        async def end() -> None:
            await self._memory.close()
            await self._upstreams.close()
            await self._store.close()

        self._runner.run(end())
        self._runner.close()


def check_error(answer: Answer) -> None:
    """An error of ours has its shape, a code of the tree, and names what is wrong."""
    assert answer.headers["content-type"] == "application/json", answer
    error = answer.error
    if any("route=/messages" in line for line in answer.lines):  # in the words of that API
        assert {"type", "message"} <= set(error), answer
        assert isinstance(error["message"], str), answer
        assert SECRET not in error["message"], answer
        return
    assert set(error) - {"request_id"} == {"message", "type", "param", "code"}
    assert (answer.status, error["code"]) in ERRORS, answer
    assert isinstance(error["message"], str), answer
    assert error["message"], answer
    assert SECRET not in error["message"], answer
    assert len(error["message"]) < 2_000, answer
    assert answer.status != 405 or answer.headers["allow"]
    if error["param"] is None:
        # What is wrong with a posted file begins with the name that the client gave it.
        of_file = any("route=/context_memory/parse " in line for line in answer.lines)
        assert answer.status != 400 or of_file or error["message"].startswith(WHOLE), answer
    elif error["param"] != "content-encoding":
        assert error["param"].partition("[")[0].partition(".")[0] in error["message"], answer


def label(method: str, path: str) -> str:
    """The route of a request, for counting."""
    for prefix in PREFIXES:
        if path.startswith(prefix + "/"):
            path = path.removeprefix(prefix)
            break
    known = path if path in KNOWN else "(passed through)"
    return f"{method if method in METHODS else '(odd)'} {known}"


METHODS = ("GET", "POST", "DELETE", "PUT", "HEAD", "PATCH", "OPTIONS")
KNOWN = (
    "/chat/completions", "/chat_completions", "/context_memory", "/memory", "/context_memory/tree",
    "/context_memory/status", "/context_memory/delete", "/health", "/healthz", "/metrics",
    "/openapi.json", "/health/details", "/usage", "/context_memory/parse",
)  # fmt: skip


def table(tried: Mapping[tuple[str, int], int]) -> str:
    """How many inputs each route got, and what it answered."""
    rows: dict[str, dict[int, int]] = {}
    for (route, status), count in tried.items():
        rows.setdefault(route, {})[status] = count
    lines = [
        f"{route:36} {sum(row.values()):8}  "
        + " ".join(f"{status}:{row[status]}" for status in sorted(row))
        for route, row in sorted(rows.items())
    ]
    return "\n".join([*lines, f"{'all':36} {sum(tried.values()):8}"])


def _scope(method: str, target: bytes, headers: Headers) -> dict[str, Any]:
    """Make the scope as uvicorn does."""
    path, _, query = target.partition(b"?")
    return {
        "type": "http",
        "asgi": {"version": "3.0", "spec_version": "2.3"},
        "http_version": "1.1",
        "method": method,
        "scheme": "http",
        "path": unquote(path.decode("latin-1")),
        "raw_path": path,
        "query_string": query,
        "root_path": "",
        "headers": headers,
        "client": ("127.0.0.1", 50_000),
        "server": ("127.0.0.1", 8787),
        "state": {},
    }
