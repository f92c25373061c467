"""No process that builds a tree outlives the one that started it, however that ends."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.programs.processes import alive, descendants, needs_proc

pytestmark = needs_proc

# They are gone within a moment, at most half a second where a thread looks; what they do would go
# on for hours. The rest is for a machine with other things to do.
SECONDS = 300.0

# Stage 1 that never ends: in C code that holds the GIL, or in Python.
IN_C = "import re; re.match(r'(a*)*b', 'a' * 64)"
IN_PYTHON = "while True: pass"
WITHOUT_KERNEL = "from memtree.jobs import parent_death; parent_death.ctypes = None; "
PARENT = """
import os, sys, threading
from memtree.jobs import child_process
from tests.properties.strategies import conversation, history_of, tail_of
before, folder = sys.argv[1:]
sys.path.insert(0, folder)
patch = "from memtree.tree import growth; from endless import grow; growth.grow = grow; "
child_process.START = before + child_process.START.replace("main()", patch + "main()")
child = child_process.Child()
tail = tail_of(history_of(conversation(1, 30_000)))
threading.Thread(target=lambda: child.grow(tail, 3, print), daemon=True).start()
sys.stdin.readline()
os._exit(3)
"""


@contextmanager
def building(folder: Path, body: str, before: str = "") -> Iterator[subprocess.Popen[bytes]]:
    """A process whose child, with two forks, is in the middle of a build. Whatever the block does
    to it, none of them is left."""
    (folder / "endless.py").write_text(f"def grow(tail, lines=None):\n    {body}\n")
    command = [sys.executable, "-c", PARENT, before, str(folder)]
    made: set[int] = set()
    with subprocess.Popen(command, stdin=subprocess.PIPE) as parent:
        try:
            until(lambda: len(descendants(parent.pid)) == 3, 3 * SECONDS)
            made = descendants(parent.pid)
            until(lambda: all(computes(pid) for pid in made), 3 * SECONDS)
            yield parent
            until(lambda: not alive(made), SECONDS)
        finally:
            parent.kill()
            for pid in alive(made):
                os.kill(pid, signal.SIGKILL)


def computes(pid: int) -> bool:
    """It has used some hundredths of a second."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return int(fields[11]) > 5


def until(condition, seconds: float) -> None:
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "it did not come to pass"
        time.sleep(0.01)


def killed(parent: subprocess.Popen[bytes]) -> None:
    parent.kill()


def told_to_stop(parent: subprocess.Popen[bytes]) -> None:
    parent.terminate()


def crashed(parent: subprocess.Popen[bytes]) -> None:
    """It ends by `os._exit`: nothing of its own is cleaned up."""
    assert parent.stdin
    parent.stdin.write(b"\n")
    parent.stdin.flush()


@pytest.mark.parametrize(
    "end",
    [
        killed,
        pytest.param(told_to_stop, marks=pytest.mark.long),
        pytest.param(crashed, marks=pytest.mark.long),
    ],
)
def test_children_end_in_the_middle_of_c_code(tmp_path, end):
    with building(tmp_path, IN_C) as parent:
        end(parent)


@pytest.mark.parametrize("end", [killed, pytest.param(crashed, marks=pytest.mark.long)])
def test_where_the_kernel_does_not_tell_a_thread_looks(tmp_path, end):
    with building(tmp_path, IN_PYTHON, WITHOUT_KERNEL) as parent:
        end(parent)


@pytest.mark.parametrize("before", ["", pytest.param(WITHOUT_KERNEL, marks=pytest.mark.long)])
def test_forks_end_with_the_child(tmp_path, before):
    with building(tmp_path, IN_PYTHON, before) as parent:
        (child,) = descendants(parent.pid) - descendants_of_children(parent.pid)
        os.kill(child, signal.SIGKILL)


def descendants_of_children(pid: int) -> set[int]:
    return {each for child in descendants(pid) for each in descendants(child)}


@pytest.mark.parametrize("before", ["", WITHOUT_KERNEL])
def test_who_comes_too_late_to_be_told_ends_at_once(before):
    """The parent was gone before the kernel was asked: another process is the parent by now."""
    script = f"{before}from memtree.jobs.parent_death import end_with; end_with(-1); print('on')"
    ended = subprocess.run([sys.executable, "-c", script], capture_output=True, check=False)
    assert (ended.returncode, ended.stdout) == (-signal.SIGKILL, b"")
