"""Where the key goes, where it does not, and what happens when it is no longer let in; and that
only a tab in sight holds a stream of events.
"""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from tests.browser import pages
from tests.browser.served import Served
from tests.browser.watched_context import PATIENCE, WatchedContext

if TYPE_CHECKING:
    from playwright.sync_api import Page

pytestmark = [pytest.mark.browser, pytest.mark.slow]

ASK = """async (path) => {
  const { call } = await import("/ui/static/shell/api.js");
  window.answered = null;
  call("GET", path).then(
    (answer) => { window.answered = [answer.status, answer.json]; },
    (error) => { window.answered = [error.status, error.code, error.message]; });
}"""
LISTEN = """async () => {
  const { listen } = await import("/ui/static/shell/live_events.js");
  window.heard = [];
  window.opened = 0;
  window.problems = [];
  window.stop = listen("/memories/events", {
    onEvent: (event) => window.heard.push(event.type),
    onOpen: () => { window.opened += 1; },
    onProblem: (error) => window.problems.push(error.status),
  });
}"""
SHOW = """(hidden) => {
  Object.defineProperty(document, "hidden", { value: hidden, configurable: true });
  document.dispatchEvent(new Event("visibilitychange"));
}"""
STREAM = "/memories/events status="


def memtree(store: Path, *words: str) -> list[str]:
    command = [sys.executable, "-m", "memtree_proxy.cli", *words, "--store", f"sqlite:///{store}"]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.splitlines()


def until(condition: Callable[[], bool]) -> None:
    end = time.monotonic() + PATIENCE / 1000
    while not condition():
        assert time.monotonic() < end, "it did not come about"
        time.sleep(0.02)


def test_the_key_is_in_the_tab_alone(
    open_page: Callable[..., Page], served: Served, windows: list[WatchedContext]
):
    served.call("POST", "/v1/memories", {"text": "Only this key sees it."})
    page = open_page("/ui/state")
    for path in ("/ui/memories", "/ui/tree", "/ui"):
        page.goto(served.url + path)
    page.evaluate(ASK, "/memories")
    pages.wait_until(page, "window.answered")
    status, body = page.evaluate("window.answered")
    assert status == 200
    assert [one["text"] for one in body["memories"]] == ["Only this key sees it."]

    assert page.evaluate("Object.keys(sessionStorage)") == ["memtree.key"]
    assert page.evaluate("[localStorage.length, document.cookie]") == [0, ""]
    assert page.context.cookies() == []
    assert all(served.key not in address for address in windows[-1].requests)
    assert served.key not in page.content()
    assert served.key not in page.evaluate("location.href + document.referrer")
    served.call("GET", "/health")
    assert served.key not in served.server.log.read_text()
    other = open_page("/ui/state", key="", beside=page)  # a tab has its own
    assert other.evaluate("sessionStorage.getItem('memtree.key')") == ""


@pytest.mark.long
def test_a_key_that_is_revoked_meanwhile_is_asked_for_again(
    serve: Callable[..., Served], open_page: Callable[..., Page], tmp_path: Path
):
    store = tmp_path / "own.db"
    first_id = memtree(store, "keys", "create", "first", "--value", "sk-first")[0].split()[0]
    memtree(store, "keys", "create", "second", "--value", "sk-second")
    own = serve()
    page = open_page("/ui/state", key="sk-first", on=own)
    page.evaluate(LISTEN)
    pages.wait_until(page, "window.opened === 1")
    memtree(store, "keys", "revoke", first_id)
    dialog = page.get_by_role("dialog", name="Which key does your client use?")
    dialog.wait_for()  # the server ends the stream, and refuses the next
    dialog.get_by_text("Incorrect API key provided.").wait_for()
    pages.check_accessible(page)

    page.evaluate(ASK, "/memories")
    page.evaluate("window.first = window.answered")
    page.get_by_label("Key", exact=True).fill("sk-wrong")
    page.keyboard.press("Enter")
    dialog.get_by_text("Incorrect API key provided.").wait_for()
    page.get_by_label("Key", exact=True).fill("sk-second")
    page.keyboard.press("Enter")
    pages.wait_until(page, "window.answered")  # what was asked meanwhile goes on by itself
    assert page.evaluate("window.answered[0]") == 200
    pages.wait_until(page, "window.opened === 2")
    assert dialog.count() == 0
    assert page.evaluate("sessionStorage.getItem('memtree.key')") == "sk-second"


@pytest.mark.long
def test_who_closes_the_question_gets_the_refusal(
    serve: Callable[..., Served], open_page: Callable[..., Page], tmp_path: Path
):
    memtree(tmp_path / "own.db", "keys", "create", "only", "--value", "sk-only")
    page = open_page("/ui/state", key="sk-wrong", on=serve())
    dialog = page.get_by_role("dialog", name="Which key does your client use?")
    dialog.wait_for()  # the page asks by itself, once
    page.evaluate(ASK, "/memories")
    while page.evaluate("window.answered") is None:
        page.keyboard.press("Escape")
    assert page.evaluate("window.answered.slice(0, 2)") == [401, "invalid_api_key"]
    page.evaluate(LISTEN)
    while page.evaluate("window.problems.length") == 0:
        page.keyboard.press("Escape")
    dialog.wait_for(state="detached")
    page.get_by_role("button", name="change the key").click()
    page.get_by_label("Key", exact=True).fill("sk-only")
    page.keyboard.press("Enter")
    pages.wait_until(page, "window.opened === 1")  # what was refused goes on with the right key


def test_only_a_tab_in_sight_holds_a_stream(open_page: Callable[..., Page], served: Served):
    def streams_ended() -> int:
        lines = served.server.log.read_text()[since:].splitlines()
        return sum(STREAM in line for line in lines)

    def remember(text: str) -> None:
        assert served.call("POST", "/v1/memories", {"text": text}).status_code == 201

    page = open_page("/ui/state")
    since = len(served.server.log.read_text())
    page.evaluate(LISTEN)
    pages.wait_until(page, "window.opened === 1")
    remember("The port is 8090.")
    pages.wait_until(page, "window.heard.length === 1")
    assert page.evaluate("window.opened") == 1
    before = streams_ended()  # those of pages that were closed a moment ago
    page.evaluate(SHOW, True)
    until(lambda: streams_ended() > before)
    remember("The colour is blue.")
    remember("The table is round.")
    assert page.evaluate("window.heard.length") == 1
    page.evaluate(SHOW, False)
    pages.wait_until(page, "window.heard.length === 3")  # behind what it has seen
    assert page.evaluate("window.opened") == 2
    page.evaluate("window.stop()")
    until(lambda: streams_ended() > before + 1)
    page.evaluate(SHOW, True)
    page.evaluate(SHOW, False)
    assert page.evaluate("[window.opened, window.problems]") == [2, []]


@pytest.mark.long
def test_a_stream_goes_on_after_the_server_was_started_anew(
    serve: Callable[..., Served], open_page: Callable[..., Page], windows: list[WatchedContext]
):
    own = serve()
    page = open_page("/ui/state", on=own)
    windows[-1].allowed.append(r"net::ERR_")
    page.evaluate(LISTEN)
    pages.wait_until(page, "window.opened === 1")
    own.server.kill()
    pages.wait_until(page, "window.problems.length > 0")
    assert page.evaluate("window.problems[0]") == 0
    again: Any = serve(port=own.server.port)
    again = Served(again.server, again.upstream, own.key)
    again.call("POST", "/v1/memories", {"text": "The colour is blue."})
    pages.wait_until(page, "window.heard.length === 1")  # though no event came before
