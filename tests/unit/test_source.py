"""The source itself: names, docstrings, patterns, what is private, no traces of a machine."""

from __future__ import annotations

import ast
import json
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

# ------------------------------------------------------------------------------------------------
# The source text itself: nothing in it may look as if a machine had wrapped it.


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


# ------------------------------------------------------------------------------------------------
# Check that names in product code say what they hold: `vague_names.txt` lists others.


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


# ------------------------------------------------------------------------------------------------
# Check how docstrings begin: with a verb or a noun that says what the thing does or is.


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


# ------------------------------------------------------------------------------------------------
# Tests see what callers see: no private attribute of another object, no private name of a module.
#
# A test that reaches behind the names of a class keeps that class from being rewritten. Where tests
# must look inside, the class has a public property for it (`ContextMemory.cached_tenants`).


TESTS = Path(__file__).parents[1]
# What a file must hold to be worth parsing: most hold `self._name` and nothing else of the kind.
PRIVATE_SUSPECT = re.compile(
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
    if not PRIVATE_SUSPECT.search(source):
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


# ------------------------------------------------------------------------------------------------
# No pattern tries all the ways to divide one text: that takes twice as long for each character
# more, so a single line of a message would hold a processor for ever. A child process reads the
# shapes, since a regular expression that has begun cannot be stopped.


SECONDS = 120  # of a processor, a hundred times what it takes; what goes wrong takes years
READ = f"""
import resource
resource.setrlimit(resource.RLIMIT_CPU, ({SECONDS}, {SECONDS}))
from memtree.text import prose_runs
from memtree.statements import grammar
from tests.hostile_texts.backtracking import LIKES, PLACES, shapes

for text in shapes(PLACES):
    prose_runs.kind(text)
for text in shapes(LIKES):
    grammar.is_preference(text)
"""


@pytest.mark.slow
def test_no_shape_of_a_line_is_read_in_all_ways() -> None:
    subprocess.run([sys.executable, "-c", READ], cwd=ROOT, check=True)


@pytest.mark.slow
@pytest.mark.long
def test_a_process_that_has_used_its_seconds_is_ended() -> None:
    endless = READ.replace(f"{SECONDS}", "1") + "\nwhile True: pass"
    ended = subprocess.run([sys.executable, "-c", endless], cwd=ROOT, check=False)
    assert ended.returncode < 0
