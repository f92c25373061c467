"""`/ui/requests`: each request that came, and what all of them add up to."""

from __future__ import annotations

import time
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

import pytest

from tests.browser import filled, pages
from tests.browser.hostile import TEXTS
from tests.browser.logged import logged, page_of, rows
from tests.browser.served import Served
from tests.browser.watched_context import PATIENCE

if TYPE_CHECKING:
    from playwright.sync_api import Page, Route

pytestmark = [pytest.mark.browser, pytest.mark.slow]

Open = Callable[..., "Page"]
LIST = "**/v1/requests?*"
SUMS = """[...document.querySelectorAll("#requests-sums tr")].slice(1).map((row) =>
  [...row.querySelectorAll("td")].map((cell) => +cell.textContent.replaceAll(",", "")
    .replace("\\u2212", "-")))"""
PLAN: dict[str, Any] = {
    "address": f"{1:064x}", "cut": 70, "nodes": [], "recall": [], "log": [],
    "epoch": {"id": "ab" * 16, "created": "2026-11-27T00:00:00Z", "messages": 80,
              "reason": "first"},
    "excerpts": [{"message": at, "start": 0, "end": 120, "tokens": 30, "reason": "excerpt",
                  "rank": at} for at in range(1, 31)],
    "rules": [{"message": 1, "start": 0, "end": 50, "tokens": 10, "reason": "rule",
               "rank": None}],
}  # fmt: skip


def noon() -> datetime:
    """Return the noon of a day that is over in every time zone."""
    return datetime.now(UTC).replace(hour=12, minute=0, second=0, microsecond=0) - timedelta(days=2)


def showing(page: Page, listed: list[dict[str, Any]], path: str = "") -> list[str]:
    """Answer with these rows, and open a day before today. Returns the queries that came."""
    asked: list[str] = []

    def answer(route: Route) -> None:
        asked.append(route.request.url.partition("?")[2])
        route.fulfill(json=page_of(listed))

    def one(route: Route) -> None:
        id_ = route.request.url.rpartition("/")[2]
        found = next((row for row in listed if row["id"] == id_), None)
        told = {**found, "plan": PLAN} if found else {"error": {"message": "nothing is known"}}
        route.fulfill(json=told, status=200 if found else 404)

    page.route(LIST, answer)
    page.route("**/v1/requests/0*", one)
    page.evaluate(f"location.hash = '#day={noon().date()}{path}'")
    return asked


def figures(page: Page) -> list[int]:
    texts = page.locator(".requests-number").all_inner_texts()
    return [int(text.replace(",", "").replace("\u2212", "-")) for text in texts]


def test_what_the_rows_say_is_what_the_sums_say(open_page: Open):
    page = open_page("/ui/requests")
    listed = rows(60, noon())
    showing(page, listed)
    page.locator(".request-row").first.wait_for()
    totals = page_of(listed)["totals"]
    names = ("requests", "posted_tokens", "sent_tokens", "saved_tokens")
    assert figures(page) == [totals[name] for name in names]
    page.get_by_role("button", name="Saved tokens").click()
    *parts, total = page.evaluate(SUMS)
    assert total == figures(page)
    assert [sum(column) for column in zip(*parts, strict=True)] == total
    assert len(parts) > 3
    pages.at_each_size(page)
    pages.check_keyboard(page)
    times = sorted(row["total_ms"] for row in listed)
    shown = page.locator(".requests-durations > div").last.locator("strong").all_inner_texts()
    assert shown == [f"{times[29] / 1000:.1f} s", f"{times[56] / 1000:.1f} s"]
    page.get_by_role("img", name="Requests: at most").wait_for()
    page.locator(".requests-link").first.click()
    page.get_by_role("button", name="Requests of every conversation").wait_for()
    assert "#period=all&conversation=" in page.url


def test_one_request_with_its_parts_and_the_way_back(open_page: Open):
    page = open_page("/ui/requests")
    listed = rows(14, noon())
    showing(page, listed)
    first = page.locator(".request-row").first
    first.focus()
    page.keyboard.press("Enter")
    dialog = page.get_by_role("dialog", name=listed[0]["title"])
    told = dialog.locator(".request-parts").inner_text()
    for name in ("posted", "sent", "cached", "written", "output", "saved"):
        assert f"{listed[0][f'{name}_tokens']:,}" in told
    dialog.get_by_text("because it ranks high for the question").click()
    assert dialog.get_by_role("link", name="message", exact=False).count() == 30
    assert f"&request={listed[0]['id']}" in page.url
    pages.at_each_size(page)
    pages.check_keyboard(page)
    tree = dialog.get_by_role("link", name="Its tree").get_attribute("href")
    assert tree == f"/ui/tree#conversation={listed[0]['address']}"
    page.keyboard.press("Escape")
    dialog.wait_for(state="detached")
    pages.wait_until(page, "document.activeElement.className === 'request-row'")
    assert "request=" not in page.url
    page.evaluate(f"location.hash = '#day={noon().date()}&request={listed[5]['id']}'")
    page.get_by_role("dialog").get_by_text("The answer was an error 502").wait_for()
    page.evaluate("location.hash = '#request=0000000000000bad'")
    page.get_by_role("dialog").get_by_text("nothing is known").wait_for()
    pages.check_accessible(page)


def came(page: Page, asked: list[str], *parts: str, without: str) -> None:
    """Wait until the newest question has these parts."""
    end = time.monotonic() + PATIENCE / 1000
    while not (asked and all(part in asked[-1] for part in parts) and without not in asked[-1]):
        assert time.monotonic() < end, asked
        page.wait_for_timeout(20)


@pytest.mark.long
def test_filters_are_asked_for_and_stay_in_the_address(open_page: Open):
    page = open_page("/ui/requests")
    asked = showing(page, rows(3, noon()))
    came(page, asked, f"since={noon().date()}T00", "until=", without="state=")
    page.get_by_label("State", exact=True).select_option("degraded:embedder")
    came(page, asked, "state=degraded%3Aembedder", without="client=")
    page.locator(".request-row").first.wait_for()
    page.get_by_label("Client", exact=True).select_option("opencode")
    came(page, asked, "state=degraded%3Aembedder", "client=opencode", without="cursor=")
    page.get_by_role("button", name="The day before").click()
    before = (noon() - timedelta(days=1)).date()
    came(page, asked, f"since={before}", "client=opencode", without="cursor=")
    assert f"day={before}" in page.url
    page.get_by_label("Period").select_option("all")
    came(page, asked, "client=opencode", without="since=")
    assert "period=all" in page.url
    page.reload()
    page.locator(".request-row").first.wait_for()
    assert page.get_by_label("Client", exact=True).input_value() == "opencode"


def test_what_came_after_the_first_look_and_before_the_page_listened_is_shown(
    open_page: Open, served: Served
):
    filled.fill(served)
    page = open_page("/ui/requests")
    page.locator(".request-row").nth(2).wait_for()
    first = [page_of([])]

    def answer(route: Route) -> None:
        if first:
            route.fulfill(json=first.pop())
        else:
            route.continue_()

    page.route(LIST, answer)
    page.reload()
    page.locator(".request-row").nth(2).wait_for()
    assert not first


def test_a_request_comes_live_and_leads_to_its_tree_and_back(open_page: Open, served: Served):
    page = open_page("/ui/requests")
    page.get_by_text("No request matches").wait_for()
    page.get_by_role("button", name="Show everything").click()
    page.get_by_role("heading", name="No requests yet").wait_for()
    pages.at_each_size(page)
    filled.fill(served)
    pages.wait_until(page, "document.querySelectorAll('.request-row').length === 3")
    assert figures(page)[0] == 3
    listed = served.call("GET", "/v1/requests").json()
    names = ("requests", "posted_tokens", "sent_tokens", "saved_tokens")
    assert figures(page) == [listed["totals"][name] for name in names]
    newest = listed["requests"][0]
    assert newest["client"] == "claude-code"
    row = page.locator(f".request-row[data-request='{newest['id']}']")
    row.get_by_text("claude-code").wait_for()
    row.locator(".request-title").get_by_text("Untitled").wait_for(state="detached")
    row.click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_text("stand for messages before").wait_for()
    dialog.get_by_role("link", name="Its tree").click()
    page.get_by_role("tree").wait_for()
    page.get_by_role("link", name="Requests of this conversation").click()
    pages.wait_until(page, "document.querySelectorAll('.request-row').length > 0")
    assert f"#conversation={newest['address']}" in page.url
    assert row.count() == 1


def test_on_a_phone_the_rows_come_first(open_page: Open):
    page = open_page("/ui/requests", width=375, height=760)
    showing(page, rows(20, noon()))
    row = page.locator(".request-row").first
    row.wait_for()
    box = row.bounding_box()
    assert box is not None
    assert box["y"] < 300
    page.get_by_role("button", name="20 requests, saved").click()
    page.get_by_role("button", name="Posted tokens").wait_for()
    pages.check_fits(page)
    pages.check_accessible(page)


@pytest.mark.long
def test_texts_from_outside_are_texts(open_page: Open):
    page = open_page("/ui/requests")
    listed = [
        logged(7 * at, noon(), id=f"{at:016x}", title=text, model=text, client=text, reason=text)
        for at, text in enumerate(TEXTS)
    ]
    showing(page, listed)
    page.locator(".request-row").first.wait_for()
    titles = page.locator(".request-title").all_text_contents()
    assert titles == list(TEXTS[: len(titles)])
    page.get_by_role("button", name="Saved tokens").click()
    for at in range(3):
        page.evaluate(f"location.hash = '#day={noon().date()}&request={at:016x}'")
        page.get_by_role("dialog").get_by_text("About it").wait_for()
    page.keyboard.press("Escape")
    page.set_viewport_size({"width": 320, "height": 800})
    pages.check_fits(page)
    pages.check_accessible(page)
