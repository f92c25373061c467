"""Structured extraction takes time in proportion to the text, whatever its shape: more of what
`tests/unit/linear_time/test_linear_time.py` says of other functions."""

from __future__ import annotations

import json
from datetime import date

import pytest

from memtree.memories.agents.schemas.memory_schema import MemorySchema
from memtree.memories.agents.slot_filling import rule_reader, values
from memtree.memories.agents.slot_filling.model import schema_reply, value_grounding
from memtree.memories.agents.slot_filling.model.schema_reply import ModelRecord
from memtree.memories.agents.slot_filling.schema_fields import kind_fields
from memtree.memories.extraction.model.prompt import ShownMessage
from memtree.text.spans import Span
from tests.hostile_texts import hostile
from tests.hostile_texts.linear_time import Subject, slow

TEXT = {"type": "string"}
KINDS = [
    kind_fields(MemorySchema(kind, json.dumps({"properties": fields})))
    for kind, fields in {
        "UserProfile": {
            "name": TEXT,
            "age": {"type": "integer"},
            "birthday": {"type": "string", "format": "date"},
            "theme": {"enum": ["dark", "light"]},
            "likes": {"type": "array", "items": TEXT},
            "isSmoker": {"type": "boolean"},
        },
        "Task": {"title": TEXT, "due": {"type": "string", "format": "date"}},
        "Pet": {"name": TEXT},
        "Note": {"text": TEXT},
    }.items()
]
VALUES = (("name", "Bo"), ("age", "30"), ("theme", "dark"), ("isSmoker", "true"))
TEXTS = {
    "a message": Subject(
        lambda text: rule_reader.read(text, KINDS, date(2026, 3, 2)), hostile.as_it_is
    ),
    "numbers": Subject(
        lambda text: (values.number_in(text), values.numbers_in(text)), hostile.as_it_is
    ),
    "the end of a value, and a choice": Subject(
        lambda text: (values.value_end(text, 0), values.choice(("dark", "light"), text)),
        hostile.as_it_is,
    ),
    "a sentence that ends otherwise": Subject(
        lambda text: rule_reader.read(text, KINDS, date(2026, 3, 2)),
        lambda text: "\n".join(f"{piece} z." for piece in hostile.cut(text, 280)),
    ),
    "a value that ends otherwise": Subject(
        lambda text: (values.value_end(text, 0), values.signed_words(text)),
        lambda text: f"{text} z",
    ),
    "records of a model": Subject(lambda text: schema_reply.read(text, ["1"]), hostile.as_it_is),
    "whether values were said": Subject(
        lambda text: value_grounding.believed(
            ModelRecord("1", text[:300], "UserProfile", VALUES),
            ShownMessage("1", text, (Span(0, len(text)),)),
            {kind.kind: kind for kind in KINDS},
        ),
        hostile.as_it_is,
    ),
}
# Words of the patterns themselves: what they repeat, and where they begin and end.
READS = (
    ", now", " now", ", ok", "always ", "and i ", ", i live in ", "i'm a ", "my name is ", "my a ",
    " is my ", "set my a to ", "remind me to ", "the a of my ", "i like ", "www.a", "O-", "C++ ",
    "a-", "n't ", " because", "really ", "the the ", "turn on the ",
)  # fmt: skip


@pytest.mark.slow
@pytest.mark.long
@pytest.mark.parametrize("name", TEXTS)
def test_no_shape_of_a_text_takes_more_than_its_share_of_time(name: str) -> None:
    assert list(slow(TEXTS[name], hostile.shapes(*READS), 1 << 15)) == []
