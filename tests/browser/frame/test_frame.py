"""Check what is around every page: navigation, the key, and the dialog that asks for it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.browser import pages
from tests.browser.served import NOBODY_ASKED, Served, keyed

if TYPE_CHECKING:
    from playwright.sync_api import Page

pytestmark = [pytest.mark.browser, pytest.mark.slow]

DROP = """() => ["dragover", "drop"].map((name) => {
  const dataTransfer = new DataTransfer();
  dataTransfer.items.add(new File(["x"], "x.txt"));
  const event = new DragEvent(name, { dataTransfer, bubbles: true, cancelable: true });
  document.querySelector("header").dispatchEvent(event);
  return event.defaultPrevented;
})"""


@pytest.mark.parametrize(
    ("path", "said"),
    [
        ("/ui", "A chat that does not forget"),
        ("/ui/memories", "Nothing is remembered here yet"),
        ("/ui/tree", "See what the model sees"),
        ("/ui/requests", "No request matches"),
        ("/ui/state", "No requests with memory in the last 30 days"),
    ],
)
def test_the_frame_is_for_everybody(path: str, said: str, open_page: Callable[..., Page]):
    page = open_page(path)
    page.get_by_text(said).first.wait_for()
    pages.check_accessible(page)
    pages.check_fits(page)
    current = page.locator("nav [aria-current=page]")
    assert current.get_attribute("href") == path
    assert page.locator("main h1").count() == 1
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    pages.wait_until(page, "document.activeElement.id === 'main'")
    assert page.evaluate(DROP) == [True, True]  # else the browser opens the file in the tab


@pytest.mark.long
def test_the_key_dialog_asks_again_and_is_used_by_keyboard_alone(
    open_page: Callable[..., Page], serve: Callable[..., Served], tmp_path: Path
):
    served = keyed(serve, tmp_path)
    page = open_page(key=NOBODY_ASKED, on=served)  # its first request asks
    dialog = page.get_by_role("dialog", name="Which key does your client use?")
    dialog.wait_for()
    pages.at_each_size(page)
    pages.check_keyboard(page)
    page.get_by_label("Key", exact=True).focus()
    page.keyboard.type(served.key)
    page.keyboard.press("Enter")
    dialog.wait_for(state="detached")
    assert page.evaluate("sessionStorage.getItem('memtree.key')") == served.key
    page.get_by_text("Key set").wait_for()
    assert page.locator(".key-button").count() == 1
    page.locator(".key-button").focus()
    page.keyboard.press("Enter")
    dialog.wait_for()
    page.keyboard.press("Escape")
    dialog.wait_for(state="detached")
    assert page.evaluate("document.activeElement.className").split()[-1] == "key-button"
    assert page.evaluate("sessionStorage.getItem('memtree.key')") == served.key


def test_a_first_visit_asks_for_the_key_where_there_are_keys(
    open_page: Callable[..., Page], serve: Callable[..., Served], tmp_path: Path
):
    page = open_page(key=NOBODY_ASKED, on=keyed(serve, tmp_path))
    page.get_by_role("dialog").wait_for()
    without = page.get_by_role("button", name="Continue without a key")
    without.click()
    pages.wait_until(page, "sessionStorage.getItem('memtree.key') === ''")
    page.get_by_text("You did not provide an API key.").wait_for()  # it is asked for again
