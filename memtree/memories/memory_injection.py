"""Choose the memories for a message and write their lines; awaits search and store.

Nothing here stops a chat. Without an embedder in time words rank; if the store fails, there are no
memories this time. The answer tells both.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Container, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Protocol

from memtree.errors import Unavailable
from memtree.language.languages import language_of
from memtree.memories import memory_choice, prompt_lines
from memtree.memories.memory import Memory
from memtree.memories.memory_choice import (
    BESIDE,
    BESIDE_BY_WORDS,
    CHAT_OPTIONS,
    SHARING,
    InjectionOptions,
    Message,
    is_general,
)
from memtree.memories.memory_store import ANY, MemoryFilter, MemoryStore, ScopeState, ShownMemory
from memtree.memories.prompt_lines import Wish
from memtree.memories.scope import Scope, ScopeKind
from memtree.memories.search.query import PATIENCE
from memtree.memories.search.ranking import MemoryHit, SearchResult
from memtree.memories.search.scope_search import MemorySearch
from memtree.text import telling_words
from memtree.text.memory_lines import LineKind, MemoryLine, MemoryVersion

log = logging.getLogger("memtree")

# Hits that are looked at beyond twice as many as may be shown: snapshots never are, and where the
# embedder knows a language less well, what shares a word stands further down
# (docs/decisions/archive.md#0076).
SPARE, SPARE_ABROAD = 20, 70
MOST_LISTED = 100  # newest memories of an overview, as far as they fit
DEADLINE = 2.0  # seconds for all of it
KINDS = {
    ScopeKind.CHAT: LineKind.CHAT,
    ScopeKind.USER: LineKind.USER,
    ScopeKind.AGENT: LineKind.USER,
    ScopeKind.NAMESPACE: LineKind.DOCUMENT,
}


class PostedHistory(Protocol):
    """The history of a request. `rule`: which memories stand beside it, one of
    `memory_choice.BRANCHES`."""

    @property
    def rule(self) -> str: ...

    async def addresses(self) -> tuple[Container[str], Container[str]]:
        """Return the addresses (hex) of all prefixes of the history, and of those whose last
        message may be folded away; none where it cannot be read."""
        ...


@dataclass(frozen=True, slots=True)
class InjectionChoice:
    """The memories chosen for one request. `lines`: of the chosen memories, by age. `hits`: the ids
    of those that fit the message, best first. `degraded`: what failed on the way. `standing`:
    tokens of the standing ones. `total`: memories of the scope."""

    lines: tuple[MemoryLine, ...] = ()
    hits: tuple[str, ...] = ()
    degraded: tuple[str, ...] = ()
    standing: int = 0
    total: int = 0


class MemoryInjection:
    """Chooses memories for messages. `patience`: seconds that the embedder has. `standing`: whether
    standing memories are shown with each message. `stale`: seconds after which what changes may be
    out of date, 0 for never. `deadline`: seconds for all memories of a request, None: those that go
    with `patience`."""

    def __init__(
        self,
        store: MemoryStore,
        search: MemorySearch,
        now: Callable[[], float],
        *,
        patience: float = PATIENCE,
        deadline: float | None = None,
        standing: bool = True,
        stale: float = 0.0,
    ) -> None:
        self._store, self._search, self._now = store, search, now
        self._stale = stale
        self._standing_on = standing
        self._patience = patience
        self.deadline = deadline or deadline_of(patience)

    async def choose(
        self,
        scope: Scope,
        conversation: Sequence[str],
        query: str | tuple[str, str],
        options: InjectionOptions = CHAT_OPTIONS,
        posted: PostedHistory | None = None,
        *,
        waits: bool = True,
        room: int = memory_choice.STANDING_BUDGET,
    ) -> InjectionChoice:
        """Choose the memories for a message of a conversation, which remembers what it was shown.
        `query`: the message, or it and the last few, since one may say little by itself.
        `conversation`: by what name, then names that it had before; none: it remembers nothing.
        `posted`: what it says; None: no matter. `waits`: for an embedder that has to be asked.
        `room`: tokens for standing memories."""
        patience = self._patience if waits else 0.0
        queries = (query, "") if isinstance(query, str) else query
        try:
            async with asyncio.timeout(self.deadline):
                return await self._chosen(
                    scope, conversation, queries, options, posted, patience, room
                )
        except Unavailable as error:
            log.warning("memories.not_injected code=%s", error.code)
            return InjectionChoice(degraded=("store",))
        except TimeoutError:
            log.warning("memories.not_injected code=timeout")
            return InjectionChoice(degraded=("timeout",))

    async def _chosen(
        self,
        scope: Scope,
        conversation: Sequence[str],
        queries: tuple[str, str],
        options: InjectionOptions,
        posted: PostedHistory | None,
        patience: float,
        room: int,
    ) -> InjectionChoice:
        wish = options.wish
        state = await self._store.state(scope)
        memories = state.total
        if not memories:  # nothing is embedded for who has saved nothing
            done = (prompt_lines.FORGOTTEN, prompt_lines.SHORTENED)
            return _noted(InjectionChoice(), wish if wish and wish.what in done else None)
        always = await self._standing(scope, state, options, room, posted)
        if wish is not None and wish.room:
            return await self._overview(scope, options, always, memories, wish)
        first = [memory.id for memory in always]
        shown = await self._shown(scope, conversation)
        result, near = SearchResult((), ()), list[MemoryHit]()
        query, recent = queries
        if query.strip():
            # A question about the world is about nothing that was said before.
            recent = "" if is_general(query) else recent
            limit, least = looked_at(query, options)
            result = await self._search.search(
                scope,
                (query, recent) if recent else query,
                wanted=MemoryFilter(category=options.category),
                limit=limit,
                least=least,
                patience=patience,
                loading=self.deadline / 2,  # then words rank, as long as there is time for that
            )
            named = [memory.id for memory in wish.shown] if wish else []
            rows = [hit.memory for hit in result.hits]
            never = [row.id for row in rows if not memory_choice.is_shown(row, options.line)]
            near = fitting(result, (query, recent), memories, options, {*first, *named, *never})
        hits = [memory for memory in wish.shown if memory.id not in first] if wish else []
        first += [memory.id for memory in hits]
        hits += [hit.memory for hit in near]
        shown = [known for known in shown if known.id not in first]
        shown, current = await self._current(scope, shown, hits)
        live = {id_: memory for id_, memory in current.items() if options.admits(memory)}
        away = await _away(live, posted)
        made = memory_choice.chosen(
            hits, shown, live, self._now(), options.most, options.line, away
        )
        degraded = result.degraded
        if made.changed:
            degraded += await self._put(scope, conversation, made)
        listed = (*always, *made.memories)
        lines = tuple(_line(scope, memory, options, self._stale) for memory in listed)
        there = {memory.id for memory in made.memories}
        ordered = [*(memory.id for memory in always), *(hit.id for hit in hits if hit.id in there)]
        taken = memory_choice.standing_size(always, options.line)
        return _noted(InjectionChoice(lines, tuple(ordered), degraded, taken, memories), wish)

    async def _overview(
        self,
        scope: Scope,
        options: InjectionOptions,
        always: Sequence[Memory],
        total: int,
        wish: Wish,
    ) -> InjectionChoice:
        """List the newest memories by their categories, as many as there is room for."""
        page = await self._store.page(scope, ANY, limit=MOST_LISTED)
        known = {memory.id for memory in always}
        newest = [memory for memory in page.memories if memory.id not in known]
        listed = [*always, *memory_choice.overview(newest, options.line, wish.room)]
        lines = tuple(_line(scope, memory, options, self._stale) for memory in listed)
        hits = tuple(memory.id for memory in listed)
        taken = memory_choice.standing_size(always, options.line)
        return _noted(InjectionChoice(lines, hits, (), taken, total), wish)

    async def _standing(
        self,
        scope: Scope,
        state: ScopeState,
        options: InjectionOptions,
        room: int,
        posted: PostedHistory | None,
    ) -> list[Memory]:
        """Return the standing memories, those of another branch aside, and what changed them."""
        kinds = (ScopeKind.CHAT, ScopeKind.USER)
        if not state.standing or not self._standing_on or scope.kind not in kinds:
            return []
        wanted = MemoryFilter(standing=True, tainted=False)
        rows = (await self._store.page(scope, wanted, limit=memory_choice.MOST_STANDING)).memories
        if state.conflicts:
            newer = MemoryFilter(conflicts=True, tainted=False)
            page = await self._store.page(scope, newer, limit=memory_choice.MOST_STANDING)
            rows = (*rows, *memory_choice.heirs(rows, page.memories))
        if posted is not None and any(
            memory_choice.depends(row.source, posted.rule) for row in rows
        ):
            every, _ = await posted.addresses()
            rows = tuple(
                row for row in rows if memory_choice.stands(row.source, every, posted.rule)
            )
        return memory_choice.standing_ones(rows, options.line, room)

    async def _shown(self, scope: Scope, conversation: Sequence[str]) -> list[ShownMemory]:
        for key in conversation:
            if shown := await self._store.shown(scope, key):
                return shown
        return []

    async def _current(
        self, scope: Scope, shown: Sequence[ShownMemory], hits: Sequence[Memory]
    ) -> tuple[list[ShownMemory], dict[str, Memory]]:
        """Return what was shown, with what counts by now in the place of what was corrected, or
        found to be a duplicate, since; and the live memories among them and the hits."""
        live = {memory.id: memory for memory in hits}
        others = [known.id for known in shown if known.id not in live]
        if others:
            live |= {memory.id: memory for memory in await self._store.get(scope, others)}
        lost = [id_ for id_ in others if id_ not in live]
        if not lost:
            return list(shown), live
        stored = await self._store.get(scope, lost, deleted=True)
        corrections = {
            memory.id: other
            for memory in stored
            if (other := memory.superseded_by or memory.duplicate_of) and memory.deleted is None
        }
        if corrections:
            corrected = await self._store.get(scope, list(corrections.values()))
            live |= {memory.id: memory for memory in corrected}
        known_now = [
            known._replace(id=corrections[known.id], version=0)  # no version of it was shown
            if known.id in corrections
            else known
            for known in shown
        ]
        return list({known.id: known for known in known_now}.values()), live

    async def _put(
        self, scope: Scope, conversation: Sequence[str], made: memory_choice.Choice
    ) -> tuple[str, ...]:
        """Store what was shown, and return what failed: the memories are shown all the same."""
        if not conversation:
            return ()
        latest = max((known.hit for known in made.shown), default=self._now())
        try:
            await self._store.put_shown(
                scope, conversation[0], made.shown, latest + memory_choice.KEPT
            )
        except Unavailable as error:
            log.warning("memories.shown_not_kept code=%s", error.code)
            return ("store",)
        return ()

    def kept(self, scope: Scope, options: InjectionOptions = CHAT_OPTIONS) -> KeptLines:
        """Return the lines of what was shown before."""
        return KeptLines(self._store, scope, options, self._stale)


def fitting(
    result: SearchResult,
    queries: tuple[str, str],
    memories: int,
    options: InjectionOptions,
    away: Container[str] = (),
) -> list[MemoryHit]:
    """Return the hits that may stand beside a message, best first. `queries`: the message and the
    last few, "" for none. `memories`: how many the scope has. `away`: ids that take no place."""
    texts = [hit.memory.text for hit in result.hits]
    general = is_general(queries[0])
    english = language_of(queries[0]) in ("en", "")
    message = Message(memories, result.known, result.by_words, general, english)
    shared = [False] * len(texts)
    # Where the embedder knows the language, older words that two texts share add nothing.
    for query in filter(None, queries[: 1 if result.known and not result.by_words else 2]):
        sharing = telling_words.sharing(query, texts, memories, general=general)
        shared = [one or other for one, other in zip(shared, sharing, strict=True)]
    hits = [
        hit
        for hit, shares in zip(result.hits, shared, strict=True)
        if hit.memory.id not in away and options.fits(hit.relevance, message, shares_word=shares)
    ]
    if options.threshold is not None or not (options.near and hits):
        return hits
    least = (BESIDE_BY_WORDS if message.by_words else BESIDE) * max(hit.score for hit in hits)
    return [hit for hit in hits if hit.score >= least][: options.new]


def _noted(made: InjectionChoice, wish: Wish | None) -> InjectionChoice:
    """Return the choice with a note of what was asked, and of how many memories it lists."""
    if wish is None:
        return made
    counted = (len(made.lines), made.total) if wish.room else (0, 0)
    line = prompt_lines.note(wish.what, wish.digest, *counted)
    return replace(made, lines=(*made.lines, line), hits=(*made.hits, line.memory.id))


def looked_at(query: str, options: InjectionOptions) -> tuple[int, float]:
    """Return how many hits are looked at for the memories beside a message, and the relevance that
    each needs to be among them."""
    if language_of(query) == "en":
        least = SHARING if options.threshold is None else options.threshold
        return 2 * options.most + SPARE, least
    return 2 * options.most + SPARE_ABROAD, options.least


def deadline_of(patience: float) -> float:
    """Return the seconds for all memories of a request, of which the embedder gets `patience`."""
    return max(DEADLINE, 2 * patience)


async def _away(live: Mapping[str, Memory], posted: PostedHistory | None) -> set[str]:
    """Return the ids of the memories that do not stand beside this history."""
    if posted is None:
        return set()
    rule = posted.rule
    bound = [memory for memory in live.values() if memory_choice.depends(memory.source, rule)]
    if not bound:
        return set()
    every, folded = await posted.addresses()
    return {
        memory.id for memory in bound if not memory_choice.fits(memory.source, every, rule, folded)
    }


def _line(scope: Scope, memory: Memory, options: InjectionOptions, stale: float) -> MemoryLine:
    version = MemoryVersion(memory.id, memory.version)
    kind = KINDS[scope.kind]
    ages = None if kind is LineKind.DOCUMENT else memory_choice.ages(memory, stale)
    return MemoryLine(version, options.line(memory), kind, bool(memory.standing), ages)


@dataclass(frozen=True, slots=True)
class KeptLines:
    """The `MemoryLines` of one scope."""

    store: MemoryStore
    scope: Scope
    options: InjectionOptions
    stale: float = 0.0

    async def lines(self, memories: Sequence[MemoryVersion]) -> Mapping[MemoryVersion, MemoryLine]:
        ours = {memory: line for memory in memories if (line := prompt_lines.note_of(memory.id))}
        wanted = [(memory.id, memory.version) for memory in memories if memory not in ours]
        versions = await self.store.versions(self.scope, wanted)
        return ours | {
            MemoryVersion(*key): _line(self.scope, memory, self.options, self.stale)
            for key, memory in versions.items()
        }
