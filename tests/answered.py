"""An answer as a client of chat completions gets it, with what can be asked about it."""

from __future__ import annotations

from dataclasses import dataclass, field, fields
from typing import Any

import msgspec

from memtree.context.answer import Answer
from memtree.context.answer_details import AnswerDetails
from memtree.context.context_memory import ContextMemory
from memtree.context.turn_request import CompressRequest
from memtree.dialects import openai_chat
from memtree_proxy.wire.context_bodies import Explain


@dataclass(frozen=True, slots=True)
class Answered(Answer):
    """`messages`: raw JSON fragments."""

    messages: tuple[bytes, ...] = ()
    details: AnswerDetails = field(default_factory=AnswerDetails)

    def explain(self) -> dict[str, Any]:
        """Explain the answer as `/context_memory` does."""
        made: dict[str, Any] = msgspec.to_builtins(Explain.of(self.details.explain()))
        return made


async def compressed(memory: ContextMemory, ask: CompressRequest) -> Answered:
    answer, details = await memory.compress_with_details(ask)
    return answered(answer, ask, details)


async def indexed(memory: ContextMemory, ask: CompressRequest) -> Answered:
    return answered(await memory.index(ask), ask)


def answered(
    answer: Answer, ask: CompressRequest, details: AnswerDetails | None = None
) -> Answered:
    own = {one.name: getattr(answer, one.name) for one in fields(answer)}
    messages = openai_chat.messages(answer.items, ask.messages)
    return Answered(**own, messages=messages, details=details or AnswerDetails())
