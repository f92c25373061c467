"""Shapes of answers about conversations: a list, a tree, a plan."""

from __future__ import annotations

from memtree.context.conversations.known_conversations import ConversationState
from memtree.extraction.conversation_title import LONGEST
from memtree_proxy.openapi.answers import OUTLINE_NODE, RANK, WORK
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
