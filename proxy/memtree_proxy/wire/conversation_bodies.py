"""Answers about conversations and single requests. They hold counts and positions, no text."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated

from msgspec import Meta

from memtree.context.known_conversations import KnownConversation, StoredEpoch, StoredPlan
from memtree.digests.titles import LONGEST
from memtree.memories.checked_fields import shown
from memtree.ports.request_log import LONGEST_MODEL, UNKNOWN, RequestRow
from memtree.unfolding.kept_passages import PinnedPlace
from memtree_proxy.http.headers import OTHER
from memtree_proxy.wire.context_bodies import OutlineNode, Passed, Place, Span, WorkKind
from memtree_proxy.wire.values import Answer, Count, copied

Line = Annotated[str, Meta(max_length=LONGEST)]


class ShownConversation(Answer, frozen=True, kw_only=True):
    address: str
    title: Line
    client: str
    project: Line
    messages: Count
    tokens: Count
    last_used: str
    state: str
    saved_tokens: int

    @classmethod
    def of(cls, conversation: KnownConversation) -> ShownConversation:
        return copied(
            cls,
            conversation,
            address=conversation.address.hex(),
            client=conversation.client or OTHER,
            last_used=shown(conversation.last_used),
            state=conversation.state.value,
        )


class ConversationPage(Answer, frozen=True, kw_only=True):
    conversations: Sequence[ShownConversation]
    next_cursor: str | None


class RenamedConversation(Answer, frozen=True, kw_only=True):
    address: str
    title: str


class ShownPin(Place, frozen=True, kw_only=True):
    sha256: str


class PinnedPassages(Answer, frozen=True, kw_only=True):
    address: str
    pins: Sequence[ShownPin]

    @classmethod
    def of(cls, address: bytes, places: Sequence[PinnedPlace]) -> PinnedPassages:
        return cls(address=address.hex(), pins=[copied(ShownPin, place) for place in places])


class PlannedExcerpt(Span, frozen=True, kw_only=True):
    tokens: Count
    reason: str | None
    rank: Count | None


class PlannedWork(Span, frozen=True, kw_only=True):
    kind: WorkKind
    outcome: Passed | None


class Recall(Answer, frozen=True, kw_only=True):
    message: Count
    excerpts: Sequence[PlannedExcerpt]


class ShownEpoch(Answer, frozen=True, kw_only=True):
    id: str
    created: str
    messages: Count
    reason: str | None

    @classmethod
    def of(cls, epoch: StoredEpoch) -> ShownEpoch:
        return copied(cls, epoch, id=epoch.id.hex(), created=shown(epoch.created))


class Plan(Answer, frozen=True, kw_only=True):
    address: str
    epoch: ShownEpoch | None
    cut: Count
    nodes: Sequence[OutlineNode]
    excerpts: Sequence[PlannedExcerpt]
    rules: Sequence[PlannedExcerpt]
    recall: Sequence[Recall]
    log: Sequence[PlannedWork]

    @classmethod
    def of(cls, plan: StoredPlan, address: bytes) -> Plan:
        return cls(
            address=address.hex(),
            epoch=None if plan.epoch is None else ShownEpoch.of(plan.epoch),
            cut=plan.cut,
            nodes=[OutlineNode.of(node) for node in plan.nodes],
            excerpts=[copied(PlannedExcerpt, one) for one in plan.excerpts],
            rules=[copied(PlannedExcerpt, one) for one in plan.rules],
            recall=[
                Recall(
                    message=block.message,
                    excerpts=[copied(PlannedExcerpt, one) for one in block.excerpts],
                )
                for block in plan.recall
            ],
            log=[copied(PlannedWork, work) for work in plan.log],
        )


class ShownRequest(Answer, frozen=True, kw_only=True):
    """A request of the log. Null: not known, or not told."""

    id: str
    time: str
    client: str
    dialect: str
    model: Annotated[str, Meta(max_length=LONGEST_MODEL)]
    address: str | None
    conversation: str | None
    title: Line
    state: str | None
    reason: str | None
    epoch: str | None
    turn: Count | None
    posted_tokens: Count | None
    sent_tokens: Count | None
    cached_tokens: Count | None
    written_tokens: Count | None
    output_tokens: Count | None
    saved_tokens: int
    first_token_ms: Count | None
    total_ms: Count
    memories: Count
    recalled: Count
    retries: Count
    wrap_run: str | None
    status: int
    error_type: str | None


_COUNTED = (
    "posted_tokens", "sent_tokens", "cached_tokens", "written_tokens", "output_tokens",
    "first_token_ms",
)  # fmt: skip
_NAMED = ("state", "reason", "turn", "wrap_run", "error_type")


class LoggedRequest(ShownRequest, frozen=True, kw_only=True):
    """`plan`: of the fold that the request belongs to, while it lives."""

    plan: Plan | None


def shown_request(row: RequestRow, titles: Mapping[bytes, str]) -> ShownRequest:
    """`titles`: of conversations by address."""
    counts = {name: getattr(row, name) for name in _COUNTED}
    return copied(
        ShownRequest,
        row,
        time=shown(row.time),
        address=row.address.hex() or None,
        conversation=row.conversation.hex() or None,
        title=titles.get(row.address, ""),
        epoch=row.epoch.hex() or None,
        **{name: None if count == UNKNOWN else count for name, count in counts.items()},
        **{name: getattr(row, name) or None for name in _NAMED},
    )


class Totals(Answer, frozen=True, kw_only=True):
    requests: Count
    folded: Count
    posted_tokens: Count
    sent_tokens: Count
    saved_tokens: int


class RequestPage(Answer, frozen=True, kw_only=True):
    requests: Sequence[ShownRequest]
    totals: Totals
    next_cursor: str | None
