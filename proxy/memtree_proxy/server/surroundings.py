"""Check the surroundings of the process; each check returns a `Finding`, nothing is printed here.

Checked are other packages, the settings file, the disk, Redis, the port, open files, and the trace
collector.
"""

from __future__ import annotations

import errno
import os
import shutil
import socket
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from importlib import metadata
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from memtree.config import Settings
from memtree.errors import BadRequest, QueueUnavailable, Unavailable
from memtree.text import tiktoken_counts, tokens
from memtree_proxy.http.auth import is_loopback
from memtree_proxy.http.observers import open_tracing
from memtree_proxy.server.listener import FEW_FILES, most_files, port_owner

if TYPE_CHECKING:
    from memtree_indexer.redis_queues import RedisQueues


Level = Literal["ok", "warning", "problem"]


@dataclass(frozen=True, slots=True)
class Finding:
    """Result of checking one part, in a sentence. `level`: a `problem` is a configured part that
    does not work."""

    part: str
    level: Level
    text: str


def judged(part: str, sound: bool, text: str) -> Finding:
    return Finding(part, "ok" if sound else "problem", text)


SQLITE = "sqlite:///"
LOW_DISK = 1 << 30  # bytes; a million tokens are some 10 MB
SECONDS = 5.0  # for an answer of anything checked here
OLDEST_REDIS = (6, 2)


def namesake() -> Finding | None:
    """Warn if the distribution `memtree`, another project's, is installed beside this one: both may
    write into the folder `memtree`, and uninstalling either deletes files of the other."""
    if not any(metadata.distributions(name="memtree")):
        return None
    text = "another project's `memtree` is installed, too: uninstall it, then reinstall this one"
    return Finding("package", "warning", text)


def token_counter() -> Finding | None:
    """Report how tokens are counted, unless toktok-rs counts them."""
    if find_spec("toktok") is not None:
        return None
    try:
        tiktoken_counts.vocabulary(tokens.ENCODING)
    except Unavailable as error:
        return Finding("tokens", "problem", error.message)
    text = "counted by tiktoken, since toktok-rs is not installed: twelve times as slow"
    return Finding("tokens", "warning", text)


def settings_file(path: Path | None, unknown: Sequence[str]) -> Finding:
    """Report the source of the settings, and environment variables that name no setting. Unknown
    keys in the file itself are refused when it is read."""
    source = f"{path} and the environment" if path else "the environment alone, there is no file"
    if unknown:
        names = ", ".join(unknown)
        return Finding("settings", "warning", f"from {source}; {names}: there is no such setting")
    return Finding("settings", "ok", f"from {source}")


def disk(store: str) -> Finding | None:
    """Check the disk of an existing SQLite file; None for another store."""
    path = Path(store.removeprefix(SQLITE)).expanduser().absolute()
    if not store.startswith(SQLITE) or not path.exists():
        return None
    free = shutil.disk_usage(path.parent).free
    text = f"{free / 2**30:.1f} GiB free at {path.parent}"
    # SQLite writes two further files beside it.
    if not os.access(path, os.W_OK) or not os.access(path.parent, os.W_OK):
        return Finding("disk", "problem", f"{text}; {path.name} or its folder cannot be written to")
    return Finding("disk", "warning" if free < LOW_DISK else "ok", text)


async def queue(queues: RedisQueues | None) -> list[Finding]:
    """Check that Redis answers, that it keeps its data, and that workers are running."""
    if queues is None:
        return [Finding("queue", "ok", "background work runs in the server itself")]
    try:
        info = await queues.link.run(lambda client: client.info())
        living = await queues.workers()
        waiting = await queues.queue.backlog()
    except QueueUnavailable as error:
        return [Finding("queue", "problem", error.message)]
    text = f"{living} worker(s) live, {waiting.jobs} histories wait for embeddings"
    hint = "" if living else ": start some with `memtree worker`"
    return [redis_version_and_policy(info), judged("workers", living > 0, f"{text}{hint}")]


def redis_version_and_policy(info: dict[str, Any]) -> Finding:
    """Judge Redis by INFO, since managed servers allow no CONFIG."""
    version = str(info.get("redis_version", "unknown"))
    policy = str(info.get("maxmemory_policy", "unknown"))
    text = f"Redis {version}, {info.get('used_memory_human', '?')} used, eviction {policy}"
    numbers = tuple(int(part) for part in version.split(".")[:2] if part.isdigit())
    if numbers < OLDEST_REDIS:
        return Finding("queue", "problem", f"{text}: version 6.2 or later is needed")
    if policy != "noeviction":
        text += ": it may discard waiting work; set maxmemory-policy noeviction"
        return Finding("queue", "warning", text)
    if not int(info.get("aof_enabled", 0)):
        text += ", no append-only file: work of the last minutes is lost with it, and comes again"
    return Finding("queue", "ok", text)


async def port(settings: Settings) -> Finding:
    """Check whether the server could listen on its port, or already does."""
    place = f"{settings.host}:{settings.port}"
    trouble = _bind(settings.host, settings.port)
    if trouble is None:
        reach = "" if is_loopback(settings.host) or settings.metrics_key else (
            "; /metrics is closed without metrics_key"
        )  # fmt: skip
        return Finding("port", "ok", f"{place} is free{reach}")
    if trouble.errno == errno.EADDRINUSE and await _is_memtree(settings):
        return Finding("port", "ok", f"MemTree answers at {place}")
    why = (
        f"{port_owner(settings.port) or 'another program'} listens there"
        if trouble.errno == errno.EADDRINUSE
        else (trouble.strerror or type(trouble).__name__)
    )
    return Finding("port", "problem", f"{place}: {why}")


def _bind(host: str, number: int) -> OSError | None:
    try:
        family, kind, protocol, _, address = socket.getaddrinfo(
            host.strip("[]"), number, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
        )[0]
        with socket.socket(family, kind, protocol) as tried:
            if sys.platform != "win32":  # on Windows it would take a port that is in use
                tried.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            tried.bind(address)
    except OSError as error:
        return error
    return None


async def _is_memtree(settings: Settings) -> bool:
    import httpx2  # noqa: PLC0415  45 ms, for a check alone

    host = "127.0.0.1" if settings.host == "0.0.0.0" else settings.host
    try:
        async with httpx2.AsyncClient(timeout=SECONDS, trust_env=False) as client:
            answer = await client.get(f"http://{host}:{settings.port}/health")
            return answer.status_code == httpx2.codes.OK and "version" in answer.json()
    except (httpx2.HTTPError, ValueError):
        return False


def files() -> Finding:
    """Check the limit of open files. A stream takes two: one to the client, one to the upstream."""
    most = most_files()
    if most is None:
        return Finding("files", "ok", "no limit on open files")
    text = f"{most} may be open, enough for {most // 2} streams"
    if most < FEW_FILES:
        return Finding("files", "warning", f"{text}: raise the hard limit (LimitNOFILE, ulimit -n)")
    return Finding("files", "ok", text)


async def traces(settings: Settings) -> Finding:
    """Check the trace collector by sending a report without spans, as an exporter would."""
    import httpx2  # noqa: PLC0415  45 ms, for a check alone

    endpoint = settings.otel_endpoint
    if endpoint is None:
        return Finding("traces", "ok", "off")
    try:
        tracing = open_tracing(settings)
        assert tracing is not None
        tracing.close()
        async with httpx2.AsyncClient(timeout=SECONDS, trust_env=False) as client:
            kind = {"content-type": "application/x-protobuf"}
            answer = await client.post(endpoint, content=b"", headers=kind)
    except BadRequest as error:
        return Finding("traces", "problem", error.message)
    except httpx2.HTTPError as error:
        return Finding("traces", "problem", f"{endpoint}: {type(error).__name__}")
    if answer.status_code in (401, 403):
        return Finding(
            "traces", "warning", f"{endpoint} answers {answer.status_code} without a credential"
        )
    level: Level = "ok" if answer.is_success else "problem"
    hint = "" if answer.is_success else ": most collectors take traces at /v1/traces"
    return Finding("traces", level, f"{endpoint} answers {answer.status_code}{hint}")
