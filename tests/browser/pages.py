"""Check what every page must be: usable by everybody, at each size, in both colour schemes."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from tests.browser.watched_context import PATIENCE

if TYPE_CHECKING:
    from playwright.sync_api import Page

WIDTHS = (1280, 320)
LOW = 256  # px, the height of a window of 1280 x 1024 px at a zoom of 400 %
_RUN = """async (options) => (await axe.run(document, options)).violations.map((one) =>
  `${one.id}: ${one.help}: ` + one.nodes.slice(0, 5).map((node) =>
    `${node.target.join(" ")} (${node.any.concat(node.all, node.none)
      .map((check) => check.message).join("; ")})`).join(", "))"""
# What Tab must reach: of a group with roving focus (tree, toolbar, radio buttons) its one stop.
_STOPS = """(() => {
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
    });
})()"""
_NUMBER_STOPS = f"""() => {{
  for (const one of document.querySelectorAll("[data-stop]")) delete one.dataset.stop;
  return {_STOPS}.map((one, index) => {{ one.dataset.stop = index; return index; }}).length;
}}"""
_SAME_STOPS = (
    f"(count) => {_STOPS}.map((one) => one.dataset.stop).join() === [...Array(count).keys()].join()"
)
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
# A toast goes by itself, but not while the pointer is on it.
_HOLD_TOASTS = """() => document.querySelectorAll(".toast").forEach((one) =>
  one.dispatchEvent(new MouseEvent("mouseenter")))"""
# What scrolls, and what of it nobody can scroll by keyboard: it takes no focus (or says nothing of
# itself with it), nothing in it does, and no field moves through it as through its suggestions.
_SCROLLERS = f"""() => {{
  const open = [...document.querySelectorAll("dialog[open]")].pop() ?? document.body;
  const stops = {_STOPS};
  const scrolls = (one) => {{
    const {{ overflowX, overflowY }} = getComputedStyle(one);
    return /auto|scroll/.test(overflowX) && one.scrollWidth > one.clientWidth + 1
      || /auto|scroll/.test(overflowY) && one.scrollHeight > one.clientHeight + 1;
  }};
  const named = (one) => one.matches(":is([role], section):is([aria-label], [aria-labelledby])");
  const led = document.activeElement?.getAttribute("aria-controls");
  const reached = (one) => one.matches("textarea, input, select")
    || stops.some((stop) => stop === one ? named(one) : one.contains(stop))
    || one.matches("[role=listbox]") && led === one.id;
  const all = [open, ...open.querySelectorAll("*")].filter((one) =>
    one.checkVisibility({{ visibilityProperty: true }}) && !one.closest("[inert]") && scrolls(one));
  const name = (one) => [one.localName, ...one.classList].join(".");
  return {{ all: all.map(name), lost: all.filter((one) => !reached(one)).map(name) }};
}}"""
_NEXT_FRAME = "new Promise((drawn) => requestAnimationFrame(() => requestAnimationFrame(drawn)))"

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


def toasted(page: Page, text: str) -> None:
    """Wait until a toast has said this; it may be gone again."""
    end = time.monotonic() + PATIENCE / 1000
    while not any(text in told for told in page.evaluate("window.toldInPassing")):
        assert time.monotonic() < end, f"no toast said: {text}"
        page.wait_for_timeout(20)


def noticing(page: Page, selector: str) -> Callable[[], None]:
    """Watch for what is there for a moment only. What is returned waits until it was there."""
    page.evaluate(
        """(selector) => {
          window.noticed = false;
          new MutationObserver((_, watch) => {
            if (!document.querySelector(selector)) return;
            window.noticed = true;
            watch.disconnect();
          }).observe(document, { subtree: true, childList: true, attributes: true });
        }""",
        selector,
    )
    return lambda: wait_until(page, "window.noticed")


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


def draw(page: Page) -> None:
    """Wait until the page is drawn, with what its observers of sizes make of it."""
    page.evaluate(_NEXT_FRAME)


def resize(page: Page, width: int, height: int) -> None:
    """Also what follows from the size is drawn: rows are measured, panels become drawers."""
    page.set_viewport_size({"width": width, "height": height})
    wait_until(page, f"innerWidth === {width} && innerHeight === {height}")
    draw(page)


def check_scrollers(page: Page, *scrolling: str) -> None:
    """Check that each element that scrolls can be scrolled by keyboard. `scrolling`: classes of the
    elements that do scroll now."""
    end = time.monotonic() + PATIENCE / 1000
    while True:
        found = page.evaluate(_SCROLLERS)
        classes = {name for one in found["all"] for name in one.split(".")}
        if not found["lost"] and classes >= set(scrolling):
            return
        assert time.monotonic() < end, f"no keyboard access to {found['lost']} of {found['all']}"
        draw(page)  # what has come in has a size once it is drawn


def at_each_size(page: Page, check: Callable[[Page], None] = check_accessible) -> None:
    """Run a check at each width in light colours. In dark ones the page is the same but for its
    contrast."""
    size = page.viewport_size or {"width": WIDTHS[0], "height": 800}
    for width in WIDTHS:
        for height in (LOW, size["height"]):
            resize(page, width, height)
            check_scrollers(page)
        page.emulate_media(color_scheme="light")
        check(page)
        check_fits(page)
        page.emulate_media(color_scheme="dark")
        check_accessible(page, "color-contrast")
    page.emulate_media(color_scheme="light")
    resize(page, size["width"], size["height"])


def check_keyboard(page: Page) -> None:
    """Tab reaches every control of the page (of the dialog that is open) in the order of reading,
    and shows where it is."""
    page.evaluate(_HOLD_TOASTS)
    end = time.monotonic() + PATIENCE / 1000
    while True:
        stops = page.evaluate(_NUMBER_STOPS)
        problem = _tabbing(page, stops)
        if not problem or page.evaluate(_SAME_STOPS, stops):
            break  # else something has come in meanwhile: once more
        assert time.monotonic() < end, f"the controls never stay the same: {problem}"
    assert not problem, problem


def _tabbing(page: Page, stops: int) -> str:
    """Return what is wrong with the way that Tab goes; "" for nothing."""
    page.evaluate("document.activeElement?.blur()")
    reached: list[int] = []
    for _ in range(2 * stops + 10):
        page.keyboard.press("Tab")
        at = page.evaluate(_FOCUSED)
        if at is None or at["stop"] is None:
            continue
        if not at["shown"]:
            return f"the focus on {at['name']} is not visible"
        if not at["inSight"]:
            return f"{at['name']} has the focus and is out of sight"
        if reached and int(at["stop"]) == reached[-1]:
            continue  # a field for a date has stops of its own
        if int(at["stop"]) in reached:
            break
        reached.append(int(at["stop"]))
    if sorted(reached) != list(range(stops)):
        return f"Tab does not reach all of {stops}: {reached}"
    first = reached.index(0) if reached else 0
    ordered = reached[first:] + reached[:first] == list(range(stops))
    return "" if ordered else f"the order is {reached}"
