"""The reading of a model's records takes time in proportion to the text, whatever its shape: more
of what `tests/unit/linear_time/test_linear_time.py` says of other functions."""

from __future__ import annotations

import json

import pytest

from memtree.agents import extraction_plan, grounded_values, schema_prompt
from memtree.agents.memory_schema import MemorySchema
from memtree.agents.schema_prompt import ModelRecord, kind_fields
from memtree.memories.model_extraction import ShownMessage
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
    }.items()
]
VALUES = (("name", "Bo"), ("age", "30"), ("theme", "dark"), ("isSmoker", "true"))
TEXTS = {
    "numbers": Subject(lambda text: list(grounded_values.quantities(text))),
    "a choice": Subject(lambda text: grounded_values.choice(("dark", "light"), text)),
    "words": Subject(grounded_values.signed_words, lambda text: f"{text} z"),
    "a field that is called by its name": Subject(extraction_plan.named_field),
    "records of a model": Subject(lambda text: schema_prompt.read(text, ["1"])),
    "whether values were said": Subject(
        lambda text: grounded_values.believed(
            ModelRecord("1", text[:300], "UserProfile", VALUES),
            ShownMessage("1", text, (Span(0, len(text)),)),
            {kind.kind: kind for kind in KINDS},
        )
    ),
}
# Words of the patterns themselves: what they repeat, and where they begin and end.
READS = (
    ", now", "my a is A", "my favorite a ", " is A A", "my wife ", ", not a", "1,000", "$1k ",
    "two kg ", "O-", "C++ ", "a-", "n't ", " or ", "A", "aA",
)  # fmt: skip


@pytest.mark.slow
@pytest.mark.long
@pytest.mark.parametrize("name", TEXTS)
def test_no_shape_of_a_text_takes_more_than_its_share_of_time(name: str) -> None:
    assert list(slow(TEXTS[name], hostile.shapes(*READS), 1 << 15)) == []
