"""`/ui/tree` with a history at hand: what it shows is what `/context_memory` explains."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import pytest

from tests.browser import pages
from tests.browser.explained import all_cards, answered, explained, place, sliced, slide, status
from tests.browser.served import Served

if TYPE_CHECKING:
    from playwright.sync_api import Page, Route

pytestmark = [pytest.mark.browser, pytest.mark.slow]

TARGETS = (8000, 2000)
CHAT = """async () => {
  const { openChatStore } = await import("/ui/static/chat/store/chat_store.js");
  const store = await openChatStore();
  const at = Date.now();
  await store.add({ id: "one", title: "About <b>ports</b>", named: true, model: "m", leaf: "m2",
    draft: "", created: at, updated: at, deleted: null });
  const said = { chat: "one", rev: 1, touched: at, status: "done" };
  await store.put({ ...said, id: "m1", parent: null, role: "user", text: "Which port?",
    created: at });
  await store.put({ ...said, id: "m2", parent: "m1", role: "assistant", text: "Port 8090.",
    created: at + 1 });
}"""


@pytest.mark.long
def test_the_demo_shows_what_the_server_explains_and_the_slider_changes_it(
    open_page: Callable[..., Page], served: Served
):
    page = open_page("/ui/tree")
    page.get_by_text("See what the model sees").wait_for()
    pages.at_each_size(page)
    page.get_by_role("button", name="Open the demo session").click()
    demo = served.call("GET", "/ui/demo.json").json()
    question = demo["questions"][0]
    answered(page, TARGETS[0])
    assert page.get_by_label("What would the model see").input_value() == question
    best = page.locator(".tree-row[aria-selected=true]").inner_text()
    assert question.split(", ")[0].removeprefix("In ") in best
    page.get_by_role("treeitem").first.click()
    for target in TARGETS:
        slide(page, target)
        told = explained(served, demo["messages"], question, target)
        shown = status(page)
        assert f"{told['usage']['completion_tokens']:,}" in shown
        assert f"{len(told['explain']['excerpts']):,} verbatim excerpts" in shown
        cards = all_cards(page)
        excerpts = [place(card) for card in cards if not card["below"]]
        assert sorted(excerpts) == sorted(place(one) for one in told["explain"]["excerpts"])
        candidates = [place(card) for card in cards if card["below"]]
        assert sorted(candidates) == sorted(place(one) for one in told["explain"]["candidates"])
        for card in cards:
            assert card["text"] == sliced(demo["messages"], card)
            assert demo["messages"][card["message"]]["role"].split()[0] in card["head"]
    pages.at_each_size(page)


@pytest.mark.long
def test_what_is_typed_before_the_first_frame_of_the_question_bar_stays(
    open_page: Callable[..., Page], served: Served
):
    page = open_page("/ui/tree")
    page.get_by_text("See what the model sees").wait_for()
    late: list[Route] = []
    page.route("**/ui/demo.json", lambda route: late.append(route))  # noqa: PLW0108  a method is none to it
    with page.expect_request("**/ui/demo.json"):
        page.get_by_role("button", name="Open the demo session").click()
    page.evaluate(pages.HOLD_EFFECTS)
    late[0].continue_()
    field = page.get_by_label("What would the model see")
    field.fill("Which port?")
    page.evaluate("releaseEffects()")
    page.evaluate("new Promise((drawn) => setTimeout(drawn, 300))")
    assert field.input_value() == "Which port?"


def test_a_chat_of_this_browser_and_a_link_to_one_of_its_messages(open_page: Callable[..., Page]):
    page = open_page("/ui/tree")
    page.evaluate(CHAT)
    page.reload()
    page.get_by_role("button", name="About <b>ports</b>").click()
    page.get_by_text("Nothing is folded yet").wait_for()
    assert page.url.endswith("#chat=one")
    page.locator(".tree-messages summary").click()
    said = page.locator(".tree-messages pre").all_inner_texts()
    assert said == ["Which port?", "Port 8090."]
    page.evaluate("location.hash = '#chat=one&leaf=m1&message=0'")
    page.locator(".tree-messages summary").click()
    page.wait_for_function("document.querySelectorAll('.tree-messages pre').length === 1")
    assert page.locator(".tree-row[aria-selected=true]").count() == 1
    page.evaluate("location.hash = '#chat=gone'")
    page.get_by_text("This browser has no chat of that name").wait_for()


@pytest.mark.long
def test_a_pinned_excerpt_stays_for_any_question_until_it_is_unpinned(
    open_page: Callable[..., Page], served: Served
):
    page = open_page("/ui/tree#demo")
    answered(page, TARGETS[0])
    page.get_by_role("treeitem").first.click()
    pin = page.get_by_role("button", name="Pin", exact=True)
    pin.first.click()
    page.get_by_role("button", name="Pinned").wait_for()
    page.get_by_text("It stays in the memory message from the next fold on.").wait_for()
    demo = served.call("GET", "/ui/demo.json").json()
    told = explained(served, demo["messages"], "Something else entirely?", 2_000)
    kept = [one for one in told["explain"]["excerpts"] if one["reason"] == "kept"]
    assert len(kept) == 1
    page.reload()
    answered(page, TARGETS[0])
    page.get_by_role("treeitem").first.click()
    all_cards(page)
    card = page.locator(".tree-card", has_text="it is marked to stay")
    assert card.count() == 1
    card.get_by_role("button", name="Pinned").click()
    card.get_by_role("button", name="Pin", exact=True).wait_for()
    told = explained(served, demo["messages"], "Something else entirely?", 2_000)
    assert not [one for one in told["explain"]["excerpts"] if one["reason"] == "kept"]
    pages.at_each_size(page)
