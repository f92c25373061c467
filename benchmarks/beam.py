"""BEAM: evidence of users and of assistants at 8k, by size of the chat and type of question.

Recall counts whole messages. Assistant messages have 1,000 tokens and more, so beside it stands
the share of their lines that is visible, and the share of messages of which any line is.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

from benchmarks.data import BEAM_SIZES
from benchmarks.report import Row, promises
from benchmarks.subject import Bench, Subject, open_subject, percent, share

TARGET = 8_000
USER_GOALS = {"100k": 95.0, "500k": 92.0, "1m": 85.0}
TOUCHED_GOALS = {"100k": 75.0}
KIND_GOALS = {
    ("100k", "instruction_following"): 95.0,
    ("500k", "instruction_following"): 95.0,
    ("1m", "instruction_following"): 95.0,
    ("100k", "event_ordering"): 80.0,
    ("500k", "event_ordering"): 60.0,
    ("1m", "event_ordering"): 40.0,
    ("100k", "preference_following"): 95.0,
    ("500k", "preference_following"): 90.0,
}

Shares = dict[tuple[str, str], list[float]]  # (kind, user | assistant | lines | touched)
TELLING = 40  # characters; a shorter line may stand in any message


async def run(bench: Bench) -> tuple[list[Row], list[str]]:
    rows: list[Row] = []
    async with open_subject(bench.keep, "beam") as subject:
        for size in BEAM_SIZES:
            rows += _rows(size, await _measure(bench, subject, size))
    return [
        *rows,
        *promises(subject.tally.answers, len(subject.tally.broken)),
    ], subject.tally.broken


async def _measure(bench: Bench, subject: Subject, size: str) -> Shares:
    shares: Shares = defaultdict(list)
    for chat in bench.data.beam(size):
        await subject.learn(chat.id, chat.messages)
        for probe in chat.probes:
            reply = await subject.question(chat.id, chat.messages, probe.question, TARGET)
            visible = reply.visible
            for role, texts in probe.evidence.items():
                shares[probe.kind, role].append(share(texts, visible))
                if role == "assistant":
                    shares[probe.kind, "lines"].append(_lines(texts, visible))
                    shares[probe.kind, "touched"].append(_touched(texts, visible))
    return shares


def _lines(texts: Sequence[str], visible: str) -> float:
    """Characters in lines that are visible, of all characters."""
    lines = [line for text in texts for line in text.splitlines() if line.strip()]
    shown = sum(len(line) for line in lines if line in visible)
    return shown / max(1, sum(map(len, lines)))


def _touched(texts: Sequence[str], visible: str) -> float:
    """Messages of which a line stands there, of all messages."""
    found = [
        any(len(line) >= TELLING and line in visible for line in text.splitlines())
        for text in texts
    ]
    return sum(found) / len(found)


def _rows(size: str, shares: Shares) -> list[Row]:
    def of(side: str) -> float:
        return percent([x for (_, role), found in shares.items() if role == side for x in found])

    rows = [
        Row(f"{size} user evidence", of("user"), "%", USER_GOALS[size]),
        Row(f"{size} assistant evidence", of("assistant"), "%"),
        Row(f"{size} assistant evidence, lines", of("lines"), "%"),
        Row(f"{size} assistant evidence, touched", of("touched"), "%", TOUCHED_GOALS.get(size)),
    ]
    for kind, role in sorted(shares):
        if role == "user":
            goal = KIND_GOALS.get((size, kind))
            rows.append(Row(f"{size}   {kind}, user", percent(shares[kind, role]), "%", goal))
    return rows
