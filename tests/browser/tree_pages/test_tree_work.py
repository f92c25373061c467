"""`/ui/tree`: what was done as a list with links to its messages, and the tree by file or tool."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import pytest

from tests.browser import pages
from tests.browser.explained import answered, explained, sliced
from tests.browser.served import Served
from tests.programs.sessions import chat

if TYPE_CHECKING:
    from playwright.sync_api import Locator, Page

pytestmark = [pytest.mark.browser, pytest.mark.slow]

TARGET = 8000  # of the demo
ROWS = """[...document.querySelectorAll(".tree-work-list li")].map((row) => [
  row.querySelector("code").textContent,
  +row.querySelector("button").textContent.match(/[0-9]+/)[0]])"""


def demo(open_page: Callable[..., Page], served: Served, **size: Any) -> tuple[Page, list[Any]]:
    page = open_page("/ui/tree#demo", **size)
    answered(page, TARGET)
    messages: list[Any] = served.call("GET", "/ui/demo.json").json()["messages"]
    return page, messages


def test_each_row_of_the_work_is_one_of_explain_and_leads_to_its_message(
    open_page: Callable[..., Page], served: Served
):
    page, messages = demo(open_page, served)
    question = page.get_by_label("What would the model see").input_value()
    log = explained(served, messages, question, TARGET)["explain"]["log"]
    page.get_by_role("button", name=f"Work done ({len(log)})").click()
    rows = page.evaluate(ROWS)
    assert sorted(rows) == sorted([sliced(messages, one), one["message"]] for one in log)
    assert len(rows) > 20
    pages.at_each_size(page)
    name, message = rows[5]
    page.get_by_role("button", name=f"message {message} about {name}", exact=True).click()
    detail = page.get_by_role("region", name="Selected node")
    pages.wait_until(page, "document.activeElement.className === 'tree-detail'")
    shown = detail.locator(".tree-message").first
    assert shown.locator("strong").inner_text() == str(message)
    assert name in shown.locator("pre").last.inner_text()
    pages.check_accessible(page)
    pages.check_keyboard(page)
    page.get_by_role("button", name="Tree", exact=True).click()
    selected = page.locator(".tree-row[aria-selected=true]")
    first, last = shown_range(selected)
    assert first <= message <= last


def shown_range(row: Locator) -> tuple[int, int]:
    """The first and the last message of a row of the tree."""
    text = row.locator(".tree-numbers").text_content() or ""
    numbers = re.findall(r"[0-9]+", text.partition(" messages")[0])
    return int(numbers[0]), int(numbers[-1])


@pytest.mark.long
def test_a_known_conversation_names_messages_and_no_text(
    open_page: Callable[..., Page], served: Served
):
    messages = served.call("GET", "/ui/demo.json").json()["messages"][:400]
    told = served.call("POST", "/v1/context_memory", {"messages": messages}).json()
    address = told["memory"]["address"]
    plan = served.call("GET", f"/v1/context_memory/conversations/{address}/plan").json()
    page = open_page(f"/ui/tree#conversation={address}")
    page.get_by_role("button", name=f"Work done ({len(plan['log'])})").click()
    rows = page.locator(".tree-work-list li")
    assert rows.count() == len(plan["log"]) > 5
    assert page.locator(".tree-work-list code").count() == 0
    wanted = sorted(one["message"] for one in plan["log"])
    shown = [int(text.split()[1]) for text in rows.get_by_role("button").all_inner_texts()]
    assert sorted(shown) == wanted
    rows.get_by_role("button").first.click()
    pages.at_each_size(page)


def test_the_tree_by_a_tool_and_by_a_file(open_page: Callable[..., Page], served: Served):
    page, messages = demo(open_page, served)
    field = page.get_by_label("File or tool")
    calls = [
        (at, call["function"])
        for at, message in enumerate(messages)
        for call in message.get("tool_calls") or []
    ]
    tools = {call["name"] for _, call in calls}
    options = "[...document.querySelectorAll('#tree-parts option')].map((one) => one.value)"
    offered = page.evaluate(options)
    assert tools <= set(offered)
    assert any(name.endswith(".py") for name in offered)
    everything = page.get_by_role("treeitem").count()
    field.fill("no_such_tool")
    page.get_by_text("0 nodes", exact=True).wait_for()
    assert page.get_by_role("treeitem").count() == 0
    file = next(name for name in offered if name.endswith(".py"))
    field.fill(file)
    page.get_by_text("Next", exact=True).click()
    assert page.get_by_role("treeitem").count() > 1
    first, last = shown_range(page.locator(".tree-row[aria-selected=true]"))
    assert file in str(messages[first : last + 1])
    page.get_by_label("Search headlines").fill("no such words")
    page.get_by_text("0 nodes", exact=True).wait_for()
    page.get_by_label("Search headlines").fill("")
    field.press("Escape")
    pages.wait_until(page, f"document.querySelectorAll('[role=treeitem]').length === {everything}")


@pytest.mark.parametrize(
    ("path", "content"),
    [("/ui/tree#demo", ".tree-canvas"), ("/ui/memories", ".memory"), ("/ui/tree", ".tree-entry")],
)
def test_on_a_phone_the_content_comes_first(
    path: str, content: str, open_page: Callable[..., Page], served: Served
):
    served.call("POST", "/v1/memories", {"text": "The staging API listens on port 8091."})
    served.call("POST", "/v1/context_memory", {"messages": chat(101, words=120)})
    page = open_page(path, width=375, height=760)
    first = page.locator(content).first
    first.wait_for()
    if path.endswith("demo"):
        answered(page, TARGET)
    pages.draw(page)
    box = first.bounding_box()
    assert box is not None
    assert box["y"] < 600
    stops = page.evaluate(
        """(content) => [...document.querySelectorAll("main :is(button, input, select, a)")]
          .filter((one) => one.checkVisibility() && one.getBoundingClientRect().bottom
            <= document.querySelector(content).getBoundingClientRect().top).length""",
        content,
    )
    assert stops <= 10
