"""LoCoMo: is the turn that answers the question in what the model sees? No judge, no model."""

from __future__ import annotations

from collections import defaultdict

from benchmarks.data import ADVERSARIAL
from benchmarks.report import Row, promises
from benchmarks.subject import Bench, Subject, open_subject, percent, share

TARGETS = (2_000, 4_000, 8_000)
GOALS = {2_000: 86, 4_000: 91, 8_000: 95}
ADVERSARIAL_GOAL = 98  # at 4k


async def run(bench: Bench) -> tuple[list[Row], list[str]]:
    shares: dict[tuple[str, int], list[float]] = defaultdict(list)
    async with open_subject(bench.keep, "locomo") as subject:
        await _measure(bench, subject, shares)
    rows = [_total(shares, target) for target in TARGETS]
    rows += [
        Row(
            f"{ADVERSARIAL} at {target}",
            percent(shares[ADVERSARIAL, target]),
            "%",
            ADVERSARIAL_GOAL if target == 4_000 else None,
        )
        for target in TARGETS
    ]
    kinds = sorted({kind for kind, _ in shares} - {ADVERSARIAL})
    rows += [Row(f"{kind} at 4000", percent(shares[kind, 4_000]), "%") for kind in kinds]
    return [
        *rows,
        *promises(subject.tally.answers, len(subject.tally.broken)),
    ], subject.tally.broken


async def _measure(
    bench: Bench, subject: Subject, shares: dict[tuple[str, int], list[float]]
) -> None:
    for talk in bench.data.locomo():
        await subject.learn(talk.id, talk.messages)
        for probe in talk.probes:
            texts = [text for side in probe.evidence.values() for text in side]
            for target in TARGETS:
                reply = await subject.question(talk.id, talk.messages, probe.question, target)
                shares[probe.kind, target].append(share(texts, reply.visible))


def _total(shares: dict[tuple[str, int], list[float]], target: int) -> Row:
    """Categories 1 to 4, each question alike."""
    found = [
        one
        for (kind, at), values in shares.items()
        if at == target and kind != ADVERSARIAL
        for one in values
    ]
    return Row(f"evidence recall at {target}", percent(found), "%", GOALS[target])
