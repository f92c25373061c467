"""Check what a person does before the first frame is drawn, or while an answer is on its way:
nothing of it is lost."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import pytest

from tests.browser import pages
from tests.browser.memory_pages.memories import (
    HIDE,
    PAGE,
    SHOW,
    card,
    imported,
    saved,
    texts,
    wait_for_texts,
)
from tests.browser.served import Served
from tests.browser.tree_pages.trees import ADDRESS, drop, grown
from tests.browser.watched_context import PATIENCE

if TYPE_CHECKING:
    from playwright.sync_api import Page, Route

pytestmark = [pytest.mark.browser, pytest.mark.slow]

Open = Callable[..., "Page"]
EVENTS = "**/v1/memories/events*"
SEARCHES = "**/v1/memories/search*"
NEXT_PAGES = "**/v1/memories?*cursor=*"
MESSAGES = '[{"role": "user", "content": "Hello"}]'


class Late:
    """Requests that are held back; those that come after `released` are not."""

    def __init__(self) -> None:
        self.routes: list[Route] = []
        self._over = False

    def come(self, route: Route) -> None:
        if self._over:
            route.continue_()
        else:
            self.routes.append(route)

    def released(self) -> list[Route]:
        """For the test to answer."""
        self._over = True
        return self.routes


def wait_for_routes(page: Page, late: Sequence[object], count: int) -> None:
    """Until so many requests are held back."""
    end = time.monotonic() + PATIENCE / 1000
    while len(late) < count:
        assert time.monotonic() < end, f"{len(late)} of {count} requests came"
        page.wait_for_timeout(20)


def held(open_page: Open, served: Served, path: str) -> Page:
    """A page whose effects do not run before `releaseEffects()`."""
    page = open_page("/ui/state")
    page.add_init_script(f"({pages.HOLD_EFFECTS})()")
    page.goto(served.url + path)
    return page


@pytest.mark.long
def test_a_form_that_is_opened_at_once_stays_open(open_page: Open, served: Served):
    page = held(open_page, served, PAGE)
    page.get_by_role("button", name="Add", exact=True).click()
    field = page.get_by_label("What should be remembered?")
    field.wait_for()
    assert field.evaluate("(one) => one === document.activeElement")
    page.keyboard.type("Ada likes green tea")
    page.evaluate("releaseEffects()")
    page.get_by_text("Nothing is remembered here yet").wait_for()
    assert field.input_value() == "Ada likes green tea"


@pytest.mark.long
@pytest.mark.parametrize("path", [PAGE, "/ui/tree"])
def test_an_address_that_changes_at_once_is_followed(path: str, open_page: Open, served: Served):
    page = held(open_page, served, path)
    place = "#conversation=abc" if path == "/ui/tree" else "#chat=c1"
    page.evaluate("(place) => location.hash = place", place)
    page.evaluate("releaseEffects()")
    told = "This link names no conversation" if path == "/ui/tree" else "is remembered here will be"
    page.get_by_text(told).wait_for()


@pytest.mark.long
def test_a_file_that_is_dropped_at_once_is_read(open_page: Open, served: Served):
    page = held(open_page, served, "/ui/tree")
    drop(page, "x.json", MESSAGES)
    page.evaluate("releaseEffects()")
    page.get_by_text("Nothing is folded yet").wait_for()


@pytest.mark.long
def test_a_drawing_that_is_zoomed_at_once_stays_so(open_page: Open):
    page = open_page("/ui/tree")
    page.get_by_text("See what the model sees").wait_for()
    late: list[Route] = []
    page.route(f"**/conversations/{ADDRESS}/tree", lambda route: late.append(route))  # noqa: PLW0108  a method is none to it
    plan: dict[str, Any] = {
        "address": ADDRESS,
        "epoch": None,
        "cut": 0,
        "nodes": [],
        "excerpts": [],
        "rules": [],
    }
    page.route(f"**/conversations/{ADDRESS}/plan", lambda route: route.fulfill(json=plan))
    with page.expect_request(f"**/conversations/{ADDRESS}/tree"):
        page.evaluate(f"location.hash = '#conversation={ADDRESS}'")
    wait_for_routes(page, late, 1)
    page.evaluate(pages.HOLD_EFFECTS)
    late[0].fulfill(json=grown(640))
    page.get_by_role("button", name="Zoom in").click()
    page.evaluate("releaseEffects()")
    page.get_by_text("63 % of 320K tokens").wait_for()
    page.get_by_role("button", name="Zoom in").click()
    page.get_by_text("39 % of 320K tokens").wait_for()


@pytest.mark.long
def test_a_search_that_is_answered_late_brings_nothing_deleted_back(
    open_page: Open, served: Served
):
    saved(served, "Ada likes green tea")
    page = open_page("/ui/state")
    page.route(EVENTS, lambda route: route.abort())  # they would have it searched anew
    page.goto(served.url + PAGE)
    wait_for_texts(page, "Ada likes green tea")
    late = Late()
    page.route(SEARCHES, late.come)
    page.get_by_label("Search memories").fill("tea")
    wait_for_routes(page, late.routes, 1)
    before = served.call("GET", "/v1/memories/search?query=tea").json()
    assert len(before["memories"]) == 1
    card(page, "green tea").get_by_role("button", name="Delete").click()
    pages.toasted(page, "Deleted: Ada likes green tea")
    for route in late.released():
        route.fulfill(json=before)
    page.get_by_text("No memory matches").wait_for()
    assert texts(served) == []


@pytest.mark.long
def test_a_page_of_memories_that_was_given_up_is_asked_for_again(open_page: Open, served: Served):
    imported(served, [{"text": f"Note {at} of the museum"} for at in range(150)])
    page = open_page(PAGE)
    page.get_by_text("100 of 150 read").wait_for()
    late = Late()
    page.route(NEXT_PAGES, late.come)
    page.evaluate("() => document.querySelector('.virtual-list').scrollTop = 1e9")
    wait_for_routes(page, late.routes, 1)
    # The list is read anew once events come again.
    refused: list[Route] = []

    def refuse(route: Route) -> None:
        route.abort()
        refused.append(route)

    page.route(EVENTS, refuse)
    page.evaluate(HIDE)
    page.evaluate(SHOW)
    wait_for_routes(page, refused, 1)
    saved(served, "A picture of the museum")
    page.unroute(EVENTS)
    wait_for_routes(page, late.routes, 2)
    for route in late.released():
        route.continue_()
    page.get_by_text("151 shown").wait_for()


def test_a_tag_that_is_typed_while_rows_come_in_stays(open_page: Open, served: Served):
    saved(served, "Ada likes green tea", tags=["drinks"])
    page = open_page(PAGE)
    wait_for_texts(page, "Ada likes green tea")
    page.get_by_label("Tag", exact=True).fill("travel")
    saved(served, "Ada goes to work by bike", tags=["travel"])
    wait_for_texts(page, "Ada likes green tea", "Ada goes to work by bike")
    page.keyboard.press("Enter")
    wait_for_texts(page, "Ada goes to work by bike")


@pytest.mark.long
def test_a_number_that_is_typed_while_a_switch_is_saved_stays(open_page: Open):
    page = open_page(PAGE)
    page.get_by_text("Nothing is remembered here yet").wait_for()
    page.get_by_role("button", name="Settings…").click()
    late: list[Route] = []

    def hold(route: Route) -> None:
        if route.request.method == "PATCH":
            late.append(route)
        else:
            route.continue_()

    page.route("**/v1/memories/settings", hold)
    page.get_by_label("Remember from conversations").check()
    page.get_by_label("Memories beside a message").fill("5")
    wait_for_routes(page, late, 1)
    late[0].continue_()
    page.get_by_text("Saved.").wait_for()
    assert page.get_by_label("Memories beside a message").input_value() == "5"
