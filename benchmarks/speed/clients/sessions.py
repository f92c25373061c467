"""Sessions of clients as they grow: the requests whose outgoing bytes `record` writes down.

A session is a list of requests in order. It grows by turns of the user and by tool rounds, asks the
same again, goes back and on from an older message (a branch), and returns.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from benchmarks.costs import captures, dialect_captures
from benchmarks.data import Data, MissingData
from tests.replayed import NOT_REPLAYED
from tests.wire.conversations import Exchange, as_chat, as_messages, as_responses, conversation

Fields = dict[str, Any]

PATHS = {
    "chat": "/v1/chat/completions",
    "messages": "/v1/messages",
    "responses": "/v1/responses",
}
SEEDS = {11: 60, 12: 200, 13: 12}  # of generated conversations: about words of a text
TURNS = 44
FIRST = 6  # turns that the first request has
GROWN = (40, 700, 2_000, 4_500)  # messages of the coding session, each followed by some turns


@dataclass(frozen=True, slots=True)
class Request:
    """`index_only`: posted to be indexed, at the route of `/context_memory`; nothing goes out."""

    name: str
    path: str
    body: bytes
    headers: dict[str, str]
    index_only: bool = False


@dataclass(frozen=True, slots=True)
class RecordedSession:
    """`own_mode`: its requests are sent in each mode, as a tenant of its own."""

    name: str
    requests: tuple[Request, ...]


def generated() -> Iterator[RecordedSession]:
    for seed, size in SEEDS.items():
        talk = conversation(seed, TURNS, size)
        other = conversation(seed + 100, 6, size)
        for dialect in PATHS:
            yield RecordedSession(
                f"seed {seed} {dialect}", tuple(_turns(dialect, talk, other, seed))
            )


def _turns(
    dialect: str, talk: Sequence[Exchange], other: Sequence[Exchange], seed: int
) -> Iterator[Request]:
    """Each turn as it is asked, then behind each tool round."""
    fields: Fields = {"stream": True} if seed % 2 else {}
    for length in range(FIRST, TURNS):
        for at, asked in enumerate(steps(talk[length])):
            body = written(dialect, (*talk[:length], asked), **fields)
            yield _request(f"turn {length}.{at}", dialect, body)
        if length % 5 == 0:
            yield _request(f"turn {length} again", dialect, body)
        if length % 9 == 0:
            cut = length - 1 - length % 4
            for extra in (1, 2, 3):
                branch = (*talk[:cut], *other[: extra - 1], replace(other[extra], steps=()))
                body = written(dialect, branch, **fields)
                yield _request(f"branch at {cut} of {length}, {extra}", dialect, body)
        if length % 13 == 0:
            body = written(
                dialect, (*talk[:length], replace(talk[length], steps=())), temperature=0
            )
            yield _request(f"turn {length} with another field", dialect, body)


def steps(exchange: Exchange) -> Iterator[Exchange]:
    """The exchange as the model saw it: asked, and behind the results of each of its calls."""
    yield replace(exchange, steps=())
    for number, step in enumerate(exchange.steps, 1):
        if step.calls:
            yield replace(exchange, steps=exchange.steps[:number])


def written(dialect: str, talk: Sequence[Exchange], **fields: Any) -> bytes:
    """The body that a client of this API posts."""
    made: dict[str, Callable[[], Fields]] = {
        "chat": lambda: {"model": "m", "messages": as_chat(talk)},
        "messages": lambda: {"model": "m", **as_messages(talk)},
        "responses": lambda: {"model": "m", **as_responses(talk)},
    }
    return json.dumps({**made[dialect](), **fields}).encode()


def _request(name: str, dialect: str, body: bytes) -> Request:
    headers = {"x-memtree-recall-tools": "off", "anthropic-version": "2023-06-01"}
    return Request(name, PATHS[dialect], body, headers)


def odd() -> Iterator[RecordedSession]:
    """System messages in between, a line from which the client rewrites all, and junk."""
    talk = conversation(21, 30, 60)
    messages = as_chat(talk)
    second = len(as_chat(talk[:1]))
    made: list[Request] = []
    for length in range(20, len(messages), 3):
        posted = messages[:length]
        while posted[-1]["role"] == "assistant":
            posted = posted[:-1]
        late = {"role": "system", "content": f"It is late, {length // 12}."}
        at = length // 2
        for name, shown in (
            ("plain", posted),
            ("late system message", [*posted[:at], late, *posted[at:]]),
            ("another prompt", [{"role": "developer", "content": "Be long."}, *posted[1:]]),
            ("no first turn", [posted[0], *posted[second:]]),
        ):
            body = json.dumps({"model": "m", "messages": shown}).encode()
            made.append(_request(f"{name} {length}", "chat", body))
        body = json.dumps({"model": "m", "messages": posted}).encode()
        spaced = json.dumps({"messages": posted, "model": "m"}, indent=1).encode()
        made.append(_request(f"spaced {length}", "chat", spaced))
        made.append(_request(f"junk {length}", "chat", body + b"]"))
        made.append(_request(f"bad text {length}", "chat", body[:-30] + b"\xff" + body[-30:]))
        made.append(_request(f"two lists {length}", "chat", body[:-1] + b', "messages": []}'))
    yield RecordedSession("odd", tuple(made))


def tools_offered() -> Iterator[RecordedSession]:
    """With tools of ours in the request."""
    talk = conversation(31, 24, 100)
    for dialect in PATHS:
        made = []
        for length in range(8, 24, 2):
            body = written(dialect, (*talk[:length], replace(talk[length], steps=())))
            one = _request(f"turn {length}", dialect, body)
            made.append(replace(one, headers={**one.headers, "x-memtree-recall-tools": "on"}))
        yield RecordedSession(f"tools {dialect}", tuple(made))


def of_data(data: Data) -> Iterator[RecordedSession]:
    """The coding session and the captures, where they are."""
    try:
        yield _coding(data)
        yield from captured(data)
    except MissingData:
        return


def _coding(data: Data) -> RecordedSession:
    messages = data.coding_session()
    raws = [message.raw for message in messages]
    made = []
    for start in GROWN:
        if start >= len(raws):
            break
        made.append(
            Request(f"index {start}", "/v1/context_memory", _chat(raws[:start], True), {}, True)
        )
        ends = [n for n in range(start, len(raws)) if messages[n - 1].role == "user"][:6]
        made += [_request(f"coding {end}", "chat", _chat(raws[:end])) for end in ends]
        if ends:
            made.append(_request(f"coding {ends[-1]} again", "chat", _chat(raws[: ends[-1]])))
    return RecordedSession("coding session", tuple(made))


def _chat(raws: Sequence[bytes], index_only: bool = False) -> bytes:
    front = b'{"index_only":true,' if index_only else b'{"model":"m",'
    return front + b'"messages":[' + b",".join(raws) + b"]}"


def captured(data: Data) -> Iterator[RecordedSession]:
    for chat in captures.recorded(data):
        made = [
            Request(f"request {number}", PATHS["chat"], one.body, _kept(one.headers))
            for number, one in enumerate(chat.requests)
        ]
        yield RecordedSession(f"capture {chat.client}", tuple(made))
    for one in dialect_captures.recorded(data):
        made = [
            Request(
                f"request {number}",
                one.path,
                json.dumps(body, ensure_ascii=False).encode(),
                _kept(one.headers),
            )
            for number, body in enumerate(one.bodies)
        ]
        yield RecordedSession(f"capture {one.client} {one.path.split('?')[0]}", tuple(made))


def _kept(headers: Any) -> dict[str, str]:
    return {name: value for name, value in headers.items() if name.lower() not in NOT_REPLAYED}
