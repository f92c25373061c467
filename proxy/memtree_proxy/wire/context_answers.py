"""Answers of `/context_memory`: tokens used, the compressed history, pending jobs, deletions."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

import msgspec
from msgspec import UNSET, UnsetType

from memtree import __version__
from memtree.context.context_memory import Answer as MemoryAnswer
from memtree.ports.queues import Pending, SummaryStatus
from memtree.ports.store import Receipt
from memtree_proxy.wire.agent_answers import CachedTokens
from memtree_proxy.wire.tree_answers import Explain
from memtree_proxy.wire.values import Answer, Count, copied


class Usage(Answer, frozen=True, kw_only=True):
    prompt_tokens: Count
    completion_tokens: Count
    total_tokens: Count
    prompt_tokens_details: CachedTokens
    raw_prompt_tokens: Count


class Memory(Answer, frozen=True, kw_only=True):
    address: str
    state: str
    reason: str | None
    indexed_tokens: Count
    indexed_messages: Count
    pending_tokens: Count
    epoch: str | None
    mode: Literal["stable", "auto", "fresh"]
    outline_tokens: Count
    recent_tokens: Count
    recall_tokens: Count
    saved_tokens: int
    excerpts: Count


class Compressed(Answer, frozen=True, kw_only=True):
    """`messages`, `input`: the returned history in its dialect, if any."""

    messages: msgspec.Raw | UnsetType = UNSET
    input: msgspec.Raw | UnsetType = UNSET
    usage: Usage
    memory: Memory
    explain: Explain | UnsetType = UNSET


def compressed(answer: MemoryAnswer, sent: Mapping[str, bytes], saved: int) -> Compressed:
    """`sent`: the returned history, if any, as raw JSON by field name. `saved`: tokens saved in the
    conversation so far."""
    returned = answer.sent_tokens if sent else 0
    usage = Usage(
        prompt_tokens=answer.raw_tokens,
        completion_tokens=returned,
        total_tokens=answer.raw_tokens + returned,
        prompt_tokens_details=CachedTokens(cached_tokens=answer.cached_tokens),
        raw_prompt_tokens=answer.raw_tokens,
    )
    memory = copied(
        Memory,
        answer,
        address=answer.address.hex(),
        reason=answer.reason or None,
        saved_tokens=saved,
    )
    history: dict[str, Any] = {name: msgspec.Raw(raw) for name, raw in sent.items()}
    return Compressed(**history, usage=usage, memory=memory)


class Today(Answer, frozen=True, kw_only=True):
    calls: Count
    input_tokens: Count
    cached_tokens: Count
    output_tokens: Count
    money: float


class Summaries(Answer, frozen=True, kw_only=True):
    state: Literal["off", "ok", "limit_reached", "unavailable"]
    pending_nodes: Count
    today: Today


class Status(Answer, frozen=True, kw_only=True):
    ready: Literal[True] = True
    pending_tokens: Count
    pending_jobs: Count
    summaries: Summaries
    version: str = __version__
    folds_at: Count | UnsetType = UNSET

    @classmethod
    def of(
        cls, pending: Pending, status: SummaryStatus, folds_at: int | UnsetType = UNSET
    ) -> Status:
        summaries = copied(Summaries, status, today=copied(Today, status))
        return cls(
            pending_tokens=pending.tokens,
            pending_jobs=pending.jobs,
            summaries=summaries,
            folds_at=folds_at,
        )


class ShownReceipt(Answer, frozen=True, kw_only=True):
    """The amounts that a deletion removed, or would remove; a dry run counts no jobs."""

    object: Literal["context_memory.deletion"] = "context_memory.deletion"
    scope: Literal["history", "address", "tenant"]
    address: str | None
    addresses: Count
    nodes: Count
    vectors: Count
    summaries: Count
    epochs: Count
    turns: Count
    jobs: Count | UnsetType = UNSET
    deleted_at: str | UnsetType = UNSET
    dry_run: Literal[True] | UnsetType = UNSET

    @classmethod
    def of(cls, receipt: Receipt, deleted_at: str | None, **target: Any) -> ShownReceipt:
        """`deleted_at`: None for a dry run. `target`: the scope and the address."""
        own: dict[str, Any] = {"deleted_at": UNSET if deleted_at is None else deleted_at}
        own |= {"jobs": UNSET, "dry_run": True} if deleted_at is None else {"dry_run": UNSET}
        return copied(cls, receipt, object="context_memory.deletion", **own, **target)
