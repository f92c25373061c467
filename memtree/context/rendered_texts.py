"""Texts that an epoch sends: within it they are the same in every request, and rendered once for
all histories that continue the one in which it began.

A text depends on a plan, on the summaries that the plan names, and on the messages that the plan
folds. So a client that changes one of these messages gets a new rendering.
"""

from __future__ import annotations

from collections.abc import Mapping

from memtree.budget.epoch import Epoch
from memtree.history.chat_history import History
from memtree.history.derived import RenderedText
from memtree.tree.node import Node
from memtree.unfolding import recall_block
from memtree.unfolding.memory_message_memory_text import render
from memtree.unfolding.memory_plan import RecallPlan
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


def block(
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
