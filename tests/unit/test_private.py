"""Tests see what callers see: no private attribute of another object, no private name of a module.

A test that reaches behind the names of a class keeps that class from being rewritten. Where tests
must look inside, the class has a public property for it (`ContextMemory.cached_tenants`).
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

TESTS = Path(__file__).parents[1]
# What a file must hold to be worth parsing: most hold `self._name` and nothing else of the kind.
SUSPECT = re.compile(
    r"(?<!self)(?<!cls)\._[a-z]|[\"'.]_[a-z]\w*[\"']|__defaults__"
    r"|import .*\b_[a-z]|^ {4}_[a-z]\w*,$",
    re.MULTILINE,
)
NAMED_TUPLE = {"_asdict", "_field_defaults", "_fields", "_make", "_replace"}


def private(name: str) -> bool:
    last = name.rpartition(".")[2]
    dunder = last.startswith("__") and last.endswith("__") and last != "__defaults__"
    return last.startswith("_") and not dunder and last not in NAMED_TUPLE


def uses(source: str) -> Iterator[str]:
    """Every private name that is not the object's own, as it is written."""
    if not SUSPECT.search(source):
        return
    for node in ast.walk(ast.parse(source)):
        match node:
            case ast.Attribute(value=ast.Name(id="self" | "cls")):
                pass
            case ast.Attribute(value=ast.Call(func=ast.Name(id="super"))):
                pass
            case ast.Attribute(attr=name) if private(name):
                yield ast.unparse(node)
            case ast.ImportFrom(names=names):
                yield from (alias.name for alias in names if private(alias.name))
            case (
                ast.Call(func=ast.Attribute(attr="setattr" | "delattr"))
                | ast.Call(func=ast.Name(id="getattr" | "setattr" | "delattr"))
            ):
                for argument in node.args:
                    text = argument.value if isinstance(argument, ast.Constant) else None
                    if isinstance(text, str) and private(text):
                        yield ast.unparse(node)


@pytest.mark.parametrize(
    "line",
    [
        "memory._store",
        "memory._indexing.generation('t')",
        "from memtree.text.tokens import _encoder",
        "monkeypatch.setattr(store, '_ask', slow)",
        "monkeypatch.setattr('memtree.stores.sqlite._steps', ())",
        "monkeypatch.setattr(create_tables, '__defaults__', ())",
        "getattr(memory, '_store')",
    ],
)
def test_what_counts(line: str):
    assert len(list(uses(line))) == 1


@pytest.mark.parametrize(
    "line",
    ["self._store", "cls._made", "super()._serve()", "row._replace(tenant='t')", "one.__name__",
     "from memtree import __version__", "_local = 1", "monkeypatch.setattr(store, 'ask', slow)"],
)  # fmt: skip
def test_what_does_not(line: str):
    assert list(uses(line)) == []


@pytest.mark.slow
def test_no_test_reaches_behind_a_name():
    found = {}
    for path in TESTS.rglob("*.py"):
        if not {"node_modules", ".venv"} & set(path.parts):
            found[path.relative_to(TESTS)] = list(uses(path.read_text(encoding="utf-8")))
    assert len(found) > 200
    behind = {name.as_posix(): names for name, names in found.items() if names}
    assert not behind, f"use a public name, or give the class a public property: {behind}"
