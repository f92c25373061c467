"""Streams of several rounds made one message: what the client sees, and what goes back."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memtree.dialects import messages_history
from memtree.dialects.fragment_caches import TranslationCache
from memtree.dialects.tool_definitions import CONTEXT_TOOLS
from memtree.history import json_body
from memtree_proxy.dialects.messages_round import results
from memtree_proxy.dialects.messages_stream import MessagesReply, MessagesStream
from memtree_proxy.dialects.round_calls import ToolRound
from tests.wire.messages import messages_events as wire
from tests.wire.messages.messages_events import PING, event, events, message, text, tool_use
from tests.wire.rule_break import Fields

OURS = tool_use("memory_search", "toolu_a", query="the limit")
THEIRS = tool_use("Read", "toolu_b", path="a.py")
ANSWER = text("It is 42.")
LAST = message(ANSWER, id="msg_2")


def run(
    *rounds: Sequence[bytes], sizes: Sequence[int] = (1 << 20,), offered: Iterable[bool] = ()
) -> tuple[bytes, list[ToolRound], list[str]]:
    """Return what the client got, what was asked of us, and the names of calls that stay
    unanswered."""
    stream, out, asked, unanswered = MessagesStream(CONTEXT_TOOLS.names), b"", [], []
    may = iter(offered)
    for round_ in rounds:
        stream.offered = next(may, True)
        for piece in wire.pieces(b"".join(round_), sizes):
            out += stream.feed(piece)
            unanswered += [call.name for call in stream.unanswered()]
        rest, found = stream.end()
        out += rest
        if found is None:
            break
        asked.append(found)
    return out, asked, unanswered


def seen(*answers: Fields, **options: Any) -> Fields:
    return wire.read(run(*map(events, answers), **options)[0])


def back(asked: ToolRound) -> Fields:
    (item,) = asked.items
    return dict(json.loads(item))


# ---------------------------------------------------------------- nothing of ours


@pytest.mark.parametrize(
    "script",
    [
        events(LAST),
        [PING, b": comment\n\n", *events(LAST)],
        [one.replace(b"\n", b"\r\n") for one in events(LAST)],
        events(LAST)[:-1],  # it breaks off
        [*events(LAST)[:-1], events(LAST)[-1][:-2]],
        events(message(wire.THINKING, wire.REDACTED, wire.CITED, wire.SEARCHING, wire.SEARCHED)),
        events(message(THEIRS)),
        events(message(tool_use("memory_searcher"), tool_use("memory"))),
        events(message(text("Well"), reason="pause_turn")),
        events(message(text("No"), reason="refusal")),
        events(message(text("A" * 500), reason="max_tokens")),
        [*events(LAST)[:3], event("surprise", index=0, x=[1]), *events(LAST)[3:]],
        [event("error", error={"type": "overloaded_error", "message": "no"})],
        [b"data: nonsense\n\n", b"data: [1]\n\n", b"event: x\ndata: {}\n\n", *events(LAST)],
        [event("content_block_delta", index=9, delta={"type": "text_delta"}), *events(LAST)],
        [event("content_block_start", index=[], content_block=7), event("content_block_stop")],
        [event("message_delta", delta=None, usage=7), event("message_start", message=[])],
    ],
)
@pytest.mark.parametrize("size", [1 << 20, 1, 7])
def test_a_round_without_calls_of_ours_goes_through_byte_for_byte(script, size):
    assert run(script, sizes=(size,)) == (b"".join(script), [], [])


# ---------------------------------------------------------------- a round of ours

BLOCKS = [wire.THINKING, text("Let me see."), wire.SEARCHING, wire.SEARCHED, wire.CITED]


@pytest.mark.parametrize("place", range(len(BLOCKS) + 1))
def test_a_call_of_ours_is_hidden_wherever_it_stands(place):
    first = message(*BLOCKS[:place], OURS, *BLOCKS[place:])
    out, asked, unanswered = run(events(first), events(LAST))
    answer = wire.read(out)
    assert answer["content"] == [*BLOCKS, ANSWER]
    assert (answer["id"], answer["stop_reason"]) == ("msg_1", "end_turn")
    assert b"toolu_a" not in out
    assert b"memory_search" not in out
    assert [back(one) for one in asked] == [{"role": "assistant", "content": first["content"]}]
    (call,) = asked[0].calls
    assert (call.id, call.name, json.loads(call.arguments)) == (
        "toolu_a", "memory_search", {"query": "the limit"},
    )  # fmt: skip
    assert unanswered == []


def test_what_stands_before_our_call_is_shown_as_it_comes():
    first = events(message(wire.THINKING, text("Let me see."), OURS))
    before = first[: first.index(next(one for one in first if b"toolu_a" in one))]
    stream = MessagesStream(CONTEXT_TOOLS.names)
    assert b"".join(map(stream.feed, before)) == b"".join(before)
    assert b"".join(map(stream.feed, first[len(before) :])) == b""
    assert stream.asks


def test_pings_and_comments_go_through_in_every_round():
    first, last = events(message(OURS)), events(LAST)
    out, _, _ = run([*first[:3], b": a\n\n", *first[3:]], [b": b\n\n", PING, *last])
    assert out.count(PING) == 3
    assert b": a\n\n" in out
    assert b": b\n\n" in out


def test_several_rounds_are_one_message():
    rounds = [message(text("One"), OURS), message(text("Two"), OURS), message(text("Three"))]
    out, asked, _ = run(*map(events, rounds))
    assert [block["text"] for block in wire.read(out)["content"]] == ["One", "Two", "Three"]
    assert len(asked) == 2


def test_usage_is_that_of_all_rounds_with_an_entry_for_each():
    answer = seen(message(OURS), LAST)
    usage = answer["usage"]
    assert usage["input_tokens"] == 200
    assert usage["output_tokens"] == 80
    assert usage["cache_creation_input_tokens"] == 60
    assert usage["cache_read_input_tokens"] == 14
    assert usage["cache_creation"]["ephemeral_1h_input_tokens"] == 20
    assert usage["service_tier"] == "standard"
    entries = usage["iterations"]
    counts = {name: wire.USAGE[name] for name in wire.USAGE if name != "service_tier"}
    assert entries == [{"type": "message", **counts}] * 2


def test_an_entry_has_all_counts_whatever_the_server_tells():
    """Claude Code reads the size of the context off the last one only where each is a number."""
    last = message(ANSWER, usage={"input_tokens": None, "output_tokens": 4})
    usage = seen(message(OURS, usage={"output_tokens": 3}), last)["usage"]
    assert usage["output_tokens"] == 7
    for entry in usage["iterations"]:
        counts = {name for name, value in entry.items() if isinstance(value, int)}
        assert counts == {
            "input_tokens", "output_tokens", "cache_creation_input_tokens",
            "cache_read_input_tokens",
        }  # fmt: skip


def test_the_last_usage_of_a_round_counts():
    """The upstream may say more at the end than at the beginning."""
    last = events(LAST)
    last[-2] = event("message_delta", delta={"stop_reason": "end_turn"},
                     usage={"input_tokens": 1, "output_tokens": 5, "server_tool_use": None,
                            "iterations": [{"type": "message", "input_tokens": 1}]})  # fmt: skip
    usage = wire.read(run(events(message(OURS)), last)[0])["usage"]
    assert (usage["input_tokens"], usage["output_tokens"]) == (101, 45)
    assert [entry["input_tokens"] for entry in usage["iterations"]] == [100, 1]


@pytest.mark.parametrize("thought", [wire.THINKING, wire.REDACTED])
def test_thinking_of_later_rounds_is_not_shown_and_goes_back(thought):
    second = message(thought, text("Two"), OURS)
    out, asked, _ = run(
        events(message(wire.THINKING, OURS)), events(second), events(message(thought, ANSWER))
    )
    assert wire.read(out)["content"] == [wire.THINKING, text("Two"), ANSWER]
    assert back(asked[1])["content"] == second["content"]


@pytest.mark.parametrize(
    ("thinking", "kept"), [("adaptive", [OURS]), ("enabled", [wire.THINKING, wire.REDACTED, OURS])]
)
def test_a_round_behind_a_changed_prompt_has_no_thinking(thinking, kept):
    """Models that want thinking at the beginning of a turn do not look at what led to it."""
    body = {"messages": [{"role": "user", "content": "hi"}], "thinking": {"type": thinking}}
    split = json_body.split(json.dumps(body).encode())
    posted = messages_history.read(split, "t", TranslationCache(1))
    _, asked, _ = run(events(message(wire.THINKING, wire.REDACTED, OURS)))
    items = [*asked[0].items, *results(asked[0].calls, ["r"])]
    said, answered = posted.unbound(items)
    assert json.loads(said)["content"] == kept
    assert answered is items[1]


def test_results_stand_in_one_message_of_the_user():
    _, asked, _ = run(events(message(OURS, tool_use("memory_read", "toolu_c", first=1))))
    (raw,) = results(asked[0].calls, ["found", "Error: no"])
    assert json.loads(raw) == {
        "role": "user",
        "content": [
            {"type": "tool_result", "tool_use_id": "toolu_a", "content": "found"},
            {"type": "tool_result", "tool_use_id": "toolu_c", "content": "Error: no"},
        ],
    }


# ---------------------------------------------------------------- the client's calls beside ours


@pytest.mark.parametrize("blocks", [(OURS, THEIRS), (THEIRS, OURS), (THEIRS, OURS, THEIRS)])
@pytest.mark.parametrize("rounds", [0, 1])
def test_calls_of_the_client_end_the_answer(blocks, rounds):
    before = [events(message(OURS))] * rounds
    out, asked, unanswered = run(*before, events(message(*blocks)))
    answer = wire.read(out)
    assert answer["content"] == [block for block in blocks if block is THEIRS]
    assert answer["stop_reason"] == "tool_use"
    assert (len(asked), unanswered) == (rounds, ["memory_search"])


# ---------------------------------------------------------------- calls that are dropped


@pytest.mark.parametrize(
    ("reason", "shown"),
    [
        ("max_tokens", "max_tokens"),
        ("model_context_window_exceeded", "model_context_window_exceeded"),
        ("refusal", "refusal"),
        ("pause_turn", "pause_turn"),
        ("compaction", "compaction"),
    ],
)
def test_an_answer_that_is_not_whole_ends_with_its_own_reason(reason, shown):
    out, asked, unanswered = run(events(message(ANSWER, OURS, reason=reason)))
    answer = wire.read(out)
    assert (answer["content"], answer["stop_reason"]) == ([ANSWER], shown)
    assert (asked, unanswered) == ([], [])


def test_a_round_that_was_not_offered_our_tools_drops_calls_of_them():
    answer = seen(message(ANSWER, OURS), offered=[False])
    assert (answer["content"], answer["stop_reason"]) == ([ANSWER], "end_turn")
    answer = seen(message(ANSWER, OURS, THEIRS), offered=[False])
    assert (answer["content"], answer["stop_reason"]) == ([ANSWER, THEIRS], "tool_use")


@pytest.mark.parametrize("reason", ["tool_use", "end_turn", "stop_sequence", None, []])
def test_a_call_is_answered_whatever_reason_a_server_gives(reason):
    script = events(message(OURS))
    script[-2] = event("message_delta", delta={"stop_reason": reason}, usage={"output_tokens": 1})
    out, asked, _ = run(script, events(LAST))
    assert len(asked) == 1
    if reason is not None:
        assert wire.read(out)["content"] == [ANSWER]


@pytest.mark.parametrize(
    "failed",
    [
        event("error", error={"type": "overloaded_error", "message": "no"}),
        b'data: {"error": {"message": "of a gateway"}}\n\n',
    ],
)
def test_an_error_ends_the_answer(failed):
    for at in range(3, len(events(message(OURS)))):
        script = [*events(message(OURS))[:at], failed]
        out, asked, _ = run(script, events(LAST))
        assert (out.endswith(failed), asked) == (True, [])


def test_a_later_round_that_cannot_begin_is_an_error_of_the_stream():
    stream = MessagesStream(CONTEXT_TOOLS.names)
    stream.feed(b"".join(events(message(OURS))))
    stream.end()
    (value,) = wire.values(stream.failed({"code": 529, "type": "overloaded_error", "message": "m"}))
    assert value["type"] == "error"
    assert value["error"] == {"type": "overloaded_error", "message": "m"}


# ---------------------------------------------------------------- what goes back


@pytest.mark.parametrize(
    ("written", "given"),
    [
        ('{"b": 1, "a": 1e2}', '{"b": 1, "a": 1e2}'),
        ("", "{}"),
        ('{"query": ', "{}"),
        ("[1]", "{}"),
        ("{" * 10_000, "{}"),
    ],
)
def test_the_input_of_a_call_goes_back_as_the_model_wrote_it(written, given):
    start = {**OURS, "input": {}}
    delta = {"type": "input_json_delta", "partial_json": written}
    script = events(message(OURS))
    script[2:-3] = [
        event("content_block_start", index=0, content_block=start),
        event("content_block_delta", index=0, delta=delta),
    ]
    _, asked, _ = run(script)
    assert b'"input":' + given.encode() in asked[0].items[0]
    assert asked[0].calls[0].arguments == (written or "")


def test_a_call_that_came_whole_or_without_an_id_is_answered():
    start = {"type": "tool_use", "name": "memory_read", "input": {"first": 3}}
    script = events(message(OURS))
    script[2:-3] = [event("content_block_start", index=0, content_block=start)]
    _, asked, _ = run(script)
    (call,) = asked[0].calls
    assert call.id
    assert json.loads(call.arguments) == {"first": 3}
    assert back(asked[0])["content"][0]["id"] == call.id


def test_the_last_signature_of_a_block_counts():
    """The SDKs read it so."""
    script = events(message(wire.THINKING, OURS))
    signed = next(at for at, one in enumerate(script) if b"signature_delta" in one)
    first = event("content_block_delta", index=0,
                  delta={"type": "signature_delta", "signature": "other"})  # fmt: skip
    _, asked, _ = run([*script[:signed], first, *script[signed:]])
    assert back(asked[0])["content"][0] == wire.THINKING


def test_texts_that_the_api_would_refuse_do_not_go_back():
    _, asked, _ = run(events(message(text(""), text(" \n"), OURS)))
    assert back(asked[0])["content"] == [OURS]


# ---------------------------------------------------------------- any answers, any pieces

WORDS = st.text("ab \né\U0001f600", min_size=1, max_size=12)
BLOCK = st.one_of(
    st.builds(text, WORDS),
    st.sampled_from([wire.THINKING, wire.REDACTED, wire.CITED, wire.SEARCHED]),
    st.builds(lambda query: tool_use("memory_search", query=query), WORDS),
    st.builds(lambda path: tool_use("Read", path=path), WORDS),
)
ROUNDS = st.lists(st.lists(BLOCK, max_size=5).map(lambda blocks: message(*blocks)), min_size=1,
                  max_size=3)  # fmt: skip


@pytest.mark.slow
@given(ROUNDS, st.lists(st.integers(1, 90), min_size=1, max_size=4))
def test_the_same_bytes_come_out_whatever_the_pieces(answers, sizes):
    scripts = [events(answer) for answer in answers]
    whole, pieces = run(*scripts), run(*scripts, sizes=sizes)
    assert whole[0] == pieces[0]
    assert [one.items for one in whole[1]] == [one.items for one in pieces[1]]
    assert whole[2] == pieces[2]


@pytest.mark.slow
@given(ROUNDS)
def test_a_stream_adds_up_to_the_answer_that_is_not_streamed(answers):
    out, asked, unanswered = run(*map(events, answers))
    reply, taken, found = MessagesReply(CONTEXT_TOOLS.names), [], b""
    for answer in answers:
        one = reply.take(json.dumps(answer).encode())
        if isinstance(one, bytes):
            found = one
            break
        taken.append(one)
    # The input of a call is written by whoever writes it.
    assert [back(one) for one in taken] == [back(one) for one in asked]
    assert [call.name for call in reply.unanswered] == unanswered
    if found:
        assert wire.read(out) == json.loads(found)
        final = wire.sdk_message(out)
        assert final["content"] == json.loads(found)["content"]
        assert final["stop_reason"] == json.loads(found)["stop_reason"]
        assert final["usage"]["input_tokens"] == json.loads(found)["usage"]["input_tokens"]


@given(ROUNDS)
def test_rounds_go_back_as_the_api_takes_them(answers):
    """Roles alternate, and each call has its result."""
    _, asked, _ = run(*map(events, answers))
    items: list[Fields] = [{"role": "user", "content": "Ask."}]
    for one in asked:
        items += [back(one), *map(json.loads, results(one.calls, ["r"] * len(one.calls)))]
    assert all(before["role"] != after["role"] for before, after in pairwise(items))
    for said, answered in zip(items[1::2], items[2::2], strict=True):
        calls = [block["id"] for block in said["content"] if block["type"] == "tool_use"]
        assert calls == [block["tool_use_id"] for block in answered["content"]]
