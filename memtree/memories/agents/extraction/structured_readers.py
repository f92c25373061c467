"""Who reads messages for structured memories: by rules here, by a model in
`memtree.background.extracting`."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from memtree.memories.agents.schemas.memory_schema import MemorySchema
from memtree.memories.agents.slot_filling.rule_reader import Finding, kind_fields, read
from memtree.memories.message_extraction import READ, SkippedText, UserMessage
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
        """In the order of the messages; one that is missing is not done. `Unavailable` where it is
        to be tried again."""
        ...


class StructuredRuleReader:
    """By rules, in a thread."""

    mode = "rule"

    async def read(
        self, scope: Scope, messages: Sequence[UserMessage], schemas: Sequence[MemorySchema]
    ) -> Sequence[StructuredReading]:
        return await asyncio.to_thread(
            lambda: [read_by_rules(message, schemas) for message in messages]
        )


def read_by_rules(message: UserMessage, schemas: Sequence[MemorySchema]) -> StructuredReading:
    kinds = [kind_fields(schema) for schema in schemas]
    text = message.text[:READ]
    message_findings = read(text, kinds, message.said, fiction=message.fiction)
    skipped = tuple(
        SkippedText(text[one.start : one.end][:TOLD], one.reason)
        for one in message_findings.skipped
    )
    return StructuredReading(message, message_findings.findings, skipped)
