"""Check how a server begins, listens, and is found by others."""

from __future__ import annotations

import asyncio
import errno
import os
import resource
import socket
import stat
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from memtree.config import Settings
from memtree.errors import BadRequest, StoreUnavailable
from memtree.jobs.embedding import OpenedEmbedder
from memtree.jobs.runtime import Runtime
from memtree_proxy.http.auth import LocalUser
from memtree_proxy.http.request_body import WRAP_RUN
from memtree_proxy.server import serve
from memtree_proxy.server.listener import accept_backlog, bound, listen, refusal
from memtree_proxy.server.state_file import known_servers, state_file
from memtree_proxy.server.wrapped_runs import Leases, WrappedPaths
from memtree_proxy.upstream.upstreams import WrappedPath
from tests.http.served.running import PATIENCE

# ------------------------------------------------------------------------------------------------
# Sockets that are bound first: what is refused, and in which words.


def refused(host: str, port: int) -> BadRequest:
    with pytest.raises(BadRequest) as caught, bound(host, port) as sockets:
        listen(sockets, host)
    return caught.value


@contextmanager
def no_file_may_be_opened() -> Iterator[None]:
    limits = resource.getrlimit(resource.RLIMIT_NOFILE)
    lowest = os.dup(0)  # all below are taken
    os.close(lowest)
    resource.setrlimit(resource.RLIMIT_NOFILE, (lowest, limits[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, limits)


def test_a_free_port_takes_connections_once_it_listens():
    with bound("127.0.0.1", 0) as sockets:
        address = sockets[0].getsockname()
        with pytest.raises(ConnectionRefusedError):
            socket.create_connection(address, timeout=300)
        assert listen(sockets, "127.0.0.1") == address[1]
        socket.create_connection(address, timeout=300).close()
    with pytest.raises(ConnectionRefusedError):
        socket.create_connection(address, timeout=300)


def test_connections_that_wait_are_accepted_and_no_others():
    with bound("127.0.0.1", 0) as sockets, ExitStack() as stack:
        listen(sockets, "127.0.0.1")
        assert accept_backlog(sockets) == []
        address = sockets[0].getsockname()
        made = [stack.enter_context(socket.create_connection(address)) for _ in range(3)]
        found = [stack.enter_context(one) for one in accept_backlog(sockets)]
        assert [one.getpeername() for one in found] == [one.getsockname() for one in made]
        assert not any(one.getblocking() for one in found)
        assert accept_backlog(sockets) == []


def test_where_too_many_files_are_open_no_connection_is_accepted():
    with bound("127.0.0.1", 0) as sockets, ExitStack() as stack:
        listen(sockets, "127.0.0.1")
        stack.enter_context(socket.create_connection(sockets[0].getsockname()))
        with no_file_may_be_opened():
            assert accept_backlog(sockets) == []
        assert len([stack.enter_context(one) for one in accept_backlog(sockets)]) == 1


def test_a_name_with_several_addresses():
    with bound("localhost", 0) as sockets:
        families = {one.family for one in sockets}
        assert socket.AF_INET in families
        assert len(families) == len(sockets)


def test_a_port_that_is_taken():
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        error = refused("127.0.0.1", port)
    assert f"127.0.0.1:{port}" in error.message
    assert "in use" in error.message
    assert "--port" in error.message


def test_a_port_that_is_taken_between_bind_and_listen():
    with bound("127.0.0.1", 0) as first:
        port = first[0].getsockname()[1]
        with bound("127.0.0.1", port) as second:
            listen(first, "127.0.0.1")
            with pytest.raises(BadRequest, match="in use"):
                listen(second, "127.0.0.1")


@pytest.mark.parametrize(
    ("host", "port", "param", "text"),
    [("127.0.0.1", 99_999, "port", "65535"), ("127.0.0.1", -1, "port", "65535"),
     ("203.0.113.9", 0, "port", "--host"), ("nowhere.invalid", 0, "host", "leads nowhere"),
     ("a" * 300, 0, "host", "leads nowhere")],
)  # fmt: skip
def test_what_cannot_be_listened_on(host: str, port: int, param: str, text: str):
    error = refused(host, port)
    assert error.param == param
    assert text in error.message


def test_words_for_a_port_that_needs_rights_and_for_anything_else():
    assert "above 1023" in refusal("::", 80, PermissionError(errno.EACCES, "x")).message
    assert "[::]:80" in refusal("::", 80, PermissionError(errno.EACCES, "x")).message
    assert "Too many" in refusal("a", 80, OSError(errno.EMFILE, "Too many open files")).message


# ------------------------------------------------------------------------------------------------
# Check what a server says of its store when it begins.


class SlowStore:
    """A store that takes longer to open than a server of databases is waited for."""

    def __init__(self, error: Exception | None = None) -> None:
        self.error, self.answered = error, False

    async def has_keys(self) -> bool:
        for _ in range(5):
            await asyncio.sleep(0)
        self.answered = True
        if self.error:
            raise self.error
        return False


def runtime(store: Any) -> Runtime:
    return cast(
        "Runtime",
        SimpleNamespace(store=store, embedder=None, opened=OpenedEmbedder(None, None), shared=None),
    )


async def test_a_file_that_opens_slowly_is_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(serve, "STORE_SECONDS", 0)
    store = SlowStore()
    assert not await serve.store_is_away(runtime(store), Settings(store="sqlite:///m.db"))
    assert store.answered


async def test_a_server_that_does_not_answer_may_come_later(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    settings = Settings(store="postgresql://db/memtree")
    assert not await serve.store_is_away(runtime(SlowStore()), settings)
    refused = runtime(SlowStore(StoreUnavailable("away")))
    assert await serve.store_is_away(refused, settings)
    monkeypatch.setattr(serve, "STORE_SECONDS", 0)
    assert await serve.store_is_away(runtime(SlowStore()), settings)


@pytest.mark.parametrize("away", [False, True])
def test_the_banner_says_so(away: bool, capsys: pytest.CaptureFixture[str]) -> None:
    serve.announce(Settings(store="sqlite:///m.db"), runtime(SlowStore()), 8787, away)
    assert ("chats go on without memory" in capsys.readouterr().err) is away


# ------------------------------------------------------------------------------------------------
# State files: private, removed at the end, and never another server's.


def settings(folder: Path, host: str = "127.0.0.1") -> Settings:
    return Settings(home=str(folder), host=host)


def test_only_its_owner_reads_it_and_it_is_gone_at_the_end(tmp_path: Path) -> None:
    home = tmp_path / "home"
    with state_file(settings(home), 8787, "hidden"):
        (path,) = (home / "servers").iterdir()
        assert stat.S_IMODE(path.stat().st_mode) == 0o600
        assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700
        (state,) = known_servers(home)
        assert (state.pid, state.port, state.secret) == (os.getpid(), 8787, "hidden")
        assert "hidden" not in repr(state)
    assert known_servers(home) == []
    assert list((home / "servers").iterdir()) == []


@pytest.mark.parametrize(("host", "url"), [
    ("127.0.0.1", "http://127.0.0.1:8787"), ("0.0.0.0", "http://127.0.0.1:8787"),
    ("::", "http://[::1]:8787"), ("localhost", "http://localhost:8787"),
])  # fmt: skip
def test_the_address_is_one_that_this_machine_reaches(tmp_path: Path, host: str, url: str) -> None:
    with state_file(settings(tmp_path, host), 8787, "s"):
        assert [state.url for state in known_servers(tmp_path)] == [url]


def test_a_file_that_another_wrote_meanwhile_stays(tmp_path: Path) -> None:
    with state_file(settings(tmp_path), 1, "first"):
        # Two containers that share the folder: both are number 1.
        (path,) = (tmp_path / "servers").iterdir()
        path.write_text(path.read_text().replace("first", "second"))
    assert [state.secret for state in known_servers(tmp_path)] == ["second"]


def test_what_a_killed_server_left_goes_when_the_next_begins(tmp_path: Path) -> None:
    ended = subprocess.Popen([sys.executable, "-c", ""])
    ended.wait()
    with state_file(settings(tmp_path), 1, "s"):
        (own,) = (tmp_path / "servers").iterdir()
        left = own.with_name(f"{ended.pid}.json")
        left.write_text(own.read_text().replace(f":{os.getpid()},", f":{ended.pid},"))
        living = own.with_name(f"{os.getppid()}.json")
        living.write_text(own.read_text().replace(f":{os.getpid()},", f":{os.getppid()},"))
        assert len(known_servers(tmp_path)) == 3
        with state_file(settings(tmp_path), 2, "t"):
            assert not left.exists()
            assert living.exists()


@pytest.mark.parametrize("content", [b"", b"{", b"[]", b'{"pid": "1"}', b"\xff", b"1" * 20_000])
def test_what_is_no_state_is_passed_over(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "servers").mkdir()
    (tmp_path / "servers" / "7.json").write_bytes(content)
    assert known_servers(tmp_path) == []
    with state_file(settings(tmp_path), 1, "s"):
        assert len(known_servers(tmp_path)) == 1


def test_a_folder_that_cannot_be_written_keeps_nobody_from_serving(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    (tmp_path / "home").write_text("a file")
    with state_file(settings(tmp_path / "home"), 1, "hidden"):
        pass
    assert "state_file.not_written" in caplog.text
    assert "hidden" not in caplog.text
    assert known_servers(None) == []


# ------------------------------------------------------------------------------------------------
# A request under a wrapped path becomes a plain one, and no shape of it shows the token behind.


TOKEN = "t" * 43


class OneRun:
    """Knows one token."""

    def path(self, token: str) -> WrappedPath | None:
        upstreams = "https://a.example/v1", "auto"
        return WrappedPath.of("0a1b", Settings(), *upstreams) if token == TOKEN else None


async def behind(path: str, raw: str | None = None, query: str = "") -> dict[str, Any]:
    """Return what the app behind sees."""
    seen: list[dict[str, Any]] = []

    async def app(scope: Any, receive: Any, send: Any) -> None:
        seen.append(dict(scope))

    raw_path = (raw or path).encode()
    scope = {"type": "http", "path": path, "raw_path": raw_path, "query_string": query.encode()}
    await WrappedPaths(app, cast(Leases, OneRun()))(scope, cast(Any, None), cast(Any, None))
    return seen[0]


@pytest.mark.parametrize(
    ("path", "raw", "plain"),
    [
        (f"/w/{TOKEN}/v1/chat/completions", None, "/v1/chat/completions"),
        (f"/w/{TOKEN}/", None, "/"),
        (f"/w/{TOKEN}/a b", f"/w/{TOKEN}/a%20b", "/a b"),
    ],
)
async def test_a_path_becomes_plain(path: str, raw: str | None, plain: str) -> None:
    scope = await behind(path, raw, "x=1")
    assert (scope["path"], scope["query_string"]) == (plain, b"x=1")
    assert scope["raw_path"] == plain.replace(" ", "%20").encode()
    assert scope["state"] == {WRAP_RUN: "0a1b"}


@pytest.mark.parametrize(
    ("path", "raw", "query"),
    [
        (f"/w/{TOKEN}", None, ""),
        ("/w/bad/v1/models", None, ""),
        (f"/w/{'u' * 43}/v1/models", None, ""),
        (f"/w/{TOKEN}/v1", f"/%77/{TOKEN}/v1", ""),
        (f"/w/{TOKEN}/v1", f"/w/%74{TOKEN[1:]}/v1", ""),
        (f"/w/{TOKEN}/w/{TOKEN}/v1", None, ""),
        (f"/w/{TOKEN}//w/{TOKEN}", None, ""),
        (f"/w/{TOKEN}/v1", None, f"back=/w/{TOKEN}/v1"),
        (f"/v1/w/{TOKEN}/x", None, ""),
        (f"//w/{TOKEN}/x", None, ""),
    ],
)
async def test_what_is_no_such_path_shows_nothing(path: str, raw: str | None, query: str) -> None:
    scope = await behind(path, raw, query)
    assert scope["path"].startswith("/w/-")
    assert TOKEN not in repr(scope)
    assert WRAP_RUN not in scope.get("state", {})


@pytest.mark.parametrize("path", ["/v1/w/files", "/v1/chat/completions", "/w", "/ui/w/x"])
async def test_other_paths_stay(path: str) -> None:
    assert (await behind(path, query="a=b"))["path"] == path


def test_a_route_at_the_end_of_an_upstream_is_left_out():
    given = ("http://llm.example.com/v1/chat/completions", "http://llm.example.com/v1/messages/")
    path = WrappedPath.of("0a1b", Settings(), *given)
    assert path.settings.upstream == path.settings.anthropic_upstream == "http://llm.example.com/v1"


# ------------------------------------------------------------------------------------------------
# When a server for `memtree wrap` counts as unused.


async def test_who_looks_for_the_server_finds_it_there_for_a_while() -> None:
    leases = Leases(Settings(), LocalUser("secret"))
    await asyncio.wait_for(leases.unused(0.01), PATIENCE)
    seen = [leases.in_use]
    leases.touch()
    seen.append(leases.in_use)
    assert seen == [False, True]  # so the server does not end now
    waiting = asyncio.create_task(leases.unused(3600))
    await asyncio.sleep(0)
    leases.touch()
    await asyncio.sleep(0.02)
    assert not waiting.done()
    waiting.cancel()
    await asyncio.gather(waiting, return_exceptions=True)
