"""Measure what answers under a hard target spend, and how often the memory message changes.

First a conversation with twenty standing rules in it, at targets from 2,000 to 20,000: more tokens
may never show less, and what an epoch neither spends nor reserves at its begin is little.

Then chats of long answers, made by a generator, in which each request adds 1,200 tokens and asks
something: the epochs that begin, and the tokens of an answer over its target. Last questions about
real conversations, where those are present: the tokens of the answers whose evidence stands before
the cut, so that a larger answer could have shown more of it.
"""

from __future__ import annotations

import random
import statistics
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise

from benchmarks import synthetic
from benchmarks.data import ADVERSARIAL, MissingData
from benchmarks.invariants import size
from benchmarks.report import Row, promises
from benchmarks.subject import Bench, Subject, asked, evidence, open_subject
from memtree.budget import packing
from memtree.budget.packing import TokenLimits
from memtree.context.turn_request import CompressRequest
from memtree.history.chat_history import read
from memtree.history.message import Message, Volatile
from tests.answered import Answered

REQUESTS, STEP, USER = 54, 1_200, 200
EPOCHS = {8_000: 14, 4_000: 27}  # at most, in so many requests
CHATS = (  # target, name, spread of sizes around the mean
    (8_000, "even", 0.0),
    (8_000, "uneven", 0.4),
    (4_000, "even", 0.0),
    (4_000, "uneven", 0.4),
    (20_000, "even", 0.0),
)
TARGETS = (2_000, 4_000, 6_000, 8_000, 10_000, 12_000, 16_000, 20_000)
RULES = [
    f"From now on, never call the {thing} a {other} in your answers."
    for thing, other in zip(
        "ferry harbour lantern orchard violin ledger chimney saddle compass kettle "
        "quarry meadow anvil turret gazebo canal mosaic pantry sundial trellis".split(),
        "barge port torch grove fiddle diary flue seat needle pot "
        "mine field block spire arbour ditch tile larder clock fence".split(),
        strict=True,
    )
]
FRESH_USED, BEGIN_USED = 0.85, 0.9
QUESTIONS, CONVERSATIONS, EVERY = (2_000, 4_000, 8_000), 1, 4
USED = 0.7
SEED = 11
WINDOW = 128_000 + time.time_ns() % 50_000  # no epoch of an earlier run on a kept database goes on


@dataclass(slots=True)
class Spent:
    """`epochs`: that began; `used`: tokens of each answer over its target."""

    epochs: int = 0
    used: list[float] = field(default_factory=list)


async def run(bench: Bench) -> tuple[list[Row], list[str]]:
    rows: list[Row] = []
    async with open_subject(bench.keep, "spending") as subject:
        rows += await _ladder(bench, subject)
        for target, name, spread in CHATS:
            spent = await _chat(subject, target, spread)
            what = f"{name} rounds at {target}"
            label = f"{what}, epochs in {REQUESTS} requests"
            rows.append(Row(label, spent.epochs, "", None if spread else EPOCHS.get(target), True))
            rows.append(
                Row(f"{what}, tokens used", statistics.fmean(spent.used), "of target", USED)
            )
        for target in QUESTIONS:
            rows += await _questions(bench, subject, target)
    return [
        *rows,
        *promises(subject.tally.answers, len(subject.tally.broken)),
    ], subject.tally.broken


async def _ladder(bench: Bench, subject: Subject) -> list[Row]:
    """Unfold a conversation with rules at each target, for a question and as an epoch begins."""
    try:
        chat = next(iter(bench.data.locomo()))
    except MissingData:
        return []
    posted, question = tuple(_ruled(chat.messages)), chat.probes[0].question
    await subject.learn("ladder", posted)
    rows: list[Row] = []
    memory, told = [0], [set[str]()]
    for target in TARGETS:
        ask = replace(asked("ladder", posted, question, target), window=WINDOW)
        history = read("ladder", ask.messages, Volatile())
        if history.tokens <= target:
            break
        fresh = await subject.compress(ask, f"fresh at {target}")
        begun = await subject.compress(replace(ask, mode="stable"), f"stable at {target}")
        packed = packing.begin(history, TokenLimits(target, True, WINDOW), 0)
        memory.append(packed.memory)
        told.append({rule for rule in RULES if rule in _text(fresh) and rule in _text(begun)})
        used = begun.sent_tokens / target
        rows += [
            Row(f"{target}, memory message of an epoch", packed.memory, "tokens"),
            Row(f"{target}, reserved for the next requests", packed.reserved, "tokens"),
            Row(f"{target}, fresh, used", fresh.sent_tokens / target, "of target", FRESH_USED),
            Row(f"{target}, stable, used at the begin", used, "of target"),
            Row(
                f"{target}, stable, used or reserved",
                used + packed.reserved / target,
                "of target",
                BEGIN_USED,
            ),
            Row(f"{target}, rules of {len(RULES)} told", len(told[-1])),
        ]
    falls = sum(one > other for one, other in pairwise(memory))
    lost = sum(len(one - other) for one, other in pairwise(told))
    return [
        *rows,
        Row("larger targets with a smaller memory message", falls, goal=0, at_most=True),
        Row("rules that a larger target lost", lost, goal=0, at_most=True),
    ]


def _ruled(messages: Sequence[Message]) -> Iterator[Message]:
    """The messages, with a rule at the head of each fifth one of the user from the beginning."""
    rules = iter(RULES)
    users = 0
    for message in messages:
        users += message.role == "user"
        rule = next(rules, None) if message.role == "user" and users % 5 == 1 else None
        said = f"{rule}\n{message.text}"
        yield Message.of({"role": "user", "content": said}) if rule else message


def _text(answer: Answered) -> str:
    return "\n".join(Message(raw).text for raw in answer.messages)


async def _chat(subject: Subject, target: int, spread: float) -> Spent:
    spent, epoch, posted = Spent(), None, list[Message]()
    name = f"{spread} at {target}"
    for user, assistant in rounds(spread):
        posted.append(user)
        ask = CompressRequest(
            name, tuple(posted), target=target, hard=True, window=WINDOW, mode="stable"
        )
        answer = await subject.compress(ask, f"{name}, {len(posted)} messages")
        posted.append(assistant)
        if answer.epoch is None:  # below the threshold
            continue
        spent.epochs += answer.epoch != epoch
        epoch = answer.epoch
        spent.used.append(answer.sent_tokens / target)
        if len(spent.used) == REQUESTS:
            break
    return spent


def rounds(spread: float) -> Iterator[tuple[Message, Message]]:
    """A user and an assistant message of `STEP` tokens together, or about that many on average."""
    dice = random.Random(SEED)
    for user, assistant in synthetic.chat(SEED, 100 * (synthetic.USER + synthetic.ASSISTANT)):
        factor = dice.uniform(1 - spread, 1 + spread)
        yield _cut(user, factor * USER), _cut(assistant, factor * (STEP - USER))


def _cut(message: Message, most: float) -> Message:
    """A message of about so many tokens."""
    text = message.text
    while (have := size([Message.of({"role": message.role, "content": text})])) > most + 2:
        text = text[: int(len(text) * most / have)]
    return Message.of({"role": message.role, "content": text})


async def _questions(bench: Bench, subject: Subject, target: int) -> list[Row]:
    used: list[float] = []
    try:
        chats = list(bench.data.locomo())[:CONVERSATIONS]
    except MissingData:
        return []
    for chat in chats:
        await subject.learn(chat.id, chat.messages)
        await _replayed(subject, chat.id, chat.messages, target)
        said = "\n".join(message.text for message in chat.messages)
        for probe in chat.probes[::EVERY]:
            texts = evidence(probe)
            if probe.kind == ADVERSARIAL or not all(text in said for text in texts):
                continue
            ask = asked(chat.id, chat.messages, probe.question, target)
            ask = replace(ask, mode="stable", window=WINDOW)
            answer, reply = await subject.answered(ask, f"{chat.id} at {target}")
            recent = "\n".join(message.text for message in reply.bare)
            if not any(text in recent for text in texts):
                used.append(answer.sent_tokens / target)
    return [
        Row(f"questions at {target}, tokens used", statistics.fmean(used), "of target", USED),
        Row(f"questions at {target}, evidence before the cut", len(used)),
    ]


async def _replayed(
    subject: Subject, tenant: str, messages: tuple[Message, ...], target: int
) -> None:
    for end, message in enumerate(messages, 1):
        if message.role == "user":
            ask = CompressRequest(
                tenant, messages[:end], target=target, hard=True, window=WINDOW, mode="stable"
            )
            await subject.compress(ask, f"{tenant} at {target}, message {end - 1}")
