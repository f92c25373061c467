"""Ports of the readers of a posted conversation; `memtree.background.extracting` has them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from memtree.memories.agents.extraction.merging import Finding
from memtree.memories.agents.schemas.memory_schema import MemorySchema
from memtree.memories.message_extraction import CandidateReader, SkippedText, UserMessage
from memtree.memories.scope import Scope


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
        """Return the readings in the order of the messages; a message without one is not done.
        Raises what the model raises that it asks (`AskedModel.ask`), and reads nothing then."""
        ...


@dataclass(frozen=True, slots=True)
class ConversationReaders:
    """Readers of one request. `free`: finds sentences, for a tenant without schemas. `structured`:
    fills schemas; None if there is no model that could."""

    free: CandidateReader
    structured: StructuredReader | None = None
