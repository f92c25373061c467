"""BEAM: evidence of users and of assistants, by size of the chat and type of question; beside it
what the day's work (`plain_rival`), BM25 and the newest turns show of the user's evidence.

Recall counts whole messages. Assistant messages have 1,000 tokens and more, so beside it stands
the share of their lines that is visible, and the share of messages of which any line is. Without
`--long` there are fewer chats, and none of a million tokens.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from itertools import islice

from benchmarks.data import BEAM_SIZES, Conversation
from benchmarks.recall.baselines import Turns
from benchmarks.recall.plain_rival import CHAT_OVERHEAD, PlainRival
from benchmarks.report import Row, promises
from benchmarks.subject import Bench, Subject, open_subject, percent, share

TARGET = 8_000
TARGETS = {"100k": (4_000, TARGET), "500k": (TARGET,), "1m": (TARGET,)}
CHATS = {"100k": 4, "500k": 1, "1m": 0}  # without --long
USER_GOALS = {"100k": 95.0, "500k": 92.0, "1m": 85.0}
TOUCHED_GOALS = {"100k": 75.0}
KIND_GOALS = {
    ("100k", "instruction_following"): 95.0,
    ("500k", "instruction_following"): 95.0,
    ("1m", "instruction_following"): 95.0,
    ("100k", "event_ordering"): 85.0,
    ("500k", "event_ordering"): 70.0,
    ("1m", "event_ordering"): 50.0,
    ("100k", "preference_following"): 95.0,
    ("500k", "preference_following"): 90.0,
}

Shares = dict[tuple[str, str], list[float]]  # (kind, user | assistant | lines | touched | rival)
RIVALS = ("the day's work", "BM25", "the newest turns")
UNDER = 0.0  # points that no type may stand under BM25
TELLING = 40  # characters; a shorter line may stand in any message


async def run(bench: Bench) -> tuple[list[Row], list[str]]:
    rows: list[Row] = []
    async with open_subject(bench.keep, "beam") as subject:
        for size in BEAM_SIZES:
            chats = list(islice(bench.data.beam(size), None if bench.long else CHATS[size]))
            for chat in chats:
                await subject.learn(chat.id, chat.messages)
            for target in TARGETS[size] if chats else ():
                shares: Shares = defaultdict(list)
                for chat in chats:
                    await _measure(bench, subject, chat, target, shares)
                rows += _rows(size, target, shares)
    return [
        *rows,
        *promises(subject.tally.answers, len(subject.tally.broken)),
    ], subject.tally.broken


async def _measure(
    bench: Bench, subject: Subject, chat: Conversation, target: int, shares: Shares
) -> None:
    assert subject.runtime.embedder
    turns = Turns(chat.messages)
    rival = await PlainRival.of(chat.messages, subject.runtime.embedder, bench.keep, CHAT_OVERHEAD)
    for probe in chat.probes:
        reply = await subject.question(chat.id, chat.messages, probe.question, target)
        visible = reply.visible
        for role, texts in probe.evidence.items():
            shares[probe.kind, role].append(share(texts, visible))
            if role == "assistant":
                shares[probe.kind, "lines"].append(_lines(texts, visible))
                shares[probe.kind, "touched"].append(_touched(texts, visible))
        if users := probe.evidence.get("user"):
            shown = (
                await rival.shown(probe.question, target),
                turns.by_words(probe.question, target),
                turns.newest(probe.question, target),
            )
            for name, text in zip(RIVALS, shown, strict=True):
                shares[probe.kind, name].append(share(users, text))


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


def _rows(size: str, target: int, shares: Shares) -> list[Row]:
    def of(side: str) -> float:
        return percent([x for (_, role), found in shares.items() if role == side for x in found])

    whole = target == TARGET
    name = f"{size} at {target}"
    rows = [
        Row(f"{name} user evidence", of("user"), "%", USER_GOALS[size] if whole else None),
        *(Row(f"  instead: {rival}, {name} user evidence", of(rival), "%") for rival in RIVALS),
        Row(f"{name} assistant evidence", of("assistant"), "%"),
        Row(f"{name} assistant evidence, lines", of("lines"), "%"),
        Row(
            f"{name} assistant evidence, touched",
            of("touched"),
            "%",
            TOUCHED_GOALS.get(size) if whole else None,
        ),
    ]
    for kind, role in sorted(shares):
        if role == "user":
            ours = percent(shares[kind, role])
            goal = KIND_GOALS.get((size, kind)) if whole else None
            rows.append(Row(f"{name}   {kind}, user", ours, "%", goal))
            for rival in RIVALS[:2]:
                ahead = ours - percent(shares[kind, rival])
                judged = UNDER if rival == "BM25" else None
                rows.append(Row(f"{name}     {kind}, less {rival}", ahead, "points", judged))
    return rows
