"""Real Chromium on a real `memtree serve` with a scripted upstream; see `chromium.py`.

One browser and one server for all tests of a process; each test has a window, and an API key, and
so a tenant, of its own.
"""

from __future__ import annotations

import inspect
import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.browser.chat.chat_upstream import ChatUpstream
from tests.browser.chromium import MISSING, BrowserThread
from tests.browser.served import NOBODY_ASKED, Chatting, Served, new_key
from tests.browser.watched_context import WatchedContext
from tests.http.served.running import running
from tests.made.scripted import Scripted
from tests.programs.server import Server

if TYPE_CHECKING:
    from playwright.sync_api import Page

_thread: list[BrowserThread] = []


@pytest.hookimpl(tryfirst=True)
def pytest_pyfunc_call(pyfuncitem: pytest.Function) -> bool | None:
    """Run a test of this folder in the thread of the browser."""
    if "browser_thread" not in pyfuncitem.funcargs:
        return None
    names = inspect.signature(pyfuncitem.obj).parameters
    arguments = {name: pyfuncitem.funcargs[name] for name in names}
    _thread[0].run(lambda: pyfuncitem.obj(**arguments))
    return True


@pytest.fixture(scope="session")
def browser_thread() -> Iterator[BrowserThread]:
    try:
        thread = BrowserThread()
    except (FileNotFoundError, ModuleNotFoundError) as error:
        if os.environ.get("CI"):
            pytest.fail(f"{MISSING} ({error})")
        pytest.skip(MISSING)
    _thread.append(thread)
    yield thread
    _thread.clear()
    thread.close()


@pytest.fixture(scope="session")
def shared_upstream() -> Iterator[tuple[Scripted, str]]:
    upstream = Scripted()
    with running(upstream) as url:
        yield upstream, url


@pytest.fixture(scope="session")
def shared_server(
    shared_upstream: tuple[Scripted, str], tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Server]:
    _, url = shared_upstream
    server = Server(tmp_path_factory.mktemp("browser") / "pages.db", *_flags(url))
    yield server
    server.stop()


@pytest.fixture
def served(shared_server: Server, shared_upstream: tuple[Scripted, str]) -> Served:
    return Served(shared_server, shared_upstream[0], new_key())


@pytest.fixture(scope="session")
def chat_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Server, ChatUpstream]]:
    """A server in front of an upstream whose answers a test writes while it looks at the page."""
    with ChatUpstream() as upstream:
        store = tmp_path_factory.mktemp("chats") / "chats.db"
        server = Server(store, "--upstream", upstream.url, "--embedder", "none")
        yield server, upstream
        server.stop()


@pytest.fixture
def chatting(chat_server: tuple[Server, ChatUpstream]) -> Iterator[Chatting]:
    server, upstream = chat_server
    served = Served(server, Scripted(), new_key())
    yield Chatting(served, upstream)
    upstream.forget(served.key)


@pytest.fixture
def serve(shared_upstream: tuple[Scripted, str], tmp_path: Path) -> Iterator[Callable[..., Served]]:
    """Start a server for this test alone, which it may stop, with more flags: `serve("--open")`."""
    upstream, url = shared_upstream
    servers: list[Server] = []

    def start(*flags: str, port: int | None = None, store: str = "own.db") -> Served:
        servers.append(Server(tmp_path / store, *_flags(url), *flags, port=port))
        return Served(servers[-1], upstream, new_key())

    yield start
    for server in servers:
        server.stop()


@pytest.fixture
def windows(browser_thread: BrowserThread) -> Iterator[list[WatchedContext]]:
    """The windows that a test has opened. After the test nothing may have gone wrong in them."""
    opened: list[WatchedContext] = []
    yield opened
    problems = browser_thread.run(lambda: [one for window in opened for one in window.end()])
    assert problems == []


@pytest.fixture
def open_page(
    browser_thread: BrowserThread, served: Served, windows: list[WatchedContext]
) -> Callable[..., Page]:
    """Open a page in a window of its own, or in that of another (`beside`: two tabs).

    `key`: None for the test's own; "" for none; NOBODY_ASKED to have the page ask. `on`: a server
    of `serve`."""

    def open_(
        path: str = "/ui",
        key: str | None = None,
        scheme: str = "light",
        width: int = 1280,
        *,
        height: int = 800,
        on: Served | None = None,
        beside: Page | None = None,
    ) -> Page:
        server = on or served
        used = server.key if key is None else key
        if beside is None:
            context = browser_thread.browser.new_context(
                color_scheme=scheme,
                viewport={"width": width, "height": height},
                locale="en-US",
                timezone_id="UTC",
            )
            windows.append(WatchedContext(context, server.url))
            windows[-1].begin()
            window = windows[-1]
        else:
            window = next(one for one in windows if one.context == beside.context)
        return window.page(path, None if used == NOBODY_ASKED else used)

    return open_


def _flags(upstream: str) -> tuple[str, ...]:
    """Words alone: vectors have tests of their own, and making them takes what Chromium needs."""
    return ("--upstream", f"{upstream}/v1", "--embedder", "none", "--target-tokens", "4000")
