"""A long session of an agent through our server, every request judged: by the rules of the API (the
fake refuses what breaks them) and beside what was posted."""

from __future__ import annotations

import json
import random
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from tests.http.dialects.vendors import ON, Agent, Side
from tests.wire.agents import MessagesAgent, ResponsesAgent
from tests.wire.clean import tool
from tests.wire.rule_break import Fields
from tests.wire.sessions import SessionTurn, eventful, tool_output, turns

STABLE = {**ON, "x-memtree-mode": "stable", "x-memtree-recall-tools": "off"}
TOOLS = [tool("Read"), tool("Bash"), tool("ToolSearch"), tool("Later", defer_loading=True)]


@dataclass(slots=True)
class DrivenSession:
    """`states` and `epochs` of the answers, one each. `problems`: what memory changed and must not
    have."""

    side: Side
    agent: Agent
    headers: dict[str, str]
    states: list[str] = field(default_factory=list)
    epochs: list[str] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)
    draw: random.Random | None = None
    others: Sequence[str] = ()  # addresses of more servers, asked by turns

    @classmethod
    def of(cls, side: Side, seed: int, headers: dict[str, str], **fields: Any) -> DrivenSession:
        run = tool_output(seed, 400)
        if side.vendor.name == "responses":
            return cls(side, ResponsesAgent(run, **fields), headers)
        agent = MessagesAgent(run, **{"tools": TOOLS, **fields})
        return cls(side, agent, headers, draw=random.Random(seed))

    def drive(self, seed: int, count: int, size: int = 400, *, thinks: bool = False) -> None:
        self.follow(turns(seed, count, size, thinks=thinks))

    def follow(self, planned: Iterable[SessionTurn]) -> None:
        for turn in planned:
            self.agent.say(turn.said)
            for said in turn.answers:
                self.side.server.steps.append(said)
                self.ask()

    def ask(self) -> None:
        """One request, and what became of it."""
        if self.draw is not None:
            eventful(self.agent.history, self.draw, set())
        body = self.agent.body()
        before = len(self.side.server.seen)
        addresses = (self.side.address, *self.others)
        address = addresses[len(self.states) % len(addresses)]
        answer = self.side.post(body, address, **self.headers)
        where = f"request {len(self.states)}"
        self.states.append(answer.headers.get("x-memtree-state", "none"))
        self.epochs.append(answer.headers.get("x-memtree-epoch", ""))
        if answer.status_code != 200:
            self.problems.append(f"{where}: {answer.status_code} {answer.text[:200]}")
            self.agent.history.append(self.side.vendor.answer("refused", len(self.states)))
            return
        for seen in self.side.server.seen[before:]:
            found = self.side.vendor.changed(body, seen.body)
            self.problems += [f"{where}, {self.states[-1]}: {one}" for one in found]
        self.agent.take(answer.content)

    @property
    def sent(self) -> list[list[Fields]]:
        """Return what was sent of the history with each request, without cache markers."""
        return [unmarked(seen.body[self.side.vendor.history]) for seen in self.side.server.seen]


def unmarked(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: unmarked(one) for key, one in value.items() if key != "cache_control"}
    return [unmarked(one) for one in value] if isinstance(value, list) else value


def grows(before: list[Fields], after: list[Fields]) -> bool:
    """Return True if the later one begins with the earlier one."""
    return json.dumps(after[: len(before)]) == json.dumps(before)
