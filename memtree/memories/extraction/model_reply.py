"""Reads what a model answered: notes, whatever it put around them.

The answer that `model_prompt.py` asks for is one JSON object. Read as well: reasoning before it,
code fences and prose around it, a bare list, and of an answer that was cut off the notes that are
complete. A note that lacks a quotation or a text is none; one that names no message that was asked
about is told without it: small models write the message's first words there. What is no JSON is no
answer; what becomes of its messages is up to whoever asked.

    >>> read('{"memories": [{"message": 1, "quote": "I am Jo", "text": "User is Jo.", "cat', ["1"])
    ModelNotes(notes=(), readable=False)
    >>> read('{"memories": []}', ["1"])
    ModelNotes(notes=(), readable=True)
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from typing import Any

from memtree.memories.extraction.model_prompt import CATEGORIES, KEY
from memtree.summaries.replies import answered

REACH = 100_000  # characters of an answer that are read
TRIES = 200  # openings of an object that are tried: each may read to the end
NOTES = 200  # that are read
LONGEST = 2_000  # characters of a quotation or a text that are read: what is longer is none
GENERAL = "general"  # the category of what has another than was asked for

_decoder = json.JSONDecoder(strict=False)  # a raw line break inside of a string


@dataclass(frozen=True, slots=True)
class ModelNote:
    """One memory as the model has it, not judged yet. `message`: "" where it names none of those
    that were asked about."""

    message: str
    quote: str
    text: str
    category: str


@dataclass(frozen=True, slots=True)
class ModelNotes:
    """`readable`: there was an answer, if only that there is nothing to note."""

    notes: tuple[ModelNote, ...] = ()
    readable: bool = False


def read(text: str, ids: Collection[str]) -> ModelNotes:
    """The notes about messages with these ids, in the order of the answer, each once."""
    text = answered(text[:REACH])
    notes: dict[ModelNote, None] = {}
    readable = False
    for value in outermost_values(text):
        known, parsed = _notes(value, ids)
        readable = readable or known
        notes.update(dict.fromkeys(parsed))
    kept = tuple(notes)[:NOTES]
    return ModelNotes(kept, readable or bool(kept))


def outermost_values(text: str) -> Iterator[Any]:
    """The outermost JSON objects and lists; of one that is cut off what is complete in it."""
    at = 0
    for _ in range(TRIES):
        begins = [place for mark in "{[" if (place := text.find(mark, at)) >= 0]
        if not begins:
            return
        at = min(begins)
        try:
            value, at = _decoder.raw_decode(text, at)
        except (ValueError, RecursionError):
            at += 1
        else:
            yield value


def _notes(value: Any, ids: Collection[str]) -> tuple[bool, list[ModelNote]]:
    """Return whether a value is an answer, and its notes."""
    if isinstance(value, dict) and isinstance(value.get(KEY), list):
        return True, [note for row in value[KEY] if (note := _note(row, ids))]
    if isinstance(value, list):
        notes = [note for row in value if (note := _note(row, ids))]
        return bool(notes) or not value, notes
    note = _note(value, ids)
    return note is not None, [note] if note else []


def _note(value: Any, ids: Collection[str]) -> ModelNote | None:
    if not isinstance(value, dict):
        return None
    message, quote, text = value.get("message"), value.get("quote"), value.get("text")
    category = value.get("category")
    named = isinstance(message, str | int) and not isinstance(message, bool)
    id_ = str(message)[:20].lower().removeprefix("message").strip(" #:") if named else ""
    if not (isinstance(quote, str) and isinstance(text, str)):
        return None
    if not (quote.strip() and text.strip()) or max(len(quote), len(text)) > LONGEST:
        return None
    kind = category.strip().lower() if isinstance(category, str) else ""
    kind = kind if kind in CATEGORIES else GENERAL
    return ModelNote(id_ if id_ in ids else "", quote, " ".join(text.split()), kind)
