"""Print how large the project is, and hold it to its limits.

    python scripts/size.py                 the whole table
    python scripts/size.py --against REV   the same, with the change since that commit
    python scripts/size.py --check         what `make check` asks: the limits alone

A code line is neither blank nor a comment nor part of a docstring. AST nodes stand beside it, since
they do not fall when lines are only joined. These limits make the check fail: a file of over 500
lines, a function of over 100 (decorators left out), and in the product a function of over 60 or
with over 7 parameters, a class of over 300 lines or with over 15 attributes, a folder of over 25
Python files. What may have more stands in `size_exceptions.txt` with its figure and its reason. The
last limits are ceilings of the whole product and of its word lists: see `ceilings.py`.
"""

from __future__ import annotations

import argparse
import ast
import gc
import re
import subprocess
import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path, PurePosixPath
from typing import NamedTuple

from memtree.language.word_file import parsed
from scripts import ceilings

ROOT = Path(__file__).parents[1]
EXCEPTIONS = "scripts/size_exceptions.txt"
WORD_LISTS = "memtree/language/data/"
PRODUCT = ("memtree", "indexer", "proxy")
FOLDERS = (*PRODUCT, "tests", "benchmarks", "scripts", "deploy", "docs")
LONG_FILE, MAX_FILE = 300, 500  # lines
LONG_FUNCTION, MAX_FUNCTION = 60, 100  # lines; the first is the product's limit
MAX_CLASS, MAX_PARAMETERS, MAX_ATTRIBUTES = 300, 7, 15  # of the product
MAX_FOLDER = 25  # Python files of the product, `__init__` left out
SHOWN = 10  # rows of each list

Definition = ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef


class Function(NamedTuple):
    """`name`: with that of its class, as `Class.method`. `parameters`: without `self`."""

    name: str
    line: int
    lines: int
    parameters: int = 0


class Class(NamedTuple):
    """`attributes`: annotated fields, and what methods set on `self`."""

    name: str
    line: int
    lines: int
    attributes: int


class Measure(NamedTuple):
    """One Python file. `lines` are all of them, blank ones included, `imports` those of imports;
    `nodes` is 0 where they were not counted, which takes longer than the rest."""

    lines: int
    code_lines: int
    functions: list[Function]
    nodes: int
    classes: Sequence[Class] = ()
    imports: int = 0


class Size(NamedTuple):
    """The sum over some files. `nodes` is 0 where the files are not Python."""

    files: int = 0
    lines: int = 0
    nodes: int = 0


def measure(source: str, *, nodes: bool = True) -> Measure:
    """Count one Python file. Raises SyntaxError."""
    tree = ast.parse(source)
    docstrings, functions, classes = set[int](), list[Function](), list[Class]()
    for name, node in definitions(tree):
        if ast.get_docstring(node, clean=False) is not None:
            docstrings.update(range(node.body[0].lineno, (node.body[0].end_lineno or 0) + 1))
        if isinstance(node, ast.Module):
            continue
        length = (node.end_lineno or node.lineno) - node.lineno + 1
        if isinstance(node, ast.ClassDef):
            classes.append(Class(name, node.lineno, length, len(set(_attributes(node)))))
        else:
            functions.append(Function(name, node.lineno, length, _parameters(node.args)))
    lines = source.splitlines()
    code = sum(
        number not in docstrings and not line.lstrip().startswith("#")
        for number, line in enumerate(lines, 1)
        if line.strip()
    )
    counted = sum(1 for _ in ast.walk(tree)) if nodes else 0
    return Measure(len(lines), code, functions, counted, classes, sum(_import_lines(tree)))


def _import_lines(tree: ast.Module) -> Iterator[int]:
    waiting: list[ast.AST] = [tree]
    while waiting:
        node = waiting.pop()
        if isinstance(node, ast.Import | ast.ImportFrom):
            yield (node.end_lineno or node.lineno) - node.lineno + 1
        waiting.extend(_inner(node))


def definitions(tree: ast.Module) -> Iterator[tuple[str, Definition]]:
    """The module, its classes and functions, nested ones too, each with its name, before which
    stands that of a class around it. Expressions, which hold none, are left out: to walk through
    them takes most of the time."""
    waiting: list[tuple[str, ast.AST]] = [("", tree)]
    while waiting:
        place, node = waiting.pop()
        if isinstance(node, Definition):
            yield place + getattr(node, "name", ""), node
            place = f"{place}{node.name}." if isinstance(node, ast.ClassDef) else ""
        waiting.extend((place, inner) for inner in _inner(node))


def _inner(node: ast.AST) -> Iterator[ast.AST]:
    for field in ("body", "orelse", "handlers", "finalbody", "cases"):
        inner = getattr(node, field, ())
        yield from inner if isinstance(inner, list) else ()


def _parameters(given: ast.arguments) -> int:
    named = [*given.posonlyargs, *given.args, *given.kwonlyargs]
    return len(named) - (bool(named) and named[0].arg in ("self", "cls"))


def _attributes(node: ast.ClassDef) -> Iterator[str]:
    waiting = list(node.body)
    while waiting:
        inner = waiting.pop()
        if isinstance(inner, ast.AnnAssign) and inner in node.body:
            if isinstance(inner.target, ast.Name) and "ClassVar" not in ast.dump(inner.annotation):
                yield inner.target.id
        elif isinstance(inner, ast.Assign | ast.AnnAssign):
            targets = inner.targets if isinstance(inner, ast.Assign) else [inner.target]
            for target in targets:
                each = target.elts if isinstance(target, ast.Tuple) else [target]
                yield from (
                    one.attr
                    for one in each
                    if isinstance(one, ast.Attribute)
                    and isinstance(one.value, ast.Name)
                    and one.value.id == "self"
                )
        elif not isinstance(inner, ast.ClassDef):
            waiting.extend(_inner(inner))  # type: ignore[arg-type]


def read_files() -> dict[str, bytes]:
    """The files of the working tree by path, without caches and installed packages."""
    found = {}
    for folder in FOLDERS:
        for path in sorted((ROOT / folder).rglob("*")):
            name = path.relative_to(ROOT)
            hidden = any(part.startswith((".", "__pycache__")) for part in name.parts)
            if path.is_file() and not hidden and "node_modules" not in name.parts:
                found[name.as_posix()] = path.read_bytes()
    return found


def read_commit(revision: str) -> dict[str, bytes]:
    """The files of a commit by path. Raises CalledProcessError if git does not know it."""
    listed = _git("ls-tree", "-r", "--name-only", revision, *FOLDERS).decode().splitlines()
    wanted = "".join(f"{revision}:{name}\n" for name in listed).encode()
    answer, found, at = _git("cat-file", "--batch", stdin=wanted), {}, 0
    for name in listed:
        end = answer.index(b"\n", at)
        length = int(answer[at:end].split()[-1])
        found[name] = answer[end + 1 : end + 1 + length]
        at = end + length + 2
    return found


def _git(*arguments: str, stdin: bytes = b"") -> bytes:
    command = ["git", "-C", str(ROOT), *arguments]
    return subprocess.run(command, input=stdin, capture_output=True, check=True).stdout


def measure_all(
    files: Mapping[str, bytes], *, nodes_of: Sequence[str] = FOLDERS
) -> dict[str, Measure]:
    """The measures of the Python files. `nodes_of`: folders whose nodes are counted."""
    python = {name: text.decode() for name, text in files.items() if name.endswith(".py")}
    return {
        name: measure(source, nodes=name.split("/")[0] in nodes_of)
        for name, source in python.items()
    }


def sizes(files: Mapping[str, bytes], measures: Mapping[str, Measure]) -> dict[str, Size]:
    """Sizes by row of the table: product folders, their sum, and what stands beside them."""
    total: dict[str, Size] = {}

    def add(row: str, lines: int, nodes: int = 0) -> None:
        old = total.get(row, Size())
        total[row] = Size(old.files + 1, old.lines + lines, old.nodes + nodes)

    for name, text in files.items():
        folder, suffix = name.split("/")[0], PurePosixPath(name).suffix
        if name in measures:
            counts = measures[name].code_lines, measures[name].nodes
            add(folder, *counts)
            if folder in PRODUCT:
                add("product", *counts)
        elif suffix in (".js", ".mjs"):
            add("JavaScript" if folder in PRODUCT else f"{folder}, JavaScript", _filled(text))
        elif folder in PRODUCT:
            add("data", _filled(text))
        elif suffix == ".md":
            add("docs", _filled(text))
    order = [*PRODUCT, "product", "data", "JavaScript"]
    return {row: total[row] for row in [*order, *sorted(total.keys() - {*order})] if row in total}


def _filled(text: bytes) -> int:
    return sum(bool(line.strip()) for line in text.splitlines())


def too_long(
    measures: Mapping[str, Measure], exceptions: Mapping[tuple[str, str], int] = {}
) -> Iterator[str]:
    """Yield each excess over a limit, in words. `exceptions`: figures that are allowed, by what is
    counted and by name; one that is not needed any more is told, too."""
    needed = set()
    for name, found in measures.items():
        if found.lines > MAX_FILE:
            yield f"{name}: {found.lines} lines, the limit is {MAX_FILE}"
        for what, part, figure, limit in _figures(found, product=name.split("/")[0] in PRODUCT):
            allowed = exceptions.get((what, part.name), limit)
            if figure > limit:
                needed.add((what, part.name))
            if figure > max(limit, allowed):
                yield f"{name}:{part.line} {part.name}: {figure} {what}, the limit is {allowed}"
    for what, part_name in exceptions.keys() - needed:
        yield f"{EXCEPTIONS}: {part_name} needs no exception for its {what} any more"


def too_full(names: Iterable[str]) -> Iterator[str]:
    """Yield each folder of the product that holds too many of these Python files, in words."""
    paths = [path for path in map(PurePosixPath, names) if path.parts[0] in PRODUCT]
    folders = Counter(path.parent for path in paths if path.name != "__init__.py")
    for folder, files in folders.items():
        if files > MAX_FOLDER:
            yield f"{folder}: {files} Python files, the limit is {MAX_FOLDER}"


def _figures(found: Measure, *, product: bool) -> Iterator[tuple[str, Function | Class, int, int]]:
    """Yield each figure: what is counted, of which part, how many, and the limit."""
    for function in found.functions:
        yield "lines", function, function.lines, LONG_FUNCTION if product else MAX_FUNCTION
        if product:
            yield "parameters", function, function.parameters, MAX_PARAMETERS
    for each in found.classes if product else ():
        yield "lines", each, each.lines, MAX_CLASS
        yield "attributes", each, each.attributes, MAX_ATTRIBUTES


def read_exceptions(text: str) -> dict[tuple[str, str], int]:
    """The allowed figures by what is counted and by name. Raises ValueError where one has no
    reason."""
    allowed = {}
    for line in text.splitlines():
        if line.strip() and not line.startswith("#"):
            what, name, figure, _ = line.split(maxsplit=3)
            allowed[what, name] = int(figure)
    return allowed


def figures(
    files: Mapping[str, bytes], measures: Mapping[str, Measure]
) -> dict[str, dict[str, int]]:
    """Return what has ceilings, by group and name."""
    python = {name: one for name, one in measures.items() if name.split("/")[0] in PRODUCT}
    product = python.values()
    lists = {name: text for name, text in files.items() if name.startswith(WORD_LISTS)}
    read = (text.decode() for name, text in lists.items() if name.endswith(".txt"))
    own = (re.sub(r"(?m)^\{\w+\}$", "", text) for text in read)
    return {
        "product": {
            "code_lines": sum(found.code_lines for found in product),
            "ast_nodes": sum(found.nodes for found in product),
            "import_lines": sum(found.imports for found in product),
            "files": len(python),
            "folders": len({PurePosixPath(name).parent for name in python}),
        },
        "word_lists": {
            "entries": sum(len(entries) for text in own for entries in parsed(text).values()),
            "bytes": sum(map(len, lists.values())),
        },
    }


def faults(files: Mapping[str, bytes], measures: Mapping[str, Measure]) -> Iterator[str]:
    """Yield all that makes the check fail."""
    text = (ROOT / ceilings.TABLE).read_text("utf-8")
    limits = ceilings.read(text)
    yield from too_long(measures, read_exceptions((ROOT / EXCEPTIONS).read_text("utf-8")))
    yield from too_full(measures)
    for group, counted in figures(files, measures).items():
        yield from ceilings.faults(group, counted, limits)
    yield from ceilings.unfounded(limits, ceilings.before(text))


def table(now: Mapping[str, Size], before: Mapping[str, Size]) -> Iterator[str]:
    """One row a kind of file; with `before`, each figure is followed by its change."""
    titles = ("files", "code lines", "AST nodes")
    yield f"{'':24}" + "".join(f"{title:>20}" for title in titles)
    for row in [*now, *(row for row in before if row not in now)]:
        cells = []
        for new, old in zip(now.get(row, Size()), before.get(row, Size()), strict=True):
            change = f" ({new - old:+,})" if before else ""
            cells.append(f"{f'{new:,}{change}' if new or old else '':>20}")
        yield f"{row:24}" + "".join(cells)


def lists(measures: Mapping[str, Measure]) -> Iterator[str]:
    """The longest files and functions."""
    files = [(found.lines, name) for name, found in measures.items() if found.lines > LONG_FILE]
    functions = [
        (function.lines, f"{name}:{function.line} {function.name}")
        for name, found in measures.items()
        for function in found.functions
        if function.lines > LONG_FUNCTION
    ]
    yield from _longest(f"files of over {LONG_FILE} lines", files)
    yield from _longest(f"functions of over {LONG_FUNCTION} lines", functions)


def _longest(title: str, rows: Iterable[tuple[int, str]]) -> Iterator[str]:
    listed = sorted(rows, key=lambda row: (-row[0], row[1]))
    yield f"\n{len(listed)} {title}"
    for count, name in listed[:SHOWN]:
        yield f"{count:6}  {name}"


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(description="Print how large the project is.")
    parser.add_argument("--against", metavar="REV", help="show the change since this commit")
    parser.add_argument("--check", action="store_true", help="say only what is over a limit")
    options = parser.parse_args(arguments)
    gc.disable()  # syntax trees have no cycles; to look for some takes four fifths of the time
    files = read_files()
    measures = measure_all(files, nodes_of=PRODUCT if options.check else FOLDERS)
    wrong = list(faults(files, measures))
    if not options.check:
        old = read_commit(options.against) if options.against else {}
        before = sizes(old, measure_all(old)) if old else {}
        print(*table(sizes(files, measures), before), *lists(measures), "", sep="\n")
    print(*wrong or ["size: within its limits"], sep="\n")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
