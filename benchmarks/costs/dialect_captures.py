"""Replay what real clients of the Messages and the Responses API sent, turn by turn, through the
HTTP app to fakes of these APIs that refuse what breaks a rule: valid in every mode, at more than
one target. Thinking is signed anew by the fake, which binds it to the prompt that it saw.

Where a capture holds but some requests of a long session, those between are made by cutting the
last one before each answer of the model. Side requests must go as they were posted.
"""

from __future__ import annotations

import gzip
import json
import logging
from collections import Counter
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any

import httpx

from benchmarks.costs.captures import MEMORY
from benchmarks.data import Data, MissingData
from benchmarks.report import Row
from benchmarks.subject import Bench
from memtree.config import MODES, Settings
from memtree.jobs.runtime import open_runtime
from memtree_proxy.server.app import create_app
from memtree_proxy.server.serve import open_services
from tests.http.served.running import running
from tests.made.scripted import Say
from tests.replayed import NOT_REPLAYED, Findings, same
from tests.wire.agents import streamed
from tests.wire.messages import messages_changes
from tests.wire.responses import responses_changes
from tests.wire.responses.responses_items import is_of_model
from tests.wire.rule_break import Fields, RuleBreak
from tests.wire.servers.messages_server import MessagesServer
from tests.wire.servers.responses_server import ResponsesServer
from tests.wire.servers.vendor import VendorRequest, VendorServer
from tests.wire.thinking import broken_thinking

TARGETS = (20_000, 8_000)
USED = ("packed", "provisional")


@dataclass(frozen=True, slots=True)
class Recording:
    """`bodies`: of one session's requests. `history`: the field that holds it."""

    client: str
    path: str
    history: str
    headers: dict[str, str]
    bodies: tuple[Fields, ...]
    server: type[VendorServer]
    changed: Callable[[Fields, Fields], list[RuleBreak]]

    def thinking(self, number: int) -> Say:
        """Return the model's answer to a request, as far as it thought: the next one shows it."""
        known = len(self.bodies[number][self.history])
        later: list[Fields] = []
        if number + 1 < len(self.bodies):
            later = self.bodies[number + 1][self.history][known:]
        thoughts = [one for message in later[:1] for one in thinking_of(message)]
        return Say("noted", reasoning=str(thoughts[0].get("thinking", "")) if thoughts else "")


async def run(bench: Bench) -> tuple[list[Row], list[str]]:
    logging.getLogger("memtree").setLevel(logging.ERROR)  # a line for each request
    sessions = list(recorded(bench.data))
    rows, problems = [Row("sessions", len(sessions))], list[str]()
    sides = Counter[str]()
    for target in TARGETS:
        for mode in MODES:
            found = Findings()
            for session in sessions:
                server = session.server()
                async with _app(server, target) as http:
                    await _replay(session, server, http, mode, found)
            used = sum(found.states[state] for state in USED)
            states = ", ".join(f"{count} {state}" for state, count in sorted(found.states.items()))
            rows.append(Row(f"{mode} at {target}: requests ({states})", found.requests))
            rows.append(Row(f"{mode} at {target}: with memory, in {found.epochs} epochs", used))
            problems += [f"{mode} at {target}: {one}" for one in found.problems]
            sides += Counter(seen=found.sides, untouched=found.untouched)
    rows.append(Row("side requests", sides["seen"]))
    rows.append(Row("side requests as posted", sides["untouched"], goal=sides["seen"]))
    return [*rows, Row("problems", len(problems), goal=0, at_most=True)], problems


async def _replay(
    session: Recording, server: VendorServer, http: httpx.AsyncClient, mode: str, found: Findings
) -> None:
    signed: dict[str, str] = {}
    epochs = set[str]()
    for number, body in enumerate(session.bodies):
        posted = resigned(body, session.history, signed)
        said = session.thinking(number)
        server.steps.append(said)
        before = len(server.seen)
        raw = json.dumps(posted, ensure_ascii=False).encode()
        headers = {**session.headers, **MEMORY, "x-memtree-mode": mode, "x-memtree-key": "k"}
        answer = await http.post(session.path, content=raw, headers=headers)
        where = f"{session.client}, request {number}"
        found.requests += 1
        found.states[answer.headers.get("x-memtree-state", "none")] += 1
        epochs.add(answer.headers.get("x-memtree-epoch", ""))
        sent = [seen for seen in server.seen[before:] if not _is_the_client_s(seen, posted)]
        if answer.status_code != 200 or len(sent) != 1:
            text = answer.text[:200]
            found.problems.append(f"{where}: {answer.status_code}, {len(sent)} sent, {text}")
        for seen in sent:
            found.problems += [f"{where}: {one}" for one in session.changed(posted, seen.body)]
        if not posted.get("tools"):
            found.sides += 1
            found.untouched += bool(sent) and same(raw, sent[0].raw)
        if session.history == "messages" and answer.status_code == 200:
            signed.update(signatures(answer.content, said.reasoning))
    found.epochs += len(epochs - {""})


def _is_the_client_s(seen: VendorRequest, posted: Fields) -> bool:
    """Return True if it was refused for what the client did itself: it left out old messages and
    sent the thinking behind them. Then the same request has to follow without."""
    return bool(seen.breaks) and "messages" in posted and seen.breaks == broken_thinking(posted)


def signatures(answer: bytes, thought: str) -> Iterator[tuple[str, str]]:
    """Yield the signatures of the thinking in an answer, with its words."""
    made = json.loads(answer)["content"] if answer.startswith(b"{") else streamed(answer)
    for block in made:
        if block["type"] == "thinking":
            yield thought, str(block["signature"])


def resigned(body: Fields, history: str, signed: dict[str, str]) -> Fields:
    """With the signatures that the fake made."""
    copy: Fields = json.loads(json.dumps(body))
    for message in copy[history]:
        for block in thinking_of(message):
            block["signature"] = signed.get(str(block["thinking"]), block["signature"])
    return copy


def thinking_of(message: Fields) -> list[Fields]:
    content = message.get("content")
    blocks = content if isinstance(content, list) else []
    return [one for one in blocks if one.get("type") == "thinking"]


@asynccontextmanager
async def _app(server: VendorServer, target: int) -> AsyncIterator[httpx.AsyncClient]:
    """The app with an empty store in memory and words alone for ranking."""
    with running(server) as upstream:
        settings = Settings(
            store="memory:",
            embedder="none",
            upstream=f"{upstream}/v1",
            anthropic_upstream=f"{upstream}/v1",
            target_tokens=target,
            recall_tools=False,
        )
        async with (
            open_runtime(settings) as runtime,
            open_services(settings, runtime) as services,
        ):
            transport: Any = httpx.ASGITransport(create_app(services))
            async with httpx.AsyncClient(transport=transport, base_url="http://app") as http:
                yield http


def recorded(data: Data) -> Iterator[Recording]:
    paths = sorted((data.root / "captures").glob("*.json.gz"))
    if not paths:
        raise MissingData(f"there are no captures in {data.root / 'captures'}")
    for path in paths:
        with gzip.open(path) as file:
            requests = json.load(file)
        for ending, history, server, changed in (
            ("/messages", "messages", MessagesServer, messages_changes.changed),
            ("/responses", "input", ResponsesServer, responses_changes.changed),
        ):
            mine = [one for one in requests if one["path"].split("?")[0].endswith(ending)]
            if not mine:
                continue
            bodies = [one["body"] for one in mine]
            if [one["n"] for one in mine] != list(range(1, len(mine) + 1)):
                bodies = list(cut(bodies[-1], history))
            headers = {
                name: value
                for name, value in (mine[-1]["headers"] or {}).items()
                if name.lower() not in NOT_REPLAYED
            }
            yield Recording(
                path.name[:-8], mine[0]["path"], history, headers, tuple(bodies), server, changed
            )


def cut(body: Fields, history: str) -> Iterator[Fields]:
    """The request as it stood before each answer of the model, and as it is."""
    items = body[history]
    for index in range(1, len(items)):
        if _is_answer(items[index]) and not _is_answer(items[index - 1]):
            yield {**body, history: items[:index]}
    yield body


def _is_answer(item: Fields) -> bool:
    return item.get("role") == "assistant" or is_of_model(item)
