"""Draw the house: rooms by floor, and what each is for.

    python scripts/rooms.py            write docs/rooms.md anew (`make rooms`)
    python scripts/rooms.py --check    exit with 1 if that page says something else
    python scripts/rooms.py memtree.memories    print the rooms inside of one

A room is a folder, or a file beside folders. It stands one floor above the highest room that it
imports; rooms that import each other in a circle share a floor, and the page says so. Imports are
read from the text, those for type checkers too; nothing is imported. `make size` tells lines.
"""

from __future__ import annotations

import ast
import gc
import sys
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path, PurePosixPath

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "docs" / "rooms.md"
PACKAGES = {
    "memtree": "memtree",
    "memtree_indexer": "indexer/memtree_indexer",
    "memtree_proxy": "proxy/memtree_proxy",
}
HEAD = """\
# Rooms

`make rooms` writes this page from the imports; `make check` compares it. A room is a folder, or a
file beside folders. Each may import rooms on lower floors, never one above: the contracts in
`pyproject.toml` hold it to that. A line names floor, room, and what it is for;
`make rooms ARGS=memtree.memories` prints the rooms inside of one.
"""


@dataclass(slots=True)
class Room:
    """`imports`: the names of rooms beside it. `floor` counts from 1."""

    name: str
    purpose: str = ""
    imports: set[str] = field(default_factory=set)
    floor: int = 0


parsed = cache(ast.parse)
Sources = Mapping[str, str]  # module -> its text; a package under its own name


def sources(root: Path) -> dict[str, str]:
    """Read all modules of the packages."""
    found = {}
    for package, folder in PACKAGES.items():
        for path in sorted((root / folder).rglob("*.py")):
            parts = path.relative_to(root / folder).with_suffix("").parts
            if not any(part.startswith(".") or part == "node_modules" for part in parts):
                found[".".join((package, *parts))] = path.read_text("utf-8")
    return found


def imported(source: str, modules: Sources) -> Iterator[str]:
    """Modules that a text imports, as far as they are ours."""
    for node in statements(parsed(source)):
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.module:
            names = [f"{node.module}.{alias.name}" for alias in node.names]
        else:
            continue
        for name in names:
            for place in (name, name.rpartition(".")[0]):
                if one := next((m for m in (place, f"{place}.__init__") if m in modules), None):
                    yield one
                    break


def statements(tree: ast.Module) -> Iterator[ast.AST]:
    """All statements, nested ones too; expressions are left out, since they are most of a tree."""
    waiting: list[ast.AST] = [tree]
    while waiting:
        node = waiting.pop()
        yield node
        for inner in ("body", "orelse", "handlers", "finalbody", "cases"):
            part = getattr(node, inner, ())
            waiting.extend(part if isinstance(part, list) else ())


def rooms(place: str, modules: Sources, arrows: Mapping[str, Iterable[str]]) -> list[Room]:
    """The rooms of one package, from the top floor down."""
    inside = {name: name[len(place) + 1 :].split(".") for name in modules
              if name.startswith(f"{place}.") and name != f"{place}.__init__"}  # fmt: skip
    found: dict[str, Room] = {}
    for name, parts in inside.items():
        room = found.setdefault(parts[0], Room(parts[0] + ("/" if len(parts) > 1 else ".py")))
        if len(parts) == 1 or parts[1:] == ["__init__"]:
            room.purpose = first_sentence(modules[name])
        if not is_face(name, modules[name]):
            room.imports |= {inside[other][0] for other in arrows[name] if other in inside}
    for key, room in found.items():
        room.imports.discard(key)
    build_floors(found)
    return sorted(found.values(), key=lambda room: (-room.floor, room.name))


def is_face(name: str, source: str) -> bool:
    """Return True for an `__init__` that only hands names on."""
    body = parsed(source).body if name.endswith(".__init__") else [ast.Pass()]
    return all(isinstance(node, ast.Expr | ast.Import | ast.ImportFrom) for node in body)


def build_floors(found: Mapping[str, Room]) -> None:
    """Put each room on its floor. A circle counts as one."""
    below = {key: set(room.imports) for key, room in found.items()}
    for middle, further in below.items():  # all that a room reaches
        for reached in below.values():
            if middle in reached:
                reached |= further
    for key in sorted(found, key=lambda key: len(below[key])):
        circle = {other for other in below[key] if key in below[other]} | {key}
        under = [found[other].floor for other in below[key] - circle]
        floor = 1 + max(under, default=0)
        for other in circle:
            found[other].floor = floor


def first_sentence(source: str) -> str:
    """Return what a docstring says first."""
    text = " ".join((ast.get_docstring(parsed(source)) or "").split())
    return text.partition(". ")[0].removesuffix(".")


def drawn(place: str, found: list[Room]) -> str:
    """List the rooms of one package, the top floor first."""
    floors = {room.name.removesuffix(".py").removesuffix("/"): room.floor for room in found}
    arrows = sum(len(room.imports) for room in found)
    up = sum(floors[other] >= room.floor for room in found for other in room.imports)
    highest = max(floors.values(), default=0)
    lines = [
        f"## {place}",
        "",
        f"Rooms: {len(found)}; floors: {highest}; arrows: {arrows}, in circles: {up}.",
        "",
    ]
    lines += [f"- {room.floor} `{room.name}`: {room.purpose}" for room in found]
    return "\n".join(lines)


def page(modules: Sources) -> str:
    """The whole page: the packages."""
    return "\n\n".join([HEAD.rstrip(), *tables(PACKAGES, modules)]) + "\n"


def tables(places: Iterable[str], modules: Sources) -> list[str]:
    arrows = {name: set(imported(text, modules)) for name, text in modules.items()}
    return [drawn(place, rooms(place, modules, arrows)) for place in places]


def main(arguments: list[str]) -> int:
    gc.disable()  # trees are many objects, and none is garbage
    modules = sources(ROOT)
    if places := [name for name in arguments if not name.startswith("-")]:
        print("\n\n".join(tables(places, modules)))
        return 0
    text = page(modules)
    if "--check" not in arguments:
        PAGE.write_text(text, "utf-8")
        return 0
    if PAGE.exists() and PAGE.read_text("utf-8") == text:
        return 0
    print(f"{PurePosixPath(*PAGE.relative_to(ROOT).parts)} is out of date: make rooms")
    return 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
