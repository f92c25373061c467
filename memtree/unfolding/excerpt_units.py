"""Make the units of quotation: short messages, passages of long ones, telling lines of answers.

A unit is a whole short message or a single passage of a long one, with its versions. The choice
among them is made in `excerpt_choice.py`.

The telling lines of an answer are its most informative ones: list entries, numbers, names,
decisions. Answers of assistants are long, and whole ones leave no room for anything else. One or
two lines from each of many answers show what was recommended where, for a thirtieth of the tokens.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate, chain, islice

import numpy as np
from numpy.typing import NDArray

from memtree.digests.clause import promotes
from memtree.history.chat_history import History
from memtree.language.word_file import WordFile
from memtree.ranking.corpus import Corpus
from memtree.ranking.segments import segments
from memtree.text import terms, tokens
from memtree.tree.node import CODE, TOOL, USER
from memtree.unfolding.excerpt_duplicates import near_runs, of_a_size, runs
from memtree.unfolding.memory_plan import FoldWindow, Plan, TextSpan
from memtree.unfolding.quotes import left_out, without_left_out

_DATA = WordFile("en", "telling_lines")

LEAST, MOST = 15, 26  # tokens shown of an answer
ASKED = 0.5  # of the score of the request before an answer, added to the answer's own
ANSWERS = 100  # answers that are examined; a line costs 0.2 ms
REACH = 1_000  # characters of a request that are read
PASSAGES = 3  # of an answer, the best ones
FEW = 8  # tokens of a single line that is too short to stand alone
LONGEST = 60  # tokens of a single line, used if no shorter one is complete
TOO_LONG = 1_000  # size given to a line that may not be part of a run
VISIBLE = 40  # characters; a shorter line says little by itself
_LINE = re.compile(r"[^\n]+")
_ENTRY = re.compile(r"\s{0,12}(?:[-*+•]|\d{1,3}[.)]|\|)\s")
_STRONG = re.compile(r"\*\*[^*\n]{2,80}\*\*|`[^`\n]{2,80}`")
_DIGIT = re.compile(r"\d")
_NAME = re.compile(r"(?<=[^.!?:\s] )[A-Z][a-z]+")
_DECISION = _DATA.pattern("decisions", re.IGNORECASE, shaped=r"\b(?:{})\b".format)
_FILLER = _DATA.pattern("fillers", re.IGNORECASE, shaped=r"\W*(?:{})\b".format)


@dataclass(frozen=True, slots=True)
class LineRun:
    """Characters [start, end) of a text: whole lines with `tokens` in all."""

    start: int
    end: int
    tokens: int


@dataclass(frozen=True, slots=True)
class TellingLine:
    """`row`: the passage of the corpus that contains the line."""

    span: TextSpan
    tokens: int
    row: int


def telling_lines(
    history: History,
    corpus: Corpus,
    fused: NDArray[np.float32],
    allowed: NDArray[np.bool_],
    query: Collection[int],
    quoted: Collection[int],
) -> Iterator[TellingLine]:
    """Return a line or two of each answer of the assistant, best answers first: those that have a
    score themselves or follow a request that has one. `fused`: the score of each passage;
    `allowed`: passages that may be quoted (an answer may stand after the cut and its request before
    it); `query`: terms of the question; `quoted`: messages that are shown already."""
    fused = np.where(allowed, fused, 0)
    best = np.zeros(len(history), np.float32)
    np.maximum.at(best, corpus.message, fused)
    asks = np.unique(corpus.message[corpus.kind == USER])
    before = np.searchsorted(asks, np.arange(len(history))) - 1
    requests = np.where(before >= 0, asks[before], -1) if len(asks) else np.full(len(history), -1)
    scores = best + ASKED * np.where(requests >= 0, best[requests], 0)
    order = np.argsort(-scores, kind="stable")[:ANSWERS]
    for message in map(int, order):
        answers = history.facts[message].role == "assistant" and message not in quoted
        if not answers or scores[message] <= 0:
            continue
        wanted = set(query)
        if requests[message] >= 0:
            wanted |= terms.terms(history.view(int(requests[message])).text[:REACH]).keys()
        low, high = np.searchsorted(corpus.message, [message, message + 1])
        text = history.view(message).text
        for row in low + np.argsort(-fused[low:high], kind="stable")[:PASSAGES]:
            if not allowed[row]:
                continue
            start = int(corpus.start[row])
            run = telling_run(text[start : int(corpus.end[row])], wanted)
            if run is not None:
                span = TextSpan(message, start + run.start, start + run.end)
                yield TellingLine(span, run.tokens, int(row))
                break


def telling_run(text: str, wanted: Collection[int]) -> LineRun | None:
    """Return the best run of lines of a text; `wanted`: terms of the request it answers. None if
    all lines are too long, or together too short. A line that quotes a request is never part of it.
    """
    lines = [match.span() for match in _LINE.finditer(text) if match[0].strip()]
    sizes = tokens.count_many([text[start:end] for start, end in lines])
    for at, (start, end) in enumerate(lines):
        if promotes(text[start:end]):
            sizes[at] = TOO_LONG
    visible = [end - start >= VISIBLE for start, end in lines]
    merits = [_merit(text[start:end], wanted) for start, end in lines]
    best: tuple[float, LineRun] | None = None
    for first, end, size in _runs(sizes, visible) or _runs(sizes, [True] * len(sizes)):
        merit = sum(merits[first:end]) / (end - first)
        if best is None or merit > best[0]:
            best = merit, LineRun(lines[first][0], lines[end - 1][1], size)
    return best[1] if best else None


def _runs(sizes: Sequence[int], visible: Sequence[bool]) -> list[tuple[int, int, int]]:
    """Return (first line, end, tokens) of the runs of a good size that contain a visible line; if
    there are none, of the shortest line."""
    runs = []
    for first in range(len(sizes)):
        size, seen = 0, False
        for last in range(first, len(sizes)):
            size += sizes[last] + (last > first)
            seen = seen or visible[last]
            if size > MOST:
                break
            if size >= LEAST and seen:
                runs.append((first, last + 1, size))
                break
    whole = [i for i, size in enumerate(sizes) if visible[i] and size <= LONGEST]
    if runs or not whole:
        return runs
    shortest = min(whole, key=sizes.__getitem__)
    return [(shortest, shortest + 1, sizes[shortest])] if sizes[shortest] >= FEW else []


def _merit(line: str, wanted: Collection[int]) -> float:
    shared = sum(term in wanted for term in terms.terms(line))
    merit = float(min(shared, 4))
    merit += 1.0 * bool(_ENTRY.match(line))
    merit += 0.5 * bool(_STRONG.search(line)) + 0.5 * bool(_DIGIT.search(line))
    merit += 0.5 * bool(_NAME.search(line)) + 0.5 * bool(_DECISION.search(line))
    return merit - 2.0 * bool(_FILLER.match(line)) - 1.0 * line.rstrip().endswith("?")


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
        first = row = row_at(self._corpus, span)
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
