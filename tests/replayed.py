"""Recorded chat requests once more through the app in process, to an upstream that records.

For sessions that tests recorded with real clients, and for captures (`python -m benchmarks
captures`): the same requests in every mode, and each outgoing one under the validator.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import AsyncIterator, Iterable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

import httpx

from memtree.config import MODES, Settings
from memtree.jobs.runtime import open_runtime
from memtree_proxy.server.app import create_app
from memtree_proxy.server.serve import open_services
from tests.http.served.running import running
from tests.made.scripted import Say, Scripted
from tests.outgoing import problems_of_bytes

# What belongs to the connection on which a request was recorded, or is said anew here.
NOT_REPLAYED = frozenset(
    "host connection content-length transfer-encoding accept-encoding authorization "
    "x-memtree-mode".split()
)


@dataclass(frozen=True, slots=True)
class Posted:
    """One chat request as recorded. `side`: known to be none of the conversation's turns."""

    body: bytes
    headers: Mapping[str, str] = field(default_factory=dict)
    side: bool = False


@dataclass(slots=True)
class Findings:
    """Findings of a replay. `sides`: side requests, `untouched`: those that went as posted."""

    requests: int = 0
    sides: int = 0
    untouched: int = 0
    states: Counter[str] = field(default_factory=Counter)
    epochs: int = 0
    problems: list[str] = field(default_factory=list)


class App:
    """The app in process and its upstream."""

    def __init__(self, http: httpx.AsyncClient, upstream: Scripted) -> None:
        self._http = http
        self._upstream = upstream

    async def replay(
        self,
        name: str,
        session: Iterable[Posted],
        mode: str,
        found: Findings,
        **validator: bool,
    ) -> None:
        """Post the requests of one session in order, as a tenant of its own."""
        key, epochs = f"{name} {mode}", set[str]()
        script = self._upstream.script(key, [])
        for number, posted in enumerate(session):
            script.steps.append(Say("noted"))
            kept = {k: v for k, v in posted.headers.items() if k.lower() not in NOT_REPLAYED}
            own = {"authorization": f"Bearer {key}", "x-memtree-mode": mode}
            own.setdefault("x-polychat-memory", "on")
            before = len(script.seen)
            answer = await self._http.post(
                "/v1/chat/completions", content=posted.body, headers={**kept, **own}
            )
            where = f"{name}, request {number}, {mode}"
            sent = [seen.raw for seen in script.seen[before:]]
            found.requests += 1
            found.states[answer.headers.get("x-memtree-state", "none")] += 1
            epochs.add(answer.headers.get("x-memtree-epoch", ""))
            if answer.status_code != 200 or len(sent) != 1:
                text = answer.text[:200]
                found.problems.append(f"{where}: {answer.status_code}, {len(sent)} sent, {text}")
            for raw in sent:
                wrong = problems_of_bytes(posted.body, raw, **validator)
                found.problems += [f"{where}: {one}" for one in wrong]
            if posted.side:
                found.sides += 1
                found.untouched += bool(sent) and same(posted.body, sent[0])
        found.epochs += len(epochs - {""})


def same(posted: bytes, sent: bytes) -> bool:
    return bool(json.loads(posted) == json.loads(sent))


@asynccontextmanager
async def open_app(target: int, *, alternate: bool = False) -> AsyncIterator[App]:
    """An app with an empty store in memory and words alone for ranking."""
    upstream = Scripted()
    with running(upstream) as address:
        settings = Settings(
            store="memory:",
            embedder="none",
            upstream=f"{address}/v1",
            target_tokens=target,
            alternate=alternate,
        )
        async with (
            open_runtime(settings) as runtime,
            open_services(settings, runtime) as services,
        ):
            transport: Any = httpx.ASGITransport(create_app(services))
            async with httpx.AsyncClient(transport=transport, base_url="http://app") as http:
                yield App(http, upstream)


async def replay_all(name: str, session: Iterable[Posted], target: int) -> Findings:
    """One session in every mode."""
    found, session = Findings(), list(session)
    async with open_app(target) as app:
        for mode in MODES:
            await app.replay(name, session, mode, found)
    return found
