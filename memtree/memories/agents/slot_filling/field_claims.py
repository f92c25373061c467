"""Claims of a statement, before it is known which field of which kind each of them is."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date

from memtree.memories.agents.slot_filling.schema_fields import FieldType
from memtree.memories.agents.slot_filling.user_statements import Statement

NAMED = 0.95  # the field is called by its name
MEANT = 0.9  # the sentence has a form that means the field
CHOSEN = 0.85  # a choice stands beside a word of its field
ADDED = 0.05  # less where the subject stands in an earlier clause

NUMERIC = frozenset({FieldType.INTEGER, FieldType.NUMBER})
TEXTS = frozenset({FieldType.STRING, FieldType.STRINGS})
LISTED = frozenset({FieldType.STRINGS})
TRUTH = frozenset({FieldType.BOOLEAN})
DAYS = frozenset({FieldType.DATE, FieldType.MOMENT, FieldType.STRING})
ALL = frozenset(FieldType)


@dataclass(frozen=True, slots=True)
class Claim:
    """`names`: keys of `KindFields.by_name`; the first that a kind has is meant. `text`: the words
    of the value, in the message from `start` to `end`. `wished`: it is said as a wish. `truth`: of
    what is true or not. `types`: of fields that it can be of. `right`: what the words are is known,
    so that they need not look like a name or a place. `listed`: words joined by "and" are several.
    `items`: the values, where they are more or less than the words."""

    names: tuple[str, ...]
    text: str
    start: int
    end: int
    confidence: float
    types: frozenset[FieldType] = ALL
    wished: bool = False
    truth: bool | None = None
    right: bool = False
    listed: bool = True
    items: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class RecordClaim:
    """A thing of its own: a task, an appointment, an animal, somebody. `parts`: texts by topic.
    `day`: as ISO has it."""

    record: str
    parts: tuple[tuple[str, str], ...]
    start: int
    end: int
    confidence: float
    day: date | None = None
    day_text: str = ""


def claim(
    said: Statement,
    names: tuple[str, ...],
    start: int,
    end: int,
    confidence: float = MEANT,
    types: frozenset[FieldType] = ALL,
    *,
    wished: bool = False,
    truth: bool | None = None,
    right: bool = False,
    listed: bool = True,
    items: tuple[str, ...] = (),
) -> Claim:
    """Make the claim of a part of a statement."""
    place = said.place(start, end)
    sure = confidence if said.sure else round(confidence - ADDED, 2)
    return Claim(
        names, said.text[start:end], place.start, place.end, sure, types, wished, truth, right,
        listed, items,
    )  # fmt: skip
