"""Twice as many parts of a body are twice the work, for each list that a body may have.

Counted in lines of each function that run, never in time: see `tests/work_counts.py`. What the
second doubling adds is compared with what the first one added, so that what is read once is in
neither.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from contextlib import suppress
from typing import Any

import pytest

from memtree.dialects import messages_history, responses_history
from memtree.dialects.fragment_caches import TranslationCache
from memtree.dialects.responses_items import ItemCache
from memtree.errors import MemTreeError
from memtree.history.chat_history import History, read
from memtree.history.json_body import split
from memtree.history.message import read_messages
from memtree.memories.document_passages import memories_of
from memtree.tree import chunking
from memtree.unfolding.memory_plan import TextSpan
from memtree.unfolding.memory_text import quote_lines
from memtree.unfolding.work_log import work_lines, work_log
from memtree_proxy.http.decoding import decode
from memtree_proxy.wire.agent_memory_bodies import (
    NewAgentMemories,
    NewAgentMemoryBatch,
    RequestContext,
    known_ids,
)
from memtree_proxy.wire.agent_search_bodies import BatchSearch
from memtree_proxy.wire.curation_bodies import UserBulkDeletion
from memtree_proxy.wire.document_bodies import new_documents
from memtree_proxy.wire.schema_and_grant_bodies import NewSchema
from memtree_proxy.wire.user_memory_bodies import GroupMembers, NewMemory
from tests.hostile_texts import hostile
from tests.work_counts import counting

SIZE = 32  # entries
MOST = 3.0  # times the lines that were added before; twice is linear, four times a square
LEAST = 5_000  # lines of a function: at 128 entries a square has 12,000 more than at 64
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


def folded(*messages: Body, **more: Any) -> Body:
    return {"messages": [*messages, user("And what is next?")], **more}


def call(at: int, arguments: Any = None) -> Body:
    given = {"path": f"src/a{at}.py", "content": words(at)} if arguments is None else arguments
    function = {"name": "write_file", "arguments": json.dumps(given)}
    return {"id": f"c{at}", "type": "function", "function": function}


def results(count: int, content: Callable[[int], Any] = words) -> list[Body]:
    return [
        {"role": "tool", "tool_call_id": f"c{at}", "content": content(at)} for at in range(count)
    ]


IMAGE = "data:image/png;base64,iVBORw0KGgo="
CHAT: dict[str, Make] = {
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
}


def messages(*older: Body, **more: Any) -> Body:
    return {**folded(*older), "max_tokens": 100, **more}


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


def responses(*items: Body, **more: Any) -> Body:
    return {"model": "m", "input": [*items, user("And what is next?")], **more}


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
BY = RequestContext(0.0, secrets=False)


def schema(count: int) -> str:
    names = [f"k{at}" for at in range(count)]
    properties = {name: {"type": "string"} for name in names}
    return json.dumps({"type": "object", "properties": properties, "required": names})


def batch(count: int, **data: str) -> Body:
    memories = [{"kind": "Note", "data": data or {"text": words(at)}} for at in range(count)]
    return {**AGENT, "memories": memories}


def shelf(**document: Any) -> Body:
    return {"documents": [{"id": "d", "text": "a", **document}]}


def ids(count: int) -> list[str]:
    return [f"mem_{at}" for at in range(count)]


def stored(body: Body) -> object:
    cut = chunking.passages
    made = new_documents(split(json.dumps(body).encode())).documents
    return [memories_of(document, cut, lambda: "id", 0.0) for document in made]


def drafted(body: Body) -> object:
    return decode(NewAgentMemoryBatch, posted(body)).drafts(BY)


MEMORIES: dict[str, tuple[Callable[[Body], object], Make]] = {
    "a batch": (drafted, batch),
    "fields of a memory": (drafted, lambda n: batch(1, **{f"k{at}": words(at) for at in range(n)})),
    "tags": (
        lambda body: decode(NewMemory, posted(body)),
        lambda n: {"text": "I like tea", "tags": [f"t{at}" for at in range(n)]},
    ),
    "ids": (
        lambda body: decode(UserBulkDeletion, posted(body)).wanted(purged=False),
        lambda n: {"ids": ids(n)},
    ),
    "ids of an agent's": (lambda body: known_ids(body["ids"]), lambda n: {"ids": ids(n)}),
    "members of a group": (
        lambda body: decode(GroupMembers, posted(body)),
        lambda n: {"memory_ids": ids(n)},
    ),
    "queries": (
        lambda body: decode(BatchSearch, posted(body)),
        lambda n: {"queries": [{"query": words(at)} for at in range(n)]},
    ),
    "a conversation": (
        lambda body: decode(NewAgentMemories, posted(body)).messages(1_000),
        lambda n: {**AGENT, "conversation": [user(f"I own boat {at}.") for at in range(n)]},
    ),
    "properties": (
        lambda body: decode(NewSchema, posted(body)).parts(),
        lambda n: {"name": "K", "schema": schema(n), "uniqueOn": [f"k{n - 1}"]},
    ),
    "unique names": (
        lambda body: decode(NewSchema, posted(body)).parts(),
        lambda n: {"name": "K", "schema": schema(n), "uniqueOn": [f"k{at}" for at in range(n)]},
    ),
    "documents": (
        stored,
        lambda n: {"documents": [{"id": f"d{at}", "text": words(at)} for at in range(n)]},
    ),
    "passages": (stored, lambda n: shelf(text="".join(words(at) * 9 for at in range(n)))),
    "metadata": (stored, lambda n: shelf(metadata={f"k{at}": words(at) for at in range(n)})),
    "a list in metadata": (stored, lambda n: shelf(metadata={"a": [words(at) for at in range(n)]})),
}


def posted(body: Body) -> Any:
    return split(json.dumps(body).encode())


def remembered(found: History) -> object:
    """Read what depends on how many parts there are; leaves depend on the text alone."""
    end = len(found)
    spans = [TextSpan(at, 0, len(found.view(at).text)) for at in range(end)]
    log = work_lines(work_log(found, end, 0, 100_000), found)
    return [*quote_lines(spans, found)], log


def of_chat(body: Body) -> object:
    raws = read_messages(json.dumps(body["messages"]).encode())
    return remembered(read("t", raws, hostile.VOLATILE))


def of_messages(body: Body) -> object:
    found = messages_history.read(posted(body), "t", TranslationCache(1))
    return remembered(read("t", found.messages, hostile.VOLATILE))


def of_responses(body: Body) -> object:
    found = responses_history.read(posted(body), "t", ItemCache(1))
    return remembered(read("t", found.messages, hostile.VOLATILE))


LISTS = {
    **{f"chat: {name}": (of_chat, make) for name, make in CHAT.items()},
    **{f"messages: {name}": (of_messages, make) for name, make in MESSAGES.items()},
    **{f"responses: {name}": (of_responses, make) for name, make in RESPONSES.items()},
    **{f"memories: {name}": of for name, of in MEMORIES.items()},
}


FIRST = {"chat: calls answered backwards", *(name for name in LISTS if name.startswith("memories"))}


@pytest.mark.slow
@pytest.mark.parametrize(
    "name",
    [pytest.param(name, marks=() if name in FIRST else pytest.mark.long) for name in LISTS],
)
def test_twice_as_many_parts_are_twice_the_work(name: str) -> None:
    work, make = LISTS[name]
    counts = []
    for count in (1, SIZE, 2 * SIZE, 4 * SIZE):  # the first one loads what is read once
        with counting() as counted, suppress(MemTreeError):
            work(make(count))
        counts.append(counted.functions)
    _, some, more, most = counts
    squares = {
        function: (some[function], more[function], lines)
        for function, lines in most.items()
        if lines - more[function] > max(LEAST, MOST * (more[function] - some[function]))
    }
    assert squares == {}
