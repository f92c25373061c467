"""Memories in a browser: edited, deleted, brought back, replaced; by keyboard, from two tabs."""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import ExitStack
from typing import TYPE_CHECKING

import httpx
import pytest

from tests.browser import pages
from tests.browser.memory_pages.memories import (
    HIDE,
    PAGE,
    SHOW,
    card,
    check_rows_apart,
    saved,
    texts,
    wait_for_focus,
    wait_for_texts,
)
from tests.browser.served import Served, new_key
from tests.browser.watched_context import PATIENCE
from tests.made.scripted import Say

if TYPE_CHECKING:
    from playwright.sync_api import Page

pytestmark = [pytest.mark.browser, pytest.mark.slow]

PORT_OLD, PORT_NEW = (
    "The staging server listens on port 8090",
    "The staging server listens on port 8091",
)
SECRET = "my key is sk-proj-abcdefghijklmnopqrstuvwxyz0123456789ABCD"
TEA, BIKE = "Ada likes green tea", "Ada goes to work by bike"
TYPING = "() => document.activeElement.tagName === 'TEXTAREA'"
Open = Callable[..., "Page"]


def use_key(page: Page, key: str) -> None:
    """Give the page another key, as a person does."""
    page.locator(".key-button").click()
    page.get_by_label("Key", exact=True).fill(key)
    page.keyboard.press("Enter")
    page.get_by_role("dialog").wait_for(state="detached")


def test_a_memory_is_edited_by_keyboard_alone(open_page: Open, served: Served):
    row = saved(served, TEA)
    saved(served, BIKE)
    page = open_page(PAGE)
    wait_for_texts(page, TEA, BIKE)
    pages.check_keyboard(page)
    card(page, BIKE).focus()
    page.keyboard.press("ArrowDown")
    wait_for_focus(page, row["id"])
    page.keyboard.press("Enter")
    page.get_by_label("Text", exact=True).wait_for()
    pages.check_keyboard(page)
    page.get_by_label("Text", exact=True).focus()
    page.keyboard.press("Control+A")
    page.keyboard.type("Ada likes strong coffee")
    page.keyboard.press("Escape")
    wait_for_focus(page, row["id"])
    wait_for_texts(page, TEA, BIKE)  # Escape takes it back
    page.keyboard.press("Enter")
    page.wait_for_function(TYPING)
    page.keyboard.press("Control+A")
    page.keyboard.type("Ada likes strong coffee")
    page.keyboard.press("Enter")
    wait_for_focus(page, row["id"])
    wait_for_texts(page, "Ada likes strong coffee", BIKE)
    now = served.call("GET", f"/v1/memories/{row['id']}").json()
    assert (now["text"], now["version"]) == ("Ada likes strong coffee", 2)
    page.keyboard.press("/")
    page.keyboard.type("coffee")
    wait_for_texts(page, "Ada likes strong coffee")
    page.keyboard.press("Control+A")
    page.keyboard.type("green tea")
    page.get_by_text("No memory matches").wait_for()


@pytest.mark.long
def test_an_edit_in_another_tab_shows_both_texts_and_loses_neither(open_page: Open, served: Served):
    row = saved(served, TEA)
    page = open_page(PAGE)
    card(page, TEA).get_by_role("button", name="Edit").click()
    page.get_by_label("Text", exact=True).fill("Ada likes black tea")
    other = open_page(PAGE, beside=page)
    card(other, TEA).get_by_role("button", name="Edit").click()
    other.get_by_label("Text", exact=True).fill("Ada likes white tea")
    other.keyboard.press("Enter")
    wait_for_texts(other, "Ada likes white tea")
    note = page.get_by_text("Changed elsewhere meanwhile.")
    note.wait_for()  # told while it is typed, before anything is sent
    assert page.locator("blockquote").inner_text() == "Ada likes white tea"
    assert page.get_by_label("Your text").input_value() == "Ada likes black tea"
    pages.at_each_size(page)
    page.get_by_role("button", name="Save your text").click()
    wait_for_texts(page, "Ada likes black tea")
    wait_for_texts(other, "Ada likes black tea")
    past = served.call("GET", f"/v1/memories/{row['id']}/history").json()["versions"]
    assert [one["text"] for one in past] == ["Ada likes black tea", "Ada likes white tea", TEA]


@pytest.mark.long
def test_a_conflict_that_no_event_told_is_told_by_the_server(open_page: Open, served: Served):
    row = saved(served, TEA)
    page = open_page(PAGE)
    page.route("**/memories/events*", lambda route: route.abort())
    page.reload()
    card(page, TEA).get_by_role("button", name="Edit").click()
    page.get_by_label("Text", exact=True).fill("Ada likes black tea")
    served.call("PATCH", f"/v1/memories/{row['id']}", {"text": "Ada likes white tea"})
    page.keyboard.press("Enter")
    page.get_by_text("Changed elsewhere meanwhile.").wait_for()
    assert page.get_by_label("Your text").input_value() == "Ada likes black tea"
    assert texts(served) == ["Ada likes white tea"]
    page.get_by_role("button", name="Keep the other text").click()
    wait_for_texts(page, "Ada likes white tea")
    # Deleted meanwhile: what was typed becomes a memory of its own.
    card(page, "white tea").get_by_role("button", name="Edit").click()
    page.get_by_label("Text", exact=True).fill("Ada likes no tea")
    served.call("DELETE", f"/v1/memories/{row['id']}")
    page.keyboard.press("Enter")
    page.get_by_text("This memory was deleted meanwhile.").wait_for()
    page.get_by_role("button", name="Save as a new memory").click()
    wait_for_texts(page, "Ada likes no tea")
    assert texts(served) == ["Ada likes no tea"]
    # As soon as events come again, the list has what none of them told.
    saved(served, BIKE)
    page.unroute("**/memories/events*")
    page.evaluate(HIDE)
    page.evaluate(SHOW)
    wait_for_texts(page, "Ada likes no tea", BIKE)


@pytest.mark.long
def test_a_failed_save_keeps_the_text_and_is_tried_again(open_page: Open, served: Served):
    saved(served, TEA)
    page = open_page(PAGE)
    card(page, TEA).get_by_role("button", name="Edit").click()
    page.get_by_label("Text", exact=True).fill(
        "my key is sk-proj-abcdefghijklmnopqrstuvwxyz0123456789ABCD"
    )
    page.keyboard.press("Enter")
    page.get_by_text("Not saved.").wait_for()
    pages.check_accessible(page)
    page.get_by_label("Text", exact=True).fill("Ada has a key")
    page.get_by_role("button", name="Forgotten and replaced").click()  # no list is there now
    page.get_by_text("Nothing was forgotten or replaced").wait_for()
    page.locator(".memories-view", has_text="All memories").click()
    assert page.get_by_label("Text", exact=True).input_value() == "Ada has a key"
    use_key(page, new_key())  # whose memories may be those of somebody else
    page.get_by_text("Nothing is remembered here yet").wait_for()
    use_key(page, served.key)
    page.get_by_role("button", name="Try again").click()
    wait_for_texts(page, "Ada has a key")
    page.route("**/v1/memories/mem_*", lambda route: route.abort())
    card(page, "Ada has a key").get_by_role("button", name="Delete").click()
    page.get_by_text("It was not deleted").wait_for()
    wait_for_texts(page, "Ada has a key")
    page.unroute("**/v1/memories/mem_*")
    page.get_by_role("button", name="Try again").click()
    page.get_by_text("Nothing is remembered here yet").wait_for()
    pages.toasted(page, "Deleted: Ada has a key")
    assert texts(served) == []


def test_a_deleted_memory_is_gone_everywhere_until_it_is_brought_back(
    open_page: Open, served: Served
):
    saved(served, TEA)
    saved(served, BIKE)
    served.call("PATCH", "/v1/memories/settings", {"memories_save_enabled": True})
    script = served.script(Say("Tea."), Say("I do not know."))
    asked = {
        "model": "scripted",
        "messages": [{"role": "user", "content": "What green tea does Ada like?"}],
    }
    page = open_page(PAGE)
    card(page, TEA).focus()
    page.keyboard.press("Delete")
    wait_for_texts(page, BIKE)
    page.get_by_role("button", name="Undo").click()
    wait_for_texts(page, TEA, BIKE)
    served.call("POST", "/v1/chat/completions", asked)
    assert TEA in script.seen[-1].raw.decode()
    card(page, TEA).get_by_role("button", name="Delete").click()
    wait_for_texts(page, BIKE)
    page.get_by_label("Search memories").fill("green tea")
    page.get_by_text("No memory matches").wait_for()
    served.call("POST", "/v1/chat/completions", asked)
    assert TEA not in script.seen[-1].raw.decode()
    assert TEA not in served.call("GET", "/v1/memories/export").text
    # After a reload there is nothing to undo with any more: there is the list of deleted ones.
    page.reload()
    wait_for_texts(page, BIKE)
    page.get_by_role("button", name="Deleted", exact=True).click()
    wait_for_texts(page, TEA)
    assert page.evaluate("location.hash") == "#show=deleted"
    card(page, TEA).get_by_role("button", name="Bring back").click()
    page.locator(".memories-view", has_text="All memories").click()
    wait_for_texts(page, TEA, BIKE)


@pytest.mark.long
def test_a_changed_value_offers_to_replace_the_older_memory(open_page: Open, served: Served):
    page = open_page(PAGE)
    page.get_by_role("button", name="Add one").click()
    for text in (PORT_OLD, PORT_OLD, PORT_NEW):
        page.get_by_label("What should be remembered?").fill(text)
        page.keyboard.press("Enter")
        page.wait_for_function(
            "() => document.querySelector('.memories-add textarea').value === ''"
        )
        if text == PORT_OLD:
            wait_for_texts(page, PORT_OLD)  # the second time as well
    wait_for_texts(page, PORT_OLD, PORT_NEW)
    newer = page.locator("article.memory", has=page.get_by_role("button", name="Keep both"))
    assert "8090 -> 8091" in newer.inner_text()
    pages.at_each_size(page)
    newer.get_by_role("button", name="Replace the older one").click()
    wait_for_texts(page, PORT_NEW)
    assert texts(served) == [PORT_NEW]
    card(page, PORT_NEW).get_by_role("button", name="History").click()
    dialog = page.get_by_role("dialog", name="History")
    dialog.get_by_text("Replaced").wait_for()
    versions = dialog.locator(".memory-text").all_inner_texts()
    assert versions == [PORT_NEW, PORT_OLD]
    pages.at_each_size(page)
    pages.check_keyboard(page)
    page.keyboard.press("Escape")
    page.get_by_role("button", name="Forgotten and replaced").click()
    page.get_by_text(PORT_OLD).wait_for()
    pages.at_each_size(page)
    page.locator(".memories-view", has_text="All memories").click()
    page.get_by_label("What should be remembered?").fill(f"{PORT_NEW[:-1]}2")
    page.keyboard.press("Enter")
    page.get_by_role("button", name="Keep both").wait_for()
    page.get_by_role("button", name=f"Delete: {PORT_NEW}").click()
    page.get_by_role("button", name="Keep both").wait_for(state="detached")  # nothing to replace


def test_changes_show_without_a_reload_and_a_hidden_tab_holds_no_stream(
    open_page: Open, served: Served
):
    page = open_page(PAGE)
    page.get_by_text("Nothing is remembered here yet").wait_for()
    row = saved(served, TEA)
    wait_for_texts(page, TEA)
    total = page.locator(".memories-view", has_text="All memories").locator(".number")
    page.wait_for_function("(one) => one.textContent === '1'", arg=total.element_handle())
    page.evaluate(HIDE)
    page.context.add_init_script(f"({HIDE})()")
    unseen = open_page(PAGE, beside=page)  # a tab that was opened in the background
    wait_for_texts(unseen, TEA)
    streams = f"{served.url}/v1/memories/events"
    headers = {"authorization": f"Bearer {served.key}"}
    with ExitStack() as stack:
        # A tenant has eight: all of them are free.
        client = stack.enter_context(httpx.Client(trust_env=False, timeout=180))
        for _ in range(8):
            end = time.monotonic() + PATIENCE / 1000
            while True:  # the server hears of a closed connection a moment later
                answer = client.stream("GET", streams, headers=headers)
                if stack.enter_context(answer).status_code == 200:
                    break
                assert time.monotonic() < end, "no stream is free"
                time.sleep(0.05)
    served.call("PATCH", f"/v1/memories/{row['id']}", {"text": BIKE})
    page.evaluate(SHOW)
    wait_for_texts(page, BIKE)  # what happened meanwhile is told as well
    unseen.evaluate(SHOW)
    wait_for_texts(unseen, BIKE)


def check_an_edit_outlives_the_panel(page: Page) -> None:
    panel = page.get_by_role("region", name="Memories of this chat")
    field = panel.get_by_label("Text", exact=True)
    card(page, TEA).focus()
    page.keyboard.press("Enter")
    field.fill("Ada likes black tea")
    page.keyboard.press("Alt+m")
    panel.wait_for(state="detached")
    page.get_by_role("textbox", name="Message").focus()
    page.keyboard.press("Alt+m")
    assert field.input_value() == "Ada likes black tea"
    assert page.evaluate("document.activeElement.closest('article')") is None  # writes elsewhere
    size = page.viewport_size
    assert size is not None
    page.set_viewport_size({"width": 600, "height": size["height"]})
    drawer = page.get_by_role("dialog", name="Memories of this chat")
    assert drawer.get_by_label("Text", exact=True).input_value() == "Ada likes black tea"
    page.set_viewport_size(size)
    assert field.input_value() == "Ada likes black tea"
    panel.get_by_role("button", name="Cancel").click()
    wait_for_texts(page, TEA, PORT_NEW)


@pytest.mark.long
def test_the_panel_beside_a_chat_is_used_by_keyboard_alone(open_page: Open, served: Served):
    page = open_page("/ui")
    page.get_by_role("textbox", name="Message").wait_for()
    page.keyboard.press("Alt+m")
    page.get_by_text("Nothing remembered in this chat").wait_for()
    pages.at_each_size(page)
    badge = "(count) => document.querySelector('.memories-head .badge')?.innerText === count"
    page.locator(".chat-panel").get_by_role("button", name="Add", exact=True).focus()
    page.keyboard.press("Enter")
    page.wait_for_function(TYPING)
    for text in (PORT_OLD, PORT_NEW, TEA):  # the last one comes before a taller one
        page.keyboard.type(text)
        page.keyboard.press("Enter")
        card(page, text).wait_for()
        page.wait_for_function("() => document.activeElement.value === ''")
    page.wait_for_function(badge, arg="3")
    check_rows_apart(page)
    page.keyboard.press("Escape")
    page.wait_for_function("() => document.activeElement.textContent.trim() === 'Add'")
    page.get_by_role("button", name="Replace the older one").focus()
    page.keyboard.press("Enter")
    wait_for_texts(page, TEA, PORT_NEW)
    page.wait_for_function(badge, arg="2")
    check_rows_apart(page)
    card(page, PORT_NEW).focus()
    page.keyboard.press("Enter")
    page.get_by_label("Text", exact=True).wait_for()
    page.get_by_label("Category").last.select_option("instruction")
    page.get_by_label("Text", exact=True).focus()
    page.keyboard.press("Enter")
    card(page, PORT_NEW).locator(".chip", has_text="instruction").wait_for()
    check_an_edit_outlives_the_panel(page)
    pages.at_each_size(page)
    page.locator(".chat-panel article.memory").first.wait_for()  # no longer in a drawer
    pages.check_keyboard(page)
    for text, left in ((PORT_NEW, "1"), (TEA, "0")):
        card(page, text).focus()
        page.keyboard.press("Delete")
        page.wait_for_function(badge, arg=left)
    page.get_by_role("button", name="Show deleted ones").press("Enter")
    wait_for_texts(page, TEA, PORT_NEW)
    card(page, PORT_NEW).get_by_role("button", name="Bring back").press("Enter")
    page.wait_for_function(badge, arg="1")
