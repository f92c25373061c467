"""Finds a running server of this machine's user, and has it prove itself.

`memtree ui` opens its web pages, as this machine's user. `memtree wrap` starts a server if there is
none, and holds it by a lease. It uses only a server that such a command started, and only after the
server has proved to be that of its state file: any other listener would receive the user's key.
"""

from __future__ import annotations

import argparse
import asyncio
import hmac
import os
import secrets
import subprocess
import sys
import webbrowser
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Any

import httpx2

from memtree import __version__
from memtree.config import FILE_VARIABLE, PREFIX, Settings
from memtree.errors import BadRequest
from memtree_proxy.http.auth import CODE_SECONDS, new_code, server_proof
from memtree_proxy.server.page_session import PATH
from memtree_proxy.server.state_file import ServerState, known_servers
from memtree_proxy.server.wrapped_runs import BEAT_SECONDS, LEASE_PATH, TOTALS_PATH, locked
from memtree_proxy.server.wrapped_runs import PREFIX as WRAPPED

SECONDS = 5.0  # seconds for a server to prove itself
IDLE_SECONDS = 30  # seconds that a server stays without a run
START_SECONDS = 120.0  # seconds for a server to start, on a busy machine
ANSWER_SECONDS = 30.0
SILENT_SECONDS = 6 * BEAT_SECONDS  # seconds after which a lease counts as broken
LOOK_SECONDS = 0.05
LOG = "wrap.log"
LOCAL = "127.0.0.1"
# Settings of a server for runs, whatever the environment says: each path brings its upstreams,
# and nobody else may authenticate.
_OWN = ("CONFIG", "HOME", "HOST", "PORT", "OPEN", "UI", "PUBLIC_URL", "MEMORY", "UPSTREAM",
        "UPSTREAM_API_KEY", "ANTHROPIC_UPSTREAM", "ANTHROPIC_UPSTREAM_API_KEY")  # fmt: skip
_FLAGS = ("--host", LOCAL, "--upstream", "none", "--anthropic-upstream", "none", "--ui")

# Servers outlive the process that started them. A server that ends earlier has to be reaped, or
# it would count as running.
_started_here: list[subprocess.Popen[bytes]] = []


async def run(options: argparse.Namespace, settings: Settings) -> int:
    """Open the pages. Raises `BadRequest` if no server with pages is running, or several are."""
    server = await chosen_server(settings, options.only_port)
    address = f"{server.url}/ui#code={new_code(server.secret)}"
    if not options.only_print and await asyncio.to_thread(webbrowser.open, address):
        print(f"opened {server.url}/ui in a browser")
    else:
        print(f"Open this address within {CODE_SECONDS} seconds; it is good once:\n{address}")
    return 0


async def chosen_server(settings: Settings, port: int | None) -> ServerState:
    """Return the one running server (on `port`, if given), after it has proved to be that of its
    state file.

    Raises `BadRequest` if there is none, or more than one to choose from.
    """
    known = [each for each in known_servers(settings.data_folder) if port in (None, each.port)]
    proven = await asyncio.gather(*(proves_itself(each) for each in known))
    servers = [server for server, sound in zip(known, proven, strict=True) if sound]
    # A server of `memtree wrap` ends by itself, so it is chosen only if there is no other.
    running = [server for server in servers if not server.for_wraps] or servers
    if len(running) == 1:
        return running[0]
    raise BadRequest(_unclear(running, port, settings), param="port")


async def proves_itself(server: ServerState) -> bool:
    """Return True if the listening process knows the secret of the state file: the server may have
    been killed, and its port reused by another program."""
    nonce = secrets.token_urlsafe(16)
    try:
        async with httpx2.AsyncClient(timeout=SECONDS, trust_env=False) as client:
            answer = await client.get(server.url + PATH, params={"nonce": nonce})
            proof = str(answer.json()["proof"])
    except (httpx2.HTTPError, ValueError, KeyError, TypeError):
        return False
    return hmac.compare_digest(proof.encode(), server_proof(server.secret, nonce).encode())


def _unclear(running: Sequence[ServerState], port: int | None, settings: Settings) -> str:
    if running:
        places = ", ".join(each.url for each in running)
        return f"several servers run ({places}): name one with --port"
    where = f" on port {port}" if port is not None else ""
    return (
        f"no server of this user with web pages runs{where}; `memtree serve` starts one "
        f"(looked in {settings.data_folder or 'no folder: HOME is not set'})"
    )


async def wrap_server(
    data: Path, env: Mapping[str, str], port: int | None = None, *, may_start: bool = True
) -> ServerState:
    """Return a server for runs that answers; starts one if there is none. `port`: required port, as
    after a crash. Raises `BadRequest` if there is none and none could be started."""
    async with locked(data):
        for process in _started_here:
            process.poll()
        for state in known_servers(data):
            fits = state.for_wraps and state.version == __version__ and port in (None, state.port)
            if fits and await proves_itself(state):
                return state
        if not may_start:
            raise BadRequest("it was started again once")
        return await _started(data, env, port)


async def _started(data: Path, env: Mapping[str, str], port: int | None) -> ServerState:
    own = {f"{PREFIX}{name}" for name in _OWN} | {FILE_VARIABLE}
    clean = {name: value for name, value in env.items() if name not in own}
    # -P: neither the current folder nor the server's is searched for modules.
    command = [sys.executable, "-P", "-m", "memtree_proxy.cli", "serve", *_FLAGS]
    words = ["--port", str(port or 0), "--for-wraps", str(IDLE_SECONDS)]
    process = _launched([*command, *words], data, {**clean, f"{PREFIX}HOME": str(data)})
    _started_here.append(process)
    try:
        async with asyncio.timeout(START_SECONDS):
            while process.poll() is None:
                for state in known_servers(data):
                    if state.pid == process.pid and await proves_itself(state):
                        return state
                await asyncio.sleep(LOOK_SECONDS)
    except TimeoutError:
        process.kill()
        process.wait()
    raise BadRequest(f"the server did not start: {_last_line(data / LOG)}")


def _launched(
    command: Sequence[str], data: Path, env: Mapping[str, str]
) -> subprocess.Popen[bytes]:
    descriptor = os.open(data / LOG, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    with os.fdopen(descriptor, "wb") as log:
        return subprocess.Popen(
            command,
            cwd=data,
            env=env,
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            start_new_session=True,  # Ctrl-C must not reach it
        )


def _last_line(path: Path) -> str:
    try:
        lines = path.read_text("utf-8", "replace")[-4_000:].strip().splitlines()
    except OSError:
        lines = []
    return lines[-1] if lines else f"see {path}"


@asynccontextmanager
async def lease(
    state: ServerState, run: str, paths: Mapping[str, Mapping[str, str]]
) -> AsyncIterator[asyncio.Task[None]]:
    """Open the paths of a run during the block. Yields a task that ends when the server has ended
    them. Raises `BadRequest` if the server refuses them."""
    posted = {"code": new_code(state.secret), "run": run, "paths": paths}
    timeout = httpx2.Timeout(ANSWER_SECONDS, read=SILENT_SECONDS)
    try:
        async with (
            httpx2.AsyncClient(timeout=timeout, trust_env=False) as client,
            client.stream("POST", state.url + LEASE_PATH, json=posted) as answer,
        ):
            if answer.status_code != 200:
                raise BadRequest(_refusal(await answer.aread()))
            pieces = answer.aiter_raw()
            await anext(pieces)
            held = asyncio.create_task(_until_broken(pieces))
            try:
                yield held
            finally:
                held.cancel()
                await asyncio.gather(held, return_exceptions=True)
    except (httpx2.HTTPError, StopAsyncIteration) as error:
        raise BadRequest(f"the server broke off: {type(error).__name__}") from error


async def _until_broken(pieces: AsyncIterator[bytes]) -> None:
    with suppress(httpx2.HTTPError):
        async for _ in pieces:
            pass


def _refusal(body: bytes) -> str:
    try:
        return str(httpx2.Response(200, content=body).json()["error"]["message"])
    except (ValueError, KeyError, TypeError):
        return "the server refused the lease"


async def totals(state: ServerState, token: str) -> dict[str, Any] | None:
    """Ask for the totals of a run's requests; returns None if the server has ended."""
    try:
        async with httpx2.AsyncClient(timeout=ANSWER_SECONDS, trust_env=False) as client:
            answer = await client.get(f"{state.url}{WRAPPED}{token}{TOTALS_PATH}")
            return dict(answer.json()) if answer.status_code == 200 else None
    except (httpx2.HTTPError, ValueError):
        return None
