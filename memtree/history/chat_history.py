"""Read a posted history: its messages without system messages, sizes, rounds and addresses.

`read` reads the whole list. It does not parse messages seen before: their `MessageInfo` comes from
a cache keyed by the raw fragment (docs/decisions/0033). `History.extended` continues from an
earlier list, and reads only the messages after it; the result is the same history, or the same
error.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import accumulate, chain
from typing import Any, Protocol

from memtree.errors import BadRequest
from memtree.history import address_chain as addresses
from memtree.history.attachments import FLAT_TOKENS, loose_tokens, part_tokens
from memtree.history.day_marks import DayMark, day_mark
from memtree.history.derived import Derived
from memtree.history.message import (
    MESSAGE_OVERHEAD,
    SYSTEM_ROLES,
    Message,
    View,
    Volatile,
    check_message,
)
from memtree.history.message_list import ChosenMessages, MessageList, NumberedMessages
from memtree.text.own_words import kept_marks
from memtree.text.spans import Span
from memtree.text.speakers import NOBODY, SpokenBy, spoken_by
from memtree.text.tokens import count as count_tokens

# Fields that hold the same reasoning in several forms: a provider reads one of them
REASONING = (
    "reasoning_content", "reasoning", "reasoning_text", "reasoning_details", "thinking",
    "thinking_blocks", "reasoning_opaque",
)  # fmt: skip
_CALL_FIELDS = frozenset({"id", "type", "index", "function", "custom", "cache_control"})


def price(message: Message, count: Callable[[str], int]) -> int:
    """Return the tokens of the message when it is sent: text, calls, reasoning, media, overhead.
    Fields that no provider is known to put into a prompt (annotations, `parsed`, fields of a
    gateway) are not counted.
    """
    fields = message.fields
    tokens = MESSAGE_OVERHEAD + count(message.words)
    for part in message.media_parts:
        tokens += part_tokens(part, count)
    for call in message.calls:
        tokens += count(call.name) + count(call.arguments) + MESSAGE_OVERHEAD
    for call in fields.get("tool_calls") or ():  # thought signatures and the like
        if more := [call[key] for key in call if key not in _CALL_FIELDS]:
            tokens += loose_tokens(more, count)
    for name in ("refusal", "name"):
        if isinstance(fields.get(name), str):
            tokens += count(fields[name])
    if fields.get("extra_content"):
        tokens += loose_tokens(fields["extra_content"], count)
    if isinstance(fields.get("audio"), dict):  # earlier speech, referred to by its id
        tokens += FLAT_TOKENS
    reasoning = [loose_tokens(fields[name], count) for name in REASONING if name in fields]
    return tokens + max(reasoning, default=0)


def markers(message: Message) -> list[Any]:
    """Return the cache markers of a message: on itself, its parts, its calls."""
    places = [*message.parts, *(message.fields.get("tool_calls") or ()), message.fields]
    return [place["cache_control"] for place in places if place.get("cache_control")]


# Messages behind a call in which a late result keeps it from being folded: nothing between them is.
LATE = 24
CALL_TEXTS = 40  # characters that a call counts besides its id and name


@dataclass(frozen=True, slots=True)
class MessageInfo:
    """Facts about one message that are known without parsing it again."""

    role: str
    digest: bytes
    tokens: int
    calls: tuple[tuple[str, str], ...]  # (id, name) of the tool calls it makes
    answers: str | None  # tool_call_id, or the name in a legacy function message; may be empty
    markers: int = 0  # cache markers
    day_mark: DayMark | None = None
    keeps: tuple[Span, ...] = ()  # spans of the view that the user marked with `<keep>`
    spoken: SpokenBy = NOBODY


class MessageInfoCache(Protocol):
    def get(self, tenant: str, raw: bytes) -> MessageInfo | None: ...
    def put(self, tenant: str, raw: bytes, facts: MessageInfo) -> None: ...
    def forget(self) -> None: ...


@dataclass(frozen=True, slots=True)
class History:
    """`messages` are the posted messages without system messages; parallel tuples describe them.
    What `unread` returns has everything but these, so that it may be kept without their text.

    `posted[i]`: index of messages[i] in what the client sent. `addresses[i]`: the address of the
    first i messages, so it has one entry more. `rounds`: index of the first message of each round.
    `borders`: starts of rounds whose first message is not joined to the one before it. `cuts`:
    those at which the history may be cut, since none stands between a call and a result that comes
    late. `late`: (first message of the round that calls, result) of each result behind a later
    round. `marked`: messages with cache markers; `loading`: those that load tools. `length`: of the
    posted list, system messages included. `texts`: characters of ids and names of calls in all
    facts. `derived`: shared with the histories that continue it.
    """

    tenant: str
    messages: Sequence[Message]
    facts: tuple[MessageInfo, ...]
    posted: tuple[int, ...]
    rounds: tuple[int, ...]
    cuts: tuple[int, ...]
    addresses: tuple[bytes, ...]
    totals: tuple[int, ...]  # tokens of the first i messages, so it has one entry more
    system: NumberedMessages  # (posted index, message)
    volatile: Volatile
    marked: tuple[int, ...] = ()
    loading: tuple[int, ...] = ()
    late: tuple[tuple[int, int], ...] = ()
    borders: tuple[int, ...] = ()
    system_facts: tuple[MessageInfo, ...] = ()
    system_tokens: int = 0
    length: int = 0
    texts: int = 0
    derived: Derived = field(default_factory=Derived, compare=False, repr=False)

    def __len__(self) -> int:
        return len(self.facts)

    @property
    def tokens(self) -> int:
        return self.size()

    def view(self, index: int) -> View:
        return self.messages[index].view(self.volatile)

    def asks(self, index: int) -> bool:
        """Return True if the user wrote it, as far as the dialect distinguishes that from text
        which a client's program adds in the user's role."""
        if self.facts[index].role != "user" or (message := self.messages[index]).aside:
            return False
        return not message.joined or bool(self.view(index).own.strip())

    def questions(self, index: int) -> bool:
        """Return True if the user wrote it and it contains a question."""
        return self.asks(index) and any(mark in self.view(index).own for mark in "?？؟")

    def first_request(self, messages: int) -> str:
        """Return the text of the user's first message with words among the first `messages`, but
        none that a client's program posted in the user's role; "" without one."""
        for index in range(min(len(self), messages)):
            if self.asks(index) and (text := self.view(index).own.strip()):
                return text
        return ""

    def size(self, start: int = 0, end: int | None = None) -> int:
        """Return the tokens of messages [start, end)."""
        last = len(self.facts)
        return self.totals[last if end is None else min(end, last)] - self.totals[min(start, last)]

    def settled(self, end: int) -> int:
        """Return how many messages no message from `end` on belongs to or answers."""
        return _settled(self.rounds, end)

    def round_ends(self) -> Iterator[tuple[int, int]]:
        """Yield (first, end) of each round."""
        yield from zip(self.rounds, (*self.rounds[1:], len(self)), strict=True)

    def unread(self) -> History:
        """Return the history without its messages."""
        return self._of(())

    def first(self, length: int) -> History:
        """Return the history, without messages, of the first messages of the posted list, up to the
        last round boundary among the first `length`: a tool message after that may belong to the
        round that is still open."""
        kept = bisect_left(self.posted, length)
        ended = max(bisect_left(self.rounds, kept) - 1, 0)
        size = self.rounds[ended] if kept else 0
        border = self.posted[size] if kept else 0
        system = bisect_left(self.system.indexes, border)
        late = tuple(span for span in self.late if span[1] < size)
        borders = self.borders[: bisect_left(self.borders, size)]
        return History(
            tenant=self.tenant,
            messages=(),
            facts=self.facts[:size],
            posted=self.posted[:size],
            rounds=self.rounds[: bisect_left(self.rounds, size)],
            cuts=_outside(borders, late),
            addresses=self.addresses[: size + 1],
            totals=self.totals[: size + 1],
            system=NumberedMessages((), self.system.indexes[:system]),
            volatile=self.volatile,
            marked=self.marked[: bisect_left(self.marked, size)],
            loading=self.loading[: bisect_left(self.loading, size)],
            late=late,
            borders=borders,
            system_facts=self.system_facts[:system],
            length=border,
            texts=self.texts - _texts(self.facts[size:]),
            derived=self.derived.first(size, _settled(self.rounds, size)),
        )

    def extended(
        self,
        posted: Sequence[Message],
        cache: MessageInfoCache | None = None,
        count: Callable[[str], int] = count_tokens,
    ) -> History:
        """Return the history of a list whose first messages are the ones of this history, which
        ends at a round boundary (`first`) or has all of them. Reads only the other messages. Raises
        `BadRequest` as `read` does."""
        if self.length == len(posted):
            return self._of(posted)
        known, new = self, range(self.length, len(posted))
        args = (self.volatile, cache, count)
        infos = [_facts(self.tenant, index, posted[index], *args) for index in new]
        conversation_facts = [fact for fact in infos if fact.role not in SYSTEM_ROLES]
        kept = [at for at, fact in zip(new, infos, strict=True) if fact.role not in SYSTEM_ROLES]
        system = [at for at, fact in zip(new, infos, strict=True) if fact.role in SYSTEM_ROLES]
        before, total = len(known), known.totals[-1]
        facts, rounds, late_results = _pair(known.facts, conversation_facts)
        chain = addresses.chain(known.addresses[-1], (fact.digest for fact in facts))
        begun = (at for at in rounds if not before + at or not posted[kept[at]].joined)
        borders = known.borders + tuple(before + at for at in begun)
        late = known.late + tuple(late_results)
        loads = (before + at for at, i in enumerate(kept) if posted[i].loads)
        extended = History(
            tenant=known.tenant,
            messages=(),
            facts=known.facts + tuple(facts),
            posted=known.posted + tuple(kept),
            rounds=known.rounds + tuple(before + at for at in rounds),
            cuts=_outside(borders, late),
            addresses=known.addresses + tuple(chain),
            totals=known.totals[:-1] + tuple(accumulate((f.tokens for f in facts), initial=total)),
            system=NumberedMessages((), known.system.indexes + tuple(system)),
            volatile=known.volatile,
            marked=known.marked + tuple(before + at for at, f in enumerate(facts) if f.markers),
            loading=known.loading + tuple(loads),
            late=late,
            borders=borders,
            system_facts=known.system_facts + tuple(infos[at - known.length] for at in system),
            length=len(posted),
            texts=known.texts + _texts(facts),
            derived=known.derived,
        )
        return extended._of(posted)

    def _of(self, posted: Sequence[Message]) -> History:
        """Return the same history with the messages of this list; of an empty one, without any."""
        chosen: Sequence[Message] = posted
        if self.system.indexes and posted:
            chosen = ChosenMessages(posted, self.posted)
        elif not isinstance(posted, MessageList):
            chosen = tuple(posted)
        markers = sum(fact.markers for fact in self.system_facts)
        system = NumberedMessages(posted, self.system.indexes, markers)
        size = sum(fact.tokens for fact in self.system_facts)
        return replace(self, messages=chosen, system=system, system_tokens=size)


def read(
    tenant: str,
    posted: Sequence[Message],
    volatile: Volatile,
    cache: MessageInfoCache | None = None,
    count: Callable[[str], int] = count_tokens,
) -> History:
    """Read a posted list. Raises `BadRequest`, which names the place, for broken JSON."""
    return nothing_read(tenant, volatile).extended(posted, cache, count)


def nothing_read(tenant: str, volatile: Volatile) -> History:
    """Return the history without messages."""
    root, system = addresses.root(tenant), NumberedMessages((), ())
    return History(tenant, (), (), (), (), (), (root,), (0,), system, volatile)


def _texts(facts: Sequence[MessageInfo]) -> int:
    """Return the number of posted characters that the facts hold; a call adds some more."""
    calls = sum(CALL_TEXTS + len(id_) + len(name) for fact in facts for id_, name in fact.calls)
    return calls + sum(len(fact.answers or "") for fact in facts)


def _facts(
    tenant: str,
    index: int,
    message: Message,
    volatile: Volatile,
    cache: MessageInfoCache | None,
    count: Callable[[str], int],
) -> MessageInfo:
    known = cache.get(tenant, message.raw) if cache else None
    if known is not None:
        return known
    place = f"messages[{index}]"
    check_message(message, place)
    try:
        facts = describe(message, volatile, count)
    except RecursionError as error:
        raise BadRequest(f"{place}: nested too deeply", param=place) from error
    if cache:
        cache.put(tenant, message.raw, facts)
    return facts


def describe(
    message: Message, volatile: Volatile, count: Callable[[str], int] = count_tokens
) -> MessageInfo:
    """Return the facts of a validated message, independent of the messages before it."""
    role = message.role
    answers = None
    if role == "tool":
        answers = message.fields.get("tool_call_id") or ""
    elif role == "function":
        answers = str(message.fields.get("name") or "")
    return MessageInfo(
        role=role,
        digest=addresses.digest(message, volatile),
        tokens=price(message, count),
        calls=tuple((call.id, call.name) for call in message.calls),
        answers=answers,
        markers=len(markers(message)) if b'"cache_control"' in message.raw else 0,
        day_mark=day_mark(message, volatile),
        keeps=kept_marks(message.view(volatile).own) if role == "user" else (),
        spoken=_spoken(message, volatile),
    )


def _spoken(message: Message, volatile: Volatile) -> SpokenBy:
    """Return the speaker of a message; nobody for the result of a tool."""
    if message.role not in ("user", "assistant"):
        return NOBODY
    by = spoken_by(message.head(volatile), message.name)
    return by if by.name else NOBODY


def _settled(rounds: Sequence[int], end: int) -> int:
    """Return the start of the last round that begins more than `LATE` messages before `end`."""
    before = bisect_left(rounds, end - LATE)
    return rounds[before - 1] if before else 0


def _outside(cuts: tuple[int, ...], spans: Sequence[tuple[int, int]]) -> tuple[int, ...]:
    """Return the cuts that separate the two ends of no span. `cuts`: ascending."""
    if not spans:
        return cuts
    kept, ordered, at, reach = [], sorted(spans), 0, -1
    for cut in cuts:
        while at < len(ordered) and ordered[at][0] < cut:
            reach = max(reach, ordered[at][1])
            at += 1
        if cut > reach:
            kept.append(cut)
    return tuple(kept)


def _pair(
    known: tuple[MessageInfo, ...], new: list[MessageInfo]
) -> tuple[list[MessageInfo], list[int], list[tuple[int, int]]]:
    """Bind tool messages to the calls they answer; find where rounds begin, and the `late` results.

    A round is a message that is no result, with all results behind it: what it does not call for
    stays with it, so that a cut makes no orphans. Only a history may begin with one.
    """
    bound: list[MessageInfo] = []
    rounds: list[int] = []
    late: list[tuple[int, int]] = []
    earlier = _EarlierCalls(known, new)
    calls = _RoundCalls(())
    for index, fact in enumerate(new):
        if fact.answers is None or not (known or index):
            rounds.append(index)
            calls = _RoundCalls(fact.calls)
        if fact.answers is None:
            bound.append(fact)
            continue
        position = calls.answered_by(fact)
        if position is None and (caller := earlier.of(fact, index)) is not None:
            late.append((caller, len(known) + index))
        bound.append(replace(fact, digest=addresses.positioned(fact.digest, position)))
    return bound, rounds, late


class _EarlierCalls:
    """Finds the message that made a call, for results that no call of their round asks for."""

    def __init__(self, known: tuple[MessageInfo, ...], new: list[MessageInfo]) -> None:
        self._known, self._new = known, new
        self._callers: dict[tuple[bool, str], list[int]] | None = None

    def of(self, fact: MessageInfo, index: int) -> int | None:
        """Return the newest message before `new[index]` with the call that a result names, unless
        more than `LATE` messages stand between."""
        if not fact.answers:
            return None
        if self._callers is None:
            self._callers = {}
            for at, each in enumerate(chain(self._known, self._new)):
                for id_, name in each.calls:
                    self._callers.setdefault((False, id_), []).append(at)
                    self._callers.setdefault((True, name), []).append(at)
        callers = self._callers.get((fact.role == "function", fact.answers), [])
        result = len(self._known) + index
        at = bisect_left(callers, result) - 1
        return callers[at] if at >= 0 and result - callers[at] <= LATE else None


class _RoundCalls:
    """The calls of one assistant message, matched with the messages after it that answer them."""

    def __init__(self, calls: tuple[tuple[str, str], ...]) -> None:
        self._calls = calls
        self._answered: set[int] = set()
        # By (0, id) and (1, name), and under "" all: calls that may lack an answer, the last first.
        self._waiting: dict[tuple[int, str], list[int]] = {}

    def answered_by(self, fact: MessageInfo) -> int | None:
        """Return the index of the call that a message answers: among the calls with its id (or
        name), the first without an answer, else the last. A message that names none answers the
        next call."""
        if not self._waiting:
            self._collect()
        key = 1 if fact.role == "function" else 0
        waiting = self._waiting.get((key, fact.answers or ""), [])
        while len(waiting) > 1 and waiting[-1] in self._answered:
            waiting.pop()
        if not waiting or (not fact.answers and waiting[-1] in self._answered):
            return None
        self._answered.add(waiting[-1])
        return waiting[-1]

    def _collect(self) -> None:
        for at in range(len(self._calls) - 1, -1, -1):
            for key, name in enumerate(self._calls[at]):
                if name:
                    self._waiting.setdefault((key, name), []).append(at)
                self._waiting.setdefault((key, ""), []).append(at)
