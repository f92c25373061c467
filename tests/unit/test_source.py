"""The source text itself: nothing in it may look as if a machine had wrapped it."""

from __future__ import annotations

import ast
import json
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PACKAGES = ("memtree", "indexer", "proxy")

# A closing quote, a line break and an opening quote: two string literals that were wrapped before
# they became one docstring.
_WRAPPED = re.compile(r'"[ \t]*\n[ \t]*"')
_DOCUMENTED = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)


def wrapped(source: str) -> Iterator[int]:
    """The lines of the documented things whose docstring holds a wrapped string."""
    if not _WRAPPED.search(source):
        return
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


IMPORTS = """
import indexer
import proxy
from indexer import runtime
from proxy import cli
import memtree_indexer
import memtree_proxy
"""


@pytest.mark.parametrize(
    ("path", "codes"), [("memtree/x.py", {"TID251", "TID253"}), ("tests/x.py", {"TID253"})]
)
def test_a_folder_of_the_checkout_is_no_package(path: str, codes: set[str]):
    """In a checkout `import proxy` finds our folder, and where MemTree is installed a package of
    another project. Ruff, with the project's settings, refuses both in every file."""
    done = subprocess.run(
        [sys.executable, "-m", "ruff", "check", "--output-format", "json",
         "--stdin-filename", path, "-"],
        input=IMPORTS, capture_output=True, text=True, cwd=ROOT, check=False,
    )  # fmt: skip
    problems = [
        (problem["code"], problem["location"]["row"]) for problem in json.loads(done.stdout)
    ]
    refused = {(code, row) for code, row in problems if code.startswith("TID")}
    assert refused == {(code, row) for code in codes for row in (2, 3, 4, 5)}
