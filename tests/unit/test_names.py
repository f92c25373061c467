"""Check that names in product code say what they hold: `vague_names.txt` lists others."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[2]
PRODUCT = ("memtree", "indexer/memtree_indexer", "proxy/memtree_proxy")
LINES = Path(__file__).with_name("vague_names.txt").read_text("utf-8").splitlines()
LISTED = [line.split() for line in LINES if not line.startswith("#")]
LIMITS = {name: int(most) for name, most in LISTED}


def bound(tree: ast.AST) -> Iterator[tuple[str, int]]:
    """Yield each name that is bound in a module, with its line."""
    for node in ast.walk(tree):
        match node:
            case ast.Name(id=name, ctx=ast.Store()) | ast.Attribute(attr=name, ctx=ast.Store()):
                yield name, node.lineno
            case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.ClassDef():
                yield node.name, node.lineno
            case ast.arg():
                yield node.arg, node.lineno
            case ast.MatchAs(name=str(name)) | ast.MatchStar(name=str(name)):
                yield name, node.lineno
            case ast.ExceptHandler(name=str(name)):
                yield name, node.lineno
            case ast.Import() | ast.ImportFrom():
                yield from ((each.asname or each.name, node.lineno) for each in node.names)


def places(names: set[str]) -> Iterator[tuple[str, str]]:
    for room in PRODUCT:
        for path in sorted((ROOT / room).rglob("*.py")):
            for name, line in bound(ast.parse(path.read_text("utf-8"))):
                if name in names:
                    yield name, f"{path.relative_to(ROOT)}:{line}"


def test_product_code_names_what_it_holds() -> None:
    by_name: dict[str, list[str]] = {name: [] for name in LIMITS}
    for name, place in places(set(LIMITS)):
        by_name[name].append(place)
    vague = {name: found[:20] for name, found in by_name.items() if len(found) > LIMITS[name]}
    assert vague == {}


SAMPLE = """
from room import told
class Found: met: int
def told(found, *, met=1): self.asked = [one for one in found]
match met:
    case [*one]: pass
    case str() as asked: pass
try: pass
except OSError as told: pass
if (found := met): pass
"""


def test_every_kind_of_binding_counts() -> None:
    names = [name for name, _ in bound(ast.parse(SAMPLE))]
    counts = {name: names.count(name) for name in LIMITS if name in names}
    assert counts == {"asked": 2, "found": 2, "met": 2, "told": 3, "one": 2}
