"""Read what the tree page shows of an answer with `explain`, and what the server says of the
same."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from tests.browser.served import Served

if TYPE_CHECKING:
    from playwright.sync_api import Page

CARDS = """[...document.querySelectorAll(".tree-detail .tree-card[data-part]")].map((card) => ({
  message: +card.dataset.message, part: card.dataset.part, start: +card.dataset.start,
  end: +card.dataset.end, text: card.querySelector("pre").textContent,
  below: card.classList.contains("below"), head: card.querySelector("p").textContent }))"""


def answered(page: Page, target: int) -> None:
    """Wait until what is shown is the answer for a target."""
    shown = page.locator(".tree-answer .tree-status[aria-busy=false]")
    shown.get_by_text(f"With {target:,} tokens").wait_for()


def slide(page: Page, target: int) -> None:
    """Move the slider by keyboard to a target."""
    slider = page.get_by_role("slider")
    slider.focus()
    for _ in range(40):
        now = int(slider.get_attribute("aria-valuetext").split()[0].replace(",", ""))
        if now == target:
            break
        page.keyboard.press("ArrowLeft" if now > target else "ArrowRight")
    answered(page, target)


def status(page: Page) -> str:
    return page.locator(".tree-answer .tree-status").inner_text()


def explained(served: Served, messages: list[Any], query: str, target: int) -> Any:
    fields = {"query": query, "target_tokens": target, "mode": "fresh", "explain": True}
    answer = served.call("POST", "/v1/context_memory", {"messages": messages, **fields})
    assert answer.status_code == 200
    return answer.json()


def all_cards(page: Page) -> list[dict[str, Any]]:
    """Those of the selected node, after asking for more of them as long as there are more."""
    detail = page.locator(".tree-detail")
    for name in ("excerpts", "candidates"):
        more = detail.get_by_role("button", name=f"{name}")
        while more.count():
            more.click()
    for whole in detail.get_by_role("button", name="Show all of it").all()[::-1]:
        whole.click()
    cards: list[dict[str, Any]] = page.evaluate(CARDS)
    return cards


def place(one: dict[str, Any]) -> tuple[Any, ...]:
    return one["message"], one["part"], one["start"], one["end"]


def sliced(messages: list[Any], card: dict[str, Any]) -> str:
    """Counted in code points, as Python does."""
    value = messages[card["message"]]
    for step in steps(card["part"]):
        value = (json.loads(value) if isinstance(value, str) else value)[step]
    text = value["text"] if isinstance(value, dict) else value
    return str(text)[card["start"] : card["end"]]


def steps(part: str) -> Iterator[str | int]:
    for step in part.replace("]", "").replace("[", ".").split("."):
        yield int(step) if step.isdigit() else step
