"""Answers of several rounds take time in proportion to their length, whatever an upstream sends:
the rest of the table in `test_linear_time.py`."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable

import pytest

from memtree.dialects.tool_definitions import CONTEXT_TOOLS
from memtree.wire import json_body
from memtree_proxy.dialects.anthropic_messages import dialect as messages_dialect
from memtree_proxy.dialects.anthropic_messages.errors import MessagesErrors
from memtree_proxy.dialects.anthropic_messages.stream import MessagesReply, MessagesStream
from memtree_proxy.dialects.openai_responses import dialect as responses_dialect
from memtree_proxy.dialects.openai_responses.errors import ResponsesErrors
from memtree_proxy.dialects.openai_responses.stream import ResponsesReply, ResponsesStream
from memtree_proxy.observability import answer_usage
from tests.hostile_texts import hostile
from tests.hostile_texts.linear_time import Subject, slow
from tests.wire.messages import messages_events
from tests.wire.responses import responses_events
from tests.wire.rule_break import Fields

OURS = CONTEXT_TOOLS.names
PIECE = 8  # characters of a text for one event
MORE = {name: hostile.PLAIN[name] for name in ("one endless line", "empty lines", "han")}


def messages_streamed(raw: bytes) -> object:
    """Stream a later round, of which more is held back."""
    stream = MessagesStream(OURS)
    call = messages_events.tool_use("memory_read")
    stream.feed(b"".join(messages_events.events(messages_events.message(call))))
    stream.end()
    return [stream.feed(raw[at : at + 4096]) for at in range(0, len(raw), 4096)], stream.end()


def responses_streamed(raw: bytes) -> object:
    stream = ResponsesStream(OURS)
    call = responses_events.call("memory_read")
    stream.feed(b"".join(responses_events.events(responses_events.response(call))))
    stream.end()
    return [stream.feed(raw[at : at + 4096]) for at in range(0, len(raw), 4096)], stream.end()


def messages(of: Callable[[str, int], Fields]) -> Callable[[str], bytes]:
    """A stream with one event for each piece of a text."""
    return lambda text: _joined(messages_events.event, of, text)


def responses(of: Callable[[str, int], Fields]) -> Callable[[str], bytes]:
    return lambda text: _joined(responses_events.event, of, text)


def _joined(made: Callable[..., bytes], of: Callable[[str, int], Fields], text: str) -> bytes:
    events: Iterable[Fields] = (of(piece, at) for at, piece in enumerate(hostile.cut(text, PIECE)))
    return b"".join(made(fields.pop("type"), **fields) for fields in events)


def _started(piece: str, at: int) -> Fields:
    kind = ("text", "thinking", "tool_use")[at % 3]
    block = {"type": kind, "name": ("memory_read", "f")[at % 2], "text": piece}
    return {"type": "content_block_start", "index": at, "content_block": block}


def _added(piece: str, at: int) -> Fields:
    kind = ("reasoning", "reasoning", "function_call", "message")[at % 4]
    item = {"type": kind, "id": str(at), "name": ("memory_read", "f")[at % 2], "summary": piece}
    name = ("response.output_item.added", "response.output_item.done")[at % 2]
    return {"type": name, "output_index": at // 2, "item": item, "sequence_number": at}


PIECES = {
    "blocks of messages": Subject(messages_streamed, messages(_started)),
    "thinking in messages": Subject(
        messages_streamed,
        messages(lambda piece, at: {
            "type": "content_block_delta" if at else "content_block_start",
            "index": 0,
            "content_block": {"type": "thinking", "thinking": ""},
            "delta": {"type": "thinking_delta", "thinking": piece},
        }),
    ),
    "a call in messages": Subject(
        messages_streamed,
        messages(lambda piece, at: {
            "type": "content_block_delta" if at else "content_block_start",
            "index": 0,
            "content_block": {"type": "tool_use", "name": "memory_read", "input": {}},
            "delta": {"type": "input_json_delta", "partial_json": piece},
        }),
    ),
    "citations in messages": Subject(
        messages_streamed,
        messages(lambda piece, at: {
            "type": "content_block_delta" if at else "content_block_start",
            "index": 0,
            "content_block": {"type": "text", "text": ""},
            "delta": {"type": "citations_delta", "citation": {"cited_text": piece}},
        }),
    ),
    "ends of messages": Subject(
        messages_streamed,
        messages(lambda piece, at: {
            "type": "message_delta", "delta": {"stop_reason": "tool_use", "stop_sequence": piece},
            "usage": {"output_tokens": at},
        } if at % 2 else _started(piece, at)),
    ),
    "items of responses": Subject(responses_streamed, responses(_added)),
    "reasoning in responses": Subject(
        responses_streamed,
        responses(lambda piece, at: {
            "type": "response.reasoning_text.delta" if at else "response.output_item.added",
            "output_index": 0, "item": {"type": "reasoning", "id": "r"}, "delta": piece,
        }),
    ),
    "ends of responses": Subject(
        responses_streamed,
        responses(lambda piece, at: {
            "type": "response.failed", "response": {"output": [], "id": piece},
        } if at % 2 else _added(piece, at)),
    ),
    "pings": Subject(MessagesErrors().first_error, messages(lambda piece, at: {"type": "ping"})),
    "beginnings": Subject(
        ResponsesErrors().first_error,
        responses(lambda piece, at: {"type": "response.created", "response": {"id": piece}}),
    ),
}  # fmt: skip
TEXTS = {
    "a whole message": Subject(
        MessagesReply(OURS).take,
        lambda text: json.dumps(
            messages_events.message(
                messages_events.text(text), messages_events.tool_use("memory_read", query=text)
            )
        ).encode(),
    ),
    "many blocks": Subject(
        MessagesReply(OURS).take,
        lambda text: json.dumps(
            messages_events.message(
                *(messages_events.tool_use("f", q=one) for one in hostile.cut(text, PIECE))
            )
        ).encode(),
    ),
    "a whole response": Subject(
        ResponsesReply(OURS).take,
        lambda text: json.dumps(
            responses_events.response(
                *(responses_events.call("f", q=one) for one in hostile.cut(text, PIECE))
            )
        ).encode(),
    ),
    "usage of an answer": Subject(
        lambda raw: answer_usage.usage_of(raw, raw),
        lambda text: f'{text} "usage": {{{text}}} "usage": {{"a": {{{text}}}}}'.encode(),
    ),
    "an error of messages": Subject(
        lambda text: MessagesErrors().failed({"message": text, "code": "context_length_exceeded"}),
        hostile.as_it_is,
    ),
    "an error of responses": Subject(
        lambda text: ResponsesErrors(lambda: 0).failed({"message": text, "code": text}),
        hostile.as_it_is,
    ),
    "tools of messages": Subject(
        lambda raw: messages_dialect.tool_offer(json_body.split(raw), (CONTEXT_TOOLS,)),
        lambda text: json.dumps(
            {"tools": [{"name": one} for one in hostile.cut(text, PIECE)] or [{"name": text}]}
        ).encode(),
    ),
    "tools of responses": Subject(
        lambda raw: responses_dialect.tool_offer(json_body.split(raw), (CONTEXT_TOOLS,)),
        lambda text: json.dumps(
            {"tools": [{"name": text}], "input": [text, {"type": "additional_tools"}]}
        ).encode(),
    ),
}


@pytest.mark.slow
@pytest.mark.long
@pytest.mark.parametrize("name", TEXTS)
def test_no_shape_of_a_text_takes_more_than_its_share_of_time(name):
    assert list(slow(TEXTS[name], hostile.shapes(), 1 << 15)) == []


@pytest.mark.slow
@pytest.mark.long
@pytest.mark.parametrize("name", PIECES)
def test_many_small_events_take_no_more_than_their_share_of_time(name):
    assert list(slow(PIECES[name], MORE, 1 << 17)) == []
