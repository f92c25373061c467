"""A long invented coding session, with questions about its early parts.

A generator writes a project's history with requests, tool calls, file listings, failing tests,
decisions and standing rules. Pure: the same arguments give the same session.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from random import Random
from typing import Any

from memtree.history.chat_history import describe
from memtree.history.message import Message, Volatile

SEED = 20_260
MODULES = (
    "billing", "catalog", "search", "session", "export", "webhook", "audit", "mailer", "pricing",
    "stock",
)  # fmt: skip
NOUNS = (
    "invoice", "voucher", "cart", "refund", "ledger", "shipment", "coupon", "quote", "payout",
    "receipt",
)  # fmt: skip
VERBS = (
    "merge", "validate", "split", "cache", "retry", "archive", "rank", "import", "reconcile",
    "throttle",
)  # fmt: skip
ERRORS = (
    "KeyError", "TimeoutError", "ZeroDivisionError", "IntegrityError", "UnicodeDecodeError",
    "RecursionError",
)  # fmt: skip
REASONS = (
    "because the queue delivers twice after a restart",
    "because the accountants close the month in UTC",
    "since the old client still sends the field as text",
    "because the index lock blocks readers for seconds",
    "since two regions share one sequence",
)


@dataclass(frozen=True, slots=True)
class DemoFact:
    """A statement made once, a question about it, and the words expected in the answer."""

    question: str
    answer: str


def session(size: int, seed: int = SEED) -> tuple[tuple[Message, ...], list[DemoFact]]:
    """Return a session of about `size` tokens and its facts; the same for the same arguments."""
    random = Random(seed)
    fields: list[dict[str, Any]] = [
        {"role": "system", "content": "You are a coding agent in a shop's monorepo."},
        _said("user", "We build the shop's backend. From now on, always run the tests of the "
                      "module you touched, and never edit files under vendor/."),
        _said("assistant", "Understood: tests after each change, and vendor/ stays untouched."),
    ]  # fmt: skip
    facts: list[DemoFact] = []
    written = 0
    number = 100
    while written < size:
        number += 1
        task, fact = _task(random, number)
        fields += task
        facts.append(fact)
        written += sum(describe(Message.of(message), Volatile()).tokens for message in task)
    return tuple(Message.of(message) for message in fields), facts


def _task(random: Random, number: int) -> tuple[list[dict[str, Any]], DemoFact]:
    module, noun, verb = random.choice(MODULES), random.choice(NOUNS), random.choice(VERBS)
    error, reason = random.choice(ERRORS), random.choice(REASONS)
    limit, path = random.randrange(12, 9_000), f"{module}/{verb}_{noun}.py"
    ticket = f"SHOP-{number}"
    tests = {"target": f"tests/test_{module}.py"}
    edit = {"path": path, "old": "return total", "new": f"return min(total, {limit})"}
    messages = [
        _said("user", f"{ticket}: please {verb} each {noun} in {path}; "
                      f"it fails with {error} when a {noun} has no lines."),
        *_call(number, 1, "read_file", {"path": path}, _source(random, module, noun, verb)),
        *_call(number, 2, "run_tests", tests, _log(random, path, error)),
        _said("assistant", f"The {error} comes from an empty list in `{verb}_{noun}`. "
                           f"I will guard it and set the limit to {limit}, {reason}."),
        *_call(number, 3, "edit_file", edit, f"edited {path}: 1 replacement"),
        *_call(number, 4, "run_tests", tests, f"{random.randrange(20, 90)} passed"),
        _said("assistant", f"{ticket} is done: `{verb}_{noun}` no longer raises {error}, "
                           f"and its limit is {limit}."),
    ]  # fmt: skip
    question = f"In {ticket}, which limit did we set in {path}, and why?"
    return messages, DemoFact(question, f"limit to {limit}")


def _said(role: str, text: str) -> dict[str, Any]:
    return {"role": role, "content": text}


def _call(
    number: int, step: int, name: str, arguments: dict[str, str], result: str
) -> Iterator[dict[str, Any]]:
    id_ = f"call_{number}_{step}"
    function = {"name": name, "arguments": json.dumps(arguments)}
    yield {
        "role": "assistant",
        "content": None,
        "tool_calls": [{"id": id_, "type": "function", "function": function}],
    }
    yield {"role": "tool", "tool_call_id": id_, "content": result}


def _source(random: Random, module: str, noun: str, verb: str) -> str:
    lines = [f'"""{module}: {verb} a {noun}."""', "", "from decimal import Decimal", ""]
    for index in range(random.randrange(6, 16)):
        other, act = random.choice(NOUNS), random.choice(VERBS)
        lines += [
            f"def {act}_{other}_{index}({other}s: list[dict]) -> Decimal:",
            f'    """{act.title()} the {other}s of one {noun}."""',
            f"    total = Decimal({random.randrange(1000)})",
            f"    for {other} in {other}s:",
            f'        total += Decimal({other}["{random.choice(NOUNS)}_{random.randrange(99)}"])',
            "    return total",
            "",
        ]
    lines += [f"def {verb}_{noun}(rows):", "    total = sum(rows) / len(rows)", "    return total"]
    return "\n".join(lines)


def _log(random: Random, path: str, error: str) -> str:
    passed = [
        f"tests/test_{i}.py::test_{random.choice(VERBS)}_{random.choice(NOUNS)} PASSED"
        for i in range(random.randrange(8, 30))
    ]
    return "\n".join(
        [*passed, f"{path}:{random.randrange(9, 120)}: {error}", f"1 failed, {len(passed)} passed"]
    )
