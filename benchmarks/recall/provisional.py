"""The first request of a history that nobody has seen: what it finds without an index and
without vectors, beside the same when all is indexed; and how long it takes.
"""

from __future__ import annotations

import time
from collections.abc import Iterable
from dataclasses import dataclass, field

from benchmarks.data import ADVERSARIAL, Conversation
from benchmarks.report import Row, promises
from benchmarks.session import SMALL, first
from benchmarks.subject import (
    Bench,
    Subject,
    asked,
    evidence,
    open_subject,
    percent,
    share,
    with_parts,
)
from memtree.context.answer_state import State
from memtree.context.context_memory import CompressRequest
from memtree.jobs.embedding import NoQueue

LOCOMO_TARGET, BEAM_TARGET, SESSION_TARGET = 4_000, 8_000, 20_000
EVERY = 2  # of the questions: for each one, the history is new
COLD_GOAL = 3  # seconds at a million tokens


@dataclass(slots=True)
class Pair:
    cold: list[float] = field(default_factory=list)
    indexed: list[float] = field(default_factory=list)
    provisional: list[float] = field(default_factory=list)


async def run(bench: Bench) -> tuple[list[Row], list[str]]:
    async with (
        open_subject(bench.keep, "provisional") as indexed,
        open_subject(None, "cold") as cold,
    ):
        cold.runtime = with_parts(cold.runtime, queue=NoQueue())  # vectors never come
        pair = await _measure(cold, indexed, bench.data.locomo(), LOCOMO_TARGET)
        rows = _rows(f"locomo at {LOCOMO_TARGET}", pair)
        pair = await _measure(cold, indexed, bench.data.beam("100k"), BEAM_TARGET, "user")
        rows += _rows(f"beam 100k, user evidence at {BEAM_TARGET}", pair)
        rows += await _times(cold, bench)
    answers = cold.tally.answers + indexed.tally.answers
    broken = [*cold.tally.broken, *indexed.tally.broken]
    return [*rows, *promises(answers, len(broken))], broken


async def _measure(
    cold: Subject,
    indexed: Subject,
    chats: Iterable[Conversation],
    target: int,
    role: str | None = None,
) -> Pair:
    pair = Pair()
    for chat in chats:
        await indexed.learn(chat.id, chat.messages)
        for number, probe in enumerate(chat.probes[::EVERY]):
            texts = evidence(probe, role)
            if not texts or probe.kind == ADVERSARIAL:
                continue
            ask = asked(f"{chat.id}, {number}", chat.messages, probe.question, target)
            answer, reply = await cold.answered(ask, f"cold {ask.tenant} at {target}")
            pair.provisional.append(float(answer.state is State.PROVISIONAL))
            pair.cold.append(share(texts, reply.visible))
            reply = await indexed.question(chat.id, chat.messages, probe.question, target)
            pair.indexed.append(share(texts, reply.visible))
    return pair


def _rows(name: str, pair: Pair) -> list[Row]:
    cold, indexed = percent(pair.cold), percent(pair.indexed)
    return [
        Row(f"{name}, cold", cold, "%"),
        Row(f"{name}, indexed", indexed, "%"),
        Row(f"{name}, cold over indexed", cold / indexed if indexed else 0.0),
        Row(
            f"{name}, cold answers that say {State.PROVISIONAL}",
            percent(pair.provisional),
            "%",
            100,
        ),
    ]


async def _times(cold: Subject, bench: Bench) -> list[Row]:
    """The first answers about the coding session; a process of stage 1 runs by then."""
    rows: list[Row] = []
    history = bench.data.coding_session()
    for name, part in (("100k", first(history, SMALL)), ("1m", history)):
        ask = CompressRequest(
            name, tuple(part), target=SESSION_TARGET, window=1_000_000, mode="stable"
        )
        started = time.perf_counter()
        answer = await cold.runtime.memory.compress(ask)
        took = time.perf_counter() - started
        goal = COLD_GOAL if name == "1m" else None
        rows += [
            Row(f"coding session {name}, cold answer", took, "s", goal, True),
            Row(
                f"coding session {name}, says {State.PROVISIONAL}",
                float(answer.state is State.PROVISIONAL),
                "",
                1,
            ),
        ]
    return rows
