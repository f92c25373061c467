"""Check how docstrings begin: with a verb or a noun that says what the thing does or is."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[2]
ROOMS = ("memtree", "indexer", "proxy", "benchmarks", "deploy", "scripts", "tests")
OPENINGS = re.compile(r"(?:Of|As|The same|What|Which|Whether|That)\b")
SUSPECT = re.compile(
    r"[\"'][\s\\]*" + OPENINGS.pattern
)  # what a file must hold to be worth parsing
Documented = ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef


def documented(tree: ast.Module) -> Iterator[tuple[int, str]]:
    for node in ast.walk(tree):
        if isinstance(node, Documented) and (text := ast.get_docstring(node)):
            yield node.body[0].lineno, text


def test_no_docstring_opens_without_a_subject_or_a_verb() -> None:
    found = [
        f"{path.relative_to(ROOT)}:{line} {text.splitlines()[0]}"
        for room in ROOMS
        for path in sorted((ROOT / room).rglob("*.py"))
        if not {".venv", "node_modules"} & set(path.parts[len(ROOT.parts) :])  # tools of tests
        if SUSPECT.search(source := path.read_text("utf-8"))
        for line, text in documented(ast.parse(source))
        if OPENINGS.match(text)
    ]
    assert found == []
