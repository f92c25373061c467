"""Excerpts that begin or end inside a message: does the text of the memory message say so?

The text is read as a model reads it. A cut begin is marked by `...` in the label or by `[...]`
right before the piece, a cut end by `[...]` right behind it. White space, blocks that clients
rewrite, the fields around the texts of a call's JSON, sentences of pinned rules and what another
excerpt shows are no cuts.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass
from typing import Any

from benchmarks.invariants import named_part
from benchmarks.quality.kinds import samples
from benchmarks.report import Row, promises
from benchmarks.subject import Bench, open_subject
from memtree.history.message import Message
from memtree.history.volatile_blocks import Volatile
from memtree.unfolding import quotes

GOAL = 2.0  # percent of cut excerpts without a mark
_LABEL = re.compile(r"^[ \t]*[\[\u00b6](\d+)(?:-(\d+))?", re.MULTILINE)
_END_MARK = re.compile(r"\s*(?:(?:```|~~~)\s*)?\[\.\.\.")
_BEGIN_MARK = re.compile(r"\[\.\.\.[^\]\n]*\]\s*(?:(?:```|~~~)\w*\s*)?\Z")
_SHOWN = "\0"
_NEAR = 300  # characters before a piece in which its mark stands
_OWN_TAG = re.compile(
    r"</?(?:context_memory|recalled_context|user_memories|retrieved_documents)>", re.IGNORECASE
)

Excerpt = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Cut:
    """One excerpt: whether it begins or ends inside its message, and is marked there."""

    begins_inside: bool
    begin_marked: bool
    ends_inside: bool
    end_marked: bool


@dataclass(slots=True)
class Cuts:
    excerpts: int = 0
    begins: int = 0
    ends: int = 0
    unmarked_begins: int = 0
    unmarked_ends: int = 0

    def add(self, cut: Cut) -> None:
        self.excerpts += 1
        self.begins += cut.begins_inside
        self.ends += cut.ends_inside
        self.unmarked_begins += cut.begins_inside and not cut.begin_marked
        self.unmarked_ends += cut.ends_inside and not cut.end_marked

    def rows(self, name: str) -> list[Row]:
        cuts = self.begins + self.ends
        unmarked = self.unmarked_begins + self.unmarked_ends
        return [
            Row(f"{name}: cuts without a mark", 100 * unmarked / max(1, cuts), "%", GOAL, True),
            Row(f"  {name}: excerpts", self.excerpts),
            Row(f"  {name}: begin inside, of them unmarked {self.unmarked_begins}", self.begins),
            Row(f"  {name}: end inside, of them unmarked {self.unmarked_ends}", self.ends),
        ]


async def run(bench: Bench) -> tuple[list[Row], list[str]]:
    sums: dict[str, Cuts] = {}
    async with open_subject(bench.keep, "reading") as subject:
        async for sample in samples(bench, subject):
            found = sums.setdefault(sample.name, Cuts())
            text = "\n".join([sample.reply.memory or "", *sample.reply.blocks])
            for cut in cuts(sample.posted, sample.explain["excerpts"], text):
                found.add(cut)
    rows = [row for name, found in sums.items() for row in found.rows(name)]
    return [
        *rows,
        *promises(subject.tally.answers, len(subject.tally.broken)),
    ], subject.tally.broken


def cuts(posted: Sequence[Message], excerpts: Sequence[Excerpt], text: str) -> Iterator[Cut]:
    """Judge each excerpt but those in the list of rules, which are sentences on their own."""
    labels = _labels(text, {excerpt["message"] for excerpt in excerpts})
    for excerpt in excerpts:
        if excerpt["reason"] == "rule":
            continue
        whole = named_part(posted[excerpt["message"]].fields, excerpt["part"])
        piece = whole[excerpt["start"] : excerpt["end"]]
        if not piece.strip():
            continue
        shown = [
            (other["start"], other["end"])
            for other in excerpts
            if other["message"] == excerpt["message"] and other["part"] == excerpt["part"]
        ]
        blank = _around_call(posted[excerpt["message"]], excerpt["part"])
        left_out = _left_out(whole, shown, blank)
        before, label, after = _around(text, piece, excerpt["message"], labels)
        yield Cut(
            left_out[: excerpt["start"]].strip() != "" and _touches(left_out, excerpt["start"], -1),
            "..." in label or bool(_BEGIN_MARK.search(before[-_NEAR:])),
            left_out[excerpt["end"] :].strip() != "" and _touches(left_out, excerpt["end"], 1),
            bool(_END_MARK.match(after[:_NEAR])),
        )


def _around_call(message: Message, part: str) -> Iterator[tuple[int, int]]:
    """Yield what stands around the texts of a call's JSON in this part: fields and switches."""
    for segment in message.segments:
        if segment.part == part and segment.quotable:
            for start, end in quotes.left_out(message):
                if segment.start <= start and end <= segment.end:
                    yield start - segment.start, end - segment.start


def _left_out(
    whole: str, shown: Sequence[tuple[int, int]], blank: Iterable[tuple[int, int]]
) -> str:
    """Return the text of a message part; what is shown as `_SHOWN`, what may be left out as
    blanks."""
    kept = list(whole)
    for start, end in (*Volatile().find(whole), *blank):
        kept[start:end] = " " * (end - start)
    for tag in _OWN_TAG.finditer(whole):
        kept[tag.start() : tag.end()] = " " * len(tag[0])
    for start, end in shown:
        kept[start:end] = _SHOWN * (end - start)
    return "".join(kept)


def _touches(left_out: str, border: int, step: int) -> bool:
    """Return True if the next text in a direction that is not blank is left out, not shown
    elsewhere."""
    text = left_out[border:] if step > 0 else left_out[:border][::-1]
    return text.lstrip()[:1] not in ("", _SHOWN)


def _labels(text: str, numbers: Set[int]) -> list[tuple[int, range]]:
    """Where the words of each label that covers a quoted message begin, and its messages."""
    found = []
    for match in _LABEL.finditer(text):
        covered = range(int(match[1]), int(match[2] or match[1]) + 1)
        if any(number in covered for number in numbers):
            found.append((match.end(), covered))
    return found


def _around(
    text: str, piece: str, number: int, labels: Sequence[tuple[int, range]]
) -> tuple[str, str, str]:
    """The text before a piece, the words of its label, and the text behind it. Where the piece
    stands several times it is the place below a label of its message."""
    at = first = text.find(piece)
    while at >= 0:
        nearest = bisect_right(labels, at, key=lambda label: label[0]) - 1
        if nearest >= 0 and number in labels[nearest][1]:
            words = text[labels[nearest][0] : at].partition("\n")[0]
            return text[:at], words, text[at + len(piece) :]
        at = text.find(piece, at + 1)
    return ("", "", "") if first < 0 else (text[:first], "", text[first + len(piece) :])
