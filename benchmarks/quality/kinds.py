"""Conversations of every kind, and questions about them, for benchmarks that read whole answers."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from benchmarks import stories
from benchmarks.data import Conversation
from benchmarks.invariants import Reply
from benchmarks.recall.midepoch import WINDOW
from benchmarks.subject import Bench, Subject, asked
from memtree.history.message import Message

CODING_TOKENS = 105_000
QUESTIONS = 6
MODES = ("fresh", "stable")


@dataclass(frozen=True, slots=True)
class Kind:
    name: str
    chats: tuple[Conversation, ...]
    target: int


@dataclass(frozen=True, slots=True)
class Sample:
    """One compressed answer: what was posted, what `explain` says, and the answer taken apart."""

    kind: Kind
    chat: Conversation
    mode: str
    posted: Sequence[Message]
    explain: dict[str, Any]
    reply: Reply

    @property
    def name(self) -> str:
        return f"{self.kind.name} at {self.kind.target // 1000}k, {self.mode}"


def kinds(bench: Bench) -> Iterator[Kind]:
    """Yield each kind with the target at which it is read; all of it with `--long`."""
    several = 4 if bench.long else 2
    coding = Conversation("coding", _beginning(bench.data.coding_session()))
    yield Kind("coding", (coding,), 20_000)
    yield Kind("chats", tuple(bench.data.beam("100k"))[:several], 8_000)
    yield Kind("talks", tuple(bench.data.locomo())[:several], 4_000)
    yield Kind("messengers", tuple(bench.data.talks("realtalk"))[-several:], 4_000)
    yield Kind("stories", (Conversation("story", tuple(stories.story(30_000, 3))),), 4_000)
    runs = sorted(bench.data.trajectories(), key=lambda run: -len(run.messages))
    yield Kind("agents", tuple(runs[:4]), 4_000)


async def samples(bench: Bench, subject: Subject) -> AsyncIterator[Sample]:
    """Answer the questions of every conversation in both modes."""
    for kind in kinds(bench):
        for mode in MODES:
            for chat in kind.chats:
                await subject.learn(chat.id, chat.messages)
                for question in questions(chat):
                    ask = asked(chat.id, chat.messages, question, kind.target)
                    ask = replace(ask, mode=mode, window=WINDOW)
                    answer, reply = await subject.answered(ask, f"{chat.id}, {mode}")
                    if reply.memory is not None:
                        explain = answer.explain()
                        yield Sample(kind, chat, mode, ask.messages, explain, reply)


def questions(chat: Conversation) -> list[str]:
    """Questions of the data set, or what people ask: about what was said in the middle."""
    if chat.probes:
        return [probe.question for probe in chat.probes[:QUESTIONS]]
    spoken = [m.text for m in chat.messages if m.role == "user" and len(m.text) > 40] or ["?"]
    picked = [spoken[len(spoken) * at // 4] for at in (1, 2, 3)]
    return [f"What did we decide about this: {text[:200]}" for text in picked]


def _beginning(session: Sequence[Message]) -> tuple[Message, ...]:
    size, end = 0, 0
    while end < len(session) and size < CODING_TOKENS:
        size += len(session[end].text) // 4
        end += 1
    return tuple(session[:end])
