"""Hold one round of a Responses API answer: what the client sees, and what goes back to the model.

What goes back is all items unchanged, with the results of our calls behind them.

Reasoning belongs to the item behind it: a server that knows both by their ids refuses one without
the other. Reasoning is therefore shown, hidden or sent back together with that item.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import msgspec

from memtree_proxy.dialects.round_calls import StreamedCall, decoded, parsed

Json = dict[str, Any]

REASONING = "reasoning"
# Calls that the server runs itself within the answer; all others wait for the client, unless their
# output stands in the same answer.
_SERVER_RUN = frozenset(
    {
        "web_search_call",
        "file_search_call",
        "code_interpreter_call",
        "image_generation_call",
        "mcp_call",
    }
)
_APPROVAL = "mcp_approval_request"


@dataclass(frozen=True, slots=True)
class AnswerOutput:
    """An item of an answer's output. `raw`: JSON as received. `ours`: True for a call of one of our
    tools."""

    raw: bytes
    value: Json
    ours: bool = False

    @classmethod
    def of(cls, raw: bytes, names: frozenset[str]) -> AnswerOutput | None:
        """Read an item of an answer; None where it is no object."""
        value = decoded(raw, dict)
        if value is None:
            return None
        name = value.get("name")
        ours = value.get("type") == "function_call" and isinstance(name, str) and name in names
        return cls(raw, value, ours)

    @property
    def reasons(self) -> bool:
        return bool(self.value.get("type") == REASONING)


def shown(items: Iterable[AnswerOutput], *, later: bool) -> list[AnswerOutput]:
    """Return the items of a round that the client gets. `later`: not the first round, whose
    reasoning was sent before the item behind it was known."""
    visible: list[AnswerOutput] = []
    held: list[AnswerOutput] = []
    of_ours = False
    for item in items:
        if item.ours:
            of_ours = True
        elif item.reasons and later:
            held = [item] if of_ours else [*held, item]
            of_ours = False
        else:
            visible += [*held, item]
            held = []
    return visible


def called(items: Iterable[AnswerOutput], number: int) -> tuple[StreamedCall, ...]:
    """Return a round's calls of our tools. A call that came without an id gets one."""
    calls: list[StreamedCall] = []
    for item in items:
        if item.ours:
            id_ = item.value.get("call_id")
            id_ = id_ if isinstance(id_, str) and id_ else f"call_mem{number:02}{len(calls):04}"
            arguments = item.value.get("arguments")
            said = [arguments] if isinstance(arguments, str) else []
            name = item.value["name"]
            calls.append(StreamedCall(id=id_, name=name, ours=True, said=said))
    return tuple(calls)


def sent_back(
    items: Sequence[AnswerOutput], calls: Iterable[StreamedCall], *, stored: bool
) -> tuple[bytes, ...]:
    """Return the items of a round as items of the next input. `stored`: the server stores the
    answer, so it knows reasoning by its id. Reasoning that the server neither knows nor can read is
    left out, and so is reasoning without an item behind it."""
    ours = iter(calls)
    back = []
    last = max((at for at, item in enumerate(items) if not item.reasons), default=-1)
    for item in items[: last + 1]:
        if item.reasons and not stored and not item.value.get("encrypted_content"):
            continue
        back.append(_call(item, next(ours)) if item.ours else item.raw)
    return tuple(back)


def _call(item: AnswerOutput, call: StreamedCall) -> bytes:
    """Return a call of our tools. Arguments that are no object are replaced, since some servers
    refuse them."""
    sound = bool(call.arguments.strip()) and parsed(call.arguments) is not None
    if sound and item.value.get("call_id") == call.id:
        return item.raw
    arguments = call.arguments if sound else "{}"
    return msgspec.json.encode({**item.value, "call_id": call.id, "arguments": arguments})


def results(calls: Sequence[StreamedCall], texts: Sequence[str]) -> list[bytes]:
    """Return the results of a round's calls, one item each."""
    return [
        msgspec.json.encode({"type": "function_call_output", "call_id": call.id, "output": text})
        for call, text in zip(calls, texts, strict=True)
    ]


def follows(items: Sequence[AnswerOutput], status: Any, *, offered: bool) -> bool | None:
    """Return True if a round that has ended made calls of our tools that are to be answered, so
    that another round follows; None if the client must first run calls of its own; False if there
    are none."""
    ended = status in (None, "completed")
    if not (offered and ended and any(item.ours for item in items)):
        return False
    answered = {
        id_
        for item in items
        if _kind(item).endswith("_output") and isinstance(id_ := item.value.get("call_id"), str)
    }
    return None if any(_waits(item, answered) for item in items if not item.ours) else True


def _waits(item: AnswerOutput, answered: set[str]) -> bool:
    kind = _kind(item)
    if kind == _APPROVAL:
        return True
    if not kind.endswith("_call") or kind in _SERVER_RUN:
        return False
    if item.value.get("execution") == "server":  # the output of a search for tools
        return False
    id_ = item.value.get("call_id")
    return not (isinstance(id_, str) and id_ in answered)


def _kind(item: AnswerOutput) -> str:
    kind = item.value.get("type")
    return kind if isinstance(kind, str) else ""


def outputs(raw: bytes | None, names: frozenset[str]) -> list[AnswerOutput] | None:
    """Return the items of an `output` array, None if it is no array."""
    posted = decoded(raw or b"null", list[msgspec.Raw])
    if posted is None:
        return None
    items = (AnswerOutput.of(bytes(item), names) for item in posted)
    return [item for item in items if item is not None]
