"""Memories as the chat page shows them: remembered by a click, by the model, used in an answer."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import pytest

from tests.browser import pages
from tests.browser.chat.chat_page import answers, ask, badge, questions, send, wait_for_answer
from tests.browser.served import Chatting

if TYPE_CHECKING:
    from playwright.sync_api import Page

pytestmark = [pytest.mark.browser, pytest.mark.slow]
OpenPage = Callable[..., "Page"]


def _saved(chatting: Chatting, page: Page) -> list[dict[str, str]]:
    chat = page.url.partition("#chat=")[2]
    return list(chatting.served.call("GET", f"/chat/api/{chat}/memories").json()["memories"])


@pytest.mark.long
def test_remember_this_once_and_again_and_what_it_may_replace(
    open_page: OpenPage, chatting: Chatting
):
    page = open_page(on=chatting.served)
    ask(page, "The API listens on port 8090.", "Answer 1.")
    badge(page, 0)
    button = questions(page).first.get_by_role("button", name="Remember")
    highlighted = pages.noticing(page, "article.remembered")
    button.click()
    highlighted()
    pages.toasted(page, "Remembered.")
    badge(page, 1)
    (saved,) = _saved(chatting, page)
    message = questions(page).first.get_attribute("data-message")
    assert saved["content"] == "The API listens on port 8090."
    assert (saved["source_type"], saved["message_id"]) == ("user", message)
    button.click()
    pages.toasted(page, "Already remembered.")
    badge(page, 1)

    ask(page, "Which port does the API listen on?", "Answer 2.")
    answers(page).last.get_by_role("button", name="1 memory used").click()
    panel = page.get_by_role("region", name="Memories of this chat")
    panel.get_by_text("The API listens on port 8090.").wait_for()
    ask(page, "The API listens on port 8091.", "Answer 3.")
    questions(page).last.get_by_role("button", name="Remember this").click()
    offer = page.locator(".memory-offer")
    offer.get_by_text("8090 -> 8091").wait_for()
    badge(page, 2)
    pages.at_each_size(page)
    offer.get_by_role("button", name="Replace the old one").click()
    badge(page, 1)
    offer.wait_for(state="detached")
    page.locator("button.remember:focus").wait_for()
    assert [row["content"] for row in _saved(chatting, page)] == ["The API listens on port 8091."]


@pytest.mark.long
def test_a_long_message_or_a_selection_is_put_into_words_first(
    open_page: OpenPage, chatting: Chatting
):
    page = open_page(on=chatting.served)
    chatting.upstream.turn().say("The deadline is Friday. " + "It was moved twice. " * 30).end()
    send(page, "When is it due?")
    answer = wait_for_answer(page, "The deadline is Friday.")
    answer.get_by_role("button", name="Remember this").click()
    line = page.get_by_label("What to remember")
    assert line.input_value().startswith("The deadline is Friday.")
    assert line.input_value().count("It was moved twice.") == 30
    assert line.evaluate("(one) => one.tagName") == "TEXTAREA"
    pages.at_each_size(page)
    page.keyboard.press("Escape")
    page.locator("button.remember:focus").wait_for()

    answer.locator(".markdown p").first.evaluate(
        "(one) => getSelection().setBaseAndExtent(one.firstChild, 0, one.firstChild, 22)"
    )
    answer.get_by_role("button", name="Remember this").click()
    assert line.input_value() == "The deadline is Friday"
    page.keyboard.press("End")
    page.keyboard.type(" at noon")
    page.keyboard.press("Enter")
    badge(page, 1)
    page.locator("button.remember.done:focus").wait_for()
    assert _saved(chatting, page)[0]["content"] == "The deadline is Friday at noon"

    # What is refused stays in the line, with the reason.
    chatting.upstream.turn().say("-----BEGIN " + "PRIVATE KEY----- MIIE").end()
    send(page, "And the key?")
    answer = wait_for_answer(page, "MIIE")
    answer.get_by_role("button", name="Remember this").click()
    page.locator(".field-problem").wait_for()
    assert line.input_value().endswith("MIIE")
    badge(page, 1)


def test_what_the_model_saves_counts_in_every_tab(open_page: OpenPage, chatting: Chatting):
    page = open_page(on=chatting.served)
    ask(page, "Hello", "Answer 1.")
    other = open_page(page.url.removeprefix(chatting.served.url), on=chatting.served, beside=page)
    badge(other, 0)
    call = {"name": "save_memory", "arguments": '{"content": "The user is called Kim."}'}
    chatting.upstream.turn().delta(
        {"tool_calls": [{"index": 0, "id": "c1", "type": "function", "function": call}]}
    ).end("tool_calls")
    chatting.upstream.turn().say("I will remember that, Kim.").end()
    send(page, "I am Kim.")
    wait_for_answer(page, "I will remember that, Kim.")
    badge(page, 1)
    badge(other, 1)
    other.get_by_text("I will remember that, Kim.").wait_for()
    answers(page).last.get_by_role("button", name="Memory updated").click()
    page.get_by_role("region", name="Memories of this chat").get_by_text("Kim").wait_for()
    assert answers(page).first.get_by_role("button", name="Memory updated").count() == 0
    page.keyboard.press("Alt+m")
    assert page.get_by_text("save_memory").count() == 0

    # By keyboard: the panel opens, says it, and gives the focus back.
    page.keyboard.press("Alt+m")
    page.get_by_role("region", name="Memories of this chat").get_by_text("Kim").wait_for()
    page.keyboard.press("Alt+m")
    page.get_by_role("region", name="Memories of this chat").wait_for(state="detached")
    page.set_viewport_size({"width": 600, "height": 800})
    opener = page.get_by_role("button", name="Memories: 1", exact=True)
    opener.focus()
    page.keyboard.press("Enter")
    page.get_by_role("dialog", name="Memories of this chat").get_by_text("Kim").wait_for()
    pages.check_keyboard(page)
    page.keyboard.press("Escape")
    page.locator(".memories-button:focus").wait_for()
