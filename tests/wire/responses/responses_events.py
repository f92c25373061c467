"""Answers of the Responses API as events, with items of many kinds, and a strict reader of them."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import httpx2
import openai

from tests.wire.messages.messages_events import cut
from tests.wire.rule_break import Fields

USAGE: Fields = {
    "input_tokens": 100,
    "input_tokens_details": {"cached_tokens": 7, "cache_write_tokens": 3},
    "output_tokens": 40,
    "output_tokens_details": {"reasoning_tokens": 5},
    "total_tokens": 140,
}
SEARCHED: Fields = {
    "type": "web_search_call", "id": "ws_1", "status": "completed",
    "action": {"type": "search", "query": "é"},
}  # fmt: skip
APPROVAL: Fields = {
    "type": "mcp_approval_request", "id": "mcpr_1", "name": "x", "arguments": "{}",
    "server_label": "s",
}  # fmt: skip
SHELL: Fields = {
    "type": "shell_call", "id": "sh_1", "call_id": "call_sh", "status": "completed",
    "action": {"commands": ["ls"]},
}  # fmt: skip
SHELL_OUTPUT: Fields = {
    "type": "shell_call_output", "id": "sho_1", "call_id": "call_sh", "output": [],
    "status": "completed",
}  # fmt: skip
CUSTOM: Fields = {
    "type": "custom_tool_call", "id": "ctc_1", "call_id": "call_ct", "name": "apply_patch",
    "input": "*** Begin", "status": "completed",
}  # fmt: skip


def text(words: str = "It is 42.", id_: str = "msg_1") -> Fields:
    part = {"type": "output_text", "text": words, "annotations": [], "logprobs": []}
    return {"type": "message", "id": id_, "status": "completed", "role": "assistant",
            "content": [part], "phase": "final_answer"}  # fmt: skip


def reasoning(id_: str = "rs_1", **more: Any) -> Fields:
    summary = [{"type": "summary_text", "text": "Let me think."}]
    return {"type": "reasoning", "id": id_, "summary": summary, "encrypted_content": "gAAA", **more}


def call(name: str = "memory_search", id_: str = "1", **given: Any) -> Fields:
    return {"type": "function_call", "id": f"fc_{id_}", "call_id": f"call_{id_}", "name": name,
            "arguments": json.dumps(given, ensure_ascii=False), "status": "completed"}  # fmt: skip


def response(*items: Fields, status: str = "completed", **changes: Any) -> Fields:
    return {
        "id": "resp_1",
        "object": "response",
        "created_at": 5,
        "status": status,
        "error": None,
        "incomplete_details": None,
        "instructions": None,
        "metadata": {},
        "model": "gpt-6.1",
        "output": list(items),
        "parallel_tool_calls": True,
        "temperature": 1.0,
        "tool_choice": "auto",
        "tools": [],
        "top_p": 1.0,
        "store": False,
        "usage": json.loads(json.dumps(USAGE)),
        **changes,
    }


def event(kind: str, **fields: Any) -> bytes:
    data = json.dumps({"type": kind, **fields}, ensure_ascii=False)
    return f"event: {kind}\ndata: {data}\n\n".encode()


def events(answer: Fields) -> list[bytes]:
    """The stream of an answer, as the API sends it."""
    return [
        event(kind, sequence_number=number, **fields)
        for number, (kind, fields) in enumerate(_events(answer))
    ]


def _events(answer: Fields) -> Iterator[tuple[str, Fields]]:
    begun = {**answer, "status": "in_progress", "output": [], "usage": None}
    yield "response.created", {"response": begun}
    yield "response.in_progress", {"response": begun}
    for index, item in enumerate(answer["output"]):
        at = {"output_index": index}
        within = {**at, "item_id": item["id"]}
        begins = {**item, "status": "in_progress"} if "status" in item else item
        match item["type"]:
            case "reasoning":
                yield "response.output_item.added", {**at, "item": {**item, "summary": []}}
                part = {"type": "summary_text", "text": ""}
                words = {**within, "summary_index": 0}
                yield "response.reasoning_summary_part.added", {**words, "part": part}
                for piece in cut(item["summary"][0]["text"]):
                    yield "response.reasoning_summary_text.delta", {**words, "delta": piece}
            case "message":
                yield "response.output_item.added", {**at, "item": {**begins, "content": []}}
                yield from _parts(item, within)
            case "function_call":
                yield "response.output_item.added", {**at, "item": {**begins, "arguments": ""}}
                for piece in cut(item["arguments"]):
                    yield "response.function_call_arguments.delta", {**within, "delta": piece}
                done = {"arguments": item["arguments"], "name": item["name"]}
                yield "response.function_call_arguments.done", {**within, **done}
            case _:
                yield "response.output_item.added", {**at, "item": begins}
        yield "response.output_item.done", {**at, "item": item}
    yield f"response.{answer['status']}", {"response": answer}


def _parts(item: Fields, within: Fields) -> Iterator[tuple[str, Fields]]:
    for index, part in enumerate(item["content"]):
        at = {**within, "content_index": index}
        yield "response.content_part.added", {**at, "part": {**part, "text": ""}}
        for piece in cut(part["text"]):
            yield "response.output_text.delta", {**at, "delta": piece, "logprobs": []}
        yield "response.output_text.done", {**at, "text": part["text"], "logprobs": []}
        yield "response.content_part.done", {**at, "part": part}


def values(raw: bytes) -> list[Fields]:
    """The data of the events; the name in front of each is that of its type."""
    found = []
    for one in raw.decode().replace("\r\n", "\n").split("\n\n"):
        lines = [line for line in one.split("\n") if line and not line.startswith(":")]
        if lines:
            head, data = lines
            found.append(dict(json.loads(data.removeprefix("data: "))))
            assert head == f"event: {found[-1]['type']}"
    return found


def read(raw: bytes) -> Fields:
    """The response of a stream, as the pickiest client reads it: events and items are numbered
    without a gap, and what the last event holds is what was told before."""
    told = values(raw)
    assert [value["sequence_number"] for value in told] == list(range(len(told)))
    assert told[0]["type"] == "response.created"
    assert [one["type"] for one in told].count("response.created") == 1
    items: dict[int, Fields] = {}
    written: dict[str, str] = {}
    open_: dict[int, str] = {}
    for value in told[1:-1]:
        kind = value["type"]
        index = value.get("output_index")
        if kind == "response.output_item.added":
            assert index == len(items) + len(open_), f"{index} is no next number"
            open_[index] = value["item"]["id"]
        elif kind == "response.output_item.done" and isinstance(index, int):
            assert open_.pop(index) == value["item"]["id"]
            items[index] = value["item"]
        elif isinstance(index, int):
            assert open_[index] == value["item_id"]
            if kind == "response.function_call_arguments.delta":
                written[value["item_id"]] = written.get(value["item_id"], "") + value["delta"]
    assert not open_
    last = dict(told[-1]["response"])
    assert told[-1]["type"] == f"response.{last['status']}"
    assert last["output"] == [items[index] for index in range(len(items))]
    for item in last["output"]:
        if item["type"] == "function_call":
            assert written.get(item["id"], "") == item["arguments"]
    assert last["id"] == told[0]["response"]["id"] or last.get("store") is True
    return last


def sdk_response(raw: bytes) -> Fields:
    """Return what the SDK's own accumulator makes of a stream."""

    def answer(request: httpx2.Request) -> httpx2.Response:
        return httpx2.Response(200, headers={"content-type": "text/event-stream"}, content=raw)

    with (
        httpx2.Client(transport=httpx2.MockTransport(answer)) as http,
        openai.OpenAI(api_key="k", base_url="http://upstream", http_client=http) as client,
        client.responses.stream(model="m", input="hi") as stream,
    ):
        return stream.get_final_response().to_dict()
