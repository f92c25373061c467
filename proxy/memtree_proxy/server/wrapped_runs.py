"""Serve the runs of `memtree wrap`, each under a lease, and keep their temporary folders.

A run is on a server that such a command started. It holds one open connection, its lease, which
names the tokens of its paths. They are valid until the connection ends, for whatever reason, so a
killed run needs no cleaning up. A server that has had no lease for a while, and no work, ends.

    POST /wrap/lease    {"code", "run", "paths": {TOKEN: {"upstream", "anthropic_upstream"}}}
                        a line `{"run": ...}` once the paths are open, then heartbeats
    /w/TOKEN/...        any other route, by the rules of `WrappedPath`
    GET /w/TOKEN/wrap/totals    totals of the run's requests

The folders are `wraps/RUN` in the data folder, readable by their owner only. They contain the
settings that an agent gets in place of its user's: the address with the token of the run, and for
some agents a copy of their settings, keys included. The process of the run holds a lock on its
folder, which ends with the process; unlocked folders are removed.
"""

from __future__ import annotations

import asyncio
import hashlib
import os
import re
import shutil
import sys
import time
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Iterator
from contextlib import aclosing, asynccontextmanager, contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated

import msgspec
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.types import ASGIApp, Receive, Scope, Send

from memtree.config import DEFAULT_UPSTREAM, Settings
from memtree.context.answer_state import size_in
from memtree.errors import BadRequest, NotFound, Unavailable
from memtree.setting_values import AUTO
from memtree_proxy.chat import request_fields
from memtree_proxy.http import request_body
from memtree_proxy.http.auth import LONGEST_CODE, LocalUser
from memtree_proxy.http.request_body import WRAP_RUN
from memtree_proxy.http.request_trace import MemoryShare, Trace
from memtree_proxy.upstream.upstreams import WrappedPath

if sys.platform != "win32":
    import fcntl

FOLDER = "wraps"
_NEW = ".new"  # suffix of a folder that is not locked yet
_NEW_SECONDS = 60.0
LOOK_SECONDS = 0.05


@contextmanager
def run_folder(data: Path, run: str) -> Iterator[Path]:
    """Keep a folder for a run. Raises `OSError` if it cannot be created."""
    place = data / FOLDER
    place.mkdir(mode=0o700, parents=True, exist_ok=True)
    new, folder = place / f"{run}{_NEW}", place / run
    new.mkdir(mode=0o700)
    with _opened(new) as descriptor:
        _lock(descriptor)
        new.rename(folder)
        try:
            yield folder
        finally:
            shutil.rmtree(folder, ignore_errors=True)


@asynccontextmanager
async def locked(data: Path) -> AsyncIterator[None]:
    """Keep other processes of this user from finding or starting a server for runs meanwhile.
    Raises `OSError` if the folder cannot be written."""
    place = data / FOLDER
    place.mkdir(mode=0o700, parents=True, exist_ok=True)
    with _opened(place) as descriptor:
        while True:
            try:
                _lock(descriptor)
                break
            except BlockingIOError:
                await asyncio.sleep(LOOK_SECONDS)
        sweep(data)
        yield


def sweep(data: Path | None) -> None:
    """Remove the folders of runs whose process has ended."""
    if data is None or sys.platform == "win32":
        return
    for folder in (data / FOLDER).glob("*"):
        with suppress(OSError):
            fresh = time.time() - folder.stat().st_mtime < _NEW_SECONDS
            if folder.name.endswith(_NEW) and fresh:
                continue
            with _opened(folder) as descriptor:
                _lock(descriptor)
                shutil.rmtree(folder, ignore_errors=True)


@contextmanager
def _opened(folder: Path) -> Iterator[int]:
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
    try:
        yield descriptor
    finally:
        os.close(descriptor)


def _lock(descriptor: int) -> None:
    """Lock the folder. Raises `BlockingIOError` while another process holds the lock."""
    if sys.platform != "win32":
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)


LEASE_PATH, TOTALS_PATH = "/wrap/lease", "/wrap/totals"
PREFIX = "/w/"
BEAT_SECONDS = 5.0
MAX_RUNS, MAX_PATHS = 256, 64
_LONGEST_BODY = 64_000
_CLOSED = "/w/-"  # replaces a path with an invalid token, which must not be logged
_UNKNOWN = (
    "This address belongs to a `memtree wrap` that has ended, or to none. Start the program again "
    "with `memtree wrap`."
)
_TOKEN = re.compile(r"[A-Za-z0-9_-]{32,128}")
_WRITTEN = re.compile(r"/w/[A-Za-z0-9_-]{32}|^w/")


class _Path(msgspec.Struct, forbid_unknown_fields=True):
    upstream: str = DEFAULT_UPSTREAM
    anthropic_upstream: str = AUTO


class _LeaseRequest(msgspec.Struct, forbid_unknown_fields=True):
    code: Annotated[str, msgspec.Meta(max_length=LONGEST_CODE)]
    run: Annotated[str, msgspec.Meta(pattern=r"^[0-9a-f]{8,32}$")]
    paths: Annotated[dict[str, _Path], msgspec.Meta(min_length=1, max_length=MAX_PATHS)]


@dataclass(slots=True)
class RunTotals:
    """Totals of a run's requests. `saved_tokens`: uncached input tokens; a loss is negative.
    `last_...`: of the newest request; once something is folded, of the newest folded one, since
    agents also send requests for titles and the like. `largest`: tokens, model and reason of the
    largest request."""

    requests: int = 0
    folded: int = 0
    posted_tokens: int = 0
    sent_tokens: int = 0
    saved_tokens: float = 0.0
    last_posted: int = 0
    last_sent: int = 0
    largest: tuple[int, str, str] = (0, "", "")

    def add(self, memory: MemoryShare, saved: int, model: str) -> None:
        self.largest = max(self.largest, (memory.raw_tokens or 0, model, memory.reason))
        self.requests += 1
        self.folded += bool(memory.epoch)
        self.posted_tokens += memory.raw_tokens or 0
        self.sent_tokens += memory.sent_tokens or 0
        self.saved_tokens += saved
        if memory.epoch or not self.folded:
            self.last_posted, self.last_sent = memory.raw_tokens or 0, memory.sent_tokens or 0

    def folds_at(self, settings: Settings) -> int:
        """Return the tokens at which the largest conversation will be folded; 0 if something was,
        or if something else than its size keeps it whole."""
        tokens, model, reason = self.largest
        size = size_in(reason) or request_fields.chat_folds_at(model, settings)
        return size if 0 < tokens < size and not self.folded else 0


@dataclass(slots=True)
class _WrapRun:
    name: str
    paths: dict[bytes, WrappedPath]
    totals: RunTotals = field(default_factory=RunTotals)


class Leases:
    """Leases of all runs of `memtree wrap` on this server; also a `RequestSink`. `ended`: called
    when a run has ended."""

    def __init__(
        self, settings: Settings, local: LocalUser, ended: Callable[[], object] = lambda: None
    ) -> None:
        self._settings, self._local, self._ended = settings, local, ended
        self._runs: dict[str, _WrapRun] = {}
        self._stopped = asyncio.Event()
        self._changed = asyncio.Event()

    def __len__(self) -> int:
        return len(self._runs)

    # -- requests of runs --------------------------------------------------------------------

    def path(self, token: str) -> WrappedPath | None:
        key = _hashed(token)
        return next((run.paths[key] for run in self._runs.values() if key in run.paths), None)

    def count(self, seen: Trace) -> None:
        run = self._runs.get(seen.entry.wrap_run)
        if run is not None and seen.counted and not seen.entry.explained:
            run.totals.add(seen.memory, seen.entry.saving.saved, seen.entry.model)

    async def totals(self, request: Request) -> Response:
        """Answer the totals of a run, and the size at which its largest conversation will be folded
        unless something was. Raises `NotFound` for a request that belongs to no run."""
        run = self._runs.get(getattr(request.state, WRAP_RUN, ""))
        if run is None:
            raise NotFound(f"There is no {request.method} {TOTALS_PATH} here.")
        folds_at = run.totals.folds_at(next(iter(run.paths.values())).settings)
        return JSONResponse({**msgspec.to_builtins(run.totals), "folds_at": folds_at})

    # -- leases ------------------------------------------------------------------------------

    async def lease(self, request: Request) -> Response:
        """Open the paths of a run for as long as the connection lasts.

        Raises `BadRequest`, `Unauthorized` for an invalid code, and `Unavailable` if the server is
        about to end, or has too many runs.
        """
        body = await request_body.read(request, _LONGEST_BODY)
        try:
            posted = msgspec.json.decode(body, type=_LeaseRequest)
        except (msgspec.DecodeError, UnicodeDecodeError) as error:
            raise BadRequest(f"the lease: {error}", param="paths") from error
        self._local.redeem(posted.code)
        if self._stopped.is_set() or len(self._runs) >= MAX_RUNS:
            raise Unavailable("This server accepts no more runs of `memtree wrap`.")
        return LeaseResponse(self, self._opened(posted))

    def _opened(self, posted: _LeaseRequest) -> _WrapRun:
        known = {key for run in self._runs.values() for key in run.paths}
        keys = {token: _hashed(token) for token in posted.paths}
        # A run whose connection broke connects again, perhaps before the break of the old one is
        # noticed.
        before = self._runs.get(posted.run)
        if before.paths.keys() != set(keys.values()) if before else known & set(keys.values()):
            raise BadRequest("another run has this name, or one of the tokens", param="run")
        if not all(map(_TOKEN.fullmatch, keys)):
            raise BadRequest("a token has 32 to 128 letters and digits", param="paths")
        paths = {
            keys[token]: WrappedPath.of(
                posted.run, self._settings, path.upstream, path.anthropic_upstream
            )
            for token, path in posted.paths.items()
        }
        return _WrapRun(posted.run, paths, before.totals if before else RunTotals())

    async def held(self, run: _WrapRun) -> AsyncGenerator[bytes]:
        """Keep the paths of a run open while this is iterated."""
        self._runs[run.name] = run
        self._changed.set()
        try:
            yield msgspec.json.encode({"run": run.name}) + b"\n"
            while not self._stopped.is_set():
                try:
                    async with asyncio.timeout(BEAT_SECONDS):
                        await self._stopped.wait()
                except TimeoutError:
                    yield b"\n"
        finally:
            if self._runs.get(run.name) is run:
                del self._runs[run.name]
            self._changed.set()
            self._ended()
            for path in run.paths.values():
                await path.upstreams.close()

    # -- the end of the server ---------------------------------------------------------------

    def stop(self) -> None:
        """End all leases, because the server stops."""
        self._stopped.set()

    def touch(self) -> None:
        """Record that a program looks for this server, and is about to request a lease."""
        self._changed.set()

    @property
    def in_use(self) -> bool:
        """Return True if there is a lease, or anything has happened since `unused` returned."""
        return bool(self._runs) or self._changed.is_set()

    async def unused(self, seconds: float) -> None:
        """Return once there has been no lease, and no other activity, for so many seconds."""
        while True:
            self._changed.clear()
            try:
                async with asyncio.timeout(None if self._runs else seconds):
                    await self._changed.wait()
            except TimeoutError:
                return


class LeaseResponse(Response):
    """Answers for as long as the client stays connected."""

    def __init__(self, leases: Leases, run: _WrapRun) -> None:
        self._leases, self._run = leases, run
        self.status_code, self.background = 200, None
        self.raw_headers = [(b"content-type", b"application/x-ndjson")]

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        head = {"status": self.status_code, "headers": self.raw_headers}
        async with aclosing(self._leases.held(self._run)) as lines:
            await send({"type": "http.response.start", **head})
            async for line in lines:
                await send({"type": "http.response.body", "body": line, "more_body": True})
            await send({"type": "http.response.body", "body": b"", "more_body": False})


class WrappedPaths:
    """ASGI middleware outside of all others: it turns a request under a wrapped path into a plain
    one, so no log line, error or page can show its token."""

    def __init__(self, app: ASGIApp, leases: Leases) -> None:
        self.app, self._leases = app, leases

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http" and PREFIX in scope["path"]:
            scope = self._plain(scope)
        await self.app(scope, receive, send)

    def _plain(self, scope: Scope) -> Scope:
        raw: bytes = (scope.get("raw_path") or scope["path"].encode()).partition(b"?")[0]
        token, _, rest = scope["path"].removeprefix(PREFIX).partition("/")
        start = f"{PREFIX}{token}/"
        path = self._leases.path(token)
        # Escaped or written twice, a token would remain in the rest of the path.
        twice = _WRITTEN.search(rest) or token in scope.get("query_string", b"").decode("latin-1")
        if scope["path"].startswith(start) and raw.startswith(start.encode()) and path:
            if not twice:
                plain = {**scope, "path": f"/{rest}", "raw_path": raw[len(start) - 1 :]}
                path.enter(plain)
                return plain
        elif not (scope["path"].startswith(PREFIX) or _WRITTEN.search(scope["path"])):
            return scope  # a path of the upstream that only looks similar
        return {**scope, "path": _CLOSED, "raw_path": _CLOSED.encode(), "query_string": b""}


async def closed_path(request: Request) -> Response:
    """Answer a request with an invalid or expired token."""
    raise NotFound(_UNKNOWN)


def _hashed(token: str) -> bytes:
    """Hash a token. Tokens are looked up by their hash, so the time of a look-up reveals
    nothing."""
    return hashlib.sha256(token.encode()).digest()
