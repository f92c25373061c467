"""CPU that one request costs: each route that takes lists, files or long texts, in bad shapes.

    python -m benchmarks.speed costly [--only import ...] [--bytes 1000000] [--out FILE]

The app in this process, without an embedder. Each shape is posted once with some `--bytes` of
unpacked body, to a tenant that has nothing yet. CPU is that of all threads and child processes
until the answer is complete; what is queued behind it stands in a column of its own. `refused` rows
are answers other than 2xx: what a refusal costs counts as well. Exit code 1 where a shape costs
over two seconds a megabyte.
"""

from __future__ import annotations

import argparse
import asyncio
import gzip
import json
import logging
import os
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple

from benchmarks.data import Data
from benchmarks.speed.clients.in_process import InProcess, in_process

MOST = 2.0  # seconds of CPU a megabyte of unpacked body
SMALLEST = 100_000  # bytes; what costs a request itself would be told of smaller ones
BYTES = 1_000_000

Text = Callable[[int], str]

# Pieces of text by what is bad about them; `at` tells them apart.
TEXTS: dict[str, Text] = {
    "one line again": lambda _: "I live in Graz.\n",
    "facts": lambda at: f"I have a dog called Rex{at}. ",
    "fact lines": lambda at: f"My sister Anna{at} lives in Graz.\n",
    "rules": lambda at: f"Always answer in {at} words and never use tables. ",
    "letters": lambda _: "a",
    "short words": lambda _: "a ",
    "short lines": lambda _: "a\n",
    "numbers": lambda at: f"{at} ",
    "digits": lambda _: "7",
    "spaces": lambda at: " " if at else "a",
    "dots": lambda _: "a.",
    "commas": lambda _: "a, ",
    "dashes": lambda _: "- ",
    "quotes": lambda _: '"a',
    "apostrophes": lambda _: "'a ",
    "brackets": lambda _: "[(",
    "tags": lambda at: f"<b{at}>",
    "fences": lambda _: "```\na\n",
    "mail lines": lambda at: f"> From: a{at}@b.c\n",
    "dates": lambda at: f"on 3 May 20{at % 90 + 10} at 5 pm ",
    "addresses": lambda at: f"https://a.b/{at} ",
    "mails": lambda at: f"a{at}@b.c ",
    "keys": lambda at: f"sk-{at:036d}AbCd ",
    "key words": lambda at: f"password: x{at}Y9z ",
    "hexadecimal": lambda at: f"{at * 7919:032x} ",
    "names": lambda at: f"Anna Maria {chr(65 + at % 26)}. ",
    "questions": lambda at: f"what is {at}? ",
    "headings": lambda at: f"# a{at}\n",
    "table": lambda at: f"| a | {at} |\n",
    "speakers": lambda at: f"User{at}: hi\n",
    "Chinese": lambda at: "我住在格拉茨。" + chr(0x4E00 + at % 20_000),
    "emoji": lambda _: "👩‍👩‍👧‍👦",
    "marks": lambda _: "a\u0301\u0302\u0303",
    "capitals": lambda _: "I AM IN GRAZ AND ",
    "and": lambda at: f"I like tea and I like {at} and ",
    "if": lambda _: "if I were you, ",
}
FEW = ("one line again", "facts", "fact lines", "rules", "letters", "short words", "short lines",
       "dots", "quotes", "dates", "keys", "key words", "hexadecimal", "names", "Chinese", "emoji",
       "and")  # fmt: skip


class Shape(NamedTuple):
    """`body`: unpacked. `packed`: sent in gzip."""

    route: str
    name: str
    body: bytes
    headers: Mapping[str, str] = MappingProxyType({})
    packed: bool = False
    method: str = "POST"


def parsed(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--only", nargs="+", default=[""], help="parts of routes or shapes")
    parser.add_argument("--bytes", type=int, default=BYTES)
    parser.add_argument("--out", type=Path, help="write the table there, too")


def run(options: argparse.Namespace, _: Data | None) -> int:
    logging.getLogger("memtree").setLevel(logging.CRITICAL)
    wanted = [
        shape
        for shape in shapes(options.bytes)
        if any(only in f"{shape.route} {shape.name}" for only in options.only)
    ]
    rows = asyncio.run(_measured(wanted))
    table = "\n".join(_table(rows))
    print(table)
    if options.out:
        options.out.write_text(table + "\n", "utf-8")
    return 1 if any(row.over for row in rows) else 0


# -- shapes ----------------------------------------------------------------------------------


def shapes(size: int) -> Iterator[Shape]:
    yield from _messages(size)
    yield from _imports(size)
    yield from _saved(size)
    yield from _others(size)


def _filled(name: str, size: int) -> str:
    pieces, at, length = list[str](), 0, 0
    while length < size:
        pieces.append(TEXTS[name](at))
        length += len(pieces[-1].encode())
        at += 1
    return "".join(pieces)


def _numbered(text: str, more: Text = lambda _: "") -> Text:
    return lambda at: f"{at} {more(at)}{text}"


def _repeated(piece: Callable[[int], Any], size: int) -> list[Any]:
    items, at, length = list[Any](), 0, 0
    while length < size:
        items.append(piece(at))
        length += len(json.dumps(items[-1])) + 2
        at += 1
    return items


def _json(**fields: Any) -> bytes:
    return json.dumps(fields, ensure_ascii=False).encode()


def _talks(size: int) -> Iterator[tuple[str, list[dict[str, Any]]]]:
    """Conversations: of one long text, and of many messages."""

    def said(text: str, role: str = "user") -> dict[str, Any]:
        return {"role": role, "content": text}

    for name in TEXTS:
        yield f"one message of {name}", [said(_filled(name, size))]
    for name in FEW:
        yield (
            f"messages of 3 kB of {name}",
            [said(text) for text in _repeated(_numbered(_filled(name, 3_000)), size)],
        )
    for name in ("facts", "rules", "letters", "names", "Chinese", "keys", "dates", "questions"):
        yield (
            f"short messages of {name}",
            [said(text) for text in _repeated(_numbered("", TEXTS[name]), size // 3)],
        )
    yield "the same short message", _repeated(lambda _: said("I live in Graz."), size)
    yield "empty messages", _repeated(lambda _: said(""), size)
    yield (
        "turns",
        _repeated(lambda at: said(f"I like {at}.", ("user", "assistant")[at % 2]), size),
    )
    yield "parts", [{"role": "user", "content": _repeated(_part, size)}]
    yield (
        "calls",
        _repeated(_call, size),
    )


def _part(at: int) -> dict[str, Any]:
    return {"type": "text", "text": f"I like {at}."}


def _call(at: int) -> dict[str, Any]:
    if at % 2:
        return {"role": "tool", "tool_call_id": f"c{at - 1}", "content": "1"}
    call = {"id": f"c{at}", "type": "function", "function": {"name": "f", "arguments": "{}"}}
    return {"role": "assistant", "content": None, "tool_calls": [call]}


def _messages(size: int) -> Iterator[Shape]:
    on, off = {"x-polychat-memory": "on"}, {"x-polychat-memory": "off"}
    for name, talk in _talks(size):
        body = _json(model="gpt-4o", messages=talk)
        yield Shape("/v1/memories/extract", name, _json(messages=talk))
        agent = _json(agentId="a", conversation=talk)
        yield Shape("/v1/memories", f"conversation, {name}", agent)
        yield Shape("/v1/context_memory", name, body)
        yield Shape("/v1/chat/completions", f"memory, {name}", body, on)
        if name.startswith("one message"):
            continue
        yield Shape("/v1/chat/completions", f"no memory, {name}", body, off)
        yield Shape("/v1/context_memory/tree", name, body)
        yield Shape("/v1/context_memory/delete", name, body)
        yield Shape("/v1/context_memory/parse", name, _json(messages=talk))
        if name not in ("parts", "calls"):
            whole = _json(model="claude-sonnet-4-5", max_tokens=9, messages=talk)
            yield Shape("/v1/messages", name, whole, on)
            yield Shape("/v1/messages/count_tokens", name, whole, on)
            yield Shape("/v1/responses", name, _json(model="gpt-4o", input=talk), on)


def _imports(size: int) -> Iterator[Shape]:
    for name in TEXTS:
        text = _filled(name, size).encode()
        yield Shape("/v1/memories/import", f"{name}, gzipped", text, packed=True)
        yield Shape("/v1/memories/import", name, text)
        yield Shape("/v1/context_memory/parse", f"text, {name}", text)
    for name in FEW:
        texts = _repeated(_numbered("", TEXTS[name]), size * 3 // 4)
        lines = [{"memory": text} for text in texts]
        jsonl = "\n".join(json.dumps(line, ensure_ascii=False) for line in lines).encode()
        for query in ("", "?dry_run=true", "?agentId=a"):
            yield Shape(f"/v1/memories/import{query}", f"list, {name}", _json(results=lines))
        yield Shape("/v1/memories/import", f"lines, {name}", jsonl)
        yield Shape("/v1/context_memory/parse", f"lines, {name}", jsonl)
    for kind, body in _files(size).items():
        for query in ("", "?agentId=a", "?keep_ids=true", "?format=text"):
            yield Shape(f"/v1/memories/import{query}", kind, body)
        yield Shape("/v1/context_memory/parse", kind, body)


def _files(size: int) -> dict[str, bytes]:
    def line(at: int, **more: Any) -> dict[str, Any]:
        return {"type": "memory", "id": f"mem_{at:024x}", "text": f"I like {at}", **more}

    def lines(items: list[Any]) -> bytes:
        return "\n".join(
            json.dumps(item)
            for item in [{"type": "export", "format": "memtree-memories", "version": 1}, *items]
        ).encode()

    entity = {"type": "entity", "entityType": "person"}
    return {
        "deep lists": b"[" * (size // 2) + b"]" * (size // 2),
        "deep objects": b'{"a":' * (size // 5),
        "zeros": b"[" + b"0," * (size // 2) + b"0]",
        "keys": _json(**{str(at): at for at in range(size // 16)}),
        "objects": b"{}\n" * (size // 3),
        "own lines": lines(_repeated(line, size)),
        "own lines with data": lines(
            _repeated(lambda at: line(at, kind="k", data={"a": [at] * 40}), size)
        ),
        "tombstones": lines(_repeated(lambda at: {"type": "tombstone", "id": f"mem_{at}"}, size)),
        "groups": lines(
            _repeated(lambda at: {"type": "group", "id": f"g{at}", "title": f"{at}"}, size)
        ),
        "schemas": lines(
            _repeated(
                lambda at: {"type": "schema", "kind": f"k{at}", "json_schema": {"type": "object"}},
                size,
            )
        ),
        "entities": lines(
            _repeated(
                lambda at: {**entity, "name": f"p{at}", "observations": ["likes tea"] * 9}, size
            )
        ),
        "one entity": json.dumps(
            {**entity, "name": "p", "observations": _repeated(lambda at: f"likes {at}", size)}
        ).encode(),
        "relations": lines(
            _repeated(
                lambda at: {"type": "relation", "from": "a", "to": f"{at}", "relationType": "r"},
                size,
            )
        ),
        "chats": json.dumps(_repeated(_chat, size)).encode(),
        "one chat": json.dumps([_branches(size)]).encode(),
        "null bytes": b"\0" * size,
        "broken text": b"\xff\xfe" * (size // 2),
    }  # fmt: skip


def _chat(at: int) -> dict[str, Any]:
    return {"title": f"t{at}", "mapping": {"a": {"id": "a", "message": None, "children": []}}}


def _branches(size: int) -> dict[str, Any]:
    said = {"author": {"role": "user"}, "content": {"content_type": "text", "parts": ["I like it"]}}
    count = size // 220
    mapping = {
        f"n{at}": {
            "id": f"n{at}",
            "message": {"id": f"n{at}", **said},
            "parent": f"n{at - 1}" if at else None,
            "children": [f"n{at + 1}"] if at + 1 < count else [],
        }
        for at in range(count)
    }
    return {"title": "t", "mapping": mapping, "current_node": f"n{count - 1}"}


def _saved(size: int) -> Iterator[Shape]:
    """Memories and documents as they are."""
    for name in TEXTS:
        text = _filled(name, size)
        yield Shape("/v1/rag/n/documents", f"one of {name}", _json(text=text))
        short = _filled(name, 2_900)
        many = [{"text": f"{at} {short}"} for at in range(min(100, size // 3_000))]
        yield Shape("/v1/rag/n/documents", f"100 of {name}", _json(documents=many))
        drafts = [{"text": f"{at} {short}"} for at in range(min(100, size // 3_000))]
        yield Shape("/v1/memories", f"memories of {name}", _json(agentId="a", memories=drafts))
        data = [{"kind": "k", "data": {"a": f"{at} {short}"}} for at in range(len(drafts))]
        yield Shape(
            "/v1/memories/batch/create", f"data of {name}", _json(agentId="a", memories=data)
        )
        yield Shape("/v1/memories", f"text of {name}", _json(text=_filled(name, 14_000)))
        yield Shape("/chat/api/c/memory", f"text of {name}", _json(text=_filled(name, 14_000)))


def _others(size: int) -> Iterator[Shape]:
    ids = _repeated(lambda at: f"mem_{at:024x}", size)
    some = [*ids[:999], "x" * size]
    for route in ("/v1/memories/delete", "/v1/memories/undelete", "/v1/memories/batch/delete",
                  "/chat/api/c/memories/delete", "/chat/api/c/memories/undelete"):  # fmt: skip
        yield Shape(route, "ids", _json(ids=ids))
        yield Shape(route, "1,000 ids, one long", _json(ids=some))
    yield Shape("/v1/memories/batch/update", "ids", _json(ids=ids, update={"tags": ["a"]}))
    yield Shape("/v1/memories/batch/update", "tags", _json(ids=ids[:9], tags=ids))
    queries = [{"query": f"{at} " + _filled("short words", 7_900)} for at in range(10)]
    yield Shape("/v1/memories/batch/search", "queries", _json(agentId="a", queries=queries))
    yield Shape(
        "/v1/memories/batch/search",
        "many",
        _json(agentId="a", queries=[{"query": id_} for id_ in ids]),
    )
    wide = {f"p{at}": {"type": "string", "pattern": "a?" * 50} for at in range(size // 160)}
    for name, schema in {
        "wide": {"type": "object", "properties": wide},
        "small patterns": {"type": "object", "properties": dict(list(wide.items())[:90])},
        "any of": {"anyOf": [{"const": at} for at in range(size // 16)]},
        "enum": {"type": "object", "properties": {"a": {"enum": ids}}},
    }.items():
        yield Shape("/v1/schemas", name, _json(name="k", description="", schema=json.dumps(schema)))
        yield Shape("/v1/schemas/k", name, _json(json_schema=schema), method="PUT")
    for route in ("/v1/grants/inspect", "/v1/grants/revoke"):
        yield Shape(route, "long", _json(grant="a" * size))
        yield Shape(route, "object", _json(grant={"p": {"f": "a" * size}, "s": "b", "c": "evm"}))
    calls = _repeated(lambda at: {"jsonrpc": "2.0", "id": at, "method": "tools/list"}, size)
    accept = {"accept": "application/json, text/event-stream"}
    yield Shape("/mcp", "batch", json.dumps(calls).encode(), accept)
    for name in FEW:
        call = {"name": "remember", "arguments": {"text": _filled(name, size)}}
        body = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": call}
        yield Shape("/mcp", f"remember {name}", json.dumps(body).encode(), accept)
    yield Shape("/v1/memories/groups", "long", _json(title="a", description="a" * size))
    yield Shape("/v1/memories/settings", "long", _json(top_k=1, plan="a" * size), method="PATCH")
    yield Shape("/v1/wallets", "long", _json(address="a" * size))
    for name in ("short words", "facts", "letters", "Chinese", "names"):
        text = _filled(name, size)
        yield Shape("/v1/embeddings", name, _json(model="m", input=text))
        yield Shape("/v1/chat/completions", f"memory, query of {name}",
                    _json(model="m", query=text, messages=[{"role": "user", "content": "a"}]),
                    {"x-polychat-memory": "on"})  # fmt: skip


# -- measuring -------------------------------------------------------------------------------


class Row(NamedTuple):
    shape: Shape
    sent: int
    status: int
    seconds: float  # of CPU
    behind: float

    @property
    def each(self) -> float:
        """Seconds a megabyte."""
        return self.seconds / max(len(self.shape.body), SMALLEST) * 1e6

    @property
    def over(self) -> bool:
        return self.each > MOST


async def _measured(wanted: list[Shape]) -> list[Row]:
    rows = []
    async with in_process() as server:
        for number, shape in enumerate(shapes(3_000)):  # patterns are compiled once
            await _row(server, shape, -number)
        for number, shape in enumerate(wanted, 1):
            rows.append(await _row(server, shape, number))
            row = rows[-1]
            if row.over or number % 50 == 0:
                print(f"{number}/{len(wanted)} {_line(row)}", file=sys.stderr, flush=True)
    return rows


async def _row(server: InProcess, shape: Shape, number: int) -> Row:
    sent = gzip.compress(shape.body) if shape.packed else shape.body
    own = {"authorization": f"Bearer tenant-{number}", "content-type": "application/json"}
    begun = _cpu()
    answer = await server.post(shape.route, sent, {**own, **shape.headers}, shape.method)
    seconds = _cpu() - begun
    await server.runtime.settle()
    return Row(shape, len(sent), answer.status, seconds, _cpu() - begun - seconds)


def _cpu() -> float:
    """Return the CPU seconds of this process and of its children, those that run included."""
    ticks = 0
    for task in Path("/proc/self/task").iterdir():
        for child in (task / "children").read_text().split():
            with suppress(OSError):
                ticks += sum(map(int, Path(f"/proc/{child}/stat").read_text().split()[13:15]))
    return sum(os.times()[:4]) + ticks / os.sysconf("SC_CLK_TCK")


def _table(rows: list[Row]) -> list[str]:
    head = "| route | shape | bytes in | unpacked | status | CPU s | s a MB | behind it |"
    dear = sorted(rows, key=lambda row: -row.each)
    worst: dict[str, Row] = {}
    for row in dear:
        worst.setdefault(row.shape.route.partition("?")[0], row)
    over = [row for row in dear if row.over and row not in worst.values()]
    return [
        f"{len(rows)} shapes; the worst of each route, then all others over {MOST:g} s a MB:",
        "",
        head,
        "|---|---|---:|---:|---:|---:|---:|---:|",
        *map(_line, [*worst.values(), *over]),
    ]


def _line(row: Row) -> str:
    return (
        f"| {row.shape.method} {row.shape.route} | {row.shape.name} | {row.sent:,} | "
        f"{len(row.shape.body):,} | {row.status} | {row.seconds:.2f} | {row.each:.2f} | "
        f"{row.behind:.2f} |"
    )
