"""Read terminal lines that report how something ended: commits, undone changes, tests, errors.

This file does not find such lines in a long output (`clauses.py`).
"""

from __future__ import annotations

import re
from itertools import pairwise

from memtree.digests.clause import Clause
from memtree.language.word_file import WordFile

_DATA = WordFile("all", "command_results")

_EVENT = _DATA.pattern("events", re.IGNORECASE)
_BEGIN = frozenset(("commit", "remove", "revert", "undid ", "undone", "droppe", "rolled"))
_KIND = _DATA.pattern("kinds_of_commit", re.IGNORECASE)
_NUMBERS = re.compile(r"^[ \t>]*(\d{1,6})\b", re.MULTILINE)
_HEAD_PATH = re.compile(
    r"(?<![\w/.])((?:[\w.@~+-]{0,80}/){1,20}[\w@+-][\w.@+-]{0,80}\.[A-Za-z]\w{0,5})\b"
)
_RANGE = re.compile(r"lines (\d+)-(\d+)$")


def outcome(line: str, speaker: str) -> Clause | None:
    """Return a clause that says how something ended, or None if the terminal line does not."""
    match = _EVENT.match(line) if may_end(line) else None
    if match is None:
        return None
    if (number := match["commit"] or match["undone"]) and number.isalpha():
        return None  # a word with these letters
    if commit := match["commit"]:
        made = _KIND.sub("", match["made"], count=1)
        return Clause(
            speaker,
            f"{made} (committed as {commit[:7]})",
            3.4,
            True,
            brief=f"committed as {commit[:7]}",
        )
    if undone := match["undone"]:
        taken = _KIND.sub("", match["taken"], count=1)
        brief = f"commit {undone[:7]} undone"
        return Clause(speaker, f"{brief}: {taken}" if taken else brief, 3.6, True, brief=brief)
    if tests := match["tests"]:
        return Clause(speaker, tests.strip(" ="), 3.2, True)
    if finding := match["finding"]:
        return Clause(speaker, f"{match['at']}: {finding}", 2.4, True, brief=finding)
    return Clause(
        speaker,
        f"{match['error']}{match['why']}",
        2.8,
        True,
        brief=match["error"].rpartition(".")[2],
    )


def may_end(line: str) -> bool:
    """Return True if `outcome` may find something in the line. A cheap test before the pattern is
    tried."""
    return (
        line[0] in "=[0123456789"
        or "Error" in line
        or "Exception" in line
        or line[:6].lower() in _BEGIN
        or (":" in line and "." in line and line.partition(":")[2][:1].isdigit())
    )


def numbered(text: str, head: str = "") -> str:
    """Name the file and lines that a text shows, if it numbers its lines; else return "". `head`:
    the beginning of its message, which may name the file."""
    begins = text[:800].split("\n")[:8]  # a cheap test: most texts have no line numbers
    if sum(line.lstrip(" \t>")[:1].isdigit() for line in begins) < min(2, len(begins)):
        return ""
    numbers = [int(number) for number in _NUMBERS.findall(text[:20_000])]
    if len(numbers) < 4:
        return ""
    steps = sum(after == before + 1 for before, after in pairwise(numbers))
    if 10 * steps < 6 * len(numbers) or len(numbers) < text.count("\n", 0, 20_000) // 3:
        return ""
    match = _HEAD_PATH.search(head or text[:400])
    return f"{match.group(1) + ' ' if match else ''}lines {numbers[0]}-{numbers[-1]}"


def continues(before: Clause, clause: Clause) -> bool:
    """Merge the numbered lines of `clause` into `before` if they follow its lines."""
    first, second = _RANGE.search(before.brief), _RANGE.match(clause.brief)
    if not first or not second or int(first[2]) + 1 != int(second[1]):
        return False
    brief = f"{before.brief[: first.start(2)]}{second[2]}"
    names = clause.text.partition(": ")[2]
    text = before.text.replace(before.brief, brief, 1)
    new = [name for name in names.split(", ") if name and name not in text]
    if new and len(text) + len(names) < 160:
        text += f"{', ' if ': ' in text else ': '}{', '.join(new)}"
    before.text, before.brief = text, brief
    return True
