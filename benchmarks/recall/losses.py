"""Where evidence is lost: is it forbidden, ranked low, or not paid for?

Beside the product stands its ranking alone, with all tokens spent on whole turns, and with it the
rival, BM25 and the newest turns. Where the ranking alone is not ahead of these, no packing helps.

`losses realtalk beam` measures these sets alone. Talks are measured whole; of BEAM the first chats
of 100k with the user's evidence, and the hard needles in the first messages of the coding session.
A question is ranked once for all targets, and answers are not checked: the benchmarks of the sets
do that, and an explanation costs several times what an answer does.
"""

from __future__ import annotations

import random
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice

import numpy as np
from numpy.typing import NDArray

from benchmarks.data import ADVERSARIAL, Conversation, Data, Probe
from benchmarks.recall.baselines import LABEL, Turns
from benchmarks.recall.beam import TELLING
from benchmarks.recall.locomo import NEWEST, OURS, RIVAL, TARGETS, WORDS
from benchmarks.recall.needles import as_messages, as_sentences
from benchmarks.recall.plain_rival import CHAT_OVERHEAD, TALK_OVERHEAD, PlainRival
from benchmarks.report import Row
from benchmarks.subject import Bench, Subject, asked, evidence, open_subject, percent, share
from memtree.ranking.ranked_history import RankedHistory
from memtree.ranking.ranking_query import Query
from memtree.text import tokens
from memtree.unfolding.excerpt_duplicates import NEAR, runs
from memtree.unfolding.excerpt_units import FRAGMENT, REPEATED

ALONE = "the ranking alone"
SHORT, COMMAND = "forbidden: short", "forbidden: a command"
ELSEWHERE, PART = "forbidden: quoted elsewhere", "shown in part"
UNPAID = "not paid for"
LOW_WORDS, LOW_MEANING = "ranked low by words alone", "ranked low by meaning alone"
LOW, LOW_FUSED = "ranked low by both", "ranked low by neither"
CAUSES = (
    *(SHORT, COMMAND, ELSEWHERE, PART, UNPAID),
    *(LOW_WORDS, LOW_MEANING, LOW, LOW_FUSED),
)
BEAM_CHATS = 2  # of five
SESSION = 1_560  # messages of the coding session, 170,000 tokens
Places = NDArray[np.int64]  # of each turn in an order, 0 for the first
Shares = dict[tuple[str, int], list[float]]  # by what and target, a share a question


@dataclass(frozen=True, slots=True)
class LossSet:
    """A data set. `overhead`: tokens that a turn of the ranking alone costs beside its text;
    `role`: of the evidence looked for; `by_kind`: recall by kind of question stands there, too."""

    name: str
    chats: Callable[[Data], Iterator[Conversation]]
    overhead: int = CHAT_OVERHEAD
    role: str | None = None
    by_kind: bool = False


def _needles(data: Data) -> Iterator[Conversation]:
    """The hard needles twice: as short messages, and in long texts."""
    session, needles = data.coding_session()[:SESSION], data.hard_needles()
    plantings = {"as short messages": as_messages, "in long texts": as_sentences}
    for name, planting in plantings.items():
        probes = tuple(
            Probe(needle.question, f"{name}, {needle.role}", {needle.role: (needle.text,)})
            for needle in needles
        )
        history = planting(session, needles, random.Random(name))
        yield Conversation("needles", history, probes)


SETS = (
    LossSet("realtalk", lambda data: data.talks("realtalk"), TALK_OVERHEAD),
    LossSet("locomo", lambda data: data.talks("locomo"), TALK_OVERHEAD),
    LossSet("plus", lambda data: data.talks("plus"), TALK_OVERHEAD),
    LossSet("needles", _needles, by_kind=True),
    LossSet("beam", lambda data: islice(data.beam("100k"), BEAM_CHATS), role="user"),
)
NAMES = tuple(each.name for each in SETS)


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
    for one in SETS:
        if bench.sets and one.name not in bench.sets:
            continue
        shares: Shares = defaultdict(list)
        async with open_subject(bench.keep, one.name) as subject:
            for chat in one.chats(bench.data):
                await subject.learn(chat.id, chat.messages)
                await _measure(subject, chat, bench, one, shares)
        rows += [
            Row(f"{one.name} at {target}: {what}", percent(found), "%")
            for (what, target), found in sorted(shares.items(), key=lambda item: item[0][1])
        ]
    return rows, []


async def _measure(
    subject: Subject, chat: Conversation, bench: Bench, one: LossSet, shares: Shares
) -> None:
    turns = Turns(chat.messages)
    embedder = subject.runtime.embedder
    assert embedder
    rival = await PlainRival.of(chat.messages, embedder, bench.keep, one.overhead)
    for probe in chat.probes:
        texts = evidence(probe, one.role)
        if probe.kind == ADVERSARIAL or not texts:
            continue
        orders = await _orders(subject, chat, probe.question)
        plain = {
            ALONE: (orders.fused, one.overhead),
            RIVAL: (await rival.order(probe.question), one.overhead),
            WORDS: (turns.order_by_words(probe.question), LABEL),
        }
        for target in TARGETS:
            reply = await subject.question(
                chat.id, chat.messages, probe.question, target, check=False
            )
            visible = reply.visible
            paid = {
                way: turns.filled(order, probe.question, target, overhead)
                for way, (order, overhead) in plain.items()
            }
            shown = {
                OURS: visible,
                **{way: "\n".join(turns.texts[turn] for turn in paid[way]) for way in plain},
                NEWEST: turns.newest(probe.question, target),
            }
            for way, text in shown.items():
                shares[way, target].append(share(texts, text))
            if one.by_kind:
                shares[f"{OURS}, {probe.kind}", target].append(share(texts, visible))
                shares[f"{ALONE}, {probe.kind}", target].append(share(texts, shown[ALONE]))
            missed = [text for text in texts if text not in visible]
            lost = [cause_of(text, turns, orders, paid[ALONE], visible) for text in missed]
            for cause in CAUSES:
                shares[f"lost, {cause}", target].append(lost.count(cause) / len(texts))


async def _orders(subject: Subject, chat: Conversation, question: str) -> TurnOrders:
    memory = subject.runtime.memory
    posted, index = await memory._newest(asked(chat.id, chat.messages, question, TARGETS[0]))
    orders, _ = await memory._retriever.rank(
        posted, index, Query.of(question), lambda ranked: TurnOrders.of(ranked, len(chat.messages))
    )
    return orders


def cause_of(
    text: str, turns: Turns, orders: TurnOrders, paid: Sequence[int], visible: str = ""
) -> str:
    """Return why a text is not `visible`. A rank is good where all tokens, spent on turns, reach
    it: so many turns deep each list is searched for it."""
    holding = [turn for turn, said in enumerate(turns.texts) if text in said]
    turn = next((turn for turn in paid if turn in holding), None)
    if turn is not None:
        return _unshown(turns.texts[turn], turns, visible)
    low_words = all(orders.words[turn] >= len(paid) for turn in holding)
    low_meaning = all(orders.meaning[turn] >= len(paid) for turn in holding)
    if low_words:
        return LOW if low_meaning else LOW_WORDS
    return LOW_MEANING if low_meaning else LOW_FUSED


def _unshown(said: str, turns: Turns, visible: str) -> str:
    """Return why a turn that ranked well is not shown whole."""
    if tokens.count(said) < FRAGMENT:
        return COMMAND if turns.texts.count(said) >= REPEATED else SHORT
    lines = (line.strip() for line in said.splitlines())
    if any(len(line) >= TELLING and line in visible for line in lines):
        return PART
    own = runs(said)
    if own and len(own & runs(visible)) >= NEAR * len(own):
        return ELSEWHERE
    return UNPAID
