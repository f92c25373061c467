"""Content of an answer within an epoch, and the answer made of it: values, no ports."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from memtree.budget.epoch import Epoch, EpochTurn
from memtree.context import injected_memories, rendered_texts
from memtree.context.answer import (
    AnswerLayout,
    CompressResult,
    assembled,
    begun_at,
    with_index,
)
from memtree.context.index_state import IndexState
from memtree.context.prefix_lookup import TAIL, stored_from
from memtree.context.retrieval import RetrievedContext
from memtree.context.turn_request import TurnRequest
from memtree.history.chat_history import History
from memtree.history.message import MESSAGE_OVERHEAD
from memtree.text import memory_lines
from memtree.tree.node import Node
from memtree.unfolding import recall_block
from memtree.unfolding.explain import Evidence


@dataclass(frozen=True, slots=True)
class TurnContent:
    """Content of an answer: an epoch with the nodes that its plan names and the text of its memory
    message, and the recall blocks by message (index in the history), with the nodes that these name
    by id and version, since each may name another version. `lines`: of the memories in both.
    `retrieved`: set if this request began the epoch. `by_words`: the embedder failed for a part of
    it. `outline_tokens`: of the summary lines of the memory message."""

    epoch: Epoch
    nodes: Mapping[bytes, Node]
    text: str
    outline_tokens: int
    blocks: Mapping[int, EpochTurn] = field(default_factory=dict)
    versions: recall_block.Versions = field(default_factory=dict)
    lines: injected_memories.Lines = field(default_factory=dict)
    retrieved: RetrievedContext | None = None
    by_words: bool = False

    def block_text(self, message: int, posted: History) -> str:
        """Return the text that stands beside a message."""
        turn, behind = self.blocks[message], recall_block.is_behind(posted, message)
        recall = rendered_texts.block(posted, self.epoch, turn.recall, self.versions, behind=behind)
        return injected_memories.beside(recall, turn.memories, self.lines)


def epoch_result(
    request: TurnRequest,
    index: IndexState,
    content: TurnContent,
    turn: EpochTurn,
) -> CompressResult:
    """Build the answer, with its costs."""
    posted, plan, previous = request.posted, content.epoch.plan, request.previous
    blocks = {m: content.block_text(m, posted) for m in content.blocks}
    block_tokens = sum(turn.block_tokens for turn in content.blocks.values())
    memory = content.epoch.memory - MESSAGE_OVERHEAD
    layout = AnswerLayout(
        plan.cut, content.text, memory, blocks, block_tokens, plan.head, plan.pinned
    )
    recalled = [turn.recall for turn in content.blocks.values()]
    retrieved = content.retrieved
    continued = previous is not None and retrieved is None
    answer = replace(
        assembled(posted, request.ask, index.state(by_words=content.by_words), layout),
        epoch=content.epoch.id.hex(),
        outline_tokens=content.outline_tokens,
        excerpts=len(plan.excerpts) + sum(len(block.excerpts) for block in recalled),
        continued=continued,
        stays=min(previous.turn.sent, turn.sent) if previous and continued else request.fixed,
        begun=begun_at(posted, request.ask, content.epoch.start),
        memories=memory_lines.memory_ids(injected_memories.sent(content.epoch, content.blocks)),
    )
    evidence = Evidence(
        posted,
        plan,
        content.nodes,
        chosen=retrieved.unfolding.chosen if retrieved else (),
        left_out=retrieved.unfolding.left_out if retrieved else (),
        passages=retrieved.passages if retrieved else {},
        blocks=recalled,
        otherwise="earlier",
        reserved=content.epoch.reserved,
    )
    return CompressResult(with_index(answer, index), evidence, index)


def beginnings(request: TurnRequest, cut: int, indexed: int, *, begun: bool) -> set[int]:
    """Return the lengths of the prefixes at which this turn is stored as well, since the client
    may leave out of the next request what it puts at the end of this one. `cut`: of its epoch;
    any history that contains it may continue the epoch. `begun`: the epoch begins with this
    turn. `indexed`: messages of the longest indexed prefix."""
    length = len(request.posted)
    lengths = {request.previous_length} if request.partial else set()
    if begun:
        lengths = {stored_from(cut)}
    if request.posted.facts[-1].role == "user":
        if begun:
            lengths |= {length - 1, length - TAIL}
        elif request.partial or _strays(request, indexed):
            lengths.add(length - 1)
    return {each for each in lengths if cut <= each < length}


def _strays(request: TurnRequest, indexed: int) -> bool:
    """Return True if the client changed its last request after sending it: the known part of
    this history ends before that request."""
    facts = request.posted.facts
    known = request.previous_length or indexed
    behind = range(len(facts) - 1, known, -1)  # the newest answer is usually near the end
    return known > 0 and any(facts[at].role == "assistant" for at in behind)
