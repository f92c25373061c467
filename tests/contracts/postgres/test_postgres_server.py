"""The server of the tests themselves."""

from __future__ import annotations

import subprocess
import sys
import time
from pathlib import Path

import psycopg
import pytest

from tests.programs import postgres

ROOT = Path(__file__).parents[3]
KILLED = """
import os, signal, sys
sys.path.insert(0, sys.argv[1])
from tests.programs.postgres import launched
server = launched()
print(server.url, server.data, flush=True)
os.kill(os.getpid(), signal.SIGKILL)
"""


@pytest.mark.long
def test_a_killed_test_run_leaves_no_server():
    done = subprocess.run(
        [sys.executable, "-c", KILLED, str(ROOT)], stdout=subprocess.PIPE, text=True, check=False
    )
    url, data = done.stdout.split()
    end = time.monotonic() + 60
    while Path(data).exists() and time.monotonic() < end:
        time.sleep(0.05)
    assert not Path(data).parent.exists()
    with pytest.raises(psycopg.OperationalError, match="refused"):
        psycopg.connect(url)


@pytest.mark.parametrize(
    ("variables", "outcome"), [({}, pytest.skip.Exception), ({"CI": "true"}, pytest.fail.Exception)]
)
def test_a_machine_without_a_server(monkeypatch, variables, outcome):
    """Is no reason to be silent."""
    monkeypatch.setattr(postgres.importlib.util, "find_spec", lambda name: None)
    monkeypatch.setattr(postgres.shutil, "which", lambda name: None)
    monkeypatch.setattr(postgres, "DEBIAN", Path("/nowhere"))
    monkeypatch.setattr(postgres.os, "environ", variables)
    with pytest.raises(outcome, match="there is no PostgreSQL"):
        postgres.launched()


def lent(folder: Path) -> psycopg.Connection:
    """A connection into a schema of `ready_url`, past every store."""
    url = postgres.ready_url(folder).partition("?")[0]
    path = f"-csearch_path={postgres.schema_of(folder)}"
    return psycopg.connect(url, autocommit=True, options=path)


def number_of(db: psycopg.Connection, table: str = "tenants") -> object:
    found = db.execute("SELECT to_regclass(%s)::oid", (table,)).fetchone()
    return found and found[0]


ADD = "INSERT INTO tenants (name) VALUES ('a') RETURNING number"


def test_the_next_test_finds_no_row_in_a_schema_that_it_is_lent(tmp_path):
    with lent(tmp_path) as db:
        before = number_of(db)
        for table in ("tallies", "tenants"):
            assert db.execute(f"SELECT count(*) FROM {table}").fetchone() == (0,)
        assert db.execute(ADD).fetchone() == (1,)
        db.execute("INSERT INTO tallies VALUES ('a', 1, 'n', 1)")
        db.execute("DELETE FROM tallies")
    postgres.drop_schema(tmp_path)
    with lent(tmp_path / "next") as db:
        assert number_of(db) == before
        for table in ("tallies", "tenants"):
            assert db.execute(f"SELECT count(*) FROM {table}").fetchone() == (0,)
        assert db.execute(ADD).fetchone() == (1,)
    postgres.drop_schema(tmp_path / "next")


CHANGES = (
    "UPDATE schema_version SET version = version + 1",
    "ALTER TABLE tallies DROP COLUMN amount",
)
MORE_CHANGES = (
    "DROP TABLE tallies",
    "DROP TABLE schema_version",
    "DROP INDEX expiring_epochs",
    "CREATE TABLE another (number integer)",
    "ALTER TABLE tallies ALTER COLUMN amount DROP NOT NULL",
    "GRANT SELECT ON tallies TO PUBLIC",
)


@pytest.mark.parametrize(
    "change", [*CHANGES, *(pytest.param(more, marks=pytest.mark.long) for more in MORE_CHANGES)]
)
def test_a_schema_that_is_not_as_it_was_is_lent_to_nobody(tmp_path, change):
    with lent(tmp_path) as db:
        before = number_of(db)
        db.execute(change)
    postgres.drop_schema(tmp_path)
    with lent(tmp_path / "next") as db:
        assert number_of(db) not in (None, before)
        assert db.execute("SELECT count(*) FROM tallies").fetchone() == (0,)
    postgres.erase_schema(tmp_path / "next")
    with lent(tmp_path) as db:
        assert number_of(db) is not None
    postgres.drop_schema(tmp_path)
