"""What is asked of memory and what it answers, as values; putting an answer together is pure."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import msgspec

from memtree.budget.packing import LINE, lines_at
from memtree.context.index_state import IndexState
from memtree.context.request import CompressRequest
from memtree.context.state import Reason, State
from memtree.conversation import cache_control
from memtree.conversation.history import History
from memtree.conversation.message import MESSAGE_OVERHEAD
from memtree.unfolding import explain, recall_block
from memtree.unfolding.plan import Plan
from memtree.unfolding.search import FoldedHistory


@dataclass(frozen=True, slots=True)
class Answer:
    """`messages` are raw JSON fragments; `changed` is False where they are the posted ones.

    `reason`: why the state is this one, "" where it says that itself.

    `saved_tokens`: what the epochs of this conversation saved so far against sending everything,
    `gain`: this request's part in it; both in uncached input tokens, a loss is negative.

    `continued`: the epoch is an earlier request's. `stays`: tokens at the beginning of what is
    sent (tools and system messages included) that the request before it has sent already.

    `shown`: what the memory message and the recall blocks show, None where there is no memory
    message; `folded`: a way into what lies behind it, where the tree is whole.
    """

    state: State
    changed: bool
    messages: tuple[bytes, ...]
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
    saved_tokens: int = 0
    gain: float = 0.0
    continued: bool = False
    stays: int = 0
    explain: Callable[[], dict[str, Any]] = explain.nothing
    shown: Plan | None = None
    folded: FoldedHistory | None = None
    reason: str = Reason.NONE


@dataclass(frozen=True, slots=True)
class AnswerLayout:
    """The messages of an answer: the text of the memory message (empty: there is none), its tokens
    with what stands beside it, the cut after it, the recall blocks by message (index in the
    history), and how many messages at the beginning go whole before it."""

    cut: int
    text: str = ""
    tokens: int = 0
    blocks: Mapping[int, str] = field(default_factory=dict)
    block_tokens: int = 0
    head: int = 0

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
        messages=tuple(message.raw for message in ask.messages),
        address=posted.addresses[-1],
        raw_tokens=size,
        sent_tokens=size,
        system_tokens=posted.system_tokens,
        recent_tokens=posted.tokens,
        mode=ask.mode,
    )


def assembled(posted: History, ask: CompressRequest, state: State, shape: AnswerLayout) -> Answer:
    """System messages before the cut, the memory message and what stands beside it, and what
    follows the cut."""
    border = posted.posted[shape.cut]
    front = [message.raw for index, message in posted.system if index < border]
    blocks = {posted.posted[index]: text for index, text in shape.blocks.items()}
    kept = [
        recall_block.before(message.raw, blocks[index]) if index in blocks else message.raw
        for index, message in enumerate(ask.messages)
        if index >= border
    ]
    memory = _remembered(posted, ask, shape) if shape.text else []
    reason = Reason.EMBEDDINGS_PENDING if state is State.PROVISIONAL else Reason.NONE
    return replace(
        passed(posted, ask, state, reason),
        changed=True,
        messages=(*front, *memory, *kept),
        sent_tokens=posted.system_tokens + shape.sent(posted),
        cached_tokens=posted.size(shape.head, shape.cut) if shape.text else 0,
        recent_tokens=posted.size(shape.cut),
        recall_tokens=shape.block_tokens,
    )


def with_index(answer: Answer, index: IndexState) -> Answer:
    """The answer with the numbers of the index."""
    return replace(
        answer,
        indexed_tokens=index.frontier.tokens,
        indexed_messages=index.frontier.messages,
        pending_tokens=index.pending_tokens,
    )


def _remembered(posted: History, ask: CompressRequest, shape: AnswerLayout) -> list[bytes]:
    """The memory message; before it the first message where that goes whole; between a user
    message of the client and ours a line of the assistant, where templates ask for one."""
    before, behind = lines_at(posted, shape.cut, shape.head)
    return [
        *(message.raw for message in posted.messages[: shape.head]),
        *([_LINE] if ask.alternate and before else []),
        _memory_message(posted, ask, shape),
        *([_LINE] if ask.alternate and behind else []),
    ]


_LINE = msgspec.json.encode({"role": "assistant", "content": LINE})


def _memory_message(posted: History, ask: CompressRequest, shape: AnswerLayout) -> bytes:
    content: Any = shape.text
    if cache_control.used(posted, ask.markers):
        content = [{"type": "text", "text": shape.text}]
        own = cache_control.of_memory(posted, ask.markers, shape.cut, shape.head)
        if own is not None:
            content[0]["cache_control"] = own
    return msgspec.json.encode({"role": "user", "content": content})
