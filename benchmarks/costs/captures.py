"""Replay what real clients sent, turn by turn, through the HTTP app, each outgoing request under
the validator: valid in every mode, at more than one target, with and without alternation.

Where a capture holds one last request, the requests before it are made by cutting before each
assistant message. Side requests (titles, a client's own compaction) must go as they were posted.
"""

from __future__ import annotations

import gzip
import json
import logging
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from benchmarks.data import Data, MissingData, is_chat
from benchmarks.report import Row
from benchmarks.subject import Bench
from memtree.config import MODES
from tests.replayed import Findings, Posted, open_app

TERMS: tuple[tuple[int, bool], ...] = ((20_000, False), (8_000, False), (8_000, True))
USED = ("packed", "provisional")
MEMORY = {"x-polychat-memory": "on"}


@dataclass(frozen=True, slots=True)
class Session:
    client: str
    requests: tuple[Posted, ...]


async def run(bench: Bench) -> tuple[list[Row], list[str]]:
    sessions = list(recorded(bench.data))
    logging.getLogger("memtree").setLevel(logging.ERROR)  # a line for each request
    rows = [Row("sessions", len(sessions))]
    problems: list[str] = []
    sides = Counter[str]()
    for target, alternate in TERMS:
        name = f"{target}{' alternate' if alternate else ''}"
        async with open_app(target, alternate=alternate) as app:
            for mode in MODES:
                found = Findings()
                for one in sessions:
                    tenant = f"{one.client} at {name}"
                    await app.replay(tenant, one.requests, mode, found, alternate=alternate)
                rows += _rows(f"{mode} at {name}", found)
                problems += found.problems
                sides += Counter(seen=found.sides, untouched=found.untouched)
    rows.append(Row("side requests", sides["seen"]))
    rows.append(Row("side requests as posted", sides["untouched"], goal=sides["seen"]))
    return [*rows, Row("problems", len(problems), goal=0, at_most=True)], problems


def _rows(name: str, found: Findings) -> list[Row]:
    used = sum(found.states[state] for state in USED)
    states = ", ".join(f"{count} {state}" for state, count in sorted(found.states.items()))
    return [
        Row(f"{name}: requests ({states})", found.requests),
        Row(f"{name}: with memory, in {found.epochs} epochs", used),
    ]


def recorded(data: Data) -> Iterator[Session]:
    paths = sorted((data.root / "captures").glob("*.json.gz"))
    if not paths:
        raise MissingData(f"there are no captures in {data.root / 'captures'}")
    for path in paths:
        with gzip.open(path) as file:
            requests = [one for one in json.load(file) if is_chat(one)]
        if not requests:
            continue
        if len(requests) == 1:
            requests = [{**requests[0], "body": body} for body in cut(requests[0]["body"])]
        yield Session(path.name[:-8], tuple(map(_posted, requests)))


def cut(body: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """The request as it stood before each assistant message, and as it is."""
    messages = body["messages"]
    for index in range(1, len(messages)):
        if messages[index]["role"] == "assistant" and messages[index - 1]["role"] != "assistant":
            yield {**body, "messages": messages[:index]}
    yield body


def _posted(one: dict[str, Any]) -> Posted:
    """`side_request` is not filled everywhere; every turn of these agents carries tools."""
    headers = dict(one["headers"] or ()) | MEMORY
    side = bool(one["side_request"]) or not one["body"].get("tools")
    return Posted(json.dumps(one["body"], ensure_ascii=False).encode(), headers, side)
