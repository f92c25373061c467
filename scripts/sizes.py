"""Hold files and functions to the sizes of CONTRIBUTING.md.

    python scripts/sizes.py memtree proxy ...

Lists what is long (file over 300 lines, function over 60) and fails on what is too long (500, 100).
A function counts from its `def` to its last line, decorators left out. Folders that do not exist
are skipped.
"""

import ast
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

LONG_FILE, MAX_FILE = 300, 500
LONG_FUNCTION, MAX_FUNCTION = 60, 100


class Piece(NamedTuple):
    where: str
    lines: int
    long: int
    limit: int


def pieces(path: Path) -> Iterator[Piece]:
    """The file itself, then each function in it, nested ones and methods too."""
    source = path.read_text(encoding="utf-8")
    yield Piece(str(path), len(source.splitlines()), LONG_FILE, MAX_FILE)
    for node in ast.walk(ast.parse(source, str(path))):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            lines = (node.end_lineno or node.lineno) - node.lineno + 1
            yield Piece(f"{path}:{node.lineno} {node.name}", lines, LONG_FUNCTION, MAX_FUNCTION)


def own(path: Path) -> bool:
    """Not a package that somebody installed for a test."""
    return not any(part == "node_modules" or part.startswith(".") for part in path.parts)


def main(folders: list[str]) -> int:
    paths = [path for folder in folders for path in sorted(Path(folder).rglob("*.py")) if own(path)]
    listed = [piece for path in paths for piece in pieces(path) if piece.lines > piece.long]
    for piece in sorted(listed, key=lambda piece: piece.lines / piece.limit, reverse=True):
        verdict = "TOO LONG" if piece.lines > piece.limit else "long"
        print(f"{verdict:>8}  {piece.lines:4} lines (limit {piece.limit})  {piece.where}")
    failed = sum(piece.lines > piece.limit for piece in listed)
    print(f"sizes: {len(paths)} files, {len(listed) - failed} long, {failed} too long")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
