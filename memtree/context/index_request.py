"""A history that is to be indexed, and on what terms."""

from __future__ import annotations

from dataclasses import dataclass

from memtree.conversation.history import History

# Seconds for stage 1 where the history fits the model without a tree, so that nobody must wait
BUILD_PATIENCE = 20.0
LONG_PATIENCE = 600.0  # where nobody waits for it


@dataclass(frozen=True, slots=True)
class IndexRequest:
    """`days`: how long the index is to be kept from now on. `generation`: of the tenant's deletions
    when the request began. `patience`: seconds for stage 1. `backfill`: nobody talks in this
    history now, so stages 2 and 3 do others first."""

    posted: History
    days: int
    generation: int
    patience: float = BUILD_PATIENCE
    backfill: bool = False

    @property
    def tenant(self) -> str:
        return self.posted.tenant

    @property
    def conversation(self) -> tuple[str, bytes]:
        """What its requests have in common: the tenant and the address of the first message."""
        return self.posted.tenant, self.posted.addresses[1]
