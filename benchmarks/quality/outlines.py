"""Measure what an answer shows of what a question asks for, by whose summaries its outline is made
of.

Two figures: evidence, whole messages verbatim (an outline only takes their room), and the words of
the answer wherever they stand (an outline may hold them where no excerpt does).
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import replace

from benchmarks.data import ADVERSARIAL, Probe
from benchmarks.report import Row
from benchmarks.subject import Subject, evidence, percent, share
from memtree.history.message import Message

TARGETS = (2_000, 4_000)
_WORD = re.compile(r"\w+(?:[.,]\d+)*")
_COMMON = frozenset(
    "the and for with that this from was were are his her their they she him has have had you your "
    "not but about into them who what when where which because would could can will yes".split()
)


async def measure(
    name: str, ways: Mapping[str, Subject], messages: Sequence[Message], probes: Sequence[Probe]
) -> list[Row]:
    """Ask every question about an indexed history in each way. Nothing is asked of what the history
    does not hold."""
    found: dict[tuple[str, int, str], list[float]] = defaultdict(list)
    asked = [one for one in probes if one.kind != ADVERSARIAL and evidence(one)]
    for target in TARGETS:
        for probe in asked:
            for way, subject in ways.items():
                reply = await subject.question(name, messages, probe.question, target)
                found["evidence", target, way].append(share(evidence(probe), reply.visible))
                if words := telling(probe):
                    held = [float(one in words_of(reply.visible)) for one in words]
                    found["answer words", target, way].append(sum(held) / len(held))
    rows = [
        Row(f"{name}: {what} at {target}, {way}", percent(shares), "%")
        for (what, target, way), shares in found.items()
    ]
    return [Row(f"{name}: questions", len(asked)), *sorted(rows, key=lambda row: row.name)]


def telling(probe: Probe) -> list[str]:
    """The words of an answer that neither the question has nor any text."""
    known = words_of(probe.question) | _COMMON
    return sorted(word for word in words_of(probe.answer) if len(word) > 2 and word not in known)


def words_of(text: str) -> set[str]:
    return {word.casefold() for word in _WORD.findall(text)}


def within(probes: Sequence[Probe], messages: Sequence[Message]) -> list[Probe]:
    """The probes that have evidence in these messages, without the rest of it."""
    text = "\n\n".join(message.text for message in messages)
    found = (replace(one, evidence=_part(one.evidence, text)) for one in probes)
    return [one for one in found if one.evidence]


def _part(sides: Mapping[str, Sequence[str]], text: str) -> dict[str, tuple[str, ...]]:
    held = {role: tuple(one for one in texts if one in text) for role, texts in sides.items()}
    return {role: texts for role, texts in held.items() if texts}
