"""Operations that tell what is known of conversations: a list, a tree, a plan."""

from __future__ import annotations

from memtree.config import Settings
from memtree.context.conversations.known_conversations import ConversationState
from memtree.extraction.conversation_title import LONGEST
from memtree_proxy.context.conversations import ADDRESS, MAX_ROWS, ROWS
from memtree_proxy.openapi import failures
from memtree_proxy.openapi.answers import ADDRESS_SHAPE, OUTLINE_NODE, RANK
from memtree_proxy.openapi.operations import ok, operation
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
from memtree_proxy.wire.operation import KNOWN
from memtree_proxy.wire.types import SAYS_SOMETHING

_TAG = "Context memory"
_ROOT = "/context_memory/conversations"
_TIME: Json = {"type": "string", "format": "date-time"}
_PLACES = (
    "Messages are counted among what was posted last, from 0, system messages at its beginning "
    "included; one further back is not counted."
)
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
_RENAMING = {"rename": {"summary": "A title of its own", "value": {"title": "The tea bar"}}}
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
                {"type": "integer"}, "As `memory.saved_tokens` of its newest answer."
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
        }
    ),
}


# Of its own, not of the document's components: wallets have an address, too.
_NAMED: Json = {
    "name": ADDRESS,
    "in": "path",
    "required": True,
    "description": "As `memory.address` and the header `x-memtree-address` tell it.",
    "schema": {**ADDRESS_SHAPE, "pattern": "^[0-9a-fA-F]{64}$"},
}


def _query(name: str, description: str, shape: Json) -> Json:
    return {"name": name, "in": "query", "required": False, "description": description,
            "schema": shape}  # fmt: skip


def paths(settings: Settings) -> dict[str, Json]:
    errors = failures.of(settings, 400, *KNOWN)
    return {
        _ROOT: {
            "get": operation(
                "listConversations",
                _TAG,
                "List conversations",
                "Those that have a tree and are not expired: of a chat that grew its newest state, "
                "of one that branched each branch.",
                {"200": ok("A page of them.", schema("ConversationPage")), **errors},
                parameters=[
                    _query(
                        "limit",
                        f"Most conversations of the answer; clamped to 1 to {MAX_ROWS}.",
                        {"type": "integer", "default": ROWS},
                    ),
                    _query(
                        "cursor",
                        "`next_cursor` of the page before.",
                        {"type": "string", "pattern": "^[A-Za-z0-9_-]{53}[AQgw]$"},
                    ),
                ],
            )
        },
        f"{_ROOT}/{{{ADDRESS}}}": {
            "patch": operation(
                "renameConversation",
                _TAG,
                "Rename a conversation",
                "Gives it a title of its own, which it keeps while it grows. Renamed at an address "
                "that others go on from, all of these are.",
                {
                    "200": ok("The title.", schema("RenamedConversation")),
                    **failures.of(settings, 400, 404, 413, 415, *KNOWN),
                },
                parameters=[_NAMED],
                requestBody={
                    "required": True,
                    "content": content(schema("ConversationTitle"), examples=_RENAMING),
                },
            )
        },
        f"{_ROOT}/{{{ADDRESS}}}/tree": {
            "get": operation(
                "showStoredTree",
                _TAG,
                "The stored tree",
                f"Summaries and places, made of what is stored: no text of messages. {_PLACES}",
                {
                    "200": ok("The tree.", schema("StoredTree")),
                    **failures.of(settings, 404),
                    **errors,
                },
                parameters=[_NAMED],
            )
        },
        f"{_ROOT}/{{{ADDRESS}}}/plan": {
            "get": operation(
                "showStoredPlan",
                _TAG,
                "What the model was shown",
                "Of the newest fold: which nodes, which passages and why; places and sizes, no "
                f"text. {_PLACES}",
                {
                    "200": ok("The plan; an empty one where nothing is folded.",
                              schema("StoredPlan")),
                    **failures.of(settings, 404),
                    **errors,
                },
                parameters=[_NAMED],
            )
        },
    }  # fmt: skip
