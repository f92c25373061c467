"""Answers of every JSON route of ours to a wrong field, as one table.

Each field of each route gets each wrong value, one fault a body: status, code, param and message
are kept; where two fields are wrong, the status alone, since which of them is named is no promise.
`tests/http/wire/test_wire_table.py` compares. After a change on purpose:

    python -m tests.http.wire.wire_table
"""

from __future__ import annotations

import asyncio
import json
import re
from collections import defaultdict
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any
from urllib.parse import quote, unquote

from memtree.jobs.runtime import SystemClock
from memtree.jobs.spending import MeteredModel, Spending
from memtree.stores import RamStore
from memtree_proxy.server.app import create_app
from tests.http.served.fakes import real_memory, services
from tests.http.wire.documented import DOCUMENT, resolved
from tests.http.wire.wire_bodies import CALLS, POSTINGS, QUERIES
from tests.programs.sessions import chat
from tests.spoken_model import SpokenModel

GOLDEN = Path(__file__).parents[1] / "golden"
TABLE = GOLDEN / "wire_faults.txt"
ABSENT = "absent"
# By name, as JSON. Each kind of value, and both sides of what a number or a text may be.
VALUES = {
    "null": "null", "true": "true", "0": "0", "-1": "-1", "1.5": "1.5", "2.0": "2.0",
    "1e400": "1e400", "10^30": "1" + "0" * 30, "NaN": '"NaN"', "''": '""', "' '": '" "',
    "'2'": '"2"', "'x'": '"x"', "'*'": '"*"', "'true'": '"true"', "'null'": '"null"',
    "'?'": '"?/ä"', "NUL": '"a\\u0000b"', "long": '"' + "a" * 9_000 + '"', "[]": "[]",
    "[1]": "[1]", "[null]": "[null]", "['']": '[""]', "['x','x']": '["x","x"]',
    "[long]": '["' + "a" * 1_001 + '"]', "[2000]": "[" + ",".join(['"a"'] * 2_000) + "]",
    "{}": "{}", "{x}": '{"x":1}', "{x,x}": '{"x":1,"x":2}', "surrogate": '"\\ud800"',
    "[surrogate]": '["\\ud800"]', "deep": "[" * 2_000 + "]" * 2_000,
}  # fmt: skip
BYTES = {"bad UTF-8": b'"\xff"', "no JSON": b"nul", "deeper": b"[" * 60_000 + b"]" * 60_000}
ASKED = ("", " ", "x", "*", "0", "-1", "2", "1.5", "9" * 20, "9" * 5_000, "true", "TRUE", "nan",
         "2020-01-01", "a,b", "ä/?", "a\0b", "a" * 1_001)  # fmt: skip
_ID = re.compile(r"\b(mem|grp)_[A-Za-z0-9]+|[0-9a-f]{64}")
_REFUSED = "400 invalid_request"
EVERYWHERE = {
    "1e400": f"{_REFUSED} @: @ is not valid JSON: Number out of range",
    "surrogate": f"{_REFUSED} @: @ holds half a surrogate pair, which is no character",
    "[surrogate]": f"{_REFUSED} @[0]: @[0] holds half a surrogate pair, which is no character",
    "deep": f"{_REFUSED} None: the body is not valid JSON: nested too deeply",
    "deeper": f"{_REFUSED} None: the body is not valid JSON: nested too deeply",
    "bad UTF-8": f"{_REFUSED} @: @ is not valid UTF-8",
    "no JSON": f"{_REFUSED} None: the body is not valid JSON: JSON is malformed: invalid character",
    "doubled": f"{_REFUSED} @: @ is given twice in the body",
}
HEADERS = (
    (b"host", b"edge"), (b"content-type", b"application/json"),
    (b"accept", b"application/json, text/event-stream"),
)  # fmt: skip
_TWO = ("[]", "{}", "1.5", "'?'")  # of which one is wrong for nearly every field
_HOLDER = "\u0001"

Place = tuple[str | int, ...]
Names = dict[str, str]


class Routes:
    """An app, and what its requests may name."""

    def __init__(self, app: Any) -> None:
        self._app = app
        self._names: Names = {}

    async def prepare(self) -> None:
        """Make what requests name, where it is not there any more."""
        names = self._names
        posted: dict[str, Any]
        for kind in ("Note", "Kept"):
            document = {"type": "object", "properties": {"name": {"type": "string"}}}
            await self._ask("PUT", f"/schemas/{kind}", {"json_schema": document})
        for kind in ("Posted", "Named"):  # what a fault left there would refuse the next request
            await self._ask("DELETE", f"/schemas/{kind}")
        for name, text in (("memory", "My cat is called Minka."), ("other", "I drive a red car.")):
            await self._make("/memories", name, "/memories", {"text": text})
            posted = {"messageId": "m", "content": text}
            await self._make("/chat/api/c/memories", f"chat_{name}", "/chat/api/c/memory", posted)
        await self._make("/memories/groups", "group", "/memories/groups", {"title": "Pets"})
        if not await self._there(f"/memories/{names.get('agent_memory')}?agentId=a"):
            posted = {"agentId": "a", "memories": [{"kind": "Note", "data": {"text": "Tea"}}]}
            rows = await self._ask("POST", "/memories", posted)
            names["agent_memory"] = (rows["created"] + rows["updated"])[0]["id"]
        if "conversation" not in names:
            posted = {"messages": chat(200), "index_only": True}
            indexed = await self._ask("POST", "/context_memory", posted)
            names["conversation"] = indexed["memory"]["address"]

    async def _make(self, root: str, name: str, path: str, posted: Any) -> None:
        if not await self._there(f"{root}/{self._names.get(name)}"):
            self._names[name] = (await self._ask("POST", path, posted))["id"]

    async def _there(self, path: str) -> bool:
        return "None" not in path and "error" not in await self._ask("GET", path)

    async def _ask(self, method: str, path: str, posted: Any = None) -> Any:
        body = b"" if posted is None else json.dumps(posted).encode()
        return json.loads((await self._send(method, path, body))[1])

    def named(self, text: str) -> str:
        for name, value in self._names.items():
            text = text.replace(f"{{{name}}}", value)
        return text

    async def outcome(self, method: str, path: str, body: bytes | None = None) -> str:
        """Return the answer to a request, with ids left out."""
        status, raw = await self._send(method, self.named(path), body or b"")
        if status < 400:
            return self._tool(raw) if path == "/mcp" else "ok"
        error = json.loads(raw)["error"]
        if "param" not in error:  # of the protocol of tools
            return self._short(f"{status} {error['code']}: {error['message']}")
        return self._short(f"{status} {error['code']} {error['param']}: {error['message']}")

    async def _send(self, method: str, target: str, body: bytes) -> tuple[int, bytes]:
        """Hand a request to the app as a server does: a client would take most of the time."""
        path, _, query = target.partition("?")
        sent: list[Any] = []
        scope = {
            "type": "http", "http_version": "1.1", "method": method, "scheme": "http",
            "path": unquote(path), "raw_path": path.encode(), "query_string": query.encode(),
            "headers": [*HEADERS, (b"content-length", str(len(body)).encode())],
            "server": ("edge", 80), "client": ("127.0.0.1", 1),
        }  # fmt: skip
        waiting = [{"type": "http.request", "body": body, "more_body": False}]

        async def receive() -> Any:
            return waiting.pop() if waiting else await asyncio.Event().wait()

        async def send(message: Any) -> None:
            sent.append(message)

        await self._app(scope, receive, send)
        return sent[0]["status"], b"".join(one.get("body", b"") for one in sent[1:])

    def _tool(self, raw: bytes) -> str:
        content = json.loads(raw)["result"]["structuredContent"]
        return "ok" if content["ok"] else self._short(f"{content['error']}: {content['message']}")

    def _short(self, text: str) -> str:
        for name, value in self._names.items():
            text = text.replace(value, f"{{{name}}}")
        text = _ID.sub("(id)", text)
        return re.sub(r"(.)\1{40,}", r"\1...", text).replace("\n", "\\n").replace("\0", "\\0")


@asynccontextmanager
async def opened() -> AsyncIterator[Routes]:
    built = services(None, real_memory())
    uses = built.memory_services
    model = MeteredModel(SpokenModel(), Spending(RamStore(), SystemClock()))
    uses = replace(uses, extracting=replace(uses.extracting, model=model))
    built = replace(built, memory_services=uses)
    yield Routes(create_app(built))
    await built.upstreams.close()


# -- the table -------------------------------------------------------------------------------


async def faults() -> str:
    """The whole table as text."""
    lines: list[str] = []
    async with opened() as routes:
        for method, path, bodies in POSTINGS:
            done: set[Place] = set()
            for body in bodies:
                lines += await _of_body(routes, method, path, body, _plain, done)
        for tool, arguments in CALLS.items():
            calling = _calling(tool)
            lines += await _of_body(routes, "POST", "/mcp", arguments, calling, set(), tool)
        for method, path in QUERIES:
            lines += await _of_query(routes, method, path)
    return "\n".join(lines) + "\n"


def _plain(arguments: bytes) -> bytes:
    return arguments


def _calling(tool: str) -> Any:
    head = f'{{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{{"name":"{tool}",'

    def call(arguments: bytes) -> bytes:
        return head.encode() + b'"arguments":' + arguments + b"}}"

    return call


async def _of_body(
    routes: Routes,
    method: str,
    path: str,
    body: Mapping[str, Any],
    wrap: Any,
    done: set[Place],
    tool: str = "",
) -> list[str]:
    """`done`: fields that an earlier body of the route had."""
    await routes.prepare()
    text = routes.named(json.dumps(body))

    async def ask(raw: bytes) -> str:
        return await routes.outcome(method, path, wrap(raw))

    head = f"{method} {path} {tool}".rstrip()
    lines = [f"{head} ({', '.join(body)}): {await ask(text.encode())}"]
    if not done and not tool:
        for value in ("[]", "null", '"x"', "", "{}", '{"x":1}'):
            lines.append(f"  body {value or 'empty'}: {await ask(value.encode())}")
    for place in _places(body):
        if place in done:
            continue
        done.add(place)
        await routes.prepare()
        seen: dict[str, list[str]] = defaultdict(list)
        for name, value in VALUES.items():
            seen[await ask(_put(text, place, value.encode()))].append(name)
        seen[await ask(_without(text, place))].append(ABSENT)
        if not tool and len(place) == 1:
            for name, raw in BYTES.items():
                seen[await ask(_put(text, place, raw))].append(name)
            doubled = f'{{"{place[0]}":null,'.encode() + text.encode()[1:]
            seen[await ask(doubled)].append("doubled")
        lines += [f"  {_shown(place)}", *_rows(seen, _shown(place))]
    lines += await _two_faults(ask, text, body)
    return lines


def _rows(seen: Mapping[str, list[str]], place: str) -> list[str]:
    """Name the values of each outcome; the most frequent one is that of all the rest. `@` is the
    field. What is refused before a field is read says the same everywhere, and is left out."""
    short: dict[str, list[str]] = {}
    for outcome, names in seen.items():
        shown = re.sub(rf"(?<![\w.]){re.escape(place)}(?!\w)", "@", outcome)
        shown = re.sub(r" \(byte \d+\)", "", shown)
        names = [name for name in names if EVERYWHERE.get(name) != shown]
        if names:
            short[shown] = names
    usual = max(short, key=lambda outcome: len(short[outcome]))
    rows = [f"    {out} <- {' '.join(names)}" for out, names in short.items() if out != usual]
    return [*rows, f"    {usual} <- the rest"]


async def _two_faults(ask: Any, text: str, body: Mapping[str, Any]) -> list[str]:
    """Statuses of bodies in which two neighbours are wrong."""
    names = list(body)
    statuses = []
    for first, second in pairwise(names):
        for value in (VALUES[name].encode() for name in _TWO):
            wrong = _put(_put(text, (first,), value).decode(), (second,), value)
            statuses.append((await ask(wrong)).partition(" ")[0])
    return [f"  two: {' '.join(statuses)}"] if statuses else []


async def _of_query(routes: Routes, method: str, path: str) -> list[str]:
    plain = path.partition("?")[0]
    await routes.prepare()
    lines = [f"{method} {path}: {await routes.outcome(method, path)}"]
    for name in _parameters(method, plain):
        seen: dict[str, list[str]] = defaultdict(list)
        for value in ASKED:
            target = _with(path, name, value)
            shown = "(too long)" if len(value) > 99 else value.replace("\0", "\\0")
            seen[await routes.outcome(method, target)].append(f"'{shown}'")
        twice = _with(path, name, "a") + f"&{name}=b"
        seen[await routes.outcome(method, twice)].append("twice")
        lines += [f"  {name}", *_rows(seen, name)]
    unknown = await routes.outcome(method, _with(path, "x", "1"))
    return [*lines, f"  unknown: {unknown}"]


def _with(path: str, name: str, value: str) -> str:
    plain, _, query = path.partition("?")
    kept = [one for one in query.split("&") if one and one.partition("=")[0] != name]
    return f"{plain}?{'&'.join([*kept, f'{name}={quote(value)}'])}"


def _parameters(method: str, plain: str) -> list[str]:
    """Return the names of a route's query, as they are documented. A path that is written out
    comes before one with a parameter in its place."""
    for path, item in sorted(DOCUMENT["paths"].items(), key=lambda each: each[0].count("{")):
        pattern = re.sub(r"\\\{[^}]*\\\}", "[^/]+", re.escape(path))
        exact = path == plain or ("{" in path and re.fullmatch(pattern, plain))
        if exact and method.lower() in item and (path == plain or plain not in DOCUMENT["paths"]):
            given = [resolved(one) for one in item[method.lower()].get("parameters", ())]
            return [one["name"] for one in given if one["in"] == "query"]
    raise KeyError(plain)


def _places(value: Any, at: Place = ()) -> Iterator[Place]:
    """Every field of a body, and the first element of each list."""
    inner: Any = ()
    if isinstance(value, dict):
        inner = value.items()
    elif isinstance(value, list) and value:
        inner = [(0, value[0])]
    for key, below in inner:
        yield (*at, key)
        if not _opaque((*at, key)):
            yield from _places(below, (*at, key))


def _opaque(place: Place) -> bool:
    """Return True if the inside is the caller's own, or is described by another standard."""
    return place[-1] in ("data", "json_schema", "metadata", "messages", "response_format")


def _put(text: str, place: Place, value: bytes) -> bytes:
    body = json.loads(text)
    at = _container(body, place)
    at[place[-1]] = _HOLDER
    head, _, tail = json.dumps(body).partition(json.dumps(_HOLDER))
    return head.encode() + value + tail.encode()


def _without(text: str, place: Place) -> bytes:
    body = json.loads(text)
    del _container(body, place)[place[-1]]
    return json.dumps(body).encode()


def _container(body: Any, place: Place) -> Any:
    for key in place[:-1]:
        body = body[key]
    return body


def _shown(place: Place) -> str:
    return "".join(f"[{one}]" if isinstance(one, int) else f".{one}" for one in place)[1:]


def write() -> None:
    GOLDEN.mkdir(exist_ok=True)
    TABLE.write_text(asyncio.run(faults()))


if __name__ == "__main__":
    write()
