"""Junk: what the rules extract from work with agents, where a user says little of themselves.

Every user message of the agent trajectories and of what real clients sent, of each dialect, each
once, without the blocks that clients rewrite and without side requests. What is counted is memories
per 50 tool rounds (assistant messages that call tools); whether one of them is right, only a reader
can say: `python -m benchmarks.extraction.extraction_junk` prints them, `--coding` those of a long
coding chat as well, which has no tool rounds.
"""

from __future__ import annotations

import argparse
import gzip
import json
import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import date
from pathlib import Path
from typing import Any

from benchmarks.data import Data
from benchmarks.report import Row
from benchmarks.subject import Bench
from memtree.history.message import Message, Volatile
from memtree.history.side_requests import is_side
from memtree.memories.rule_extraction import Candidate, extract
from memtree.statements.fiction import is_role_play

SAID = date(2026, 3, 2)
ROUNDS, MOST = 50, 1.0  # memories of so many tool rounds, at most
VOLATILE = Volatile()


@dataclass(slots=True)
class AgentWork:
    """Sessions of one kind: tool rounds, user messages, and what was extracted from them."""

    name: str
    rounds: int = 0
    messages: int = 0
    extracted: list[tuple[Candidate, str]] = field(default_factory=list)

    def add(self, said: Sequence[tuple[str, str]], rounds: int, known: set[str]) -> None:
        """`said`: (role, text) of the user and the assistant, in order."""
        self.rounds += rounds
        fiction = False
        for role, text in said:
            if role == "user" and text not in known:
                known.add(text)
                self.messages += 1
                found = extract(text, SAID, fiction=fiction).candidates
                self.extracted += [(one, text) for one in found]
            fiction = fiction or is_role_play(text)

    @property
    def per_rounds(self) -> float:
        return ROUNDS * len(self.extracted) / max(1, self.rounds)


def trajectories(data: Data) -> AgentWork:
    work = AgentWork("agent trajectories")
    known: set[str] = set()
    for talk in data.trajectories():
        rounds = sum(bool(message.calls) for message in talk.messages)
        work.add(list(_said(talk.messages)), rounds, known)
    return work


def captures(data: Data) -> AgentWork:
    """The longest request of each client counts the rounds; all of them say something."""
    work = AgentWork("captures")
    for path in sorted((data.root / "captures").glob("*.json.gz")):
        with gzip.open(path) as file:
            bodies = [one["body"] for one in json.load(file) if isinstance(one["body"], dict)]
        known: set[str] = set()
        most = 0
        for body in bodies:
            said, rounds = _read(body)
            work.add(said, max(0, rounds - most), known)
            most = max(most, rounds)
    return work


def coding(data: Data) -> AgentWork:
    work = AgentWork("a coding chat")
    work.add(list(_said(data.coding_session())), 0, set())
    return work


def _said(messages: Sequence[Message]) -> Iterator[tuple[str, str]]:
    for message in messages:
        if message.role in ("user", "assistant"):
            yield message.role, message.view(VOLATILE).text


def _read(body: dict[str, Any]) -> tuple[list[tuple[str, str]], int]:
    """Read the words of a request of any dialect, and count its tool rounds."""
    posted = body.get("messages") or body.get("input") or []
    if not isinstance(posted, list):
        return [], 0
    said: list[tuple[str, str]] = []
    rounds = 0
    for one in posted:
        content = one.get("content")
        parts = content if isinstance(content, list) else [{"type": "text", "text": content or ""}]
        calls = one.get("tool_calls") or one.get("type") == "function_call"
        rounds += bool(calls) or any(part.get("type") == "tool_use" for part in parts)
        text = "".join(part["text"] for part in parts if isinstance(part.get("text"), str))
        if one.get("role") in ("user", "assistant"):
            said.append((one["role"], VOLATILE.strip(text)))
    newest = [Message.of({"role": role, "content": text}) for role, text in said]
    side = bool(newest) and is_side([*newest[:2], newest[-1]], tools=bool(body.get("tools")))
    return ([] if side else said), rounds


async def run(bench: Bench) -> tuple[list[Row], list[str]]:
    rows: list[Row] = []
    for work in (trajectories(bench.data), captures(bench.data)):
        rows += [
            Row(f"{work.name}: tool rounds", work.rounds),
            Row(f"{work.name}: different messages of users", work.messages),
            Row(
                f"{work.name}: memories per {ROUNDS} tool rounds",
                work.per_rounds,
                goal=MOST,
                at_most=True,
            ),
        ]
    return rows, []


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.extraction.extraction_junk")
    parser.add_argument("--coding", action="store_true")
    options = parser.parse_args()
    data = Data(Path(os.environ["MEMTREE_BENCH_DATA"]))
    works = [trajectories(data), captures(data), *([coding(data)] if options.coding else [])]
    for work in works:
        print(f"{work.name}: {work.rounds} rounds, {work.messages} messages of users")
        for found, text in work.extracted:
            source = " ".join(text[found.start : found.end].split())
            print(f"  {found.category}: {found.text}\n      {source}")


if __name__ == "__main__":
    main()
