"""Long sessions of agents with much in them, drawn by a seed: several calls at once, thinking with
and without words, system messages in the middle, tools that are loaded, text behind results.

    turns(seed) -> what the user says and what the model answers, step by step
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from tests.made.scripted import Call, Say
from tests.wire.clean import result, said, text
from tests.wire.rule_break import Fields

WORDS = """river bridge lock parser queue socket budget invoice harbour engine ledger compiler
    valley signal packet cursor window branch vector kernel""".split()
REMINDER = text("<system-reminder>\nAlways use tabs.\n</system-reminder>")


@dataclass(frozen=True, slots=True)
class SessionTurn:
    """`said`: by the user; `answers`: of the model, each but the last with calls."""

    said: str
    answers: tuple[Say, ...]


def turns(seed: int, count: int, size: int = 60, *, thinks: bool = False) -> Iterator[SessionTurn]:
    """`size`: words of what a tool or the model says, about. `thinks`: before all that it does."""
    draw = random.Random(seed)
    for number in range(count):
        steps = [_working(draw, number, step, thinks) for step in range(draw.randrange(4))]
        thought = f"thought {number}" if thinks or draw.random() < 0.8 else ""
        steps.append(Say(f"Answer {number}: {prose(draw, size)}", reasoning=thought))
        yield SessionTurn(f"Question {number} about {prose(draw, 6)}?", tuple(steps))


def _working(draw: random.Random, number: int, step: int, thinks: bool) -> Say:
    calls = tuple(
        Call(draw.choice(["Read", "Bash"]), {"path": f"{draw.choice(WORDS)}/{number}-{step}-{i}"})
        for i in range(draw.choice([1, 1, 1, 2, 3]))
    )
    words = draw.choice(["", f"Step {step} of {number}."])
    thought = f"thought {number}.{step}"
    return Say(words, calls, reasoning=thought if thinks else draw.choice(["", thought]))


def prose(draw: random.Random, words: int) -> str:
    return " ".join(draw.choice(WORDS) for _ in range(words))


def tool_output(seed: int, size: int) -> Any:
    """Return what tools say: the same words for the same call."""

    def run(name: str, given: Fields) -> str:
        draw = random.Random(f"{seed} {name} {given}")
        return prose(draw, draw.randrange(size * 2)) if draw.random() < 0.95 else ""

    return run


def eventful(history: list[Fields], draw: random.Random, seen: set[str]) -> None:
    """Something beside the conversation, in the newest messages of a Messages history that has a
    user message last."""
    last = history[-1]
    results = last["content"][0]["type"] == "tool_result"
    chance = draw.random()
    if len(history) == 1:
        last["content"].insert(0, dict(REMINDER))
        history.append({"role": "system", "content": "# Environment: linux"})
    elif results and chance < 0.1:
        last["content"].append(text(f"typed meanwhile {len(history)}"))
    elif chance < 0.2:
        words = f"{draw.randrange(9)} tokens are left"
        history.append({"role": "system", "content": [text(words)]})
    elif chance < 0.25 and not results:
        name = f"toolu_load{len(history)}"
        found = [{"type": "tool_reference", "tool_name": "Later"}]
        call = {"type": "tool_use", "id": name, "name": "ToolSearch", "input": {"query": "later"}}
        words = last["content"][-1]
        history[-1] = said("user", text("Load it."))
        history += [said("assistant", call), said("user", result(name, found), words)]
        seen.add(name)
