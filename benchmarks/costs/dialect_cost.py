"""Price the input of long agent sessions over the Messages and the Responses API, beside sending
everything directly with a warm cache.

The last request of each captured session is cut before each answer of the model, read and written
by its dialect, and the items that would go out are what the simulated cache sees. Cache markers
are no part of a prompt, so they are left out. `auto` may never cost more than it says it may; where
a fold pays, the session has to end well below direct cost.
"""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from benchmarks.costs.ledger import Ledger
from benchmarks.data import Data, MissingData
from benchmarks.report import Row
from benchmarks.subject import Bench, Subject, open_subject
from memtree.budget.prices import Prices
from memtree.config import Settings
from memtree.context.answer import Answer
from memtree.context.context_memory import CompressRequest
from memtree.history import json_body
from memtree.text import tokens
from memtree_proxy.dialects.messages_dialect import AnthropicMessages
from memtree_proxy.dialects.responses_dialect import OpenAIResponses

SESSIONS = {"claude_code-long": "messages", "codex-long": "responses"}
WRITES, READS = (1.25, 2.0), (0.10, 0.05, 0.025)
TARGET, WINDOW = 20_000, 2_000_000
WORST, END = 1.02, 0.85
# What is new has to be written by anybody. Where that alone is more of the direct cost than this,
# too little is left to save in a session of that length.
NEW = 0.75
FIVE_MINUTES = 300.0

Item = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Session:
    """`bodies`: of its requests; `field`: that holds the history."""

    name: str
    dialect: AnthropicMessages | OpenAIResponses
    bodies: tuple[Mapping[str, Any], ...]

    @property
    def field(self) -> str:
        return self.dialect.history


@dataclass(frozen=True, slots=True)
class Spent:
    """Cost over direct cost after each request, and the epochs that began. `new`: of the direct
    cost, what it took to write everything once."""

    ratios: tuple[float, ...]
    new: float
    epochs: int
    folded_from: int  # the first folded request, counted from 1; 0: none was


async def run(bench: Bench) -> tuple[list[Row], list[str]]:
    sessions = [_session(bench.data, name) for name in SESSIONS]
    rows: list[Row] = []
    async with open_subject(None, "dialect_cost", embedder="none") as subject:
        for session in sessions:
            for write in WRITES:
                for read in READS:
                    prices = Prices(write, read, FIVE_MINUTES)
                    rows += _rows(session, prices, await _spent(subject, session, prices))
    return rows, []


def _rows(session: Session, prices: Prices, spent: Spent) -> Iterator[Row]:
    name = f"{session.name} ({prices.write:.2f}, {prices.read:.3f})"
    yield Row(f"{name}, worst moment", max(spent.ratios), "of direct", WORST, True)
    end = f"{name}, end ({spent.new:.2f} is new)"
    yield Row(end, spent.ratios[-1], "of direct", END if spent.new <= NEW else None, True)
    turns = f"{len(spent.ratios)} requests, folded from {spent.folded_from}"
    yield Row(f"{name}, epochs in {turns}", spent.epochs)


async def _spent(subject: Subject, session: Session, prices: Prices) -> Spent:
    memory = subject.runtime.memory
    tenant = f"{session.name} {prices}"
    fixed = [session.bodies[-1].get(key) for key in ("tools", "system", "instructions")]
    size = tokens.count(json.dumps([one for one in fixed if one]))
    direct, ours = (Ledger(prices, size, weight) for _ in range(2))
    ratios: list[float] = []
    epochs: list[str] = []
    first = 0
    for number, posted in enumerate(session.bodies, 1):
        body = json_body.split(json.dumps(posted).encode())
        history = session.dialect.read(body, tenant)
        answer: Answer = await memory.compress(
            CompressRequest(
                tenant,
                history.messages,
                target=TARGET,
                window=WINDOW,
                tools_tokens=history.tools_tokens,
                mode="auto",
                prices=prices,
                markers=history.markers,
                dialect=session.dialect.name,
            )
        )
        changed = history.fields(answer if answer.changed else None).get(session.field)
        direct.add(_prompt(posted[session.field]))
        ours.add(_prompt(json.loads(changed) if changed else posted[session.field]))
        ratios.append(ours.total / direct.total)
        if answer.epoch and answer.epoch not in epochs:
            epochs.append(answer.epoch)
            first = first or number
    written = size + sum(map(weight, _prompt(session.bodies[-1][session.field])))
    new = prices.write * written / direct.total
    return Spent(tuple(ratios), new, len(epochs), first)


def weight(raw: bytes) -> int:
    return tokens.count(raw.decode())


def _prompt(items: Sequence[Item]) -> list[bytes]:
    return [json.dumps(_unmarked(item)).encode() for item in items]


def _unmarked(value: Any) -> Any:
    """Without cache markers, which clients move from request to request."""
    if isinstance(value, dict):
        return {key: _unmarked(one) for key, one in value.items() if key != "cache_control"}
    return [_unmarked(one) for one in value] if isinstance(value, list) else value


def _session(data: Data, name: str) -> Session:
    path = data.root / "captures" / f"{name}.json.gz"
    try:
        with gzip.open(path) as file:
            body = json.load(file)[-1]["body"]
    except FileNotFoundError as error:
        raise MissingData(f"there is no {path}") from error
    settings = Settings(upstream=None)
    messages = SESSIONS[name] == "messages"
    dialect = AnthropicMessages(settings) if messages else OpenAIResponses(settings)
    return Session(name, dialect, tuple(_requests(body, dialect.history)))


def _requests(body: Mapping[str, Any], field: str) -> Iterator[Mapping[str, Any]]:
    """The request as it stood before each answer of the model."""
    items = body[field]
    for index in range(1, len(items)):
        if _is_models(items[index]) and not _is_models(items[index - 1]):
            yield {**body, field: items[:index]}
    yield body


def _is_models(item: Item) -> bool:
    if "role" in item:
        return bool(item["role"] == "assistant")
    return not str(item.get("type")).endswith("_output")
