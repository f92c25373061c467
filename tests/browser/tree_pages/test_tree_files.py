"""`/ui/tree` with files: read by the server, kept nowhere, asked about, forgotten."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import pytest

from tests.browser import hostile, pages
from tests.browser.explained import all_cards, answered, explained, sliced, slide, status
from tests.browser.served import Served
from tests.browser.tree_pages.trees import drop

if TYPE_CHECKING:
    from playwright.sync_api import Page, Route

pytestmark = [pytest.mark.browser, pytest.mark.slow]
TITLE = "document.querySelector('{}')?.innerText"


def test_a_dropped_file_is_read_asked_and_forgotten(open_page: Callable[..., Page], served: Served):
    """Messages with wide characters and parts: places are counted in code points."""
    messages = wide_history()
    page = open_page("/ui/tree")
    choose(page, "talk <b>.json", json.dumps({"messages": messages}))
    page.get_by_text("Nothing is folded yet").or_(page.locator(".tree-answer")).first.wait_for()
    answered(page, 20_000)
    slide(page, 4000)
    page.get_by_label("What would the model see").fill("Which port has service-17?")
    page.keyboard.press("Enter")
    page.get_by_role("treeitem").first.wait_for()
    told = explained(served, messages, "Which port has service-17?", 4000)
    answered(page, 4000)
    page.get_by_text(f"{told['usage']['completion_tokens']:,} tokens").wait_for()
    pages.wait_until(page, f"{TITLE.format('.tree-title')} === {TITLE.format('.tree-known bdi')}")
    page.get_by_role("treeitem").first.click()
    cards = all_cards(page)
    assert [card for card in cards if card["part"] != "content"]
    for card in cards:
        assert card["text"] == sliced(messages, card)
    page.get_by_role("button", name="Forget this conversation").click()
    dialog = page.get_by_role("dialog", name="Forget this conversation?")
    dialog.get_by_role("button", name="Cancel").click()
    page.get_by_role("button", name="Forget this conversation").click()
    dialog.get_by_role("button", name="Forget it").click()
    page.get_by_text("See what the model sees").wait_for()
    address = told["memory"]["address"]
    assert served.call("GET", f"/v1/context_memory/conversations/{address}/tree").status_code == 404


@pytest.mark.long
def test_a_file_may_hold_many_conversations_and_none(open_page: Callable[..., Page]):
    """Names, titles and texts of strangers stay what they are: text."""
    page = open_page("/ui/tree")
    choose(page, "<img src=x onerror=alert(1)>.json", "{")
    pages.toasted(page, "not")
    chats = [chatgpt(title, f"{title} again") for title in hostile.TEXTS]
    choose(page, "conversations.json", json.dumps(chats))
    dialog = page.get_by_role("dialog", name="Which conversation?")
    dialog.get_by_text(f"The file has {len(chats)}.").wait_for()
    pages.at_each_size(page)
    first = dialog.get_by_role("button").nth(1)
    title = first.locator(".tree-entry-title").inner_text()
    assert title in {" ".join(text.split()) for text in hostile.TEXTS}
    first.click()
    page.get_by_text("Nothing is folded yet").wait_for()
    assert page.locator(".tree-title").inner_text() == title
    page.locator(".tree-messages summary").click()
    assert "again" in page.locator(".tree-messages pre").first.inner_text()
    pages.at_each_size(page)
    pages.check_keyboard(page)


def chatgpt(title: str, text: str) -> dict[str, Any]:
    """One conversation as ChatGPT exports it."""
    message = {
        "author": {"role": "user"},
        "content": {"content_type": "text", "parts": [text]},
        "create_time": 1.7e9,
    }
    return {
        "title": title,
        "create_time": 1.7e9,
        "current_node": "b",
        "mapping": {
            "a": {"id": "a", "message": None, "parent": None, "children": ["b"]},
            "b": {"id": "b", "message": message, "parent": "a", "children": []},
        },
    }


@pytest.mark.long
def test_a_known_conversation_shows_places_until_its_file_is_there(
    open_page: Callable[..., Page], served: Served
):
    messages = wide_history()
    told = served.call(
        "POST", "/v1/context_memory", {"messages": messages, "target_tokens": 4000}
    ).json()
    address = told["memory"]["address"]
    root = f"/v1/context_memory/conversations/{address}"
    plan = served.call("GET", f"{root}/plan").json()
    page = open_page("/ui/tree")
    page.get_by_role("list", name="Known conversations").get_by_role("button").click()
    page.get_by_text("this was the first time").wait_for()
    assert page.url.endswith(f"#conversation={address}")
    assert page.get_by_role("slider").count() == 0
    assert page.locator("main pre").count() == 0
    page.get_by_role("treeitem").first.click()
    more = page.get_by_role("button", name="more of")
    while more.count():
        more.click()
    shown = page.evaluate(
        """[...document.querySelectorAll(".tree-card")].map((card) =>
          [+card.dataset.message, +card.dataset.start, +card.dataset.end, card.innerText])"""
    )
    blocks = [one for block in plan["recall"] for one in block["excerpts"]]
    quoted = [*plan["excerpts"], *plan["rules"], *blocks]
    assert sorted(row[:3] for row in shown) == sorted(
        [one["message"], one["start"], one["end"]] for one in quoted
    )
    for message, start, end, text in shown:
        assert f"Message {message}" in text
        assert f"characters {start}–{end}" in text
    pages.at_each_size(page)
    pages.check_keyboard(page)
    choose(page, "other.json", json.dumps(messages[:3]))
    other = page.get_by_role("dialog", name="Another conversation")
    other.get_by_text("does not belong to").wait_for()
    other.get_by_role("button", name="Cancel").click()
    more_said = [*messages, {"role": "user", "content": "And now?"}]
    choose(page, "own.json", json.dumps(more_said))
    page.get_by_text("The file belongs to this conversation").wait_for()
    answered(page, 20_000)
    page.get_by_text("this was the first time").wait_for()
    page.go_back()
    page.get_by_text("excerpts are places here").wait_for()


@pytest.mark.long
def test_the_newest_question_wins_and_provisional_answers_are_asked_again(
    open_page: Callable[..., Page], served: Served
):
    page = open_page("/ui/tree")
    unfinished = {"nodes": [], "roots": [], "rules": [], "state": "indexing"}
    tree = "**/v1/context_memory/tree"
    page.route(tree, lambda route: route.fulfill(json=unfinished), times=1)
    drop(page, "talk.json", json.dumps(wide_history()))
    answered(page, 20_000)
    assert page.get_by_role("treeitem").count() > 0  # the second answer has the tree
    hanging: list[Route] = []

    def hang(route: Route) -> None:
        hanging.append(route)

    page.route("**/v1/context_memory", hang)
    page.get_by_role("slider").press("ArrowLeft")
    page.get_by_text("asking again").wait_for()
    while not hanging:
        page.evaluate("new Promise(requestAnimationFrame)")
    page.unroute("**/v1/context_memory")
    slide(page, 4000)
    (old,) = hanging
    from playwright.sync_api import Error

    with contextlib.suppress(Error):  # it was cancelled
        old.fulfill(json={})
    assert "With 4,000 tokens" in status(page)

    def provisional(route: Route) -> None:
        answer = route.fetch().json()
        answer["memory"] |= {"state": "provisional", "reason": "embeddings-pending"}
        answer["memory"]["pending_tokens"] = 12_000
        route.fulfill(json=answer)

    waiting = "**/v1/context_memory/status"
    page.route(waiting, lambda route: route.fulfill(json={"pending_tokens": 9_000}))
    page.route("**/v1/context_memory", provisional, times=1)
    page.get_by_role("slider").press("ArrowRight")
    page.get_by_text("Passages are ranked by their words so far").wait_for()
    pages.check_accessible(page)
    page.unroute(waiting)
    page.get_by_text("Passages are ranked by their words so far").wait_for(state="detached")
    answered(page, 6000)
    page.route("**/v1/context_memory", lambda route: route.abort(), times=1)
    page.get_by_role("slider").press("ArrowRight")
    page.get_by_text("The question was not answered").wait_for()
    page.get_by_role("button", name="Try again").click()
    answered(page, 8000)


def wide_history() -> list[dict[str, Any]]:
    messages: list[dict[str, Any]] = [{"role": "system", "content": "Be brief."}]
    for number in range(120):
        text = f"😀 Note {number}: service-{number} 🚀 listens on port {8000 + number}. " + (
            f"It was moved there because of ticket {number * 7}; the old port stays closed. 🧪 " * 4
        )
        messages.append({"role": "user", "content": [{"type": "text", "text": f"Q{number} 🦊? "},
                                                    {"type": "text", "text": text}]})  # fmt: skip
        messages.append({"role": "assistant", "content": f"Noted {number} 👍. " + text[::-1]})
    return messages


def choose(page: Page, name: str, content: str) -> None:
    page.locator("input[type=file]").set_input_files(
        {"name": name, "mimeType": "application/json", "buffer": content.encode()}
    )


@pytest.mark.long
def test_a_short_conversation_is_not_folded(open_page: Callable[..., Page]):
    page = open_page("/ui/tree")
    choose(page, "short.json", json.dumps([{"role": "user", "content": "Hello"}]))
    page.get_by_text("Nothing is folded yet").wait_for()
    assert "→" not in page.locator(".tree-answer .tree-status").inner_text()
    pages.at_each_size(page)
    page.evaluate("location.hash = '#conversation=abc'")
    page.get_by_text("This link names no conversation").wait_for()


def test_a_known_conversation_is_renamed_by_keyboard(
    open_page: Callable[..., Page], served: Served
):
    body = {"messages": wide_history(), "index_only": True}
    told = served.call("POST", "/v1/context_memory", body, user_agent="aider/0.86").json()
    page = open_page(f"/ui/tree#conversation={told['memory']['address']}")
    page.get_by_text("by aider").wait_for()
    rename = page.get_by_role("button", name="Rename")
    rename.focus()
    page.keyboard.press("Enter")
    field = page.get_by_label("Title of the conversation")
    assert field.evaluate("(field) => field === document.activeElement")
    pages.check_accessible(page)
    page.keyboard.type("Nothing of it")
    page.keyboard.press("Escape")
    assert page.get_by_role("heading", name="Nothing of it").count() == 0
    assert rename.evaluate("(button) => button === document.activeElement")
    page.keyboard.press("Enter")
    page.keyboard.type("Port <b>& pier")
    page.keyboard.press("Enter")
    page.get_by_role("heading", name="Port <b>& pier").wait_for()
    known = page.get_by_role("list", name="Known conversations")
    known.get_by_text("Port <b>& pier").wait_for()
    assert rename.evaluate("(button) => button === document.activeElement")
    rows = served.call("GET", "/v1/context_memory/conversations").json()["conversations"]
    assert [row["title"] for row in rows] == ["Port <b>& pier"]
    pages.at_each_size(page)
    served.call("POST", "/v1/context_memory/delete", {"all": True})
    rename.click()
    page.keyboard.type("Too late")
    page.keyboard.press("Enter")
    page.get_by_text("nothing is known of this address").wait_for()
    page.get_by_role("heading", name="Port <b>& pier").wait_for()
