"""Evidence recall in `stable` mode, the question asked in the middle of an epoch, beside the same
question unfolded for (`fresh`).

A conversation is replayed turn by turn; each question is a branch of it, so that none meets what
another one left: at its end, or some turns before, since the end is one place in one epoch only.
`midepoch locomo` measures that set alone. Each tenth answer is checked, and none of the one-shot
ones: their own benchmarks do that, and a check costs several times what an answer does.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace

from benchmarks.data import ADVERSARIAL, Conversation
from benchmarks.report import Row, promises
from benchmarks.subject import Bench, Subject, asked, evidence, open_subject, percent, share
from memtree.context.context_memory import CompressRequest
from memtree.history.message import Message

LOCOMO_TARGETS, BEAM_TARGET = (2_000, 4_000, 8_000), 8_000
GOAL = 0.95
CHECKED = 10  # an answer in so many is checked
TURNS = 40  # of a long chat, the last ones are replayed; an epoch is shorter
BACK = (0, 3, 6, 9)  # user messages before the end at which questions branch off, by turns
LONG_SIZES = ("500k", "1m")
NAMES = ("locomo", "beam")
WINDOW = 128_000 + time.time_ns() % 50_000  # no epoch of an earlier run on a kept database goes on


@dataclass(slots=True)
class Pair:
    """Shares of evidence found by either way, and how many questions kept the epoch."""

    mid: list[float] = field(default_factory=list)
    once: list[float] = field(default_factory=list)
    kept: list[float] = field(default_factory=list)
    blocks: list[float] = field(default_factory=list)

    def ratio(self, only_kept: bool) -> float:
        pairs = zip(self.mid, self.once, self.kept, strict=True)
        found = [(mid, once) for mid, once, kept in pairs if kept or not only_kept]
        once = sum(one for _, one in found)
        return sum(mid for mid, _ in found) / once if once else 0.0


async def run(bench: Bench) -> tuple[list[Row], list[str]]:
    rows: list[Row] = []
    sizes = ("100k", *LONG_SIZES) if bench.long else ("100k",)
    async with open_subject(bench.keep, "midepoch") as subject:
        for target in LOCOMO_TARGETS if "locomo" in (bench.sets or NAMES) else ():
            pair = await _measure(subject, bench.data.locomo(), target, None)
            rows += _rows(f"locomo at {target}", pair)
        for size in sizes if "beam" in (bench.sets or NAMES) else ():
            last = None if size == "100k" else TURNS
            pair = await _measure(subject, bench.data.beam(size), BEAM_TARGET, last, "user")
            rows += _rows(f"beam {size}, user evidence", pair)
    return [
        *rows,
        *promises(subject.tally.answers, len(subject.tally.broken)),
    ], subject.tally.broken


async def _measure(
    subject: Subject,
    chats: Iterable[Conversation],
    target: int,
    last: int | None,
    role: str | None = None,
) -> Pair:
    """`last`: turns that are replayed (None: all). `role`: of the evidence looked for."""
    pair = Pair()
    for chat in chats:
        await subject.learn(chat.id, chat.messages)
        epochs = await _replay(subject, chat, target, last)
        asks = [len(chat.messages), *reversed(epochs)]  # a question stands where the user's would
        for number, probe in enumerate(chat.probes):
            end = asks[BACK[number % len(BACK)]]
            history = chat.messages[:end]
            texts = evidence(probe, role)
            if probe.kind == ADVERSARIAL or not _told(texts, history):
                continue
            once = await subject.question(chat.id, history, probe.question, target, check=False)
            ask = asked(chat.id, history, probe.question, target)
            ask = replace(ask, mode="stable", window=WINDOW)
            answer, reply = await subject.answered(
                ask, f"{chat.id} at {target}, mid-epoch", check=number % CHECKED == 0
            )
            pair.once.append(share(texts, once.visible))
            pair.mid.append(share(texts, reply.visible))
            before = max((at for at in epochs if at < end), default=-1)
            pair.kept.append(float(answer.epoch == epochs.get(before)))
            pair.blocks.append(answer.recall_tokens)
    return pair


def _told(texts: Sequence[str], history: Sequence[Message]) -> bool:
    """All evidence stands in this part of the conversation."""
    said = "\n".join(message.text for message in history)
    return bool(texts) and all(text in said for text in texts)


async def _replay(
    subject: Subject, chat: Conversation, target: int, last: int | None
) -> dict[int, str | None]:
    """Each user message in its turn; returns the epoch after each of them."""
    users = [index for index, message in enumerate(chat.messages) if message.role == "user"]
    epochs: dict[int, str | None] = {}
    for number, index in enumerate(users[-last:] if last else users):
        posted = chat.messages[: index + 1]
        ask = CompressRequest(
            chat.id, posted, target=target, hard=True, window=WINDOW, mode="stable"
        )
        where = f"{chat.id} at {target}, message {index}"
        answer = await subject.compress(ask, where, check=number % CHECKED == 0)
        epochs[index] = answer.epoch
    return epochs


def _rows(name: str, pair: Pair) -> list[Row]:
    return [
        Row(f"{name}, mid-epoch", percent(pair.mid), "%"),
        Row(f"{name}, one-shot", percent(pair.once), "%"),
        Row(f"{name}, mid-epoch over one-shot", pair.ratio(False), "", GOAL),
        Row(f"{name}, the same where the epoch was kept", pair.ratio(True)),
        Row(f"{name}, questions", len(pair.kept)),
        Row(f"{name}, questions that kept the epoch", percent(pair.kept), "%"),
        Row(f"{name}, recall blocks in an answer", sum(pair.blocks) / len(pair.blocks), "tokens"),
    ]
