"""`memtree wrap AGENT [ARGUMENTS]`: run an agent once, with memory in front of its model.

    server (found or started) -> plan -> lease -> files -> agent -> one line about the run

Nothing is left behind: paths end with the lease, files with the folder of the run, and the server
half a minute after its last run.
"""

from __future__ import annotations

import argparse
import asyncio
import itertools
import json
import secrets
import shlex
import shutil
import sys
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from memtree.config import Settings, environment
from memtree.errors import BadRequest
from memtree_proxy.cli import server
from memtree_proxy.cli.child import run_child
from memtree_proxy.cli.foreign_text import plain
from memtree_proxy.cli.status import short
from memtree_proxy.cli.wrap_agents import AGENTS, BY_NAME, Agent, sdk
from memtree_proxy.cli.wrap_plan import Plan, Wrapping
from memtree_proxy.server.run_folders import run_folder
from memtree_proxy.server.state_file import ServerState

NO_SUCH_PROGRAM = 127  # exit status of shells
PROGRAM = "memtree wrap"


async def run(options: argparse.Namespace, settings: Settings) -> int:
    """Run an agent. Raises `BadRequest` if it is not in the table, or cannot be wrapped."""
    if sys.platform == "win32":
        raise BadRequest("`memtree wrap` needs Linux, macOS or WSL: on Windows set the base URL")
    agent = _agent(options)
    if options.alias:
        print(f"alias {agent.name}={shlex.quote(f'{PROGRAM} {agent.name}')}")
        return 0
    env = environment()
    if options.only_print or agent.shown_only:
        _show(agent, options, env)
        return 0
    program = shutil.which(agent.program, path=env.get("PATH"))
    if program is None:
        print(f"memtree: there is no program {plain(agent.program)} here", file=sys.stderr)
        return NO_SUCH_PROGRAM
    data = settings.data_folder
    if data is None:
        raise BadRequest("HOME is not set, so there is no folder for MemTree's data", param="home")
    try:
        data.mkdir(mode=0o700, parents=True, exist_ok=True)
        return await _wrapped(agent, options, env, data.absolute(), program)
    except OSError as error:
        raise BadRequest(f"{error.filename or program}: {error.strerror}") from error


def _agent(options: argparse.Namespace) -> Agent:
    if options.any_program:
        if not options.words:
            raise BadRequest(f"`{PROGRAM} --` needs a command behind it")
        return Agent(options.words[0], options.words[0], "any", "the SDKs' variables", sdk)
    if not options.words:
        raise BadRequest(f"which agent? One of: {', '.join(each.name for each in AGENTS)}")
    agent = BY_NAME.get(options.words[0])
    if agent is None:
        raise BadRequest(
            f"there is no row for {plain(options.words[0])}. Known are "
            f"{', '.join(each.name for each in AGENTS)}; for a program on the SDKs of OpenAI or "
            f"Anthropic: {PROGRAM} -- {plain(shlex.join(options.words))}"
        )
    return agent


def _wrapping(options: argparse.Namespace, env: Mapping[str, str], **given: Any) -> Wrapping:
    args = options.words if options.any_program else options.words[1:]
    return Wrapping(args=args, env=env, **given)


# -- a run -----------------------------------------------------------------------------------------


async def _wrapped(
    agent: Agent, options: argparse.Namespace, env: Mapping[str, str], data: Path, program: str
) -> int:
    name = secrets.token_hex(4)
    with run_folder(data, name) as folder:
        state = await server.wrap_server(data, env)
        wrapping = _wrapping(options, env, folder=folder, server=state.url)
        plan = agent.plan(wrapping)
        _write(plan, folder)
        for note in plan.notes:
            print(f"memtree: {note}", file=sys.stderr)
        run = WrappedRun(data, env, name, wrapping.paths)
        async with run.held(state):
            started = {**env, **_unproxied(env), **plan.variables}
            code = await run_child([program, *plan.args], started)
            print(await run.line(), file=sys.stderr)
    return code


def _unproxied(env: Mapping[str, str]) -> dict[str, str]:
    """Exclude requests to our server from a proxy that the environment names."""
    if not any(name.lower().endswith("_proxy") for name in env):
        return {}
    known = env.get("no_proxy") or env.get("NO_PROXY")
    value = f"{known},{server.LOCAL}" if known else server.LOCAL
    return {"no_proxy": value, "NO_PROXY": value}


def _write(plan: Plan, folder: Path) -> None:
    """Write the files of a plan into a folder that only its owner may read."""
    for name, text in plan.files.items():
        path = folder / name
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        path.touch(mode=0o600)
        path.write_text(text, "utf-8")
    for name, target in plan.links.items():
        path = folder / name
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        if not target.exists():  # the agent would create this folder itself
            target.mkdir(parents=True)
        path.symlink_to(target.absolute())


class WrappedRun:
    """A run and its server, which is restarted once if it ends before the agent does."""

    def __init__(
        self, data: Path, env: Mapping[str, str], name: str, paths: Mapping[str, dict[str, str]]
    ) -> None:
        self._data, self._env, self._name, self._paths = data, env, name, paths
        self._state: ServerState | None = None
        self._trouble = ""

    @asynccontextmanager
    async def held(self, state: ServerState) -> AsyncIterator[None]:
        """Hold the lease during the block. Raises `BadRequest` if no lease can be had."""
        opened: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        keeping = asyncio.create_task(self._keep(state, opened))
        try:
            await asyncio.wait((opened, keeping), return_when=asyncio.FIRST_COMPLETED)
            if keeping.done():
                await keeping
            yield
        finally:
            keeping.cancel()
            await asyncio.gather(keeping, return_exceptions=True)

    async def _keep(self, state: ServerState, opened: asyncio.Future[None]) -> None:
        first = state.pid
        async with server.lease(state, self._name, self._paths) as broken:
            self._state = state
            opened.set_result(None)
            await broken
        try:
            while True:  # the connection also breaks when the machine sleeps
                self._state = None
                may_start = state.pid == first
                state = await server.wrap_server(
                    self._data, self._env, state.port, may_start=may_start
                )
                async with server.lease(state, self._name, self._paths) as broken:
                    self._state = state
                    await broken
                await asyncio.sleep(server.LOOK_SECONDS)
        except (BadRequest, OSError) as error:
            self._trouble = f" ({error})"
        finally:
            self._state = None

    async def line(self) -> str:
        """Describe the run's requests on one line."""
        token = next(iter(self._paths), None)
        known = await server.totals(self._state, token) if self._state and token else None
        if known is None:
            return f"memtree: the server ended before the agent did{self._trouble}"
        return f"memtree: {summary(known, self._name)}"


def summary(totals: Mapping[str, Any], run: str) -> str:
    """Describe a run's totals on one line.

    >>> summary({"requests": 9, "folded": 7, "posted_tokens": 412_300, "sent_tokens": 18_200,
    ...          "saved_tokens": 301_000.0}, "0a1b2c3d")
    '9 requests, 7 folded, 412k -> 18k tokens, saved 301k; more: memtree requests --wrap 0a1b2c3d'

    `folds_at`: if nothing was folded, the tokens of a conversation from which on it will be.
    """
    if not totals["requests"]:
        return "no request to a model came this way"
    counted = "1 request" if totals["requests"] == 1 else f"{totals['requests']} requests"
    tokens = f"{short(totals['posted_tokens'])} -> {short(totals['sent_tokens'])} tokens"
    saved = totals["saved_tokens"]
    gain = f"saved {short(saved)}" if saved >= 0 else f"cost {short(-saved)} more"
    line = f"{counted}, {totals['folded']} folded, {tokens}, {gain}"
    if folds_at := totals.get("folds_at"):
        line += f"; folding begins at about {short(folds_at)} tokens of conversation"
    return f"{line}; more: memtree requests --wrap {run}"


# -- what would be done ----------------------------------------------------------------------------


def _show(agent: Agent, options: argparse.Namespace, env: Mapping[str, str]) -> None:
    """Print the plan of a run, with placeholders for its port, tokens and folder."""
    numbers = itertools.count(1)
    wrapping = _wrapping(
        options,
        env,
        folder=Path("RUN_FOLDER"),
        server="http://127.0.0.1:PORT",
        mint=lambda: f"TOKEN{next(numbers)}",
    )
    plan = agent.plan(wrapping)
    for token, path in wrapping.paths.items():
        print(f"# /w/{token} leads to {plain(json.dumps(path))}")
    for name, text in plan.files.items():
        print(f"# RUN_FOLDER/{name}, {len(text)} characters")
    for name, target in plan.links.items():
        print(f"# RUN_FOLDER/{plain(name)} -> {plain(str(target))}")
    for note in plan.notes:
        print(f"# {note}")
    if agent.shown_only:
        print(f"# Not tried with {agent.name}, so `{PROGRAM}` does not start it.")
    words = [f"{name}={shlex.quote(value)}" for name, value in plan.variables.items()]
    print(plain(" ".join([*words, shlex.join([agent.program, *plan.args])])))
