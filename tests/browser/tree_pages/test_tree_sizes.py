"""`/ui/tree` with trees of thousands of nodes and of hostile texts.

A history of millions of tokens takes minutes to index, so the two routes of a known conversation
are answered by the test here.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import pytest

from tests.browser import hostile, pages
from tests.browser.tree_pages.trees import ADDRESS, FAN, grown

if TYPE_CHECKING:
    from playwright.sync_api import Page, Route

pytestmark = [pytest.mark.browser, pytest.mark.slow]

NO_PLAN: dict[str, Any] = {
    "address": ADDRESS, "epoch": None, "cut": 0, "nodes": [], "excerpts": [], "rules": [],
    "recall": [],
}  # fmt: skip
ROW = ".tree-row[aria-selected=true]"


def opened(page: Page, tree: dict[str, Any], plan: dict[str, Any] = NO_PLAN) -> None:
    """Show a tree as that of a known conversation."""

    def answer(route: Route) -> None:
        shown = plan if route.request.url.endswith("/plan") else tree
        route.fulfill(json=shown)

    page.route(f"**/v1/context_memory/conversations/{ADDRESS}/*", answer)
    page.evaluate(f"location.hash = '#conversation={ADDRESS}'")
    page.get_by_role("tree").wait_for()


def selected(page: Page) -> str:
    return page.locator(f"{ROW} .tree-headline").inner_text()


@pytest.mark.long
@pytest.mark.parametrize("leaves", [2_600, 17_500])
def test_thousands_of_nodes_by_keyboard_alone(leaves: int, open_page: Callable[..., Page]):
    page = open_page("/ui/tree")
    tree = grown(leaves)
    (zebra,) = (one for one in tree["nodes"] if one["id"] == f"1-{FAN - 1}")
    zebra["headline"] = "Zebra"
    opened(page, tree)
    root = tree["nodes"][-1]
    page.get_by_role("tree").focus()
    page.keyboard.press("Home")
    assert selected(page) == root["headline"]
    page.keyboard.press("ArrowRight")
    child = root["children"][0]
    assert selected(page) == f"Node {child}"
    for _ in range(root["level"]):  # opens, goes down; at the end it is a leaf
        page.keyboard.press("ArrowRight")
        page.keyboard.press("ArrowRight")
    assert selected(page) == "Node 0-0"
    row = page.locator(ROW)
    assert row.get_attribute("aria-level") == str(root["level"] + 1)
    assert (row.get_attribute("aria-posinset"), row.get_attribute("aria-setsize")) == ("1", "8")
    assert row.get_attribute("aria-expanded") is None
    page.keyboard.press("ArrowDown")
    assert selected(page) == "Node 0-1"
    page.keyboard.press("ArrowLeft")
    assert selected(page) == "Node 1-0"
    assert row.get_attribute("aria-expanded") == "true"
    page.keyboard.press("ArrowLeft")
    assert row.get_attribute("aria-expanded") == "false"
    page.keyboard.press("End")
    assert selected(page) == f"Node {root['children'][-1]}"
    page.keyboard.type("z")
    assert selected(page) == "Zebra"
    assert page.get_by_role("treeitem").count() < 80
    active = page.get_by_role("tree").get_attribute("aria-activedescendant")
    assert row.get_attribute("id") == active
    page.keyboard.press("/")
    page.keyboard.type(f"file_0-{leaves - 1}.py")
    page.get_by_text("1 node", exact=True).wait_for()
    page.keyboard.press("Enter")
    assert selected(page) == f"Node 0-{leaves - 1}"
    assert page.locator(".tree-node-title").inner_text() == f"Node 0-{leaves - 1}"
    page.keyboard.press("Escape")
    crumbs = page.get_by_role("navigation", name="Path to the selected node")
    assert crumbs.get_by_role("button").count() == root["level"] + 1
    canvas = page.locator(".tree-canvas")
    size = canvas.bounding_box()
    page.get_by_role("button", name="Show all").click()
    canvas.click(position={"x": size["width"] * 0.5, "y": size["height"] - 4})
    at = int(selected(page).removeprefix("Node 0-"))
    assert abs(at - leaves / 2) <= max(2, leaves / size["width"])
    assert page.locator(".tree-node-title").inner_text() == f"Node 0-{at}"
    if leaves < 10_000:
        pages.at_each_size(page)
        pages.check_keyboard(page)


def test_zooming_by_keys_and_buttons(open_page: Callable[..., Page]):
    page = open_page("/ui/tree")
    opened(page, grown(640))
    share = page.locator(".tree-share")
    assert share.inner_text() == "all 320K tokens"
    page.get_by_role("tree").focus()
    page.keyboard.press("+")
    page.get_by_text("63 % of 320K tokens").wait_for()
    page.get_by_role("button", name="Zoom in").click()
    page.get_by_text("39 % of 320K tokens").wait_for()
    canvas = page.locator(".tree-canvas")
    size = canvas.bounding_box()
    canvas.click(position={"x": 1, "y": size["height"] - 4})
    left = selected(page)
    page.get_by_role("button", name="Move right").click()
    canvas.click(position={"x": 1, "y": size["height"] - 4})
    assert int(selected(page).removeprefix("Node 0-")) > int(left.removeprefix("Node 0-"))
    page.get_by_role("button", name="Zoom to selection").click()
    canvas.click(position={"x": size["width"] / 2, "y": 4})
    assert selected(page).startswith("Node 4-")
    page.get_by_role("button", name="Show all").click()
    page.get_by_text("all 320K tokens").wait_for()
    canvas.hover()
    page.mouse.wheel(0, -400)
    page.locator(".tree-share", has_text="%").wait_for()


@pytest.mark.long
def test_hostile_summaries_are_text(open_page: Callable[..., Page]):
    page = open_page("/ui/tree")
    tree = grown(len(hostile.TEXTS))
    for one, text in zip(tree["nodes"], hostile.TEXTS, strict=False):
        one |= {"headline": text, "body": f"{text} body", "anchors": [text, text]}
        one["children"] = [*one["children"], text, one["id"]]  # unknown, and in a circle
    tree["nodes"][0]["id"] = hostile.TEXTS[0]
    tree["nodes"][len(hostile.TEXTS)]["children"][0] = hostile.TEXTS[0]
    opened(page, tree)
    page.get_by_role("tree").focus()
    page.get_by_label("Search headlines, bodies and anchors").fill("body")
    page.get_by_text(f"{len(hostile.TEXTS)} nodes").wait_for()
    shown = []
    for _ in hostile.TEXTS:
        page.get_by_role("button", name="Next").click()
        shown.append(
            page.evaluate(
                """() => [".tree-node-title", ".tree-body", ".tree-anchors li", "ROW bdi"].map(
                  (one) => document.querySelector(one.replace("ROW", ROW)).textContent)""".replace(
                    "ROW)", json.dumps(ROW) + ")"
                )
            )
        )
    assert shown == [[text, f"{text} body", text, text] for text in hostile.TEXTS]
    pages.check_accessible(page)


@pytest.mark.long
def test_a_failure_is_said_and_tried_again(open_page: Callable[..., Page]):
    page = open_page("/ui/tree")
    page.route("**/v1/context_memory/conversations/*/*", lambda route: route.abort())
    page.evaluate(f"location.hash = '#conversation={ADDRESS}'")
    page.get_by_text("The tree could not be read").wait_for()
    pages.at_each_size(page)
    page.unroute("**/v1/context_memory/conversations/*/*")
    page.route(
        f"**/{ADDRESS}/*",
        lambda route: route.fulfill(json=NO_PLAN if "plan" in route.request.url else grown(20)),
    )
    page.get_by_role("button", name="Try again").click()
    page.get_by_role("tree").wait_for()
    page.get_by_text("Nothing of it is folded yet").wait_for()
