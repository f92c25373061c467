"""Describe answers about single requests."""

from __future__ import annotations

from memtree_proxy.wire.answer import schema_of_answer
from memtree_proxy.wire.conversation_answers import REQUEST, TOTALS
from memtree_proxy.wire.json_schema import (
    NULL,
    STRING,
    Json,
    array,
    described,
    either,
    object_of,
    schema,
)

SCHEMAS: dict[str, Json] = {
    "RequestRow": schema_of_answer(
        REQUEST, description="One request: numbers, ids and words of lists."
    ),
    "RequestPage": object_of(
        {
            "requests": array(schema("RequestRow"), description="Newest first."),
            "totals": schema_of_answer(
                TOTALS, description="Sums over all requests that the filters let through."
            ),
            "next_cursor": described(
                either(STRING, NULL), "For the page after this one; null on the last."
            ),
        }
    ),
    "LoggedRequest": object_of(
        {
            **schema_of_answer(REQUEST)["properties"],
            "plan": described(
                either(schema("StoredPlan"), NULL),
                "What was chosen; null where nothing was folded, or the plan is kept no longer.",
            ),
        }
    ),
    "RequestEvents": described(
        STRING,
        "Events with `id: <count>` and `data: <a RequestRow>`, and comments as signs of life.",
    ),
}
