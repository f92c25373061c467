"""A request within an epoch, and the content of its answer: values, no ports."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from memtree.budget import epoch, packing
from memtree.budget.epoch import Epoch, EpochTerms, EpochTurn
from memtree.context.answer import (
    AnswerLayout,
    CompressResult,
    assembled,
    begun_at,
    with_index,
)
from memtree.context.caches.rendered_texts import RenderedTexts
from memtree.context.epochs import injected_memories
from memtree.context.indexing.index_state import IndexState
from memtree.context.indexing.prefix_lookup import TAIL, stored_from
from memtree.context.request import CompressRequest
from memtree.context.retrieval import RetrievedContext
from memtree.conversation.history import History
from memtree.conversation.message import MESSAGE_OVERHEAD
from memtree.conversation.preamble import preamble
from memtree.ports.store import ContinuedTurn
from memtree.text import memory_lines
from memtree.tree.node import Node
from memtree.unfolding import recall_block
from memtree.unfolding.explain import Evidence


@dataclass(frozen=True, slots=True)
class TurnRequest:
    """One request before it is answered. `fixed`: tokens of system messages and tools. `carried`:
    tokens of the preamble, which is sent with the memory message. `key`: of the epochs that it may
    continue. `previous`: the newest turn on its chain, at a history of `previous_length` messages.
    `generation`: the tenant's deletion count when the request began."""

    posted: History
    ask: CompressRequest
    limits: packing.TokenLimits
    fixed: int
    carried: int
    terms: EpochTerms
    key: bytes
    now: float  # unix seconds
    generation: int
    previous: ContinuedTurn | None = None
    previous_length: int = 0

    @classmethod
    def of(
        cls,
        posted: History,
        ask: CompressRequest,
        limits: packing.TokenLimits,
        *,
        recipe: str,
        now: float,
        generation: int,
    ) -> TurnRequest:
        """`recipe`: names the ranking of passages."""
        fixed = posted.system_tokens + ask.tools_tokens
        carried = preamble(posted).tokens
        terms = EpochTerms.of(limits, fixed + carried, ask.window, ask.prices)
        scope = ask.memories.scope if ask.memories else ""
        keep = (ask.keep.patterns, ask.keep.tools)
        key = epoch.key(limits, ask.window, ask.prices, recipe, ask.query, scope, ask.dialect, keep)
        return cls(posted, ask, limits, fixed, carried, terms, key, now, generation)

    @property
    def address(self) -> bytes:
        return self.posted.addresses[-1]

    @property
    def stands_here(self) -> bool:
        """Return True if the turn that was found is stored for exactly this history."""
        return self.previous is not None and self.previous_length == len(self.posted)

    @property
    def again(self) -> bool:
        """Return True if this request repeats the previous turn's request exactly."""
        return self.stands_here and not self._partial

    @property
    def goes_behind_cut(self) -> bool:
        """Return True if the newest message is not part of what the epoch has folded, and no late
        result behind its cut answers a call before it."""
        if self.previous is None or (cut := self.previous.epoch.plan.cut) >= len(self.posted):
            return False
        return not any(caller < cut <= result for caller, result in self.posted.late)

    @property
    def _partial(self) -> bool:
        return self.previous is not None and self.previous.turn.partial

    def beginnings(self, cut: int, indexed: int, *, begun: bool) -> set[int]:
        """Return the lengths of the prefixes at which this turn is stored as well, since the client
        may leave out of the next request what it puts at the end of this one. `cut`: of its epoch;
        any history that contains it may continue the epoch. `begun`: the epoch begins with this
        turn. `indexed`: messages of the longest indexed prefix."""
        length = len(self.posted)
        lengths = {self.previous_length} if self._partial else set()
        if begun:
            lengths = {stored_from(cut)}
        if self.posted.facts[-1].role == "user":
            if begun:
                lengths |= {length - 1, length - TAIL}
            elif self._partial or self._strays(indexed):
                lengths.add(length - 1)
        return {each for each in lengths if cut <= each < length}

    def _strays(self, indexed: int) -> bool:
        """Return True if the client changed its last request after sending it: the known part of
        this history ends before that request."""
        facts = self.posted.facts
        known = self.previous_length or indexed
        behind = range(len(facts) - 1, known, -1)  # the newest answer is usually near the end
        return known > 0 and any(facts[at].role == "assistant" for at in behind)

    def blocks(self) -> dict[int, EpochTurn] | None:
        """Return the recall blocks that the previous turn sent, by message; None if one is lost."""
        if self.previous is None:
            return {}
        stored, addresses = self.previous.blocks, self.posted.addresses
        recalled = self.previous.turn.recalled
        if any(addresses[message + 1] not in stored for message in recalled):
            return None
        return {message: stored[addresses[message + 1]] for message in recalled}


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

    def block_text(self, message: int, posted: History, texts: RenderedTexts) -> str:
        """Return the text that stands beside a message."""
        turn, behind = self.blocks[message], recall_block.is_behind(posted, message)
        recall = texts.block(posted, self.epoch, turn.recall, self.versions, behind=behind)
        return injected_memories.beside(recall, turn.memories, self.lines)


def epoch_result(
    request: TurnRequest,
    index: IndexState,
    content: TurnContent,
    turn: EpochTurn,
    texts: RenderedTexts,
) -> CompressResult:
    """Build the answer, with its costs."""
    posted, plan, previous = request.posted, content.epoch.plan, request.previous
    blocks = {m: content.block_text(m, posted, texts) for m in content.blocks}
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
