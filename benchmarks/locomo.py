"""LoCoMo: is the turn that answers the question in what the model sees? No judge, no model."""

from __future__ import annotations

from collections import defaultdict

from benchmarks.baselines import Turns
from benchmarks.data import ADVERSARIAL
from benchmarks.report import Row, promises
from benchmarks.subject import Bench, Subject, evidence, open_subject, percent, share

TARGETS = (2_000, 4_000, 8_000)
GOALS = {2_000: 87, 4_000: 92, 8_000: 96}
KIND_GOALS = {"multi-hop": 80, "open-domain": 70}  # at 4k
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
    rows += [
        Row(
            f"{kind} at {target}",
            percent(shares[kind, target]),
            "%",
            KIND_GOALS.get(kind) if target == 4_000 else None,
        )
        for kind in kinds
        for target in TARGETS
    ]
    return [
        *rows,
        *_baselines(bench),
        *promises(subject.tally.answers, len(subject.tally.broken)),
    ], subject.tally.broken


async def _measure(
    bench: Bench, subject: Subject, shares: dict[tuple[str, int], list[float]]
) -> None:
    for talk in bench.data.locomo():
        await subject.learn(talk.id, talk.messages)
        for probe in talk.probes:
            texts = evidence(probe)
            for target in TARGETS:
                reply = await subject.question(talk.id, talk.messages, probe.question, target)
                shares[probe.kind, target].append(share(texts, reply.visible))


def _baselines(bench: Bench) -> list[Row]:
    """The same questions without a tree."""
    shares: dict[str, list[float]] = defaultdict(list)
    for talk in bench.data.locomo():
        turns = Turns(talk.messages)
        for probe in talk.probes:
            if probe.kind == ADVERSARIAL:
                continue
            for target in TARGETS:
                for name, visible in (
                    ("the newest turns", turns.newest(probe.question, target)),
                    ("BM25", turns.by_words(probe.question, target)),
                ):
                    shares[f"{name} at {target}"].append(share(evidence(probe), visible))
    return [Row(f"instead: {name}", percent(found), "%") for name, found in shares.items()]


def _total(shares: dict[tuple[str, int], list[float]], target: int) -> Row:
    """Categories 1 to 4, each question alike."""
    found = [
        one
        for (kind, at), values in shares.items()
        if at == target and kind != ADVERSARIAL
        for one in values
    ]
    return Row(f"evidence recall at {target}", percent(found), "%", GOALS[target])
