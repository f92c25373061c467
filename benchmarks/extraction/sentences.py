"""Single sentences of a user's own prose: each is stored or skipped with the right reason.

`cases/sentences*.txt`, written by hand before the rules were changed for them. Of each pair the
rules were chosen on the first, and the second was looked at afterwards; `sentences_last` was
written after that, and `sentences_added` before the grammars of its languages. First figures:
docs/decisions/0058-sentences-stored-or-skipped.md. A sentence is right if what is stored of it has
the words of its label, or if nothing is stored and the reason is one of those that a reader
accepts. No outside data.

`python -m benchmarks.extraction.sentences NAME` prints what is wrong.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable
from dataclasses import dataclass, field

from benchmarks.extraction.conversations import SAID, LabelledConversation, Said, conversations
from benchmarks.report import Row
from benchmarks.subject import Bench
from memtree.memories.rule_extraction import extract

FILES = (
    "sentences",
    "sentences_unseen",
    "sentences_abroad",
    "sentences_abroad_unseen",
    "sentences_last",
    "sentences_added",
)
RIGHT, PRECISION = 90.0, 95.0  # percent
UNKNOWN = "fr pt it nl ru".split()  # languages in which only precision is promised


@dataclass(slots=True)
class SentenceScore:
    """Messages by what became of them; `errors` tells each that is not right."""

    messages: int = 0
    right: int = 0
    stored: int = 0
    stored_right: int = 0
    labelled: int = 0
    found: int = 0
    errors: list[str] = field(default_factory=list)

    @property
    def precision(self) -> float:
        return 100 * self.stored_right / self.stored if self.stored else 100.0

    def add(self, said: Said) -> None:
        extraction = extract(said.text, SAID)
        texts = [candidate.text for candidate in extraction.candidates]
        reasons = [str(skip.reason) for skip in extraction.skipped]
        good = [any(label.is_in(text) for label in said.labels) for text in texts]
        all_found = all(any(label.is_in(text) for text in texts) for label in said.labels)
        skipped = not texts and any(reason in said.reasons for reason in reasons)
        right = all(good) and all_found if said.labels else skipped
        self.messages += 1
        self.right += right
        self.stored += len(texts)
        self.stored_right += sum(good)
        self.labelled += bool(said.labels)
        self.found += bool(said.labels) and all_found
        if not right:
            self.errors.append(f"{said.text} -> {texts} {reasons}")


def score(cases: Iterable[LabelledConversation]) -> SentenceScore:
    total = SentenceScore()
    for case in cases:
        for said in case.messages:
            total.add(said)
    return total


async def run(bench: Bench) -> tuple[list[Row], list[str]]:
    rows: list[Row] = []
    for name in FILES:
        cases = conversations(f"{name}.txt")
        by_language = name not in FILES[:2]
        kinds = dict.fromkeys(case.kind for case in cases) if by_language else {"": None}
        for kind in kinds:
            total = score(case for case in cases if kind in ("", case.kind))
            label = f"{name} {kind}".strip()
            known = kind not in UNKNOWN
            rows += [
                Row(f"{label}: sentences", total.messages),
                Row(f"{label}: right", 100 * total.right / total.messages, "%", RIGHT * known),
                Row(f"{label}: precision", total.precision, "%", PRECISION),
                Row(f"{label}: stored, right", total.stored_right),
                Row(f"{label}: stored, wrong", total.stored - total.stored_right),
                Row(f"{label}: found of {total.labelled}", total.found),
            ]
    return rows, []


def main() -> None:
    for name in sys.argv[1:]:
        for case in conversations(f"{name}.txt"):
            total = score([case])
            print(f"== {case.kind}: {total.right} of {total.messages}", *total.errors, sep="\n  ")


if __name__ == "__main__":
    main()
