"""Describe answers about conversations (list, tree, plan), usage, and parsed files of other
programs."""

from __future__ import annotations

from memtree.digests.conversation_title import LONGEST
from memtree.unfolding.pinned.pinned_places import MOST
from memtree_proxy.imports.conversation import FORMATS
from memtree_proxy.imports.posted_file import MESSAGES
from memtree_proxy.wire.answer import schema_of_answer
from memtree_proxy.wire.conversation_answers import CONVERSATION, PLAN
from memtree_proxy.wire.json_schema import (
    COUNT,
    NULL,
    STRING,
    Json,
    array,
    content,
    described,
    either,
    object_of,
    schema,
)
from memtree_proxy.wire.tree_answers import SPAN, STORED_TREE
from memtree_proxy.wire.types import ADDRESS_SHAPE, SAYS_SOMETHING

_TITLE: Json = {
    **described(STRING, "Of one line; white space around it is taken off."),
    "minLength": 1,
    "maxLength": LONGEST,
    "pattern": SAYS_SOMETHING,
}
SCHEMAS: dict[str, Json] = {
    "Conversation": schema_of_answer(CONVERSATION),
    "ConversationTitle": object_of({"title": _TITLE}, ("title",), additionalProperties=False),
    "RenamedConversation": object_of({"address": ADDRESS_SHAPE, "title": _TITLE}),
    "Pins": object_of(
        {"pins": {**array(schema("PinnedPassage")), "maxItems": MOST}},
        ("pins",),
        additionalProperties=False,
    ),
    "PinnedPassages": object_of({"address": ADDRESS_SHAPE, "pins": array(schema("PinnedPassage"))}),
    "PinnedPassage": object_of(
        {
            **schema_of_answer(SPAN)["properties"],
            "part": {
                **described(STRING, "The string of the message, as in `explain`."),
                "minLength": 1,
                "maxLength": 200,
                "default": "content",
            },
            "sha256": {
                **described(
                    STRING, "Of the slice in UTF-8; where another text stands, it is no pin."
                ),
                "pattern": "^[0-9a-fA-F]{64}$",
            },
        },
        ("message", "start", "end", "sha256"),
        additionalProperties=False,
    ),
    "ConversationPage": object_of(
        {
            "conversations": array(schema("Conversation"), description="The last used first."),
            "next_cursor": described(
                either(STRING, NULL), "For the page after this one; null on the last."
            ),
        }
    ),
    "StoredTree": schema_of_answer(STORED_TREE),
    "StoredPlan": schema_of_answer(PLAN),
}


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

USAGE: dict[str, Json] = {
    "UsageReport": object_of(
        {
            "period": object_of(
                {"first": _DATE, "last": _DATE, "days": COUNT, "timezone": {"type": "string"}},
                description="Days of that time zone, both included; the last one is today.",
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


_OCTETS = "application/octet-stream"
_PARSED_EXAMPLE = [{"role": "user", "content": "Hello"}, {"role": "assistant", "content": "Hi"}]

PARSED: dict[str, Json] = {
    "ParsedFile": object_of(
        {
            "conversations": array(
                object_of(
                    {
                        "title": STRING,
                        "format": {"type": "string", "enum": [MESSAGES, *FORMATS]},
                        "messages": described(
                            array({"type": "object"}), "As the program would send them next."
                        ),
                        "belongs": described(
                            either(COUNT, NULL),
                            "After so many of the messages the history has the address that was "
                            "asked for; null: it never has, or none was asked for.",
                        ),
                    }
                )
            )
        }
    )
}


def parse_bodies() -> dict[str, Json]:
    return {
        "ForeignFile": {
            "required": True,
            "description": "The file as it is: JSON, or JSON on each line; no zip.",
            "content": {
                _OCTETS: {},
                **content(
                    described({}, "The same, where it is JSON."),
                    examples={"messages": {"summary": "Plain messages", "value": _PARSED_EXAMPLE}},
                ),
            },
        }
    }
