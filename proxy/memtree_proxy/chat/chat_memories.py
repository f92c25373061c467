"""Memories of a chat and of its user: insert them into a request, and extract new ones from it.

Context memory receives them with its request, and adds them to what it folds; if it folds nothing,
or is off, they are inserted into a posted message. No failure here stops a chat.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from starlette.requests import Request

from memtree.config import Settings
from memtree.context import kept_parts as injected
from memtree.context.answer import Answer
from memtree.context.context_memory import ContextMemory
from memtree.context.turn_request import CompressRequest
from memtree.dialects.openai_chat import USER, PlacedMemories
from memtree.dialects.tool_definitions import CHAT_CHANGE_TOOLS, CHAT_MEMORY_TOOLS
from memtree.errors import BadRequest
from memtree.history import message_list
from memtree.history.message import Message
from memtree.jobs.memory_services import MemoryServices
from memtree.memories import prompt_lines
from memtree.memories.memory_choice import OVERVIEW_BUDGET, STANDING_BUDGET
from memtree.memories.memory_curation import MOST_TOLD, MemoryWishes, Obeyed
from memtree.memories.memory_injection import InjectionChoice
from memtree.memories.message_extraction import UserMessage
from memtree.memories.prompt_lines import Wish
from memtree.memories.scope import Scope, ScopeKind
from memtree.memories.user_memories import UserSettings
from memtree.ports.memory_sources import InjectedMemories, MemorySourceLines
from memtree.process.tracing import step
from memtree.text import memory_lines
from memtree_proxy.chat.chat_exchange import ChatExchange
from memtree_proxy.chat.chat_memory_sources import ChatUser, WantedSource
from memtree_proxy.chat.chat_memory_tools import ChatMemoryTools
from memtree_proxy.chat.chat_request import ChatRequest, room_beside
from memtree_proxy.http import log
from memtree_proxy.http.auth import Tenant, user_scope


class PostedAddresses:
    """The addresses of a posted history, for memories that are valid in some branches only.
    Computed once, on demand. `rule`: the setting `memories_branches`. `target`: tokens above which
    the history may be folded; None: it is not."""

    def __init__(
        self,
        memory: ContextMemory,
        tenant: str,
        messages: Sequence[Message],
        rule: str,
        target: int | None,
    ) -> None:
        self._memory, self._ask = memory, CompressRequest(tenant, messages)
        self._lock = asyncio.Lock()
        self._addresses: tuple[frozenset[str], frozenset[str]] | None = None
        self.rule, self._target = rule, target

    async def addresses(self) -> tuple[frozenset[str], frozenset[str]]:
        """Return the addresses (hex) of all prefixes, and of those whose last message may be folded
        away: it is more than half the target before the end. None of an unreadable history."""
        async with self._lock:
            if self._addresses is None:
                self._addresses = await self._read()
            return self._addresses

    async def _read(self) -> tuple[frozenset[str], frozenset[str]]:
        try:
            posted = await self._memory.read(self._ask)
        except BadRequest:
            return frozenset(), frozenset()
        every = [address.hex() for address in posted.addresses]
        total, target = posted.totals[-1], self._target
        if target is None or total <= target:
            return frozenset(every), frozenset()
        ends = zip(every, posted.totals, strict=True)
        return frozenset(every), frozenset(at for at, end in ends if 2 * (total - end) > target)


@dataclass(frozen=True, slots=True)
class WishResults:
    """Results of what a message asked of the memory: `by_scope`; `off_record`: nothing of it is
    kept; `forgotten`: ids of what was deleted for that."""

    by_scope: Mapping[Scope, Wish] = field(default_factory=dict)
    forgotten: tuple[str, ...] = ()
    off_record: bool = False


NO_RESULTS = WishResults()


class ChatMemories:
    """Memories of chats, bound to their use cases. `memory`: reads histories."""

    def __init__(self, memory: ContextMemory, services: MemoryServices, settings: Settings) -> None:
        self._memory, self._services, self._settings = memory, services, settings
        self._injection = services.book.injection

    async def user(self, request: Request, tenant: Tenant) -> ChatUser:
        """Return the user of a request."""
        try:
            scope = user_scope(request, tenant)
        except BadRequest as error:
            return ChatUser(None, UserSettings(), error)
        try:
            return ChatUser(scope, await self._services.users.recent.of(scope))
        except Exception as error:  # noqa: BLE001  promise 10: the chat goes on without memories
            log.failure("chat.settings_failed", error)
            return ChatUser(scope, UserSettings())

    def tools(self, chat: ChatRequest) -> ChatMemoryTools | None:
        """Return the tools of chat memory, if the chat opted in to it."""
        if chat.memories.chat is None:
            return None
        return ChatMemoryTools(
            self._services.book,
            self._services.extracting.conversations.forgetting,
            chat.memories.chat,
            self._settings.max_text_chars,
            others_spoke=chat.others_spoke,
            off_record=chat.off_record,
        )

    def hand_over(self, chat: ChatRequest) -> None:
        """Extract memories from the user's messages in the background, if that is wanted."""
        user = chat.memories.extracted
        if user is None or user.scope is None:
            return
        try:
            kept = message_list.unread(chat.messages)
            self._services.extraction.submit(user.scope, kept, user.settings)
        except Exception as error:  # noqa: BLE001  promise 10: the chat goes on without memories
            log.failure("chat.extraction_not_queued", error)

    async def injected(self, exchange: ChatExchange) -> ChatExchange:
        """Return the request with the memories that are relevant to it."""
        chat, trace = exchange.chat, exchange.trace
        sources = chat.memories.sources
        if not sources:
            return exchange
        tenant, rule = exchange.tenant.id, self._settings.memories_branches
        target = None if chat.ask is None else chat.ask.target
        posted = PostedAddresses(self._memory, tenant, chat.messages, rule, target)
        with step("memories"):
            results = await self._granted(chat)
            choices = await self._choices(chat, sources, posted, results.by_scope)
        trace.memory.forgotten = results.forgotten
        trace.memory.degraded = tuple(
            dict.fromkeys(failed for choice in choices for failed in choice.degraded)
        )
        named = self._named(sources, choices)
        # Also without lines: earlier requests of the epoch may have sent some.
        ask = None if chat.ask is None else replace(chat.ask, memories=named)
        # A changed system prompt would invalidate the thinking after it.
        placement = USER if chat.dialect.prefix_bound else self._settings.memories_placement
        now = self._services.book.clock.now()
        lines, ranked = memory_lines.at(named.lines, now), memory_lines.at(named.ranked(), now)
        placed = PlacedMemories.of(lines, placement) if lines else None
        chat = replace(chat, ask=ask, placed=placed, ranked=ranked, off_record=results.off_record)
        for source, choice in zip(sources, choices, strict=True):
            if source.scope == chat.memories.chat and not choice.total:
                chat = chat.without(CHAT_CHANGE_TOOLS)
        return replace(exchange, chat=chat)

    async def _granted(self, chat: ChatRequest) -> WishResults:
        """Obey what the newest message asks of the memory: to forget something of the user's, and
        of the chat's where its model has no tool for that."""
        kinds = (ScopeKind.USER, ScopeKind.CHAT)
        scopes = [each.scope for each in chat.memories.sources if each.scope.kind in kinds]
        try:
            async with asyncio.timeout(self._injection.deadline):
                newest = await self._services.extracting.conversations.newest(chat.messages)
                if newest is None or not scopes:
                    return NO_RESULTS
                return await self._obeyed(chat, scopes, *newest)
        except Exception as error:  # noqa: BLE001  promise 10: the chat goes on without memories
            log.failure("chat.wishes_failed", error)
            return NO_RESULTS

    async def _obeyed(
        self, chat: ChatRequest, scopes: Sequence[Scope], message: UserMessage, wishes: MemoryWishes
    ) -> WishResults:
        digest = message.digest.hex()
        if not wishes.forget:
            overview = Wish(prompt_lines.OVERVIEW, digest, room=OVERVIEW_BUDGET // len(scopes))
            by_scope = dict.fromkeys(scopes, overview) if wishes.overview else {}
            return WishResults(by_scope, off_record=wishes.off_record)
        tools = chat.offer is not None and CHAT_MEMORY_TOOLS in chat.offer.groups
        forgetting = self._services.extracting.conversations.forgetting
        by_scope, gone = {}, list[str]()
        for scope in scopes:
            if tools and scope.kind is ScopeKind.CHAT:
                continue
            done = [await forgetting.obey(scope, message.digest, about) for about in wishes.forget]
            gone += [id_ for each in done if each.gone for id_ in each.gone.ids]
            what = next(what for what in Obeyed if what in {each.outcome for each in done})
            shown = tuple(memory for each in done for memory in each.candidates)
            unsaid = tools or not any(wishes.forget)  # what is meant may be no memory
            if not (unsaid and what is Obeyed.NONE):
                by_scope[scope] = Wish(what, digest, shown[:MOST_TOLD])
        return WishResults(by_scope, tuple(gone))

    def unchosen(self, chat: ChatRequest) -> ChatRequest:
        """Return the request with its sources of memories, of which none is chosen."""
        sources = chat.memories.sources
        if chat.ask is None or not sources:
            return chat
        named = self._named(sources, [InjectionChoice()] * len(sources))
        return replace(chat, ask=replace(chat.ask, memories=named))

    async def _choices(
        self,
        chat: ChatRequest,
        sources: Sequence[WantedSource],
        posted: PostedAddresses,
        wishes: Mapping[Scope, Wish],
    ) -> list[InjectionChoice]:
        """Choose from one source after the other: the first search embeds the message, the others
        reuse the vector. If that failed once, words decide, and there is no further wait. The
        user's source comes first: the budget that its standing memories leave is the chat's."""
        choices = [InjectionChoice(degraded=("timeout",))] * len(sources)
        order = sorted(
            enumerate(sources), key=lambda each: each[1].scope.kind is not ScopeKind.USER
        )
        waits, room = True, STANDING_BUDGET
        try:
            async with asyncio.timeout(self._injection.deadline):
                for place, source in order:
                    wish = wishes.get(source.scope)
                    choices[place] = await self._choice(chat, source, posted, waits, room, wish)
                    room -= choices[place].standing
                    waits = waits and "embedder" not in choices[place].degraded
        except TimeoutError:
            log.event("chat.injection_late")
        return choices

    async def _choice(
        self,
        chat: ChatRequest,
        source: WantedSource,
        posted: PostedAddresses,
        waits: bool,
        room: int,
        wish: Wish | None,
    ) -> InjectionChoice:
        try:
            return await self._injection.choose(
                source.scope,
                source.keys(chat.conversation),
                chat.queries,
                replace(source.options, wish=wish),
                posted,
                waits=waits,
                room=room,
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
                    source.name,
                    choice.lines,
                    choice.hits,
                    self._injection.kept(source.scope, source.options),
                )
                for source, choice in zip(sources, choices, strict=True)
            ]
        )


def with_room(chat: ChatRequest, answer: Answer) -> ChatRequest:
    """Return the request without memories that would be too many beside an unfolded answer; the
    least important are removed first."""
    placed = chat.placed
    if placed is None or chat.ask is None or answer.folds:
        return chat
    left = room_beside(chat.ask, answer)
    if placed.tokens <= left:
        return chat
    lines = injected.fitting(placed.lines, chat.ranked, left)
    fewer = PlacedMemories.of(lines, placed.placement) if lines else None
    return replace(chat, placed=fewer)
