"""A page of another site, opened in the browser of somebody who runs MemTree: it can store nothing
and read nothing, whether it comes from its own origin or has its name point at this machine.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING, Any

import pytest

from tests.browser.chromium import BrowserThread
from tests.browser.watched_context import PATIENCE
from tests.programs.server import Server, running

if TYPE_CHECKING:
    from playwright.sync_api import Page

pytestmark = [pytest.mark.browser, pytest.mark.slow, pytest.mark.long]

SECRET = "A secret of the user."
READ = """async ([base, path]) => {
  const get = async (options) => {
    try {
      const answer = await fetch(base + path, options);
      return { type: answer.type, status: answer.status, text: await answer.text() };
    } catch (error) {
      return { type: "refused" };
    }
  };
  const load = (tag, attribute) => new Promise((resolve) => {
    const element = document.createElement(tag);
    element.onload = () => resolve("loaded");
    element.onerror = () => resolve("refused");
    element[attribute] = base + path;
    document.head.append(element);
  });
  const listen = () => new Promise((resolve) => {
    const source = new EventSource(base + path);
    source.onopen = () => resolve("open");
    source.onmessage = () => resolve("message");
    source.onerror = () => { source.close(); resolve("refused"); };
  });
  const frame = () => new Promise((resolve) => {
    const element = document.createElement("iframe");
    element.onload = () => {
      try { resolve(element.contentDocument ? element.contentDocument.body.innerText : null); }
      catch { resolve(null); }
    };
    element.src = base + path;
    document.body.append(element);
  });
  return {
    cors: await get({}), opaque: await get({ mode: "no-cors" }),
    image: await load("img", "src"), script: await load("script", "src"),
    events: await listen(), frame: await frame(),
  };
}"""
WRITE = """async ([base, path, body, type]) => {
  const results = [];
  for (const mode of ["cors", "no-cors"]) {
    try {
      const headers = type ? { "content-type": type } : {};
      const answer = await fetch(base + path, { method: "POST", mode, headers, body });
      results.push([answer.type, answer.status]);
    } catch { results.push(["refused", 0]); }
  }
  navigator.sendBeacon(base + path, new Blob([body], type ? { type } : {}));
  return results;
}"""
FORM = """([base, path]) => {
  const form = document.createElement("form");
  form.method = "POST";
  form.enctype = "text/plain";
  form.action = base + path;
  const field = document.createElement("input");
  field.name = '{"text": "planted by a form", "x": "';
  field.value = '"}';
  form.append(field);
  document.body.append(form);
  form.submit();
}"""


class EvilPage(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        self.send_response(200)
        self.send_header("content-type", "text/html")
        self.end_headers()
        self.wfile.write(b"<!doctype html><title>evil</title><link rel=icon href=data:,>")

    def log_message(self, format: str, *args: Any) -> None:
        """Says nothing."""


@pytest.fixture(scope="module")
def evil_port() -> Iterator[int]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), EvilPage)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield server.server_address[1]
    server.shutdown()
    thread.join()
    server.server_close()


@pytest.fixture(scope="module")
def victim(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """A server that asks nobody for a key, so that the page of anybody might reach it."""
    store = tmp_path_factory.mktemp("victim") / "memories.db"
    with running(store, "--upstream", "none", "--embedder", "none") as server:
        answer = server.post("/v1/memories", {"text": SECRET})
        assert answer.status_code == 201
        yield server


@pytest.fixture
def evil_page(browser_thread: BrowserThread, evil_port: int) -> Iterator[Callable[[str], Page]]:
    """Open the foreign page under a host name that leads to this machine."""
    contexts: list[Any] = []

    def open_(host: str) -> Page:
        browser = browser_thread.browser
        context = browser.new_context()
        context.set_default_timeout(PATIENCE)
        contexts.append(context)
        page = context.new_page()
        page.goto(f"http://{host}:{evil_port}/")
        return page

    yield open_
    browser_thread.run(lambda: [context.close() for context in contexts])


def stored(server: Server) -> list[str]:
    return [one["text"] for one in server.get("/v1/memories").json()["memories"]]


def statuses(server: Server, since: int, path: str) -> list[int]:
    """Return the statuses of requests for this path in the server's log after its first `since`
    characters."""

    def lines(of: str) -> list[str]:
        log = server.log.read_text()[since:].splitlines()
        return [line for line in log if f" route={of} " in line]

    before = len(lines("/health"))
    server.get("/health")
    while len(lines("/health")) == before:  # it is written with those before it, a moment later
        time.sleep(0.02)
    return [int(line.split(" status=")[1].split()[0]) for line in lines(path)]


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost"])
def test_a_foreign_page_reads_nothing(host: str, evil_page: Callable[[str], Page], victim: Server):
    page = evil_page(host)
    since = len(victim.log.read_text())
    for path in ("/v1/memories", "/v1/memories/events", "/ui/static/shell/key.js", "/ui"):
        seen = page.evaluate(READ, [victim.url, path])
        assert seen["cors"] == {"type": "refused"}, path
        assert seen["opaque"] in (
            {"type": "refused"}, {"type": "opaque", "status": 0, "text": ""},
        ), path  # fmt: skip
        assert (seen["image"], seen["script"], seen["events"]) == ("refused",) * 3, path
        assert not seen["frame"], path
        answered = statuses(victim, since, path)
        assert answered or path.startswith("/ui")
        assert all(400 <= status < 500 for status in answered), path


def test_a_foreign_page_writes_nothing(evil_page: Callable[[str], Page], victim: Server):
    page = evil_page("127.0.0.1")
    since = len(victim.log.read_text())
    body = '{"text": "planted by a fetch"}'
    for kind in ("text/plain", "application/json", "application/x-www-form-urlencoded", ""):
        for answer in page.evaluate(WRITE, [victim.url, "/v1/memories", body, kind]):
            assert answer in (["refused", 0], ["opaque", 0])
    page.evaluate(FORM, [victim.url, "/v1/memories"])
    page.wait_for_url(victim.url + "/**")
    assert "planted" not in page.content()
    answered = statuses(victim, since, "/v1/memories")
    assert len(answered) >= 6
    assert all(400 <= status < 500 for status in answered), answered
    assert stored(victim) == [SECRET]


def test_a_name_that_is_made_to_point_here_gets_nothing(
    evil_page: Callable[[str], Page], victim: Server
):
    """DNS rebinding: to the browser the foreign page and the server are one origin."""
    page = evil_page("localhost")
    home = f"http://rebound.example:{victim.port}"
    refusal = page.goto(f"{home}/v1/memories")  # whose script would now run in this origin
    assert refusal is not None
    assert refusal.status == 421
    for path in ("/v1/memories", "/ui", "/ui/static/shell/key.js"):
        status, text = page.evaluate(
            "async (path) => { const answer = await fetch(path);"
            " return [answer.status, await answer.text()]; }",
            path,
        )
        assert status == 421, path
        assert SECRET not in text
    planted = page.evaluate(
        """async () => (await fetch("/v1/memories", { method: "POST",
          headers: { "content-type": "application/json" },
          body: JSON.stringify({ text: "planted by a name" }) })).status"""
    )
    assert planted == 421
    assert stored(victim) == [SECRET]
