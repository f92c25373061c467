"""Settings of a chat, its model, its search, its export, and how answers are set."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.browser import pages
from tests.browser.chat.chat_page import answers, ask, reload, send, texts, wait_for_answer
from tests.browser.chat.chat_upstream import SEVERAL
from tests.browser.served import Chatting, Served

if TYPE_CHECKING:
    from playwright.sync_api import Locator, Page

pytestmark = [pytest.mark.browser, pytest.mark.slow]
OpenPage = Callable[..., "Page"]


def settings_of(page: Page) -> Locator:
    page.get_by_role("button", name="Settings of this chat").click()
    return page.get_by_role("dialog", name="Settings of this chat")


def style(element: Locator, name: str) -> str:
    value: str = element.evaluate(f"(element) => getComputedStyle(element).{name}")
    return value


def test_a_system_prompt_and_a_temperature_are_sent_with_each_message(
    open_page: OpenPage, chatting: Chatting
):
    page = open_page(on=chatting.served)
    dialog = settings_of(page)
    dialog.get_by_label("System prompt").fill("Answer in Welsh.")
    dialog.get_by_label("Temperature").fill("3")
    dialog.get_by_text("A number from 0 to 2, or nothing.").wait_for()
    assert dialog.get_by_role("button", name="Save").is_disabled()
    pages.at_each_size(page)
    dialog.get_by_label("Temperature").fill("0,5")
    page.keyboard.press("Enter")
    dialog.wait_for(state="hidden")
    turn = chatting.upstream.turn().say("Bore da.").end()
    send(page, "Good morning")
    wait_for_answer(page, "Bore da.")
    system = {"role": "system", "content": "Answer in Welsh."}
    assert turn.sent() == [system, {"role": "user", "content": "Good morning"}]
    assert turn.body["temperature"] == 0.5

    reload(page)
    page.get_by_role("button", name="Settings of this chat (changed)").wait_for()
    link = page.locator("article.from-user").get_by_role("link", name="Show in tree")
    assert (link.get_attribute("href") or "").endswith("&message=1")
    dialog = settings_of(page)
    assert dialog.get_by_label("System prompt").input_value() == "Answer in Welsh."
    dialog.get_by_label("System prompt").fill("")
    dialog.get_by_label("Temperature").fill("")
    dialog.get_by_role("button", name="Save").click()
    turn = chatting.upstream.turn().say("Fine.").end()
    send(page, "And now?")
    wait_for_answer(page, "Fine.")
    assert [message["role"] for message in turn.sent()] == ["user", "assistant", "user"]
    assert "temperature" not in turn.body


def test_of_several_models_none_is_chosen_but_the_last_used_or_the_configured(
    open_page: OpenPage, chatting: Chatting, serve: Callable[..., Served]
):
    chatting.upstream.models = list(SEVERAL)
    page = open_page(on=chatting.served)
    page.get_by_text("A chat that does not forget").wait_for()
    model = page.get_by_role("combobox", name="Model")
    pages.wait_until(
        page, "document.querySelector('.model-box input').placeholder === 'Choose a model'"
    )
    send(page, "Hello")
    page.get_by_text("Choose a model first.").wait_for()
    page.get_by_role("option", name="scripted-large").click()
    page.get_by_label("Message", exact=True).focus()
    page.keyboard.press("Enter")
    wait_for_answer(page, "Answer 1.")
    page.get_by_role("button", name="New chat").click()
    page.get_by_text("A chat that does not forget").wait_for()
    assert model.input_value() == "scripted-large"
    model.click()
    first = page.get_by_role("listbox", name="Models").get_by_role("option").first
    assert first.inner_text() == "scripted-large"

    own = serve("--upstream", chatting.upstream.url, "--model", "scripted-large")
    page = open_page(on=own)
    page.get_by_text("A chat that does not forget").wait_for()
    assert page.get_by_role("combobox", name="Model").input_value() == "scripted-large"


def test_chats_are_found_by_their_words_and_go_into_another_browser(
    open_page: OpenPage, chatting: Chatting, tmp_path: Path
):
    page = open_page(on=chatting.served)
    chatting.upstream.turn().say("A **russet** keeps well.").end()
    send(page, "About apples")
    wait_for_answer(page, "russet")
    page.get_by_role("button", name="New chat").click()
    page.get_by_text("A chat that does not forget").wait_for()
    ask(page, "About pears", "Answer 2.")
    chats = page.get_by_role("navigation", name="Chats")
    search = chats.get_by_label("Search chats by their words")
    search.fill("RUSSET well")
    chats.get_by_text("1 chat has these words.").wait_for()
    assert chats.get_by_role("link").all_inner_texts()[0].startswith("About apples")
    pages.check_accessible(page)
    with page.expect_download() as found:
        chats.get_by_role("button", name="Export 1").click()
    search.fill("quince")
    chats.get_by_text("No chat has these words.").wait_for()
    search.fill("")
    with page.expect_download() as everything:
        chats.get_by_role("button", name="Export all").click()
    saved = tmp_path / "chats.json"
    found.value.save_as(saved)
    assert [chat["title"] for chat in json.loads(saved.read_text("utf-8"))["chats"]] == [
        "About apples"
    ]
    everything.value.save_as(saved)
    content = json.loads(saved.read_text("utf-8"))
    content["chats"] += [{"id": "<script>"}, 7, {"id": "odd", "messages": [None, {"id": "x"}]}]
    saved.write_text(json.dumps(content), "utf-8")

    other = open_page(on=chatting.served)
    chats = other.get_by_role("navigation", name="Chats")
    chats.get_by_label("File of chats").set_input_files(saved)
    pages.toasted(other, "3 chats imported. 4 chats or messages could not be read.")
    chats.get_by_role("link", name="About apples").click()
    answers(other).get_by_text("keeps well").wait_for()
    assert texts(other) == ["About apples", "A russet keeps well."]
    ask(other, "More", "Answer 3.")
    saved.write_text(saved.read_text("utf-8")[:-40], "utf-8")
    chats.get_by_label("File of chats").set_input_files(saved)
    pages.toasted(other, "The file is no JSON: it may have broken off.")


def test_code_is_coloured_and_copied_tables_are_aligned_and_text_runs_its_own_way(
    open_page: OpenPage, chatting: Chatting
):
    page = open_page(on=chatting.served)
    text = (
        "שלום, זו תשובה\n\n| what | price |\n|:-:|---:|\n| a | 10 |\n\n"
        "```py\ndef f():\n    return 'x'  # why\n```\n"
    )
    chatting.upstream.turn().say(text).end()
    send(page, "مرحبا")
    answer = wait_for_answer(page, "why")
    answer.locator(".token-comment", has_text="# why").wait_for()
    assert answer.locator("pre").inner_text().strip() == "def f():\n    return 'x'  # why"
    page.evaluate("navigator.clipboard.writeText = async (text) => { window.copied = text }")
    answer.get_by_role("button", name="Copy the code").click()
    pages.toasted(page, "Copied.")
    assert page.evaluate("window.copied") == "def f():\n    return 'x'  # why"
    cells = answer.locator("td")
    assert [style(cells.nth(at), "textAlign") for at in (0, 1)] == ["center", "right"]
    assert style(answer.locator(".markdown p").first, "direction") == "rtl"
    assert style(answer.locator("pre"), "direction") == "ltr"
    assert style(page.locator(".from-user .message-text"), "direction") == "rtl"
    pages.at_each_size(page)
