"""Shadow mode on real conversations: of what the folded messages held, how much stays in sight,
and of what the next real answer took from the history, how much was in sight of it.

The conversations are replayed request by request through the proxy's own shadows, words alone (no
embedder), so that the figures do not depend on how far background work has come. Where a capture
holds one last request, or a history is a log, the requests before it are made by cutting before
each assistant message.
"""

from __future__ import annotations

import asyncio
import json
import logging
import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from benchmarks.costs.captures import recorded
from benchmarks.data import Data, turns
from benchmarks.report import Row
from benchmarks.subject import Bench, open_subject
from memtree.config import SHADOW, Settings
from memtree.conversation.message import Message
from memtree.memories.scope import Scope
from memtree.memories.users.user_memories import UserSettings
from memtree.shadow.probes import KINDS
from memtree.shadow.usage import RECALLED, USED
from memtree_proxy.chat import request_reader
from memtree_proxy.chat.memories.sources import ChatUser
from memtree_proxy.chat.request_reader import PostedRequest
from memtree_proxy.chat.retrying.model_limits import ModelLimits
from memtree_proxy.chat.shadow import ShadowRunner
from memtree_proxy.dialects.chat_dialect import ChatDialect
from memtree_proxy.observability.metrics.metrics import Metrics

TARGETS = (20_000, 8_000)
STRETCH = 150_000  # tokens of the coding session
LEAST = 10_000  # tokens of a trajectory: shorter ones are never folded
BYTES = 4  # a token
EVER = (0, sys.maxsize >> 1)

Requests = Iterable[bytes]


async def run(bench: Bench) -> tuple[list[Row], list[str]]:
    logging.getLogger("memtree").setLevel(logging.ERROR)
    rows: list[Row] = []
    for target in TARGETS:
        for name, sessions in _sources(bench.data).items():
            found = await _measured(f"{name}-{target}", sessions, target)
            rows += _rows(f"{name} at {target}", found)
    return rows, []


def _sources(data: Data) -> dict[str, Iterator[Requests]]:
    long = (one.messages for one in data.trajectories() if _size(one.messages) > LEAST)
    return {
        "captures": ((posted.body for posted in one.requests) for one in recorded(data)),
        "agents": (_bodies(messages) for messages in long),
        "coding session": iter([_bodies(_stretch(data.coding_session()))]),
    }


def _size(messages: Sequence[Message]) -> int:
    return sum(len(message.raw) for message in messages) // BYTES


def _stretch(messages: Sequence[Message]) -> Sequence[Message]:
    size = 0
    for index, message in enumerate(messages):
        size += len(message.raw)
        if size > STRETCH * BYTES:
            return messages[:index]
    return messages


def _bodies(messages: Sequence[Message]) -> Iterator[bytes]:
    """Requests as an agent posts them: what it can do is told with each."""
    tools = [{"type": "function", "function": {"name": "run"}}]
    rest = json.dumps({"model": "gpt-4o", "tools": tools})[1:].encode()
    for posted in turns(messages):
        listed = b",".join(message.raw for message in posted)
        yield b'{"messages": [' + listed + b"], " + rest


async def _measured(
    name: str, sessions: Iterable[Requests], target: int, keep: Path | None = None
) -> Counter[str]:
    """The tallies of all sessions together, each a tenant of its own."""
    async with open_subject(keep, f"shadow-{name.replace(' ', '-')}", "none") as subject:
        runtime = subject.runtime
        settings = Settings(upstream=None, mode=SHADOW, target_tokens=target)
        shadows = ShadowRunner(runtime.memory, settings, Metrics(), runtime.store)
        dialect = ChatDialect(settings)
        for number, requests in enumerate(sessions):
            tenant = f"{number}"
            user = ChatUser(Scope.of_user(tenant), UserSettings())
            for body in requests:
                read = request_reader.read(
                    PostedRequest(dialect, tenant, body, {}, settings, user), ModelLimits()
                )
                assert read.shadow is not None
                shadows.follow(tenant, read.shadow)
                await shadows.settle()
                await asyncio.sleep(0)
        found = Counter[str]()
        for amounts in (await runtime.store.tallied(*EVER)).values():
            found.update(amounts)
    return found


def _rows(name: str, found: Counter[str]) -> list[Row]:
    raw, sent = found["shadow.raw_tokens"], found["shadow.sent_tokens"]
    rows = [
        Row(f"{name}: requests", found["shadow.requests"]),
        Row(f"{name}: of them folded", found["shadow.folded"]),
        Row(f"{name}: tokens sent of those posted", _percent(sent, raw), "%"),
    ]
    for kind in (*KINDS, USED, RECALLED):
        probes, kept = found[f"shadow.{kind}.probes"], found[f"shadow.{kind}.kept"]
        if probes:
            rows.append(Row(f"{name}: {kind} kept of {probes:,}", _percent(kept, probes), "%"))
    return rows


def _percent(part: int, whole: int) -> float:
    return 100 * part / whole if whole else 0.0
