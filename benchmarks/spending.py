"""What answers under a hard target spend, and how often the memory message changes.

Chats of long answers, made by a generator, in which each request adds 1,200 tokens and asks
something: the epochs that begin, and the tokens of an answer over its target. Then questions about
real conversations, where those are present: the tokens of the answers whose evidence stands before
the cut, so that a larger answer could have shown more of it.
"""

from __future__ import annotations

import random
import statistics
import time
from collections.abc import Iterator
from dataclasses import dataclass, field, replace

from benchmarks import synthetic
from benchmarks.data import ADVERSARIAL, MissingData
from benchmarks.invariants import size
from benchmarks.report import Row, promises
from benchmarks.subject import Bench, Subject, asked, evidence, open_subject
from memtree.context.request import CompressRequest
from memtree.conversation.message import Message

REQUESTS, STEP, USER = 54, 1_200, 200
EPOCHS = {8_000: 14, 4_000: 27}  # at most, in so many requests
CHATS = (  # target, name, spread of sizes around the mean
    (8_000, "even", 0.0),
    (8_000, "uneven", 0.4),
    (4_000, "even", 0.0),
    (4_000, "uneven", 0.4),
    (20_000, "even", 0.0),
)
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
        for target, name, spread in CHATS:
            spent = await _chat(subject, target, spread)
            what = f"{name} rounds at {target}"
            label = f"{what}, epochs in {REQUESTS} requests"
            rows.append(Row(label, spent.epochs, "", None if spread else EPOCHS.get(target), True))
            rows.append(Row(f"{what}, tokens used", statistics.fmean(spent.used), "of target"))
        for target in QUESTIONS:
            rows += await _questions(bench, subject, target)
    return [
        *rows,
        *promises(subject.tally.answers, len(subject.tally.broken)),
    ], subject.tally.broken


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
