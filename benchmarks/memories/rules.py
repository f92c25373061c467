"""Standing rules and persona cards on sentences written by hand (`cases/`): which are found, by
language, and what is found that is none.

Lines alternate between a half that the phrases were tuned on and a half that was only checked;
`rules_more.txt` was written afterwards. Each sentence stands in a message of its own and among
other lines; both have to be found. Beside it: what is pinned of the other data sets, to be read.
What this file does not do: look at answers (`beam` and `kept` do).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from benchmarks.report import Row
from benchmarks.subject import Bench, percent
from memtree.text.rule_sentences import standing_rules
from memtree.text.speakers import is_card

CASES = Path(__file__).parents[1] / "cases"
HALVES = ("rules_en.txt", "rules_other.txt")
LATER = ("rules_more.txt",)
FOUND, FALSE = 90.0, 10.0  # percent


@dataclass(frozen=True, slots=True)
class Case:
    language: str
    text: str
    wanted: bool
    tuned: bool  # of the half that the phrases were tuned on


def cases(*names: str) -> Iterator[Case]:
    for name in names:
        language, count = "", {"+": 0, "-": 0}
        for line in (CASES / name).read_text("utf-8").splitlines():
            if line.startswith("["):
                language, count = line.strip("[]"), {"+": 0, "-": 0}
            elif line[:2] in ("+ ", "- "):
                count[line[0]] += 1
                text = line[2:].replace("\\n", "\n")
                yield Case(language, text, line[0] == "+", count[line[0]] % 2 == 1)


async def run(bench: Bench) -> tuple[list[Row], list[str]]:
    halves = list(cases(*HALVES))
    rows = [
        *_rows("tuned half", [case for case in halves if case.tuned], is_rule),
        *_rows("checked half", [case for case in halves if not case.tuned], is_rule),
        *_rows("written later", list(cases(*LATER)), is_rule),
        *_by_language([*halves, *cases(*LATER)]),
        *_rows("cards", list(cases("cards.txt")), is_card),
        *_pinned(bench),
    ]
    return rows, []


def is_rule(text: str) -> bool:
    return bool(standing_rules(text)) and bool(standing_rules(f"OK.\n{text}\n42"))


def _rows(name: str, given: list[Case], finds: Callable[[str], bool]) -> list[Row]:
    hits = [finds(case.text) for case in given if case.wanted]
    wrong = sum(finds(case.text) for case in given if not case.wanted)
    return [
        Row(f"{name}: found of {len(hits)}", percent([float(hit) for hit in hits]), "%", FOUND),
        Row(
            f"{name}: false of what is found",
            100 * wrong / max(1, wrong + sum(hits)),
            "%",
            FALSE,
            at_most=True,
        ),
    ]


def _by_language(given: list[Case]) -> list[Row]:
    found: dict[str, list[float]] = defaultdict(list)
    for case in given:
        if case.wanted:
            found[case.language].append(float(is_rule(case.text)))
    return [
        Row(f"{name}: found of {len(hits)}", percent(hits), "%") for name, hits in found.items()
    ]


def _pinned(bench: Bench) -> Iterator[Row]:
    """Sentences of users that count as rules, in chats that have few or many of them."""
    sets = {
        "LoCoMo": [chat.messages for chat in bench.data.locomo()],
        "BEAM 100k": [chat.messages for chat in bench.data.beam("100k")],
        "coding session": [bench.data.coding_session()],
    }
    for name, chats in sets.items():
        texts = [m.text for messages in chats for m in messages if m.role == "user"]
        yield Row(f"{name}: pinned sentences", sum(len(standing_rules(text)) for text in texts))
