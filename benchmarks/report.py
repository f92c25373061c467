"""A figure beside its goal, and the table that shows them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Row:
    """One figure. `goal` is a floor, or a ceiling where `at_most`; None: told, not judged."""

    name: str
    figure: float
    unit: str = ""
    goal: float | None = None
    at_most: bool = False

    @property
    def met(self) -> bool | None:
        if self.goal is None:
            return None
        return self.figure <= self.goal if self.at_most else self.figure >= self.goal


def promises(answers: int, broken: int) -> list[Row]:
    """The two rows that every benchmark with a checker ends with."""
    return [
        Row("answers checked", answers),
        Row("broken promises", broken, goal=0, at_most=True),
    ]


def as_json(benchmark: str, rows: Sequence[Row]) -> list[dict[str, Any]]:
    return [{"benchmark": benchmark, **asdict(row), "met": row.met} for row in rows]


def table(title: str, rows: Sequence[Row], before: Mapping[str, float] | None = None) -> str:
    """Plain text, one line a row. `before`: figures to stand beside them, by the names of rows."""
    width = max(len(row.name) for row in rows)
    lines = [f"\n{title}", "-" * (width + 42)]
    if not before:
        return "\n".join([*lines, *(_line(row, width) for row in rows)])
    others = [_number(before[row.name]) if row.name in before else "" for row in rows]
    shown = [f"{_line(row, width):<{width + 42}}" for row in rows]
    lines.append(f"{'released':>{width + 54}}")
    return "\n".join(
        [*lines, *(f"{row} {other:>11}".rstrip() for row, other in zip(shown, others, strict=True))]
    )


def _line(row: Row, width: int) -> str:
    shown = f"{row.name:<{width}} {_number(row.figure):>12} {row.unit:<10}"
    if row.goal is None:
        return shown.rstrip()
    verdict = "ok" if row.met else "SHORT"
    return f"{shown} {'<=' if row.at_most else '>='} {_number(row.goal):<9} {verdict}"


def _number(value: float) -> str:
    if value == int(value) or abs(value) >= 1000:
        return f"{value:,.0f}"
    return f"{value:,.3f}" if abs(value) < 2 else f"{value:,.2f}"
