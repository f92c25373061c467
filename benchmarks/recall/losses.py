"""Where evidence is lost in talks between people: is it forbidden, ranked low, or not paid for?

Beside the product stands its ranking alone, with all tokens spent on whole turns, and with it the
rival, BM25 and the newest turns. Where the ranking alone is not ahead of these, no packing helps.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from benchmarks.data import ADVERSARIAL, Conversation
from benchmarks.recall.baselines import Turns
from benchmarks.recall.locomo import NEWEST, OURS, RIVAL, TARGETS, WORDS
from benchmarks.recall.plain_rival import TALK_OVERHEAD, PlainRival
from benchmarks.report import Row, promises
from benchmarks.subject import Bench, Subject, asked, evidence, open_subject, percent, share
from memtree.ranking.ranked_history import RankedHistory
from memtree.text import tokens
from memtree.unfolding.excerpts.units import FRAGMENT, REPEATED

SETS = ("realtalk", "locomo", "plus")
ALONE = "the ranking alone"
SHORT, REPEATS, UNPAID = "forbidden: short", "forbidden: repeats", "not paid for"
LOW_WORDS, LOW_MEANING = "ranked low by words alone", "ranked low by meaning alone"
LOW, LOW_FUSED = "ranked low by both", "ranked low by neither"
CAUSES = (SHORT, REPEATS, UNPAID, LOW_WORDS, LOW_MEANING, LOW, LOW_FUSED)
Places = NDArray[np.int64]  # of each turn in an order, 0 for the first


@dataclass(frozen=True, slots=True)
class TurnOrders:
    """The turns of a talk as the product ranks them for one question. `fused`: their numbers, the
    best first; `words`, `meaning`: the place of each turn by one of the two scores."""

    fused: list[int]
    words: Places
    meaning: Places

    @classmethod
    def of(cls, ranked: RankedHistory, turns: int) -> TurnOrders:
        ranking, messages = ranked.ranking, ranked.corpus.message

        def order(scores: NDArray[np.float32]) -> NDArray[np.int64]:
            best = np.full(len(ranked.history), -2.0)
            np.maximum.at(best, messages, scores)
            return np.argsort(-best[:turns], kind="stable")

        cosine = ranking.lexical if ranking.cosine is None else ranking.cosine
        words, meaning = order(ranking.lexical), order(cosine)
        fused = order(ranking.fused).tolist()
        return cls(fused, np.argsort(words), np.argsort(meaning))


async def run(bench: Bench) -> tuple[list[Row], list[str]]:
    rows: list[Row] = []
    answers, broken = 0, []
    for name in SETS:
        shares: dict[tuple[str, int], list[float]] = defaultdict(list)
        async with open_subject(bench.keep, name) as subject:
            for talk in bench.data.talks(name):
                await subject.learn(talk.id, talk.messages)
                await _measure(subject, talk, bench, shares)
            answers += subject.tally.answers
            broken += subject.tally.broken
        rows += [
            Row(f"{name} at {target}: {what}", percent(found), "%")
            for (what, target), found in sorted(shares.items(), key=lambda item: item[0][1])
        ]
    return [*rows, *promises(answers, len(broken))], broken


async def _measure(
    subject: Subject,
    talk: Conversation,
    bench: Bench,
    shares: dict[tuple[str, int], list[float]],
) -> None:
    turns = Turns(talk.messages)
    embedder = subject.runtime.embedder
    assert embedder
    rival = await PlainRival.of(talk.messages, embedder, bench.keep)
    for probe in talk.probes:
        if probe.kind == ADVERSARIAL:
            continue
        orders = await _orders(subject, talk, probe.question)
        texts = evidence(probe)
        for target in TARGETS:
            reply = await subject.question(talk.id, talk.messages, probe.question, target)
            paid = turns.filled(orders.fused, probe.question, target, TALK_OVERHEAD)
            shown = {
                OURS: reply.visible,
                ALONE: "\n".join(turns.texts[turn] for turn in paid),
                RIVAL: await rival.shown(probe.question, target),
                WORDS: turns.by_words(probe.question, target),
                NEWEST: turns.newest(probe.question, target),
            }
            for way, visible in shown.items():
                shares[way, target].append(share(texts, visible))
            lost = [
                cause_of(text, turns, orders, paid) for text in texts if text not in reply.visible
            ]
            for cause in CAUSES:
                shares[f"lost, {cause}", target].append(lost.count(cause) / len(texts))


async def _orders(subject: Subject, talk: Conversation, question: str) -> TurnOrders:
    memory = subject.runtime.memory
    posted, index = await memory._newest(asked(talk.id, talk.messages, question, TARGETS[0]))
    orders, _ = await memory._retriever.rank(
        posted, index, question, lambda ranked: TurnOrders.of(ranked, len(talk.messages))
    )
    return orders


def cause_of(text: str, turns: Turns, orders: TurnOrders, paid: Sequence[int]) -> str:
    """Return why a text is not visible. A rank is good where all tokens, spent on turns, reach it:
    so many turns deep each list is searched for it."""
    holding = [turn for turn, said in enumerate(turns.texts) if text in said]
    turn = next((turn for turn in paid if turn in holding), None)
    if turn is not None:
        if turns.texts.count(turns.texts[turn]) >= REPEATED:
            return REPEATS
        return SHORT if tokens.count(turns.texts[turn]) < FRAGMENT else UNPAID
    low_words = all(orders.words[turn] >= len(paid) for turn in holding)
    low_meaning = all(orders.meaning[turn] >= len(paid) for turn in holding)
    if low_words:
        return LOW if low_meaning else LOW_WORDS
    return LOW_MEANING if low_meaning else LOW_FUSED
