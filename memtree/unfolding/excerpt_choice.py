"""Choose the quotations of a memory message, and divide its budget between its parts.

The quotations are the best that fit: whole short messages, passages of long ones. Of texts that say
the same only one is quoted, of versions of a text the newest; for an older version the differing
lines are quoted. An excerpt also pays for the lines of its path. `BudgetSplit` is the division of
the budget.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from memtree.history.chat_history import History
from memtree.ranking.corpus import Corpus
from memtree.ranking.ranked_history import RankedHistory
from memtree.text import tokens
from memtree.tree.node import USER
from memtree.unfolding.excerpt_duplicates import ShownTexts, differences, equal, says_more
from memtree.unfolding.excerpt_units import FRAGMENT, WHOLE, Unit, UnitIndex, row_at, telling_lines
from memtree.unfolding.memory_plan import TextSpan

LABEL = 5  # tokens of a label like `¶123 user` with its line break, about
MOST_FRAGMENTS = 0.08  # share that may be fragments (docs/decisions/archive.md#0019)
LOPSIDED = 3.0  # mean size of assistant messages over that of user messages
LEAD = 60  # best passages that are chosen before all shares
LEAD_PARTS = 2  # of a longer message, or it would fill the lead alone
LEAD_UNIT = 160  # tokens; in the lead, a message up to this size is quoted whole
OWN_WHOLE = 0.25  # share of the user's tokens up to which one of their messages is quoted whole
FILE_PIECE = 200  # tokens of a piece of a file in hand, at least
LEAST_LINE = 15  # tokens; with less room no line is searched
STEPS = 8  # from a text to a newer version, and from that to a still newer one
PATIENCE = 40  # candidates in a row that may not fit before the search ends
LOOKED_AT = 1_500  # candidates in all
# reasons of pins that show only a part of their message, or none
PART = ("rule", "step", "kept", "tail")


@dataclass(frozen=True, slots=True)
class ExcerptChoice:
    """Span that was chosen as an excerpt. `reason`: one of `REASONS`. `passage`: row of the corpus
    with the best score in it; -1: not ranked. `rank`: its place among all ranked passages, from 1;
    0: not ranked. The rest as in `ExcerptNote`."""

    span: TextSpan
    tokens: int
    reason: str
    passage: int
    also: tuple[int, ...] = ()
    newest: int = -1
    newer: int = -1
    rank: int = 0
    earlier: int = -1


class Paths(Protocol):
    """The summary lines above excerpts."""

    def missing(self, row: int) -> int:
        """Return the tokens of the lines above a passage that are not shown yet."""
        ...

    def open_path(self, row: int) -> None:
        """Show these lines."""
        ...


@dataclass(slots=True)
class Room:
    """Tokens that are left: for excerpts with their labels, and for the lines of their paths, which
    excerpts pay for once the latter are used up."""

    excerpts: int
    paths: int = 0

    def pay(self, size: int, path: int) -> None:
        self.excerpts -= size + max(0, path - self.paths)
        self.paths = max(0, self.paths - path)

    def fits(self, size: int, path: int) -> bool:
        return size + max(0, path - self.paths) <= self.excerpts


@dataclass(frozen=True, slots=True)
class Shares:
    """Tokens for texts that rank alone would not select if answers are long: `lead`, the best of
    all in small units, so that none excludes the others; `user`, text of the user; `answers`,
    important lines of answers. `query`: terms of the question; `segments`: as in `Ranking`."""

    lead: int
    user: int
    answers: int = 0
    query: Collection[int] = ()
    segments: Callable[[int], NDArray[np.float32]] = lambda _: np.empty(0, np.float32)


class Units:
    """Candidates for quotation, with their scores: whole short messages, single passages of long
    ones."""

    def __init__(
        self,
        history: History,
        corpus: Corpus,
        fused: NDArray[np.float32],
        allowed: NDArray[np.bool_],
        cut: int,
        pinned: Sequence[ExcerptChoice] = (),
        shown: ShownTexts | None = None,
        paths: Paths | None = None,
        fill: bool = True,
    ) -> None:
        """`allowed`: passages that may be quoted, of messages before `cut`. `shown`: texts already
        visible, to which each choice is added. `paths`: lines above the choices. `fill`: after all
        passages with a score, continue with the newest."""
        self._history, self._corpus, self._allowed, self._paths = history, corpus, allowed, paths
        self._index, self._cut = UnitIndex(history, corpus, allowed), cut
        self._taken = {pin.span.message for pin in pinned if pin.reason not in PART}
        scored = np.argsort(-fused, kind="stable")[: int((fused > 0).sum())]
        newest = np.flatnonzero(allowed & (fused <= 0))[::-1] if fill else np.empty(0, np.int64)
        self._order = np.concatenate([scored, newest])
        self._scored = len(scored)
        self._ranks = np.zeros(len(fused), np.int64)
        self._ranks[scored] = np.arange(1, len(scored) + 1)
        self._fused = fused
        self._shown = shown or ShownTexts()
        self._told: set[int] = set()  # passages of which a line is quoted
        self._numbers: dict[int, ExcerptChoice] = {}  # the choices, by their number in `shown`
        self._dropped: set[TextSpan] = set()
        self._fragments = 0  # number of choices under `FRAGMENT` tokens that are not whole messages

    def choose(
        self, room: Room, lines: Shares | None = None, hand: Sequence[int] = (), most: int = 0
    ) -> list[ExcerptChoice]:
        """Choose the best units that fit; if there are shares, fill those first. `hand`: passages
        of files in hand, best first, for `most` tokens."""
        chosen: list[ExcerptChoice] = []
        if hand:
            chosen += self._within(room, most, lambda own: self.of_files(hand, own))
        if lines:
            chosen += self._within(room, lines.lead, lambda own: self._lead(own, lines))
            mine = self._order[self._are_of_user(self._order)]
            facts = self._history.facts
            spent = size_of(c for c in chosen if facts[c.span.message].role == "user")
            whole = max(WHOLE, int(OWN_WHOLE * lines.user))
            chosen += self._within(
                room,
                lines.user - spent,
                lambda own: self._take(mine, own, "user", lambda row: self._unit(row, whole)),
            )
            quoted = {choice.span.message for choice in chosen}
            chosen += self._within(
                room, lines.answers, lambda own: self._lines(own, lines.query, quoted)
            )
        return self.kept([*chosen, *self._take(self._order, room, "excerpt")])

    def of_files(self, rows: Sequence[int], room: Room) -> list[ExcerptChoice]:
        """Choose passages of files, whole pieces of them, in this order."""
        return self._take(np.array(rows, np.int64), room, "file", self._file_unit)

    def kept(self, choices: Iterable[ExcerptChoice]) -> list[ExcerptChoice]:
        """Return the choices without those contained in a longer text that was chosen later."""
        return [choice for choice in choices if choice.span not in self._dropped]

    @staticmethod
    def _within(
        room: Room, most: int, take: Callable[[Room], list[ExcerptChoice]]
    ) -> list[ExcerptChoice]:
        """Return the choices of `take` with at most `most` tokens of the room."""
        own = Room(max(0, min(room.excerpts, most)), room.paths)
        before = own.excerpts
        chosen = take(own)
        room.excerpts -= before - own.excerpts
        room.paths = own.paths
        return chosen

    def _are_of_user(self, rows: NDArray[np.int64]) -> NDArray[np.bool_]:
        """Return True for passages of the user's messages. Code in them counts as the user's, too;
        otherwise a piece of it would be quoted instead of the message that asks."""
        roles = np.zeros(int(self._corpus.message.max(initial=0)) + 1, np.bool_)
        for message, fact in enumerate(self._history.facts[: len(roles)]):
            roles[message] = fact.role == "user"
        return np.asarray(roles[self._corpus.message[rows]])

    def _lead(self, room: Room, shares: Shares) -> list[ExcerptChoice]:
        """Choose the best of all, by any author, in small units: single segments of longer
        messages."""
        first = self._order[: min(LEAD, self._scored)]
        parts = Counter[int]()

        def unit_of(row: int) -> Unit | None:
            unit = self._unit(row, LEAD_UNIT)
            if unit is None or unit.key >= 0:
                return unit
            parts[unit.span.message] += 1
            if parts[unit.span.message] > LEAD_PARTS:
                return None
            return self._index.nearest(unit, shares.segments(row), shares.query)

        return self._take(first, room, "excerpt", unit_of)

    def _lines(
        self, room: Room, query: Collection[int], quoted: Collection[int]
    ) -> list[ExcerptChoice]:
        """Choose important lines of answers."""
        chosen = []
        lines = telling_lines(
            self._history, self._corpus, self._fused, self._allowed, query, quoted
        )
        for line in lines:
            if room.excerpts < LEAST_LINE:
                break
            text = self._index.text(line.span)
            path = self._paths.missing(line.row) if self._paths else 0
            size = line.tokens + LABEL
            if not room.fits(size, path) or self._shown.repeats(text):
                continue
            room.pay(size, path)
            if self._paths:
                self._paths.open_path(line.row)
            self._told.add(line.row)
            chosen.append(self._choice(line.span, line.tokens, "line", line.row))
            self._numbers[self._shown.add(text)] = chosen[-1]
        return chosen

    def left_out(self, limit: int = 20) -> list[int]:
        """Return the best passages that did not fit."""
        first = (int(row) for row in self._order[: 20 * limit])
        left = (row for row in first if self._unit(row) is not None and row not in self._told)
        return list(islice(left, limit))

    # -- choosing ----------------------------------------------------------------------------

    def _take(
        self,
        rows: NDArray[np.int64],
        room: Room,
        reason: str,
        unit_of: Callable[[int], Unit | None] | None = None,
    ) -> list[ExcerptChoice]:
        """Choose units in the order of these rows; `unit_of`: the unit of a row, None if it is
        already chosen."""
        chosen: list[ExcerptChoice] = []
        failed = judged = 0
        for row in rows.tolist():
            if failed > PATIENCE or judged > LOOKED_AT or room.excerpts < 2 * LABEL:
                break
            unit = (unit_of or self._unit)(row)
            if unit is None:
                continue
            if unit.tokens + LABEL > room.excerpts:
                failed += 1
                continue
            judged += 1
            choices = self._judged(unit, reason)
            if choices is None or self._adds_too_many_fragments(choices):
                continue
            if not self._pay(choices, room):
                failed += 1
                continue
            failed = 0
            self._taken.add(unit.key)
            if unit.key < 0 and self._history.facts[unit.span.message].role == "user":
                # If the message fits whole later, this part of it is removed again.
                self._taken.discard(unit.span.message)
            chosen += choices
        return chosen

    def _adds_too_many_fragments(self, choices: Sequence[ExcerptChoice]) -> bool:
        """Return True if one of these is a fragment and enough fragments are chosen already."""
        enough = self._fragments > MOST_FRAGMENTS * len(self._numbers)
        return enough and any(map(self._is_fragment, choices))

    def _is_fragment(self, choice: ExcerptChoice) -> bool:
        return choice.tokens < FRAGMENT and not self._index.is_whole(choice.span)

    def _pay(self, choices: Sequence[ExcerptChoice], room: Room) -> bool:
        """Choose these, with their paths, if there is room."""
        size = size_of(choices)
        rows = {row_at(self._corpus, choice.span) for choice in choices}
        path = sum(map(self._paths.missing, rows)) if self._paths else 0
        if not room.fits(size, path):
            return False
        room.pay(size, path)
        self._fragments += sum(map(self._is_fragment, choices))
        for choice in choices:
            if choice.reason == "file":  # of several passages
                self._taken.update(self._index.keys_in(choice.span))
        for row in sorted(rows):
            self._taken.add(self._index.unit(row).key)
            if self._paths:
                self._paths.open_path(row)
        for choice in choices:
            said = self._index.runs(choice.span)
            self._drop_shorter(choice, said, room)
            self._numbers[self._shown.add(self._index.text(choice.span), said)] = choice
        return True

    def _judged(self, unit: Unit, reason: str, steps: int = STEPS) -> list[ExcerptChoice] | None:
        """Return the unit, or its replacement; None if it is visible already. `steps`: limit of
        moves to newer versions, since in a text that changes a little each time every version has a
        newer one."""
        index = self._index
        if index.is_command(unit):
            self._taken.add(unit.key)
            return None
        versions = list(index.versions(unit))
        newer = (other for other in versions if other.span > unit.span)
        newest = next(newer, None) if index.is_output(unit) else None  # a story has no versions
        if newest and steps:
            older = self._older(unit, newest, reason) or []
            if newest.key not in self._taken and self._allowed[newest.row]:
                return [*(self._judged(newest, reason, steps - 1) or []), *older] or None
            return older or None
        text = index.text(unit.span)
        if self._shown.repeats(text, index.runs(unit.span)):
            self._taken.add(unit.key)
            return self._pieces(unit, text, self._shown.lacking(text), reason)
        pieces = index.pieces(unit.span)
        if len(pieces) > 1:
            shown = self._shown
            new = [
                piece for piece in pieces if not shown.repeats(index.text(piece), index.runs(piece))
            ]
            if len(new) < len(pieces):
                return [
                    self._choice(piece, tokens.count(index.text(piece)), reason, unit.row)
                    for piece in new
                ]
        same = [other for other in versions if equal(text, index.text(other.span))]
        also = tuple(sorted({other.span.message for other in same} - {unit.span.message}))
        changed = not newest and index.is_output(unit) and len(same) < len(versions)
        upto = self._cut - 1 if changed else -1
        return [self._choice(unit.span, unit.tokens, reason, unit.row, also=also, newest=upto)]

    def _older(self, unit: Unit, newer: Unit, reason: str) -> list[ExcerptChoice] | None:
        """Return the parts in which an older version differs, at the place of the older one."""
        self._taken.add(unit.key)
        text, said = self._index.text(unit.span), self._index.text(newer.span)
        if equal(text, said) or not says_more(text, said):
            return None
        return self._pieces(unit, text, differences(text, said), reason, newer.span.message)

    def _pieces(
        self,
        unit: Unit,
        text: str,
        spans: Iterable[tuple[int, int]],
        reason: str,
        newer: int = -1,
    ) -> list[ExcerptChoice] | None:
        """Return the parts of a unit's text that are not visible yet, at its place."""
        if self._fused[unit.row] <= 0:
            return None
        choices = []
        for low, high in spans:
            piece = text[low:high]
            if not self._shown.repeats(piece):
                span = TextSpan(unit.span.message, unit.span.start + low, unit.span.start + high)
                size = tokens.count(piece)
                choices.append(self._choice(span, size, reason, unit.row, newer=newer))
        return choices or None

    def _choice(
        self,
        span: TextSpan,
        size: int,
        reason: str,
        row: int,
        *,
        also: tuple[int, ...] = (),
        newest: int = -1,
        newer: int = -1,
    ) -> ExcerptChoice:
        rank = int(self._ranks[row])
        return ExcerptChoice(span, size, reason, row, also, newest, newer, rank)

    def _drop_shorter(self, choice: ExcerptChoice, said: frozenset[int], room: Room) -> None:
        """Remove choices contained in a longer text that is quoted now."""
        for number in self._shown.inside(self._index.text(choice.span), said):
            if (other := self._numbers.pop(number, None)) is not None:
                self._dropped.add(other.span)
                self._fragments -= self._is_fragment(other)
                room.excerpts += other.tokens + LABEL

    def _file_unit(self, row: int) -> Unit | None:
        """Return a piece of a file that is long enough to be edited."""
        unit = self._unit(row)
        return unit and self._index.widened(unit, FILE_PIECE, self._taken)

    def _unit(self, row: int, most: int = WHOLE) -> Unit | None:
        """Return the unit of a passage; None if it is already chosen."""
        if self._index.message_of(row) in self._taken:
            return None
        unit = self._index.unit(row, most)
        return None if unit.key in self._taken else unit


def size_of(choices: Iterable[ExcerptChoice]) -> int:
    """Return the tokens of choices with their labels."""
    return sum(choice.tokens + LABEL for choice in choices)


def lopsided(corpus: Corpus, before: NDArray[np.bool_]) -> bool:
    """Return True if messages of the assistant are about three times as long as the user's."""
    mine = before & (corpus.kind == USER)
    theirs = before & (corpus.kind != USER)
    # Passages are in order: a change of the number means a new message.
    counts = [1 + int(np.count_nonzero(np.diff(corpus.message[side]))) for side in (mine, theirs)]
    means = [
        float(corpus.tokens[side].sum()) / n for side, n in zip((mine, theirs), counts, strict=True)
    ]
    return means[1] >= LOPSIDED * max(1.0, means[0])


Curve = tuple[tuple[float, ...], tuple[float, ...]]


@dataclass(frozen=True, slots=True)
class BudgetSplit:
    """Shares of a memory message's budget, as curves (budgets, shares), interpolated linearly.
    `outline`: summary lines; `talk`: the same if messages are short, `lines`: the most
    of it if files are in hand, both at any budget; `hand`: passages of these files. `user`, `lead`
    and `answers`: used if answers are long (docs/decisions/archive.md#0005, 0016)."""

    outline: Curve
    rules: float
    ask: float
    trail: float
    user: float
    lead: Curve = ((0,), (0,))
    answers: float = 0
    talk: float = 0.05
    hand: float = 0.25
    lines: float = 0.07

    def for_long_answers(self, budget: int, ranked: RankedHistory) -> Shares:
        lead = int(np.interp(budget, *self.lead) * budget)
        shares = (lead, int(self.user * budget), int(self.answers * budget))
        return Shares(*shares, ranked.query, ranked.ranking.segments)


# An answer for the present question consists mainly of excerpts; a message that stays for many
# turns needs its outline, because excerpts chosen for one question hardly help with another.
ONE_SHOT = BudgetSplit(
    ((2_000, 4_000, 8_000), (0.10, 0.15, 0.20)),
    rules=0.2,
    ask=0.1,
    trail=0,
    user=0.6,
    lead=((2_000, 4_000, 8_000), (0.3, 0.25, 0.1)),
    answers=0.2,
)
LASTING = BudgetSplit(((500, 2_000), (0.3, 0.5)), rules=0.2, ask=0.57, trail=0.2, user=0.5)
