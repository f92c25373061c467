"""Units of quotation: whole short messages, single passages of long ones, and their versions.

The choice among them is made in `excerpt_choice.py`.
"""

from __future__ import annotations

import sys
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from itertools import accumulate, chain, islice

import numpy as np
from numpy.typing import NDArray

from memtree.history.chat_history import History
from memtree.ranking.corpus import Corpus
from memtree.ranking.segments import segments
from memtree.text import terms, tokens
from memtree.tree.node import CODE, TOOL
from memtree.unfolding.call_texts import left_out, without_left_out
from memtree.unfolding.excerpt_duplicates import near_runs, of_a_size, runs
from memtree.unfolding.memory_plan import FoldWindow, Plan, TextSpan

WHOLE = 500  # tokens; a message up to this size is quoted whole or not at all
FRAGMENT = 15  # tokens; a smaller piece of a message is quoted with its neighbour
VERSIONS = 8  # passages that are examined as versions of another
REPEATED = 3  # occurrences from which on a short text counts as a command rather than news


@dataclass(frozen=True, slots=True)
class Unit:
    """A short message or a passage of a long one, identified by passage `row`. `key` distinguishes
    units."""

    span: TextSpan
    tokens: int
    key: int
    row: int


class UnitIndex:
    """The units of a history, with their texts; reads each text once."""

    def __init__(self, history: History, corpus: Corpus, allowed: NDArray[np.bool_]) -> None:
        """`allowed`: passages that may be quoted."""
        self._history, self._corpus, self._allowed = history, corpus, allowed
        self._message, self._tokens = corpus.message, corpus.tokens
        self._start, self._end, self._kind = corpus.start, corpus.end, corpus.kind
        sizes = np.bincount(corpus.message, weights=corpus.tokens) if len(corpus) else np.zeros(1)
        self.message_tokens = sizes
        self._alike: dict[int, list[int]] = {}
        self._runs: dict[TextSpan, frozenset[int]] = {}
        self._texts: dict[int, str] = {}

    def message_of(self, row: int) -> int:
        return int(self._message[row])

    def is_whole(self, span: TextSpan) -> bool:
        """Return True if a span reaches both ends of its message, apart from white space."""
        text = self.text(TextSpan(span.message, 0, sys.maxsize))
        return not text[: span.start].strip() and not text[span.end :].strip()

    def is_allowed(self, unit: Unit) -> bool:
        return bool(self._allowed[unit.row])

    def is_output(self, unit: Unit) -> bool:
        """Return True if the unit is from a file or a tool result."""
        return int(self._kind[unit.row]) in (TOOL, CODE)

    def text(self, span: TextSpan) -> str:
        """Return the text of a span, with blanks in place of parts that a quotation leaves out, so
        that texts are compared as a reader sees them."""
        if span.message >= len(self._history):  # the tree has messages that were not posted
            return ""
        text = self._texts.get(span.message)
        if text is None:
            view = self._history.view(span.message)
            whole = view.text == view.message.text
            text = without_left_out(view.message) if whole else view.text
            self._texts[span.message] = text
        return text[span.start : span.end]

    def pieces(self, span: TextSpan) -> list[TextSpan]:
        """Return the parts of a span that a quotation shows, if it is prose followed by a call's
        JSON; of any other text the span itself."""
        if span.message >= len(self._history):
            return [span]
        view = self._history.view(span.message)
        cuts = left_out(view.message) if view.text == view.message.text else []
        if not cuts:
            return [span]
        borders = [span.start, *chain.from_iterable(cuts), span.end]
        shown = [
            TextSpan(span.message, max(low, span.start), min(high, span.end))
            for low, high in zip(borders[::2], borders[1::2], strict=True)
            if max(low, span.start) < min(high, span.end)
        ]
        return [piece for piece in shown if self.text(piece).strip()]

    def runs(self, span: TextSpan) -> frozenset[int]:
        """Return the three-word runs of a span."""
        span_runs = self._runs.get(span)
        if span_runs is None:
            span_runs = self._runs[span] = runs(self.text(span))
        return span_runs

    def unit(self, row: int, most: int = WHOLE) -> Unit:
        """Return the unit of a passage; `most`: tokens up to which a message is one unit."""
        message = int(self._message[row])
        whole = int(self.message_tokens[message])
        if whole <= most:
            # A number of the column's own type, otherwise the whole column would be converted.
            last = int(self._message.searchsorted(self._message[row], "right")) - 1
            return Unit(TextSpan(message, 0, int(self._end[last])), whole, message, row)
        first, last = self._joined(row)
        size = int(self._tokens[first : last + 1].sum())
        span = TextSpan(message, int(self._start[first]), int(self._end[last]))
        return Unit(span, size, -first - 1, row)

    def widened(self, unit: Unit, least: int, taken: Collection[int]) -> Unit:
        """Return a unit of a long message with its neighbours in that message, the later ones
        first, until it has `least` tokens. `taken`: keys of units that are chosen already."""
        if unit.key >= 0:
            return unit
        first, last = self._joined(unit.row)
        size = unit.tokens
        while size < least:
            if self._is_free(last + 1, last, taken):
                last += 1
                size += int(self._tokens[last])
            elif self._is_free(first - 1, first, taken):
                first -= 1
                size += int(self._tokens[first])
            else:
                break
        span = TextSpan(unit.span.message, int(self._start[first]), int(self._end[last]))
        return Unit(span, size, unit.key, unit.row)

    def keys_in(self, span: TextSpan) -> set[int]:
        """Return the keys of the units that begin in a span."""
        first = row = self.row_at(span)
        while row < len(self._message) and self._message[row] == span.message:
            if int(self._start[row]) >= span.end:
                break
            row += 1
        return {self.unit(each).key for each in range(first, row)}

    def _is_free(self, other: int, row: int, taken: Collection[int]) -> bool:
        return self._are_beside(other, row) and self.unit(other).key not in taken

    def _joined(self, row: int) -> tuple[int, int]:
        """Return the first and last passage of a unit of a long message: one passage, or a fragment
        with its successor, else its predecessor."""
        size, before = self._tokens[row], row - 1
        if size >= FRAGMENT:
            joins = self._are_beside(before, row) and self._tokens[before] < FRAGMENT
            return (before, row) if joins else (row, row)
        if self._are_beside(row + 1, row):
            return row, row + 1
        return (before, row) if self._are_beside(before, row) else (row, row)

    def _are_beside(self, other: int, row: int) -> bool:
        return (
            0 <= other < len(self._message)
            and self._message[other] == self._message[row]
            and bool(self._allowed[other])
        )

    def row_at(self, span: TextSpan) -> int:
        """Return the passage that contains the beginning of a span."""
        return row_at(self._corpus, span)

    def nearest(self, unit: Unit, cosines: NDArray[np.float32], query: Collection[int]) -> Unit:
        """Return the segment of a passage that is nearest to the question, by the cosines of its
        segments and the question's terms in them. Files and outputs with several versions stay
        whole, so that these can be distinguished."""
        if self.is_output(unit) and len(self._alike_rows(unit.row)) > 1:
            return unit
        start, end = int(self._start[unit.row]), int(self._end[unit.row])
        text = self.text(TextSpan(unit.span.message, start, end))
        low, high = nearest_segment(text, cosines, query, FRAGMENT)
        span = TextSpan(unit.span.message, start + low, start + high)
        return Unit(span, tokens.count(text[low:high]), unit.key, unit.row)

    # -- versions ----------------------------------------------------------------------------

    def _alike_rows(self, row: int) -> list[int]:
        rows = self._alike.get(row)
        if rows is None:
            rows = self._alike[row] = self._corpus.alike(row)
        return rows

    def versions(self, unit: Unit) -> Iterator[Unit]:
        """Yield other units that are near-duplicates of this one, newest first."""
        rows = self._alike_rows(unit.row)
        if len(rows) < 2:
            return
        seen = {unit.key}
        for row in islice(reversed(rows), VERSIONS):
            other = self.unit(row)
            if other.key in seen or other.span.message == unit.span.message:
                continue
            seen.add(other.key)
            sizes = of_a_size(self.text(unit.span), self.text(other.span))
            if sizes and near_runs(self.runs(unit.span), self.runs(other.span)):
                yield other

    def is_command(self, unit: Unit) -> bool:
        """Return True if the unit is a few words that are no news, since they occur again and
        again."""
        rows = self._alike_rows(unit.row)
        if unit.tokens >= FRAGMENT or len(rows) < REPEATED:
            return False
        said = self.text(unit.span).split()
        same = sum(self.text(self.unit(row).span).split() == said for row in rows[:VERSIONS])
        return same >= REPEATED


def folded_rows(corpus: Corpus, shown: Plan | FoldWindow) -> NDArray[np.bool_]:
    """Flag the passages before the cut, in messages that are not sent whole."""
    folded = (corpus.message >= shown.head) & (corpus.message < shown.cut) & (corpus.tokens > 0)
    for start, end in shown.pinned:
        folded &= (corpus.message < start) | (corpus.message >= end)
    return np.asarray(folded)


def row_at(corpus: Corpus, span: TextSpan) -> int:
    """Return the passage that contains the beginning of a span."""
    wanted = np.array([span.message, span.message + 1], np.int32)
    low, high = corpus.message.searchsorted(wanted).tolist()
    inside = np.searchsorted(corpus.end[low:high], span.start, "right")
    return int(min(low + inside, max(low, high - 1)))


WORD = 0.1  # added to the cosine, for each term of the question in a segment


def nearest_segment(
    text: str, cosines: NDArray[np.float32], query: Collection[int], least: int = 0
) -> tuple[int, int]:
    """Return the characters [start, end) of a passage's segment nearest to the question, without
    white space at its ends, extended by neighbours until it has `least` tokens. `cosines`: of its
    segments with the question; `query`: the question's terms. The whole text if these are not its
    segments.

    A passage has two to five segments of some fifty tokens. Quoting one of them instead of the
    passage makes room for lower-ranked passages."""
    parts = segments(text)
    if len(parts) != len(cosines):
        return 0, len(text)
    merits = [
        float(cosine) + WORD * sum(term in query for term in terms.terms(part))
        for part, cosine in zip(parts, cosines, strict=True)
    ]
    first = int(np.argmax(merits))
    end = first + 1
    while tokens.count(said := "".join(parts[first:end]).strip()) < least and (
        end < len(parts) or first
    ):
        first, end = (first, end + 1) if end < len(parts) else (first - 1, end)
    start = list(accumulate(map(len, parts), initial=0))[first]
    start += len("".join(parts[first:end])) - len("".join(parts[first:end]).lstrip())
    return start, start + len(said)
