"""The command line and running servers over PostgreSQL, in processes of their own."""

from __future__ import annotations

import json
import re
import signal
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import httpx
import pytest

from memtree.stores import shown_store
from tests.clients.programs.test_cli import QUICK, run
from tests.http.served.running import running as listening
from tests.made.scripted import Say, Scripted
from tests.programs.postgres import Postgres, own_postgres
from tests.programs.server import Server
from tests.programs.server import running as serving
from tests.programs.sessions import coding

pytestmark = [pytest.mark.slow, pytest.mark.long, pytest.mark.clients]

KEY = {"authorization": "Bearer a-person"}
QUESTION = {"role": "user", "content": "Which limit did we set for the invoice, and why?"}


@pytest.fixture(scope="module")
def database() -> Iterator[Postgres]:
    with own_postgres() as server:
        yield server


def address(database: Postgres, schema: str) -> str:
    """With a password, which the server does not ask for and nobody may show."""
    secret = database.url.replace("postgres@", "postgres:s3cret@")
    return f"{secret}?schema={schema}"


def ask(server: Server, history: list[dict[str, Any]]) -> httpx.Response:
    body = {"messages": [*history, QUESTION], "target_tokens": 4000, "mode": "fresh"}
    return server.post("/v1/context_memory", body, **KEY)


def chat(server: Server, history: list[dict[str, Any]]) -> httpx.Response:
    body = {"model": "gpt-4o", "messages": [*history, QUESTION]}
    return server.post("/v1/chat/completions", body, x_polychat_memory="on", **KEY)


def test_every_command(database: Postgres, tmp_path: Path) -> None:
    (tmp_path / "session.json").write_text(json.dumps(coding(30_000)))
    store = ("--store", address(database, "commands"))

    def did(*arguments: str, code: int = 0) -> str:
        done = run(tmp_path, *arguments)
        assert done.returncode == code, done.stdout + done.stderr
        assert "s3cret" not in done.stdout + done.stderr
        return done.stdout

    assert "leaves" in did("index", "session.json", *store, *QUICK)
    assert "validate_receipt" in did("tree", "session.json", *store, *QUICK)
    query = ("--query", "SHOP-105", "--target", "4000")
    assert "memory message" in did("tree", "session.json", *store, *query, *QUICK)
    assert "no problem" in did("check", *store)
    created = did("keys", "create", "a laptop", *store).split()[0]
    assert "a laptop" in did("keys", "list", *store)
    doctor = did("doctor", *store, *QUICK, "--upstream", "none")
    assert shown_store(store[1]) in doctor
    assert "1 key(s)" in doctor
    assert "revoked" in did("keys", "revoke", created, *store)
    assert "nodes" in did("delete", "--all", *store)
    assert did("check", *store).startswith("0 nodes")


@pytest.mark.parametrize(
    ("url", "said"),
    [
        ("postgresql://me:s3cret@host:port/db", "store: the address postgresql:... cannot be read"),
        ("postgresql://me:s3cret@host/db?connections=0", "store: .* connections 1-1000"),
        ("mysql://me:s3cret@host/db", "store: the address mysql:... is not supported"),
        ("postgresql://me:s3cret@127.0.0.1:1/db", "The store .*127.0.0.1:1/db cannot be reached"),
    ],
)
@pytest.mark.parametrize(
    "command", [("check",), ("keys", "list"), ("doctor", "--upstream", "none")]
)
def test_an_address_that_does_not_work(
    tmp_path: Path, command: tuple[str, ...], url: str, said: str
) -> None:
    done = run(
        tmp_path,
        *command,
        "--store",
        url,
        *(("--upstream", "none", *QUICK) if "doctor" in command else ()),
    )
    told = " ".join((done.stdout + done.stderr).split())
    assert done.returncode == 1
    assert re.search(said, told), told
    assert "Traceback" not in told
    assert "s3cret" not in told


def test_servers_share_one_database(database: Postgres, tmp_path: Path) -> None:
    """They begin on an empty one at once, and what one has built the other answers from."""
    url = address(database, "shared")
    flags = ("--upstream", "none", "--store", url, *QUICK)
    histories = [coding(12_000 + 3_000 * n, seed=n) for n in range(4)]
    with (
        serving(tmp_path / "one.db", *flags) as one,
        serving(tmp_path / "two.db", *flags) as two,
        ThreadPoolExecutor(8) as pool,
    ):
        both = [(server, history) for history in histories for server in (one, two)]
        answers = list(pool.map(lambda each: ask(*each), both))
        assert [answer.status_code for answer in answers] == [200] * 8
        for server in (one, two):
            server.settle(KEY)
        whole = [ask(one, history).json() for history in histories]
        assert [ask(two, history).json() for history in histories] == whole
        one.kill()
        assert [ask(two, history).json() for history in histories] == whole
    checked = run(tmp_path, "check", "--store", url)
    assert "no problem" in checked.stdout
    assert "s3cret" not in one.log.read_text() + two.log.read_text()


def test_a_server_outlives_its_database(database: Postgres, tmp_path: Path) -> None:
    """Chats go on at once while it is killed; memory comes back with it."""
    upstream = Scripted()
    url = address(database, "outlived")
    history = coding(12_000)
    with listening(upstream) as above:
        flags = ("--upstream", f"{above}/v1", "--store", url, "--target-tokens", "4000", *QUICK)
        with serving(tmp_path / "proxy.db", *flags) as server:
            first = ask(server, history).json()
            server.settle(KEY)
            upstream.script("a-person", [Say(f"answer {n}") for n in range(3)])
            database.stop(signal.SIGKILL)
            try:
                for n in range(3):
                    down = chat(server, history)
                    assert down.headers["x-memtree-state"] == "degraded:store"
                    assert down.json()["choices"][0]["message"]["content"] == f"answer {n}"
            finally:
                database.start()
            while (again := ask(server, history).json())["memory"]["state"] == "degraded:store":
                time.sleep(0.1)
            assert again["messages"] == first["messages"]
    assert "s3cret" not in server.log.read_text()
    assert "no problem" in run(tmp_path, "check", "--store", url).stdout
