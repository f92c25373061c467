"""Ports of the readers of a posted conversation; `memtree.background.extracting` has them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from memtree.memories.agents.extraction.merging import Finding
from memtree.memories.agents.schemas.memory_schema import MemorySchema
from memtree.memories.message_extraction import CandidateReader, SkippedText, UserMessage
from memtree.memories.scope import Scope

TOLD = 300  # characters of a text that was left out


@dataclass(frozen=True, slots=True)
class StructuredReading:
    """Findings of one message. Not `done`: the next request reads it again."""

    message: UserMessage
    findings: tuple[Finding, ...] = ()
    skipped: tuple[SkippedText, ...] = ()
    done: bool = True


class StructuredReader(Protocol):
    """`mode`: the `capture_mode` of its memories."""

    mode: str

    async def read(
        self, scope: Scope, messages: Sequence[UserMessage], schemas: Sequence[MemorySchema]
    ) -> Sequence[StructuredReading]:
        """In the order of the messages; one that is missing is not done. `Unavailable` or
        `UpstreamFailed` where it is to be tried again."""
        ...


@dataclass(frozen=True, slots=True)
class ConversationReaders:
    """Readers of one request. `free`: finds sentences, for a tenant without schemas. `structured`:
    fills schemas; None if there is no model that could."""

    free: CandidateReader
    structured: StructuredReader | None = None
