"""Faults are drawn from functions alone, found again by their line, and one is active at a time."""

from __future__ import annotations

import builtins

import pytest

from scripts import mutants
from scripts.mutants import Mutant

SOURCE = """
LIMIT = 5 + 1

class Counter:
    top = 3

    def add(self, a, b):
        if a < b and not self.full:
            self.note(a)
            return a + b
        return f"{a + b}" + "text"
"""


def listed(source: str) -> list[Mutant]:
    _, places = mutants.places(source)
    return [
        Mutant(number, "m", place.function, place.line, place.kind, place.nth)
        for number, place in enumerate(places)
    ]


def run(source: str, active: int, monkeypatch: pytest.MonkeyPatch) -> dict[str, object]:
    tree, found = mutants.woven(source, listed(source))
    assert len(found) == len(listed(source))
    monkeypatch.setattr(builtins, "__mutant__", lambda number: number == active, raising=False)
    space: dict[str, object] = {}
    exec(compile(tree, "m", "exec"), space)
    return space


def test_places_are_in_functions_and_not_in_texts():
    kinds = [(one.line, one.kind) for one in listed(SOURCE)]
    condition = "if a < b and not self.full:"
    assert kinds == [
        (condition, "condition"), (condition, "and/or"), (condition, "comparison"),
        (condition, "not"), ("self.note(a)", "dropped"), ("return a + b", "returned"),
        ("return a + b", "arithmetic"), ('return f"{a + b}" + "text"', "returned"),
    ]  # fmt: skip


def test_without_an_active_mutant_nothing_changes_and_each_changes_something(monkeypatch):
    def outcome(active: int) -> object:
        notes: list[int] = []
        made = run(SOURCE, active, monkeypatch)["Counter"]()  # type: ignore[operator]
        made.note, made.full = notes.append, True
        answers = [made.add(1, 2)]
        made.full = False
        answers += [made.add(1, 2), made.add(2, 2), made.add(3, 2)]
        return answers, notes

    plain = outcome(-1)
    assert plain == (["3text", 3, "4text", "5text"], [1])
    assert all(outcome(number) != plain for number in range(len(listed(SOURCE))))


def test_a_mutant_is_found_behind_other_lines_and_missed_where_its_line_is_gone():
    moved = "\n\n# more\ndef other(a):\n    return a - 1\n" + SOURCE
    _, found = mutants.woven(moved, listed(SOURCE))
    assert len(found) == len(listed(SOURCE))
    _, found = mutants.woven(SOURCE.replace("a < b", "a <= b"), listed(SOURCE))
    assert len(found) == 4


def test_the_list_has_as_many_as_asked_over_all_rooms():
    listed = mutants.listed()
    assert [one.number for one in listed] == list(range(mutants.COUNT))
    assert {one.module.split(".")[0] for one in listed} == {*mutants.SOURCES}
    assert len({".".join(one.module.split(".")[:2]) for one in listed}) > 40


def test_drawn_is_one_of_each_room_at_least_and_the_same_again(monkeypatch):
    monkeypatch.setattr(mutants, "SOURCES", {"memtree_indexer": mutants.SOURCES["memtree_indexer"]})
    drawn = mutants.draw(seed=1, count=20)
    assert len({(one.module, one.function, one.line) for one in drawn}) == 20
    rooms = {path.stem for path in mutants.SOURCES["memtree_indexer"].iterdir()}
    assert {one.module.split(".")[1] for one in drawn} <= rooms
    assert drawn == mutants.draw(seed=1, count=20)
    assert not mutants.gone(drawn)


def test_a_line_that_is_not_there_is_gone():
    assert mutants.gone([Mutant(7, "memtree.clock", "day_of", "is not there", "number", 0)]) == {7}
