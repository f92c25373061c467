"""One answer of the Messages API, as the events of a stream or as one body."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from tests.made.scripted import Say
from tests.wire.rule_break import Fields
from tests.wire.servers.prompt_cache import BilledTokens
from tests.wire.servers.vendor import cut_up, sse
from tests.wire.thinking import signature

PING = sse("ping", {"type": "ping"})
OUTPUT_TOKENS = 20


@dataclass(frozen=True, slots=True)
class MessagesAnswer:
    """`id`: its number. `blocks`: its content."""

    id: str
    model: str
    blocks: Sequence[Fields]
    billed: BilledTokens

    @classmethod
    def of(cls, said: Say, body: Fields, number: int, billed: BilledTokens) -> MessagesAnswer:
        """Thinking is made where the request allows it, and bound to what the request holds."""
        blocks: list[Fields] = []
        thinks = (body.get("thinking") or {}).get("type", "adaptive") != "disabled"
        if said.reasoning and thinks:
            signed = signature(body, said.reasoning)
            blocks.append({"type": "thinking", "thinking": said.reasoning, "signature": signed})
        if said.text:
            blocks.append({"type": "text", "text": said.text})
        for index, call in enumerate(said.calls):
            name = f"toolu_v{number}_{index}"
            blocks.append(
                {"type": "tool_use", "id": name, "name": call.name, "input": call.arguments}
            )
        return cls(f"msg_v{number}", str(body.get("model")), blocks, billed)

    @property
    def stop_reason(self) -> str:
        return "tool_use" if any(b["type"] == "tool_use" for b in self.blocks) else "end_turn"

    @property
    def usage(self) -> Fields:
        return {
            "input_tokens": self.billed.plain,
            "cache_creation_input_tokens": self.billed.written,
            "cache_read_input_tokens": self.billed.read,
            "cache_creation": {
                "ephemeral_5m_input_tokens": self.billed.written,
                "ephemeral_1h_input_tokens": 0,
            },
            "output_tokens": OUTPUT_TOKENS,
            "service_tier": "standard",
        }

    def message(self, **changes: Any) -> Fields:
        return {
            "id": self.id,
            "type": "message",
            "role": "assistant",
            "model": self.model,
            "content": list(self.blocks),
            "stop_reason": self.stop_reason,
            "stop_sequence": None,
            "usage": self.usage,
            **changes,
        }

    def whole(self) -> bytes:
        return json.dumps(self.message(), ensure_ascii=False).encode()

    def events(self) -> Iterator[bytes]:
        begun = self.message(content=[], stop_reason=None, usage={**self.usage, "output_tokens": 1})
        yield sse("message_start", {"type": "message_start", "message": begun})
        yield PING
        for index, block in enumerate(self.blocks):
            yield from _block(index, block)
        end = {"stop_reason": self.stop_reason, "stop_sequence": None}
        usage = {"output_tokens": OUTPUT_TOKENS}
        yield sse("message_delta", {"type": "message_delta", "delta": end, "usage": usage})
        yield sse("message_stop", {"type": "message_stop"})


def _block(index: int, block: Fields) -> Iterator[bytes]:
    kind = block["type"]
    empty: Fields = {"type": kind}
    deltas: list[Fields] = []
    if kind == "thinking":
        empty |= {"thinking": "", "signature": ""}
        deltas = [{"type": "thinking_delta", "thinking": p} for p in cut_up(block["thinking"])]
        deltas.append({"type": "signature_delta", "signature": block["signature"]})
    elif kind == "text":
        empty |= {"text": ""}
        deltas = [{"type": "text_delta", "text": piece} for piece in cut_up(block["text"])]
    else:
        empty |= {"id": block["id"], "name": block["name"], "input": {}}
        pieces = ["", *cut_up(json.dumps(block["input"], ensure_ascii=False))]
        deltas = [{"type": "input_json_delta", "partial_json": piece} for piece in pieces]
    yield _event("content_block_start", index=index, content_block=empty)
    for delta in deltas:
        yield _event("content_block_delta", index=index, delta=delta)
    yield _event("content_block_stop", index=index)


def _event(kind: str, **fields: Any) -> bytes:
    return sse(kind, {"type": kind, **fields})
