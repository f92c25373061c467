"""Whoever starts at the contents finds every page, and no link leads nowhere."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.docs.pages import DOCS, README, ROOT, anchors, images, links, pages, prose, shown_name

READ = [*pages(), ROOT / "CONTRIBUTING.md", *sorted((DOCS / "decisions").glob("*.md")),
        ROOT / "deploy/README.md", ROOT / "deploy/helm/memtree/README.md"]  # fmt: skip


def targets(page: Path) -> set[Path]:
    """The files of ours that a page links."""
    named = (link.partition("#")[0] for link in links(page) if "://" not in link)
    return {(page.parent / name).resolve() for name in named if name}


def leads_nowhere(page: Path, link: str) -> bool:
    if "://" in link:
        return not link.startswith("https://")
    name, _, anchor = link.partition("#")
    target = page.parent / name if name else page
    return not target.exists() or bool(anchor and anchor not in anchors(target))


def test_links_lead_somewhere():
    there = [(page, link) for page in READ for link in links(page)]
    assert len(there) > 300
    lost = [(shown_name(page), link) for page, link in there if leads_nowhere(page, link)]
    assert lost == []


@pytest.mark.parametrize(
    ("link", "lost"),
    [("getting-started.md", False), ("no-page.md", True), ("README.md#no-heading", True),
     ("http://example.com", True), ("https://example.com", False)],
)  # fmt: skip
def test_which_links_lead_nowhere(link: str, lost: bool):
    assert leads_nowhere(DOCS / "README.md", link) is lost


def test_every_page_is_reachable_from_the_contents():
    contents = DOCS / "README.md"
    direct = targets(contents)
    missing = {page.name for page in DOCS.glob("*.md")} - {path.name for path in direct}
    assert missing - {contents.name} == set()
    decisions = targets(DOCS / "decisions/README.md")
    assert set((DOCS / "decisions").glob("*.md")) - {DOCS / "decisions/README.md"} <= decisions
    assert contents in targets(README)


NAMED = re.compile(r"docs/decisions/(?:(archive\.md)#)?(\d{4}[a-z0-9-]*)(?:\.md)?")


def test_decisions_that_the_code_names_are_there():
    records = {path.stem for path in (DOCS / "decisions").glob("0*.md")}
    living = records | {name[:4] for name in records}
    archived = anchors(DOCS / "decisions/archive.md")
    tops = ("memtree", "indexer", "proxy", "benchmarks", "scripts")
    sources = [path for top in tops for path in (ROOT / top).rglob("*.py")]
    named = {
        (shown_name(path), reference.groups())
        for path in [*sources, ROOT / "pyproject.toml", ROOT / "scripts/ceilings.toml"]
        for reference in NAMED.finditer(path.read_text("utf-8"))
    }
    assert len(named) > 20
    assert {
        (path, name) for path, name in named if name[1] not in (archived if name[0] else living)
    } == set()


def test_the_readme_can_be_read_in_three_minutes():
    text = README.read_text("utf-8")
    assert len(text.split()) < 900
    assert text.index("make run") < text.index("## Use it")


def test_pictures_are_there_and_are_described():
    pictures = [(page, said, path) for page in READ for said, path in images(page)]
    assert pictures
    lost = [(shown_name(page), path) for page, _, path in pictures
            if not (page.parent / path).is_file()]  # fmt: skip
    assert lost == []
    unsaid = [(shown_name(page), path) for page, said, path in pictures
              if len(said) <= 20 and path.endswith(".png")]  # fmt: skip
    assert unsaid == [], "say what the picture shows"


def test_the_tests_that_a_page_names_exist():
    named = re.findall(r"`(tests/[\w/]+\.py)::(\w+)`", (DOCS / "comparison.md").read_text("utf-8"))
    assert len(named) > 12
    for path, name in named:
        assert f"def {name}(" in (ROOT / path).read_text("utf-8"), (path, name)


# `memtree` on the index is another project; no image and no Node package of ours is published.
FOREIGN = re.compile(
    r"(?:pip|pipx|uvx?)\s+(?:tool )?(?:install|run)?\s*'?memtree(?!-proxy)\b"
    r"|docker (?:pull|run)[^\n`]*memtree|npx [^\n`]*memtree"
)


def test_no_command_installs_another_projects_package():
    assert FOREIGN.search("pip install memtree")
    assert FOREIGN.search("uvx memtree demo")
    sources = [
        path for top in ("memtree", "indexer", "proxy") for path in (ROOT / top).rglob("*.py")
    ]
    found = {
        shown_name(path): FOREIGN.findall(path.read_text("utf-8")) for path in [*READ, *sources]
    }
    assert {name: commands for name, commands in found.items() if commands} == {}


def test_no_page_says_the_same_word_twice():
    twice = re.compile(
        r"\b(a|an|and|are|as|at|be|by|for|from|in|is|it|not|of|on|or|that|the|to|with)\s+\1\b"
    )
    found = {shown_name(page): twice.findall(prose(page)) for page in pages()}
    assert {name: words for name, words in found.items() if words} == {}
