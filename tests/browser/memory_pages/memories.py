"""Shared by the tests of memories in a browser: cards and where they are."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import httpx

from tests.browser.served import Served

if TYPE_CHECKING:
    from playwright.sync_api import Locator, Page

PAGE = "/ui/memories"
# The tab goes out of sight, and comes into it.
HIDE = """() => {
  Object.defineProperty(document, "hidden", { configurable: true, get: () => true });
  document.dispatchEvent(new Event("visibilitychange"));
}"""
SHOW = """() => {
  delete document.hidden;
  document.dispatchEvent(new Event("visibilitychange"));
}"""


def saved(served: Served, text: str, **fields: Any) -> dict[str, Any]:
    """A memory of the user, saved by the API."""
    answer = served.call("POST", "/v1/memories", {"text": text, **fields})
    assert answer.status_code == 201, answer.text
    row: dict[str, Any] = answer.json()
    return row


def imported(served: Served, rows: list[dict[str, object]]) -> None:
    """Memories of the user, from a file."""
    lines = "\n".join(json.dumps(row) for row in rows)
    answer = httpx.post(
        f"{served.url}/v1/memories/import",
        content=lines.encode(),
        headers={
            "authorization": f"Bearer {served.key}",
            "content-type": "application/octet-stream",
        },
        timeout=300,
        trust_env=False,
    )
    assert answer.json()["imported"] == len(rows), answer.text[:500]


def texts(served: Served) -> list[str]:
    """Return what is remembered of the user, newest first."""
    return [row["text"] for row in served.call("GET", "/v1/memories").json()["memories"]]


def card(page: Page, text: str, *, exact: bool = False) -> Locator:
    """The first card with this text, or with nothing but it."""
    return page.locator("article.memory", has=page.get_by_text(text, exact=exact)).first


def shown(page: Page) -> list[str]:
    return page.locator("article.memory .memory-body > .memory-text").all_inner_texts()


def wait_for_texts(page: Page, *texts: str) -> None:
    """Until exactly these are shown, whatever their order."""
    page.wait_for_function(
        """(wanted) => {
          const shown = [...document.querySelectorAll("article.memory .memory-body > .memory-text")]
            .map((one) => one.textContent);
          return JSON.stringify(shown.sort()) === JSON.stringify([...wanted].sort());
        }""",
        arg=list(texts),
    )


def focused(page: Page) -> str:
    """The id of the memory whose card has the focus, "" where none has."""
    id_ = page.evaluate("document.activeElement?.dataset.memory ?? ''")
    return str(id_)


def wait_for_focus(page: Page, id_: str) -> None:
    page.wait_for_function("(id) => document.activeElement?.dataset.memory === id", arg=id_)


def check_rows_apart(page: Page) -> None:
    """No card lies on another one."""
    page.wait_for_function("""() => {
      const boxes = [...document.querySelectorAll("article.memory")]
        .map((one) => one.getBoundingClientRect()).sort((a, b) => a.top - b.top);
      return boxes.every((box, at) => at === 0 || boxes[at - 1].bottom <= box.top);
    }""")
