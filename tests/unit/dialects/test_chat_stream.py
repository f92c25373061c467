"""Streams of several rounds made one: what the client sees, and what goes back to the model."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

import pytest

from memtree.dialects.tool_definitions import CONTEXT_TOOLS
from memtree_proxy.dialects.chat_stream import SEAM, ToolStream
from tests.made.completion import Completion, completed, said

SEARCH = '{"query": "the limit"}'
USAGE = {"prompt_tokens": 10, "completion_tokens": 2, "total_tokens": 12,
         "prompt_tokens_details": {"cached_tokens": 4}}  # fmt: skip


def chunk(delta: dict[str, Any] | None = None, reason: str | None = None, **more: Any) -> bytes:
    choices = [] if delta is None else [{"index": 0, "delta": delta, "finish_reason": reason}]
    head = {"id": "c1", "object": "chat.completion.chunk", "created": 5, "model": "m"}
    return b"data: " + json.dumps({**head, "choices": choices, **more}).encode() + b"\n\n"


def piece(index: int | None = 0, id_: str | None = None, name: str | None = None,
          arguments: str | None = None, **more: Any) -> dict[str, Any]:  # fmt: skip
    function = {k: v for k, v in (("name", name), ("arguments", arguments)) if v is not None}
    found: dict[str, Any] = {} if index is None else {"index": index}
    if id_ is not None:
        found |= {"id": id_, "type": "function"}
    return {**found, "function": function, **more} if function else {**found, **more}


def calls(*pieces: dict[str, Any]) -> bytes:
    return chunk({"tool_calls": list(pieces)})


DONE = b"data: [DONE]\n\n"
ROLE = chunk({"role": "assistant", "content": ""})
ENDS = chunk({}, "tool_calls")
LAST = [ROLE, chunk({"content": "It is 42."}), chunk({}, "stop"), DONE]
OURS = [
    ROLE,
    calls(piece(0, "a", "memory_search", "")),
    *(calls(piece(0, arguments=part)) for part in (SEARCH[:5], SEARCH[5:])),
    ENDS,
    DONE,
]


def run(*rounds: Iterable[bytes], offered: Iterable[bool] = (), size: int | None = None) -> Any:
    """(what the client got, what was asked of us in each round that was followed)."""
    stream, out, asked = ToolStream(CONTEXT_TOOLS.names), b"", []
    may = iter(offered)
    for round_ in rounds:
        stream.offered = next(may, True)
        raw = b"".join(round_)
        step = size or max(1, len(raw))
        for at in range(0, len(raw), step):
            out += stream.feed(raw[at : at + step])
        rest, found = stream.end()
        out += rest
        if found is None:
            break
        asked.append(found)
    return out, asked


def seen(*rounds: Iterable[bytes], **options: Any) -> Completion:
    return completed(run(*rounds, **options)[0])


# ---------------------------------------------------------------- nothing of ours


@pytest.mark.parametrize(
    "events",
    [
        LAST,
        [b": ping\n\n", *LAST],
        [event.replace(b"\n\n", b"\r\n\r\n") for event in LAST],
        LAST[:-1],  # no [DONE]
        [*LAST[:-1], b"data: [DONE]"],  # no end
        [ROLE, calls(piece(0, "a", "read_file", "{}")), ENDS, DONE],
        [ROLE, calls(piece(0, "a", "memory_searcher", "")), calls(piece(0, arguments="{}")), ENDS],
        [ROLE, calls(piece(0, "a", "f"), piece(0, "b", "g")), ENDS, chunk(usage=USAGE), DONE],
        [b'data: {"error": {"message": "no"}}\n\n', DONE],
        [b"data: nonsense\n\n", b"event: x\nid: 7\ndata: [1]\n\n", b"\n\n", *LAST],
        [chunk(prompt_filter_results=[]), *LAST],
        [chunk({"content": "x", "tool_calls": []}), chunk({"tool_calls": None}), *LAST],
        [chunk({"reasoning_details": [{"index": 3}, 7], "role": "assistant"}), *LAST],
        [chunk({"content": "x"}, usage=None, system_fingerprint="f"), *LAST],
    ],
)  # fmt: skip
@pytest.mark.parametrize("size", [None, 1, 7])
def test_a_round_without_calls_of_ours_goes_through_byte_for_byte(events, size):
    out, asked = run(events, size=size)
    assert (out, asked) == (b"".join(events), [])


# ---------------------------------------------------------------- a round of ours


@pytest.mark.parametrize("size", [None, *range(1, 60)])
def test_the_client_sees_one_answer_whatever_the_pieces(size):
    first = [chunk({"role": "assistant", "content": "Let me see."}), *OURS[1:]]
    out, asked = run(first, LAST, size=size)
    answer = completed(out)
    assert (answer.content, answer.finish) == (f"Let me see.{SEAM}It is 42.", "stop")
    assert (answer.calls, answer.problems) == ([], [])
    function = {"name": "memory_search", "arguments": SEARCH}
    assert said(asked[0]) == {
        "role": "assistant",
        "content": "Let me see.",
        "tool_calls": [{"id": "a", "type": "function", "function": function}],
    }


def test_text_is_shown_as_it_comes_and_calls_are_not():
    stream = ToolStream(CONTEXT_TOOLS.names)
    assert stream.feed(ROLE) == ROLE
    assert stream.feed(said := chunk({"content": "Hm"})) == said
    for event in OURS[1:]:
        assert stream.feed(event) == b""
    assert stream.end()[1] is not None
    assert completed(stream.feed(b"".join(LAST)), partial=True).content == f"{SEAM}It is 42."


def test_later_rounds_have_the_head_of_the_first():
    other = [event.replace(b'"c1"', b'"c2"').replace(b'"created": 5', b'"created": 9')
             for event in LAST]  # fmt: skip
    answer = seen(OURS, OURS, other)
    assert (answer.ids, answer.created, answer.roles) == ({"c1"}, {5}, 1)
    assert answer.problems == []


def test_no_seam_where_nothing_was_said_or_white_space_stands():
    assert seen(OURS, LAST).content == "It is 42."
    spaced = [chunk({"role": "assistant", "content": "Wait.\n"}), *OURS[1:]]
    assert seen(spaced, LAST).content == "Wait.\nIt is 42."


@pytest.mark.parametrize("reason", ["stop", "tool_calls", None])
def test_whatever_reason_ends_a_round_that_calls(reason):
    """Gemini says stop; some say nothing."""
    ended = [*OURS[:-2], *([chunk({}, reason)] if reason else []), DONE]
    out, asked = run(ended, LAST)
    assert len(asked) == 1
    assert (completed(out).finish, completed(out).content) == ("stop", "It is 42.")


@pytest.mark.parametrize("reason", ["length", "content_filter"])
def test_a_round_that_was_cut_is_the_last(reason):
    out, asked = run([*OURS[:-2], chunk({}, reason), DONE])
    answer = completed(out)
    assert asked == []
    assert (answer.calls, answer.finish, answer.problems) == ([], reason, [])


def test_a_stream_that_breaks_off_asks_nothing():
    out, asked = run(OURS[:-2])
    assert asked == []
    assert out == ROLE


def test_an_error_in_a_later_round_goes_through():
    error = b'data: {"error": {"message": "overloaded"}}\n\n'
    out, asked = run(OURS, [ROLE, error, DONE])
    assert (out, len(asked)) == (ROLE + error + DONE, 1)


def test_an_error_behind_calls_of_ours_is_the_end():
    error = b'data: {"error": {"message": "overloaded"}}\n\n'
    out, asked = run([*OURS[:4], error, DONE])
    assert (out, asked) == (ROLE + error + DONE, [])


def test_a_round_that_may_not_call_any_more():
    out, asked = run(OURS, OURS, offered=[True, False])
    answer = completed(out)
    assert len(asked) == 1
    assert (answer.calls, answer.finish, answer.problems) == ([], "stop", [])


# ---------------------------------------------------------------- whose call?


def test_several_calls_of_ours_in_one_round():
    together = calls(
        piece(0, "a", "memory_search", SEARCH), piece(1, "b", "memory_read", '{"first": 1}')
    )
    _, asked = run([ROLE, together, ENDS, DONE], LAST)
    assert [(call.name, call.id) for call in asked[0].calls] == [
        ("memory_search", "a"), ("memory_read", "b")]  # fmt: skip


@pytest.mark.parametrize("first", ["ours", "theirs"])
def test_a_mixed_round_is_the_clients(first):
    own = [calls(piece(0, "a", "memory_search", "")), calls(piece(0, arguments=SEARCH))]
    client = [calls(piece(1, "b", "read_file", "")), calls(piece(1, arguments='{"x": 1}'))]
    if first == "theirs":
        own, client = client, own
        own = [calls(piece(0, "b", "read_file", "")), calls(piece(0, arguments='{"x": 1}'))]
        client = [calls(piece(1, "a", "memory_search", "")), calls(piece(1, arguments=SEARCH))]
    out, asked = run([ROLE, *own, *client, ENDS, DONE])
    answer = completed(out)
    assert asked == []
    assert answer.calls == [("b", "read_file", '{"x": 1}')]
    assert (answer.indices, answer.finish, answer.problems) == ([0], "tool_calls", [])


def test_calls_of_the_client_behind_ours_are_numbered_anew():
    events = [calls(piece(0, "a", "memory_search", SEARCH), piece(1, "b", "f", "{"),
                    piece(2, "c", "memory_read", "{}"), piece(3, "d", "g", "{}")),
              calls(piece(1, arguments="}"))]  # fmt: skip
    answer = seen([ROLE, *events, ENDS, DONE])
    assert answer.calls == [("b", "f", "{}"), ("d", "g", "{}")]
    assert answer.indices == [0, 1]


@pytest.mark.parametrize("name", ["memory", "memory_", "memory_search2", "memory_searc", "m"])
def test_a_name_that_begins_like_ours_is_the_clients(name):
    for cut in range(len(name) + 1):
        events = [calls(piece(0, "a", name[:cut], "")), calls(piece(0, name=name[cut:])),
                  calls(piece(0, arguments='{"x":')), calls(piece(0, arguments="1}"))]  # fmt: skip
        answer = seen([ROLE, *events, ENDS, DONE])
        assert (answer.calls, answer.problems) == ([("a", name, '{"x":1}')], [])


@pytest.mark.parametrize("reason", ["tool_calls", None])
def test_a_call_without_arguments_is_told_at_the_end(reason):
    end = [chunk({}, reason)] if reason else []
    answer = seen([ROLE, calls(piece(0, "a", "memory")), *end, DONE])
    assert (answer.calls, answer.problems) == ([("a", "memory", "")], [])
    answer = seen(
        [ROLE, calls(piece(0, "a", "memory")), calls(piece(1, "b", "f", "{}")), *end, DONE]
    )
    assert answer.calls == [("a", "memory", ""), ("b", "f", "{}")]


def test_a_name_in_pieces_is_ours():
    events = [calls(piece(0, "a", "mem")), calls(piece(0, name="ory_se")),
              calls(piece(0, name="arch")), calls(piece(0, arguments=SEARCH))]  # fmt: skip
    out, asked = run([ROLE, *events, ENDS, DONE], LAST)
    assert [(call.name, call.arguments) for call in asked[0].calls] == [("memory_search", SEARCH)]
    assert completed(out).calls == []


# ---------------------------------------------------------------- providers


def both(*events: bytes, reason: str = "tool_calls") -> list[tuple[str, str]]:
    """The calls that a round with two of ours asks, where the client sees none."""
    out, asked = run([ROLE, *events, chunk({}, reason), DONE], LAST)
    assert (completed(out).calls, completed(out).problems) == ([], [])
    made = said(asked[0])["tool_calls"]
    assert len({call["id"] for call in made}) == len(made)
    return [(call.name, call.arguments) for call in asked[0].calls]


TWO = [("memory_search", SEARCH), ("memory_read", '{"first": 1}')]


def test_mistral_calls_come_whole_with_reason_and_usage():
    delta = {"content": "", "tool_calls": [
        piece(n, f"id{n}", *call) for n, call in enumerate(TWO)]}  # fmt: skip
    out, asked = run([ROLE, chunk(delta, "tool_calls", usage=USAGE), DONE],
                     [ROLE, chunk({"content": "ok"}, "stop", usage=USAGE), DONE])  # fmt: skip
    assert [(c.name, c.arguments) for c in asked[0].calls] == TWO
    assert completed(out).usage == {"prompt_tokens": 20, "completion_tokens": 4,
                                    "total_tokens": 24,
                                    "prompt_tokens_details": {"cached_tokens": 8}}  # fmt: skip


def test_gemini_has_no_index_and_ends_with_stop():
    signed = {"extra_content": {"google": {"thought_signature": "sig"}}}
    events = [calls(piece(None, "x1", *TWO[0], **signed)), calls(piece(None, "x2", *TWO[1]))]
    assert both(*events, reason="stop") == TWO
    message = said(run([*events, chunk({}, "stop"), DONE], LAST)[1][0])
    assert message["tool_calls"][0]["extra_content"] == signed["extra_content"]


def test_gemini_without_ids_and_arguments_in_pieces_without_index():
    events = [calls(piece(None, "", "memory_search", SEARCH[:4])),
              calls(piece(None, arguments=SEARCH[4:])),
              calls(piece(None, "", *TWO[1]))]  # fmt: skip
    assert both(*events) == TWO


@pytest.mark.parametrize("ids", [("a", "b"), ("", ""), (None, None)])
def test_gateways_that_number_every_call_0(ids):
    events = [calls(piece(0, id_, *call)) for id_, call in zip(ids, TWO, strict=True)]
    assert both(*events) == TWO


def test_a_gateway_that_repeats_id_and_name_in_every_piece():
    events = [calls(piece(0, "a", "memory_search", part)) for part in (SEARCH[:6], SEARCH[6:])]
    assert both(*events, calls(piece(1, "b", *TWO[1]))) == TWO
    early = [calls(piece(0, "a", "memory_search", part)) for part in ("", "", SEARCH)]
    assert both(*early, calls(piece(1, "b", *TWO[1]))) == TWO


def test_ollama_calls_come_whole_with_an_index_of_their_own():
    assert both(*(calls(piece(n, f"call_{n}", *call)) for n, call in enumerate(TWO))) == TWO


def test_vllm_begins_a_call_with_its_name_and_no_arguments():
    events = [event for n, (name, arguments) in enumerate(TWO) for event in (
        calls(piece(n, f"chatcmpl-tool-{n}", name)), calls(piece(n, arguments=arguments[:3])),
        calls(piece(n, arguments=arguments[3:])))]  # fmt: skip
    assert both(*events) == TWO


def test_arguments_as_an_object():
    call = {"index": 0, "id": "a", "function": {"name": "memory_read", "arguments": {"first": 3}}}
    assert both(calls(call)) == [("memory_read", '{"first":3}')]


@pytest.mark.parametrize("arguments", ["", "{", "[1]", '{"query": "x"}}', "null"])
def test_arguments_that_are_none_go_back_sound(arguments):
    """Servers that read the arguments of their history refuse others."""
    _, asked = run([ROLE, calls(piece(0, "a", "memory_search", arguments)), ENDS, DONE], LAST)
    function = said(asked[0])["tool_calls"][0]["function"]
    assert function == {"name": "memory_search", "arguments": "{}"}
    assert asked[0].calls[0].arguments == arguments


def test_deepseek_reasoning_is_shown_and_goes_back():
    thinks = [
        chunk({"reasoning_content": part, "content": None}) for part in ("I should ", "look.")
    ]
    out, asked = run([*thinks, *OURS], [ROLE, chunk({"reasoning_content": "Found."}), *LAST[1:]])
    assert said(asked[0])["reasoning_content"] == "I should look."
    assert completed(out).fields["reasoning_content"] == "I should look.Found."


def test_openrouter_details_go_back_joined_and_are_numbered_on():
    details = [
        {"type": "reasoning.text", "text": "I ", "index": 0, "format": "anthropic-claude-v1"},
        {"type": "reasoning.text", "text": "look", "index": 0},
        {"type": "reasoning.text", "signature": "s1", "index": 0},
        {"type": "reasoning.text", "text": "again", "index": 1},
        {"type": "reasoning.encrypted", "data": "xyz", "index": 2},
    ]
    thinks = [chunk({"reasoning": d.get("text"), "reasoning_details": [d]}) for d in details]
    out, asked = run([*thinks, *OURS], [*thinks[:1], *LAST])
    assert said(asked[0])["reasoning_details"] == [
        {"type": "reasoning.text", "text": "I look", "index": 0, "signature": "s1",
         "format": "anthropic-claude-v1"},
        {"type": "reasoning.text", "text": "again", "index": 1},
        {"type": "reasoning.encrypted", "data": "xyz", "index": 2},
    ]  # fmt: skip
    assert said(asked[0])["reasoning"] == "I lookagain"
    shown = [d["index"] for d in completed(out).lists["reasoning_details"]]
    assert shown == [0, 0, 0, 1, 2, 3]


def test_magistral_thinks_in_parts_of_the_content():
    part = {"type": "thinking", "thinking": [{"type": "text", "text": "hm"}]}
    out, asked = run([chunk({"content": [part]}), chunk({"content": "So."}), *OURS], LAST)
    assert said(asked[0])["content"] == [part, {"type": "text", "text": "So."}]
    assert b'"hm"' in out


def test_parts_of_azure_and_openrouter_are_taken():
    """A first chunk without choices, and the reason once more in the chunk with the usage."""
    first = [chunk(prompt_filter_results=[{}]), *OURS[:-1], chunk({"content": ""}, "tool_calls",
             usage=USAGE), DONE]  # fmt: skip
    out, asked = run(
        first, [chunk(prompt_filter_results=[{}]), *LAST[:-1], chunk(usage=USAGE), DONE]
    )
    answer = completed(out)
    assert len(asked) == 1
    assert (answer.usage["total_tokens"], answer.problems) == (24, [])


# ---------------------------------------------------------------- usage


def test_usage_is_the_sum_and_shown_only_in_the_end():
    first = [*OURS[:-1], chunk(usage=USAGE), DONE]
    answer = seen(first, first, [*LAST[:-1], chunk(usage=USAGE), DONE])
    assert answer.usage == {"prompt_tokens": 30, "completion_tokens": 6, "total_tokens": 36,
                            "prompt_tokens_details": {"cached_tokens": 12}}  # fmt: skip
    assert answer.usages == 1


def test_without_usage_there_is_none():
    assert seen(OURS, LAST).usage is None


def test_usage_that_grows_in_every_chunk_counts_once():
    """xAI tells in each chunk what was used so far."""
    grown = [chunk({"content": w}, usage={"total_tokens": n}) for n, w in enumerate("abc", 1)]
    first = [*grown, *OURS[1:-2], chunk({}, "tool_calls", usage={"total_tokens": 9}), DONE]
    answer = seen(first, [*grown, chunk({}, "stop", usage={"total_tokens": 4}), DONE])
    assert answer.usage == {"total_tokens": 13}


# ---------------------------------------------------------------- calls that nobody answers


@pytest.mark.parametrize("size", [None, 7])
@pytest.mark.parametrize("ends", [[ENDS, DONE], [DONE]])
def test_whole_calls_beside_the_clients_are_told_before_the_end(ends: list[bytes], size: int):
    stream, told, out = ToolStream(CONTEXT_TOOLS.names), [], b""
    mine = calls(piece(0, "a", "memory_search", SEARCH), piece(1, "b", "read_file", "{}"))
    raw = b"".join([ROLE, mine, *ends])
    step = size or len(raw)
    for at in range(0, len(raw), step):
        shown = stream.feed(raw[at : at + step])
        told += stream.unanswered()
        assert told or b"[DONE]" not in out + shown
        out += shown
    assert [(call.name, call.arguments) for call in told] == [("memory_search", SEARCH)]
    assert stream.end() == (b"", None)
    assert stream.unanswered() == []


@pytest.mark.parametrize(
    ("events", "offered"),
    [
        (OURS, True),
        ([calls(piece(0, "b", "read_file", "{}")), ENDS, DONE], True),
        ([*OURS[:-2], calls(piece(1, "b", "read_file", "{}")), ENDS, DONE], False),
        ([*OURS[:-2], calls(piece(1, "b", "read_file", "{}")), chunk({}, "length"), DONE], True),
    ],
    ids=["answered", "none of ours", "not offered", "cut off"],
)
def test_calls_that_were_answered_or_may_not_count_are_not_told(events: Any, offered: bool):
    stream = ToolStream(CONTEXT_TOOLS.names, offered=offered)
    stream.feed(b"".join(events))
    assert stream.unanswered() == []
