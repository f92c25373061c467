"""Chats in the browser's store: the list, two tabs, an answer whose tab is closed."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import pytest

from tests.browser import pages
from tests.browser.chat.chat_page import (
    answers,
    ask,
    questions,
    send,
    texts,
    wait_for_answer,
    wait_for_unsent,
)
from tests.browser.chat.chat_upstream import SECONDS, SEVERAL
from tests.browser.served import Chatting

if TYPE_CHECKING:
    from playwright.sync_api import Page

pytestmark = [pytest.mark.browser, pytest.mark.slow, pytest.mark.long]
OpenPage = Callable[..., "Page"]


def test_two_tabs_of_one_chat_lose_nothing(open_page: OpenPage, chatting: Chatting):
    def address() -> str:
        return page.url.removeprefix(chatting.served.url)

    page = open_page(on=chatting.served)
    ask(page, "Hello", "Answer 1.")
    other = open_page(address(), on=chatting.served, beside=page)
    other.get_by_text("Answer 1.").wait_for()

    turn = chatting.upstream.turn()
    send(page, "From the first tab")
    turn.say("It grows")
    other.get_by_text("From the first tab").wait_for()
    turn.say(" in both.").end()
    other.get_by_text("It grows in both.").wait_for()

    turns = [chatting.upstream.turn(), chatting.upstream.turn()]
    send(page, "At once, here")
    turns[0].sent()
    other.get_by_text("At once, here").wait_for()
    questions(other).nth(1).get_by_role("button", name="Edit").click()
    other.get_by_label("Your message").fill("At once, there")
    other.keyboard.press("Enter")
    assert turns[1].sent()[-1]["content"] == "At once, there"
    for turn, text in zip(turns, ["First.", "Second."], strict=True):
        turn.say(text).end()
    wait_for_answer(page, "First.")
    wait_for_answer(other, "Second.")
    assert texts(page)[-2:] == ["At once, here", "First."]
    assert texts(other) == ["Hello", "Answer 1.", "At once, there", "Second."]
    questions(page).nth(1).get_by_text("1 of 2").wait_for()

    # The tab that asks is closed: another one says so after a while, and keeps what had come.
    turn = chatting.upstream.turn()
    send(page, "A last one")
    turn.say("Half an ans")
    late = open_page(address(), on=chatting.served, beside=other)
    answers(late).get_by_text("Half an ans").wait_for()
    page.close()
    assert turn.gone.wait(SECONDS)
    late.locator(".failure").get_by_text("The answer was interrupted.").wait_for()
    assert texts(late)[-2:] == ["A last one", "Half an ans"]
    chatting.upstream.turn().say("A whole answer.").end()
    late.get_by_role("button", name="Retry").click()
    wait_for_answer(late, "A whole answer.")


def test_the_list_of_chats_by_keyboard_alone(open_page: OpenPage, chatting: Chatting):
    page = open_page(on=chatting.served)
    ask(page, "About apples", "Answer 1.")
    page.get_by_role("button", name="New chat").focus()
    page.keyboard.press("Enter")
    page.get_by_text("A chat that does not forget").wait_for()
    chatting.upstream.models = list(SEVERAL)
    page.reload()
    page.get_by_text("A chat that does not forget").wait_for()
    # A part of a name is no name: it is chosen with Enter, by the one model or the first.
    model = page.get_by_role("combobox", name="Model")
    model.fill("scr")
    page.keyboard.press("Tab")
    assert model.input_value() == "scripted"
    model.fill("larg")
    page.keyboard.press("Enter")
    assert model.input_value() == "scripted-large"
    model.fill("scr")
    page.keyboard.press("Enter")
    page.get_by_role("option", name="scripted", exact=True, selected=True).wait_for()
    page.keyboard.press("Enter")
    assert model.input_value() == "scripted"
    model.fill("scripted")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    assert model.input_value() == "scripted-large"
    page.get_by_label("Message", exact=True).focus()
    page.keyboard.type("About pears")
    # What is typed before the first message outlives a reload, and another chat.
    chats = page.get_by_role("navigation", name="Chats")
    chats.get_by_role("link", name="About apples").click()
    page.get_by_text("Answer 1.").wait_for()
    wait_for_unsent(page, "About pears")
    page.reload()
    page.get_by_text("Answer 1.").wait_for()
    assert chats.get_by_role("listitem").count() == 1
    page.get_by_role("button", name="New chat").click()
    page.get_by_text("A chat that does not forget").wait_for()
    assert page.get_by_label("Message", exact=True).input_value() == "About pears"
    model.fill("scripted-large")
    page.keyboard.press("Enter")
    page.get_by_label("Message", exact=True).focus()
    page.keyboard.press("End")
    page.keyboard.press("Shift+Enter")
    page.keyboard.type("and plums")
    page.keyboard.press("Enter")
    wait_for_answer(page, "Answer 2.")
    turn = chatting.upstream.turns[-1]
    assert turn.body["model"] == "scripted-large"
    assert turn.sent() == [{"role": "user", "content": "About pears\nand plums"}]
    pages.check_keyboard(page)

    # What is typed and not sent is kept with its chat.
    page.get_by_label("Message", exact=True).fill("a draft")
    chats.get_by_role("link", name="About apples").focus()
    page.keyboard.press("Enter")
    page.get_by_text("Answer 1.").wait_for()
    assert page.get_by_role("combobox", name="Model").input_value() == "scripted"
    page.go_back()
    page.get_by_text("Answer 2.").wait_for()
    assert page.get_by_label("Message", exact=True).input_value() == "a draft"
    assert page.get_by_role("combobox", name="Model").input_value() == "scripted-large"

    chats.get_by_role("button", name="Rename “About apples”").focus()
    page.keyboard.press("Enter")
    page.get_by_label("Title of the chat").fill("Fruit")
    page.keyboard.press("Enter")
    chats.get_by_role("button", name="Delete “Fruit”").focus()
    page.keyboard.press("Enter")
    page.locator(".chat-new:focus").wait_for()
    chats.get_by_role("link", name="Fruit").wait_for(state="detached")
    page.get_by_role("button", name="Undo").focus()
    page.keyboard.press("Enter")
    chats.get_by_role("link", name="Fruit").wait_for()
    page.get_by_text("Answer 1.").wait_for()

    # The memories of a chat that came by its address may be another client's.
    page.evaluate("location.hash = 'chat=another-client'")
    page.get_by_text("A chat that does not forget").wait_for()
    ask(page, "About nuts", "Answer 3.")
    chats.get_by_role("button", name="Delete “About nuts”").click()
    page.get_by_text("Chat deleted; its memories stay.").wait_for()
    chats.get_by_role("link", name="About pears").click()
    page.get_by_text("Answer 2.").wait_for()

    page.set_viewport_size({"width": 320, "height": 700})
    page.get_by_role("button", name="Chats").focus()
    page.keyboard.press("Enter")
    drawer = page.get_by_role("dialog", name="Chats")
    drawer.get_by_role("button", name="New chat").wait_for()
    page.locator("[inert]").first.wait_for(state="attached")  # what lies behind it
    pages.check_keyboard(page)
    pages.check_accessible(page)
    drawer.get_by_role("link", name="About pears").focus()
    page.keyboard.press("Enter")
    page.get_by_text("Answer 2.").wait_for()
    drawer.wait_for(state="detached")
