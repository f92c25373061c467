"""Check what scrolls is scrolled by keyboard alone, and what does not scroll is no stop of the Tab
key.

`pages.at_each_size` looks at every state of every page; here are those whose texts are long.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import pytest

from tests.browser import pages
from tests.browser.chat.chat_page import answers, send, wait_for_answer
from tests.browser.memory_pages.memories import PAGE
from tests.browser.served import Chatting, Served
from tests.browser.watched_context import PATIENCE

if TYPE_CHECKING:
    from playwright.sync_api import Locator, Page

pytestmark = [pytest.mark.browser, pytest.mark.slow, pytest.mark.long]

Open = Callable[..., "Page"]
AT_END = "(one) => one.scrollTop > 0 && one.scrollTop + one.clientHeight >= one.scrollHeight - 2"
SIZES = ((1280, 800), (1280, pages.LOW), (640, 800), (320, 800), (320, pages.LOW))


def check_sizes(page: Page, *scrolling: str) -> None:
    for width, height in SIZES:
        pages.resize(page, width, height)
        pages.check_scrollers(page, *scrolling)
    pages.resize(page, *SIZES[0])


def check_keys(page: Page, box: Locator) -> None:
    """Tab leads from what is before a box into it, and End to the end of it."""
    box.evaluate("(one) => one.scrollTo(0, 0)")
    box.focus()
    page.keyboard.press("Shift+Tab")
    assert not box.evaluate("(one) => one === document.activeElement")
    page.keyboard.press("Tab")
    assert box.evaluate("(one) => one === document.activeElement")
    end = time.monotonic() + PATIENCE / 1000
    while not box.evaluate(AT_END):  # which moves where rows get their true height on the way
        page.keyboard.press("End")
        pages.draw(page)
        assert time.monotonic() < end, "the end is out of reach"


def is_stop(box: Locator) -> bool:
    return bool(box.evaluate("(one) => one.tabIndex >= 0"))


@pytest.mark.parametrize("lines", [1, 40])
def test_the_report_of_a_file(lines: int, open_page: Open):
    page = open_page(PAGE)
    page.get_by_role("button", name="Import…").click()
    dialog = page.get_by_role("dialog", name="Import memories")
    row = json.dumps({"text": "my key is sk-proj-abcdefghijklmnopqrstuvwxyz0123456789ABCD"})
    text = f"{row}\n" * lines
    file = {"name": "keys.jsonl", "mimeType": "application/jsonl", "buffer": text.encode()}
    dialog.get_by_label("File of").set_input_files(file)
    report = dialog.get_by_role("list", name="Lines of the file")
    report.wait_for()
    if lines == 1:
        pages.resize(page, *SIZES[0])
        pages.check_scrollers(page)
        assert not is_stop(report)
        return
    check_sizes(page, "memories-report")
    check_keys(page, report)
    pages.check_keyboard(page)
    pages.check_accessible(page)


def test_what_was_replaced(open_page: Open):
    page = open_page(PAGE)
    stones = [
        {
            "id": f"mem_{at}",
            "text": f"Port 80{at}",
            "at": "2026-01-01T00:00:00Z",
            "replaced_by": "x",
        }
        for at in range(40)
    ]
    page.route(
        "**/v1/memories/tombstones*", lambda route: route.fulfill(json={"tombstones": stones})
    )
    page.get_by_role("button", name="Forgotten and replaced").click()
    box = page.get_by_role("list", name="Forgotten and replaced memories")
    box.get_by_text("Port 800", exact=True).wait_for()
    check_sizes(page, "memories-stones")
    check_keys(page, box)


def test_code_and_tables_of_an_answer(open_page: Open, chatting: Chatting):
    page = open_page(on=chatting.served)
    row = "|" + "a|" * 60
    wide = f"```\n{'walk ' * 60}\n```\n\n{row}\n{'|---' * 60}|\n{row}\n"
    narrow = "```\ngo\n```\n\n| a | b |\n|---|---|\n| 1 | 2 |\n"
    chatting.upstream.turn().say(f"{wide}\n{narrow}\nDone.").end()
    send(page, "Show me")
    answer = wait_for_answer(page, "Done.")
    check_sizes(page, "wide", "thread-scroll")
    boxes = answer.get_by_role("group", name="Code").or_(answer.get_by_role("group", name="Table"))
    assert [is_stop(boxes.nth(at)) for at in range(4)] == [True, True, False, False]
    pages.check_keyboard(page)


def test_messages_of_many_short_lines(open_page: Open):
    page = open_page("/ui/tree")
    texts = ["a\n" * 90, "Hello"]
    messages = [{"role": "user", "content": text} for text in texts]
    page.locator("input[type=file]").set_input_files(
        {"name": "x.json", "mimeType": "application/json", "buffer": json.dumps(messages).encode()}
    )
    page.get_by_text("Nothing is folded yet").wait_for()
    page.locator(".tree-messages summary").click()
    boxes = page.locator(".tree-messages pre")
    boxes.nth(1).wait_for()
    check_sizes(page, "tree-verbatim")
    assert [is_stop(boxes.nth(at)) for at in range(2)] == [True, False]
    check_keys(page, boxes.first)
    pages.check_accessible(page)


def test_a_chat_that_nobody_can_answer_in(open_page: Open, serve: Callable[..., Served]):
    page = open_page(on=serve("--upstream", "none"))
    page.get_by_text("No model is connected.").wait_for()
    pages.resize(page, 320, pages.LOW)
    pages.check_scrollers(page, "thread-scroll")
    check_keys(page, page.get_by_role("group", name="How to begin"))


def test_the_list_of_models_follows_the_keys(open_page: Open, chatting: Chatting):
    chatting.upstream.models = [f"model-{at}" for at in range(80)]
    page = open_page(on=chatting.served)
    box = page.get_by_role("combobox", name="Model")
    box.click()
    page.get_by_role("option", name="model-79", exact=True).wait_for(state="attached")
    pages.check_scrollers(page, "model-list")
    for key, name in (("ArrowUp", "model-79"), ("ArrowDown", "model-0")):
        page.keyboard.press(key)
        chosen: Any = page.get_by_role("option", name=name, exact=True, selected=True)
        assert chosen.evaluate(
            """(one) => {
              const box = one.getBoundingClientRect();
              const list = one.parentElement.getBoundingClientRect();
              return box.top >= list.top && box.bottom <= list.bottom;
            }"""
        ), name
    assert answers(page).count() == 0
