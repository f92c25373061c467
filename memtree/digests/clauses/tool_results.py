"""Make clauses of tool results and blocks of code, which are not speech.

A result yields its errors or how it ended; code yields its path and the names it defines. Repeated
log lines count as one. This file does not handle sentences (`clauses.py`) or what calls did
(`work_clauses.py`).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from memtree.digests.clauses.boilerplate import is_boilerplate
from memtree.digests.clauses.clause import Clause
from memtree.digests.clauses.clauses import (
    MAX_CLAUSE,
    NUMBER,
    SENTENCES,
    SOURCE_LINE,
    clip,
    merit,
    tidy,
)
from memtree.digests.clauses.outcomes import numbered, outcome
from memtree.digests.clauses.quotations import OTHERS, RESULT, quotation
from memtree.language.word_file import WordFile
from memtree.text.requests import asks, orders

_DATA = WordFile("all", "command_results")

HITS = 24  # error and outcome lines read in one result
ERROR, OUTCOME = 2.6, 1.8
CODE_LINE = -3.0  # used only if there is nothing else

_TROUBLE = _DATA.pattern("troubles")
_COUNTED = re.compile(
    r"(?<![0-9])[0-9]++ (?:passed|failed|errors?|warnings?|tests?)\b"
    r"|xit(?:ed)?(?: with)?(?: code| status)?[: ]+\d+"
)
_ENDS = _DATA.words("endings")
_FINAL_ERROR = re.compile(
    r"(?:\w+\.)*[A-Z]\w*(?:Error|Exception)\b:? ?\S|E {2,}\S"
    r"|error(?:\[\w+\])?:|fatal:"
)
# White space up to the line's end at most: else each of many empty lines would be read again.
_DEFINED = re.compile(
    r"^(?:[^\S\n]|\+)*+(?:\d{1,6}[:|│→]?[^\S\n]*+)?"
    r"(?:(?:export|default|public|private|static|async|pub) )*"
    r"((?:def|class|function|fn|func|interface|struct|trait|enum"
    r"|CREATE TABLE|create table) +\w+)",
    re.MULTILINE,
)
_COMMENT = re.compile(r"^[^\S\n]*+(?:#|//|--) ?([A-Za-z][^\n]{12,})", re.MULTILINE)
_PATH_ALONE = re.compile(r"[/\w.@~+-]*\.\w{1,5}:?$|[\w.-]+(?:/[\w.-]+)+:?$|Makefile|Dockerfile")


def results(text: str, label: str = RESULT, head: str = "") -> Iterator[Clause]:
    """Yield one to three clauses: the errors, how it ended, or the first line and the number of
    lines. Requests are quoted behind `label`. `head`: the beginning of the message, if the text
    does not begin it."""
    for clause in _results(text, head):
        said = clause.text.removeprefix(clause.brief)  # "lines 1-9" is our own wording
        asking = orders(said) if clause.outcome else asks(said)
        yield quotation("tool", clause.text, clause.score, label) if asking else clause


def _results(text: str, head: str) -> Iterator[Clause]:
    if shown := numbered(text, head):
        names = ", ".join(list(dict.fromkeys(_DEFINED.findall(text)))[:4])
        if not names and shown.startswith("lines "):  # only their words tell which file
            names = " ".join(words for line in _first_line(text) for words in line.text.split()[:9])
        yield Clause("tool", f"{shown}: {names}" if names else shown, 0.9, brief=shown)
        return
    troubles = _lines_of(_TROUBLE, text)
    real = [
        line
        for line in troubles
        if (not SOURCE_LINE.match(line) or _FINAL_ERROR.match(line)) and not is_boilerplate(line)
    ]
    final = [line for line in real if _FINAL_ERROR.match(line)]
    errors = _collapsed([*final[-1:], *real], 2)
    for error in errors:
        yield outcome(error, "tool") or Clause(
            "tool", error, ERROR + min(merit(error), 2.0), outcome=True
        )
    ended = [*_lines_of(_COUNTED, text), *_endings(text)]
    outcomes = _collapsed([line for line in ended if line not in real], 2)
    for line in outcomes:
        yield outcome(line, "tool") or Clause(
            "tool", line, OUTCOME + min(merit(line), 1.5), outcome=True
        )
    if not errors and not outcomes:
        yield from _first_line(text)


def _first_line(text: str) -> Iterator[Clause]:
    lines = [line for line in text.split("\n") if line.strip(" \r\t>#|-=*\"'.")]
    for line in lines[:8]:
        shown = clip(tidy(line), 120)
        if len(shown) > 1 and not (len(shown) > 60 and " " not in shown):
            more = f" ({len(lines)} lines)" if len(lines) > 3 else ""
            yield Clause("tool", shown + more, 0.3 + min(0.5 * merit(shown), 0.8))
            return


def _endings(text: str) -> Iterator[str]:
    lines = text.split("\n")
    for line in (
        lines if len(lines) <= SENTENCES else lines[: SENTENCES // 2] + lines[-SENTENCES // 2 :]
    ):
        line = line.lstrip("> \t*-")
        if line.partition(" ")[0] in _ENDS:
            yield tidy(line[: 2 * MAX_CLAUSE])


def _lines_of(pattern: re.Pattern[str], text: str) -> list[str]:
    """Return the lines of `text` that hold a match, tidied."""
    lines: list[str] = []
    end = -1
    for match in pattern.finditer(text):
        if match.start() < end:
            continue
        start = text.rfind("\n", 0, match.start()) + 1
        end = text.find("\n", match.end())
        end = len(text) if end < 0 else end
        # A line of thousands of characters is data: the text around the match is enough.
        start = max(start, match.start() - MAX_CLAUSE // 2)
        lines.append(tidy(text[start : min(end, match.end() + MAX_CLAUSE)]))
        if len(lines) == HITS:
            break
    return [line for line in lines if line]


def _collapsed(lines: Iterable[str], most: int) -> list[str]:
    """Return the first `most` lines that differ in more than digits, with their counts."""
    counts: dict[str, int] = {}
    shown: dict[str, str] = {}
    for line in lines:
        key = NUMBER.sub("0", line)[:60]
        counts[key] = counts.get(key, 0) + 1
        shown.setdefault(key, line)
    return [
        clip(line, 150) + (f" (x{counts[key]})" if counts[key] > 2 else "")
        for key, line in list(shown.items())[:most]
    ]


def code(role: str, text: str, before: list[Clause]) -> list[Clause]:
    """Return a clause of the names a block of code defines, after the path that stands before
    it."""
    names = list(dict.fromkeys(_DEFINED.findall(text)))[:5]
    if not names and _TROUBLE.search(text):
        clauses = list(results(text, OTHERS))
        for clause in clauses:
            clause.speaker = role
        return clauses
    path = ""
    if before and before[-1].speaker == role and _PATH_ALONE.match(before[-1].text):
        path = before.pop().text.rstrip(":") + ": "
    comment = _COMMENT.search(text)
    said = clip(tidy(comment.group(1)), 90) if comment else ""
    shown = ", ".join(names) or ("" if asks(said) else said)
    if not (path or shown):
        lines = numbered(text)
        if lines:
            return [Clause(role, lines, 0.9, brief=lines)]
        first = _first_line(text.strip("`~\n"))
        return [
            quotation(role, clause.text, CODE_LINE, OTHERS)
            if asks(clause.text)
            else Clause(role, clause.text, CODE_LINE)
            for clause in first
        ]
    label = f"{path}{shown or 'code'}"
    return [Clause(role, label, (1.8 if path else 0.9) + 0.1 * len(names), outcome=bool(path))]
