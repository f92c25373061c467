"""Twice as many parts of a body are twice the work, for each list that a body may have.

Counted in lines of ours that run, never in time: see `tests/work_counts.py`. Each list is posted
with `SIZE`, twice and four times as many entries; what the second doubling adds is compared with
what the first one added, so that what a request costs anyway is in neither.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from typing import Any

import pytest

from benchmarks.speed.clients.in_process import InProcess, in_process
from tests.work_counts import counting

SIZE = 24  # entries
MOST = 3.0  # times the work that was added before; twice is linear, four times a square
LEAST = 1_000  # lines that say something
HEADERS = {"content-type": "application/json", "anthropic-version": "2023-06-01"}
FOLDED = {"x-polychat-memory": "on", "x-memtree-mode": "fresh"}
Body = dict[str, Any]
Make = Callable[[int], Body]


def words(at: int) -> str:
    return f"Entry {at} of the list is about file src/a{at}.py and its {at} tests, which pass."


def user(content: Any) -> Body:
    return {"role": "user", "content": content}


def said(content: Any, **more: Any) -> Body:
    return {"role": "assistant", "content": content, **more}


def text(at: int, kind: str = "text", **more: Any) -> Body:
    return {"type": kind, "text": words(at), **more}


FILLER = " ".join(words(n) for n in range(550))  # 10,000 tokens and more, so that there is a fold
BEHIND = " ".join(words(n) for n in range(40))


def folded(*messages: Body, **more: Any) -> Body:
    """A history that is known to the server up to `messages`, which are in its folded part."""
    return {
        "messages": [user(FILLER), *messages, said(BEHIND), user("And what is next?")],
        "target_tokens": 2_000,
        "mode": "fresh",
        **more,
    }


def chat(*messages: Body, **more: Any) -> Body:
    return {"model": "m", "messages": folded(*messages)["messages"], **more}


def call(at: int, arguments: Any = None) -> Body:
    given = {"path": f"src/a{at}.py", "content": words(at)} if arguments is None else arguments
    function = {"name": "write_file", "arguments": json.dumps(given)}
    return {"id": f"c{at}", "type": "function", "function": function}


def results(count: int, content: Callable[[int], Any] = words) -> list[Body]:
    return [
        {"role": "tool", "tool_call_id": f"c{at}", "content": content(at)} for at in range(count)
    ]


def tool(at: int) -> Body:
    schema = {"type": "object", "properties": {"path": {"type": "string"}}}
    return {"type": "function", "function": {"name": f"f{at}", "parameters": schema}}


def numbers(count: int) -> range:
    return range(count)


IMAGE = "data:image/png;base64,iVBORw0KGgo="
CONTEXT: dict[str, Make] = {
    "messages": lambda n: folded(*((user, said)[at % 2](words(at)) for at in range(n))),
    "messages without text": lambda n: folded(*((user, said)[at % 2]("") for at in range(n))),
    "messages of the system": lambda n: folded(
        *({"role": "system", "content": words(at)} for at in range(n))
    ),
    "parts of a user": lambda n: folded(user([text(at) for at in range(n)])),
    "parts of an answer": lambda n: folded(user("a"), said([text(at) for at in range(n)])),
    "parts of a result": lambda n: folded(
        user("a"), said(None, tool_calls=[call(0)]), *results(1, lambda _: [*map(text, range(n))])
    ),
    "images": lambda n: folded(
        user([{"type": "image_url", "image_url": {"url": f"{IMAGE}{at:04}"}} for at in range(n)])
    ),
    "files": lambda n: folded(
        user(
            [
                {"type": "file", "file": {"filename": f"{at}.pdf", "file_data": f"{at:04}"}}
                for at in range(n)
            ]
        )
    ),
    "calls without answers": lambda n: folded(
        user("a"), said("b", tool_calls=[call(at) for at in range(n)])
    ),
    "calls": lambda n: folded(
        user("a"), said("b", tool_calls=[call(at) for at in range(n)]), *results(n)
    ),
    "calls answered backwards": lambda n: folded(
        user("a"), said("b", tool_calls=[call(at) for at in range(n)]), *results(n)[::-1]
    ),
    "calls with one id": lambda n: folded(
        user("a"),
        said("b", tool_calls=[{**call(at), "id": "c0"} for at in range(n)]),
        *({**result, "tool_call_id": "c0"} for result in results(n)),
    ),
    "calls without ids": lambda n: folded(
        user("a"),
        said("b", tool_calls=[{**call(at), "id": None} for at in range(n)]),
        *({**result, "tool_call_id": None} for result in results(n)),
    ),
    "commands": lambda n: folded(
        user("a"),
        said("b", tool_calls=[call(at, {"command": f"pytest t{at}.py"}) for at in range(n)]),
        *results(n, lambda at: f"{at % 3} failed, {at} passed in 1s"),
    ),
    "arguments": lambda n: folded(
        user("a"), said("b", tool_calls=[call(0, {f"k{at}": words(at) for at in range(n)})])
    ),
    "values in a list of arguments": lambda n: folded(
        user("a"), said("b", tool_calls=[call(0, {"edits": [words(at) for at in range(n)]})])
    ),
    "fields of a message": lambda n: folded(user("a") | {f"k{at}": at for at in range(n)}),
    "thoughts": lambda n: folded(
        user("a"),
        said("b", reasoning_details=[{"type": "x", "text": words(at)} for at in range(n)]),
    ),
    "reminders": lambda n: folded(
        user("".join(f"<system-reminder>{words(at)}</system-reminder>{at}" for at in range(n)))
    ),
    "kept passages": lambda n: folded(
        user("".join(f"<keep>{words(at)}</keep>\n" for at in range(n)))
    ),
    "coloured words": lambda n: folded(
        user("a"),
        said(None, tool_calls=[call(0)]),
        *results(1, lambda _: "".join(f"\x1b[3{at % 8}m{words(at)}\x1b[0m\n" for at in range(n))),
    ),
    "states of a bar": lambda n: folded(
        user("a"),
        said(None, tool_calls=[call(0)]),
        *results(1, lambda _: "".join(f"{at} of {n} files\n" for at in range(n))),
    ),
    "cache marks": lambda n: folded(
        user([text(at, cache_control={"type": "ephemeral"}) for at in range(n)])
    ),
    "tools": lambda n: folded(user("a"), tools=[tool(at) for at in range(n)]),
}
CHATS: dict[str, Make] = {
    "messages": lambda n: chat(*((user, said)[at % 2](words(at)) for at in range(n))),
    "tools": lambda n: {**chat(user("a")), "tools": [tool(at) for at in range(n)]},
    "stop": lambda n: {**chat(user("a")), "stop": [f"s{at}" for at in range(n)]},
    "metadata": lambda n: {**chat(user("a")), "metadata": {f"k{at}": words(at) for at in range(n)}},
    "calls": lambda n: chat(
        user("a"), said("b", tool_calls=[call(at) for at in range(n)]), *results(n)
    ),
    "calls of the newest round": lambda n: {
        **chat(user("a")),
        "messages": [
            *chat(user("a"))["messages"],
            said("b", tool_calls=[call(at) for at in range(n)]),
            *results(n),
        ],
    },
    "parts of the newest message": lambda n: {
        **chat(user("a")),
        "messages": [*chat(user("a"))["messages"], user([text(at) for at in range(n)])],
    },
}


def messages(*older: Body, **more: Any) -> Body:
    return {**chat(*older), "max_tokens": 100, **more}


def used(count: int) -> list[Body]:
    calls = [
        {"type": "tool_use", "id": f"c{at}", "name": "write_file", "input": {"path": f"a{at}.py"}}
        for at in range(count)
    ]
    answers = [
        {"type": "tool_result", "tool_use_id": f"c{at}", "content": words(at)}
        for at in range(count)
    ]
    return [user("a"), said(calls), user(answers)]


MESSAGES: dict[str, Make] = {
    "blocks": lambda n: messages(user([text(at) for at in range(n)])),
    "blocks of an answer": lambda n: messages(user("a"), said([text(at) for at in range(n)])),
    "calls": lambda n: messages(*used(n)),
    "calls of the newest round": lambda n: {
        **messages(),
        "messages": [*messages()["messages"], *used(n)[1:]],
    },
    "blocks of a result": lambda n: messages(
        *used(1)[:2],
        user([{"type": "tool_result", "tool_use_id": "c0", "content": [*map(text, range(n))]}]),
    ),
    "thoughts": lambda n: messages(
        user("a"),
        said(
            [
                *({"type": "thinking", "thinking": words(at), "signature": "s"} for at in range(n)),
                text(1),
            ]
        ),
    ),
    "documents": lambda n: messages(
        user(
            [
                {
                    "type": "document",
                    "title": f"t{at}",
                    "source": {"type": "text", "media_type": "text/plain", "data": words(at)},
                }
                for at in range(n)
            ]
        )
    ),
    "search results": lambda n: messages(
        user(
            [
                {"type": "search_result", "title": f"t{at}", "source": "s", "content": [text(at)]}
                for at in range(n)
            ]
        )
    ),
    "users in a row": lambda n: messages(*(user(words(at)) for at in range(n))),
    "system": lambda n: messages(user("a"), system=[text(at) for at in range(n)]),
    "tools": lambda n: messages(
        user("a"), tools=[{"name": f"f{at}", "input_schema": {}} for at in range(n)]
    ),
}


def responses(*items: Body, last: tuple[Body, ...] = (), **more: Any) -> Body:
    filler = [
        {"type": "message", **message, "content": message["content"]}
        for message in chat()["messages"]
    ]
    return {"model": "m", "input": [*items, *filler, *last], **more}


def output(at: int) -> Body:
    return {"type": "function_call_output", "call_id": f"c{at}", "output": words(at)}


def function(at: int) -> Body:
    arguments = json.dumps({"path": f"a{at}.py"})
    return {"type": "function_call", "call_id": f"c{at}", "name": "write", "arguments": arguments}


RESPONSES: dict[str, Make] = {
    "items": lambda n: responses(*(user(words(at)) for at in range(n))),
    "calls, each answered": lambda n: responses(
        user("a"), *(item for at in range(n) for item in (function(at), output(at)))
    ),
    "calls, answered at the end": lambda n: responses(
        user("a"), *map(function, range(n)), *map(output, range(n))
    ),
    "calls of the newest round": lambda n: responses(
        user("a"), last=(*map(function, range(n)), *map(output, range(n)))
    ),
    "reasoning": lambda n: responses(
        user("a"),
        *(
            {"type": "reasoning", "id": f"r{at}", "summary": [text(at, "summary_text")]}
            for at in range(n)
        ),
        said("b"),
    ),
    "summaries": lambda n: responses(
        user("a"),
        {"type": "reasoning", "id": "r", "summary": [text(at, "summary_text") for at in range(n)]},
        said("b"),
    ),
    "parts": lambda n: responses(user([text(at, "input_text") for at in range(n)])),
    "tools": lambda n: responses(
        user("a"), tools=[{"type": "function", "name": f"f{at}"} for at in range(n)]
    ),
    "include": lambda n: responses(user("a"), include=[f"i{at}" for at in range(n)]),
}
AGENT = {"agentId": "agent", "subjectId": "s"}
SCHEMA: Make = lambda n: {  # noqa: E731
    "type": "object",
    "properties": {f"k{at}": {"type": "string"} for at in range(n)},
    "required": [f"k{at}" for at in range(n)],
}
MEMORIES: dict[str, tuple[str, Make]] = {
    "a batch": (
        "/memories/batch/create",
        lambda n: {
            **AGENT,
            "memories": [{"kind": "Note", "data": {"text": words(at)}} for at in range(n)],
        },
    ),
    "fields of a memory": (
        "/memories/batch/create",
        lambda n: {
            **AGENT,
            "memories": [{"kind": "Note", "data": {f"k{at}": words(at) for at in range(n)}}],
        },
    ),
    "tags": ("/memories", lambda n: {"text": "I like tea", "tags": [f"t{at}" for at in range(n)]}),
    "ids": ("/memories/batch/delete", lambda n: {"ids": [f"mem_{at}" for at in range(n)]}),
    "ids of a user": ("/memories/delete", lambda n: {"ids": [f"mem_{at}" for at in range(n)]}),
    "undeleted ids": ("/memories/undelete", lambda n: {"ids": [f"mem_{at}" for at in range(n)]}),
    "members of a group": (
        "/memories/groups/g/memories",
        lambda n: {"memory_ids": [f"mem_{at}" for at in range(n)]},
    ),
    "queries": (
        "/memories/batch/search",
        lambda n: {"queries": [{"query": words(at)} for at in range(n)]},
    ),
    "a conversation": (
        "/memories/extract",
        lambda n: {"messages": [(user, said)[at % 2](words(at)) for at in range(n)]},
    ),
    "a conversation of an agent": (
        "/memories",
        lambda n: {**AGENT, "conversation": [user(f"I own boat {at}.") for at in range(n)]},
    ),
    "kinds": (
        "/memories",
        lambda n: {
            **AGENT,
            "conversation": [user("I own a boat.")],
            "schemas": [f"K{at}" for at in range(n)],
        },
    ),
    "properties": (
        "/schemas",
        lambda n: {"name": "K", "schema": json.dumps(SCHEMA(n)), "uniqueOn": [f"k{n - 1}"]},
    ),
    "names that are unique": (
        "/schemas",
        lambda n: {
            "name": "K",
            "schema": json.dumps(SCHEMA(n)),
            "uniqueOn": [f"k{at}" for at in range(n)],
        },
    ),
    "documents": (
        "/rag/shelf/documents",
        lambda n: {"documents": [{"id": f"d{at}", "text": words(at)} for at in range(n)]},
    ),
    "passages": (
        "/rag/shelf/documents",
        lambda n: {"documents": [{"id": "d", "text": "".join(words(at) * 9 for at in range(n))}]},
    ),
    "metadata": (
        "/rag/shelf/documents",
        lambda n: {
            "documents": [
                {"id": "d", "text": "a", "metadata": {f"k{at}": words(at) for at in range(n)}}
            ]
        },
    ),
    "a list in metadata": (
        "/rag/shelf/documents",
        lambda n: {
            "documents": [
                {"id": "d", "text": "a", "metadata": {"a": [words(at) for at in range(n)]}}
            ]
        },
    ),
    "requests to MCP": (
        "/mcp",
        lambda n: {
            "jsonrpc": "2.0",
            "id": 1,
            "method": "tools/call",
            "params": {
                "name": "save_memory",
                "arguments": {"tags": [words(at) for at in range(n)]},
            },
        },
    ),
}
LISTS: dict[str, dict[str, tuple[str, Make]]] = {
    "context": {name: ("/context_memory", make) for name, make in CONTEXT.items()},
    "chat": {name: ("/chat/completions", make) for name, make in CHATS.items()},
    "messages": {name: ("/messages", make) for name, make in MESSAGES.items()},
    "responses": {name: ("/responses", make) for name, make in RESPONSES.items()},
    "memories": MEMORIES,
}


async def lines(server: InProcess, path: str, body: Body) -> int:
    headers = {**HEADERS, **(FOLDED if "model" in body else {}), "authorization": "Bearer key"}
    with counting(asyncio.get_running_loop()) as work:
        answer = await server.post(f"/v1{path}", json.dumps(body).encode(), headers)
        await server.runtime.settle()
    assert answer.status < 500
    return work.lines


@pytest.mark.slow
@pytest.mark.parametrize("group", LISTS)
async def test_twice_as_many_parts_are_twice_the_work(group: str) -> None:
    squares = {}
    async with in_process(target_tokens=2_000) as server:
        for name, (path, make) in LISTS[group].items():
            await lines(server, path, make(1))
            some, more, most = [
                await lines(server, path, make(SIZE * times)) for times in (1, 2, 4)
            ]
            if most - more > max(LEAST, MOST * (more - some)):
                squares[name] = (some, more, most)
    assert squares == {}
