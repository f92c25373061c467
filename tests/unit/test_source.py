"""The source text itself: nothing in it may look as if a machine had wrapped it."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[2]
PACKAGES = ("memtree", "indexer", "proxy")

# A closing quote, a line break and an opening quote: two string literals that were wrapped before
# they became one docstring.
_WRAPPED = re.compile(r'"[ \t]*\n[ \t]*"')
_DOCUMENTED = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)


def wrapped(source: str) -> Iterator[int]:
    """The lines of the documented things whose docstring holds a wrapped string."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, _DOCUMENTED):
            doc = ast.get_docstring(node, clean=False)
            if doc and _WRAPPED.search(doc):
                yield node.body[0].lineno


def test_a_wrapped_string_in_a_docstring_is_noticed():
    source = 'def f():\n    """Cut after a clause, else after a "\n    "word."""\n'
    assert list(wrapped(source)) == [2]
    assert list(wrapped(source.replace('"\n    "', ""))) == []


def test_no_docstring_holds_a_wrapped_string():
    paths = [path for package in PACKAGES for path in sorted((ROOT / package).rglob("*.py"))]
    assert len(paths) > 150
    found = [
        f"{path.relative_to(ROOT)}:{line}"
        for path in paths
        for line in wrapped(path.read_text(encoding="utf-8"))
    ]
    assert found == []
