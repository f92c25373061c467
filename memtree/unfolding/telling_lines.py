"""The most informative lines of an answer: list entries, numbers, names, decisions.

Answers of assistants are long, and whole ones leave no room for anything else. One or two lines
from each of many answers show what was recommended where, for a thirtieth of the tokens.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from memtree.digests.clause import promotes
from memtree.history.chat_history import History
from memtree.language.word_file import WordFile
from memtree.ranking.corpus import Corpus
from memtree.text import terms, tokens
from memtree.tree.node import USER
from memtree.unfolding.memory_plan import TextSpan

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
