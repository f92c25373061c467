"""Every page, filled, for everybody: axe at three sizes in both colour schemes, and the tour of
docs/pages.md, which says what to press and what comes of it."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.browser import filled, pages
from tests.browser.served import Served

if TYPE_CHECKING:
    from playwright.sync_api import Page

pytestmark = [pytest.mark.browser, pytest.mark.slow]

SIZES = ((1280, 800), (800, 1000), (375, 760))
DOCS = Path(__file__).parents[3] / "docs" / "pages.md"
MOST = 80  # stops of Tab before what is looked for
ROUNDS = 8  # since an answer may still be on its way
STEP = re.compile(
    r"<kbd>(?P<key>[^<]+)</kbd>(?P<to> to \*\*(?P<name>[^*]+)\*\*)?|`(?P<text>[^`]+)`"
)
NAMES = {"Esc": "Escape", "Del": "Delete", "Down": "ArrowDown", "Up": "ArrowUp", "Space": " "}
FOCUSED = """() => {
  const one = document.activeElement;
  if (one === document.body) return "";
  return [one.getAttribute("aria-label"), ...[...(one.labels ?? [])].map((each) => each.innerText),
    one.placeholder, one.innerText].filter(Boolean).join(" ").replace(/\\s+/g, " ");
}"""


@pytest.mark.parametrize("path", filled.PAGES)
def test_axe_finds_nothing_at_three_sizes_in_both_schemes(
    path: str, open_page: Callable[..., Page], served: Served
):
    filled.fill(served)
    page = open_page(path)
    filled.drawn(page, path)
    for width, height in SIZES:
        pages.resize(page, width, height)
        pages.check_fits(page)
        pages.check_scrollers(page)
        for scheme in ("light", "dark"):
            page.emulate_media(color_scheme=scheme)
            pages.check_accessible(page)
    pages.check_keyboard(page)  # on the phone


def tours() -> Iterator[tuple[str, list[tuple[str, str]]]]:
    """The address of each page, and the rows of its table: what to press, what is there then."""
    _, _, text = DOCS.read_text("utf-8").partition("\n## By keyboard\n")
    for section in re.split(r"^### ", text, flags=re.M)[1:]:
        path = re.search(r"`(/ui[^`]*)`", section)
        rows = re.findall(r"^\| (.+?) \| (.+?) \|$", section, flags=re.M)
        if path and rows:
            yield path[1], [row for row in rows if "<kbd>" in row[0]]


def test_the_tours_lead_over_every_page():
    assert sorted(path for path, _ in tours()) == sorted(filled.PAGES)
    assert all(len(rows) > 2 for _, rows in tours())


@pytest.mark.parametrize("path", filled.PAGES)
def test_the_tour_of_a_page_by_keyboard_alone(
    path: str, open_page: Callable[..., Page], served: Served
):
    filled.fill(served)
    page = open_page(path)
    if path != "/ui":
        filled.drawn(page, path)
    rows = dict(tours())[path]
    for pressed, then in rows:
        for step in STEP.finditer(pressed):
            take(page, step)
        for name in re.findall(r"\*\*([^*]+)\*\*", then):
            if "focus" in then:
                wait_for_focus(page, name)
            else:
                page.get_by_text(name, exact=False).locator("visible=true").first.wait_for()


def take(page: Page, step: re.Match[str]) -> None:
    """Press a key, type a text, or press Tab until what is named has the focus."""
    if text := step["text"]:
        page.keyboard.type(text)
        return
    key = "+".join(NAMES.get(part, part) for part in step["key"].split("+"))
    page.keyboard.press(key)
    if not step["to"]:
        return
    for _ in range(ROUNDS):
        for _ in range(MOST):
            if step["name"] in page.evaluate(FOCUSED):
                return
            page.keyboard.press(key)
        page.wait_for_timeout(1_000)
    pytest.fail(f"Tab does not lead to {step['name']}")


def wait_for_focus(page: Page, name: str) -> None:
    pages.wait_until(page, f"({FOCUSED})().includes({name!r})")
