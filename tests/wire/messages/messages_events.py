"""Answers of the Messages API as events, of every kind of block, and a strict reading of them."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import Any

from tests.wire.rule_break import Fields

PING = b'event: ping\ndata: {"type": "ping"}\n\n'
USAGE: Fields = {
    "input_tokens": 100,
    "cache_creation_input_tokens": 30,
    "cache_read_input_tokens": 7,
    "cache_creation": {"ephemeral_5m_input_tokens": 20, "ephemeral_1h_input_tokens": 10},
    "output_tokens": 40,
    "service_tier": "standard",
}
THINKING: Fields = {"type": "thinking", "thinking": "Let me think.", "signature": "EqQB=="}
REDACTED: Fields = {"type": "redacted_thinking", "data": "EmwKAh=="}
CITED: Fields = {
    "type": "text",
    "text": "It is in the book.",
    "citations": [{"type": "char_location", "cited_text": "x", "document_index": 0,
                   "document_title": None, "start_char_index": 0, "end_char_index": 1},
                  {"type": "char_location", "cited_text": "y", "document_index": 0,
                   "document_title": None, "start_char_index": 1, "end_char_index": 2}],
}  # fmt: skip
SEARCHING: Fields = {
    "type": "server_tool_use", "id": "srvtoolu_1", "name": "web_search", "input": {"query": "é"},
}  # fmt: skip
SEARCHED: Fields = {
    "type": "web_search_tool_result",
    "tool_use_id": "srvtoolu_1",
    "content": [{"type": "web_search_result", "url": "https://e.org", "title": "E",
                 "encrypted_content": "EqgfC==", "page_age": None}],
}  # fmt: skip


def text(words: str = "It is 42.") -> Fields:
    return {"type": "text", "text": words}


def tool_use(name: str = "memory_search", id_: str = "toolu_1", **given: Any) -> Fields:
    return {"type": "tool_use", "id": id_, "name": name, "input": given}


def message(*blocks: Fields, reason: str | None = None, **changes: Any) -> Fields:
    calls = any(block["type"] == "tool_use" for block in blocks)
    return {
        "id": "msg_1",
        "type": "message",
        "role": "assistant",
        "model": "claude-opus-5-5",
        "content": list(blocks),
        "stop_reason": reason or ("tool_use" if calls else "end_turn"),
        "stop_sequence": None,
        "usage": dict(USAGE),
        **changes,
    }


def event(kind: str, **fields: Any) -> bytes:
    data = json.dumps({"type": kind, **fields}, ensure_ascii=False)
    return f"event: {kind}\ndata: {data}\n\n".encode()


def events(answer: Fields) -> list[bytes]:
    """The stream of an answer, as the API sends it."""
    begun = {**answer, "content": [], "stop_reason": None}
    begun["usage"] = {**answer["usage"], "output_tokens": 1}
    found = [event("message_start", message=begun), PING]
    for index, block in enumerate(answer["content"]):
        start, deltas = _parts(block)
        found.append(event("content_block_start", index=index, content_block=start))
        found += [event("content_block_delta", index=index, delta=delta) for delta in deltas]
        found.append(event("content_block_stop", index=index))
    delta = {name: answer[name] for name in ("stop_reason", "stop_sequence")}
    usage = {"output_tokens": answer["usage"]["output_tokens"]}
    return [*found, event("message_delta", delta=delta, usage=usage), event("message_stop")]


def _parts(block: Fields) -> tuple[Fields, list[Fields]]:
    match block["type"]:
        case "thinking":
            deltas = [{"type": "thinking_delta", "thinking": p} for p in cut(block["thinking"])]
            signed = {"type": "signature_delta", "signature": block["signature"]}
            return {"type": "thinking", "thinking": "", "signature": ""}, [*deltas, signed]
        case "text":
            start: Fields = {"type": "text", "text": ""}
            cited = block.get("citations") or []
            start |= {"citations": []} if cited else {}
            deltas = [{"type": "text_delta", "text": piece} for piece in cut(block["text"])]
            more = [{"type": "citations_delta", "citation": citation} for citation in cited]
            return start, [*more[:1], *deltas, *more[1:]]
        case "tool_use" | "server_tool_use":
            written = json.dumps(block["input"], ensure_ascii=False) if block["input"] else ""
            pieces = ["", *cut(written)]
            return {**block, "input": {}}, [
                {"type": "input_json_delta", "partial_json": piece} for piece in pieces
            ]
    return block, []


def cut(words: str, size: int = 5) -> Iterator[str]:
    return (words[at : at + size] for at in range(0, len(words), size))


def read(raw: bytes) -> Fields:
    """The message of a stream, as the pickiest client reads it."""
    found: Fields = {}
    open_: int | None = None
    ended = False
    for value in values(raw):
        kind = value["type"]
        assert not ended, f"{kind} behind the end"
        if kind == "message_start":
            assert not found, "two starts"
            found = {**value["message"], "content": []}
            continue
        assert found or kind in ("ping", "error"), f"{kind} before the start"
        if kind == "content_block_start":
            assert open_ is None, "one block within another"
            open_ = value["index"]
            assert open_ == len(found["content"]), f"{open_} is no next number"
            found["content"].append({**value["content_block"]})
        elif kind == "content_block_delta":
            assert value["index"] == open_
            _grow(found["content"][-1], value["delta"])
        elif kind == "content_block_stop":
            assert value["index"] == open_
            open_ = None
            written = found["content"][-1].pop("written", None)
            if written is not None:
                found["content"][-1]["input"] = json.loads(written or "{}")
        elif kind == "message_delta":
            assert open_ is None
            found |= value["delta"]
            found["usage"] = {**found["usage"], **value["usage"]}
        elif kind == "message_stop":
            assert found["stop_reason"], "no reason to stop"
            ended = True
    assert ended, "no end"
    return found


def _grow(block: Fields, delta: Fields) -> None:
    match delta["type"]:
        case "text_delta":
            block["text"] += delta["text"]
        case "thinking_delta":
            block["thinking"] += delta["thinking"]
        case "signature_delta":
            block["signature"] = delta["signature"]
        case "citations_delta":
            block["citations"] = [*block["citations"], delta["citation"]]
        case "input_json_delta":
            block["written"] = block.get("written", "") + delta["partial_json"]


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


def sdk_message(raw: bytes) -> Fields:
    """Return what the SDK's own accumulator makes of a stream."""
    import anthropic  # takes a second, and most who import this module need none of it
    import httpx2

    def answer(request: httpx2.Request) -> httpx2.Response:
        return httpx2.Response(200, headers={"content-type": "text/event-stream"}, content=raw)

    with (
        httpx2.Client(transport=httpx2.MockTransport(answer)) as http,
        anthropic.Anthropic(api_key="k", base_url="http://upstream", http_client=http) as client,
        client.messages.stream(
            model="m", max_tokens=9, messages=[{"role": "user", "content": "hi"}]
        ) as stream,
    ):
        return stream.get_final_message().to_dict()


def pieces(raw: bytes, sizes: Sequence[int]) -> Iterator[bytes]:
    """Cut at these sizes, again and again."""
    at, turn = 0, 0
    while at < len(raw):
        size = sizes[turn % len(sizes)]
        yield raw[at : at + size]
        at, turn = at + size, turn + 1
