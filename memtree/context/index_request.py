"""A history that is to be indexed, and on what terms."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice

from memtree.conversation.history import History
from memtree.conversation.project import project_of
from memtree.extraction.conversation_title import MESSAGES, READ, title
from memtree.ports.conversations import HistoryEnd

# Seconds for stage 1 where the history fits the model without a tree, so that nobody must wait
BUILD_PATIENCE = 20.0
LONG_PATIENCE = 600.0  # where nobody waits for it
SURROUNDINGS = 4  # system messages, and first messages, in which a client may name the directory


@dataclass(frozen=True, slots=True)
class IndexRequest:
    """`days`: how long the index is to be kept from now on. `generation`: of the tenant's deletions
    when the request began. `patience`: seconds for stage 1. `backfill`: nobody talks in this
    history now, so stages 2 and 3 do others first. `client`: the program that posted it."""

    posted: History
    days: int
    generation: int
    patience: float = BUILD_PATIENCE
    backfill: bool = False
    client: str = ""

    @property
    def tenant(self) -> str:
        return self.posted.tenant

    @property
    def conversation(self) -> tuple[str, bytes]:
        """Key that all requests of the conversation share: the tenant and the address of the first
        message."""
        return self.posted.tenant, self.posted.addresses[1]

    def end(self, length: int, used: float, *, told: bool = False) -> HistoryEnd:
        """Describe the first `length` messages; `used`: unix seconds of their last request.
        `told`: its title and project are stored; else the beginning of the conversation is read,
        which takes milliseconds."""
        posted = self.posted
        return HistoryEnd(
            used,
            length,
            posted.size(0, length),
            posted.posted[0],
            length == len(posted),
            "" if told else title(posted.beginning(MESSAGES, READ)),
            self.client,
            "" if told else project_of(self._surroundings()),
        )

    def _surroundings(self) -> Iterator[str]:
        """Texts in which a client names the directory."""
        yield from (message.words for _, message in islice(self.posted.system, SURROUNDINGS))
        for index, info in enumerate(self.posted.facts[:SURROUNDINGS]):
            if info.role == "user":
                yield self.posted.messages[index].words
