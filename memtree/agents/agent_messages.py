"""Find the user's messages in a posted conversation, and the key that each is known by.

The ports of their readers stand here as well; `memtree.jobs.model_readers` has the readers.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import date
from typing import Protocol

from memtree.agents.grounded_values import Finding
from memtree.agents.memory_schema import MemorySchema
from memtree.memories.message_extraction import CandidateReader, SkippedText, UserMessage
from memtree.memories.scope import Scope
from memtree.statements.fiction import is_role_play

_ROLES = {"user": "user", "human": "user", "assistant": "assistant", "ai": "assistant"}


@dataclass(frozen=True, slots=True)
class AgentMessage:
    """A posted message. `id`: of the caller, "" for none."""

    role: str
    text: str
    id: str = ""


@dataclass(frozen=True, slots=True)
class ToldMessage:
    """A message of the user as it is read. `key`: that it is done is kept under."""

    key: bytes
    id: str
    read: UserMessage


def told_by_user(messages: Sequence[AgentMessage], thread: str, today: date) -> list[ToldMessage]:
    """The user's messages, each once. Only of the newest is the day known on which it was said."""
    last = max((at for at, message in enumerate(messages) if _role(message) == "user"), default=-1)
    messages_by_key: dict[bytes, ToldMessage] = {}
    fiction = False
    for at, message in enumerate(messages):
        role = _role(message)
        if role == "user" and message.text.strip():
            key = message_key(message, thread)
            said = today if at == last else None
            messages_by_key.setdefault(
                key, ToldMessage(key, message.id, UserMessage(key, message.text, said, fiction))
            )
        fiction = fiction or is_role_play(message.text, role)
    return list(messages_by_key.values())


def message_key(message: AgentMessage, thread: str = "") -> bytes:
    """32 bytes that name a message within a scope: by its id and its thread, else by its text."""
    named = ["id", thread, message.id] if message.id else ["text", message.text]
    said = json.dumps(["memtree agent message", *named], ensure_ascii=True)
    return hashlib.sha256(said.encode()).digest()


def _role(message: AgentMessage) -> str:
    return _ROLES.get(message.role, "system")


def batches(fresh: Sequence[ToldMessage], limits: tuple[int, int]) -> Iterator[list[ToldMessage]]:
    batch: list[ToldMessage] = []
    size = 0
    for message in fresh:
        length = len(message.read.text)
        if batch and (len(batch) >= limits[0] or size + length > limits[1]):
            yield batch
            batch, size = [], 0
        batch.append(message)
        size += length
    if batch:
        yield batch


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
