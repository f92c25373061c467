"""The rules of the Responses API for one request: `broken(body)` names those that it breaks.

`needs`: which reasoning each item was made with, by ids, as a server remembers it; a request shows
by itself only that reasoning stands alone.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from tests.wire.responses.responses_items import (
    OUTPUT_OF,
    OUTPUTS,
    broken_fields,
    broken_item,
    is_of_model,
    kind_of,
)
from tests.wire.rule_break import Fields, RuleBreak

MEMORY = "<context_memory>"


def broken(body: Fields, needs: Mapping[str, str] | None = None) -> list[RuleBreak]:
    """Every rule that the request breaks; empty where the API would take it."""
    found = list(broken_fields(body))
    items = body.get("input")
    if isinstance(items, str):
        return found if items else [*found, RuleBreak("no-input", "input")]
    held = body.get("previous_response_id") or body.get("conversation") or body.get("prompt")
    if not isinstance(items, list) or not items:
        return found if held else [*found, RuleBreak("no-input", "input")]
    for index, item in enumerate(items):
        found += broken_item(item, f"input[{index}]")
    if any(one.rule == "unknown-item" for one in found):
        return found
    if not held:
        found += _broken_calls(items)
    found += _broken_ids(items)
    found += _broken_reasoning(body, items, needs or {})
    found += _broken_compaction(items)
    return found


def _broken_calls(items: Sequence[Fields]) -> Iterator[RuleBreak]:
    """Each call of the client's tools has its one output behind it, of its own kind."""
    asked: dict[str, str] = {}
    answered: Counter[str] = Counter()
    for index, item in enumerate(items):
        kind, name = kind_of(item), str(item.get("call_id"))
        where = f"input[{index}]"
        if item.get("execution") == "server" or item.get("call_id") is None:
            continue
        if kind in OUTPUT_OF:
            if name in asked:
                yield RuleBreak("call-id-twice", where)
            asked[name] = kind
        elif kind in OUTPUTS:
            if name not in asked:
                yield RuleBreak("output-without-call", where)
            elif asked[name] != OUTPUTS[kind]:
                yield RuleBreak("output-of-another-kind", where)
            answered[name] += 1
            if answered[name] == 2:
                yield RuleBreak("output-twice", where)
    for name in asked:
        if not answered[name]:
            yield RuleBreak("call-without-output", name)
    approvals = {item.get("id") for item in items if kind_of(item) == "mcp_approval_request"}
    for index, item in enumerate(items):
        answers = kind_of(item) == "mcp_approval_response"
        if answers and item.get("approval_request_id") not in approvals:
            yield RuleBreak("approval-without-request", f"input[{index}]")


def _broken_ids(items: Sequence[Fields]) -> Iterator[RuleBreak]:
    seen: set[str] = set()
    for index, item in enumerate(items):
        own = item.get("id")
        if isinstance(own, str) and kind_of(item) != "item_reference":
            if own in seen:
                yield RuleBreak("item-id-twice", f"input[{index}]")
            seen.add(own)


def _broken_reasoning(
    body: Fields, items: Sequence[Fields], needs: Mapping[str, str]
) -> Iterator[RuleBreak]:
    """Reasoning is followed by what the model made of it, and that is not sent without it."""
    before: set[str] = set()
    for index, item in enumerate(items):
        where = f"input[{index}]"
        own = str(item.get("id") or "")
        if kind_of(item) == "reasoning":
            behind = items[index + 1] if index + 1 < len(items) else None
            if own and not is_of_model(behind):
                yield RuleBreak("lone-reasoning", where)
            if own and body.get("store") is False and not item.get("encrypted_content"):
                yield RuleBreak("reasoning-not-stored", where)
            before.add(own)
        elif own in needs and needs[own] not in before:
            yield RuleBreak("item-without-reasoning", where)
        elif kind_of(item) == "item_reference" and body.get("store") is False:
            yield RuleBreak("reference-not-stored", where)


def _broken_compaction(items: Sequence[Any]) -> Iterator[RuleBreak]:
    triggers = [i for i, item in enumerate(items) if kind_of(item) == "compaction_trigger"]
    if any(place != len(items) - 1 for place in triggers):
        yield RuleBreak("trigger-not-last", f"input[{triggers[0]}]")
    last = max((i for i, item in enumerate(items) if kind_of(item) == "compaction"), default=-1)
    for index, item in enumerate(items[: last + 1]):
        if MEMORY in str(item.get("content") or ""):
            yield RuleBreak("memory-before-compaction", f"input[{index}]")
