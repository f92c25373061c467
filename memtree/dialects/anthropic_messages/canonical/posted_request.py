"""Map a request posted to the Messages API to canonical messages, and these back to their places.

posted list, and its longest known beginning -> PostedRequest -> messages
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, NamedTuple

from memtree.conversation.message import Message
from memtree.conversation.message_list import EarlierList
from memtree.dialects.anthropic_messages.canonical import posted_message
from memtree.dialects.anthropic_messages.canonical.posted_message import PostedMessage
from memtree.dialects.anthropic_messages.canonical.translation import (
    ASIDE,
    BEGINS,
    CARRIED,
    JOINED,
    NOTHING,
    SYSTEM,
    USER,
    TranslatedList,
)
from memtree.dialects.known_translations import KnownTranslations
from memtree.dialects.raw_items import RawItems
from memtree.dialects.translated_messages import TranslatedMessages
from memtree.dialects.translation_cache import TranslationCache

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
                message = posted_message.read(raw, f"messages[{place}]")
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
