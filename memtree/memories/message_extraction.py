"""Extract memories from what users say, from each message once, and reread what old rules stored.

    undone   those of some messages that nothing was extracted from yet
    read     candidates, and what is none, by a model or by rules (`CandidateReader`)
    keep     those that are not known yet; with them, in one step, that the message is done

A message is known by its digest, so branches, retries, restarts and other processes extract nothing
twice, and what was deleted does not come back. No text of what was left out is kept or logged.

What earlier rules stored is read again by today's rules: "User said: ..." is told of the user where
it can be, and what the user wants of every answer, or is, stands in prompts. This happens once for
each scope and `RULES`, in the background. Each changed memory keeps its history. A memory that
anybody has changed since it was stored keeps the place in prompts that they gave it.
"""

from __future__ import annotations

import asyncio
import re
from collections import OrderedDict
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass
from datetime import date
from typing import NamedTuple, Protocol

from memtree.clock import Clock
from memtree.errors import BadRequest, MemoryLimit, NotFound, SecretRejected, VersionConflict
from memtree.memories.book import MemoryBook
from memtree.memories.draft import MemoryDraft
from memtree.memories.draft import new_memory as made
from memtree.memories.duplicates import NearMemory, same_in
from memtree.memories.memory import (
    EXTRACTED,
    MAX_TEXT_CHARS,
    UNSET,
    Memory,
    MemoryChange,
    MemorySource,
    NewMemory,
    PossibleUpdate,
)
from memtree.memories.memory_store import MemoryFilter, MemoryStore
from memtree.memories.memory_topics import is_own_word, standing_topic
from memtree.memories.rule_extraction import Candidate, Extraction, retold, told_of
from memtree.memories.saving import MemorySaving, Vector
from memtree.memories.scope import Scope
from memtree.memories.search.vector_bytes import packed_terms
from memtree.memories.user_memories import ExtractedMessages
from memtree.process.bounded import remember
from memtree.process.threads import counted
from memtree.statements import memory_gate
from memtree.statements.grammar import SkipReason
from memtree.text import secrets
from memtree.text.normal_form import text_hash

PER_MESSAGE = 8  # memories out of one message
# A request reads so many characters, and a message costs as 80 of them: some 40 us of CPU each.
PER_REQUEST, MESSAGE_CHARS = 20_000, 80
READ = 100_000  # characters of a message; nobody types more
EMBEDDER_PATIENCE = 5.0  # seconds; nobody waits

EXPIRED, LIMIT, UNSTORABLE = "expired", "limit", "unstorable"
REQUEST_CAP = "request_cap"  # a request reads or gives so much: the message is read another time
TOLD = 300  # characters of a text that an answer tells as skipped


@dataclass(frozen=True, slots=True)
class UserMessage:
    """A message of the user. `text`: its view, in which memories tell their places. `said`: on
    which day, where that is known. `fiction`: a story or a role-play began before it, in which the
    user speaks for somebody else. `speaker`: who wrote it, if several people write in the user's
    role."""

    digest: bytes
    text: str
    said: date | None = None
    fiction: bool = False
    speaker: str = ""


class MessagePlace(NamedTuple):
    """Where a message stands: see `MemorySource`."""

    address: str = ""
    origin: str = ""


NOWHERE = MessagePlace()


class SkippedText(NamedTuple):
    """A text of which no memory was made, and why: a value of `SkipReason` or of this module."""

    text: str
    reason: str

    @classmethod
    def cut(cls, text: str, reason: str) -> SkippedText:
        """Skip a text that may be long, and keep its beginning. Secrets are masked before it is
        cut, since half a secret would not be recognised."""
        return cls(secrets.mask(text[: 4 * TOLD])[:TOLD], reason)

    @property
    def shown(self) -> str:
        """The text as an answer tells it: no secret, whatever the reason, and what UTF-8 can
        encode."""
        if self.reason == SkipReason.SECRET or memory_gate.is_private(self.text):
            return ""
        return secrets.mask(self.text).encode("utf-8", "replace").decode()


def within(messages: Iterable[UserMessage], room: int) -> int:
    """Count the messages that a request with so much room reads; any room takes one."""
    count = 0
    for message in messages:
        if room <= 0:
            break
        room -= cost(message)
        count += 1
    return count


def cost(message: UserMessage) -> int:
    return MESSAGE_CHARS + min(len(message.text), READ)


@dataclass(frozen=True, slots=True)
class ReadMessage:
    """The candidates found in a message."""

    message: UserMessage
    candidates: tuple[Candidate, ...] = ()
    skipped: tuple[SkippedText, ...] = ()


@dataclass(frozen=True, slots=True)
class ExtractionReport:
    """`stored`: new memories (of a dry run, what they would be: number 0). `messages`: how many
    were read. `full`: the tenant may have no more memories; the messages are not done. `forgotten`:
    memories that a message asked to forget."""

    stored: tuple[Memory, ...] = ()
    skipped: tuple[SkippedText, ...] = ()
    messages: int = 0
    full: bool = False
    forgotten: tuple[Memory, ...] = ()

    def __add__(self, other: ExtractionReport) -> ExtractionReport:
        return ExtractionReport(
            (*self.stored, *other.stored),
            (*self.skipped, *other.skipped),
            self.messages + other.messages,
            self.full or other.full,
            (*self.forgotten, *other.forgotten),
        )


class CandidateReader(Protocol):
    """Finds what is worth keeping. `mode`: the `capture_mode` of its memories."""

    mode: str

    async def read(self, scope: Scope, messages: Sequence[UserMessage]) -> Sequence[ReadMessage]:
        """Read messages and return the results in their order. A message without a result is to be
        read again later. Raises `Unavailable` where all of them are to be tried again."""
        ...


class RuleReader:
    """Finds candidates by rules, in a thread. `extract`: as `rule_extraction.extract`."""

    mode = "rule"

    def __init__(self, extract: Callable[..., Extraction], most: int = PER_MESSAGE) -> None:
        self._extract, self._most = extract, most

    async def read(self, scope: Scope, messages: Sequence[UserMessage]) -> Sequence[ReadMessage]:
        return await asyncio.to_thread(
            counted, lambda: [self._read(message) for message in messages]
        )

    def _read(self, message: UserMessage) -> ReadMessage:
        text = message.text[:READ]
        read = self._extract(text, message.said, most=self._most, fiction=message.fiction)
        skipped = tuple(
            SkippedText(text[skip.start : skip.end], str(skip.reason)) for skip in read.skipped
        )
        return ReadMessage(message, read.candidates, skipped)


class MemoryExtraction:
    """Bound to its ports; safe for concurrent calls. `most`: memories that a tenant may have."""

    def __init__(
        self,
        store: ExtractedMessages,
        saving: MemorySaving,
        reader: CandidateReader,
        clock: Clock,
        new_id: Callable[[], str],
        *,
        most: int = 0,
        max_text_chars: int = MAX_TEXT_CHARS,
        patience: float = EMBEDDER_PATIENCE,
    ) -> None:
        self._store, self._saving, self._reader = store, saving, reader
        self._clock, self._new_id = clock, new_id
        self._most, self._max_text_chars = most, max_text_chars
        self._patience = patience

    async def undone(self, scope: Scope, digests: Collection[bytes]) -> set[bytes]:
        """Return those digests of which nothing was extracted yet. Raises store errors."""
        return set(digests) - await self._store.extracted(scope, digests) if digests else set()

    async def read(self, scope: Scope, messages: Sequence[UserMessage]) -> Sequence[ReadMessage]:
        """Find candidates in messages, and store nothing. Raises as `CandidateReader.read` does."""
        return await self._reader.read(scope, messages)

    async def keep(
        self,
        scope: Scope,
        reading: ReadMessage,
        place: MessagePlace = NOWHERE,
        *,
        most: int = PER_MESSAGE,
        dry_run: bool = False,
    ) -> ExtractionReport:
        """Keep what was found in one message. `most`: memories that may come of it. `dry_run`:
        nothing is stored, and the message is not done. Raises store errors; then nothing is
        stored."""
        news, skipped = self._made(reading, place, most)
        vectors = await self._saving.vectors([new.text for new in news], patience=self._patience)
        async with self._saving.turn(scope):
            kept: list[tuple[NewMemory, Vector | None]] = []
            rivals: dict[str, Sequence[NearMemory]] = {}
            for new, vector in zip(news, vectors, strict=True):
                said = any(
                    self._saving.says_the_same(new.text, vector, other.text, others)
                    for other, others in kept
                )
                near = () if said else await self._saving.near(scope, new.text, vector)
                if said or same_in(near, new):
                    skipped.append(SkippedText(new.text, SkipReason.DUPLICATE))
                else:
                    kept.append((new, vector))
                    rivals[new.id] = near
            news = [new for new, _ in kept]
            if dry_run:
                return ExtractionReport(tuple(map(_memory, news)), tuple(skipped), 1)
            digest = reading.message.digest
            try:
                added = await self._store.add_extracted(scope, digest, news, most=self._most)
            except MemoryLimit:
                skipped += [SkippedText(new.text, LIMIT) for new in news]
                return ExtractionReport(skipped=tuple(skipped), messages=1, full=True)
            if added is None:  # somebody else read it meanwhile
                return ExtractionReport()
            stored: list[tuple[Memory, Vector | None]] = []
            for (memory, existing), (_, vector) in zip(added, kept, strict=True):
                if existing:
                    skipped.append(SkippedText(memory.text, SkipReason.DUPLICATE))
                else:
                    stored.append((memory, vector))
            if stored:
                await self._saving.keep_vectors(scope, stored, check=True)
            saved = [
                await self._saving.keep_updates(scope, memory, rivals.get(memory.id, ()))
                for memory, _ in stored
            ]
            return ExtractionReport(tuple(saved), tuple(skipped), 1)

    def _made(
        self, reading: ReadMessage, place: MessagePlace, most: int
    ) -> tuple[list[NewMemory], list[SkippedText]]:
        now = self._clock.now()
        news: list[NewMemory] = []
        skipped = list(reading.skipped)
        for candidate in reading.candidates:
            reason = ""
            if len(news) >= most:
                reason = SkipReason.CAP
            elif candidate.expires is not None and candidate.expires <= now:
                reason = EXPIRED
            else:
                try:
                    draft = self._draft(candidate, reading.message, place, now)
                    news.append(made(draft, self._new_id(), now, self._max_text_chars))
                except SecretRejected:
                    reason = SkipReason.SECRET
                except BadRequest:
                    reason = UNSTORABLE
            if reason:
                skipped.append(SkippedText(candidate.text, reason))
        return news, skipped

    def _draft(
        self, candidate: Candidate, message: UserMessage, place: MessagePlace, now: float
    ) -> MemoryDraft:
        return MemoryDraft(
            text=_told(candidate, message),
            category=candidate.category,
            tags=candidate.tags,
            source_type=EXTRACTED,
            capture_mode=self._reader.mode,
            expires=candidate.expires,
            source=MemorySource(
                start=candidate.start,
                end=candidate.end,
                digest=message.digest.hex(),
                address=place.address,
                origin=place.origin,
                recorded=now,
            ),
        )


def _told(candidate: Candidate, message: UserMessage) -> str:
    """Return the text of a memory, told of the speaker in place of the user if there are several.

    >>> told = Candidate("User eats what the user likes", "fact", 0, 18)
    >>> _told(told, UserMessage(b"", "I eat what I like.", speaker="Ben"))
    'Ben eats what Ben likes'
    """
    name, text = message.speaker, candidate.text
    if not name:
        return text
    sentence = " ".join(message.text[candidate.start : candidate.end].split())
    text = told_of(name, text, sentence.rstrip(".!。！"))
    others = "the user" in sentence.lower()
    return text if others else re.sub(r"\b[Tt]he user\b", name, text)


def _memory(new: NewMemory) -> Memory:
    """Return the memory that this would be."""
    said = {**new.said_of_it(), "last_confirmed": None}
    return Memory(id="", number=0, text=new.text, created=new.created, updated=new.created, **said)


RULES = b"memories read by rules: 1"  # a new number has all memories read again
PAGE = 100  # memories


class MemoryRereading:
    """Bound to its ports; safe for concurrent calls."""

    def __init__(self, book: MemoryBook, store: MemoryStore, done: ExtractedMessages) -> None:
        self._book, self._store, self._done = book, store, done
        self._known: OrderedDict[Scope, None] = OrderedDict()

    async def once(self, scope: Scope) -> int:
        """Read the memories of a scope again, if no process has, and return how many changed.
        Raises store errors; the next call goes on then."""
        if scope in self._known:
            return 0
        changed = 0
        if not await self._done.extracted(scope, [RULES]):
            changed = await self._all(scope)
            await self._done.add_extracted(scope, RULES, [], most=0)
        remember(self._known, scope, None)
        return changed

    async def _all(self, scope: Scope) -> int:
        changed, before = 0, None
        links: dict[str, list[Memory]] = {}  # by id of an older memory, those that may replace it
        more = True
        while more:
            page = await self._store.page(scope, MemoryFilter(), before=before, limit=PAGE)
            for memory in page.memories:
                for update in memory.updates:
                    links.setdefault(update.id, []).append(memory)
            for memory, change in await asyncio.to_thread(
                _changes, page.memories, self._book.clock.now()
            ):
                changed += await self._change(scope, memory, change, links.get(memory.id, ()))
            more, before = page.more, page.memories[-1].number if page.memories else None
        if changed:
            self._book.saving.stored_without_vectors(scope)
        return changed

    async def _change(
        self, scope: Scope, memory: Memory, change: MemoryChange, newer: Sequence[Memory]
    ) -> bool:
        try:
            await self._store.change(scope, memory.id, change, if_version=memory.version)
        except (NotFound, VersionConflict):  # somebody changed it meanwhile
            return False
        if change.text is not UNSET:  # it says the same: what it may replace is the same
            for each in (memory, *newer):
                updates: Sequence[PossibleUpdate] = each.updates
                if updates:
                    await self._store.put_updates(scope, each.id, updates)
        return True


def _changes(memories: Sequence[Memory], now: float) -> list[tuple[Memory, MemoryChange]]:
    """Return the memories that today's rules read otherwise, each with its change."""
    changes = ((memory, _change_of(memory, now)) for memory in memories)
    return [(memory, change) for memory, change in changes if change]


def _change_of(memory: Memory, now: float) -> MemoryChange | None:
    if not is_own_word(memory) or memory.tainted or memory.kind:
        return None
    text = retold(memory.text) if memory.source_type == EXTRACTED else memory.text
    standing = memory.standing
    if not standing and memory.version == 1:
        standing = standing_topic(text)
    if text != memory.text:
        return MemoryChange(now, text, text_hash(text), packed_terms(text), standing=standing)
    return MemoryChange(now, standing=standing) if standing != memory.standing else None
