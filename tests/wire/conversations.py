"""Conversations with an agent, as its client would post them to each of the APIs.

One generator, so that what is promised of all dialects is tested with the same words: the same
conversation has one address, whoever posts it.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from random import Random
from typing import Any

from hypothesis import strategies as st

from tests.properties.strategies import PNG, code, exotic, prose

Fields = dict[str, Any]
SIGNATURE = "gAAAAB" * 60


@dataclass(frozen=True, slots=True)
class Call:
    """`pictured`: the result is a list, an image in it."""

    id: str
    name: str
    arguments: Fields
    result: str
    pictured: bool = False


@dataclass(frozen=True, slots=True)
class Step:
    """Step of the model, made in one go."""

    thought: str
    text: str
    calls: tuple[Call, ...] = ()


@dataclass(frozen=True, slots=True)
class Exchange:
    """Message of the user, and what the model does then; the newest one may have no steps yet.
    Where the last step calls, the user says the next thing without waiting for an answer."""

    asked: tuple[str, ...]
    pictured: bool
    steps: tuple[Step, ...]


def conversation(seed: int, turns: int, size: int) -> tuple[Exchange, ...]:
    """`size`: about words of a text."""
    rng = Random(seed)
    made = [_exchange(rng, size) for _ in range(turns)]
    return (*made, Exchange((prose(rng.randint(0, 9_999), 8),), False, ()))


conversations = st.builds(
    conversation,
    st.integers(0, 9_999),
    st.integers(1, 6),
    st.sampled_from([3, 30, 300]),
)


def _exchange(rng: Random, size: int) -> Exchange:
    asked = [prose(rng.randint(0, 9_999), size)]
    if rng.random() < 0.2:
        asked = [f"<system-reminder>{prose(rng.randint(0, 99), 9)}</system-reminder>", *asked]
    if rng.random() < 0.2:
        asked.append(exotic(rng.randint(0, 9_999), size))
    steps = [_step(rng, size, calls=rng.randint(1, 3)) for _ in range(rng.randint(0, 3))]
    if not steps or rng.random() < 0.8:
        steps.append(_step(rng, size))
    return Exchange(tuple(asked), rng.random() < 0.1, tuple(steps))


def _step(rng: Random, size: int, calls: int = 0) -> Step:
    text = prose(rng.randint(0, 9_999), size) if not calls or rng.random() < 0.5 else ""
    thought = prose(rng.randint(0, 9_999), 9) if rng.random() < 0.7 else ""
    return Step(thought, text, tuple(_call(rng, size) for _ in range(calls)))


def _call(rng: Random, size: int) -> Call:
    given: Fields = {"path": f"src/{rng.randint(0, 99)}.py"}
    if rng.random() < 0.5:
        given |= {"text": code(rng.randint(0, 9_999), size // 8 + 1), "café": [1, None, True]}
    result = code(rng.randint(0, 9_999), size // 4 + 1) if rng.random() < 0.9 else ""
    if rng.random() < 0.1:
        result += "\n<system-reminder>It is late.</system-reminder>"
    name = rng.choice(("read", "write_file", "shell"))
    return Call(f"call_{rng.getrandbits(40):x}", name, given, result, rng.random() < 0.05)


# ---------------------------------------------------------------- chat completions


def as_chat(talk: Sequence[Exchange]) -> list[Fields]:
    """With the arguments as a client writes them again: compact."""
    return [{"role": "system", "content": "Be brief."}, *_chat(talk)]


def _chat(talk: Sequence[Exchange]) -> Iterator[Fields]:
    image = {"type": "image_url", "image_url": {"url": PNG}}
    for exchange in talk:
        parts: list[Fields] = [{"type": "text", "text": text} for text in exchange.asked]
        parts += [image] if exchange.pictured else []
        alone = len(parts) == 1
        yield {"role": "user", "content": parts[0]["text"] if alone else parts}
        for step in exchange.steps:
            calls = [
                {
                    "id": call.id,
                    "type": "function",
                    "function": {
                        "name": call.name,
                        "arguments": json.dumps(call.arguments, separators=(",", ":")),
                    },
                }
                for call in step.calls
            ]
            yield {
                "role": "assistant",
                "content": step.text or None,
                **({"tool_calls": calls} if calls else {}),
            }
            for call in step.calls:
                text = {"type": "text", "text": call.result}
                shown = [text, image] if call.pictured else call.result
                yield {"role": "tool", "tool_call_id": call.id, "content": shown}


# ---------------------------------------------------------------- responses


def as_responses(talk: Sequence[Exchange]) -> Fields:
    """Write the talk as Codex posts it: an id on each item, arguments as the model wrote them."""
    return {"model": "gpt-5.5", "instructions": "Be brief.", "input": [*_items(talk)]}


def needs(body: Fields) -> dict[str, str]:
    """Return which reasoning each item was made with."""
    found: dict[str, str] = {}
    thought = ""
    for item in body["input"]:
        if item["type"] == "reasoning":
            thought = item["id"]
        elif item.get("role") == "user" or item["type"].endswith("_output"):
            thought = ""
        elif thought:
            found[item["id"]] = thought
    return found


def _items(talk: Sequence[Exchange]) -> Iterator[Fields]:
    image = {"type": "input_image", "image_url": PNG, "detail": "auto"}
    for at, exchange in enumerate(talk):
        parts: list[Fields] = [{"type": "input_text", "text": text} for text in exchange.asked]
        parts += [image] if exchange.pictured else []
        yield {"type": "message", "id": f"msg_u{at}", "role": "user", "content": parts}
        for number, step in enumerate(exchange.steps):
            yield from _run(step, f"{at}_{number}")
            for call in step.calls:
                text = {"type": "input_text", "text": call.result}
                yield {
                    "type": "function_call_output",
                    "id": f"fco_{call.id}",
                    "call_id": call.id,
                    "output": [text, image] if call.pictured else call.result,
                }


def _run(step: Step, name: str) -> Iterator[Fields]:
    if step.thought:
        summary = [{"type": "summary_text", "text": step.thought}]
        made = {"id": f"rs_{name}", "summary": summary, "encrypted_content": SIGNATURE}
        yield {"type": "reasoning", **made, "content": None}
    if step.text:
        half = len(step.text) // 2
        for part, text in enumerate((step.text[:half], step.text[half:])):
            yield {
                "type": "message",
                "id": f"msg_{name}_{part}",
                "role": "assistant",
                "status": "completed",
                "content": [{"type": "output_text", "text": text, "annotations": []}],
            }
    for call in step.calls:
        yield {
            "type": "function_call",
            "id": f"fc_{call.id}",
            "call_id": call.id,
            "name": call.name,
            "arguments": json.dumps(call.arguments, indent=1),
            "status": "completed",
        }


# ---------------------------------------------------------------- messages


def as_messages(talk: Sequence[Exchange]) -> Fields:
    """Write the talk as Claude Code posts it."""
    messages: list[Fields] = []
    for exchange in talk:
        messages = _said(messages, "user", _blocks(exchange))
        for step in exchange.steps:
            messages.append({"role": "assistant", "content": [*_made(step)]})
            if step.calls:
                messages.append({"role": "user", "content": [_result(one) for one in step.calls]})
    system = [{"type": "text", "text": "Be brief."}]
    return {"model": "claude", "max_tokens": 4_096, "system": system, "messages": messages}


def _said(messages: list[Fields], role: str, blocks: list[Fields]) -> list[Fields]:
    """Behind results of tools, in the same message."""
    if messages and messages[-1]["role"] == role:
        last = messages[-1]
        return [*messages[:-1], {**last, "content": [*last["content"], *blocks]}]
    return [*messages, {"role": role, "content": blocks}]


def _image() -> Fields:
    kind, data = PNG.removeprefix("data:").split(";base64,")
    return {"type": "image", "source": {"type": "base64", "media_type": kind, "data": data}}


def _blocks(exchange: Exchange) -> list[Fields]:
    blocks = [{"type": "text", "text": text} for text in exchange.asked]
    return [*blocks, *([_image()] if exchange.pictured else [])]


def _made(step: Step) -> Iterator[Fields]:
    if step.thought:
        yield {"type": "thinking", "thinking": step.thought, "signature": SIGNATURE}
    if step.text:
        yield {"type": "text", "text": step.text}
    for call in step.calls:
        yield {"type": "tool_use", "id": call.id, "name": call.name, "input": call.arguments}


def _result(call: Call) -> Fields:
    text = {"type": "text", "text": call.result}
    shown = [text, _image()] if call.pictured else call.result
    return {"type": "tool_result", "tool_use_id": call.id, "content": shown}
