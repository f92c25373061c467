"""Kinds that take a sentence as it is ("Note" with a `text`), and how sure such a sentence is."""

from __future__ import annotations

from typing import NamedTuple

from memtree.memories.agents.slot_filling.schema_fields import (
    FieldType,
    KindFields,
    SchemaField,
)

_TEXTS = ("text", "content", "statement", "fact", "note", "memory", "preference", "description",
          "observation", "goal", "summary", "value", "body", "message")  # fmt: skip
_ALL = frozenset(("fact", "preference", "schedule", "general"))
_TAKEN = {
    "preference": frozenset(("preference",)),
    "fact": frozenset(("fact",)),
    "goal": frozenset(("general",)),
    "schedule": frozenset(("schedule",)),
} | dict.fromkeys(
    ("note", "memory", "observation", "insight", "statement", "information", "knowledge", "remark"),
    _ALL,
)

# Of what rules store, the share that was right at first sight, by category: see
# docs/agent-extraction.md.
_SURE = {"fact": 0.85, "preference": 0.9, "schedule": 0.85, "general": 0.8}
_WORDS_KEPT = 0.75  # what could not be told of the user stands there in their words
_FORMS = ("User's name is ", "User is allergic ", "User lives in ", "User works ")
_FORM = 0.95


class TextKind(NamedTuple):
    """`text`: the field for the sentence; `category`: one that names its category, if any."""

    text: SchemaField
    categories: frozenset[str]
    category: SchemaField | None = None


def text_kind(kind: KindFields) -> TextKind | None:
    """How a kind takes a sentence; None where it needs more than that."""
    categories: frozenset[str] = frozenset()
    for word in kind.words:
        categories |= _TAKEN.get(word, frozenset())
    if not categories:
        return None
    plain = [
        field
        for field in kind.fields
        if field.type is FieldType.STRING
        and not field.choices
        and not field.format
        and len(field.path) == 1
    ]
    text = next((field for name in _TEXTS for field in plain if name in field.phrases), None)
    if text is None:
        return None
    category = next(
        (
            field
            for field in kind.fields
            if field.choices and field.type is FieldType.STRING
            and field.path[-1].lower() in ("category", "type", "kind")
        ),
        None,
    )  # fmt: skip
    if category is not None:  # it takes what it can name
        categories |= {item for item in _ALL if item in {name.lower() for name in category.choices}}
    filled = {text.path[0]} | ({category.path[0]} if category else set())
    if not kind.required <= filled:
        return None
    return TextKind(text, categories, category)


def text_confidence(text: str, category: str) -> float:
    """How sure a sentence is that rules took for a memory of this category."""
    if text.startswith("User said:"):
        return _WORDS_KEPT
    return _FORM if text.startswith(_FORMS) else _SURE.get(category, _WORDS_KEPT)
