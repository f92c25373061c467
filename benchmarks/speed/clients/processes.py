"""The processes of a measurement: started on free ports, watched from /proc, ended by their id."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from benchmarks.processes.server import free_port
from benchmarks.speed.clients.connection import Connection
from tests.programs.processes import descendants

ROOT = Path(__file__).parents[3]
PATIENCE = 120.0
TICK = os.sysconf("SC_CLK_TCK")


@dataclass(frozen=True, slots=True)
class Program:
    """A server that runs. `started`: seconds until its first answer."""

    name: str
    port: int
    process: subprocess.Popen[bytes]
    started: float = 0.0

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def cpu(self) -> float:
        """Seconds of processor time so far, of this process and its children."""
        return sum(map(cpu_of, (self.process.pid, *descendants(self.process.pid))))

    def own_cpu(self) -> float:
        """Return the CPU time of this process alone, to the nanosecond; threads that ended are left
        out."""
        return own_cpu_of(self.process.pid)

    def resident(self) -> float:
        """MiB of this process and its children."""
        pids = (self.process.pid, *descendants(self.process.pid))
        return sum(memory_of(pid, "VmRSS") for pid in pids)

    def peak(self) -> float:
        """The largest resident size of this process so far, in MiB."""
        return memory_of(self.process.pid, "VmHWM")


def cpu_of(pid: int) -> float:
    """Seconds, with those of children that have ended."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return 0.0
    return sum(map(int, fields[11:15])) / TICK


def own_cpu_of(pid: int) -> float:
    total = 0
    for path in Path(f"/proc/{pid}/task").glob("*/schedstat"):
        try:
            total += int(path.read_text().split()[0])
        except OSError:  # a thread that has just ended
            continue
    return total / 1e9


def memory_of(pid: int, field: str) -> float:
    """MiB, from /proc; 0 where the process has ended."""
    try:
        lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    except OSError:
        return 0.0
    return sum(int(line.split()[1]) for line in lines if line.startswith(f"{field}:")) / 1024


@contextmanager
def started(
    name: str,
    command: Sequence[str],
    port: int,
    *,
    path: str = "/health",
    variables: Mapping[str, str] | None = None,
    folder: Path = ROOT,
) -> Iterator[Program]:
    """Until it answers, whatever it answers, to a GET of `path`."""
    env = {key: value for key, value in os.environ.items() if not key.startswith("MEMTREE_")}
    env.pop("PYTHONDONTWRITEBYTECODE", None)
    env |= variables or {}
    with tempfile.TemporaryFile() as log:
        began = time.perf_counter()
        process = subprocess.Popen(
            command, cwd=folder, env=env, stdout=log, stderr=log, stdin=subprocess.DEVNULL
        )
        try:
            _wait(name, process, port, path, log)
            yield Program(name, port, process, time.perf_counter() - began)
        finally:
            if process.poll() is None:
                process.terminate()
            try:
                process.wait(30)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()


def _wait(name: str, process: subprocess.Popen[bytes], port: int, path: str, log: object) -> None:
    end = time.monotonic() + PATIENCE
    while time.monotonic() < end and process.poll() is None:
        try:
            Connection(port).get(path)
            return
        except OSError:
            time.sleep(0.01)
    log.seek(0)  # type: ignore[attr-defined]
    told = log.read()[-2_000:].decode(errors="replace")  # type: ignore[attr-defined]
    raise SystemExit(f"benchmarks: {name} does not answer:\n{told}")


@contextmanager
def app(
    name: str,
    module: str = "benchmarks.speed.clients.apps",
    variables: Mapping[str, str] | None = None,
) -> Iterator[Program]:
    """An ASGI app under uvicorn as `memtree serve` runs it: httptools, uvloop, no log."""
    port = free_port()
    command = [sys.executable, "-m", "uvicorn", f"{module}:{name}", "--port", str(port)]
    quiet = ["--log-level", "error", "--no-access-log", "--http", "httptools", "--ws", "none"]
    command += [*quiet, "--lifespan", "off"]
    with started(name, command, port, variables=variables) as program:
        yield program


@contextmanager
def memtree(
    upstream: Program, *flags: str, name: str = "memtree", python: str = sys.executable
) -> Iterator[Program]:
    """`memtree serve` of this interpreter's MemTree, or of another one's."""
    with tempfile.TemporaryDirectory(prefix="memtree-bench-") as folder:
        port = free_port()
        command = [python, "-m", "memtree_proxy.cli", "serve", "--port", str(port)]
        command += [
            "--upstream",
            f"{upstream.url}/v1",
            "--anthropic-upstream",
            f"{upstream.url}/v1",
        ]
        command += ["--store", f"sqlite:///{folder}/speed.db", "--log-level", "warning", *flags]
        with started(name, command, port, folder=Path(folder)) as program:
            yield program
