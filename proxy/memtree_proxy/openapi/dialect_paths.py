"""Describe our part of the routes of the two other dialects. The rest of their bodies is defined by
the vendors and forwarded unchanged."""

from __future__ import annotations

from memtree.config import Settings
from memtree.conversation.keep_options import PATTERNS, TOOLS
from memtree.dialects.posted_history import MESSAGES, RESPONSES
from memtree_proxy.openapi import bodies, failures, headers
from memtree_proxy.openapi.operations import UPSTREAM, operation
from memtree_proxy.wire.json_schema import (
    STRING,
    Json,
    array,
    content,
    described,
    either,
    object_of,
    ref,
    schema,
)  # fmt: skip
from memtree_proxy.wire.operation import READING

TAG = "Chat"
_OWN = (
    "model_context_limit", "target_tokens", "expiration_days", "mode", "query", "memory", PATTERNS,
    TOOLS, "memory_options", "use_rag", "rag_options",
)  # fmt: skip
_OF_CHATS = ("dialect", "messages", "functions", "response_format")
_ITEM: Json = {"type": "object"}
SCHEMAS: dict[str, Json] = {
    "MessagesFailure": object_of(
        {
            "type": {"const": "error"},
            "error": object_of({"type": STRING, "message": STRING}),
        },
        ("type", "error"),
        description="An error as the Messages API tells it.",
    ),
}


def schemas(settings: Settings) -> dict[str, Json]:
    own = bodies.own_fields(settings)
    mine = {name: own[name] for name in _OWN}
    model = described(STRING, "The model, with or without the suffix `:memory`.")
    shared = {name: own[name] for name in bodies.CONTEXT if name not in _OF_CHATS}
    return {
        "ContextOfMessages": object_of(
            {
                "dialect": {"const": MESSAGES},
                "messages": array(_ITEM, minItems=1),
                "system": described({}, "The system prompt: text, or blocks."),
                **shared,
            },
            ("dialect", "messages"),
            description="The same for a history of the Messages API. `dialect` may be left out "
            "where the shape tells it (`system`, calls of tools in blocks).",
        ),
        "ContextOfResponses": object_of(
            {
                "dialect": described({"enum": [RESPONSES, None]}, "Told by `input`, too."),
                "input": described(
                    either(STRING, array({}, minItems=1)), "Items, or one text of the user."
                ),
                "instructions": described({}, "The system prompt."),
                **shared,
            },
            ("input",),
            description="The same for a history of the Responses API.",
        ),
        "MessagesRequest": object_of(
            {
                "model": model,
                "messages": described(array(_ITEM, minItems=1), "The whole history."),
                "system": described({}, "The system prompt: text, or blocks."),
                "tools": described({}, "Tools. Their size is counted."),
                "max_tokens": described({"type": "integer"}, "Room that is kept for the answer."),
                "stream": described({"type": "boolean"}, "Answer with server-sent events."),
                **mine,
            },
            ("model", "messages"),
            description="A request of the Messages API. Fields of MemTree are taken out, "
            "everything else goes to the upstream as it came.",
        ),
        "ResponsesRequest": object_of(
            {
                "model": model,
                "input": described({}, "The whole history: items, or one text of the user."),
                "instructions": described({}, "The system prompt."),
                "tools": described({}, "Tools. Their size is counted."),
                "max_output_tokens": described({}, "Room that is kept for the answer."),
                "stream": described({"type": "boolean"}, "Answer with server-sent events."),
                **mine,
            },
            ("model", "input"),
            description="A request of the Responses API. Fields of MemTree are taken out, "
            "everything else goes to the upstream as it came.",
        ),
    }


def paths(settings: Settings) -> dict[str, Json]:
    default = {
        "description": "The upstream's own answer, or an error of MemTree in the same form.",
        "headers": headers.of_answer(),
        "content": content(schema("MessagesFailure")),
    }
    upstream = {
        "description": "The upstream's own answer: its status, headers and body as they came.",
        "headers": headers.of_answer(),
    }
    statuses = (426, *(status for status in READING if status != 405), *UPSTREAM)
    errors = failures.of(settings, *statuses)
    return {
        "/messages": _posting(
            "createMessage",
            "A message with memory",
            "The Messages API, as Claude Code speaks it; see `createChatCompletion`. A history "
            "that lies on the server (a thread, a compaction) goes on untouched.",
            "Messages",
            {"200": _answer("message"), "default": default},
        ),
        "/messages/count_tokens": _posting(
            "countMessageTokens",
            "How long a message with memory is",
            "Counted by the upstream: of what memory would send now, where the history is folded. "
            "Nothing is kept of the request.",
            "Messages",
            {"200": _answer("count"), "default": default},
        ),
        "/responses": _posting(
            "createResponse",
            "A response with memory",
            "The Responses API, as Codex speaks it; see `createChatCompletion`. A history that "
            "lies on the server (`previous_response_id`, `conversation`) goes on untouched. Who "
            "asks for a WebSocket here (GET) gets 426, and goes on over HTTP.",
            "Responses",
            {"200": _answer("response"), **errors, "default": upstream},
        ),
    }


def _posting(id_: str, summary: str, description: str, body: str, answers: Json) -> Json:
    return {
        "post": operation(
            id_,
            TAG,
            summary,
            description,
            answers,
            parameters=headers.of_chat(),
            requestBody=ref("requestBodies", body),
        )
    }


def _answer(what: str) -> Json:
    return {
        "description": "The upstream's answer as it came; server-sent events with `stream`.",
        "headers": headers.of_answer(),
        "content": {
            **content(described({}, f"As the upstream made it: usually a {what}.")),
            **content(described(STRING, "Events of the same API."), "text/event-stream"),
        },
    }
