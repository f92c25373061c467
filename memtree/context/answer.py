"""Answers of context memory, as values; putting an answer together is pure.

An answer says what is sent in the client's terms of nothing but order: posted messages that stay,
the text of the memory message, lines of the assistant. `memtree_proxy.dialects` makes messages of
it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, overload

from memtree.budget.packing import LINE, lines_at
from memtree.budget.pinned_rounds import Rounds
from memtree.budget.prices import Prices
from memtree.context.indexing.index_state import IndexState
from memtree.context.request import CompressRequest
from memtree.context.state import Reason, State
from memtree.conversation import cache_control
from memtree.conversation.history import History
from memtree.conversation.message import MESSAGE_OVERHEAD
from memtree.conversation.preamble import NONE, Preamble, preamble
from memtree.unfolding import recall_block
from memtree.unfolding.explain import Evidence


@dataclass(frozen=True, slots=True)
class KeptMessage:
    """A posted message as it came. `index`: among all that were posted. `block`: text that is put
    in front of its own, a recall block with its seam."""

    index: int
    block: str = ""


@dataclass(frozen=True, slots=True)
class MemoryText:
    """The memory message, sent as the user's. `preamble` stands before `text`. `as_parts`: its
    content is a list of parts, as the request uses cache markers; `cache_marker`: the client's own
    one that it ends with, or None."""

    text: str
    preamble: Preamble = NONE
    as_parts: bool = False
    cache_marker: Mapping[str, Any] | None = None


@dataclass(frozen=True, slots=True)
class AssistantLine:
    """A constant line of the assistant between two messages of the user."""

    text: str


AnswerItem = KeptMessage | MemoryText | AssistantLine


@dataclass(frozen=True, slots=True)
class AllKept(Sequence[KeptMessage]):
    """The first `length` posted messages as they came. Made one by one when they are looked at:
    most answers that change nothing are never read, and histories have thousands of messages."""

    length: int

    def __len__(self) -> int:
        return self.length

    @overload
    def __getitem__(self, index: int) -> KeptMessage: ...
    @overload
    def __getitem__(self, index: slice) -> tuple[KeptMessage, ...]: ...
    def __getitem__(self, index: int | slice) -> KeptMessage | tuple[KeptMessage, ...]:
        if isinstance(index, slice):
            return tuple(KeptMessage(at) for at in range(self.length)[index])
        return KeptMessage(range(self.length)[index])


@dataclass(frozen=True, slots=True)
class PostedSizes:
    """Sizes of a posted history, by its beginnings. `addresses`, `totals`: as `History` has them;
    `fixed`: tokens of system messages and tools; `prices`: those that the request asks for."""

    addresses: tuple[bytes, ...]
    totals: tuple[int, ...]
    fixed: int
    prices: Prices


@dataclass(frozen=True, slots=True)
class Answer:
    """`items`: what is sent, in order; `changed` is False where that is what was posted.

    `reason`: why the state is this one, "" where it says that itself.

    `memories`: ids of those that stand in what is sent.

    `continued`: the epoch is an earlier request's. `stays`: tokens at the beginning of what is
    sent (tools and system messages included) that the request before it has sent already.

    `begun`: index (among all that were posted) of the first message behind those that began its
    epoch; 0 where nothing is folded. What a model said before it, it said to another prompt: where
    providers bind what it thought to the prompt, that is not valid any more.
    """

    state: State
    changed: bool
    items: Sequence[AnswerItem]
    address: bytes
    raw_tokens: int
    sent_tokens: int
    system_tokens: int
    indexed_tokens: int = 0
    indexed_messages: int = 0
    pending_tokens: int = 0
    cached_tokens: int = 0
    outline_tokens: int = 0
    recent_tokens: int = 0
    recall_tokens: int = 0
    excerpts: int = 0
    mode: str = "fresh"
    epoch: str | None = None
    continued: bool = False
    stays: int = 0
    reason: str = Reason.NONE
    memories: tuple[str, ...] = ()
    begun: int = 0
    sizes: PostedSizes | None = field(default=None, repr=False, compare=False)

    @property
    def folds(self) -> bool:
        """True if it has a memory message."""
        return self.changed and any(isinstance(item, MemoryText) for item in self.items)


@dataclass(frozen=True, slots=True)
class CompressResult:
    """An answer and what it was made of: `evidence` where it has a memory message, `index` where
    the history was looked up."""

    answer: Answer
    evidence: Evidence | None = None
    index: IndexState | None = None


@dataclass(frozen=True, slots=True)
class AnswerLayout:
    """The messages of an answer: the text of the memory message (empty: there is none), its tokens
    with what stands beside it, the cut after it, the recall blocks by message (index in the
    history), how many messages at the beginning go whole before it, and (first message, end) of the
    rounds before the cut that go whole behind it."""

    cut: int
    text: str = ""
    tokens: int = 0
    blocks: Mapping[int, str] = field(default_factory=dict)
    block_tokens: int = 0
    head: int = 0
    pinned: Rounds = ()

    @property
    def whole(self) -> list[int]:
        """Messages before the cut that go whole behind the memory message."""
        return [index for start, end in self.pinned for index in range(start, end)]

    def sent(self, history: History) -> int:
        """Tokens of everything but system messages and tools."""
        memory = self.tokens + MESSAGE_OVERHEAD if self.text else 0
        return memory + history.size(self.cut) + self.block_tokens


def passed(
    posted: History, ask: CompressRequest, state: State = State.BELOW_THRESHOLD, reason: str = ""
) -> Answer:
    """The messages as they came."""
    size = posted.tokens + posted.system_tokens
    return Answer(
        state=state,
        reason=reason,
        changed=False,
        items=AllKept(len(ask.messages)),
        address=posted.addresses[-1],
        raw_tokens=size,
        sent_tokens=size,
        system_tokens=posted.system_tokens,
        recent_tokens=posted.tokens,
        mode=ask.mode,
        sizes=PostedSizes(
            posted.addresses, posted.totals, posted.system_tokens + ask.tools_tokens, ask.prices
        ),
    )


def assembled(posted: History, ask: CompressRequest, state: State, layout: AnswerLayout) -> Answer:
    """System messages before the cut, the memory message and what stands beside it, pinned rounds,
    and what follows the cut."""
    border = posted.posted[layout.cut]
    front = [KeptMessage(index) for index, _ in posted.system if index < border]
    blocks = {
        posted.posted[message]: text + recall_block.SEAM for message, text in layout.blocks.items()
    }
    behind = [
        KeptMessage(index, blocks.get(index, "")) for index in range(border, len(ask.messages))
    ]
    carried = preamble(posted, layout.head, layout.cut) if layout.text else NONE
    memory = _memory_items(posted, ask, layout, carried) if layout.text else []
    whole = layout.whole if layout.text else []
    folded = posted.size(layout.head, layout.cut) - sum(posted.facts[at].tokens for at in whole)
    reason = Reason.EMBEDDINGS_PENDING if state is State.PROVISIONAL else Reason.NONE
    return replace(
        passed(posted, ask, state, reason),
        changed=True,
        items=(*front, *memory, *(KeptMessage(posted.posted[at]) for at in whole), *behind),
        sent_tokens=posted.system_tokens + layout.sent(posted) + carried.tokens,
        cached_tokens=folded if layout.text else 0,
        recent_tokens=posted.size(layout.cut),
        recall_tokens=layout.block_tokens,
        begun=len(ask.messages),
    )


def begun_at(posted: History, ask: CompressRequest, start: int) -> int:
    """`Answer.begun` of an epoch that began with the first `start` messages of the history."""
    return posted.posted[start] if start < len(posted) else len(ask.messages)


def with_index(answer: Answer, index: IndexState) -> Answer:
    """The answer with the numbers of the index."""
    return replace(
        answer,
        indexed_tokens=index.frontier.tokens,
        indexed_messages=index.frontier.messages,
        pending_tokens=index.pending_tokens,
    )


def _memory_items(
    posted: History, ask: CompressRequest, layout: AnswerLayout, carried: Preamble
) -> list[AnswerItem]:
    """The memory message; before it the first message where that goes whole; between a user
    message of the client and ours a line of the assistant, where templates ask for one."""
    before, behind = lines_at(posted, layout.cut, layout.head)
    line = AssistantLine(LINE)
    return [
        *(KeptMessage(index) for index in posted.posted[: layout.head]),
        *([line] if ask.alternate and before else []),
        _memory_text(posted, ask, layout, carried),
        *([line] if ask.alternate and behind else []),
    ]


def _memory_text(
    posted: History, ask: CompressRequest, layout: AnswerLayout, carried: Preamble
) -> MemoryText:
    if not cache_control.used(posted, ask.markers):
        return MemoryText(layout.text, carried)
    marker = cache_control.of_memory(posted, ask.markers, layout.cut, layout.head, layout.whole)
    return MemoryText(layout.text, carried, as_parts=True, cache_marker=marker)
