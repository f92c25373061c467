"""One answer of the Responses API, as the events of a stream or as one body."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from tests.made.scripted import Say
from tests.wire.rule_break import Fields
from tests.wire.servers.prompt_cache import BilledTokens
from tests.wire.servers.vendor import cut_up, sse

OUTPUT_TOKENS = 20


@dataclass(frozen=True, slots=True)
class ResponsesAnswer:
    """`id`: of the response. `items`: its output."""

    id: str
    model: str
    items: Sequence[Fields]
    billed: BilledTokens

    @classmethod
    def of(cls, said: Say, body: Fields, number: int, billed: BilledTokens) -> ResponsesAnswer:
        items: list[Fields] = []
        if said.reasoning:
            secret = hashlib.blake2b(said.reasoning.encode(), digest_size=8).hexdigest()
            summary = [{"type": "summary_text", "text": said.reasoning}]
            items.append({"type": "reasoning", "id": f"rs_v{number}", "summary": summary,
                          "encrypted_content": f"gAAA{secret}"})  # fmt: skip
        if said.text:
            part = {"type": "output_text", "text": said.text, "annotations": []}
            items.append({"type": "message", "id": f"msg_v{number}", "status": "completed",
                          "role": "assistant", "content": [part],
                          "phase": "commentary" if said.calls else "final_answer"})  # fmt: skip
        custom = {t.get("name") for t in body.get("tools") or () if t.get("type") == "custom"}
        for index, call in enumerate(said.calls):
            named = {"call_id": f"call_v{number}_{index}", "name": call.name, "status": "completed"}
            if call.name in custom:  # it takes plain text, which is the call's only argument
                (given,) = call.arguments.values()
                items.append({"type": "custom_tool_call", "id": f"ctc_v{number}_{index}",
                              **named, "input": given})  # fmt: skip
            else:
                items.append({"type": "function_call", "id": f"fc_v{number}_{index}",
                              **named, "arguments": json.dumps(call.arguments)})  # fmt: skip
        return cls(f"resp_{number}", str(body.get("model")), items, billed)

    @property
    def usage(self) -> Fields:
        total = self.billed.total
        return {
            "input_tokens": total,
            "input_tokens_details": {
                "cached_tokens": self.billed.read,
                "cache_write_tokens": self.billed.written,
            },
            "output_tokens": OUTPUT_TOKENS,
            "output_tokens_details": {"reasoning_tokens": 0},
            "total_tokens": total + OUTPUT_TOKENS,
        }

    def response(self, status: str = "completed", **changes: Any) -> Fields:
        done = status == "completed"
        return {
            "id": self.id,
            "object": "response",
            "created_at": 1,
            "status": status,
            "error": None,
            "incomplete_details": None,
            "instructions": None,
            "metadata": {},
            "model": self.model,
            "output": list(self.items) if done else [],
            "parallel_tool_calls": True,
            "temperature": 1.0,
            "tool_choice": "auto",
            "tools": [],
            "top_p": 1.0,
            "usage": self.usage if done else None,
            **changes,
        }

    def whole(self) -> bytes:
        return json.dumps(self.response(), ensure_ascii=False).encode()

    def events(self) -> Iterator[bytes]:
        for number, (kind, fields) in enumerate(self._events()):
            yield sse(kind, {"type": kind, "sequence_number": number, **fields})

    def _events(self) -> Iterator[tuple[str, Fields]]:
        begun = self.response("in_progress")
        yield "response.created", {"response": begun}
        yield "response.in_progress", {"response": begun}
        for index, item in enumerate(self.items):
            at = {"output_index": index}
            empty = {**item, **_EMPTY[item["type"]], "status": "in_progress"}
            yield "response.output_item.added", {**at, "item": empty}
            yield from _DELTAS[item["type"]](item, {**at, "item_id": item["id"]})
            yield "response.output_item.done", {**at, "item": item}
        yield "response.completed", {"response": self.response()}


_EMPTY: dict[str, Fields] = {
    "reasoning": {"summary": []},
    "message": {"content": []},
    "function_call": {"arguments": ""},
    "custom_tool_call": {"input": ""},
}


def _reasoning(item: Fields, at: Fields) -> Iterator[tuple[str, Fields]]:
    at = {**at, "summary_index": 0}
    words = item["summary"][0]["text"]
    part = {"type": "summary_text", "text": ""}
    yield "response.reasoning_summary_part.added", {**at, "part": part}
    for piece in cut_up(words):
        yield "response.reasoning_summary_text.delta", {**at, "delta": piece}
    yield "response.reasoning_summary_text.done", {**at, "text": words}
    yield "response.reasoning_summary_part.done", {**at, "part": item["summary"][0]}


def _message(item: Fields, at: Fields) -> Iterator[tuple[str, Fields]]:
    at = {**at, "content_index": 0}
    part = item["content"][0]
    yield "response.content_part.added", {**at, "part": {**part, "text": ""}}
    for piece in cut_up(part["text"]):
        yield "response.output_text.delta", {**at, "delta": piece, "logprobs": []}
    yield "response.output_text.done", {**at, "text": part["text"], "logprobs": []}
    yield "response.content_part.done", {**at, "part": part}


def _call(item: Fields, at: Fields) -> Iterator[tuple[str, Fields]]:
    for piece in cut_up(item["arguments"]):
        yield "response.function_call_arguments.delta", {**at, "delta": piece}
    done = {"name": item["name"], "arguments": item["arguments"]}
    yield "response.function_call_arguments.done", {**at, **done}


def _custom_call(item: Fields, at: Fields) -> Iterator[tuple[str, Fields]]:
    for piece in cut_up(item["input"]):
        yield "response.custom_tool_call_input.delta", {**at, "delta": piece}
    yield "response.custom_tool_call_input.done", {**at, "input": item["input"]}


_DELTAS = {
    "reasoning": _reasoning,
    "message": _message,
    "function_call": _call,
    "custom_tool_call": _custom_call,
}
