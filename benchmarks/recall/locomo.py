"""Talks between two people: is the turn that answers the question in what the model sees? No
judge, no model.

The sets are LoCoMo, REALTALK and LoCoMo-Plus, which have one form. Beside the product stand the
day's work (`plain_rival`), BM25 and the newest turns, asked the same questions in the same run.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from benchmarks.data import ADVERSARIAL, Conversation
from benchmarks.recall.baselines import Turns
from benchmarks.recall.plain_rival import PlainRival
from benchmarks.report import Row, promises
from benchmarks.subject import Bench, Subject, evidence, open_subject, percent, share

TARGETS = (2_000, 4_000, 8_000)
GOALS: dict[str, dict[int, float]] = {
    "locomo": {2_000: 88, 4_000: 93, 8_000: 97},
    "realtalk": {2_000: 85, 4_000: 91.5, 8_000: 95.5},
    "plus": {2_000: 28, 4_000: 42, 8_000: 65},
}
KIND_GOALS = {  # LoCoMo at 4k
    "multi-hop": 80,
    "open-domain": 70,
    ADVERSARIAL: 99,
}
AHEAD, BEHIND = 2.0, -2.0  # points to the rival: in the mean, and in the worst conversation
DRAWS, SEED = 2_000, 7
OURS, RIVAL, WORDS, NEWEST = "memtree", "the day's work", "BM25", "the newest turns"


@dataclass(frozen=True, slots=True)
class Outcome:
    """The share of a question's evidence that each way shows at one target."""

    talk: str
    kind: str
    target: int
    shares: dict[str, float]


async def run(bench: Bench, name: str = "locomo") -> tuple[list[Row], list[str]]:
    outcomes: list[Outcome] = []
    async with open_subject(bench.keep, name) as subject:
        for talk in bench.data.talks(name):
            await subject.learn(talk.id, talk.messages)
            outcomes += await _measure(subject, talk, bench)
    judged = [outcome for outcome in outcomes if outcome.kind != ADVERSARIAL]
    rows = [row for target in TARGETS for row in _totals(judged, name, target)]
    rows += _kinds(outcomes, name)
    rows += [row for target in TARGETS for row in _by_talk(judged, target)]
    return [
        *rows,
        *promises(subject.tally.answers, len(subject.tally.broken)),
    ], subject.tally.broken


async def _measure(subject: Subject, talk: Conversation, bench: Bench) -> list[Outcome]:
    turns = Turns(talk.messages)
    assert subject.runtime.embedder
    rival = await PlainRival.of(talk.messages, subject.runtime.embedder, bench.keep)
    outcomes = []
    for probe in talk.probes:
        texts = evidence(probe)
        for target in TARGETS:
            reply = await subject.question(talk.id, talk.messages, probe.question, target)
            visible = {
                OURS: reply.visible,
                RIVAL: await rival.shown(probe.question, target),
                WORDS: turns.by_words(probe.question, target),
                NEWEST: turns.newest(probe.question, target),
            }
            shares = {way: share(texts, text) for way, text in visible.items()}
            outcomes.append(Outcome(talk.id, probe.kind, target, shares))
    return outcomes


def _totals(outcomes: Sequence[Outcome], name: str, target: int) -> Iterator[Row]:
    """Each question alike, adversarial ones left out."""
    there = [outcome for outcome in outcomes if outcome.target == target]
    yield Row(f"evidence recall at {target}", _mean(there, OURS), "%", GOALS[name][target])
    for way in (RIVAL, WORDS, NEWEST):
        yield Row(f"  instead: {way} at {target}", _mean(there, way), "%")
    ahead = differences(there)
    low, high = interval(ahead)
    yield Row(f"  less {RIVAL} at {target}", 100 * float(ahead.mean()), "points", AHEAD)
    yield Row(f"  less {RIVAL} at {target}, 95 % from", 100 * low, "points")
    yield Row(f"  less {RIVAL} at {target}, 95 % to", 100 * high, "points")


def _kinds(outcomes: Sequence[Outcome], name: str) -> Iterator[Row]:
    goals = KIND_GOALS if name == "locomo" else {}
    grouped: dict[tuple[str, int], list[Outcome]] = defaultdict(list)
    for outcome in outcomes:
        grouped[outcome.kind, outcome.target].append(outcome)
    for (kind, target), group in sorted(grouped.items()):
        goal = goals.get(kind) if target == 4_000 else None
        yield Row(f"{kind} at {target}", _mean(group, OURS), "%", goal)
        yield Row(f"  instead: {RIVAL}, {kind} at {target}", _mean(group, RIVAL), "%")


def _by_talk(outcomes: Sequence[Outcome], target: int) -> Iterator[Row]:
    """The product and the rival in each conversation, and where it is furthest behind."""
    grouped: dict[str, list[Outcome]] = defaultdict(list)
    for outcome in outcomes:
        if outcome.target == target:
            grouped[outcome.talk].append(outcome)
    ahead = {talk: 100 * float(differences(group).mean()) for talk, group in grouped.items()}
    for talk, group in grouped.items():
        yield Row(f"{talk} at {target}", _mean(group, OURS), "%")
        yield Row(f"  {talk} at {target}, less {RIVAL}", ahead[talk], "points")
    mean = percent([_mean(group, OURS) / 100 for group in grouped.values()])
    yield Row(f"mean of conversations at {target}", mean, "%")
    yield Row(
        f"worst conversation at {target}, less {RIVAL}", min(ahead.values()), "points", BEHIND
    )


def _mean(outcomes: Sequence[Outcome], way: str) -> float:
    return percent([outcome.shares[way] for outcome in outcomes])


def differences(outcomes: Sequence[Outcome]) -> NDArray[np.float64]:
    """Return what the product shows more than the rival, question by question."""
    return np.array([outcome.shares[OURS] - outcome.shares[RIVAL] for outcome in outcomes])


def interval(
    values: NDArray[np.float64],
) -> tuple[float, float]:
    """Return the borders of 95 % of the means of samples drawn with replacement."""
    dice = np.random.default_rng(SEED)
    drawn = dice.integers(len(values), size=(DRAWS, len(values)))
    low, high = np.percentile(values[drawn].mean(axis=1), [2.5, 97.5])
    return float(low), float(high)
