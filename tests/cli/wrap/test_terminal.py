"""`memtree wrap` on a terminal, under a shell with job control: the agent owns the terminal."""

from __future__ import annotations

import fcntl
import os
import pty
import struct
import subprocess
import sys
import termios
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest

from tests.cli.wrap.stage import AGENT, Stage, command, staged
from tests.programs.server import PATIENCE

pytestmark = [pytest.mark.slow]

# A shell with one job: it gives the terminal to the job, takes it back where the job stops, and
# brings it to the foreground again when it is told.
SHELL = (
    AGENT
    + """
import fcntl, termios
fcntl.ioctl(0, termios.TIOCSCTTY, 0)
signal.signal(signal.SIGTTOU, signal.SIG_IGN)
job = os.fork()
if job == 0:
    os.setpgid(0, 0)
    os.tcsetpgrp(0, os.getpgrp())
    signal.signal(signal.SIGTTOU, signal.SIG_DFL)
    os.execv(sys.argv[1], sys.argv[1:])
stops = 0
while True:
    _, status = os.waitpid(job, os.WUNTRACED)
    os.tcsetpgrp(0, os.getpgrp())
    if not os.WIFSTOPPED(status):
        break
    stops += 1
    tell(f"stopped{stops}", 1)
    wait(f"fg{stops}")
    os.tcsetpgrp(0, job)
    os.killpg(job, signal.SIGCONT)
tell("status", os.waitstatus_to_exitcode(status))
"""
)
OWNS = "os.tcgetpgrp(0) == os.getpgrp()"


@pytest.fixture
def stage(tmp_path: Path) -> Iterator[Stage]:
    with staged(tmp_path) as made:
        yield made


@contextmanager
def terminal(stage: Stage, code: str) -> Iterator[int]:
    """Start an agent on a terminal of its own; yields the other end of it."""
    master, slave = pty.openpty()
    env = stage.env(code, OPENAI_BASE_URL=f"{stage.above}/v1")
    shell = subprocess.Popen(
        [sys.executable, "-c", SHELL, *command("--", "anything")],
        cwd=stage.project, env=env, stdin=slave, stdout=slave, stderr=slave,
        start_new_session=True,
    )  # fmt: skip
    os.close(slave)
    shown: list[bytes] = []

    def read() -> None:  # or a full terminal would hold the agent up
        with suppress(OSError):
            while piece := os.read(master, 65_536):
                shown.append(piece)

    reader = threading.Thread(target=read)
    reader.start()
    try:
        yield master
        assert shell.wait(PATIENCE) == 0, b"".join(shown)
    finally:
        shell.kill()
        shell.wait()
        reader.join(PATIENCE)
        os.close(master)


def test_what_the_terminal_sends_is_the_agents_alone(stage: Stage) -> None:
    code = f"""
signal.signal(signal.SIGINT, lambda *_: tell("int", {OWNS}))
signal.signal(signal.SIGWINCH, lambda *_: tell("size", os.get_terminal_size().columns))
tell("run", {OWNS})
tell("line", sys.stdin.readline())
wait("go")
sys.exit(5)
"""
    with terminal(stage, code) as master:
        assert stage.told("run") is True
        os.write(master, b"\x03")
        assert stage.told("int") is True
        fcntl.ioctl(master, termios.TIOCSWINSZ, struct.pack("HHHH", 40, 123, 0, 0))
        assert stage.told("size") == 123
        os.write(master, b"hello\n")
        assert stage.told("line") == "hello\n"
        stage.say("go")
        assert stage.told("status") == 5
    assert stage.runs() == []


def test_an_agent_that_is_stopped_stops_the_job_and_goes_on_with_it(stage: Stage) -> None:
    code = f"""
tell("run", 1)
for number in "12":
    wait("go" + number)
    tell("again" + number, {OWNS})
    tell("line" + number, sys.stdin.readline())
tell("answer", chat("hello"))
"""
    with terminal(stage, code) as master:
        stage.told("run")
        for number in "12":
            os.write(master, b"\x1a")  # Ctrl-Z
            stage.told(f"stopped{number}")
            stage.say(f"go{number}")
            assert not (stage.folder / "out" / f"again{number}").exists()
            stage.say(f"fg{number}")
            assert stage.told(f"again{number}") is True
            os.write(master, b"x\n")
            assert stage.told(f"line{number}") == "x\n"
        assert stage.told("answer")[0] == 200
        assert stage.told("status") == 0


def test_a_signal_that_ends_the_agent_is_its_status(stage: Stage) -> None:
    with terminal(stage, 'tell("run", 1)\nsignal.signal(2, signal.SIG_DFL)\nsignal.pause()') as end:
        stage.told("run")
        os.write(end, b"\x03")
        assert stage.told("status") == 130
