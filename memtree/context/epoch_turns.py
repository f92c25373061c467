"""Plans a new turn of an epoch, renders the texts that the epoch sends, and makes the answer.

Within an epoch its texts are the same in every request, and rendered once for all histories that
continue the one in which it began. A text depends on a plan, on the summaries that the plan names,
and on the messages that the plan folds. So a client that changes one of these messages gets a new
rendering.

`TurnPlanner` plans the blocks before the newest message: it awaits the embedder, and stores
nothing. The rest takes and returns values, and awaits no port.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from memtree.budget import epoch
from memtree.budget.epoch import Epoch, EpochTurn
from memtree.context import kept_parts
from memtree.context.answer import AnswerLayout, CompressResult, assembled, begun_at, with_index
from memtree.context.index_lookup import TAIL, IndexState, stored_from
from memtree.context.retrieval import EarlyVectors, RetrievedContext, Retriever
from memtree.context.turn_request import TurnRequest
from memtree.context.warm_conversations import NodeLayers
from memtree.history.chat_history import History
from memtree.history.derived import RenderedText
from memtree.history.message import MESSAGE_OVERHEAD
from memtree.ranking.ranked_history import RankedHistory
from memtree.ranking.ranking_query import query_of
from memtree.text import memory_lines, tokens
from memtree.text.memory_lines import MemoryLine
from memtree.tree.node import Node
from memtree.unfolding import recall_block
from memtree.unfolding.explain import Evidence
from memtree.unfolding.files_in_hand import named_files
from memtree.unfolding.memory_plan import RecallPlan
from memtree.unfolding.memory_text import render
from memtree.unfolding.unfold import outline_size

MEMORY = "memory message"  # a name of a text; blocks have their plans


def memory_message(posted: History, epoch: Epoch, nodes: Mapping[bytes, Node]) -> RenderedText:
    """Return the text of an epoch's memory message. `nodes`: those that its plan names."""
    plan = epoch.plan
    texts = posted.derived.texts(epoch.id, plan.cut)
    if (text := texts.get(MEMORY)) is None:
        size = outline_size(plan, posted, nodes)
        text = texts[MEMORY] = RenderedText(render(plan, posted, nodes), size)
    return text


def rendered_block(
    posted: History, epoch: Epoch, plan: RecallPlan, nodes: recall_block.Versions, *, behind: bool
) -> str:
    """Return the text of a recall block within an epoch; empty if it shows nothing."""
    if not plan:
        return ""
    shown = plan.sent
    texts = posted.derived.texts(epoch.id, epoch.plan.cut)
    if (text := texts.get((shown, behind))) is None:
        text = RenderedText(recall_block.text_of(shown, posted, nodes, behind=behind))
        texts[shown, behind] = text
    return text.text


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
    lines: kept_parts.Lines = field(default_factory=dict)
    retrieved: RetrievedContext | None = None
    by_words: bool = False

    def block_text(self, message: int, posted: History) -> str:
        """Return the text that stands beside a message."""
        turn, behind = self.blocks[message], recall_block.is_behind(posted, message)
        recall = rendered_block(posted, self.epoch, turn.recall, self.versions, behind=behind)
        return kept_parts.beside(recall, turn.memories, self.lines)


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
        memories=memory_lines.memory_ids(kept_parts.sent(content.epoch, content.blocks)),
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


class TurnPlanner:
    def __init__(self, retriever: Retriever) -> None:
        self._retriever = retriever

    async def begun(
        self,
        request: TurnRequest,
        index: IndexState,
        content: TurnContent,
        early: EarlyVectors | None,
    ) -> tuple[EpochTurn, TurnContent]:
        """Return the turn of this request, not stored yet, and the epoch's content with everything
        that the turn names."""
        posted = request.posted
        added = self._added(request, content)
        taken = kept_parts.size(added)
        (block, above), by_words = await self._recall_block(request, index, content, taken, early)
        behind = recall_block.is_behind(posted, len(posted) - 1)
        shown = rendered_block(posted, content.epoch, block, above, behind=behind)
        shown += recall_block.SEAM if block else ""
        block_tokens = tokens.count(shown) + taken
        block_sum = block_tokens + sum(turn.block_tokens for turn in content.blocks.values())
        recent = posted.size(content.epoch.plan.cut)
        sent = request.fixed + request.carried + content.epoch.memory + recent + block_sum
        recalled = (*sorted(content.blocks), *((len(posted) - 1,) if block or added else ()))
        now = request.now
        turn = EpochTurn(
            content.epoch.id,
            block.excerpts,
            block_tokens,
            now,
            sent=sent,
            recalled=recalled,
            outline=block.outline,
            notes=block.notes,
            memories=tuple(line.memory for line in added),
            reasons=block.reasons,
            ranks=block.ranks,
        )
        return turn, replace(
            content,
            lines={**content.lines, **kept_parts.by_memory(added)},
            nodes=NodeLayers(content.nodes, {id_: node for (id_, _), node in above.items()}),
            versions={**content.versions, **above},
            by_words=content.by_words or by_words,
        )

    def _added(self, request: TurnRequest, content: TurnContent) -> tuple[MemoryLine, ...]:
        """Return memories for the newest message, if that is a new user message."""
        posted = request.posted
        if not posted.asks(len(posted) - 1):
            return ()
        blocks = sum(turn.block_tokens for turn in content.blocks.values())
        room = epoch.room_left(content.epoch, posted, request.terms, blocks)
        sent = [content.lines[key] for key in kept_parts.sent(content.epoch, content.blocks)]
        return kept_parts.in_block(request.ask.memories, sent, room, content.epoch.created)

    async def _recall_block(
        self,
        request: TurnRequest,
        index: IndexState,
        content: TurnContent,
        taken: int,
        early: EarlyVectors | None,
    ) -> tuple[tuple[RecallPlan, recall_block.Versions], bool]:
        """Return a recall block for the newest message, if that is a new user message or a result,
        with the nodes that it names; and True if passages were ranked without vectors. `taken`:
        tokens of its room that are already used."""
        posted, plan = request.posted, content.epoch.plan
        # A memory message that begins now has the files in hand already.
        continues = content.retrieved is None
        loops = continues and recall_block.is_behind(posted, len(posted) - 1)
        if not index.whole or (recall_block.needless(posted) and not loops):
            return (RecallPlan(), {}), False
        wants = not loops and recall_block.wants(posted)
        room = epoch.block_room(content.epoch, posted, request.terms, content.blocks, wants) - taken
        if room < recall_block.LEAST:
            return (RecallPlan(), {}), False
        earlier = [span for turn in content.blocks.values() for span in turn.block]
        shown = recall_block.shown_characters([*plan.verbatim, *earlier]) if loops else {}
        files = named_files(posted, plan.cut, shown) if loops else []
        if loops and not files:
            return (RecallPlan(), {}), False

        def work(ranked: RankedHistory) -> tuple[RecallPlan, recall_block.Versions]:
            block = (
                recall_block.of_files(ranked, plan, earlier, room, files)
                if loops
                else recall_block.chosen(ranked, plan, earlier, room, self._retriever.relevant)
            )
            return block, recall_block.named_leaves(ranked.corpus, block.outline)

        query = early.query if early else query_of(posted, request.ask.query)
        if loops:  # the names of files are enough: no vectors
            query = replace(query, meanings=())
        return await self._retriever.rank(posted, index, query, work, early)
