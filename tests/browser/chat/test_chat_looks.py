"""The chat page for everybody: each size, both colour schemes, hostile texts, thousands of
messages."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import pytest

from tests.browser import pages
from tests.browser.chat.chat_page import answers, questions, reload, send, texts, wait_for_answer
from tests.browser.chat.chat_upstream import MODELS, SEVERAL
from tests.browser.hostile import TEXTS
from tests.browser.served import Chatting

if TYPE_CHECKING:
    from playwright.sync_api import Page

pytestmark = [pytest.mark.browser, pytest.mark.slow, pytest.mark.long]
OpenPage = Callable[..., "Page"]

_FILL = """(total) => new Promise((resolve, reject) => {
  const open = indexedDB.open("memtree-chats");
  open.onerror = () => reject(open.error);
  open.onsuccess = () => {
    const work = open.result.transaction(["chats", "messages"], "readwrite");
    const chat = { id: "long", title: "A long chat", named: true, model: "scripted", draft: "",
      leaf: `m${total - 1}`, created: 1, updated: 1, deleted: null };
    work.objectStore("chats").put(chat);
    for (let at = 0; at < total; at += 1) {
      const parent = at ? `m${at - 1}` : null;
      const text = `Message ${at} says **this**. `.repeat(1 + at % 9);
      work.objectStore("messages").put({ id: `m${at}`, chat: "long", parent, text,
        role: at % 2 ? "assistant" : "user",
        status: "done", created: at + 1, touched: 1, rev: 1, model: "scripted", reasoning: "",
        tools: [], finish: "stop", memory: null, error: null, edited: false });
    }
    work.oncomplete = () => { open.result.close(); resolve(); };
    work.onerror = () => reject(work.error);
  };
})"""


def test_each_state_is_for_everybody(open_page: OpenPage, chatting: Chatting):
    page = open_page(on=chatting.served)
    page.get_by_text("A chat that does not forget").wait_for()
    page.get_by_role("button", name="Memories: 0").wait_for()
    pages.at_each_size(page)
    pages.check_keyboard(page)
    page.get_by_role("button", name="Plan a weekend hike").click()
    page.locator("#composer:focus").wait_for()
    turn = chatting.upstream.turn()
    page.keyboard.press("Enter")
    turn.sent()
    page.get_by_text("Waiting for the answer").wait_for()
    pages.at_each_size(page)
    turn.say("# A plan\n\n| when | what |\n|---|---|\n| 9:00 | go |\n\n```sh\n" + "walk " * 60)
    answers(page).locator("pre").wait_for()
    pages.at_each_size(page)
    turn.say("\n```\n\n- [x] boots\n- [ ] map").end()
    wait_for_answer(page, "boots")
    state = answers(page).get_by_role("button", name="Sent whole")
    state.focus()
    page.get_by_role("tooltip").get_by_text("Under 10,000 tokens").wait_for()
    page.keyboard.press("Escape")
    page.get_by_role("tooltip").wait_for(state="hidden")
    pages.at_each_size(page)
    pages.check_keyboard(page)
    questions(page).get_by_role("button", name="Edit").click()
    pages.at_each_size(page)
    page.keyboard.press("Escape")
    chatting.upstream.models = list(SEVERAL)
    reload(page)
    page.get_by_role("combobox", name="Model").click()
    page.get_by_role("option", name="scripted-large").wait_for()
    pages.at_each_size(page)


def test_hostile_texts_are_shown_as_they_are(open_page: OpenPage, chatting: Chatting):
    chatting.upstream.models = ["<img src=x onerror=alert(1)>", *TEXTS]
    try:
        page = open_page(on=chatting.served)
        page.get_by_role("combobox", name="Model").fill("onerror=alert(1)>")
        page.get_by_role("option", name="<img src=x onerror=alert(1)>", exact=True).click()
    finally:
        chatting.upstream.models = list(MODELS)
    everything = "\n\n".join(TEXTS)
    turn = chatting.upstream.turn()
    turn.event({"model": TEXTS[0], "choices": [{"delta": {"reasoning_content": everything}}]})
    for text in TEXTS:
        call = {"index": 0, "function": {"name": text, "arguments": text}}
        turn.delta({"content": text + "\n\n", "tool_calls": [call]})
    turn.end()
    send(page, everything)
    answer = wait_for_answer(page, "The model called")
    assert questions(page).locator(".message-text").inner_text() == everything.strip()
    for text in TEXTS[:50]:
        assert answer.locator(".message-quiet code", has_text=text[:100]).first.is_visible()
    assert answer.locator(".message-who").inner_text() == TEXTS[0]
    answer.get_by_text("Thoughts").click()

    for text in TEXTS[:8]:
        chatting.upstream.turn().fail(400, text, code=text)
        send(page, text)
        page.locator(".failure").last.get_by_text(text, exact=False).first.wait_for()
        page.get_by_role("button", name="Send").wait_for()  # until then Enter does nothing
    page.get_by_role("button", name="Memories: 0").click()
    page.reload()
    questions(page).last.wait_for()


def test_a_chat_of_3000_messages_is_windowed_and_sent_whole(
    open_page: OpenPage, chatting: Chatting
):
    page = open_page(on=chatting.served)
    page.get_by_text("A chat that does not forget").wait_for()
    page.evaluate(_FILL, 3000)
    page.goto(f"{chatting.served.url}/ui#chat=long")
    page.reload()
    page.get_by_label("Assistant, message 3,000 of 3,000").wait_for()
    assert page.locator("article").count() <= 120
    chatting.upstream.turn().say("All read.").end()
    with page.expect_request("**/chat/completions") as posted:
        send(page, "Did you read it all?")
    messages = posted.value.post_data_json["messages"]
    assert len(messages) == 3001
    assert messages[0]["content"].startswith("Message 0 says")
    wait_for_answer(page, "All read.")

    # To the beginning with one key, and back with a button; no more is drawn than is near.
    page.get_by_role("group", name="Messages", exact=True).focus()
    page.keyboard.press("Home")
    page.get_by_label("You, message 1 of 3,002", exact=True).wait_for()
    assert page.locator("article").count() <= 120
    # What is being written stays when it is scrolled out of sight.
    questions(page).first.get_by_role("button", name="Edit").click()
    page.get_by_label("Your message").fill("Half an edit")
    answers(page).first.locator(".markdown p").first.evaluate(
        "(one) => getSelection().setBaseAndExtent(one.firstChild, 0, one.firstChild, 9)"
    )
    answers(page).first.get_by_role("button", name="Remember this").click()
    page.get_by_label("What to remember").fill("Half a line")
    page.get_by_role("button", name="To the newest").click()
    answers(page).get_by_text("All read.").wait_for()
    page.get_by_label("You, message 41 of 3,002", exact=True).wait_for(state="detached")
    assert page.get_by_label("Your message").input_value() == "Half an edit"
    assert page.get_by_label("What to remember").input_value() == "Half a line"
    page.get_by_label("What to remember").press("Escape")
    page.get_by_label("Your message").press("Escape")
    pages.check_accessible(page)
    shown = page.get_by_role("button", name="Show messages").last
    shown.focus()
    page.keyboard.press("Enter")
    assert texts(page)
