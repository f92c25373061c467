"""Memories of a chat that opted in, on their way into a request.

Context memory gets them with what it is asked, and puts them beside what it folds; where it folds
nothing, or is off, they stand in one of the posted messages. Nothing here stops a chat.
"""

from __future__ import annotations

import dataclasses

from memtree.context.answer import Answer
from memtree.memories.injecting import InjectionChoice, MemoryInjection
from memtree.memories.scope import Scope
from memtree.ports.memory_lines import InjectedMemories
from memtree.text import memory_lines, tokens
from memtree.tracing import step
from proxy.chat.chat_request import ChatRequest
from proxy.dialects.injection import PlacedMemories
from proxy.observability import log
from proxy.observability.request_trace import Trace


class ChatInjection:
    """`placement`: a setting."""

    def __init__(self, memories: MemoryInjection, placement: str) -> None:
        self._memories, self._placement = memories, placement

    async def injected(self, chat: ChatRequest, trace: Trace) -> ChatRequest:
        """The request with the memories that fit it."""
        memories, scope = self._memories, chat.chat_scope
        if scope is None:
            return chat
        try:
            with step("memories"):
                choice = await memories.choose(scope, scope.owner, chat.asked)
        except Exception as error:  # noqa: BLE001  promise 10: the chat goes on without memories
            log.failure("chat.injection_failed", error)
            choice = InjectionChoice(degraded=("internal",))
        trace.memories_degraded = choice.degraded
        ask = chat.ask
        if ask is not None:  # also without lines: what was sent before may hold some
            named = InjectedMemories(_name(scope), choice.lines, choice.hits, memories.kept(scope))
            ask = dataclasses.replace(ask, memories=named)
        return dataclasses.replace(chat, ask=ask, placed=self._placed(choice))

    def _placed(self, choice: InjectionChoice) -> PlacedMemories | None:
        if not choice.lines:
            return None
        texts = tuple(line.text for line in choice.lines)
        return PlacedMemories(
            tuple(line.memory.id for line in choice.lines),
            texts,
            tokens.count(memory_lines.SEAM + memory_lines.block(texts)),
            self._placement,
        )


def _name(scope: Scope) -> str:
    return repr((scope.kind.value, scope.owner, scope.subject))


def with_room(chat: ChatRequest, answer: Answer) -> ChatRequest:
    """The request without memories that would be too much beside an answer which folds nothing."""
    left = chat.room(answer)
    return chat if left is None or left >= 0 else dataclasses.replace(chat, placed=None)
