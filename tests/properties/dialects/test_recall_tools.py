"""Random rounds in random pieces: the client always sees one valid completion, streamed or not."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

import pytest
from hypothesis import event, given
from hypothesis import strategies as st

from memtree.dialects.tool_definitions import CONTEXT_TOOLS
from memtree_proxy.dialects.chat_stream import SEAM, ToolStream, WholeAnswer
from tests.made.completion import completed, said

OURS = sorted(CONTEXT_TOOLS.names)
THEIRS = ["read_file", "memory", "memory_search_all", "m"]
MOST = 4  # rounds that may call


@dataclass(frozen=True)
class Made:
    """One round. `numbers`: how its calls are numbered (right, zero, none)."""

    text: tuple[str, ...]
    reasoning: tuple[str, ...]
    calls: tuple[tuple[str, str], ...]
    numbers: str
    ids: bool
    reason: str | None
    usage: bool
    step: int  # characters of a name or of arguments in a chunk

    @property
    def ours(self) -> list[tuple[str, str]]:
        return [call for call in self.calls if call[0] in CONTEXT_TOOLS.names]

    @property
    def theirs(self) -> list[tuple[str, str]]:
        return [call for call in self.calls if call[0] not in CONTEXT_TOOLS.names]

    @property
    def follows(self) -> bool:
        return bool(self.ours) and not self.theirs and self.reason != "length"


arguments = st.dictionaries(st.sampled_from("abc"), st.text(max_size=8), min_size=1, max_size=2)


@st.composite
def made(draw: st.DrawFn, *, asking: bool = False) -> Made:
    """`asking`: with calls of ours alone, as most rounds but the last have."""
    names = st.sampled_from(OURS if asking else OURS + THEIRS)
    call = st.tuples(names, arguments.map(json.dumps))
    calls = draw(st.lists(call, min_size=int(asking), max_size=4))
    client = any(name not in CONTEXT_TOOLS.names for name, _ in calls)
    # What a client cannot read without us, it cannot read through us.
    numbers = "right" if client else draw(st.sampled_from(["right", "zero", "none"]))
    words = st.lists(st.sampled_from(["a", "b c", " ", "d\n", "é"]), max_size=3).map(tuple)
    return Made(
        draw(words),
        draw(words),
        tuple(calls),
        numbers,
        draw(st.booleans()) if numbers != "right" else True,
        draw(
            st.sampled_from(["tool_calls", "stop"] if asking else ["tool_calls", "stop", "length"])
        ),
        draw(st.booleans()),
        100 if numbers != "right" else draw(st.sampled_from([1, 3, 100])),
    )


def streamed(one: Made, number: int) -> bytes:
    def chunk(delta: dict[str, Any], reason: str | None = None, **more: Any) -> bytes:
        head = {"id": f"c{number}", "object": "chat.completion.chunk", "created": number}
        choices = [{"index": 0, "delta": delta, "finish_reason": reason}]
        return b"data: " + json.dumps({**head, "choices": choices, **more}).encode() + b"\n\n"

    out = [chunk({"role": "assistant", "content": ""})]
    out += [chunk({"reasoning_content": word}) for word in one.reasoning]
    out += [chunk({"content": word}) for word in one.text]
    for place, (name, given_) in enumerate(one.calls):
        index = {} if one.numbers == "none" else {"index": 0 if one.numbers == "zero" else place}
        id_ = {"id": f"{number}-{place}"} if one.ids else {}
        pieces = [name[at : at + one.step] for at in range(0, len(name), one.step)]
        parts = [given_[at : at + one.step] for at in range(0, len(given_), one.step)]
        if one.numbers != "right":
            out.append(
                chunk(
                    {
                        "tool_calls": [
                            {**index, **id_, "function": {"name": name, "arguments": given_}}
                        ]
                    }
                )
            )
            continue
        for n, part in enumerate(pieces):
            out.append(
                chunk(
                    {
                        "tool_calls": [
                            {**index, **(id_ if n == 0 else {}), "function": {"name": part}}
                        ]
                    }
                )
            )
        for part in parts:
            out.append(chunk({"tool_calls": [{**index, "function": {"arguments": part}}]}))
    usage = {"usage": {"total_tokens": number}} if one.usage else {}
    out.append(chunk({}, one.reason, **usage))
    return b"".join([*out, b"data: [DONE]\n\n"])


def whole(one: Made, number: int) -> bytes:
    message: dict[str, Any] = {"role": "assistant", "content": "".join(one.text) or None}
    if one.reasoning:
        message["reasoning_content"] = "".join(one.reasoning)
    if one.calls:
        message["tool_calls"] = [
            {"id": f"{number}-{place}", "type": "function",
             "function": {"name": name, "arguments": given_}}
            for place, (name, given_) in enumerate(one.calls)]  # fmt: skip
    usage = {"usage": {"total_tokens": number}} if one.usage else {}
    choice = {"index": 0, "message": message, "finish_reason": one.reason}
    return json.dumps(
        {"id": f"c{number}", "created": number, "choices": [choice], **usage}
    ).encode()


def text_of(parts: list[str]) -> str:
    found = ""
    for part in filter(None, parts):
        found += (SEAM if found and found[-1].strip() else "") + part
    return found


@pytest.mark.slow
@given(st.lists(made(asking=True), max_size=MOST + 1), made(), st.integers(1, 200))
def test_the_client_sees_one_completion(asking: list[Made], end: Made, size: int):
    script = [*asking, end]
    stream, plain = ToolStream(CONTEXT_TOOLS.names), WholeAnswer(CONTEXT_TOOLS.names)
    out, answer, used = b"", b"", list[Made]()
    for number, one in enumerate([*script, *script[-1:] * MOST], 1):
        stream.offered = plain.offered = number <= MOST
        used.append(one)
        raw = streamed(one, number)
        for at in range(0, len(raw), size):
            out += stream.feed(raw[at : at + size])
        last, asked = stream.end()
        out += last
        found = plain.take(whole(one, number))
        assert (asked is None) == isinstance(found, bytes)
        assert (asked is not None) == (one.follows and number <= MOST)
        if asked is None or isinstance(found, bytes):
            assert isinstance(found, bytes)
            answer = found
            break
        assert [(call.name, call.arguments) for call in asked.calls] == one.ours
        assert said(asked)["content"] == said(found)["content"]
        assert said(asked).get("reasoning_content") == ("".join(one.reasoning) or None)
    seen = completed(out)
    event(f"{len(used)} rounds, {'client calls' if seen.calls else 'no calls'} at the end")
    assert seen.problems == []
    assert seen.ids == {"c1"}
    assert seen.content == text_of(["".join(one.text) for one in used])
    assert [call[1:] for call in seen.calls] == used[-1].theirs
    dropped = used[-1].ours and not used[-1].theirs and used[-1].reason == "tool_calls"
    assert seen.finish == ("stop" if dropped else used[-1].reason)
    if used[-1].usage:
        total = sum(n for n, one in enumerate(used, 1) if one.usage)
        assert seen.usage == {"total_tokens": total}
    message = json.loads(answer)["choices"][0]["message"]
    assert (message["content"] or "") == seen.content
    assert [(c["function"]["name"], c["function"]["arguments"])
            for c in message.get("tool_calls", [])] == used[-1].theirs  # fmt: skip
    assert json.loads(answer)["choices"][0]["finish_reason"] == seen.finish


NAMED = st.sampled_from(
    ["choices", "delta", "message", "tool_calls", "function", "name", "arguments", "index", "id",
     "finish_reason", "usage", "content", "reasoning_details", "role", "type", "total_tokens"]
)  # fmt: skip
LEAVES = st.none() | st.booleans() | st.integers(-2, 3) | st.sampled_from([*OURS, "", "{}", "x"])
ODD = st.recursive(
    LEAVES, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(NAMED, inner, max_size=4)
)
CALLS = st.lists(
    ODD | st.fixed_dictionaries({"index": ODD, "id": ODD, "function": ODD}), max_size=2
)


@st.composite
def odd(draw: st.DrawFn, name: str) -> dict[str, Any]:
    """An answer of the right form down to some depth, and of any form below."""
    inner = draw(st.dictionaries(NAMED, ODD, max_size=3))
    own = {"index": 0, "function": {"name": draw(st.sampled_from(OURS)), "arguments": "{}"}}
    inner["tool_calls"] = draw(st.just([own]) | CALLS | ODD)
    choice = {name: draw(st.just(inner) | ODD), "finish_reason": draw(ODD)}
    choices = draw(st.just([choice]) | st.just([choice, choice]) | ODD)
    return {"id": draw(ODD), "choices": choices, "usage": draw(ODD)}


@pytest.mark.slow
@given(st.lists(odd("delta"), max_size=6), odd("message"))
def test_what_no_upstream_should_say_breaks_nothing(chunks: list[dict[str, Any]], answer: Any):
    stream, plain = ToolStream(CONTEXT_TOOLS.names), WholeAnswer(CONTEXT_TOOLS.names)
    for _ in range(2):
        for chunk in chunks:
            stream.feed(b"data: " + json.dumps(chunk).encode() + b"\n\n")
        asked = stream.end()[1]
        if asked is not None:
            said(asked)
        found = plain.take(json.dumps(answer).encode())
        event(f"asked: {asked is not None}, {not isinstance(found, bytes)}")
