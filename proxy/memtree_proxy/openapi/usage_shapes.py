"""Shapes of the answer about a tenant's usage."""

from __future__ import annotations

from memtree_proxy.wire.json_schema import (
    COUNT,
    NULL,
    Json,
    array,
    described,
    either,
    object_of,
)

_DATE: Json = {"type": "string", "format": "date"}
_STATES: Json = described(
    {"type": "object", "additionalProperties": COUNT},
    "Requests by what memory made of them: as the header `x-memtree-state`.",
)
_SAVED: Json = described(
    {"type": "integer"},
    "Saved against sending everything, in uncached input tokens at the prices in effect; negative "
    "where folding has not paid yet.",
)
_MILLISECONDS: Json = either({"type": "number"}, NULL)
_TOKENS: dict[str, Json] = {
    "raw_tokens": described(COUNT, "Tokens that were posted to memory."),
    "sent_tokens": described(COUNT, "Tokens that memory sent in their place."),
    "saved_tokens": _SAVED,
}

SCHEMAS: dict[str, Json] = {
    "UsageReport": object_of(
        {
            "period": object_of(
                {"first": _DATE, "last": _DATE, "days": COUNT},
                description="Days in UTC, both included; the last one is today.",
            ),
            "requests": object_of({"total": COUNT, "by_state": _STATES}),
            **_TOKENS,
            "saved_money": described(
                either(
                    object_of(
                        {
                            "amount": {"type": "number"},
                            "requests": described(COUNT, "Those that have a price."),
                        }
                    ),
                    NULL,
                ),
                "The same in money, of requests whose model had a price (the setting "
                "`input_prices`); null where none had.",
            ),
            "pending": object_of(
                {"tokens": COUNT, "jobs": COUNT},
                description="Work in the background that waits now.",
            ),
            "latency_ms": object_of(
                {"p50": _MILLISECONDS, "p95": _MILLISECONDS},
                description="What memory added to a request, in milliseconds, from counts by size: "
                "within a sixth. null: nothing was measured.",
            ),
            "daily": array(
                object_of({"date": _DATE, "requests": _STATES, **_TOKENS}),
                description="A line for each day of the period, the oldest first.",
            ),
        }
    )
}
