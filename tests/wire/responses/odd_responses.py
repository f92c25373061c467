"""Conversations with what else an `input` may hold: calls of other kinds, tools that are loaded on
the way, calls that the server ran, parallel calls whose results come one by one or late, messages
of the developer in the middle, and a compaction."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from random import Random

from tests.properties.strategies import prose
from tests.wire.conversations import SIGNATURE, Exchange, Fields, as_responses

_KINDS = ("custom_tool_call", "shell_call", "apply_patch_call", "local_shell_call")


def as_odd_responses(
    talk: Sequence[Exchange], seed: int, *, compacted: int | None = None
) -> tuple[Fields, dict[str, str]]:
    """The body, and which reasoning each item was made with. `compacted`: the exchange behind which
    a compaction stands. A longer talk has the same beginning."""
    items: list[Fields] = []
    needs: dict[str, str] = {}
    for at in range(len(talk)):
        own = as_responses(talk[: at + 1])["input"][len(as_responses(talk[:at])["input"]) :]
        rng = Random(f"{seed} {at}")
        odd = list(_odd(own, rng, needs))
        items += odd
        if at == compacted:
            items.append({"type": "compaction", "id": "cmp_1", "encrypted_content": SIGNATURE})
    return {"model": "gpt-5.5", "input": items}, needs


def _odd(items: list[Fields], rng: Random, needs: dict[str, str]) -> Iterator[Fields]:
    """An exchange, run by run."""
    if rng.random() < 0.2:
        yield {"type": "message", "role": "developer", "content": prose(rng.randint(0, 999), 9)}
    if rng.random() < 0.1:
        yield {
            "type": "additional_tools",
            "role": "developer",
            "tools": [{"type": "function", "name": f"tool_{rng.randint(0, 99)}", "parameters": {}}],
        }
    at = 0
    while at < len(items):
        end = at + 1
        while end < len(items) and not _begins(items, end):
            end += 1
        yield from _round(items[at:end], rng, needs)
        at = end


def _begins(items: list[Fields], at: int) -> bool:
    """A run of the model begins behind an input."""
    return _is_input(items[at - 1]) and not _is_output(items[at])


def _is_output(item: Fields) -> bool:
    return str(item["type"]).endswith("_output")


def _is_input(item: Fields) -> bool:
    return item.get("role") == "user" or _is_output(item)


def _round(items: list[Fields], rng: Random, needs: dict[str, str]) -> Iterator[Fields]:
    outputs = {item["call_id"]: item for item in items if _is_output(item)}
    said = [item for item in items if not _is_output(item)]
    thought = next((item["id"] for item in said if item["type"] == "reasoning"), "")
    manner = rng.choice(("together", "one by one", "late"))
    left: list[Fields] = []
    for item in said:
        if thought and item["type"] != "reasoning":
            needs[item["id"]] = thought
        if item["type"] != "function_call":
            yield item
            continue
        call, output = _call(item, outputs[item["call_id"]], rng)
        yield call
        if manner == "one by one":
            yield output
        else:
            left.append(output)
    if manner == "late" and len(left) > 1:
        yield left.pop(0)
        words = prose(rng.randint(0, 999), 9)
        yield {"type": "message", "role": "user", "content": f"Hurry. {words}"}
    yield from left
    if rng.random() < 0.1 and any(item["type"] == "function_call" for item in said):
        yield from _searched(rng)
    if rng.random() < 0.1 and not _is_input(items[-1]):
        name = f"ws_{rng.getrandbits(40):x}"
        yield {"type": "web_search_call", "id": name, "status": "completed", "action": _WEB}


_WEB = {"type": "search", "query": "towers", "sources": [{"type": "url", "url": "https://a.test"}]}


def _call(call: Fields, output: Fields, rng: Random) -> tuple[Fields, Fields]:
    """Turn a call into one of another kind."""
    if rng.random() < 0.6 or not isinstance(output["output"], str):
        return call, output
    kind = rng.choice(_KINDS)
    own = {"type": kind, "id": call["id"].replace("fc_", "x_"), "call_id": call["call_id"]}
    answer = {"type": f"{kind}_output", "call_id": call["call_id"], "output": output["output"]}
    match kind:
        case "custom_tool_call":
            own |= {"name": call["name"], "input": call["arguments"]}
        case "shell_call":
            own |= {"action": {"commands": ["ls"]}}
            outcome = {"type": "exit", "exit_code": 0}
            answer["output"] = [{"stdout": output["output"], "stderr": "", "outcome": outcome}]
        case "apply_patch_call":
            operation = {"type": "update_file", "path": "a.py", "diff": call["arguments"]}
            own |= {"status": "completed", "operation": operation}
            answer["status"] = "completed"
        case "local_shell_call":
            own |= {"action": {"type": "exec", "command": ["ls"], "env": {}}, "status": "completed"}
    return own, answer


def _searched(rng: Random) -> Iterator[Fields]:
    """A search that loads a tool."""
    name = f"call_{rng.getrandbits(40):x}"
    yield {"type": "reasoning", "id": f"rs_{name}", "summary": [], "encrypted_content": SIGNATURE}
    tool = {"type": "function", "name": f"tool_{rng.randint(0, 3)}", "parameters": {}}
    yield {"type": "tool_search_call", "id": f"tsc_{name}", "call_id": name, "arguments": {"q": 1}}
    yield {"type": "tool_search_output", "call_id": name, "tools": [tool]}
