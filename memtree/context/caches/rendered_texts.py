"""Texts that were rendered recently: within an epoch they are the same in every request.

A text depends on a plan, on the summaries that the plan names, and on the posted history: the raw
messages that it quotes, and where system messages stand between them. So the key is the plan and a
digest of these, and a client that changes one of them gets a new rendering. No answer depends on
this cache.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from hashlib import blake2b
from typing import NamedTuple

from memtree.budget.epoch import Epoch
from memtree.conversation.history import History
from memtree.conversation.message import RESULT_ROLES
from memtree.conversation.message_list import raws_of
from memtree.process.bounded import TenantRows
from memtree.tree.node import Node
from memtree.unfolding import recall_block
from memtree.unfolding.memory_message.memory_text import render
from memtree.unfolding.plan import Plan, RecallPlan
from memtree.unfolding.unfold import outline_size
from memtree.unfolding.work_log.work_log import work_messages

MOST = 8 << 20  # bytes: some 500 epochs at the usual target
ROW = 400  # of a row besides its text
DIGEST = 16


class RenderedText(NamedTuple):
    """`outline_tokens`: tokens of its summary lines, 0 for a recall block."""

    text: str
    outline_tokens: int = 0


class RenderedTexts(TenantRows[Hashable, RenderedText]):
    """Rendered texts by tenant, plan and quoted messages."""

    def __init__(self, most: int = MOST) -> None:
        """`most`: bytes of all texts."""
        super().__init__(most, _size)

    def memory_message(
        self, posted: History, epoch: Epoch, nodes: Mapping[bytes, Node]
    ) -> RenderedText:
        """Return the text of an epoch's memory message. `nodes`: those that its plan names."""
        plan = epoch.plan

        def rendered() -> RenderedText:
            return RenderedText(render(plan, posted, nodes), outline_size(plan, posted, nodes))

        return self._kept(posted, epoch.id, plan.cut, plan, rendered)

    def add(self, posted: History, epoch: Epoch, text: RenderedText) -> None:
        """Keep the memory message of an epoch that begins."""
        self.put(self._key(posted, epoch.id, epoch.plan.cut, epoch.plan), text)

    def block(
        self,
        posted: History,
        epoch: Epoch,
        plan: RecallPlan,
        nodes: recall_block.Versions,
        *,
        behind: bool,
    ) -> str:
        """Return the text of a recall block within an epoch; empty if it shows nothing."""
        if not plan:
            return ""
        shown = plan.sent
        return self._kept(
            posted,
            (epoch.id, shown),
            epoch.plan.cut,
            shown,
            lambda: RenderedText(recall_block.text_of(shown, posted, nodes, behind=behind)),
        ).text

    def _kept(
        self,
        posted: History,
        name: Hashable,
        cut: int,
        plan: Plan | RecallPlan,
        make: Callable[[], RenderedText],
    ) -> RenderedText:
        key = self._key(posted, name, cut, plan)
        known = self.get(key)
        if known is None:
            known = make()
            self.put(key, known)
        return known

    @staticmethod
    def _key(
        posted: History, name: Hashable, cut: int, plan: Plan | RecallPlan
    ) -> tuple[str, Hashable]:
        # Plans quote only what they fold, so no message behind the cut changes the source.
        row = posted.derived.row("sources", cut)
        sources = row[cut - 1] = row[cut - 1] or {}
        if (source := sources.get(name)) is None:
            source = sources[name] = _source(posted, cut, _quoted(plan))
            posted.derived.nbytes += ROW
        return posted.tenant, (name, posted.volatile, cut, source)


def _quoted(plan: Plan | RecallPlan) -> tuple[int, ...]:
    """Return the messages that the text of a plan quotes, in order."""
    if not isinstance(plan, Plan):
        return tuple(sorted({span.message for span in plan.excerpts}))
    quoted = {span.message for span in plan.verbatim}
    quoted.update(work_messages(plan))
    return tuple(sorted(quoted))


def _source(posted: History, cut: int, quoted: Sequence[int]) -> bytes:
    """Return a digest of everything in the posted messages before `cut` that a text quoting these
    messages depends on: the raw messages, those whose calls they answer, and their numbers."""
    end = posted.posted[cut - 1] if cut else 0
    between = [str(index) for index, _ in posted.system if index < end]
    digest = blake2b(",".join(between).encode(), digest_size=DIGEST)
    raw_of = raws_of(posted.messages)
    for message in sorted({at for each in quoted for at in _read_with(posted, each)}):
        raw = raw_of(message)
        digest.update(b"%d,%d:" % (message, len(raw)))
        digest.update(raw)
    return digest.digest()


def _read_with(posted: History, message: int) -> Iterator[int]:
    """Yield a message, and the one whose call it answers, which its label names."""
    yield message
    facts = posted.facts
    if facts[message].role in RESULT_ROLES:
        while message and facts[message].role in RESULT_ROLES:
            message -= 1
        yield message


def _size(_: object, row: RenderedText) -> int:
    return ROW + sys.getsizeof(row.text)
