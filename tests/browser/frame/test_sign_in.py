"""How a page comes to its key: by the address of `memtree ui`, from another tab, or without one."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from memtree.config import Settings
from memtree_proxy.http.auth import new_code
from memtree_proxy.server.state_file import known_servers
from tests.browser import pages
from tests.browser.served import NOBODY_ASKED, Served, keyed
from tests.browser.watched_context import WatchedContext

if TYPE_CHECKING:
    from playwright.sync_api import Page

pytestmark = [pytest.mark.browser, pytest.mark.slow]

Open = Callable[..., "Page"]
KEY = "sessionStorage.getItem('memtree.key')"
NOTHING = "Nothing is kept for who comes without a key"


def address(served: Served, path: str = "/ui/memories") -> str:
    """Return the address that `memtree ui` opens, with another page."""
    (state,) = (
        each
        for each in known_servers(Settings().data_folder)
        if each.port == served.server.port and each.pid == served.server.process.pid
    )
    return f"{path}#code={new_code(state.secret)}"


@pytest.fixture
def own(serve: Callable[..., Served]) -> Served:
    """A server that nobody else has saved anything on."""
    return serve()


def test_the_address_lets_this_machines_user_in_once(
    open_page: Open, own: Served, windows: list[WatchedContext]
):
    opened = address(own)
    page = open_page(opened, key=NOBODY_ASKED, on=own)
    page.get_by_text("Nothing is remembered here yet").wait_for()
    page.get_by_text("Local user").wait_for()
    key = page.evaluate(KEY)
    assert key.startswith("mt-local-")
    assert page.evaluate("location.href") == f"{own.url}/ui/memories"
    assert page.evaluate("[localStorage.length, document.cookie]") == [0, ""]
    code = opened.partition("=")[2]
    for told in (*windows[-1].requests, own.server.log.read_text()):
        assert key not in told
        assert code not in told.partition("#")[0]
    page.reload()
    page.get_by_text("Local user").wait_for()

    windows[-1].allowed.append("401")
    again = open_page(opened, key=NOBODY_ASKED, on=own)  # another window
    windows[-1].allowed.append("401")
    again.get_by_text("This address was used already").wait_for()
    assert again.evaluate(KEY) == ""
    pages.at_each_size(again)


def test_a_second_tab_asks_the_first_and_a_second_window_cannot(open_page: Open, own: Served):
    first = open_page(address(own), key=NOBODY_ASKED, on=own)
    first.get_by_text("Local user").wait_for()
    beside = open_page("/ui/state", key=NOBODY_ASKED, on=own, beside=first)
    beside.get_by_text("Local user").wait_for()
    assert beside.evaluate(KEY) == first.evaluate(KEY)
    other = open_page("/ui/state", key=NOBODY_ASKED, on=own)
    other.get_by_text("No key").wait_for()
    assert other.evaluate(KEY) == ""


@pytest.mark.parametrize("path", ["/ui", "/ui/memories", "/ui/tree", "/ui/requests", "/ui/state"])
def test_without_a_key_an_empty_page_says_that_others_have_memory(
    path: str, open_page: Open, own: Served
):
    page = open_page(path, key=NOBODY_ASKED, on=own)
    page.get_by_text("No key").wait_for()
    assert page.get_by_text(NOTHING).count() == 0  # nobody has any
    own.call("POST", "/v1/memories", {"text": "Only this key sees it."})
    page.reload()
    page.get_by_text(NOTHING).wait_for()
    pages.at_each_size(page)
    pages.check_keyboard(page)
    page.get_by_role("button", name="change the key").click()
    page.get_by_label("Key", exact=True).fill(own.key)
    page.keyboard.press("Enter")
    page.get_by_text("Key set").wait_for()
    page.get_by_text(NOTHING).wait_for(state="detached")


def test_who_has_memory_without_a_key_is_told_nothing(open_page: Open, own: Served):
    own.server.post("/v1/memories", {"text": "Everybody here sees it."})
    own.call("POST", "/v1/memories", {"text": "Only this key sees it."})
    page = open_page("/ui/memories", key=NOBODY_ASKED, on=own)
    page.get_by_text("Everybody here sees it.").wait_for()
    assert page.get_by_text(NOTHING).count() == 0


def test_with_access_keys_the_page_asks_which(
    open_page: Open, serve: Callable[..., Served], tmp_path: Path
):
    own = keyed(serve, tmp_path)
    page = open_page(address(own), key=NOBODY_ASKED, on=own)
    page.get_by_role("dialog", name="Which key does your client use?").wait_for()
    assert page.evaluate(KEY) is None
    page.get_by_label("Key", exact=True).fill(own.key)
    page.keyboard.press("Enter")
    page.get_by_text("Nothing is remembered here yet").wait_for()
    assert page.evaluate(KEY) == own.key


def test_a_key_of_an_earlier_start_is_asked_for_anew(
    open_page: Open, serve: Callable[..., Served], windows: list[WatchedContext]
):
    own = serve()
    page = open_page(address(own), key=NOBODY_ASKED, on=own)
    page.get_by_text("Local user").wait_for()
    windows[-1].allowed.append(r"net::ERR_")
    own.server.stop()
    serve(port=own.server.port)
    page.reload()
    page.get_by_text("Run `memtree ui` again", exact=False).first.wait_for()
    assert json.loads(page.evaluate("JSON.stringify(Object.keys(sessionStorage))")) == [
        "memtree.key"
    ]
