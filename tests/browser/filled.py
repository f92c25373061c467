"""Fill the pages for somebody who has used the product: memories, conversations, requests."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.browser.served import Served
from tests.made.scripted import Say

if TYPE_CHECKING:
    from playwright.sync_api import Page

# Where each page is filled, and what is there once it is drawn.
PAGES = {
    "/ui": ".message.from-model .message-body",
    "/ui/memories": ".memory",
    "/ui/tree#demo": ".tree-answer .tree-status[aria-busy=false]",
    "/ui/requests": ".request-row",
    "/ui/state": ".state-legend li",
}
CLIENT = "claude-cli/2.0.1 (external, cli)"


def fill(served: Served) -> None:
    """Save memories, of which one holds for every answer and one contradicts another, and chat."""
    for text, standing in (
        ("Always answer in British English.", True),
        ("The staging API listens on port 8090.", False),
        ("The staging API listens on port 8091.", False),
    ):
        body = {"text": text, "category": "fact", "standing": standing}
        assert served.call("POST", "/v1/memories", body).status_code in (200, 201)
    demo = served.call("GET", "/ui/demo.json").json()["messages"]
    served.script(*[Say(f"Answer {number}.") for number in range(20)])
    for end in (20, 180, 200):
        body = {
            "model": "small-model",
            "messages": [*demo[:end], {"role": "user", "content": "What was done so far?"}],
        }
        answer = served.call(
            "POST", "/v1/chat/completions", body, x_polychat_memory="on", user_agent=CLIENT
        )
        assert answer.status_code == 200, answer.text


def drawn(page: Page, path: str) -> None:
    """Wait until the page shows what `fill` has made."""
    if path == "/ui":
        box = page.get_by_label("Message", exact=True)
        box.fill("Which port?")
        box.press("Enter")
    page.locator(PAGES[path]).first.wait_for()
