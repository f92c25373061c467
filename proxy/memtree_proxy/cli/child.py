"""The program that `memtree wrap` runs: its signals, its terminal, its exit status.

On a terminal the program gets a process group of its own, which owns the terminal: it receives
Ctrl-C, Ctrl-Z and changes of the window's size itself, as if a shell had started it. If only some
of its streams are a terminal, it is part of a pipeline and stays in our group, which gets the
terminal's signals as a whole. Without a terminal it has a group of its own, too, and signals sent
to us are forwarded to it.
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
BY_SIGNAL = 128  # added to a signal's number, as shells do
FORWARDED = ("SIGINT", "SIGQUIT", "SIGTERM", "SIGHUP", "SIGUSR1", "SIGUSR2")
OF_TERMINALS = ("SIGINT", "SIGQUIT")  # signals that a terminal sends to a whole group
STDIN = 0


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


async def run_child(command: Sequence[str], env: Mapping[str, str]) -> int:
    """Run a program to its end and return its exit status as shells report it. Raises `OSError` if
    it cannot be started."""
    child = WrappedProgram(command, env, role())
    with child.watched() as ended:
        return await ended


class WrappedProgram:
    """A running program. `command`: begins with the program's path."""

    def __init__(self, command: Sequence[str], env: Mapping[str, str], role: TerminalRole) -> None:
        self._role = role
        own_group, terminal, parent = (
            role is not TerminalRole.OURS,
            role is TerminalRole.TERMINAL,
            os.getpid(),
        )
        # Done in the child, since the parent might be too late: a program that reads a terminal it
        # does not own is stopped. There is one thread, so a fork is safe.
        self._process = subprocess.Popen(
            command,
            env=env,
            preexec_fn=lambda: _prepare(own_group, terminal, parent),  # noqa: PLW1509
        )
        self._pid = self._process.pid

    @contextmanager
    def watched(self) -> Iterator[asyncio.Future[int]]:
        """Watch the program; the future yields its exit status."""
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
            self._look(ended)  # it may have ended before the handler was set
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


def _prepare(own_group: bool, terminal: bool, parent: int) -> None:
    """Set up the child's process group, terminal and death signal, between fork and exec."""
    if own_group:
        os.setpgid(0, 0)
    if terminal:
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
