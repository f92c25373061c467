"""What may be quoted, and the best of it that fits: whole short messages, passages of long ones.

Of texts that say the same one is quoted, of versions of a text the newest; an older version gives
the lines that differ. The path of an excerpt is paid with it.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from memtree.conversation.history import History
from memtree.ranking.corpus import Corpus
from memtree.ranking.sketches import alike
from memtree.text import tokens
from memtree.tree.node import CODE, TOOL, USER
from memtree.unfolding.duplicates import ShownTexts, differences, equal, near, of_a_size, says_more
from memtree.unfolding.plan import TextSpan
from memtree.unfolding.telling_lines import telling_lines

LABEL = 6  # tokens of `[123 user]` with its indentation and the line's end
WHOLE = 500  # a message up to this size is quoted whole or not at all
FRAGMENT = 15  # tokens; a smaller piece of a message is quoted with what stands beside it
MOST_SHORT = 0.07  # of the excerpts may be shorter than that
LOPSIDED = 3.0  # assistant text over user text, per message
LEAD = 60  # best passages that come before all shares
LEAD_UNIT = 160  # tokens; a message up to this size is quoted whole among them
LEAST_LINE = 15  # tokens; with less room no line is looked for
PATIENCE = 40  # candidates in a row that may fail to fit
LOOKED_AT = 4_000  # candidates in all
BATCH = 256  # candidates whose versions are looked up at once
VERSIONS = 12  # passages that may be a version of one
PART = ("rule", "step")  # reasons of pins that show a part of their message, or nothing of it
REPEATED = 3  # times that a short text stands there: a command, no news


@dataclass(frozen=True, slots=True)
class ExcerptChoice:
    """Why a span is in the plan: `reason` is excerpt, user, line, rule, ask, card, trail or step.
    `passage`: row of the corpus with the best score in it; -1: not ranked. The rest as in
    `ExcerptNote`."""

    span: TextSpan
    tokens: int
    reason: str
    passage: int
    also: tuple[int, ...] = ()
    newest: bool = False
    newer: int = -1


class Paths(Protocol):
    """The summary lines above excerpts."""

    def missing(self, row: int) -> int:
        """Tokens of the lines above a passage that are not shown yet."""
        ...

    def open_path(self, row: int) -> None:
        """Show them."""
        ...


@dataclass(slots=True)
class Room:
    """Tokens that are left: for excerpts with their labels, and for the lines of their paths, which
    excerpts pay once these are used up."""

    excerpts: int
    paths: int = 0

    def pay(self, size: int, path: int) -> None:
        self.excerpts -= size + max(0, path - self.paths)
        self.paths = max(0, self.paths - path)

    def fits(self, size: int, path: int) -> bool:
        return size + max(0, path - self.paths) <= self.excerpts


@dataclass(frozen=True, slots=True)
class Shares:
    """Tokens for what would not come by its rank, where answers are long: `lead`, the best of all
    in small units, so that neither of the others shuts it out; `user`, text of the user; `answers`,
    telling lines of answers. `query`: terms of the question."""

    lead: int
    user: int
    answers: int = 0
    query: Collection[int] = ()


@dataclass(frozen=True, slots=True)
class _Unit:
    """What is quoted at once: a short message or a passage of a long one, found by passage `row`.
    `key` tells units apart."""

    span: TextSpan
    tokens: int
    key: int
    row: int


class Units:
    """What may be quoted: whole short messages, single passages of long ones, with their score."""

    def __init__(
        self,
        history: History,
        corpus: Corpus,
        fused: NDArray[np.float32],
        allowed: NDArray[np.bool_],
        pinned: Sequence[ExcerptChoice] = (),
        shown: ShownTexts | None = None,
        paths: Paths | None = None,
        fill: bool = True,
    ) -> None:
        """`allowed`: what may be quoted. `shown`: what is visible already, to which all that is
        chosen is added. `paths`: of what is
        chosen. `fill`: after all that scored the newest
        follow."""
        self._history, self._corpus, self._allowed, self._paths = history, corpus, allowed, paths
        sizes = np.bincount(corpus.message, weights=corpus.tokens) if len(corpus) else np.zeros(1)
        self._message_tokens = sizes
        self._taken = {pin.span.message for pin in pinned if pin.reason not in PART}
        scored = np.argsort(-fused, kind="stable")[: int((fused > 0).sum())]
        newest = np.flatnonzero(allowed & (fused <= 0))[::-1] if fill else np.empty(0, np.int64)
        self._order = np.concatenate([scored, newest])
        self._scored = len(scored)
        self._fused = fused
        self._versions = _Versions(corpus)
        self._shown = shown or ShownTexts()
        self._told: set[int] = set()  # passages of which a line is quoted
        self._numbers: dict[int, ExcerptChoice] = {}  # what was chosen, by its number in `shown`
        self._dropped: set[TextSpan] = set()
        self._short = 0  # chosen pieces that are shorter than `FRAGMENT`

    def choose(self, room: Room, lines: Shares | None = None) -> list[ExcerptChoice]:
        """The best that fits; with shares first what these are for."""
        chosen: list[ExcerptChoice] = []
        if lines:
            chosen += self._within(room, lines.lead, self._lead)
            mine = self._order[self._corpus.kind[self._order] == USER]
            spent = _size(c for c in chosen if self._corpus.kind[c.passage] == USER)
            chosen += self._within(
                room, lines.user - spent, lambda own: self._take(mine, own, "user")
            )
            quoted = {choice.span.message for choice in chosen}
            chosen += self._within(
                room, lines.answers, lambda own: self._lines(own, lines.query, quoted)
            )
        return self.kept([*chosen, *self._take(self._order, room, "excerpt")])

    def kept(self, choices: Iterable[ExcerptChoice]) -> list[ExcerptChoice]:
        """Choices without those that stand in a longer text that was chosen later."""
        return [choice for choice in choices if choice.span not in self._dropped]

    @staticmethod
    def _within(
        room: Room, most: int, take: Callable[[Room], list[ExcerptChoice]]
    ) -> list[ExcerptChoice]:
        """What is taken with at most so many tokens of the room."""
        own = Room(max(0, min(room.excerpts, most)), room.paths)
        before = own.excerpts
        chosen = take(own)
        room.excerpts -= before - own.excerpts
        room.paths = own.paths
        return chosen

    def _lead(self, room: Room) -> list[ExcerptChoice]:
        """The best of all, whoever wrote it, in small units: of longer messages single passages."""
        first = self._order[: min(LEAD, self._scored)]
        of_user = self._corpus.kind[first] == USER
        small = self._message_tokens[self._corpus.message[first]] <= LEAD_UNIT
        return self._take(first[small | ~of_user], room, "excerpt", LEAD_UNIT)

    def _lines(
        self, room: Room, query: Collection[int], quoted: Collection[int]
    ) -> list[ExcerptChoice]:
        """Telling lines of answers."""
        chosen = []
        fused = np.where(self._allowed, self._fused, 0)
        for line in telling_lines(self._history, self._corpus, fused, query, quoted):
            if room.excerpts < LEAST_LINE:
                break
            text = self._text(line.span)
            path = self._paths.missing(line.row) if self._paths else 0
            size = line.tokens + LABEL
            if not room.fits(size, path) or self._shown.repeats(text):
                continue
            room.pay(size, path)
            if self._paths:
                self._paths.open_path(line.row)
            self._told.add(line.row)
            chosen.append(ExcerptChoice(line.span, line.tokens, "line", line.row))
            self._numbers[self._shown.add(text)] = chosen[-1]
        return chosen

    def left_out(self, limit: int = 20) -> list[int]:
        """The best passages that found no room."""
        first = (int(row) for row in self._order[: 20 * limit])
        left = (row for row in first if self._unit(row) is not None and row not in self._told)
        return list(islice(left, limit))

    # -- taking ------------------------------------------------------------------------------

    def _take(
        self, rows: NDArray[np.int64], room: Room, reason: str, whole: int = WHOLE
    ) -> list[ExcerptChoice]:
        """Units in the order of these rows; `whole`: the size up to which a message is one."""
        chosen: list[ExcerptChoice] = []
        failed = 0
        for at, row in enumerate(rows[:LOOKED_AT].tolist()):
            if failed > PATIENCE or room.excerpts < 2 * LABEL:
                break
            if at % BATCH == 0:
                self._versions.look_up(rows[at : at + BATCH].tolist())
            unit = self._unit(row, whole)
            if unit is None:
                continue
            if unit.tokens > 4 * room.excerpts:  # no version of it fits, either
                failed += 1
                continue
            choices = self._judged(unit, reason)
            if choices is None:
                continue
            size = sum(choice.tokens + LABEL for choice in choices)
            rows_of = {row_at(self._corpus, choice.span) for choice in choices}
            path = sum(map(self._paths.missing, rows_of)) if self._paths else 0
            short = sum(choice.tokens < FRAGMENT for choice in choices)
            if short and self._short + short > 1 + MOST_SHORT * len(self._numbers):
                continue  # with more excerpts beside it there may be room for it later
            if not room.fits(size, path):
                failed += 1
                continue
            failed = 0
            room.pay(size, path)
            self._short += short
            for passage in sorted(rows_of):
                self._taken.add(self._any_unit(passage).key)
                if self._paths:
                    self._paths.open_path(passage)
            self._taken.add(unit.key)
            for choice in choices:
                self._drop_shorter(choice, room)
                self._numbers[self._shown.add(self._text(choice.span))] = choice
            chosen += choices
        return chosen

    def _judged(self, unit: _Unit, reason: str) -> list[ExcerptChoice] | None:
        """The unit, or what stands for it; None where that is visible already."""
        text = self._text(unit.span)
        if unit.tokens < FRAGMENT and self._is_command(unit, text):
            self._taken.add(unit.key)
            return None
        versions = list(self._versions_of(unit, text))
        newer = [(other, said) for other, said in versions if other.span > unit.span]
        if newer:
            newest, said = max(newer, key=lambda pair: pair[0].span)
            older = self._older(unit, text, newest.span.message, said, reason) or []
            if newest.key not in self._taken and self._is_allowed(newest):
                return [*(self._judged(newest, reason) or []), *older] or None
            return older or None
        if self._shown.repeats(text):
            self._taken.add(unit.key)
            return self._pieces(unit, text, self._shown.lacking(text), reason)
        also = sorted({o.span.message for o, said in versions if equal(text, said)})
        is_output = int(self._corpus.kind[unit.row]) in (TOOL, CODE)
        changed = is_output and any(not equal(text, said) for _, said in versions)
        before = tuple(m for m in also if m != unit.span.message)
        return [ExcerptChoice(unit.span, unit.tokens, reason, unit.row, before, changed)]

    def _older(
        self, unit: _Unit, text: str, message: int, newer: str, reason: str
    ) -> list[ExcerptChoice] | None:
        """What an older version says otherwise, where it was asked for."""
        self._taken.add(unit.key)
        if equal(text, newer) or not says_more(text, newer):
            return None
        return self._pieces(unit, text, differences(text, newer), reason, message)

    def _pieces(
        self,
        unit: _Unit,
        text: str,
        spans: Iterable[tuple[int, int]],
        reason: str,
        newer: int = -1,
    ) -> list[ExcerptChoice] | None:
        """Characters of a unit's text that are not visible yet, where it was asked for."""
        if self._fused[unit.row] <= 0:
            return None
        choices = []
        for low, high in spans:
            piece = text[low:high]
            if not self._shown.repeats(piece):
                span = TextSpan(unit.span.message, unit.span.start + low, unit.span.start + high)
                size = tokens.count(piece)
                choices.append(ExcerptChoice(span, size, reason, unit.row, newer=newer))
        return choices or None

    def _versions_of(self, unit: _Unit, text: str) -> Iterator[tuple[_Unit, str]]:
        """Other units that are near-duplicates of one, the newest first."""
        rows = self._versions.of(unit.row)
        seen = {unit.key}
        for row in islice(reversed(rows), VERSIONS):
            other = self._any_unit(row)
            if other.key in seen or other.span.message == unit.span.message:
                continue
            seen.add(other.key)
            said = self._text(other.span)
            if near(text, said) and of_a_size(text, said):
                yield other, said

    def _drop_shorter(self, choice: ExcerptChoice, room: Room) -> None:
        """Take back what stands within a longer text that is quoted now."""
        for number in self._shown.inside(self._text(choice.span)):
            if (other := self._numbers.pop(number, None)) is not None:
                self._dropped.add(other.span)
                self._short -= other.tokens < FRAGMENT
                room.excerpts += other.tokens + LABEL

    def _is_command(self, unit: _Unit, text: str) -> bool:
        """Whether a few words are no news: they stand there again and again."""
        rows = self._versions.of(unit.row)
        if len(rows) < REPEATED:
            return False
        same = sum(equal(text, self._text(self._any_unit(row).span)) for row in rows[:VERSIONS])
        return same >= REPEATED

    # -- units -------------------------------------------------------------------------------

    def _is_allowed(self, unit: _Unit) -> bool:
        return bool(self._allowed[unit.row])

    def _text(self, span: TextSpan) -> str:
        if span.message >= len(self._history):  # the tree says more than was posted
            return ""
        return self._history.view(span.message).text[span.start : span.end]

    def _unit(self, row: int, most: int = WHOLE) -> _Unit | None:
        """The unit that a passage belongs to; None where it is taken."""
        if int(self._corpus.message[row]) in self._taken:
            return None
        unit = self._any_unit(row, most)
        return None if unit.key in self._taken else unit

    def _any_unit(self, row: int, most: int = WHOLE) -> _Unit:
        corpus = self._corpus
        message = int(corpus.message[row])
        whole = int(self._message_tokens[message])
        if whole <= most:
            last = int(np.searchsorted(corpus.message, message, "right")) - 1
            return _Unit(TextSpan(message, 0, int(corpus.end[last])), whole, message, row)
        first, last = self._joined(row)
        size = int(corpus.tokens[first : last + 1].sum())
        span = TextSpan(message, int(corpus.start[first]), int(corpus.end[last]))
        return _Unit(span, size, -first - 1, row)

    def _joined(self, row: int) -> tuple[int, int]:
        """The first and last passage of a unit of a long message: one, or a fragment with what
        follows it, else what precedes it."""
        corpus = self._corpus

        def beside(other: int) -> bool:
            return (
                0 <= other < len(corpus)
                and corpus.message[other] == corpus.message[row]
                and bool(self._allowed[other])
            )

        before = row - 1
        if beside(before) and corpus.tokens[before] < FRAGMENT <= corpus.tokens[row]:
            return before, row
        if corpus.tokens[row] >= FRAGMENT:
            return row, row
        if beside(row + 1):
            return row, row + 1
        return (before, row) if beside(before) else (row, row)


class _Versions:
    """Which passages share nearly all their terms with one, looked up in batches."""

    def __init__(self, corpus: Corpus) -> None:
        self._corpus = corpus
        self._alike: dict[int, list[int]] = {}

    def look_up(self, rows: Iterable[int]) -> None:
        wanted = [row for row in rows if row not in self._alike]
        found = alike(self._corpus.sketches, wanted)
        self._alike.update((row, found.get(row, [])) for row in wanted)

    def of(self, row: int) -> list[int]:
        """Passages in order, itself included where it has terms."""
        if row not in self._alike:
            self.look_up([row])
        return self._alike[row]


def _size(choices: Iterable[ExcerptChoice]) -> int:
    """Tokens with labels."""
    return sum(choice.tokens + LABEL for choice in choices)


def row_at(corpus: Corpus, span: TextSpan) -> int:
    """The passage that holds the beginning of a span."""
    low, high = np.searchsorted(corpus.message, [span.message, span.message + 1])
    inside = np.searchsorted(corpus.end[low:high], span.start, "right")
    return int(min(low + inside, max(low, high - 1)))


def lopsided(corpus: Corpus, before: NDArray[np.bool_]) -> bool:
    """True where messages of the assistant are about three times longer than the user's."""
    mine = before & (corpus.kind == USER)
    theirs = before & (corpus.kind != USER)
    counts = [max(1, len(np.unique(corpus.message[side]))) for side in (mine, theirs)]
    means = [
        float(corpus.tokens[side].sum()) / n for side, n in zip((mine, theirs), counts, strict=True)
    ]
    return means[1] >= LOPSIDED * max(1.0, means[0])
