"""Answers of context memory, as values; putting an answer together is pure.

An answer lists what is sent, in order: posted messages that stay, the text of the memory message,
lines of the assistant. `memtree_proxy.dialects` renders these as messages of an API.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, overload

from memtree.budget.packing import LINE, Rounds, lines_at
from memtree.budget.prices import Prices
from memtree.context.answer_state import Reason, State
from memtree.context.index_lookup import IndexState
from memtree.context.turn_request import CompressRequest
from memtree.history import cache_control
from memtree.history.chat_history import History
from memtree.history.conversation_beginning import NONE, Preamble, preamble
from memtree.history.message import MESSAGE_OVERHEAD
from memtree.unfolding import recall_block
from memtree.unfolding.explain import Evidence


@dataclass(frozen=True, slots=True)
class KeptMessage:
    """A posted message, unchanged. `index`: its place among all posted messages. `block`: a recall
    block with its separator, to put in front of the message's own text, or `behind` it."""

    index: int
    block: str = ""
    behind: bool = False


@dataclass(frozen=True, slots=True)
class MemoryText:
    """The memory message, sent in the user's role. `preamble` stands before `text`. `as_parts`: its
    content is a list of parts, because the request uses cache markers; `cache_marker`: the client's
    marker at its end, or None."""

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
    """The first `length` posted messages, unchanged. Items are created when read: most answers that
    change nothing are never read, and histories have thousands of messages."""

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
    """Token counts of a posted history, for each of its prefixes. `addresses`, `totals`: as in
    `History`; `fixed`: tokens of system messages and tools; `prices`: those that apply to the
    request."""

    addresses: tuple[bytes, ...]
    totals: tuple[int, ...]
    fixed: int
    prices: Prices


@dataclass(frozen=True, slots=True)
class Answer:
    """Outcome for one request.

    `items`: what is sent, in order; `changed` is False if that equals the posted messages.
    `reason`: explains `state`, "" if the state needs no explanation. `memories`: ids of the
    memories in what is sent. `continued`: the epoch was begun by an earlier request. `stays`:
    tokens at the beginning of what is sent (tools and system messages included) that the request
    before has sent already. `begun`: index (among all posted messages) of the first message that
    was added after the epoch began; 0 if nothing is folded. The model wrote earlier messages in
    reply to a different prompt: providers that bind reasoning to the prompt no longer accept the
    reasoning in them.
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
        """Return True if the answer has a memory message."""
        return self.changed and any(isinstance(item, MemoryText) for item in self.items)


@dataclass(frozen=True, slots=True)
class CompressResult:
    """An answer and its sources: `evidence` if it has a memory message, `index` if the history was
    looked up."""

    answer: Answer
    evidence: Evidence | None = None
    index: IndexState | None = None


@dataclass(frozen=True, slots=True)
class AnswerLayout:
    """Layout of an answer's messages: the text of the memory message ("" if there is none), its
    tokens together with the lines beside it, the cut after it, the recall blocks by message (index
    in the history), how many messages at the beginning are sent whole before it, and (first
    message, end) of the rounds before the cut that are sent whole after it."""

    cut: int
    text: str = ""
    tokens: int = 0
    blocks: Mapping[int, str] = field(default_factory=dict)
    block_tokens: int = 0
    head: int = 0
    pinned: Rounds = ()

    @property
    def whole(self) -> list[int]:
        """Return the messages before the cut that are sent whole after the memory message."""
        return [index for start, end in self.pinned for index in range(start, end)]


def passed(
    posted: History, ask: CompressRequest, state: State = State.BELOW_THRESHOLD, reason: str = ""
) -> Answer:
    """Return an answer that sends the messages unchanged."""
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
    """Assemble an answer: system messages before the cut, the memory message with the lines beside
    it, pinned rounds, and all messages after the cut."""
    border = posted.posted[layout.cut]
    front = [KeptMessage(index) for index, _ in posted.system if index < border]
    blocks = {
        posted.posted[message]: _beside(posted, message, text)
        for message, text in layout.blocks.items()
    }
    later = range(border, len(ask.messages))
    behind = [blocks.get(index) or KeptMessage(index) for index in later]
    carried = preamble(posted, layout.head, layout.cut) if layout.text else NONE
    memory = _memory_items(posted, ask, layout, carried) if layout.text else []
    whole = layout.whole if layout.text else []
    folded = posted.size(layout.head, layout.cut) - sum(posted.facts[at].tokens for at in whole)
    recent = posted.size(layout.cut)
    sent = posted.system_tokens + recent + layout.block_tokens + carried.tokens
    if layout.text:
        sent += layout.tokens + MESSAGE_OVERHEAD
    reason = Reason.EMBEDDINGS_PENDING if state is State.PROVISIONAL else Reason.NONE
    return replace(
        passed(posted, ask, state, reason),
        changed=True,
        items=(*front, *memory, *(KeptMessage(posted.posted[at]) for at in whole), *behind),
        sent_tokens=sent,
        cached_tokens=folded if layout.text else 0,
        recent_tokens=recent,
        recall_tokens=layout.block_tokens,
        begun=len(ask.messages),
    )


def _beside(posted: History, message: int, block: str) -> KeptMessage:
    """Return a message with a recall block: behind a result, in front of a user's text."""
    if recall_block.is_behind(posted, message):
        return KeptMessage(posted.posted[message], recall_block.SEAM + block, behind=True)
    return KeptMessage(posted.posted[message], block + recall_block.SEAM)


def begun_at(posted: History, ask: CompressRequest, start: int) -> int:
    """Return `Answer.begun` for an epoch that began with the first `start` messages of the
    history."""
    return posted.posted[start] if start < len(posted) else len(ask.messages)


def with_index(answer: Answer, index: IndexState) -> Answer:
    """Return the answer with the counts of the index."""
    return replace(
        answer,
        indexed_tokens=index.frontier.tokens,
        indexed_messages=index.frontier.messages,
        pending_tokens=index.pending_tokens,
    )


def _memory_items(
    posted: History, ask: CompressRequest, layout: AnswerLayout, carried: Preamble
) -> list[AnswerItem]:
    """Return the memory message; before it the first message if that is sent whole; and an
    assistant line between a user message of the client and ours, if chat templates require
    alternation."""
    before, behind = lines_at(posted, layout.cut, layout.head)
    line = AssistantLine(LINE)
    memory = MemoryText(layout.text, carried)
    if cache_control.used(posted, ask.markers):
        marker = cache_control.of_memory(posted, ask.markers, layout.cut, layout.head, layout.whole)
        memory = replace(memory, as_parts=True, cache_marker=marker)
    return [
        *(KeptMessage(index) for index in posted.posted[: layout.head]),
        *([line] if ask.alternate and before else []),
        memory,
        *([line] if ask.alternate and behind else []),
    ]
