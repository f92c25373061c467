"""Read the user's messages of a posted history, with their places: message by message, on demand.

A chat posts all of its messages with every request. To make a growing chat cost only a hash a
message, the raw fragments that were read are remembered, by scope, under keys that no outsider can
predict (as in `memtree/context/read_histories.py`).

Expensive steps (parsing, hashing, the addresses of all prefixes) run only for unknown messages, and
addresses only when something is about to be stored. All of it runs in threads, in slices, so that
no request waits for it.
"""

from __future__ import annotations

import asyncio
from bisect import bisect_left
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime
from functools import partial
from typing import NamedTuple

import xxhash

from memtree.errors import BadRequest
from memtree.history import address_chain, chat_history
from memtree.history.chat_history import History, MessageInfo, MessageInfoCache
from memtree.history.conversation_beginning import origin
from memtree.history.message import RESULT_ROLES, SYSTEM_ROLES, Message, Volatile
from memtree.memories.message_extraction import NOWHERE, READ, MessagePlace, UserMessage
from memtree.memories.scope import Scope
from memtree.process.bounded import CacheLimits, SizedRows
from memtree.statements import fiction
from memtree.statements.forget_orders import may_ask
from memtree.text.speakers import participant

ROW_BYTES = 330  # a key, its place, and the entry with a name


MessageKeys = Callable[[bytes], bytes]  # of posted fragments, 16 bytes each


class KnownMessage(NamedTuple):
    """`by_user`: written by the user. `plays`: from it on the user speaks for somebody else, in a
    story or a role-play. `name`: of who wrote it, if its message says so."""

    by_user: bool
    plays: bool = False
    name: str = ""


class ReadMessages:
    """Messages that were read; bounded, least recently used first out."""

    def __init__(self, seed: int, most: int = CacheLimits.of().read_messages) -> None:
        """`seed`: random per process. `most`: bytes."""
        self._seed = seed & 0xFFFF_FFFF
        self._done: SizedRows[bytes, KnownMessage] = SizedRows(most, lambda *_: ROW_BYTES)

    @property
    def nbytes(self) -> int:
        return self._done.nbytes

    def keys(self, scope: Scope) -> MessageKeys:
        """Return the function that computes keys of a scope's messages, by a hash with a secret of
        this process."""
        whole = "\0".join((scope.tenant, scope.kind, scope.owner, scope.subject))
        seed = xxhash.xxh3_64_intdigest(whole.encode(errors="replace"), self._seed)
        return partial(xxhash.xxh3_128_digest, seed=seed)

    def known(self, key: bytes) -> KnownMessage | None:
        """Return the entry of a message; None if it was not read yet."""
        return self._done.get(key)

    def add(self, key: bytes, known: KnownMessage) -> None:
        self._done.put(key, known)


# ---------------------------------------------------------------- one posted history


def newest_said(posted: Sequence[Message], volatile: Volatile) -> UserMessage | None:
    """Return the newest message that the user wrote, as `PostedMessages` reads it, if it may ask
    something of the memory; None if there is none, or if it cannot be read."""
    for index in range(len(posted) - 1, -1, -1):
        message = posted[index]
        try:
            if message.aside or message.role != "user":
                continue
            text = _own_view(message, volatile)
            if not text.strip() and message.joined:  # a result of a tool
                continue
            if not may_ask(text[:READ]):
                return None
            fiction = any(map(_is_play, posted[:index]))
            return UserMessage(address_chain.digest(message, volatile), text, fiction=fiction)
        except (BadRequest, RecursionError):
            return None
    return None


def _is_play(message: Message) -> bool:
    try:
        return not message.aside and _plays(message)
    except (BadRequest, RecursionError):
        return False


SLICE_MESSAGES, SLICE_BYTES = 64, 128 * 1024  # of one slice of work in a thread


@dataclass(frozen=True, slots=True)
class FoundMessage:
    """An unread message of a user: `index` in the posted list, its key, and the entry to remember
    it by."""

    index: int
    key: bytes
    message: UserMessage
    known: KnownMessage


class PostedMessages:
    """One posted history. `ends`: see `ExtractionJob`. `infos`: `MessageFacts`, or None."""

    def __init__(
        self,
        tenant: str,
        posted: Sequence[Message],
        volatile: Volatile,
        *,
        ends: Sequence[tuple[int, float]] = (),
        infos: MessageFacts | None = None,
    ) -> None:
        self._tenant, self._posted, self._volatile = tenant, posted, volatile
        self._ends, self._infos = ends, infos
        self._history: History | None = None
        self._unreadable = False

    async def unread(self, done: ReadMessages, keys: MessageKeys) -> list[FoundMessage]:
        """Return the user's messages that are not in `done`, oldest first. Other messages are added
        to `done` here."""
        spoken: list[int] = []
        names: set[str] = set()
        unread: list[FoundMessage] = []
        fiction = False
        for start, end in _slices(self._posted):
            rows = await asyncio.to_thread(self._rows, start, end, done, keys)
            for row in rows:
                if row.known is None:
                    continue
                if row.known.by_user:
                    spoken.append(row.index)
                    names.add(row.known.name)
                else:
                    done.add(row.key, row.known)
                if row.said is not None:
                    message = replace(row.said, fiction=fiction)
                    unread.append(FoundMessage(row.index, row.key, message, row.known))
                fiction = fiction or row.known.plays
        days = said_on(spoken, self._ends)
        several = len(names - {""}) > 1
        return [_told(each, days.get(each.index), several=several) for each in unread]

    async def history(self) -> History | None:
        """Return the whole history with its addresses; None if it cannot be read."""
        if self._history is None and not self._unreadable:
            try:
                self._history = await asyncio.to_thread(self._read)
            except BadRequest:
                self._unreadable = True
        return self._history

    async def place(self, index: int) -> MessagePlace:
        """Return the place of a user's message."""
        whole = await self.history()
        if whole is None:
            return NOWHERE
        at = bisect_left(whole.posted, index)
        return MessagePlace(whole.addresses[at + 1].hex(), origin(whole, at))

    def _rows(self, start: int, end: int, done: ReadMessages, keys: MessageKeys) -> list[_Row]:
        return [self._row(index, done, keys) for index in range(start, end)]

    def _row(self, index: int, done: ReadMessages, keys: MessageKeys) -> _Row:
        message = self._posted[index]
        if message.aside:  # elsewhere the user may write the same words
            return _Row(index, b"", None)
        key = keys(message.raw)
        known = done.known(key)
        if known is not None:
            return _Row(index, key, known)
        try:
            role = message.role
            if role != "user":
                return _Row(index, key, KnownMessage(False, _plays(message)))
            digest = address_chain.digest(message, self._volatile)
            text = _own_view(message, self._volatile)
        except (BadRequest, RecursionError):
            return _Row(index, key, None)
        name = participant(message.fields.get("name"))
        known = KnownMessage(True, fiction.is_role_play(text), name)
        return _Row(index, key, known, UserMessage(digest, text))

    def _read(self) -> History:
        return chat_history.read(
            self._tenant, self._posted, self._volatile, self._infos, lambda _: 0
        )


@dataclass(frozen=True, slots=True)
class _Row:
    """`known` None: the message cannot be read. `said`: it is the user's, and new."""

    index: int
    key: bytes
    known: KnownMessage | None
    said: UserMessage | None = None


class MessageFacts:
    """Facts about messages: those that the server has cached, which are only read, and those
    computed here. A message described here has no token count, since addresses do not need it."""

    def __init__(self, server: MessageInfoCache | None, own: MessageInfoCache) -> None:
        self._server, self._own = server, own

    def get(self, tenant: str, raw: bytes) -> MessageInfo | None:
        known = self._server.get(tenant, raw) if self._server else None
        return known or self._own.get(tenant, raw)

    def put(self, tenant: str, raw: bytes, facts: MessageInfo) -> None:
        self._own.put(tenant, raw, facts)

    def forget(self) -> None:
        self._own.forget()


def said_on(spoken: Sequence[int], ends: Sequence[tuple[int, float]]) -> dict[int, date]:
    """Map the last user message of each payload to the day (UTC) on which that payload came.

    `spoken`: indexes of the user's messages, ascending; `ends`: length and time of each payload.
    Earlier messages of a payload are left out, since their day is unknown.

    >>> said_on([0, 2, 4], [(5, 86_400.0)])
    {4: datetime.date(1970, 1, 2)}
    """
    days: dict[int, date] = {}
    for length, at in ends:
        last = max((index for index in spoken if index < length), default=None)
        if last is not None:
            days.setdefault(last, datetime.fromtimestamp(at, UTC).date())
    return days


def _told(posted_message: FoundMessage, day: date | None, *, several: bool) -> FoundMessage:
    """Return the message with its day, and with its speaker if `several` people write."""
    speaker = posted_message.known.name if several else ""
    message = replace(posted_message.message, said=day, speaker=speaker)
    return replace(posted_message, message=message)


def _plays(message: Message) -> bool:
    """Return True if a message by somebody else than the user starts a role-play; tool results
    never do."""
    if message.role in RESULT_ROLES:
        return False
    role = "system" if message.role in SYSTEM_ROLES else message.role
    return fiction.is_role_play(message.said, role)


def _own_view(message: Message, volatile: Volatile) -> str:
    """Return the text part of a user message's view, without the placeholders of media after it."""
    view = message.view(volatile)
    texts = [segment.end for segment in view.segments if segment.kind == "text"]
    return view.text[: max(texts, default=0)]


def _slices(posted: Sequence[Message]) -> Iterator[tuple[int, int]]:
    start, size = 0, 0
    for index, message in enumerate(posted):
        if index > start and (index - start >= SLICE_MESSAGES or size > SLICE_BYTES):
            yield start, index
            start, size = index, 0
        size += len(message.raw)
    if start < len(posted):
        yield start, len(posted)
