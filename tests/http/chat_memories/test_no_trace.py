"""A request that is refused leaves nothing behind: the rows of the store, before and after."""

from __future__ import annotations

import contextlib
import hashlib
import json
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from tests.http.served.encoders import encoded
from tests.http.served.fakes import dumps
from tests.http.served.running import PATIENCE
from tests.http.served.sockets import HOST, talk
from tests.programs.server import Server

MAX_BODY = 200_000
FLAGS = (
    "--embedder=none", "--upstream=none", "--max-header-bytes=8000",
    f"--max-body-bytes={MAX_BODY}", "--max-messages=200", "--requests-per-minute=3",
)  # fmt: skip

pytestmark = pytest.mark.slow


def history(count: int = 120, **last) -> list[dict]:
    """Long enough to be indexed."""
    said = [
        {"role": ("user", "assistant")[at % 2], "content": f"line {at} of the talk. " * 60}
        for at in range(count)
    ]
    return [*said, {"role": "user", "content": "and now?", **last}]


def rows(path: Path) -> dict[str, list[str]]:
    """Hashes of each table's rows; but for tallies and the log, which count every request, refused
    ones too, and are written some seconds later, and for the numbers of tenants in that."""
    found = {}
    with contextlib.closing(sqlite3.connect(f"file:{path}?mode=ro", uri=True)) as base:
        tables = base.execute("select name from sqlite_master where type = 'table'").fetchall()
        for (name,) in tables:
            if name in ("tallies", "requests", "tenants"):
                continue
            shown = (repr(row).encode() for row in base.execute(f'select * from "{name}"'))
            found[name] = sorted(hashlib.sha256(row).hexdigest() for row in shown)
    return found


class Edge:
    """A server with something in its store, and what stands in that."""

    def __init__(self, server: Server, path: Path) -> None:
        self.server, self.path = server, path

    @contextlib.contextmanager
    def untouched(self) -> Iterator[None]:
        before = rows(self.path)
        yield
        assert rows(self.path) == before
        assert len(before) > 3

    def post(self, path: str, raw: bytes, tenant: str, **headers: str) -> httpx.Response:
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        return httpx.post(
            self.server.url + path, content=raw, headers={"x-api-key": tenant, **named},
            timeout=PATIENCE, trust_env=False,
        )  # fmt: skip


@pytest.fixture(scope="module")
def edge(tmp_path_factory) -> Iterator[Edge]:
    path = tmp_path_factory.mktemp("store") / "m.db"
    server = Server(path, *FLAGS)
    try:
        one = Edge(server, path)
        # One that wants no answer waits for its tree as long as it takes.
        answer = one.post("/context_memory", body(index_only=True), "seed")
        assert answer.status_code == 202
        assert answer.json()["memory"]["indexed_tokens"] > 0
        yield one
    finally:
        server.stop()


@pytest.fixture(scope="module")
def hasty(tmp_path_factory) -> Iterator[Edge]:
    """A server that waits a second for the rest of a body. Bodies that shall be read are posted to
    the other one: a busy machine may take longer to send them."""
    path = tmp_path_factory.mktemp("hasty") / "m.db"
    server = Server(path, *FLAGS, "--upload-seconds=1")
    try:
        yield Edge(server, path)
    finally:
        server.stop()


def refused(answer: httpx.Response, status: int, code: str) -> dict:
    assert answer.status_code == status, answer.text[:300]
    error = answer.json()["error"]
    assert error["code"] == code
    assert len(error["message"]) < 400
    return error


def body(**fields) -> bytes:
    return dumps({"messages": history(), **fields})


def with_last(raw: str) -> bytes:
    """The history with one more message, which is this JSON."""
    return body()[:-2] + b", " + raw.encode("utf-8", "surrogatepass") + b"]}"


def nested(depth: int) -> str:
    return "[" * depth + "]" * depth


def with_field(raw: str) -> bytes:
    return body()[:-1] + b", " + raw.encode() + b"}"


LAST = "messages[121]"
MANY = dumps({"messages": [{"role": "user", "content": "x"}] * 201})
# How the request is wrong: its body, and the beginning of the `param` of the error.
WRONG = {
    "nothing": (b"", ""),
    "no json": (b"hello", ""),
    "half": (body()[:-1], ""),
    "array": (b"[]", ""),
    "deep messages": (b'{"messages": %s}' % nested(90_000).encode(), ""),
    "deep unknown field": (with_field(f'"x": {nested(10_000)}'), ""),
    "deeper content": (with_last(f'{{"role":"user","content":{nested(5_000)}}}'), ""),
    "twice": (with_field('"messages": []'), "messages"),
    "huge number": (with_field('"target_tokens": 1e999'), "target_tokens"),
    "huge whole number": (with_field(f'"target_tokens": {"9" * 10_000}'), "target_tokens"),
    "not a number": (with_field('"target_tokens": NaN'), ""),
    "wrong type": (body(index_only="yes please"), "index_only"),
    "wrong days": (body(expiration_days=[1]), "expiration_days"),
    "unknown mode": (body(mode="quick"), "mode"),
    "no messages": (dumps({"messages": []}), "messages"),
    "messages a string": (dumps({"messages": "hi"}), "messages"),
    "too many messages": (MANY, "messages"),
    "broken utf-8": (body().replace(b"and now?", b"and \xff now?"), "messages[120]"),
}


@pytest.mark.parametrize("kind", WRONG)
def test_a_400(kind: str, edge: Edge):
    """At one of the routes, in turns: they read bodies alike."""
    raw, place = WRONG[kind]
    path = ("/context_memory", "/v1/context_memory/tree")[list(WRONG).index(kind) % 2]
    with edge.untouched():
        error = refused(edge.post(path, raw, f"{kind} {path}"), 400, "invalid_request")
    assert (error["param"] or "").startswith(place)


@pytest.mark.parametrize("kind", ["deeper content", "broken utf-8"])
def test_a_400_after_what_is_known(kind: str, edge: Edge):
    """A tenant whose history is indexed, and who goes on with something that cannot be read."""
    with edge.untouched():
        refused(edge.post("/context_memory", WRONG[kind][0], "seed"), 400, "invalid_request")


@pytest.mark.parametrize(
    "raw",
    [b"", b"{}", b'{"all": "yes"}', b'{"all": true, "address": "00"}', b'{"address": "zz"}',
     MANY],
)  # fmt: skip
def test_a_400_of_a_deletion(raw: bytes, edge: Edge):
    with edge.untouched():
        tenant = hashlib.sha256(raw).hexdigest()
        refused(edge.post("/context_memory/delete", raw, tenant), 400, "invalid_request")


@pytest.mark.long
def test_a_401(tmp_path: Path):
    path = tmp_path / "keyed.db"
    make = [
        sys.executable,
        "-m",
        "memtree_proxy.cli",
        "keys",
        "create",
        "me",
        "--store",
        f"sqlite:///{path}",
    ]
    subprocess.run(make, check=True, capture_output=True, timeout=PATIENCE)
    server = Server(path, *FLAGS)
    try:
        one = Edge(server, path)
        with one.untouched():
            refused(one.post("/context_memory", body(), "wrong"), 401, "invalid_api_key")
    finally:
        server.stop()


@pytest.mark.parametrize(
    "path", ["/context_memory", pytest.param("/context_memory/tree", marks=pytest.mark.long)]
)
def test_a_408(path: str, hasty: Edge):
    raw = body()
    head = b"POST " + path.encode() + b" HTTP/1.1\r\n" + HOST + b"x-api-key: 408\r\n"
    with hasty.untouched():
        answer, closed = talk(
            hasty.server.url, head + b"Content-Length: %d\r\n\r\n" % len(raw) + raw[:-1]
        )
    assert answer.startswith(b"HTTP/1.1 408")
    assert closed


@pytest.mark.parametrize(
    ("path", "encoding"), [("/context_memory", "gzip"), ("/context_memory/tree", "identity")]
)
def test_a_413(path: str, encoding: str, edge: Edge):
    raw = encoded(body() + b" " * MAX_BODY, encoding)
    with edge.untouched():
        answer = edge.post(path, raw, f"413 {path}", content_encoding=encoding)
        refused(answer, 413, "request_too_large")


def test_a_415(edge: Edge):
    with edge.untouched():
        answer = edge.post("/context_memory", body(), "415", content_encoding="br")
        refused(answer, 415, "unsupported_media_type")


def test_a_429(edge: Edge):
    """Three requests a minute are allowed; who takes twenty seconds for them is given one more."""
    raw = body()
    while True:
        for _ in range(3):
            assert edge.post("/context_memory", b"{}", "429").status_code in (400, 429)
        before = rows(edge.path)
        answer = edge.post("/context_memory", raw, "429")
        if answer.status_code != 200:
            break
    refused(answer, 429, "rate_limit_exceeded")
    assert rows(edge.path) == before
    assert 0 < int(answer.headers["retry-after"]) <= 20


def test_a_431(edge: Edge):
    raw = body()
    head = b"POST /context_memory HTTP/1.1\r\n" + HOST + b"x-api-key: " + b"k" * 8_000 + b"\r\n"
    with edge.untouched():
        answer, _ = talk(edge.server.url, head + b"Content-Length: %d\r\n\r\n" % len(raw) + raw)
    assert answer.startswith(b"HTTP/1.1 431")
    assert json.loads(answer.partition(b"\r\n\r\n")[2])["error"]["code"] == "headers_too_large"


def test_what_is_not_refused_does_leave_a_trace(edge: Edge):
    """Else all the tests above could not fail."""
    before = rows(edge.path)
    posted = {"messages": history(130), "index_only": True}
    answer = edge.post("/context_memory", dumps(posted), "other")
    assert answer.status_code == 202
    assert rows(edge.path) != before
