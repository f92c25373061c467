"""The pages of the documentation as values: their blocks of code, links and headings."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]
README = ROOT / "README.md"
DOCS = ROOT / "docs"
_MARK = re.compile(r"<!-- tested: (.+) -->")
_LINK = re.compile(r"(?<!!)\[(?:[^\]\[]|\[[^\]]*\])*\]\(([^)\s]+)\)")
_IMAGE = re.compile(r"!\[([^\]]*)\]\(([^)\s]+)\)|<img\b[^>]*\bsrc=\"([^\"]+)\"")


@dataclass(frozen=True, slots=True)
class Block:
    """A fenced block of a page. `name`: of the mark right above it, which tests ask for."""

    page: str
    line: int
    language: str
    name: str | None
    text: str

    @property
    def first(self) -> str:
        return self.text.partition("\n")[0]


def pages() -> list[Path]:
    """Return what users read: README and docs, without the records of decisions."""
    return [README, *sorted(DOCS.glob("*.md"))]


def shown_name(page: Path) -> str:
    return page.relative_to(ROOT).as_posix()


def blocks(page: Path) -> Iterator[Block]:
    lines = page.read_text("utf-8").split("\n")
    begun: int | None = None
    for at, line in enumerate(lines):
        if not line.startswith("```"):
            continue
        if begun is None:
            begun = at
            continue
        mark = _MARK.fullmatch(lines[begun - 1])
        text = "\n".join(lines[begun + 1 : at]) + "\n"
        name = mark[1] if mark else None
        yield Block(shown_name(page), begun + 1, lines[begun][3:].strip(), name, text)
        begun = None
    assert begun is None, f"{page.name}: a block is not closed"


def block(page: str, name: str) -> str:
    """The text of one marked block: `block("docs/keys.md", "create")`."""
    (found,) = [one for one in blocks(ROOT / page) if one.name == name]
    return found.text


def prose(page: Path) -> str:
    """The page without its blocks."""
    return re.sub(r"^```.*?^```$", "", page.read_text("utf-8"), flags=re.DOTALL | re.MULTILINE)


def links(page: Path) -> list[str]:
    text = re.sub(r"`[^`\n]*`", "", prose(page))
    return _LINK.findall(text)


def images(page: Path) -> list[tuple[str, str]]:
    """(what is said of it, path)."""
    return [(said, path or source) for said, path, source in _IMAGE.findall(prose(page))]


def anchors(page: Path) -> set[str]:
    """Return what a link behind a # may name: headings, as GitHub makes anchors of them."""
    headings = re.findall(r"^#{1,6} (.+)$", prose(page), re.MULTILINE)
    plain = (re.sub(r"[^\w\- ]", "", heading.lower()) for heading in headings)
    return {heading.strip().replace(" ", "-") for heading in plain}
