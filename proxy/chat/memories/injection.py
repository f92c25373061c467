"""Memories of a chat and of its user, on their way into a request.

Context memory gets them with what it is asked, and puts them beside what it folds; where it folds
nothing, or is off, they stand in one of the posted messages. Nothing here stops a chat.
"""

from __future__ import annotations

import asyncio
import dataclasses
from collections.abc import Sequence

from memtree.context import injected
from memtree.context.answer import Answer
from memtree.memories.injecting import InjectionChoice, MemoryInjection
from memtree.memories.scope import Scope
from memtree.ports.memory_lines import InjectedMemories, MemorySourceLines
from memtree.tracing import step
from proxy.chat.chat_request import ChatRequest, room_beside
from proxy.chat.memories.sources import WantedSource
from proxy.dialects.injection import PlacedMemories
from proxy.observability import log
from proxy.observability.request_trace import Trace


class ChatInjection:
    """`placement`: a setting."""

    def __init__(self, memories: MemoryInjection, placement: str) -> None:
        self._memories, self._placement = memories, placement

    async def injected(self, chat: ChatRequest, trace: Trace) -> ChatRequest:
        """The request with the memories that fit it."""
        sources = chat.memories.sources
        if not sources:
            return chat
        with step("memories"):
            choices = await asyncio.gather(*(self._choice(chat, source) for source in sources))
        trace.memories_degraded = tuple(
            dict.fromkeys(failed for choice in choices for failed in choice.degraded)
        )
        named = self._named(sources, choices)
        # Also without lines: what was sent before may hold some.
        ask = None if chat.ask is None else dataclasses.replace(chat.ask, memories=named)
        placed = PlacedMemories.of(named.lines, self._placement) if named.lines else None
        return dataclasses.replace(chat, ask=ask, placed=placed, ranked=tuple(named.ranked()))

    async def _choice(self, chat: ChatRequest, source: WantedSource) -> InjectionChoice:
        try:
            return await self._memories.choose(
                source.scope, chat.conversation, chat.asked, source.options
            )
        except Exception as error:  # noqa: BLE001  promise 10: the chat goes on without memories
            log.failure("chat.injection_failed", error)
            return InjectionChoice(degraded=("internal",))

    def _named(
        self, sources: Sequence[WantedSource], choices: Sequence[InjectionChoice]
    ) -> InjectedMemories:
        return InjectedMemories.of(
            [
                MemorySourceLines(
                    _name(source.scope),
                    choice.lines,
                    choice.hits,
                    self._memories.kept(source.scope, source.options),
                )
                for source, choice in zip(sources, choices, strict=True)
            ]
        )


def _name(scope: Scope) -> str:
    return repr((scope.kind.value, scope.owner, scope.subject))


def with_room(chat: ChatRequest, answer: Answer) -> ChatRequest:
    """The request without memories that would be too much beside an answer which folds nothing;
    those that matter least go first."""
    placed = chat.placed
    if placed is None or chat.ask is None or answer.folds:
        return chat
    left = room_beside(chat.ask, answer)
    if placed.tokens <= left:
        return chat
    lines = injected.fitting(placed.lines, chat.ranked, left)
    fewer = PlacedMemories.of(lines, placed.placement) if lines else None
    return dataclasses.replace(chat, placed=fewer)
