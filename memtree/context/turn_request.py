"""A request on its way through an epoch, and the answer that comes of it: values, no ports."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from itertools import chain

import msgspec

from memtree.budget import packing
from memtree.budget.epoch import Epoch, EpochTerms, EpochTurn
from memtree.context.answer import Answer, AnswerLayout, assembled
from memtree.context.index_state import IndexState
from memtree.context.request import CompressRequest
from memtree.conversation.history import History
from memtree.conversation.message import MESSAGE_OVERHEAD
from memtree.ports.store import ContinuedTurn
from memtree.text import tokens
from memtree.tree.node import Node
from memtree.unfolding import explain, recall_block
from memtree.unfolding.plan import outline_line
from memtree.unfolding.unfold import Unfolding


@dataclass(slots=True)
class TurnRequest:
    """One request on its way to an answer. `here`: messages of the history of the found turn."""

    posted: History
    ask: CompressRequest
    limits: packing.TokenLimits
    fixed: int
    terms: EpochTerms
    key: bytes
    now: float
    generation: int
    found: ContinuedTurn | None = None
    here: int = 0

    @property
    def address(self) -> bytes:
        return self.posted.addresses[-1]

    @property
    def again(self) -> bool:
        """The very request of the found turn."""
        return self.found is not None and self.here == len(self.posted)

    def strays(self, indexed: int) -> bool:
        """Whether the client changed its last request after it had sent it: what is known of this
        history ends before that. `indexed`: messages of the longest prefix that is indexed."""
        roles = [fact.role for fact in self.posted.facts]
        if roles[-1] != "user" or "assistant" not in roles:
            return False
        last = len(roles) - 1 - roles[::-1].index("assistant")
        return 0 < (self.here or indexed) < last

    def blocks(self) -> dict[int, EpochTurn] | None:
        """The recall blocks that the found turn sent, by message; None where one is lost."""
        if self.found is None:
            return {}
        stored, addresses = self.found.blocks, self.posted.addresses
        recalled = self.found.turn.recalled
        if any(addresses[message + 1] not in stored for message in recalled):
            return None
        return {message: stored[addresses[message + 1]] for message in recalled}


@dataclass(slots=True)
class TurnContent:
    """What the answer is made of: an epoch with the nodes that its plan names."""

    epoch: Epoch
    nodes: Mapping[bytes, Node]
    text: str
    blocks: dict[int, EpochTurn] = field(default_factory=dict)
    unfolded: Unfolding | None = None
    rows: Mapping[int, explain.ScoredPassage] = field(default_factory=dict)


def told(request: TurnRequest, known: IndexState, sending: TurnContent, turn: EpochTurn) -> Answer:
    """The answer, with what it costs and why it shows what it shows."""
    posted, plan, found = request.posted, sending.epoch.plan, request.found
    blocks = {m: recall_block.text_of(one.block, posted) for m, one in sending.blocks.items()}
    block_tokens = sum(one.block_tokens for one in sending.blocks.values())
    memory = sending.epoch.memory - MESSAGE_OVERHEAD
    shape = AnswerLayout(plan.cut, sending.text, memory, blocks, block_tokens, plan.head)
    lines = (outline_line(one, sending.nodes[one.id], posted) for one in plan.outline)
    saved = turn.direct - turn.paid
    before = found.turn.direct - found.turn.paid if found else 0.0
    spans = [one.block for one in sending.blocks.values()]
    continued = found is not None and sending.unfolded is None
    answer = replace(
        assembled(posted, request.ask, known.state, shape),
        epoch=sending.epoch.id.hex(),
        outline_tokens=tokens.count("\n".join(lines)),
        excerpts=len(plan.excerpts) + sum(map(len, spans)),
        saved_tokens=round(saved),
        gain=0.0 if request.again else saved - before,
        continued=continued,
        stays=min(found.turn.sent, turn.sent) if found and continued else request.fixed,
        explain=lambda: explain.of_epoch(
            posted, plan, spans, sending.unfolded, sending.rows, sending.nodes
        ),
        shown=msgspec.structs.replace(plan, excerpts=(*plan.excerpts, *chain(*spans))),
    )
    return known.told(answer)
