"""The two APIs as tests of both routes need them: a fake server, our server before it, a client's
conversation, and what the API says when something goes wrong."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import httpx

from memtree_proxy.server.app import create_app
from tests.http.served.fakes import services
from tests.http.served.running import PATIENCE, running
from tests.wire.agents import MessagesAgent, ResponsesAgent
from tests.wire.messages import messages_changes
from tests.wire.responses import responses_changes
from tests.wire.rule_break import Fields, RuleBreak
from tests.wire.servers import messages_server, responses_server
from tests.wire.servers.messages_server import MessagesServer
from tests.wire.servers.responses_server import ResponsesServer
from tests.wire.servers.vendor import HttpFault, StreamFault, VendorServer

ON = {"x-polychat-memory": "on"}
SIDES: tuple[dict[str, str], ...] = ({}, ON)
Agent = MessagesAgent | ResponsesAgent


@dataclass(frozen=True, slots=True)
class Vendor:
    """`history`: the field of the body that holds it. `broken`: streams that tell an error."""

    name: str
    server: type[VendorServer]
    agent: type[MessagesAgent] | type[ResponsesAgent]
    history: str
    faults: Mapping[str, HttpFault]
    broken: Mapping[str, StreamFault]
    changed: Callable[[Fields, Fields], list[RuleBreak]]

    def __str__(self) -> str:
        return self.name

    @property
    def path(self) -> str:
        return "/v1" + self.agent.path

    @property
    def headers(self) -> dict[str, str]:
        return dict(self.agent.headers)

    def talk(self, turns: int = 9, words: str = "message", **fields: Any) -> Fields:
        """A body of `turns` turns of user and assistant, and a last one of the user."""
        agent = self.agent(**fields)
        for turn in range(turns):
            agent.say(f"{words} {turn}")
            agent.history.append(self.answer(f"answer {turn} {words}", turn))
        agent.say("And now?")
        return agent.body()

    def answer(self, words: str, number: int) -> Fields:
        if self.name == "messages":
            return {"role": "assistant", "content": [{"type": "text", "text": words}]}
        part = {"type": "output_text", "text": words, "annotations": []}
        return {"type": "message", "id": f"msg_a{number}", "role": "assistant", "content": [part],
                "status": "completed"}  # fmt: skip


MESSAGES = Vendor(
    "messages",
    MessagesServer,
    MessagesAgent,
    "messages",
    messages_server.FAULTS,
    {
        "overloaded": messages_server.stream_fault("overloaded_error"),
        "invalid at once": messages_server.stream_fault("invalid_request_error", pieces=0),
        "broken": messages_server.stream_fault("api_error"),
    },
    messages_changes.changed,
)
RESPONSES = Vendor(
    "responses",
    ResponsesServer,
    ResponsesAgent,
    "input",
    responses_server.FAULTS,
    {
        "rate limit": responses_server.failed("rate_limit_exceeded"),
        "failed at once": responses_server.failed("invalid_prompt", pieces=2),
        "an error event": responses_server.stream_error("server_error"),
    },
    responses_changes.changed,
)
VENDORS = (MESSAGES, RESPONSES)


@contextmanager
def behind(upstream: str, memory: Any = None, **settings: Any) -> Iterator[str]:
    """Our server on a real socket, with this upstream for both APIs."""
    built = services(upstream + "/up/v1", memory, **settings)
    with running(create_app(built), built.upstreams) as address:
        yield address


@dataclass(frozen=True, slots=True)
class Side:
    """One API in a test. `upstream`: address of its fake, `address`: of our server before it, whose
    memory folds whatever has more than three messages."""

    vendor: Vendor
    server: VendorServer
    upstream: str
    address: str

    def post(self, body: Fields, address: str = "", **headers: str) -> httpx.Response:
        return post(address or self.address, self.vendor, body, **headers)


def post(address: str, vendor: Vendor, body: Fields, **headers: str) -> httpx.Response:
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return httpx.post(
        address + vendor.path,
        content=json.dumps(body).encode(),
        headers={**vendor.headers, "content-type": "application/json", **named},
        timeout=PATIENCE,
    )
