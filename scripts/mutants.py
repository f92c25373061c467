"""Measure what the tests notice: 200 small faults in the product, and which of them a test finds.

    python scripts/mutants.py draw                 write scripts/mutants.json (seeded)
    python scripts/mutants.py record OUT [ARG ...] run the tests once; OUT: which test meets which
    python scripts/mutants.py kill OUT [OLD]       run each fault against the tests that meet it
    python scripts/mutants.py compare OLD OUT      who was killed before and is not any more

OUT and OLD are folders; `kill` goes on where it ended. ARG goes to pytest.

A *mutant* is one changed operator, constant, condition, returned value or dropped call. All of them
are woven into the modules while these are imported, each behind `if active == number`, so one run
tells exactly which tests execute which mutant. `kill` starts a pytest for each mutant, with it as
the active one, over the tests that meet it, up to the first failure: first the test that killed it
in OLD, then those that take little time and meet few mutants. Processes that tests start see the
product as it is.

A mutant is named by its module, function and line of code, so it is found again after the file
moved. One whose line is gone is reported as such.
"""

from __future__ import annotations

import ast
import builtins
import contextlib
import importlib.abc
import importlib.machinery
import json
import os
import random
import re
import signal
import subprocess
import sys
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from copy import deepcopy
from dataclasses import asdict, dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[1]
LISTED = Path(__file__).with_name("mutants.json")
SOURCES = {
    "memtree": ROOT / "memtree",
    "memtree_indexer": ROOT / "indexer" / "memtree_indexer",
    "memtree_proxy": ROOT / "proxy" / "memtree_proxy",
}
COUNT, SEED = 200, 14
LANES = 3  # mutants at once
PARTS = 12, 100, 500  # tests of a mutant are run in parts that end here
MUTANT_SECONDS = 200.0  # after these no other part begins
SLOWEST = (
    90.0  # for a part, beside ten times what its tests usually take: a mutant may loop for ever
)

COMPARED: dict[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt,
    ast.Eq: ast.NotEq, ast.NotEq: ast.Eq, ast.In: ast.NotIn, ast.NotIn: ast.In,
    ast.Is: ast.IsNot, ast.IsNot: ast.Is,
}  # fmt: skip
CALCULATED: dict[type[ast.operator], type[ast.operator]] = {
    ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.FloorDiv, ast.FloorDiv: ast.Mult,
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Mutant:
    """`line`: the text of its first line. `nth`: which of the function's places with this line and
    kind it is, from 0."""

    number: int
    module: str
    function: str
    line: str
    kind: str
    nth: int


@dataclass(slots=True)
class Place:
    """A node that can be changed, and how."""

    function: str
    line: str
    kind: str
    node: ast.AST
    change: Callable[[Any], ast.AST]
    nth: int = 0


# ---------------------------------------------------------------- where a fault can be


def places(source: str) -> tuple[ast.Module, list[Place]]:
    """The syntax tree, and the places of its functions in the order of the text."""
    tree, lines = ast.parse(source), source.splitlines()
    found: list[Place] = []
    seen: Counter[tuple[str, str, str]] = Counter()

    def visit(node: ast.AST, function: str) -> None:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            inner = f"{function}.{node.name}".lstrip(".")
            for part in node.body:
                visit(part, inner)
            return
        if isinstance(node, ast.JoinedStr | ast.AnnAssign | ast.Assert | ast.Match):
            return
        if "." in function or function[:1].islower() or function[:1] == "_":
            for kind, change in changes(node):
                line = lines[getattr(node, "lineno", 1) - 1].strip()
                key = (function, line, kind)
                found.append(Place(function, line, kind, node, change, seen[key]))
                seen[key] += 1
        for child in ast.iter_child_nodes(node):
            visit(child, function)

    for top in tree.body:
        if isinstance(top, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            visit(top, "")
    return tree, found


def changes(node: ast.AST) -> Iterator[tuple[str, Callable[[Any], ast.AST]]]:
    """The faults that can be put at a node: a name, and a function from it to the changed node."""
    if isinstance(node, ast.Compare) and len(node.ops) == 1 and type(node.ops[0]) in COMPARED:
        yield "comparison", _compared
    elif isinstance(node, ast.BoolOp):
        yield "and/or", _other_bool
    elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
        yield "not", lambda old: old.operand
    elif isinstance(node, ast.BinOp) and type(node.op) in CALCULATED and not _of_text(node):
        yield "arithmetic", _calculated
    elif isinstance(node, ast.Constant) and type(node.value) is bool:
        yield "boolean", lambda old: ast.Constant(not old.value)
    elif isinstance(node, ast.Constant) and type(node.value) is int:
        yield "number", lambda old: ast.Constant(old.value + 1)
    elif isinstance(node, ast.Return) and node.value is not None and not _is_none(node.value):
        yield "returned", lambda old: ast.Return(ast.Constant(None))
    elif isinstance(node, ast.Expr) and isinstance(node.value, ast.Call | ast.Await):
        yield "dropped", lambda old: ast.Pass()
    elif isinstance(node, ast.If | ast.While | ast.IfExp) and not _constant(node.test):
        yield "condition", _negated


def _compared(old: ast.Compare) -> ast.AST:
    return ast.Compare(old.left, [COMPARED[type(old.ops[0])]()], old.comparators)


def _other_bool(old: ast.BoolOp) -> ast.AST:
    return ast.BoolOp(ast.Or() if isinstance(old.op, ast.And) else ast.And(), old.values)


def _calculated(old: ast.BinOp) -> ast.AST:
    return ast.BinOp(old.left, CALCULATED[type(old.op)](), old.right)


def _negated(old: ast.If | ast.While | ast.IfExp) -> ast.AST:
    new = deepcopy(old)
    new.test = ast.UnaryOp(ast.Not(), new.test)
    return new


def _of_text(node: ast.BinOp) -> bool:
    sides = (node.left, node.right)
    return any(
        isinstance(side, ast.JoinedStr | ast.List | ast.Tuple)
        or (isinstance(side, ast.Constant) and isinstance(side.value, str | bytes))
        for side in sides
    )


def _is_none(node: ast.AST) -> bool:
    return isinstance(node, ast.Constant) and node.value is None


def _constant(node: ast.AST) -> bool:
    return isinstance(node, ast.Constant)


# ---------------------------------------------------------------- drawing


def draw(seed: int = SEED, count: int = COUNT) -> list[Mutant]:
    """At least one mutant a room, the others by the rooms' number of places; one a line at most."""
    by_room: defaultdict[str, list[Mutant]] = defaultdict(list)
    for package, folder in SOURCES.items():
        for path in sorted(folder.rglob("*.py")):
            parts = path.relative_to(folder).with_suffix("").parts
            module = ".".join((package, *(part for part in parts if part != "__init__")))
            for place in places(path.read_text("utf-8"))[1]:
                mutant = Mutant(0, module, place.function, place.line, place.kind, place.nth)
                by_room[f"{package}/{parts[0]}"].append(mutant)
    drawing = random.Random(seed)
    rooms = sorted(by_room)
    chosen = [drawing.choice(by_room[room]) for room in rooms]
    rest = [mutant for room in rooms for mutant in by_room[room]]
    drawing.shuffle(rest)
    lines = {(mutant.module, mutant.function, mutant.line) for mutant in chosen}
    for mutant in rest:
        if len(chosen) == count:
            break
        if (line := (mutant.module, mutant.function, mutant.line)) not in lines:
            lines.add(line)
            chosen.append(mutant)
    chosen.sort(key=lambda mutant: (mutant.module, mutant.function, mutant.line))
    return [Mutant(number, *list(asdict(one).values())[1:]) for number, one in enumerate(chosen)]


def listed() -> list[Mutant]:
    return [Mutant(**row) for row in json.loads(LISTED.read_text("utf-8"))]


# ---------------------------------------------------------------- weaving


class Weaver(ast.NodeTransformer):
    """Puts mutants behind their condition. `found`: the numbers that have a place."""

    def __init__(self, wanted: dict[int, tuple[Mutant, Place]]) -> None:
        self._wanted, self.found = wanted, set[int]()

    def visit(self, node: ast.AST) -> Any:
        new: Any = self.generic_visit(node)
        if id(node) not in self._wanted:
            return new
        mutant, place = self._wanted[id(node)]
        self.found.add(mutant.number)
        asked = ast.Call(ast.Name("__mutant__", ast.Load()), [ast.Constant(mutant.number)], [])
        changed: Any = place.change(deepcopy(new))
        if isinstance(new, ast.stmt):
            woven: ast.AST = ast.If(asked, [changed], [new])
        else:
            woven = ast.IfExp(asked, changed, new)
        return ast.fix_missing_locations(ast.copy_location(woven, node))


def woven(source: str, mutants: Sequence[Mutant]) -> tuple[ast.Module, set[int]]:
    """The module with the mutants in it, and the numbers of those whose place it still has."""
    tree, all_places = places(source)
    by_key = {(one.function, one.line, one.kind, one.nth): one for one in all_places}
    wanted = {}
    for mutant in mutants:
        place = by_key.get((mutant.function, mutant.line, mutant.kind, mutant.nth))
        if place:
            wanted[id(place.node)] = mutant, place
    weaver = Weaver(wanted)
    tree = weaver.visit(tree)
    return tree, weaver.found


class _Loader(importlib.machinery.SourceFileLoader):
    """Loads a module with its mutants, past the cache of byte code."""

    mutants: Sequence[Mutant] = ()

    def get_code(self, fullname: str) -> Any:
        path = self.get_filename(fullname)
        tree, _ = woven(Path(path).read_text("utf-8"), self.mutants)
        return compile(tree, path, "exec", dont_inherit=True)


class Finder(importlib.abc.MetaPathFinder):
    def __init__(self, mutants: Sequence[Mutant]) -> None:
        self._by_module: defaultdict[str, list[Mutant]] = defaultdict(list)
        for mutant in mutants:
            self._by_module[mutant.module].append(mutant)

    def find_spec(self, fullname: str, path: Any, target: Any = None) -> Any:
        if fullname not in self._by_module:
            return None
        spec = importlib.machinery.PathFinder.find_spec(fullname, path)
        if spec and spec.origin:
            spec.loader = _Loader(fullname, spec.origin)
            spec.loader.mutants = self._by_module[fullname]
        return spec


# ---------------------------------------------------------------- as a plugin of pytest


class Watch:
    """Watch of which test meets which mutant; which mutant is active."""

    def __init__(self) -> None:
        self.active = int(os.environ.get("MUTANT", "-1"))
        self.test = ""
        self.met: defaultdict[str, set[int]] = defaultdict(set)
        self.seconds: defaultdict[str, float] = defaultdict(float)

    def asked(self, number: int) -> bool:
        self.met[self.test].add(number)
        return number == self.active

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Any:
        self.test = item.nodeid
        return (yield)

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        self.seconds[report.nodeid] += report.duration

    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        if "MUTANTS_RECORD" not in os.environ or not self.met:
            return
        rows = {test: [round(self.seconds[test], 4), sorted(met)] for test, met in self.met.items()}
        folder = Path(os.environ["MUTANTS_RECORD"])
        (folder / f"met-{os.getpid()}.json").write_text(json.dumps(rows))


@pytest.hookimpl(tryfirst=True)
def pytest_load_initial_conftests(early_config: pytest.Config) -> None:
    """Before any conftest.py imports the product."""
    watch = Watch()
    sys.meta_path.insert(0, Finder(listed()))
    builtins.__mutant__ = watch.asked  # type: ignore[attr-defined]
    early_config.pluginmanager.register(watch, "mutants-watch")


# ---------------------------------------------------------------- commands


def gone(mutants: Sequence[Mutant]) -> set[int]:
    """The numbers of those whose line or file is not there any more."""
    found = set[int]()
    for module in {one.module for one in mutants}:
        package, *names = module.split(".")
        path = SOURCES[package].joinpath(*names)
        for file in (path.with_suffix(".py"), path / "__init__.py"):
            if file.exists():
                here = [one for one in mutants if one.module == module]
                found |= woven(file.read_text("utf-8"), here)[1]
    return {one.number for one in mutants} - found


def recorded(folder: Path) -> dict[str, tuple[float, list[int]]]:
    """Seconds and met mutants by test."""
    met: dict[str, tuple[float, list[int]]] = {}
    for path in folder.glob("met-*.json"):
        for test, (seconds, numbers) in json.loads(path.read_text()).items():
            if test:
                met[re.sub("@[^@]*$", "", test)] = seconds, numbers
    return met


def killed(folder: Path) -> dict[int, dict[str, Any]]:
    paths = folder.glob("killed-*.json")
    return {int(path.stem.split("-")[1]): json.loads(path.read_text()) for path in paths}


def remaining(folder: Path) -> list[int]:
    """The mutants that have no result in this folder."""
    return [one.number for one in listed() if one.number not in killed(folder)]


def record(folder: Path, more: Sequence[str]) -> int:
    folder.mkdir(parents=True, exist_ok=True)
    command = [sys.executable, "scripts/grouped_tests.py", "-p", "scripts.mutants", *more]
    env = {"PYTHONPATH": str(ROOT), **os.environ, "MUTANTS_RECORD": str(folder.absolute())}
    return subprocess.run(command, cwd=ROOT, env=env, check=False).returncode


def kill(folder: Path, old: Path) -> int:
    met, before = recorded(folder), killed(old)
    with ThreadPoolExecutor(LANES) as lanes:

        def one(number: int) -> None:
            result = kill_one(number, met, before.get(number, {}).get("killed", ""))
            (folder / f"killed-{number}.json").write_text(json.dumps(result))
            print(number, result, flush=True)

        list(lanes.map(one, remaining(folder)))
    return 0


def kill_one(
    number: int, met: Mapping[str, tuple[float, list[int]]], killer: str
) -> dict[str, Any]:
    """Run the tests that meet the mutant, a few at first, up to the first that fails."""
    tests = [test for test, (_, numbers) in met.items() if number in numbers]
    tests.sort(key=lambda test: (met[test][0] + 0.02) * len(met[test][1]))
    tests.sort(key=lambda test: _name(test) != _name(killer))
    begun, run = time.monotonic(), 0
    result: dict[str, Any] = {"tests": len(tests), "run": 0, "killed": ""}
    for first, last in pairwise((0, *PARTS, len(tests))):
        part = tests[first:last]
        if not part or time.monotonic() - begun > MUTANT_SECONDS:
            break
        run += len(part)
        result["killed"] = _failing(number, part, sum(met[test][0] for test in part))
        if result["killed"]:
            break
    return result | {"run": run, "seconds": round(time.monotonic() - begun, 1)}


def _failing(number: int, tests: Sequence[str], seconds: float) -> str:
    """The first test that fails with this mutant, or an empty text. `seconds`: what they take."""
    command = [sys.executable, "-m", "pytest", "-xq", "-p", "scripts.mutants", "-p",
               "no:cacheprovider", *tests]  # fmt: skip
    env = {"PYTHONPATH": str(ROOT), **os.environ, "MUTANT": str(number)}
    process = subprocess.Popen(
        command, cwd=ROOT, env=env, start_new_session=True, text=True,
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
    )  # fmt: skip
    try:
        told, _ = process.communicate(timeout=SLOWEST + 10 * seconds)
    except subprocess.TimeoutExpired:
        return f"{tests[0]} or a later one takes too long"
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()
    found = re.findall(r"^(?:FAILED|ERROR) (.*?)(?: - .*)?$", told, re.MULTILINE)
    missing = {_name(told) for told in re.findall(r"^ERROR: not found: (.*)$", told, re.MULTILINE)}
    if missing:  # a name with signs that a command line does not take
        return _failing(number, [test for test in tests if _name(test) not in missing], seconds)
    if process.returncode not in (0, 1, 2):
        raise RuntimeError(f"pytest ended with {process.returncode}: {told[-500:]}")
    return found[0] if found else "" if process.returncode == 0 else told[-300:]


def _name(test: str) -> str:
    """A test without its file, which may have moved."""
    return test.partition("::")[2]


def compare(old: Path, new: Path) -> int:
    """Print the table; fail if a mutant that was killed is not any more."""
    before, after, lost = killed(old), killed(new), 0
    missing = gone(listed())
    met = Counter(number for _, numbers in recorded(new).values() for number in numbers)
    for mutant in listed():
        was, now = (bool(part.get(mutant.number, {}).get("killed")) for part in (before, after))
        there = mutant.number not in missing
        lost += there and was and not now
        verdict = "killed" if now else "gone" if not there else "LOST" if was else "lives"
        print(f"{mutant.number:4} {verdict:7} {met[mutant.number]:6} {mutant.kind:10} "
              f"{mutant.module}.{mutant.function}: {mutant.line[:60]}")  # fmt: skip
    print(f"killed before {sum(bool(one['killed']) for one in before.values())}, "
          f"after {sum(bool(one['killed']) for one in after.values())}, lost {lost}")  # fmt: skip
    return 1 if lost else 0


def main(words: Sequence[str]) -> int:
    match words:
        case ["draw"]:
            rows = ",\n".join(json.dumps(asdict(one)) for one in draw())
            LISTED.write_text(f"[\n{rows}\n]\n", "utf-8")
            return 0
        case ["record", folder, *more]:
            return record(Path(folder), more)
        case ["kill", folder, *old]:
            return kill(Path(folder), Path((old or [folder])[0]))
        case ["compare", old, new]:
            return compare(Path(old), Path(new))
    print(__doc__, file=sys.stderr)
    return 2


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
