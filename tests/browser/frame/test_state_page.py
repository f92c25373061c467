"""`/ui/state`: what it shows is what the API says, in every state that it can be in."""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

import pytest

from tests.browser import pages
from tests.browser.hostile import TEXTS
from tests.browser.served import Served
from tests.browser.watched_context import WatchedContext
from tests.programs.sessions import chat

if TYPE_CHECKING:
    from playwright.sync_api import Page, Route

pytestmark = [pytest.mark.browser, pytest.mark.slow]

Open = Callable[..., "Page"]
STEP = 10  # messages that a request of the test's conversation adds
USAGE, HEALTH = "**/v1/usage?*", "**/v1/health/details"


def answered(value: Any, status: int = 200) -> Callable[[Route], None]:
    """A handler that answers with this in the server's place."""

    def answer(route: Route) -> None:
        route.fulfill(status=status, content_type="application/json", body=json.dumps(value))

    return answer


def refused(message: str, status: int) -> Callable[[Route], None]:
    return answered({"error": {"message": message, "code": "x", "param": None}}, status)


def ask_again(page: Page) -> None:
    """Do at once what the page does by itself after ten seconds, and when its tab is seen again."""
    page.evaluate("document.dispatchEvent(new Event('visibilitychange'))")


def hero(page: Page) -> str:
    return page.locator(".state-hero > :first-child").inner_text().replace("\u2212", "-")


def usage(days: int, **changes: Any) -> dict[str, Any]:
    """An answer of `GET /usage`, each day of which has some requests."""
    today = datetime.now(UTC).date()
    daily = [
        {
            "date": (today - timedelta(days=ago)).isoformat(),
            "requests": {"packed": 3 + ago % 7, "below-threshold": ago % 3, "refused": ago % 2},
            "raw_tokens": 100_000 + ago, "sent_tokens": 40_000, "saved_tokens": 1_000 - ago,
        }
        for ago in range(days - 1, -1, -1)
    ]  # fmt: skip
    states: dict[str, int] = {}
    for day in daily:
        for state, times in day["requests"].items():  # type: ignore[attr-defined]
            states[state] = states.get(state, 0) + times
    return {
        "period": {"first": daily[0]["date"], "last": daily[-1]["date"], "days": days},
        "requests": {"total": sum(states.values()), "by_state": states},
        "raw_tokens": sum(day["raw_tokens"] for day in daily),  # type: ignore[misc]
        "sent_tokens": sum(day["sent_tokens"] for day in daily),  # type: ignore[misc]
        "saved_tokens": sum(day["saved_tokens"] for day in daily),  # type: ignore[misc]
        "saved_money": None,
        "pending": {"tokens": 0, "jobs": 0},
        "latency_ms": {"p50": 9.4, "p95": 61.2},
        "daily": daily,
        **changes,
    }


@pytest.mark.long
def test_before_anything_came(open_page: Open, served: Served):
    page = open_page("/ui/state")
    page.get_by_role("heading", name="No requests with memory in the last 30 days").wait_for()
    page.get_by_text("background work runs in the server itself").wait_for()
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    for name, text in (("Base URL", f"{served.url}/v1"), ("header", "x-polychat-memory: on")):
        page.get_by_role("button", name=f"Copy the {name}").click()
        pages.toasted(page, f"{name[0].upper()}{name[1:]} copied.")
        assert page.evaluate("navigator.clipboard.readText()") == text
    pages.at_each_size(page)
    pages.check_keyboard(page)


def test_the_number_is_that_of_the_requests_that_were_made(open_page: Open, served: Served):
    messages = chat(260)
    saved = 0
    states: list[str] = []
    for length in range(200, len(messages) + 1, STEP):
        body = {"messages": messages[:length]}
        answer = served.call("POST", "/v1/context_memory", body).json()
        saved = answer["memory"]["saved_tokens"]  # of the conversation so far
        states.append(answer["memory"]["state"])
    told = served.call("GET", "/v1/usage?days=30").json()
    assert abs(told["saved_tokens"] - saved) <= 1
    assert saved != 0
    page = open_page("/ui/state")
    page.get_by_text("Up to date").wait_for()
    assert hero(page) == f"{told['saved_tokens']:,}"
    assert told["requests"]["total"] == len(states)
    shown = page.locator(".state-legend li", has_text="packed").locator(".state-times")
    assert int(shown.inner_text()) == states.count("packed") > 0
    figures = page.locator(".state-figure").all_inner_texts()
    assert f"{told['sent_tokens']:,}" in figures[0]
    assert f"{told['raw_tokens']:,}" in figures[0]
    body = {"messages": messages}
    answer = served.call("POST", "/v1/context_memory", body).json()
    ask_again(page)
    page.get_by_text(f"{len(states) + 1} in all").wait_for()
    told = served.call("GET", "/v1/usage?days=30").json()
    assert abs(told["saved_tokens"] - answer["memory"]["saved_tokens"]) <= 1
    assert hero(page) == f"{told['saved_tokens']:,}"
    pages.at_each_size(page)


@pytest.mark.long
def test_a_loss_is_shown_with_its_reason_and_a_period_is_kept(open_page: Open):
    page = open_page("/ui/state")
    page.get_by_role("heading", name="No requests").wait_for()
    lost = usage(400, saved_tokens=-123_456, saved_money={"amount": -0.31, "requests": 7})
    page.route(USAGE, answered(lost))
    page.get_by_label("Period").select_option("400 days")
    page.get_by_role("heading", name="Spent more than saved in the last 400 days").wait_for()
    assert page.url.endswith("#days=400")
    assert hero(page) == "-123,456"
    assert (
        "\u22120.31 at the prices that are set (for 7 of the requests)"
        in page.locator(".state-money").inner_text()
    )
    page.get_by_text("before it pays", exact=False).wait_for()
    for name in ("Requests per day: at most 12", "Tokens per day, posted and sent: at most"):
        page.get_by_role("img", name=name).wait_for()
    chart = page.locator(".state-chart svg").first
    assert chart.locator("path").count() == 5  # the grid, and one for each group
    chart.hover()
    page.locator(".state-told").first.wait_for()
    pages.at_each_size(page)
    page.get_by_text("Show every day as a table").click()
    pages.wait_until(page, "document.querySelectorAll('.state-table tbody tr').length === 400")
    newest = page.locator(".state-table tbody tr").first.locator("td").all_inner_texts()
    assert newest == ["3", "0", "0", "0", "100,000", "40,000", "1,000"]
    pages.check_fits(page)
    pages.check_scrollers(page, "wide")
    pages.check_keyboard(page)
    page.unroute(USAGE)
    page.reload()
    page.get_by_role("heading", name="No requests with memory in the last 400 days").wait_for()


@pytest.mark.long
def test_an_error_leaves_the_last_good_value_with_its_age(open_page: Open):
    page = open_page("/ui/state")
    page.get_by_role("heading", name="No requests").wait_for()
    page.route(USAGE, answered(usage(30)))
    page.get_by_label("Period").select_option("7 days")
    page.get_by_text("Saved in the last 30 days").wait_for()
    before, width = hero(page), page.locator(".state-saved").bounding_box()
    page.route(USAGE, lambda route: route.abort())
    page.route(HEALTH, refused("The store is locked.", 503))
    ask_again(page)
    stale = page.locator(".state-stale")
    stale.get_by_text("The server cannot be reached", exact=False).wait_for()
    assert stale.locator("time").count() == 1
    page.get_by_text("The store is locked.", exact=False).wait_for()
    assert page.locator(".state-findings li").count() > 3
    assert hero(page) == before
    box = page.locator(".state-saved").bounding_box()
    assert box is not None
    assert width is not None
    assert (box["width"], box["height"]) == (width["width"], width["height"])
    pages.at_each_size(page)
    page.route(USAGE, answered(usage(7)))
    stale.get_by_role("button", name="Try again").click()
    page.get_by_text("Saved in the last 7 days").wait_for()
    assert stale.count() == 0


@pytest.mark.long
def test_a_server_that_takes_long_is_waited_for(open_page: Open):
    page = open_page("/ui/state")
    page.get_by_role("heading", name="No requests").wait_for()
    page.clock.install()
    page.reload()  # so that no timer of the page runs by another clock
    page.get_by_role("heading", name="No requests").wait_for()
    hanging: list[Route] = []

    def hang(route: Route) -> None:
        hanging.append(route)

    page.route(USAGE, hang)
    ask_again(page)
    while not hanging:
        page.wait_for_timeout(20)
    page.clock.fast_forward(30_000)
    assert len(hanging) == 1
    hanging[0].fulfill(json=usage(30, requests={"total": 19, "by_state": {"packed": 19}}))
    page.get_by_text("Saved in the last 30 days").wait_for()
    assert page.get_by_text("19 of 20").count() == 0  # of so few
    page.route(USAGE, answered(usage(7)))
    page.clock.fast_forward(11_000)
    for late in hanging[1:]:  # ten seconds have passed before
        late.fulfill(json=usage(7))
    page.get_by_text("Saved in the last 7 days").wait_for()
    page.get_by_text("9.4 ms / 61 ms").wait_for()
    page.get_by_text("and for 19 of 20").wait_for()


@pytest.mark.long
def test_whose_key_shows_what(open_page: Open, windows: list[WatchedContext], served: Served):
    page = open_page("/ui/state")
    dialog = page.get_by_role("dialog")
    denied = refused("Incorrect API key provided.", 401)
    page.route(HEALTH, denied)
    page.reload()
    page.get_by_role("heading", name="No requests").wait_for()
    page.get_by_text("Only the operator sees", exact=False).wait_for()
    assert dialog.count() == 0
    pages.at_each_size(page)
    page.unroute(HEALTH)
    page.route(USAGE, denied)
    page.reload()  # the operator's key is no client's
    page.get_by_text("This is the operator's key", exact=False).wait_for()
    page.get_by_text("background work runs in the server itself").wait_for()
    assert dialog.count() == 0
    pages.at_each_size(page)
    page.route(HEALTH, denied)
    page.reload()  # nobody's key: then it is asked for
    dialog.wait_for()
    page.get_by_text("Incorrect API key provided.").first.wait_for()
    assert served.key not in " ".join(windows[-1].requests)


@pytest.mark.long
def test_texts_from_outside_are_texts(open_page: Open):
    page = open_page("/ui/state")
    page.get_by_role("heading", name="No requests").wait_for()
    findings = [{"part": text, "level": "problem", "text": text} for text in TEXTS]
    findings += [{"part": "x", "level": text, "text": "x"} for text in TEXTS]
    states = dict.fromkeys(TEXTS, 2)
    hostile = usage(7, requests={"total": 2 * len(states), "by_state": states})
    hostile["daily"][-1]["requests"] = states
    page.route(USAGE, answered(hostile))
    page.route(HEALTH, answered({"version": "x", "findings": findings}))
    page.route("**/v1/health", answered({"status": "ok", "version": TEXTS[0]}))
    page.reload()
    page.get_by_text("Saved in the last 7 days").wait_for()
    page.locator(".state-findings li").nth(2 * len(TEXTS) - 1).wait_for()
    page.get_by_text(f"MemTree {TEXTS[0]}", exact=True).wait_for()
    shown = page.locator(".state-findings li > :last-child").all_text_contents()
    assert shown == [*TEXTS, *["x"] * len(TEXTS)]
    assert sorted(page.locator(".state-legend code").all_text_contents()) == sorted(set(TEXTS))
    page.get_by_text("Show every day as a table").click()
    page.locator(".state-table table").wait_for()
    page.unroute(USAGE)
    for text in TEXTS[:5]:
        page.route(USAGE, refused(text, 503))
        ask_again(page)
        page.locator(".state-stale").get_by_text(text, exact=False).wait_for()
    page.set_viewport_size({"width": 320, "height": 800})
    pages.check_fits(page)
    pages.check_accessible(page)
