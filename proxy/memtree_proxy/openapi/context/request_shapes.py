"""Shapes of answers about single requests."""

from __future__ import annotations

from memtree.context.state import Reason
from memtree.digests.conversation_title import LONGEST
from memtree.ports.request_log import LONGEST_MODEL
from memtree_proxy.observability.records.request_rows import DIALECTS, ERROR_TYPES, REASONS, STATES
from memtree_proxy.request.clients import CLIENTS, OTHER
from memtree_proxy.wire.json_schema import (
    COUNT,
    NULL,
    STRING,
    Json,
    array,
    described,
    either,
    object_of,
    schema,
)
from memtree_proxy.wire.types import ADDRESS_SHAPE

_KNOWN: Json = either(COUNT, NULL)
_REASONS = sorted({*REASONS, OTHER} - {Reason.NONE})
_SAVED = "In uncached input tokens, against sending everything; a loss is negative."
_ROW: dict[str, Json] = {
    "id": described(STRING, "As the header `x-memtree-request` of its answer."),
    "time": {"type": "string", "format": "date-time", "description": "When it came."},
    "client": described({**STRING, "enum": [*CLIENTS, OTHER]}, "The program, by its headers."),
    "dialect": {**STRING, "enum": list(DIALECTS)},
    "model": described(
        {**STRING, "maxLength": LONGEST_MODEL}, "As posted, cut short; may be empty."
    ),
    "address": described(
        either(ADDRESS_SHAPE, NULL), "Of its history; null where memory did not read it."
    ),
    "title": described(
        {**STRING, "maxLength": LONGEST},
        "Of its conversation, as it is now; empty where there is none any more.",
    ),
    "state": described(
        either({**STRING, "enum": list(STATES)}, NULL),
        "As `x-memtree-state`; null: it ended before memory decided.",
    ),
    "reason": described(
        either({**STRING, "enum": _REASONS}, NULL), "As `x-memtree-reason`, without its size."
    ),
    "epoch": described(either(STRING, NULL), "As `x-memtree-epoch`."),
    "turn": described(_KNOWN, "Which request of its epoch it is, from 1; null: not known."),
    "posted_tokens": described(_KNOWN, "Posted to memory; null: not counted."),
    "sent_tokens": described(_KNOWN, "Sent in their place."),
    "cached_tokens": described(
        _KNOWN, "Of the prompt, what the provider says it read from its cache; null: not told."
    ),
    "written_tokens": described(_KNOWN, "What it says it put there."),
    "output_tokens": described(_KNOWN, "What it says it answered with."),
    "saved_tokens": described({"type": "integer"}, _SAVED),
    "first_token_ms": described(_KNOWN, "From its head to the first bytes of the answer."),
    "total_ms": described(COUNT, "From its head to the end of the answer."),
    "memories": described(COUNT, "How many stood in what was sent."),
    "recalled": described(COUNT, "Rounds in which the model called recall tools."),
    "retries": described(COUNT, "How often it was sent again, changed."),
    "wrap_run": described(either(STRING, NULL), "The run of `memtree wrap` that it is of."),
    "status": described({"type": "integer"}, "Of the answer; 499: the client went."),
    "error_type": described(
        either({**STRING, "enum": sorted({*ERROR_TYPES, OTHER})}, NULL),
        "Code or type of the error that it ended with.",
    ),
}

SCHEMAS: dict[str, Json] = {
    "RequestRow": object_of(_ROW, description="One request: numbers, ids and words of lists."),
    "RequestPage": object_of(
        {
            "requests": array(schema("RequestRow"), description="Newest first."),
            "totals": object_of(
                {
                    "requests": COUNT,
                    "folded": described(COUNT, "Those that belong to an epoch."),
                    "posted_tokens": COUNT,
                    "sent_tokens": COUNT,
                    "saved_tokens": described({"type": "integer"}, _SAVED),
                },
                description="Sums over all requests that the filters let through.",
            ),
            "next_cursor": described(
                either(STRING, NULL), "For the page after this one; null on the last."
            ),
        }
    ),
    "LoggedRequest": object_of(
        {
            **_ROW,
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
