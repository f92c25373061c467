"""Define the answers about conversations and single requests. They hold counts and positions, no
text."""

from __future__ import annotations

from typing import Any

from memtree.context.conversations.known_conversations import ConversationState, KnownConversation
from memtree.context.conversations.stored_plan import StoredEpoch, StoredPlan
from memtree.context.state import Reason
from memtree.digests.conversation_title import LONGEST
from memtree.memories.fields.times import shown as shown_time
from memtree.ports.request_log import LONGEST_MODEL, UNKNOWN, RequestRow, RequestTotals
from memtree_proxy.observability.request_rows import DIALECTS, ERROR_TYPES, REASONS, STATES
from memtree_proxy.request.clients import CLIENTS, OTHER
from memtree_proxy.wire.answer import Answer, Shown, rows_of, same, schema_of_answer, shown
from memtree_proxy.wire.json_schema import COUNT, NULL, STRING, Json, either
from memtree_proxy.wire.tree_answers import OUTLINE_NODE, RANK, SPAN, WORK
from memtree_proxy.wire.types import ADDRESS_SHAPE, TIME

_CLIENT: Json = {**STRING, "enum": [*CLIENTS, OTHER]}
_LINE: Json = {**STRING, "maxLength": LONGEST}
_STATES: Json = {"type": "string", "enum": [state.value for state in ConversationState]}

CONVERSATION: Answer[KnownConversation] = {
    "address": same(ADDRESS_SHAPE, made=bytes.hex),
    "title": same(_LINE, "Its own, or made of its first request; may be empty."),
    "client": Shown(
        _CLIENT,
        lambda conversation: conversation.client or OTHER,
        "The program that posted it, by its headers.",
    ),
    "project": same(
        _LINE, "The last part of the working directory that the client names; may be empty."
    ),
    "messages": same(COUNT, "Of its history, without system messages."),
    "tokens": same(COUNT, "Of its history, without system messages."),
    "last_used": same(TIME, made=shown_time),
    "state": same(
        _STATES,
        "packed: its newest request was folded, and the fold is kept. indexed: its tree is "
        "there, and no fold is kept. indexing: only a beginning of it has a tree yet.",
    ),
    "saved_tokens": same(
        {"type": "integer"},
        "What memory saved on its requests, as the log of requests has them; 0 without a log.",
    ),
}
_EXCERPT: Answer[Any] = {
    **SPAN,
    "tokens": same(COUNT, "About so many."),
    "reason": same(either(STRING, NULL), "Why it is shown; null: not kept."),
    "rank": RANK,
}
_EPOCH: Answer[StoredEpoch] = {
    "id": same(STRING, made=bytes.hex),
    "created": same(TIME, made=shown_time),
    "messages": same(COUNT, "How many were posted when it began."),
    "reason": same(either(STRING, NULL), "Why it began; null: not kept."),
}
PLAN: Answer[StoredPlan] = {
    "address": same(ADDRESS_SHAPE),
    "epoch": same(
        either(schema_of_answer(_EPOCH), NULL),
        "The fold; null where nothing is folded.",
        lambda epoch: epoch and shown(_EPOCH, epoch),
    ),
    "cut": same(COUNT, "The first message that is sent as it is."),
    "nodes": rows_of(OUTLINE_NODE, "Nodes of the tree that are shown."),
    "excerpts": rows_of(_EXCERPT, "Passages that are quoted."),
    "rules": rows_of(_EXCERPT, "Standing requests that are shown."),
    "recall": rows_of(
        {"message": same(COUNT), "excerpts": rows_of(_EXCERPT)},
        "What was recalled for a message, and stands before it.",
    ),
    "log": rows_of({**SPAN, **WORK}, "Files and commands that the log of what was done names."),
}


def _known(number: int) -> int | None:
    return None if number == UNKNOWN else number


def _hex(id_: bytes) -> str | None:
    return id_.hex() or None


def _given(value: object) -> object:
    return value or None


_KNOWN, _MAYBE = either(COUNT, NULL), either(STRING, NULL)
_REASONS = sorted({*REASONS, OTHER} - {Reason.NONE})
_SAVED = same(
    {"type": "integer"},
    "In uncached input tokens, against sending everything; a loss is negative.",
)
REQUEST: Answer[RequestRow] = {
    "id": same(STRING, "As the header `x-memtree-request` of its answer."),
    "time": same(TIME, "When it came.", shown_time),
    "client": same(_CLIENT, "The program, by its headers."),
    "dialect": same({**STRING, "enum": list(DIALECTS)}),
    "model": same({**STRING, "maxLength": LONGEST_MODEL}, "As posted, cut short; may be empty."),
    "address": same(
        either(ADDRESS_SHAPE, NULL), "Of its history; null where memory did not read it.", _hex
    ),
    "title": same(_LINE, "Of its conversation, as it is now; empty where there is none any more."),
    "state": same(
        either({**STRING, "enum": list(STATES)}, NULL),
        "As `x-memtree-state`; null: it ended before memory decided.",
        _given,
    ),
    "reason": same(
        either({**STRING, "enum": _REASONS}, NULL),
        "As `x-memtree-reason`, without its size.",
        _given,
    ),
    "epoch": same(_MAYBE, "As `x-memtree-epoch`.", _hex),
    "turn": same(_KNOWN, "Which request of its epoch it is, from 1; null: not known.", _given),
    "posted_tokens": same(_KNOWN, "Posted to memory; null: not counted.", _known),
    "sent_tokens": same(_KNOWN, "Sent in their place.", _known),
    "cached_tokens": same(
        _KNOWN,
        "Of the prompt, what the provider says it read from its cache; null: not told.",
        _known,
    ),
    "written_tokens": same(_KNOWN, "What it says it put there.", _known),
    "output_tokens": same(_KNOWN, "What it says it answered with.", _known),
    "saved_tokens": _SAVED,
    "first_token_ms": same(_KNOWN, "From its head to the first bytes of the answer.", _known),
    "total_ms": same(COUNT, "From its head to the end of the answer."),
    "memories": same(COUNT, "How many stood in what was sent."),
    "recalled": same(COUNT, "Rounds in which the model called recall tools."),
    "retries": same(COUNT, "How often it was sent again, changed."),
    "wrap_run": same(_MAYBE, "The run of `memtree wrap` that it is of.", _given),
    "status": same({"type": "integer"}, "Of the answer; 499: the client went."),
    "error_type": same(
        either({**STRING, "enum": sorted({*ERROR_TYPES, OTHER})}, NULL),
        "Code or type of the error that it ended with.",
        _given,
    ),
}
TOTALS: Answer[RequestTotals] = {
    "requests": same(COUNT),
    "folded": same(COUNT, "Those that belong to an epoch."),
    "posted_tokens": same(COUNT),
    "sent_tokens": same(COUNT),
    "saved_tokens": _SAVED,
}
