"""The pages over plain http in a LAN, where browsers leave out what they keep for https and
localhost: `crypto.randomUUID`, `navigator.clipboard` and more."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from tests.browser import pages
from tests.browser.chat.chat_page import answers, ask
from tests.browser.explained import answered
from tests.browser.memory_pages.memories import PAGE, card
from tests.browser.served import Chatting, Served
from tests.browser.watched_context import WatchedContext

if TYPE_CHECKING:
    from playwright.sync_api import Page

pytestmark = [pytest.mark.browser, pytest.mark.slow, pytest.mark.long]

SAID = "^console error: The Cross-Origin-Opener-Policy header has been ignored"  # over plain http
COPIED = """document.addEventListener("copy", () => {
  document.documentElement.dataset.copied = document.activeElement.value;
});"""


def in_lan(page: Page) -> None:
    assert page.evaluate("[isSecureContext, typeof navigator.clipboard, typeof crypto.subtle]") == [
        False, "undefined", "undefined",
    ]  # fmt: skip


def named(served: Served) -> Served:
    return replace(served, host="memtree.local")


def copied(page: Page) -> str | None:
    return page.locator("html").get_attribute("data-copied")


def test_the_tree_and_the_state_in_a_lan(
    open_page: Callable[..., Page], served: Served, windows: list[WatchedContext]
):
    page = open_page("/ui/state", on=named(served))
    windows[-1].allowed.append(SAID)
    in_lan(page)
    page.evaluate(COPIED)
    page.get_by_role("button", name="Copy the Base URL").click()
    pages.toasted(page, "Base URL copied.")
    assert copied(page) == f"{named(served).url}/v1"
    page.goto(f"{named(served).url}/ui/tree#demo")
    in_lan(page)
    answered(page, 8000)


def test_the_chat_and_its_memories_in_a_lan(
    open_page: Callable[..., Page], chatting: Chatting, windows: list[WatchedContext]
):
    page = open_page("/ui", on=named(chatting.served))
    windows[-1].allowed.append(SAID)
    in_lan(page)
    page.evaluate(COPIED)
    ask(page, "Hello?", "Answer 1.")
    answers(page).last.get_by_role("button", name="Copy").click()
    pages.toasted(page, "Copied.")
    assert copied(page) == "Answer 1."
    page.goto(f"{named(chatting.served).url}{PAGE}")
    in_lan(page)
    page.get_by_role("button", name="Add one").click()
    page.locator(".memories-add textarea:focus").wait_for()
    page.keyboard.type("Ada lives in Turin.")
    page.keyboard.press("Enter")
    card(page, "Ada lives in Turin.").wait_for()
