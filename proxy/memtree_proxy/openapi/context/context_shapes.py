"""Shapes of answers about conversations (a list, a tree, a plan), usage, and files of others."""

from __future__ import annotations

from memtree.context.conversations.known_conversations import ConversationState
from memtree.digests.conversation_title import LONGEST
from memtree.unfolding.pinned.pinned_places import MOST
from memtree_proxy.imports.conversation import FORMATS
from memtree_proxy.imports.posted_file import MESSAGES
from memtree_proxy.openapi.context.answers import OUTLINE_NODE, RANK, WORK
from memtree_proxy.request.clients import CLIENTS, OTHER
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
from memtree_proxy.wire.types import ADDRESS_SHAPE, SAYS_SOMETHING

_TIME: Json = {"type": "string", "format": "date-time"}
_SPAN: dict[str, Json] = {
    "message": described(COUNT, "Index of the posted message."),
    "start": described(COUNT, "First code point of its text."),
    "end": described(COUNT, "Code point after the last."),
}
_EXCERPT = object_of(
    {
        **_SPAN,
        "tokens": described(COUNT, "About so many."),
        "reason": described(either(STRING, NULL), "Why it is shown; null: not kept."),
        "rank": RANK,
    }
)
_TITLE: Json = {
    **described(STRING, "Of one line; white space around it is taken off."),
    "minLength": 1,
    "maxLength": LONGEST,
    "pattern": SAYS_SOMETHING,
}
SCHEMAS: dict[str, Json] = {
    "Conversation": object_of(
        {
            "address": ADDRESS_SHAPE,
            "title": described(
                {**STRING, "maxLength": LONGEST},
                "Its own, or made of its first request; may be empty.",
            ),
            "client": described(
                {**STRING, "enum": [*CLIENTS, OTHER]}, "The program that posted it, by its headers."
            ),
            "project": described(
                {**STRING, "maxLength": LONGEST},
                "The last part of the working directory that the client names; may be empty.",
            ),
            "messages": described(COUNT, "Of its history, without system messages."),
            "tokens": described(COUNT, "Of its history, without system messages."),
            "last_used": _TIME,
            "state": described(
                {"type": "string", "enum": [state.value for state in ConversationState]},
                "packed: its newest request was folded, and the fold is kept. indexed: its tree is "
                "there, and no fold is kept. indexing: only a beginning of it has a tree yet.",
            ),
            "saved_tokens": described(
                {"type": "integer"},
                "What memory saved on its requests, as the log of requests has them; 0 without a "
                "log.",
            ),
        }
    ),
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
            **_SPAN,
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
    "StoredTree": object_of(
        {
            "nodes": array(schema("Node")),
            "roots": array(STRING),
            "rules": array(
                object_of(_SPAN),
                description="Where standing requests stand; which of them still hold, only the "
                "text tells.",
            ),
        }
    ),
    "StoredPlan": object_of(
        {
            "address": ADDRESS_SHAPE,
            "epoch": described(
                either(
                    object_of(
                        {
                            "id": STRING,
                            "created": _TIME,
                            "messages": described(COUNT, "How many were posted when it began."),
                            "reason": described(
                                either(STRING, NULL), "Why it began; null: not kept."
                            ),
                        }
                    ),
                    NULL,
                ),
                "The fold; null where nothing is folded.",
            ),
            "cut": described(COUNT, "The first message that is sent as it is."),
            "nodes": array(OUTLINE_NODE, description="Nodes of the tree that are shown."),
            "excerpts": array(_EXCERPT, description="Passages that are quoted."),
            "rules": array(_EXCERPT, description="Standing requests that are shown."),
            "recall": array(
                object_of({"message": COUNT, "excerpts": array(_EXCERPT)}),
                description="What was recalled for a message, and stands before it.",
            ),
            "log": array(
                object_of({**_SPAN, **WORK}),
                description="Files and commands that the log of what was done names.",
            ),
        }
    ),
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
