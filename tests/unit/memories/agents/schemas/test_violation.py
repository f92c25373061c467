from __future__ import annotations

from types import SimpleNamespace

from memtree.memories.agents.schemas.validation import MOST_SHOWN, Violation, violation


def of(name: str, **known: object) -> SimpleNamespace:
    return SimpleNamespace(name=name, as_dict=lambda: known, context=None)


def test_names_that_the_schema_does_not_have_are_part_of_the_data():
    found = violation(
        of("type", types=["string"]), ["people", "Ada Lovelace", 3, "age"], {"people", "age"}
    )
    assert found.message("memories[0].data") == "memories[0].data.people.*[3].age: must be string"
    assert found.place("data") == "data.people.*[3].age"


def test_long_rules_are_cut():
    told = violation(of("enum", options=["x" * 30] * 30), [], ()).rule
    assert len(told) < MOST_SHOWN + 20
    assert told.endswith("…")


def test_a_rule_that_is_not_known_here_is_named():
    assert violation(of("newKeyword"), [], ()) == Violation((), "breaks newKeyword")


def test_only_the_first_unknown_fields_are_compared():
    fields = [f"moo{at}" for at in range(10_000)]
    told = violation(of("additionalProperties", unexpected=fields), [], {"mood", "age"}).rule
    assert told == "has a field that the schema does not know (near: mood)"
