"""Map a request posted to the Messages API to canonical messages, and these back to their places.

A posted list and its longest known beginning become a `PostedRequest`, which holds the messages. It
records where the canonical messages of the list stand, so that a longer list with the same
beginning is translated from there on. The record holds positions and marks, no text: a message is
translated again when it is read. The translation of a posted message depends only on those before
it, so a list can be reused up to any place.
"""

from __future__ import annotations

from array import array
from bisect import bisect_left, bisect_right
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, NamedTuple, Protocol

from memtree.dialects import messages_blocks
from memtree.dialects.fragment_caches import KnownTranslations, TranslationCache
from memtree.dialects.messages_blocks import PostedMessage, carried
from memtree.dialects.translated_messages import RawItems, TranslatedMessages
from memtree.history.message import Message
from memtree.history.message_list import EarlierList

# Marks of a posted message. SYSTEM: the system's, or of an unknown role. CARRIED: a system message
# in the canonical form, too. BEGINS: begins with thinking. WORDS: has the user's words besides
# results. CLOSED: may hold only results, since a provider's tool is running.
USER, SYSTEM, CARRIED, THINKS, BEGINS, RESULTS, WORDS, CLOSED = (1 << bit for bit in range(8))
# Marks of a canonical message.
JOINED, ASIDE = 1, 2
BYTES = 18  # estimate for a posted message with its translation


class ReadMessages(Protocol):
    """Access to posted messages by index."""

    def __getitem__(self, place: int) -> PostedMessage: ...


class Pattern:
    """Search for posted messages whose marks satisfy `fits`."""

    def __init__(self, fits: Callable[[int], bool]) -> None:
        self._table = bytes(map(fits, range(256)))

    def first(self, marks: bytes, end: int) -> int:
        """Return the first match before `end`; -1 if there is none."""
        return marks.translate(self._table).find(1, 0, end)

    def last(self, marks: bytes, end: int) -> int:
        return marks.translate(self._table).rfind(1, 0, end)

    def count(self, marks: bytes, end: int) -> int:
        return marks.translate(self._table).count(1, 0, end)


TALK = Pattern(lambda mark: not mark & SYSTEM)
THINKING = Pattern(lambda mark: bool(mark & THINKS))
NEWEST_WORDS = Pattern(lambda mark: bool(mark & WORDS))
QUESTION = Pattern(lambda mark: mark & (USER | RESULTS) == USER)


def _numbers(*values: int) -> array[int]:
    return array("I", values)


@dataclass(frozen=True, slots=True)
class TranslatedList:
    """Translation of a posted list. For each posted message, `marks`: its marks; `firsts`: its
    first canonical message; `sizes`: bytes of the canonical messages before it; the last two have
    an entry more. `joined`: JOINED and ASIDE of each canonical message; `loading`: the canonical
    messages that load tools."""

    marks: bytes = b""
    firsts: array[int] = field(default_factory=lambda: _numbers(0))
    sizes: array[int] = field(default_factory=lambda: array("Q", [0]))
    joined: bytes = b""
    loading: array[int] = field(default_factory=_numbers)

    def place(self, canonical: int) -> int:
        """Return the posted message of a canonical one."""
        return bisect_right(self.firsts, canonical) - 1

    @property
    def nbytes(self) -> int:
        """Size in bytes."""
        return BYTES * len(self.marks) + 5 * len(self.joined) + 500

    def newest_words(self) -> int | None:
        """Return the newest message with the user's words; None if nothing may be added to it,
        since a provider's tool is running."""
        place = NEWEST_WORDS.last(self.marks, len(self.marks))
        return None if place < 0 or self.marks[place] & CLOSED else place

    def open_turn(self) -> int:
        """Return the user message on which the assistant still works; past the end if it waits for
        the user. With thinking `enabled`, the assistant's next message must begin with thinking."""
        end = len(self.marks)
        newest = TALK.last(self.marks, end)
        if newest < 0 or not self.marks[newest] & RESULTS:
            return end
        return QUESTION.last(self.marks, end)


NOTHING = TranslatedList()


def extended(
    known: TranslatedList, start: int, raws: RawItems, read: ReadMessages
) -> TranslatedList:
    """Translate `raws`, whose first `start` messages are those of `known`. `read`: the posted
    messages. Raises `BadRequest`."""
    made = _Translation(known, start, raws, read)
    for place in range(start, len(raws)):
        made.add(place, read[place])
    return made.done()


class _Translation:
    """State of translating a list, message by message. `waits`: a provider's tool is running;
    `spoken`: messages of the user and the assistant."""

    def __init__(
        self, known: TranslatedList, start: int, raws: RawItems, read: ReadMessages
    ) -> None:
        self._raws = raws
        self._marks = bytearray(known.marks[:start])
        self._firsts, self._sizes = known.firsts[: start + 1], known.sizes[: start + 1]
        self._joined = bytearray(known.joined[: self._firsts[-1]])
        self._loading = known.loading[: bisect_left(known.loading, self._firsts[-1])]
        self._spoken = TALK.count(known.marks, start)
        self._waits = False
        if start and known.marks[start - 1] & (USER | SYSTEM):
            self._waits = bool(known.marks[start - 1] & CLOSED)
        elif start:
            self._waits = read[start - 1].waits

    def add(self, place: int, one: PostedMessage) -> None:
        closed = CLOSED * self._waits
        if one.role == "assistant":
            self._waits = one.waits
            self._put(place, one, THINKS * bool(one.thinking) | BEGINS * one.begins_with_thinking)
        elif one.role == "user":
            words = len(one.messages) > one.results
            self._put(place, one, USER | closed | WORDS * words | RESULTS * bool(one.results))
        else:
            self._put(place, one, SYSTEM | closed | CARRIED * carried(one, self._spoken))

    def done(self) -> TranslatedList:
        return TranslatedList(
            bytes(self._marks), self._firsts, self._sizes, bytes(self._joined), self._loading
        )

    def _put(self, place: int, one: PostedMessage, mark: int) -> None:
        carries, size = bool(mark & CARRIED), self._sizes[-1]
        aside = ASIDE if mark & SYSTEM else 0
        for message in one.messages:
            size += len(message.raw) if message.raw and not carries else self._raws.size(place)
            if message.loads:
                self._loading.append(len(self._joined))
            self._joined.append(0 if carries else JOINED * message.joined | aside)
        self._spoken += not mark & SYSTEM
        self._marks.append(mark)
        self._firsts.append(len(self._joined))
        self._sizes.append(size)


Cache = TranslationCache[PostedMessage]


class PostedPart(NamedTuple):
    """Place where a canonical message was posted: the message (-1: the field `system`), and the
    block of each content part (empty: equal indexes)."""

    place: int
    blocks: tuple[int, ...] = ()


class PostedMessages:
    """Posted messages, each of which is read at first access."""

    __slots__ = ("_cache", "_found", "_since", "_tenant", "raws")

    def __init__(self, raws: RawItems, tenant: str, cache: Cache) -> None:
        self.raws = raws
        self._tenant, self._cache, self._since = tenant, cache, cache.deletions
        self._found: dict[int, PostedMessage] = {}

    def __getitem__(self, place: int) -> PostedMessage:
        """Return the posted message at an index. Raises `BadRequest` with the place in the body."""
        message = self._found.get(place)
        if message is None:
            raw = self.raws[place]
            message = self._cache.get(self._tenant, raw)
            if message is None:
                message = messages_blocks.read(raw, f"messages[{place}]")
                self._cache.put(self._tenant, raw, message, message.size, self._since)
            self._found[place] = message
        return message

    def key(self, raw: bytes) -> bytes:
        """Return the cache key of a text of this tenant."""
        return self._cache.keys.of(self._tenant, raw)


@dataclass(frozen=True, slots=True)
class KnownRequest:
    """Translation of an earlier request. `listed`: the number that identifies its canonical list;
    `system`: keys of the canonical messages before the posted ones; `tied_from`: the posted message
    behind which messages must begin with thinking."""

    translated: TranslatedList = NOTHING
    listed: int = 0
    system: tuple[bytes, ...] = ()
    tied_from: int = 0

    @property
    def nbytes(self) -> int:
        return self.translated.nbytes

    @property
    def length(self) -> int:
        """Canonical messages."""
        return len(self.system) + len(self.translated.joined)


class KnownBeginning(NamedTuple):
    """Beginning shared with a known list: its first `length` posted messages."""

    known: KnownRequest = KnownRequest()
    length: int = 0
    number: int | None = None


class KnownRequests(KnownTranslations[KnownRequest]):
    """Cache of the known requests of the Messages API."""

    def beginning(self, tenant: str, raws: RawItems) -> KnownBeginning:
        if raws.earlier is None:
            return KnownBeginning()
        known = self.get(tenant, raws.earlier.number)
        return (
            KnownBeginning(known, raws.earlier.length, raws.earlier.number)
            if known
            else KnownBeginning()
        )


@dataclass(frozen=True, slots=True)
class PostedRequest:
    """Posted request. `posted`: the messages; `translated`: the places of their canonical messages,
    behind `system`. `enabled`: the form of thinking that every turn must begin with is on.
    `before`: fields before the messages in the prompt; `top`: the cache marker beside the
    messages."""

    posted: PostedMessages
    translated: TranslatedList
    system: tuple[Message, ...] = ()
    enabled: bool = False
    before: tuple[bytes, ...] = ()
    top: Any = None
    tied_from: int = field(init=False)

    def __post_init__(self) -> None:
        turn = self.translated.open_turn() if self.enabled else len(self.raws)
        object.__setattr__(self, "tied_from", turn)

    @property
    def raws(self) -> RawItems:
        return self.posted.raws

    def __len__(self) -> int:
        """Canonical messages."""
        return len(self.system) + len(self.translated.joined)

    def messages(self, beginning: KnownBeginning) -> TranslatedMessages:
        """Return the canonical messages; a list equal to the earlier one keeps its number."""
        earlier = self._earlier(beginning)
        same = earlier is not None and earlier.length == len(self) == beginning.known.length
        return TranslatedMessages(
            self.system,
            len(self.translated.joined),
            self._message,
            size=self.translated.sizes[-1],
            loading=self.translated.loading,
            earlier=earlier,
            number=earlier.number if earlier is not None and same else None,
        )

    def known(self, messages: TranslatedMessages) -> KnownRequest:
        return KnownRequest(self.translated, messages.number, self._keys(), self.tied_from)

    def place(self, canonical: int) -> int:
        """Return the posted message of a canonical one; -1 for the field `system`."""
        index = canonical - len(self.system)
        return self.translated.place(index) if index >= 0 else -1

    def part(self, canonical: int) -> PostedPart:
        """Return where the content parts of a canonical message were posted."""
        place = self.place(canonical)
        if place < 0 or self.translated.marks[place] & SYSTEM:
            return PostedPart(place)
        made = self.posted[place].messages[canonical - self.first_of(place)]
        return PostedPart(place, made.blocks)

    def first_of(self, place: int) -> int:
        """Return the first canonical message of a posted one."""
        return len(self.system) + self.translated.firsts[place]

    def _message(self, index: int) -> Message:
        place = self.translated.place(index)
        mark, joined = self.translated.marks[place], self.translated.joined[index]
        if mark & CARRIED:
            return Message(self.raws[place])
        made = self.posted[place].messages[index - self.translated.firsts[place]]
        tied = place > self.tied_from and not mark & (USER | SYSTEM | BEGINS)
        return Message(
            made.raw or self.raws[place],
            bool(joined & JOINED) or tied,
            made.loads,
            aside=bool(joined & ASIDE),
        )

    def _keys(self) -> tuple[bytes, ...]:
        return tuple(self.posted.key(message.raw) for message in self.system)

    def _earlier(self, beginning: KnownBeginning) -> EarlierList | None:
        """Return the earlier canonical messages with which these begin, up to the place from which
        messages are tied to those before them."""
        known, length, _ = beginning
        if not length or known.system != self._keys():
            return None
        if known.tied_from != self.tied_from:
            length = min(length, min(known.tied_from, self.tied_from) + 1)
        return EarlierList(known.listed, self.first_of(length))
