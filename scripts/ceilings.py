"""Ceilings of the product's size and of what requests cost: figures that only fall.

`ceilings.toml` holds them, each as `name = figure` below the name of its group. A figure above its
ceiling is a fault, and so is one far below, so that a ceiling follows what was won. `make ceilings`
writes lower figures. Whoever needs a higher one writes a record in docs/decisions first, and names
it: `make ceilings ARGS="--raise docs/decisions/NNNN-why.md"`; the record then stands behind the
figure, and `size.py --check` looks for it.
"""

from __future__ import annotations

import re
import subprocess
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parents[1]
TABLE = "scripts/ceilings.toml"
SLACK = {"calls": 1}  # per cent above; a few calls depend on random ids and on the time of day
BAND, BANDS = 2, {"calls": 5}  # per cent below

_GROUP = re.compile(r"\[(\w+)\]")
_LINE = re.compile(r"(\w+) = ([\d_]+)(?:  # (\S+\.md))?")

Group = Mapping[str, int]


class Ceiling(NamedTuple):
    """`record`: the decision that raised the ceiling last; empty where none did."""

    figure: int
    record: str = ""


def read(text: str) -> dict[tuple[str, str], Ceiling]:
    """Return the ceilings by group and name. Raises ValueError if a line is none."""
    found, group = {}, ""
    for line in text.splitlines():
        if heading := _GROUP.fullmatch(line):
            group = heading[1]
        elif line and not line.startswith("#"):
            if not (ceiling := _LINE.fullmatch(line)):
                raise ValueError(f"{TABLE}: {line}")
            found[group, ceiling[1]] = Ceiling(int(ceiling[2]), ceiling[3] or "")
    return found


def now() -> dict[tuple[str, str], Ceiling]:
    return read((ROOT / TABLE).read_text("utf-8"))


def faults(group: str, figures: Group, table: Mapping[tuple[str, str], Ceiling]) -> Iterator[str]:
    """Yield what is wrong with the figures of a group, in words."""
    listed = {name for place, name in table if place == group}
    for name in sorted(listed ^ figures.keys()):
        yield f"{group}: {name} is not both counted and in {TABLE}"
    for name in sorted(listed & figures.keys()):
        figure, ceiling = figures[name], table[group, name].figure
        if figure * 100 > ceiling * (100 + SLACK.get(name, 0)):
            yield (
                f"{group}: {figure} {name}, the ceiling is {ceiling}: do less, or raise it with a "
                "record in docs/decisions (see scripts/ceilings.py)"
            )
        elif figure * 100 < ceiling * (100 - BANDS.get(name, BAND)):
            yield f"{group}: {figure} {name}, the ceiling is {ceiling}: lower it to {figure}"


def changed(text: str, figures: Mapping[str, Group], record: str = "") -> str:
    """Write lower figures into the table; with a `record` higher ones, too."""
    lines, group = [], ""
    for line in text.splitlines():
        heading, ceiling = _GROUP.fullmatch(line), _LINE.fullmatch(line)
        group = heading[1] if heading else group
        figure = figures.get(group, {}).get(ceiling[1]) if ceiling else None
        if ceiling and figure is not None:
            before = int(ceiling[2])
            if figure < before:
                line = f"{ceiling[1]} = {figure}"
            elif record and figure * 100 > before * (100 + SLACK.get(ceiling[1], 0)):
                line = f"{ceiling[1]} = {figure}  # {record}"
        lines.append(line)
    return "\n".join(lines) + "\n"


def unfounded(
    table: Mapping[tuple[str, str], Ceiling], before: Mapping[tuple[str, str], Ceiling]
) -> Iterator[str]:
    """Yield each ceiling that rose without a record of its own."""
    for (group, name), ceiling in table.items():
        old = before.get((group, name), ceiling)
        if ceiling.figure > old.figure and (
            ceiling.record == old.record or not is_record(ceiling.record)
        ):
            yield f"{TABLE}: {name} of {group} rises from {old.figure} without a decision record"


def is_record(name: str) -> bool:
    """Return True if a decision record of this name exists."""
    path = ROOT / name
    return path.parent == ROOT / "docs" / "decisions" and path.is_file() and path.name[0].isdigit()


def before(text: str) -> dict[tuple[str, str], Ceiling]:
    """Return the table before its last change, committed or not. Empty outside of git, or where the
    table is new."""
    try:
        last = _git("log", "-1", "--format=%H", "--", TABLE).strip()
        for revision in (last, f"{last}~1"):
            if (old := _git("show", f"{revision}:{TABLE}")) != text:
                return read(old)
    except (OSError, subprocess.CalledProcessError):
        pass
    return {}


def _git(*arguments: str) -> str:
    command = ["git", "-C", str(ROOT), *arguments]
    return subprocess.run(command, capture_output=True, check=True, text=True).stdout
