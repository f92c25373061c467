"""Define the answers of `/context_memory`: tokens used, the compressed history, pending jobs, and
deletions."""

from __future__ import annotations

from memtree import __version__
from memtree.config import MODES
from memtree.context.context_memory import Answer as MemoryAnswer
from memtree.ports.queues import Pending, SummaryStatus
from memtree.ports.store import Receipt
from memtree_proxy.wire.answer import Answer, Shown, same, schema_of_answer, shown
from memtree_proxy.wire.json_schema import BOOLEAN, COUNT, NULL, STRING, either
from memtree_proxy.wire.types import ADDRESS_SHAPE, TIME

_CACHED: Answer[MemoryAnswer] = {
    "cached_tokens": same(COUNT, "Posted tokens that memory replaces; 0: none.")
}
USAGE: Answer[MemoryAnswer] = {
    "prompt_tokens": Shown(COUNT, lambda answer: answer.raw_tokens, "Tokens that were posted."),
    "completion_tokens": same(COUNT, "Tokens that were returned."),
    "total_tokens": same(COUNT, "Both."),
    "prompt_tokens_details": Shown(
        schema_of_answer(_CACHED), lambda answer: shown(_CACHED, answer)
    ),
    "raw_prompt_tokens": Shown(
        COUNT, lambda answer: answer.raw_tokens, "The same as `prompt_tokens`."
    ),
}
MEMORY: Answer[MemoryAnswer] = {
    "address": same(
        ADDRESS_SHAPE, "The hash of the history, by which it can be forgotten.", bytes.hex
    ),
    "state": same(STRING, "What memory did: as the header `x-memtree-state`."),
    "reason": same(
        either(STRING, NULL),
        "Why, where the state alone does not say: as the header `x-memtree-reason`.",
        lambda reason: reason or None,
    ),
    "indexed_tokens": same(COUNT, "Tokens of the history that lie in the tree."),
    "indexed_messages": same(COUNT, "Messages of the history that lie in the tree."),
    "pending_tokens": same(
        COUNT, "Tokens that wait for their embeddings, or for a model's summary."
    ),
    "epoch": same(either(STRING, NULL), "The fold that this answer belongs to."),
    "mode": same({"type": "string", "enum": list(MODES)}, "The mode that was in effect."),
    "outline_tokens": same(COUNT, "Tokens of the unfolded tree."),
    "recent_tokens": same(COUNT, "Tokens of the messages that are whole."),
    "recall_tokens": same(COUNT, "Tokens that were recalled for questions."),
    "saved_tokens": same(
        {"type": "integer"},
        "Saved so far against sending everything, in uncached input tokens at the prices in "
        "effect; negative where folding has not paid yet.",
    ),
    "excerpts": same(COUNT, "Passages that are quoted verbatim."),
}
_TODAY: Answer[SummaryStatus] = {
    "calls": same(COUNT),
    "input_tokens": same(COUNT),
    "cached_tokens": same(COUNT, "Input tokens that were cached."),
    "output_tokens": same(COUNT),
    "money": same(
        {"type": "number", "minimum": 0},
        "At the prices that are configured; calls under way count with the most that they may "
        "cost.",
    ),
}
SUMMARIES: Answer[SummaryStatus] = {
    "state": same(
        {"type": "string", "enum": ["off", "ok", "limit_reached", "unavailable"]},
        "off: no model writes summaries. limit_reached: nothing more is asked of it on this day "
        "(UTC). unavailable: it did not answer lately.",
    ),
    "pending_nodes": same(
        COUNT,
        "Nodes of the tree that wait for it; those given up until their text comes again are "
        "counted.",
    ),
    "today": Shown(schema_of_answer(_TODAY), lambda status: shown(_TODAY, status)),
}
STATUS: Answer[Pending] = {
    "ready": Shown(BOOLEAN, lambda pending: True),
    "pending_tokens": Shown(
        COUNT,
        lambda pending: pending.tokens,
        "Tokens of yours that wait for their embeddings, or for a model's summary.",
    ),
    "pending_jobs": Shown(COUNT, lambda pending: pending.jobs, "Histories of yours that wait."),
    "summaries": same(schema_of_answer(SUMMARIES), "Summaries by a model."),
    "version": Shown(STRING, lambda pending: __version__),
}
DELETION: Answer[Receipt] = {
    "object": Shown(
        {"const": "context_memory.deletion"}, lambda receipt: "context_memory.deletion"
    ),
    "scope": same({"type": "string", "enum": ["history", "address", "tenant"]}),
    "address": same(either(ADDRESS_SHAPE, NULL)),
    **{name: Shown(COUNT, optional=name == "jobs") for name in Receipt._fields},
    "deleted_at": Shown(TIME, optional=True),
    "dry_run": Shown({"const": True}, says="There only where nothing was deleted.", optional=True),
}
