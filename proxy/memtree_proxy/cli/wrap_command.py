"""Runs `memtree wrap AGENT [ARGUMENTS]`: an agent once, with memory in front of its model.

    server (found or started) -> plan -> lease -> files -> agent -> one line about the run

Nothing is left behind: paths end with the lease, files with the folder of the run, and the server
half a minute after its last run. The agent's exit status becomes that of the command.

On a terminal the agent gets a process group of its own, which owns the terminal: it receives
Ctrl-C, Ctrl-Z and changes of the window's size itself, as if a shell had started it. If only some
of its streams are a terminal, it is part of a pipeline and stays in our group, which gets the
terminal's signals as a whole. Without a terminal it has a group of its own, too, and signals sent
to us are forwarded to it.
"""

from __future__ import annotations

import argparse
import asyncio
import itertools
import json
import os
import secrets
import shlex
import shutil
import signal
import subprocess
import sys
from collections.abc import AsyncIterator, Callable, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager, contextmanager
from enum import Enum
from pathlib import Path
from typing import Any

from memtree.config import Settings, environment
from memtree.errors import BadRequest
from memtree_proxy.cli import own_server
from memtree_proxy.cli.foreign_text import plain
from memtree_proxy.cli.status import short
from memtree_proxy.cli.wrap_agents import AGENTS, BY_NAME, Agent, sdk
from memtree_proxy.cli.wrap_plan import Plan, Wrapping
from memtree_proxy.server.state_file import ServerState
from memtree_proxy.server.wrapped_runs import run_folder

try:
    import ctypes
except ImportError:  # an interpreter built without libffi
    ctypes = None  # type: ignore[assignment]

PR_SET_PDEATHSIG = 1
BY_SIGNAL = 128  # added to a signal's number, as shells do
FORWARDED = ("SIGINT", "SIGQUIT", "SIGTERM", "SIGHUP", "SIGUSR1", "SIGUSR2")
OF_TERMINALS = ("SIGINT", "SIGQUIT")  # signals that a terminal sends to a whole group
STDIN = 0
NO_SUCH_PROGRAM = 127  # exit status of shells
PROGRAM = "memtree wrap"


class TerminalRole(Enum):
    """Process group of the program. `TERMINAL`: its own group, which owns the terminal. `GROUP`:
    its own group, without a terminal. `OURS`: the group of `memtree wrap`."""

    TERMINAL = "terminal"
    GROUP = "group"
    OURS = "ours"


def role() -> TerminalRole:
    """Return the role for a program that is started now."""
    ours = [os.isatty(number) for number in (0, 1, 2)]
    if ours[0] and ours[1]:
        try:
            return (
                TerminalRole.TERMINAL if os.tcgetpgrp(STDIN) == os.getpgrp() else TerminalRole.OURS
            )
        except OSError:  # a terminal that our group does not own
            return TerminalRole.GROUP
    return TerminalRole.OURS if any(ours) else TerminalRole.GROUP


class WrappedProgram:
    """A running program. `command`: begins with the program's path. Raises `OSError` if it cannot
    be started."""

    def __init__(self, command: Sequence[str], env: Mapping[str, str], role: TerminalRole) -> None:
        self._role = role
        parent = os.getpid()
        # Done in the child, since the parent might be too late: a program that reads a terminal it
        # does not own is stopped. There is one thread, so a fork is safe.
        self._process = subprocess.Popen(
            command,
            env=env,
            preexec_fn=lambda: _prepare(role, parent),  # noqa: PLW1509
        )
        self._pid = self._process.pid

    @contextmanager
    def watched(self) -> Iterator[asyncio.Future[int]]:
        """Watch the program; the future yields its exit status as shells report it."""
        loop = asyncio.get_running_loop()
        ended: asyncio.Future[int] = loop.create_future()
        of_terminal = OF_TERMINALS if self._role is TerminalRole.OURS else ()
        forwarded = [name for name in FORWARDED if name not in of_terminal]
        handlers: dict[signal.Signals, Callable[[], None]] = {
            signal.Signals[name]: self._forwarder(signal.Signals[name]) for name in forwarded
        }
        for name in OF_TERMINALS:
            handlers.setdefault(signal.Signals[name], lambda: None)
        handlers[signal.SIGCHLD] = lambda: self._look(ended)
        handlers[signal.SIGCONT] = self._go_on
        for number, handler in handlers.items():
            loop.add_signal_handler(number, handler)
        try:
            self._look(ended)  # it may have ended before the handler was set
            yield ended
        finally:
            for number in handlers:
                loop.remove_signal_handler(number)
            if self._role is TerminalRole.TERMINAL:
                _give_terminal(os.getpgrp())

    def _forwarder(self, number: signal.Signals) -> Callable[[], None]:
        def forward() -> None:
            if self._process.returncode is None:
                os.kill(self._pid, number)

        return forward

    def _look(self, ended: asyncio.Future[int]) -> None:
        if ended.done():
            return
        pid, status = os.waitpid(self._pid, os.WNOHANG | os.WUNTRACED)
        if pid == 0:
            return
        if os.WIFSTOPPED(status):
            self._stop()
            return
        code = os.waitstatus_to_exitcode(status)
        self._process.returncode = code  # already reaped
        ended.set_result(code if code >= 0 else BY_SIGNAL - code)

    def _stop(self) -> None:
        """Stop with the program, which was stopped on its terminal, so that the shell takes
        over."""
        if self._role is not TerminalRole.TERMINAL:
            return
        if os.tcgetpgrp(STDIN) == self._pid:
            _give_terminal(os.getpgrp())
        # Stop the whole group: other processes, such as `uvx`, may be between the shell and us.
        os.killpg(os.getpgrp(), signal.SIGTSTP)
        self._go_on()

    def _go_on(self) -> None:
        if self._role is not TerminalRole.TERMINAL or self._process.returncode is not None:
            return
        if os.tcgetpgrp(STDIN) == os.getpgrp():  # else we continue in the background
            _give_terminal(self._pid)
        os.killpg(self._pid, signal.SIGCONT)


def _prepare(role: TerminalRole, parent: int) -> None:
    """Set up the child's process group, terminal and death signal, between fork and exec."""
    if role is not TerminalRole.OURS:
        os.setpgid(0, 0)
    if role is TerminalRole.TERMINAL:
        _give_terminal(os.getpgrp())
    if sys.platform == "linux" and ctypes is not None:
        # If the wrapper is killed, its agent must not stay behind without a server.
        ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, int(signal.SIGTERM), 0, 0, 0)
        if os.getppid() != parent:
            os.kill(os.getpid(), signal.SIGTERM)


def _give_terminal(group: int) -> None:
    """Give the terminal to a process group. The signal is blocked, since it would stop a caller in
    the background."""
    blocked = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGTTOU})
    try:
        os.tcsetpgrp(STDIN, group)
    except OSError:  # the terminal or the group no longer exists
        return
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, blocked)


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
        state = await own_server.wrap_server(data, env)
        wrapping = _wrapping(options, env, folder=folder, server=state.url)
        plan = agent.plan(wrapping)
        _write(plan, folder)
        for note in plan.notes:
            print(f"memtree: {note}", file=sys.stderr)
        run = WrappedRun(data, env, name, wrapping.paths)
        async with run.held(state):
            started = {**env, **_unproxied(env), **plan.variables}
            child = WrappedProgram([program, *plan.args], started, role())
            with child.watched() as ended:
                code = await ended
            print(await run.line(), file=sys.stderr)
    return code


def _unproxied(env: Mapping[str, str]) -> dict[str, str]:
    """Exclude requests to our server from a proxy that the environment names."""
    if not any(name.lower().endswith("_proxy") for name in env):
        return {}
    known = env.get("no_proxy") or env.get("NO_PROXY")
    value = f"{known},{own_server.LOCAL}" if known else own_server.LOCAL
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
        async with own_server.lease(state, self._name, self._paths) as broken:
            self._state = state
            opened.set_result(None)
            await broken
        try:
            while True:  # the connection also breaks when the machine sleeps
                self._state = None
                may_start = state.pid == first
                state = await own_server.wrap_server(
                    self._data, self._env, state.port, may_start=may_start
                )
                async with own_server.lease(state, self._name, self._paths) as broken:
                    self._state = state
                    await broken
                await asyncio.sleep(own_server.LOOK_SECONDS)
        except (BadRequest, OSError) as error:
            self._trouble = f" ({error})"
        finally:
            self._state = None

    async def line(self) -> str:
        """Describe the run's requests on one line."""
        token = next(iter(self._paths), None)
        known = await own_server.totals(self._state, token) if self._state and token else None
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
