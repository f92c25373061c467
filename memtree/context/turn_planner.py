"""Plan a new turn of an epoch: the blocks before its newest message. Awaits the embedder; stores
nothing."""

from __future__ import annotations

from dataclasses import replace

from memtree.budget import epoch
from memtree.budget.epoch import EpochTurn
from memtree.context import injected_memories, rendered_texts
from memtree.context.conversation import NodeLayers
from memtree.context.index_state import IndexState
from memtree.context.retrieval import EarlyVectors, Retriever
from memtree.context.turn_content import TurnContent
from memtree.context.turn_request import TurnRequest
from memtree.ranking.ranked_history import RankedHistory
from memtree.ranking.ranking_query import query_of
from memtree.text import tokens
from memtree.text.memory_lines import MemoryLine
from memtree.unfolding import recall_block
from memtree.unfolding.files_in_hand import named_files
from memtree.unfolding.memory_plan import RecallPlan


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
        taken = injected_memories.size(added)
        (block, above), by_words = await self._recall_block(request, index, content, taken, early)
        behind = recall_block.is_behind(posted, len(posted) - 1)
        shown = rendered_texts.block(posted, content.epoch, block, above, behind=behind)
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
            lines={**content.lines, **injected_memories.by_memory(added)},
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
        sent = [content.lines[key] for key in injected_memories.sent(content.epoch, content.blocks)]
        return injected_memories.in_block(request.ask.memories, sent, room, content.epoch.created)

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
