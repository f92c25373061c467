"""The program that `memtree wrap` runs: its signals, its terminal, its exit status.

On a terminal the program gets a process group of its own, which owns the terminal: Ctrl-C, Ctrl-Z
and the window's size are its own, as if a shell had started it. Where only a part of its streams is
a terminal it is one of several in a pipeline, and stays in our group, which gets the terminal's
signals as a whole. Without a terminal it has a group, too, and what we are sent goes on to it.
"""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from enum import Enum

try:
    import ctypes
except ImportError:  # an interpreter built without libffi
    ctypes = None  # type: ignore[assignment]

PR_SET_PDEATHSIG = 1
BY_SIGNAL = 128  # added to the number of a signal, as shells do
FORWARDED = ("SIGINT", "SIGQUIT", "SIGTERM", "SIGHUP", "SIGUSR1", "SIGUSR2")
OF_TERMINALS = ("SIGINT", "SIGQUIT")  # a terminal sends them to a whole group
STDIN = 0


class TerminalRole(Enum):
    """Where the program stands: `TERMINAL`: its own group owns the terminal. `GROUP`: a group of
    its own, without one. `OURS`: in our group."""

    TERMINAL = "terminal"
    GROUP = "group"
    OURS = "ours"


def role() -> TerminalRole:
    """Return where a program that is started now has to stand."""
    ours = [os.isatty(number) for number in (0, 1, 2)]
    if ours[0] and ours[1]:
        try:
            return (
                TerminalRole.TERMINAL if os.tcgetpgrp(STDIN) == os.getpgrp() else TerminalRole.OURS
            )
        except OSError:  # a terminal, but not ours
            return TerminalRole.GROUP
    return TerminalRole.OURS if any(ours) else TerminalRole.GROUP


async def run_child(command: Sequence[str], env: Mapping[str, str]) -> int:
    """Run a program to its end and return its exit status as a shell says it. Raises `OSError`
    where it cannot be started."""
    child = WrappedProgram(command, env, role())
    with child.watched() as ended:
        return await ended


class WrappedProgram:
    """`command`: with the path of the program."""

    def __init__(self, command: Sequence[str], env: Mapping[str, str], role: TerminalRole) -> None:
        self._role = role
        own_group, terminal, parent = (
            role is not TerminalRole.OURS,
            role is TerminalRole.TERMINAL,
            os.getpid(),
        )
        # In the child, since the parent might come too late: a program that reads a terminal which
        # is not its own is stopped. There is one thread, so a fork is safe.
        self._process = subprocess.Popen(
            command,
            env=env,
            preexec_fn=lambda: _prepare(own_group, terminal, parent),  # noqa: PLW1509
        )
        self._pid = self._process.pid

    @contextmanager
    def watched(self) -> Iterator[asyncio.Future[int]]:
        """Look after the program; the future is its exit status."""
        loop = asyncio.get_running_loop()
        ended: asyncio.Future[int] = loop.create_future()
        forwarded = [name for name in FORWARDED if not self._of_terminal(name)]
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
            self._look(ended)  # it may have ended before anybody listened
            yield ended
        finally:
            for number in handlers:
                loop.remove_signal_handler(number)
            if self._role is TerminalRole.TERMINAL:
                _give_terminal(os.getpgrp())

    def _of_terminal(self, name: str) -> bool:
        return self._role is TerminalRole.OURS and name in OF_TERMINALS

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
        self._process.returncode = code  # it is reaped
        ended.set_result(code if code >= 0 else BY_SIGNAL - code)

    def _stop(self) -> None:
        """The program was stopped on its terminal: stop with it, so that the shell takes over."""
        if self._role is not TerminalRole.TERMINAL:
            return
        if os.tcgetpgrp(STDIN) == self._pid:
            _give_terminal(os.getpgrp())
        # The whole group: between the shell and us may be others, as `uvx`.
        os.killpg(os.getpgrp(), signal.SIGTSTP)
        self._go_on()

    def _go_on(self) -> None:
        if self._role is not TerminalRole.TERMINAL or self._process.returncode is not None:
            return
        if os.tcgetpgrp(STDIN) == os.getpgrp():  # else we go on in the background
            _give_terminal(self._pid)
        os.killpg(self._pid, signal.SIGCONT)


def _prepare(own_group: bool, terminal: bool, parent: int) -> None:
    """Run in the child, between fork and exec."""
    if own_group:
        os.setpgid(0, 0)
    if terminal:
        _give_terminal(os.getpgrp())
    if sys.platform == "linux" and ctypes is not None:
        # A wrapper that is killed leaves no agent behind that nobody answers any more.
        ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, int(signal.SIGTERM), 0, 0, 0)
        if os.getppid() != parent:
            os.kill(os.getpid(), signal.SIGTERM)


def _give_terminal(group: int) -> None:
    """Let a process group own the terminal. Who is in the background is stopped for asking, unless
    the signal is blocked."""
    blocked = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGTTOU})
    try:
        os.tcsetpgrp(STDIN, group)
    except OSError:  # the terminal is gone, or the group is
        return
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, blocked)
