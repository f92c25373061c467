"""Check what the wire dialects read and write takes time in proportion to its length."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from dataclasses import replace

import pytest

from memtree.context.answer import Answer, KeptMessage, MemoryText
from memtree.context.answer_state import State
from memtree.dialects import (
    messages_blocks,
    messages_history,
    responses_conversation,
    responses_history,
)
from memtree.dialects.fragment_caches import TranslationCache
from memtree.dialects.responses_items import ItemCache, KnownInputs, read_item
from memtree.dialects.tool_definitions import CONTEXT_TOOLS
from memtree.dialects.translated_messages import RawItems, raw_items
from memtree.errors import BadRequest
from memtree.history import chat_history, json_body
from memtree.history.chat_history import describe
from memtree.history.conversation_beginning import Preamble
from memtree.history.message import Message, Volatile
from memtree.history.message_list import EarlierList
from memtree.history.posted_json import mended
from memtree_proxy.dialects import messages_dialect, responses_dialect
from memtree_proxy.dialects.messages_stream import MessagesErrors, MessagesReply, MessagesStream
from memtree_proxy.dialects.responses_stream import ResponsesErrors, ResponsesReply, ResponsesStream
from memtree_proxy.http import answer_usage
from memtree_proxy.http.known_bodies import KnownBodies
from tests.hostile_texts import hostile
from tests.hostile_texts.linear_time import Subject, slow
from tests.wire.messages import messages_events
from tests.wire.messages.messages_shorthand import assistant, called, result, thinking, user
from tests.wire.messages.messages_shorthand import text as block
from tests.wire.responses import responses_events
from tests.wire.rule_break import Fields

# ------------------------------------------------------------------------------------------------
# Check what the wire dialects read takes time in proportion to its length, too: the rest of the
# table in `test_linear_time.py`.


LEAST_TEXT = 24  # characters of a text for one item of a list


def _item(**fields: object) -> bytes:
    return json.dumps(fields).encode()


def _read(raw: bytes) -> Message:
    found = responses_conversation.read(None, [raw], [read_item(raw, "input[0]")])
    return found.messages[0]


def _listed(items: Iterable[Mapping[str, object]]) -> bytes:
    return json.dumps({"input": list(items)}).encode()


def _late(text: str) -> bytes:
    """Calls, each with a question behind it, and all their outputs at the end."""
    names = [str(at) for at in range(len(text) // LEAST_TEXT + 1)]
    call = {"type": "function_call", "name": text[:9], "arguments": "{}"}
    asked = [
        one
        for n in names
        for one in ({**call, "call_id": n}, {"role": "user", "content": text[:9]})
    ]
    outputs = [{"type": "function_call_output", "call_id": n, "output": text[:9]} for n in names]
    return _listed([*asked, *outputs])


def _sealed(text: str) -> bytes:
    """Calls before compactions, and their outputs behind."""
    names = [str(at) for at in range(len(text) // LEAST_TEXT + 1)]
    calls = [{"type": "function_call", "name": "a", "call_id": n} for n in names]
    outputs = [{"type": "function_call_output", "call_id": n, "output": "a"} for n in names]
    return _listed([*calls, {"type": "compaction"}, *calls, {"type": "compaction"}, *outputs])


def _one_run(text: str) -> bytes:
    return _listed({"role": "assistant", "content": one} for one in text[:: LEAST_TEXT // 2])


def _posted(raw: bytes) -> object:
    found = responses_history.read(json_body.split(raw), "t", ItemCache(1))
    return found.fields(None, None, [b"{}"])


def _given(found: RawItems) -> Callable[[], RawItems]:
    return lambda: found


def _reposted(raw: bytes) -> object:
    """Half of it first, then all behind what is known."""
    known, cache = KnownInputs(), ItemCache(1)
    items = json.loads(raw)["input"]
    half = len(items) // 2
    before: EarlierList | None = None
    for body in (json.dumps({"input": items[:half]}).encode(), raw):
        split = json_body.split(body)
        raws = raw_items(split, "input")
        assert raws is not None
        found = replace(raws, earlier=before)
        with suppress(BadRequest):
            responses_history.read_items(split, _given(found), "t", cache, known)
        before = EarlierList(raws.number, half)
    return known


def _continued(bodies: tuple[bytes, ...]) -> object:
    """One after the other: behind what is known only the rest is read."""
    known = KnownBodies(1)
    for body in bodies:
        with suppress(BadRequest):
            known.split(known.begin("t", "input", body)).items("input")
    return known


def _longer(text: str) -> tuple[bytes, ...]:
    """Half of the items first; then all of them; then with what is wrong behind them."""
    items = [json.dumps({"role": "user", "content": one * 40}) for one in text[:: LEAST_TEXT // 4]]
    bodies = [items[: len(items) // 2], items, [*items, text]]
    return tuple(f'{{"a":1,"input":[{",".join(one)}]}}'.encode() for one in bodies)


def _message(raw: bytes) -> object:
    return messages_blocks.read(raw, "messages[0]")


def _messages(*messages: Mapping[str, object]) -> bytes:
    return json.dumps({"max_tokens": 9, "messages": messages}).encode()


def _folded(raw: bytes) -> object:
    """Read, and all of it written behind a memory message that carries every first block."""
    found = messages_history.read(json_body.split(raw), "t", TranslationCache(1))
    size = len(found.messages)
    parts = tuple((0, at) for at in range(len(found.messages[0].parts)))
    kept = [KeptMessage(at, "recalled" * (at % 9 == 0)) for at in range(1, size)]
    memory = MemoryText("m", Preamble("", parts, 1), True, {"type": "ephemeral"})
    answer = Answer(State.PACKED, True, (memory, *kept), b"", 0, 0, 0, begun=size)
    return found.fields(answer, None, [b"{}"])


def _answered_late(text: str) -> bytes:
    """Many calls at once, each answered in a message of its own."""
    names = [str(at) for at in range(len(text) // LEAST_TEXT + 1)]
    calls = assistant(*(called(name, text[:9], {}) for name in names))
    return _messages(user("a"), calls, *(user([result(name, text[:9])]) for name in names))


def _thoughts(text: str) -> bytes:
    """Answers of thinking alone, which all go."""
    said = text[:: LEAST_TEXT // 2] or text
    pairs = [one for letter in said for one in (user(letter), assistant(thinking(letter)))]
    return _messages(*pairs, user("b"))


def _search(text: str) -> bytes:
    """Return what a tool of the provider found: many pages."""
    pages = [{"title": one, "url": one, "encrypted_content": one} for one in text[::LEAST_TEXT]]
    found = {"type": "web_search_tool_result", "tool_use_id": "s", "content": pages}
    return json.dumps(assistant(found, block(text))).encode()


def _odd(text: str) -> bytes:
    """Parts that are no parts, and half characters."""
    parts = [part for one in text[::LEAST_TEXT] for part in (one, 5, {"a": one}, {"text": one})]
    return json.dumps({"role": "user", "content": parts}).encode()[:-1] + rb',"a":"\ud99c"}'


def _attached(text: str) -> bytes:
    pieces = [{"type": "text", "text": one} for one in text[::LEAST_TEXT]]
    source = {"type": "content", "content": pieces}
    documents = [{"type": "document", "title": one, "source": source} for one in text[:4]]
    return json.dumps({"role": "user", "content": documents}).encode()


def _whole_message(raw: bytes) -> object:
    message = Message(raw)
    return describe(message, Volatile()), message.documents(Volatile())


def _orphans(text: str) -> list[Message]:
    """Calls, each with a question behind it, and results far behind them and of no call."""
    names = [str(at) for at in range(len(text) // LEAST_TEXT + 1)]
    function = {"name": text[:9], "arguments": "{}"}
    calls = [{"id": name, "type": "function", "function": function} for name in names]
    asked = [{"role": "assistant", "content": None, "tool_calls": [call]} for call in calls]
    talk = [one for call in asked for one in (call, {"role": "user", "content": "?"})]
    results = [{"role": "tool", "tool_call_id": name, "content": "r"} for name in names * 2]
    return [Message.of(one) for one in (*results, *talk, *results)]


TEXTS = {
    "half characters": Subject(
        mended,
        lambda text: b'"' + text.encode().replace(b"\\", b"") + rb"\ud99c\ud99c\n" * 9 + b'"',
    ),
    "parts of no known form": Subject(_whole_message, _odd),
    "attached documents": Subject(_whole_message, _attached),
    "results without calls": Subject(
        lambda talk: chat_history.read("t", talk, Volatile()).cuts, _orphans
    ),
    "a message of the user": Subject(
        _message, lambda text: json.dumps(user([result("a", [block(text)]), block(text)])).encode()
    ),
    "a message of the assistant": Subject(
        _message,
        lambda text: json.dumps(
            assistant(thinking(text, text), block(text), called(text, text, {"a": text}))
        ).encode(),
    ),
    "a system message": Subject(
        _message, lambda text: json.dumps({"role": "system", "content": text}).encode()
    ),
    "results of a provider": Subject(_message, _search),
    "texts of a result": Subject(
        messages_blocks.readable_texts, lambda text: {"content": [{"text": one} for one in text]}
    ),
    "blocks before a message's own": Subject(
        lambda raw: messages_blocks.with_blocks(raw, [b"{}"]), hostile.message("user")
    ),
    "many results": Subject(_folded, _answered_late),
    "messages of thinking alone": Subject(_folded, _thoughts),
    "many blocks of context": Subject(
        _folded,
        lambda text: _messages(user([block(one) for one in text[::8]]), assistant(block("a"))),
    ),
    "an item of the user": Subject(
        _read, lambda text: _item(role="user", content=[{"type": "input_text", "text": text}])
    ),
    "a marked item of the user": Subject(
        _read,
        lambda text: _item(
            role="user",
            content=[{"type": "input_text", "text": text, "prompt_cache_breakpoint": {"a": text}}],
        ),
    ),
    "a body that is known in part": Subject(_continued, _longer),
    "items in one text behind known ones": Subject(
        _continued,
        lambda text: tuple(
            json.dumps({"input": [*[["b" * 99]] * 400, text[:end]]}).encode()
            for end in (9, len(text) // 2, len(text))
        ),
    ),
    "an item of the model": Subject(_read, lambda text: _item(role="assistant", content=text)),
    "an item of reasoning": Subject(
        _read, lambda text: _item(type="reasoning", summary=[{"text": text}], id=text)
    ),
    "an item that calls": Subject(
        _read,
        lambda text: _item(
            type="function_call", name=text, call_id=text, arguments=f'{{"a":{json.dumps(text)}}}'
        ),
    ),
    "an item of another call": Subject(
        _read, lambda text: _item(type="shell_call", action={text: [text]}, id=text)
    ),
    "an item of an output": Subject(
        lambda raw: read_item(raw, "a"),
        lambda text: _item(type="function_call_output", call_id=text, output=text),
    ),
    "an item of a shell's output": Subject(
        lambda raw: read_item(raw, "a"),
        lambda text: _item(type="shell_call_output", call_id="a", output=[{"stdout": text}] * 3),
    ),
    "an item of the server": Subject(
        _read,
        lambda text: _item(
            type="web_search_call", action={"queries": [text], "sources": [{"url": text}]}
        ),
    ),
    "a list of tools": Subject(
        _read,
        lambda text: _item(
            type="mcp_list_tools", tools=[{"name": one} for one in text[::LEAST_TEXT]]
        ),
    ),
    "an item that nobody knows": Subject(_read, lambda text: _item(type="a", what={text: text})),
    "a text before an item's own": Subject(
        lambda raw: responses_history.with_text_before(raw, "block"), hostile.message("user")
    ),
    "late outputs": Subject(_posted, _late),
    "a late output behind a known beginning": Subject(_reposted, _late),
    "a run behind a known beginning": Subject(_reposted, _one_run),
    "outputs behind a compaction": Subject(_posted, _sealed),
    "a run of many items": Subject(_posted, _one_run),
}


@pytest.mark.slow
@pytest.mark.long
@pytest.mark.parametrize("name", TEXTS)
def test_no_shape_of_a_text_takes_more_than_its_share_of_time(name):
    assert list(slow(TEXTS[name], hostile.shapes(), 1 << 15)) == []


# ------------------------------------------------------------------------------------------------
# Answers of several rounds take time in proportion to their length, whatever an upstream sends: the
# rest of the table in `test_linear_time.py`.


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
ROUNDS_TEXTS = {
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
        lambda text: MessagesErrors().failed({"message": text, "code": "context_length_exceeded"})
    ),
    "an error of responses": Subject(
        lambda text: ResponsesErrors(lambda: 0).failed({"message": text, "code": text})
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
@pytest.mark.parametrize("name", ROUNDS_TEXTS)
def test_no_shape_of_a_text_takes_more_than_its_share_of_time_of_rounds(name):
    assert list(slow(ROUNDS_TEXTS[name], hostile.shapes(), 1 << 15)) == []


@pytest.mark.slow
@pytest.mark.long
@pytest.mark.parametrize("name", PIECES)
def test_many_small_events_take_no_more_than_their_share_of_time(name):
    assert list(slow(PIECES[name], MORE, 1 << 17)) == []
