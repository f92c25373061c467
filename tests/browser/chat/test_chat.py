"""The chat page: streaming, stopping, branches, errors, and what outlives what."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import pytest

from tests.browser import pages
from tests.browser.chat.chat_page import (
    answers,
    ask,
    questions,
    reload,
    send,
    texts,
    wait_for_answer,
)
from tests.browser.chat.chat_upstream import MODELS, SECONDS
from tests.browser.served import Chatting, Served
from tests.browser.watched_context import WatchedContext

if TYPE_CHECKING:
    from playwright.sync_api import Page, Route

pytestmark = [pytest.mark.browser, pytest.mark.slow]
OpenPage = Callable[..., "Page"]


def test_an_answer_streams_is_stopped_and_goes_on_from_there(
    open_page: OpenPage, chatting: Chatting
):
    page = open_page(on=chatting.served)
    turn = chatting.upstream.turn()
    # A slow network: what is sent before the models are known waits for them.
    late: list[Route] = []
    page.route("**/v1/models", lambda route: late.append(route))  # noqa: PLW0108  a method is none to it
    with page.expect_request("**/v1/models"):
        page.reload()
    send(page, "Count slowly, please")
    held = page.get_by_text("Your message is sent as soon as the models are known.")
    held.wait_for()
    page.get_by_label("Message", exact=True).press_sequentially(" do")
    held.wait_for(state="hidden")
    send(page, "Count slowly.")
    held.wait_for()
    assert questions(page).count() == 0
    late[-1].continue_()
    assert turn.sent() == [{"role": "user", "content": "Count slowly."}]
    assert turn.body["stream"] is True
    steps = ["One. ", "Two. ", "Three. ", "Four. ", "Five. ", "Six. "]
    grown = ""
    for step in steps:
        turn.say(step)
        grown += step
        answers(page).get_by_text(grown.strip(), exact=True).wait_for()
    # Read out sentence by sentence, beside the text that grows.
    page.locator("[aria-live=polite]", has_text="Five.").first.wait_for(state="attached")

    page.get_by_role("button", name="Stop").click()
    assert turn.gone.wait(SECONDS)
    page.get_by_text("Stopped. What had come is sent with your next message.").wait_for()
    assert texts(page) == ["Count slowly.", grown.strip()]

    reload(page)
    answers(page).get_by_text("Stopped.").wait_for()
    turn = chatting.upstream.turn().say("Seven.").end()
    send(page, "Go on.")
    assert [message["content"] for message in turn.sent()] == ["Count slowly.", grown, "Go on."]
    wait_for_answer(page, "Seven.")


@pytest.mark.long
def test_what_is_sent_before_the_frame_that_follows_the_models_is_sent(
    open_page: OpenPage, chatting: Chatting
):
    page = open_page(on=chatting.served)
    late: list[Route] = []
    page.route("**/v1/models", lambda route: late.append(route))  # noqa: PLW0108  a method is none to it
    with page.expect_request("**/v1/models"):
        page.reload()
    page.get_by_label("Message", exact=True).fill("At once.")
    page.evaluate(pages.HOLD_EFFECTS)
    with page.expect_response("**/v1/models"):
        late[-1].continue_()
    page.evaluate("new Promise((settled) => setTimeout(settled, 300))")  # the answer is rendered
    page.keyboard.press("Enter")
    questions(page).get_by_text("At once.").wait_for()
    page.evaluate("releaseEffects()")
    wait_for_answer(page, "Answer 1.")


@pytest.mark.long
def test_branches_by_keyboard_alone_and_after_a_reload(open_page: OpenPage, chatting: Chatting):
    page = open_page(on=chatting.served)
    ask(page, "First question", "Answer 1.")
    ask(page, "Second question", "Answer 2.")

    edit = questions(page).last.get_by_role("button", name="Edit")
    edit.focus()
    page.keyboard.press("Enter")
    page.locator(".edit-box textarea:focus").wait_for()
    page.keyboard.press("Escape")
    page.locator("button.edit:focus").wait_for()
    page.keyboard.press("Enter")
    page.locator(".edit-box textarea:focus").wait_for()
    page.keyboard.type(", changed")
    # Another answer is asked for meanwhile: the edit waits for it, here and in another chat.
    turn = chatting.upstream.turn()
    answers(page).last.get_by_role("button", name="Another answer").click()
    turn.sent()
    box = page.locator(".edit-box")
    box.get_by_text("You can send this when the answer is complete.").wait_for()
    assert box.get_by_role("button", name="Send").is_disabled()
    box.get_by_role("textbox").focus()
    page.keyboard.press("Enter")
    turn.say("Answer 2b.").end()
    box.get_by_text("The old message stays").wait_for()
    page.get_by_role("button", name="New chat").click()
    page.get_by_text("A chat that does not forget").wait_for()
    page.go_back()
    box.get_by_role("textbox").focus()
    assert box.get_by_role("textbox").input_value() == "Second question, changed"
    page.keyboard.press("Enter")
    wait_for_answer(page, "Answer 4.")
    changed = ["First question", "Answer 1.", "Second question, changed", "Answer 4."]
    assert texts(page) == changed
    sent = chatting.upstream.turns[-1].sent()
    assert [message["content"] for message in sent] == changed[:3]

    assert questions(page).last.get_by_text("2 of 2").is_visible()
    questions(page).last.get_by_role("button", name="The version before").focus()
    page.keyboard.press("Enter")
    questions(page).last.get_by_text("1 of 2").wait_for()
    assert texts(page) == [*changed[:2], "Second question", "Answer 2b."]
    # The focus is on the arrow that leads back.
    page.locator(".branches .after:focus").wait_for()

    reload(page)
    questions(page).last.get_by_text("1 of 2").wait_for()
    assert texts(page) == [*changed[:2], "Second question", "Answer 2b."]
    answers(page).last.get_by_role("button", name="Another answer").click()
    wait_for_answer(page, "Answer 5.")
    assert answers(page).last.get_by_text("3 of 3").is_visible()

    answers(page).first.get_by_role("button", name="Edit").click()
    page.get_by_label("The answer").fill("What it should have said.")
    page.keyboard.press("Control+Enter")
    page.get_by_text("What it should have said.").wait_for()
    assert texts(page) == ["First question", "What it should have said."]
    turn = chatting.upstream.turn().say("Fine.").end()
    send(page, "So?")
    assert turn.sent()[1] == {"role": "assistant", "content": "What it should have said."}
    wait_for_answer(page, "Fine.")


@pytest.mark.long
def test_errors_stand_in_the_bubble_in_plain_words(
    open_page: OpenPage, chatting: Chatting, windows: list[WatchedContext]
):
    page = open_page(on=chatting.served)
    windows[-1].allowed.append("ERR_INCOMPLETE_CHUNKED_ENCODING|ERR_CONNECTION_RESET")
    upstream = chatting.upstream
    shown = page.locator(".failure")

    upstream.models = 502
    page.reload()
    unlisted = page.get_by_text("The models could not be listed.")
    unlisted.wait_for()
    upstream.models = list(MODELS)
    page.get_by_role("button", name="Try again").click()
    unlisted.wait_for(state="detached")
    pages.wait_until(page, "document.querySelector('.model-box input').value === 'scripted'")
    upstream.turn().fail(500, "<b>boom</b>")
    send(page, "Hello")
    shown.get_by_text("The model's server had an error (500).").wait_for()
    assert shown.get_by_text("“<b>boom</b>”").is_visible()
    pages.at_each_size(page)

    def retry(told: str) -> None:
        page.get_by_role("button", name="Retry").click()
        shown.get_by_text(told).first.wait_for()

    upstream.turn().fail(429, "slow down", retry_after="7")
    retry("Try again in 7 seconds.")
    upstream.turn().fail(413, "too long", code="context_length_exceeded")
    retry("Too long for this model")
    upstream.turn().fail(404, "no such model")
    retry("Model not found")
    upstream.turn().event({"error": {"message": "overloaded", "code": 529}}).end()
    retry("The model is overloaded")
    half = upstream.turn().say("Half of it")
    page.get_by_role("button", name="Retry").click()
    answers(page).get_by_text("Half of it").wait_for()
    half.cut()
    shown.get_by_text("The answer broke off.").wait_for()
    assert texts(page) == ["Hello", "Half of it"]
    assert answers(page).count() == 1
    upstream.turn().say("Half again").close()
    retry("The model's server closed the connection before the end. What had come is kept.")
    assert texts(page) == ["Hello", "Half again"]
    live = page.locator("[aria-live=polite]")
    assert live.get_by_text("The answer is complete.").count() == 0

    # Another answer beside the half one; an upstream that does not stream at all.
    whole = {"choices": [{"message": {"role": "assistant", "content": "All of it."}}]}
    upstream.turn().whole(200, whole)
    page.get_by_role("button", name="Retry").click()
    wait_for_answer(page, "All of it.")
    assert answers(page).get_by_text("3 of 3").is_visible()
    live.get_by_text("The answer is complete.").wait_for(state="attached")
    assert shown.count() == 0

    odd = upstream.turn()
    odd.delta({"reasoning_content": "Let me <i>think</i>."})
    odd.delta({"tool_calls": [{"index": 0, "function": {"name": "<u>run</u>", "arguments": "{}"}}]})
    odd.raw(b"data: {not json\n\n: a comment\n\n").say("Done").end("length")
    send(page, "Think")
    answer = wait_for_answer(page, "Done")
    assert answer.get_by_text("<u>run</u>").is_visible()
    assert answer.get_by_text("The answer ends at the model's limit of tokens.").is_visible()
    answer.get_by_text("Thoughts").click()
    assert answer.get_by_text("Let me <i>think</i>.").is_visible()
    pages.check_accessible(page)


@pytest.mark.long
def test_a_key_that_is_refused_is_asked_for_again(open_page: OpenPage, chatting: Chatting):
    page = open_page(on=chatting.served)
    ask(page, "Hello", "Answer 1.")
    chatting.upstream.turn().fail(401, "This key was revoked.")
    after = chatting.upstream.turn().say("Back again.").end()
    send(page, "Still there?")
    dialog = page.get_by_role("dialog", name="Which key does your client use?")
    dialog.get_by_text("This key was revoked.").wait_for()
    page.get_by_label("Key", exact=True).fill(f"{chatting.served.key}-new")
    page.keyboard.press("Enter")
    wait_for_answer(page, "Back again.")
    assert after.headers["authorization"] == f"Bearer {chatting.served.key}-new"
    assert texts(page) == ["Hello", "Answer 1.", "Still there?", "Back again."]

    chatting.upstream.turn().fail(401, "Not this one either.")
    send(page, "And now?")
    dialog.get_by_text("Not this one either.").wait_for()
    page.keyboard.press("Escape")
    page.locator(".failure").get_by_text("The key was not accepted.").wait_for()
    pages.check_accessible(page)
    page.get_by_role("button", name="Enter another key").click()
    dialog.wait_for()
    page.get_by_label("Key", exact=True).fill(chatting.served.key)
    page.keyboard.press("Enter")
    wait_for_answer(page, "Answer")
    assert texts(page)[-2] == "And now?"


@pytest.mark.long
def test_a_server_that_restarts_in_mid_stream_takes_nothing_away(
    open_page: OpenPage,
    serve: Callable[..., Served],
    chatting: Chatting,
    windows: list[WatchedContext],
):
    first = serve("--upstream", chatting.upstream.url)
    page = open_page(on=first)
    windows[-1].allowed.append("ERR_")
    turn = chatting.upstream.turn()
    send(page, "Tell me a story.")
    turn.say("Once upon a time")
    answers(page).get_by_text("Once upon a time").wait_for()
    first.server.kill()
    page.locator(".failure").get_by_text("The answer broke off.").wait_for()
    assert texts(page) == ["Tell me a story.", "Once upon a time"]
    page.get_by_role("button", name="Retry").click()
    answers(page).get_by_text("2 of 2").wait_for()
    page.locator(".failure").get_by_text("The connection was lost.").wait_for()

    serve("--upstream", chatting.upstream.url, port=first.server.port)
    chatting.upstream.turn().say("Once upon a time, there was an end.").end()
    page.get_by_role("button", name="Retry").click()
    wait_for_answer(page, "there was an end.")
    reload(page)
    answers(page).get_by_text("2 of 2").wait_for()
    answers(page).get_by_role("button", name="The version before").click()
    answers(page).get_by_text("1 of 2").wait_for()
    assert texts(page)[-1] == "Once upon a time"


@pytest.mark.long
def test_without_a_model_the_page_says_so_and_leads_to_the_tree(
    open_page: OpenPage, serve: Callable[..., Served]
):
    page = open_page(on=serve("--upstream", "none"))
    page.get_by_text("No model is connected.").wait_for()
    pages.at_each_size(page)
    page.get_by_role("combobox", name="Model").fill("any")
    send(page, "Hello")
    failure = page.locator(".failure")
    failure.get_by_text("No model is connected.").wait_for()
    assert (
        failure.get_by_role("link", name="Open the tree page").get_attribute("href") == "/ui/tree"
    )
    assert texts(page)[0] == "Hello"
