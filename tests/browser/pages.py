"""What every page must be: usable by everybody, at each size, in both colour schemes."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from tests.browser.watched_context import PATIENCE

if TYPE_CHECKING:
    from playwright.sync_api import Page

WIDTHS = (1280, 320)
_RUN = """async (options) => (await axe.run(document, options)).violations.map((one) =>
  `${one.id}: ${one.help}: ` + one.nodes.slice(0, 5).map((node) =>
    `${node.target.join(" ")} (${node.any.concat(node.all, node.none)
      .map((check) => check.message).join("; ")})`).join(", "))"""
# What Tab must reach: of a group with roving focus (tree, toolbar, radio buttons) its one stop.
_TABBABLE = """() => {
  const open = [...document.querySelectorAll("dialog[open]")].pop() ?? document.body;
  const all = [...open.querySelectorAll(
    "a[href], button, input, select, textarea, summary, [tabindex], [contenteditable]")];
  const seen = new Set();
  return all.filter((one) => one.tabIndex >= 0 && !one.disabled && one.checkVisibility({
      visibilityProperty: true, contentVisibilityAuto: true }) && !one.closest("[inert]"))
    .filter((one) => {
      if (one.type !== "radio") return true;
      if (seen.has(one.name)) return false;
      seen.add(one.name);
      return true;
    })
    .map((one, index) => { one.dataset.stop = index; return index; }).length;
}"""
_FOCUSED = """() => {
  const one = document.activeElement;
  if (!one || one === document.body) return null;
  const style = getComputedStyle(one);
  const shown = style.outlineStyle !== "none" && parseFloat(style.outlineWidth) > 0
    || style.boxShadow !== "none";
  const box = one.getBoundingClientRect();
  const inSight = box.bottom > 0 && box.top < innerHeight && box.right > 0 && box.left < innerWidth;
  return { stop: one.dataset.stop ?? null, shown, inSight,
    name: `${one.tagName.toLowerCase()} ${one.getAttribute("aria-label") ?? one.textContent.trim()
      .slice(0, 40)}` };
}"""

# Preact runs effects after the next frame, or 100 ms later where there is none. Until
# `releaseEffects()` none runs: what a person does in that moment must not be lost.
HOLD_EFFECTS = """() => {
  const later = [];
  const { requestAnimationFrame: frame, setTimeout: timer } = window;
  window.requestAnimationFrame = (act) => later.push(act);
  window.setTimeout = (act, ms, ...rest) =>
    ms === 100 ? later.push(act) : timer.call(window, act, ms, ...rest);
  window.releaseEffects = () => {
    Object.assign(window, { requestAnimationFrame: frame, setTimeout: timer });
    later.forEach((act) => frame(act));
  };
}"""


def wait_until(page: Page, expression: str) -> None:
    """Wait until an expression of the page is true. Playwright's `wait_for_function` is no help:
    it needs `eval` in the page, which the policy of the pages forbids."""
    end = time.monotonic() + PATIENCE / 1000
    while not page.evaluate(expression):
        assert time.monotonic() < end, f"never true: {expression}"
        page.wait_for_timeout(20)


def check_accessible(page: Page, *rules: str) -> None:
    """axe finds nothing. `rules`: these alone, as "color-contrast"."""
    from axe_playwright_python.base import AXE_SCRIPT

    # What moves in is half transparent for a moment, and has too little contrast in it.
    page.evaluate("""() => Promise.all(document.getAnimations()
      .filter((one) => one.effect?.getComputedTiming().iterations !== Infinity)
      .map((one) => one.finished.catch(() => {})))""")
    if page.evaluate("typeof axe === 'undefined'"):
        page.evaluate(AXE_SCRIPT)
    options: dict[str, Any] = {"resultTypes": ["violations"]}
    if rules:
        options["runOnly"] = {"type": "rule", "values": list(rules)}
    found = page.evaluate(_RUN, options)
    assert found == [], "\n".join(found)


def check_fits(page: Page) -> None:
    """Nobody has to scroll sideways."""
    wide = page.evaluate(
        "[document.documentElement.scrollWidth, document.documentElement.clientWidth]"
    )
    assert wide[0] <= wide[1], f"{wide[0]} px in {wide[1]}"


def at_each_size(page: Page, check: Callable[[Page], None] = check_accessible) -> None:
    """Run a check at each width in light colours. In dark ones the page is the same but for its
    contrast."""
    size = page.viewport_size or {"width": WIDTHS[0], "height": 800}
    for width in WIDTHS:
        page.set_viewport_size({"width": width, "height": size["height"]})
        page.emulate_media(color_scheme="light")
        check(page)
        check_fits(page)
        page.emulate_media(color_scheme="dark")
        check_accessible(page, "color-contrast")
    page.emulate_media(color_scheme="light")
    page.set_viewport_size(size)


def check_keyboard(page: Page) -> None:
    """Tab reaches every control of the page (of the dialog that is open) in the order of reading,
    and shows where it is."""
    stops = page.evaluate(_TABBABLE)
    page.evaluate("document.activeElement?.blur()")
    reached: list[int] = []
    for _ in range(2 * stops + 10):
        page.keyboard.press("Tab")
        at = page.evaluate(_FOCUSED)
        if at is None or at["stop"] is None:
            continue
        assert at["shown"], f"the focus on {at['name']} is not visible"
        assert at["inSight"], f"{at['name']} has the focus and is out of sight"
        if reached and int(at["stop"]) == reached[-1]:
            continue  # a field for a date has stops of its own
        if int(at["stop"]) in reached:
            break
        reached.append(int(at["stop"]))
    assert sorted(reached) == list(range(stops)), f"Tab does not reach all of {stops}: {reached}"
    first = reached.index(0)
    assert reached[first:] + reached[:first] == list(range(stops)), f"the order is {reached}"
