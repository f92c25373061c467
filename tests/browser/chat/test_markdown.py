"""Markdown as the pages draw it: what is text stays text."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import pytest

from tests.browser import pages
from tests.browser.hostile import TEXTS

if TYPE_CHECKING:
    from playwright.sync_api import Page

pytestmark = [pytest.mark.browser, pytest.mark.slow]
DRAW = """async (texts) => {
  const { html, render } = await import("/ui/static/vendor/preact.js");
  const { Markdown } = await import("/ui/static/shell/markdown.js");
  const main = document.querySelector("main");
  main.replaceChildren();
  render(html`<h1>Texts</h1><h2>All</h2>${texts.map((text) =>
    html`<${Markdown} text=${text} />`)}`, main);
  return [...main.querySelectorAll(".markdown")].map((one) => ({
    text: one.textContent,
    tags: [...new Set([...one.querySelectorAll("*")].map((tag) => tag.localName))].sort(),
    links: [...one.querySelectorAll("a")].map((a) => [a.getAttribute("href"), a.rel]),
    attributes: [...one.querySelectorAll("*")].flatMap((tag) => tag.getAttributeNames()),
  }));
}"""
SAMPLE = """# One

Some *soft* and **strong** words, `code`, ~~gone~~ and [a link](https://example.com/x?a=1&b=2).

## Two

1. first
2. second
   - inner
   - [x] done

> quoted
> # loud

```python
print("<b>")
```

| a | b |
|---|--:|
| 1 | 2 |

![a picture](https://example.com/p.png) &amp; \\* end
"""
TAGS = {
    "a", "blockquote", "br", "button", "code", "del", "div", "em", "h3", "h4", "hr", "li", "ol",
    "p", "path", "pre", "span", "strong", "svg", "table", "tbody", "td", "th", "thead", "tr", "ul",
}  # fmt: skip


def test_nothing_that_a_text_holds_runs_or_loads(open_page: Callable[..., Page]):
    page = open_page()
    for text, drawn in zip(TEXTS, page.evaluate(DRAW, list(TEXTS)), strict=True):
        assert set(drawn["tags"]) <= TAGS, text
        if text.startswith("<") and "\n" not in text:
            assert drawn["text"].strip() == text
        assert not [name for name in drawn["attributes"] if name.startswith("on")], text
        for href, rel in drawn["links"]:
            assert href.startswith(("https://", "http://", "mailto:")), text
            assert rel == "noopener noreferrer"
    page.locator("main .markdown").first.wait_for()


@pytest.mark.long
def test_markdown_means_what_it_says(open_page: Callable[..., Page]):
    page = open_page()
    [drawn] = page.evaluate(DRAW, [SAMPLE])
    assert set(drawn["tags"]) == TAGS - {"br", "hr"}
    assert drawn["links"] == [
        ["https://example.com/x?a=1&b=2", "noopener noreferrer"],
        ["https://example.com/p.png", "noopener noreferrer"],
    ]
    assert 'print("<b>")' in drawn["text"]
    assert "[image: a picture] & * end" in drawn["text"]
    assert page.locator("main h3").inner_text() == "One"
    assert page.locator("main h4").inner_text() == "Two"
    pages.at_each_size(page)
