"""Streams of several rounds made one response: what the client sees, and what goes back."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memtree.dialects.tool_definitions import CONTEXT_TOOLS
from memtree_proxy.dialects.responses_round import results
from memtree_proxy.dialects.responses_stream import ResponsesReply, ResponsesStream
from memtree_proxy.dialects.round_calls import ToolRound
from tests.wire.messages.messages_events import pieces
from tests.wire.responses import responses_events as wire
from tests.wire.responses.responses_events import call, event, events, reasoning, response, text
from tests.wire.rule_break import Fields

OURS = call("memory_search", "a", query="the limit")
THEIRS = call("shell", "b", cmd="ls")
ANSWER = text("It is 42.", "msg_9")
LAST = response(ANSWER, id="resp_2", created_at=9)


def run(
    *rounds: Sequence[bytes], sizes: Sequence[int] = (1 << 20,), offered: Iterable[bool] = ()
) -> tuple[bytes, list[ToolRound], list[str]]:
    """Return what the client got, what was asked of us, and the names of calls that stay
    unanswered."""
    stream, out, asked, unanswered = ResponsesStream(CONTEXT_TOOLS.names), b"", [], []
    may = iter(offered)
    for round_ in rounds:
        stream.offered = next(may, True)
        for piece in pieces(b"".join(round_), sizes):
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


def back(asked: ToolRound) -> list[Fields]:
    return [dict(json.loads(item)) for item in asked.items]


# ---------------------------------------------------------------- nothing of ours


@pytest.mark.parametrize(
    "script",
    [
        events(LAST),
        [b": comment\n\n", *events(LAST), b"data: [DONE]\n\n"],
        [one.replace(b"\n", b"\r\n") for one in events(LAST)],
        events(LAST)[:-1],  # it breaks off
        [*events(LAST)[:-1], events(LAST)[-1][:-2]],
        events(response(reasoning(), THEIRS, wire.SEARCHED, wire.CUSTOM)),
        events(response(call("memory_searcher"), call("memory", "2"))),
        events(response({**OURS, "type": "custom_tool_call", "name": "memory_search"})),
        events(response(text(), status="incomplete")),
        events(response(status="failed")),
        [*events(LAST)[:3], event("surprise", output_index=0, x=[1]), *events(LAST)[3:]],
        [event("error", code="x", message="no", sequence_number=0)],
        [b'data: {"error": {"message": "no"}}\n\n'],
        [b"data: nonsense\n\n", b"data: [1]\n\n", b"event: x\ndata: {}\n\n", *events(LAST)],
        [event("response.output_text.delta", output_index=9, delta=""), *events(LAST)],
        [event("response.output_item.added", output_index=[], item=7), *events(LAST)],
        [event("response.output_item.done", output_index=0, item=None), *events(LAST)],
        [event("response.created", response=7), event("response.completed", response=None)],
        [event("response.completed", response={"output": 7, "usage": []})],
    ],
)
@pytest.mark.parametrize("size", [1 << 20, 1, 7])
def test_a_round_without_calls_of_ours_goes_through_byte_for_byte(script, size):
    assert run(script, sizes=(size,)) == (b"".join(script), [], [])


# ---------------------------------------------------------------- a round of ours

ITEMS = [reasoning(), text("Let me see.", "msg_0"), wire.SEARCHED, wire.SHELL, wire.SHELL_OUTPUT]


@pytest.mark.parametrize("place", range(len(ITEMS) + 1))
def test_a_call_of_ours_is_hidden_wherever_it_stands(place):
    first = response(*ITEMS[:place], OURS, *ITEMS[place:])
    out, asked, unanswered = run(events(first), events(LAST))
    answer = wire.read(out)
    assert answer["output"] == [*ITEMS, ANSWER]
    assert (answer["id"], answer["created_at"], answer["status"]) == ("resp_1", 5, "completed")
    assert b"call_a" not in out
    assert b"memory_search" not in out
    assert [back(one) for one in asked] == [first["output"]]
    (found,) = asked[0].calls
    assert (found.id, found.name, json.loads(found.arguments)) == (
        "call_a", "memory_search", {"query": "the limit"},
    )  # fmt: skip
    assert unanswered == []


def test_what_stands_before_our_call_is_shown_as_it_comes():
    first = events(response(reasoning(), text("Let me see."), OURS))
    before = first[: first.index(next(one for one in first if b"call_a" in one))]
    stream = ResponsesStream(CONTEXT_TOOLS.names)
    assert b"".join(map(stream.feed, before)) == b"".join(before)
    assert b"".join(map(stream.feed, first[len(before) :])) == b""
    assert stream.asks


def test_comments_go_through_in_every_round_and_the_end_only_once():
    done = b"data: [DONE]\n\n"
    out, _, _ = run([b": a\n\n", *events(response(OURS)), done], [b": b\n\n", *events(LAST), done])
    assert (out.count(b": a\n\n"), out.count(b": b\n\n"), out.count(done)) == (1, 1, 1)
    assert out.endswith(done)


def test_several_rounds_are_one_response():
    rounds = [
        response(text("One", "msg_1"), OURS),
        response(text("Two", "msg_2"), OURS),
        response(text("Three", "msg_3")),
    ]
    out, asked, _ = run(*map(events, rounds))
    assert [item["id"] for item in wire.read(out)["output"]] == ["msg_1", "msg_2", "msg_3"]
    assert len(asked) == 2


def test_usage_is_that_of_all_rounds():
    usage = seen(response(OURS), LAST)["usage"]
    assert usage == {
        "input_tokens": 200,
        "input_tokens_details": {"cached_tokens": 14, "cache_write_tokens": 6},
        "output_tokens": 80,
        "output_tokens_details": {"reasoning_tokens": 10},
        "total_tokens": 280,
    }


def test_an_answer_that_the_server_keeps_ends_with_the_id_under_which_it_is_whole():
    """Under the first id the server has a call without its result."""
    answer = seen(response(OURS, store=True), {**LAST, "store": True})
    assert answer["id"] == "resp_2"
    assert seen(response(OURS, THEIRS, store=True))["id"] == "resp_1"


# ---------------------------------------------------------------- reasoning goes with its item


@pytest.mark.parametrize(
    ("second", "shown"),
    [
        ([reasoning("rs_2"), ANSWER], [reasoning("rs_2"), ANSWER]),
        ([reasoning("rs_2"), reasoning("rs_3"), ANSWER],
         [reasoning("rs_2"), reasoning("rs_3"), ANSWER]),
        ([reasoning("rs_2"), THEIRS, OURS], [reasoning("rs_2"), THEIRS]),
        ([reasoning("rs_2"), OURS, THEIRS], [reasoning("rs_2"), THEIRS]),
        ([reasoning("rs_2"), OURS, reasoning("rs_3"), THEIRS], [reasoning("rs_3"), THEIRS]),
        ([ANSWER, reasoning("rs_2")], [ANSWER]),
    ],
)  # fmt: skip
def test_reasoning_of_a_later_round_is_shown_with_the_item_behind_it(second, shown):
    out, _, _ = run(events(response(reasoning(), OURS)), events(response(*second)))
    assert wire.read(out)["output"] == [reasoning(), *shown]


def test_reasoning_before_a_call_of_ours_is_not_shown_in_a_later_round():
    second = response(reasoning("rs_2"), OURS)
    out, asked, _ = run(events(response(OURS)), events(second), events(LAST))
    assert wire.read(out)["output"] == [ANSWER]
    assert back(asked[1]) == second["output"]


def test_reasoning_that_waits_counts_as_waiting():
    stream = ResponsesStream(CONTEXT_TOOLS.names)
    stream.feed(b"".join(events(response(OURS))))
    stream.end()
    script = events(response(reasoning("rs_2"), ANSWER))
    held = [one for one in script if b"rs_2" in one and b"response.completed" not in one]
    assert b"".join(map(stream.feed, held)) == b""
    assert stream.waiting == sum(map(len, held))
    shown = stream.feed(next(one for one in script if b"msg_9" in one))
    assert shown.count(b"rs_2") == len(held)
    assert stream.waiting == 0


@pytest.mark.parametrize(
    ("store", "encrypted", "goes"),
    [(False, "gAAA", True), (False, None, False), (True, None, True), (None, None, True)],
)
def test_reasoning_that_the_server_cannot_read_does_not_go_back(store, encrypted, goes):
    thought = reasoning(encrypted_content=encrypted)
    _, asked, _ = run(events(response(thought, OURS, store=store)))
    assert back(asked[0]) == ([thought, OURS] if goes else [OURS])


def test_reasoning_that_led_to_nothing_does_not_go_back():
    _, asked, _ = run(events(response(OURS, reasoning(), reasoning("rs_2"))))
    assert back(asked[0]) == [OURS]


def test_each_result_is_an_item():
    _, asked, _ = run(events(response(OURS, call("memory_read", "c", first=1))))
    assert [json.loads(raw) for raw in results(asked[0].calls, ["found", "Error: no"])] == [
        {"type": "function_call_output", "call_id": "call_a", "output": "found"},
        {"type": "function_call_output", "call_id": "call_c", "output": "Error: no"},
    ]


# ---------------------------------------------------------------- the client's calls beside ours


@pytest.mark.parametrize(
    "theirs",
    [
        THEIRS,
        wire.CUSTOM,
        wire.SHELL,
        wire.APPROVAL,
        {"type": "local_shell_call", "id": "l", "call_id": "c", "action": {}, "status": "x"},
        {"type": "computer_call", "id": "c", "call_id": "c", "status": "completed"},
        {"type": "tool_search_call", "id": "t", "call_id": "t", "execution": "client"},
        {"type": "some_new_call", "id": "n"},
    ],
)
@pytest.mark.parametrize("rounds", [0, 1])
def test_calls_of_the_client_end_the_answer(theirs, rounds):
    before = [events(response(OURS))] * rounds
    out, asked, unanswered = run(*before, events(response(OURS, theirs)))
    assert wire.read(out)["output"] == [theirs]
    assert (len(asked), unanswered) == (rounds, ["memory_search"])


@pytest.mark.parametrize(
    "items",
    [
        [wire.SEARCHED],
        [wire.SHELL, wire.SHELL_OUTPUT],
        [{"type": "tool_search_call", "id": "t", "call_id": None, "execution": "server"}],
        [{"type": "mcp_call", "id": "m", "name": "x", "arguments": "{}", "output": "y"}],
        [{"type": "compaction", "id": "cmp", "encrypted_content": "x"}],
        [{"type": 7, "id": "n"}],
    ],
)
def test_what_the_server_ran_itself_does_not_end_it(items):
    out, asked, _ = run(events(response(*items, OURS)), events(LAST))
    assert len(asked) == 1
    assert wire.read(out)["output"] == [*items, ANSWER]


# ---------------------------------------------------------------- calls that are dropped


@pytest.mark.parametrize("status", ["incomplete", "failed"])
@pytest.mark.parametrize("rounds", [0, 1])
def test_an_answer_that_is_not_whole_ends(status, rounds):
    before = [events(response(text("One"), OURS))] * rounds
    out, asked, unanswered = run(*before, events(response(ANSWER, OURS, status=status, id="r2")))
    answer = wire.read(out)
    assert answer["output"] == [text("One"), ANSWER][1 - rounds :]
    assert (answer["status"], answer["id"][:2]) == (status, "re" if rounds else "r2")
    assert (len(asked), unanswered) == (rounds, [])


def test_a_round_that_was_not_offered_our_tools_drops_calls_of_them():
    answer = seen(response(ANSWER, OURS), offered=[False])
    assert (answer["output"], answer["status"]) == ([ANSWER], "completed")
    assert seen(response(ANSWER, OURS, THEIRS), offered=[False])["output"] == [ANSWER, THEIRS]


@pytest.mark.parametrize(
    "failed", [event("error", message="no"), b'data: {"error": {"message": "no"}}\n\n']
)
def test_an_error_ends_the_answer(failed):
    script = events(response(OURS))
    out, asked, _ = run([*script[:-1], failed, script[-1]], events(LAST))
    assert failed.split(b"}")[0].split(b'"sequence')[0] in out
    assert asked == []
    assert b"memory_search" not in out


def test_a_second_end_changes_nothing():
    last = events(LAST)
    out, asked, _ = run([*last, last[-1], *events(response(OURS))[2:]], last)
    assert (out.startswith(b"".join(last)), asked) == (True, [])


def test_a_later_round_that_cannot_begin_fails_the_response_that_was_begun():
    stream = ResponsesStream(CONTEXT_TOOLS.names)
    out = stream.feed(b"".join(events(response(text("One"), OURS))))
    stream.end()
    out += stream.failed({"code": 503, "type": "upstream_error", "message": "m"})
    failed = wire.read(out)
    assert (failed["id"], failed["status"], failed["model"]) == ("resp_1", "failed", "gpt-6.1")
    assert failed["error"] == {"code": "server_error", "message": "m"}
    assert failed["output"] == [text("One")]
    assert failed["usage"] == wire.USAGE


# ---------------------------------------------------------------- other servers


def test_numbers_are_not_made_up():
    """Some servers do not number their events."""

    def plain(answer: Fields) -> list[bytes]:
        found = []
        for value in wire.values(b"".join(events(answer))):
            del value["sequence_number"]
            found.append(event(value.pop("type"), **value))
        return found

    out, asked, _ = run(plain(response(OURS)), plain(LAST))
    assert len(asked) == 1
    assert b"sequence_number" not in out


def test_an_answer_that_comes_in_one_event_is_read():
    script = [events(response(OURS))[0], events(response(OURS))[-1]]
    out, asked, _ = run(script, [events(LAST)[-1]])
    assert back(asked[0]) == [OURS]
    assert [json.loads(raw)["call_id"] for raw in results(asked[0].calls, ["r"])] == ["call_a"]
    assert wire.values(out)[-1]["response"]["output"] == [ANSWER]


@pytest.mark.parametrize("arguments", ["", '{"query": ', "[1]", "{" * 10_000, None, 7])
def test_arguments_that_are_no_object_do_not_go_back(arguments):
    broken = {**OURS, "arguments": arguments}
    script = [event("response.output_item.done", output_index=0, item=broken),
              event("response.completed", response=response(broken))]  # fmt: skip
    _, asked, _ = run(script)
    assert back(asked[0])[0]["arguments"] == "{}"
    assert asked[0].calls[0].arguments == (arguments if isinstance(arguments, str) else "")


def test_a_call_without_an_id_gets_one():
    nameless = {name: value for name, value in OURS.items() if name != "call_id"}
    _, asked, _ = run([event("response.completed", response=response(nameless))])
    (found,) = asked[0].calls
    assert found.id
    assert back(asked[0])[0]["call_id"] == found.id


# ---------------------------------------------------------------- any answers, any pieces

WORDS = st.text("ab \né\U0001f600", min_size=1, max_size=12)
ITEM = st.one_of(
    st.builds(text, WORDS),
    st.sampled_from([wire.SEARCHED, wire.CUSTOM]),
    st.just(reasoning()),
    st.builds(lambda query: call("memory_search", query=query), WORDS),
    st.builds(lambda cmd: call("shell", cmd=cmd), WORDS),
)


def numbered(rounds: list[list[Fields]]) -> list[Fields]:
    """Return the rounds as responses in which no two items have one id."""
    count = 0
    made = []
    for number, items in enumerate(rounds):
        own = []
        for item in items:
            count += 1
            call_id = {"call_id": f"call_{count}"} if "call_id" in item else {}
            own.append({**item, "id": f"id_{count}", **call_id})
        made.append(response(*own, id=f"resp_{number}"))
    return made


ROUNDS = st.lists(st.lists(ITEM, max_size=5), min_size=1, max_size=3).map(numbered)


@pytest.mark.slow
@given(ROUNDS, st.lists(st.integers(1, 90), min_size=1, max_size=4))
def test_the_same_bytes_come_out_whatever_the_pieces(answers, sizes):
    scripts = [events(answer) for answer in answers]
    whole, cut = run(*scripts), run(*scripts, sizes=sizes)
    assert whole[0] == cut[0]
    assert [one.items for one in whole[1]] == [one.items for one in cut[1]]
    assert whole[2] == cut[2]


@pytest.mark.slow
@given(ROUNDS)
def test_a_stream_adds_up_to_the_answer_that_is_not_streamed(answers):
    out, asked, unanswered = run(*map(events, answers))
    reply, taken, found = ResponsesReply(CONTEXT_TOOLS.names), [], b""
    for answer in answers:
        one = reply.take(json.dumps(answer).encode())
        if isinstance(one, bytes):
            found = one
            break
        taken.append(one)
    assert [back(one) for one in taken] == [back(one) for one in asked]
    assert [call.name for call in reply.unanswered] == unanswered
    if found:
        assert wire.read(out) == json.loads(found)
        final = wire.sdk_response(out)
        assert [item["id"] for item in final["output"]] == [
            item["id"] for item in json.loads(found)["output"]
        ]
        assert final["usage"] == json.loads(found)["usage"]


@pytest.mark.slow
@given(ROUNDS)
def test_what_the_client_sends_back_keeps_reasoning_with_its_items(answers):
    """An item is not shown without the reasoning that stood directly before it, and reasoning of
    later rounds not without what it led to."""
    out, asked, _ = run(*map(events, answers))
    shown = [value["item"]["id"] for value in wire.values(out)
             if value["type"] == "response.output_item.done"]  # fmt: skip
    for number, answer in enumerate(answers[: len(asked) + 1]):
        items = answer["output"]
        for before, item in pairwise(items):
            if before["type"] == "reasoning" and item["id"] in shown:
                assert before["id"] in shown
        for at, item in enumerate(items):
            behind = [one for one in items[at + 1 :] if one["type"] != "reasoning"]
            if number and item["type"] == "reasoning" and item["id"] in shown:
                assert any(one["id"] in shown for one in behind)


@pytest.mark.slow
@given(ROUNDS)
def test_each_call_that_goes_back_has_its_result(answers):
    _, asked, _ = run(*map(events, answers))
    for one in asked:
        items = [*back(one), *map(json.loads, results(one.calls, ["r"] * len(one.calls)))]
        calls = [item["call_id"] for item in items if item["type"] == "function_call"]
        found = [item["call_id"] for item in items if item["type"] == "function_call_output"]
        assert calls == found
