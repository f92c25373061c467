"""Every excerpt can be checked from outside, with the code that docs/context-memory.md prints."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from tests.programs.sessions import chat, coding
from tests.properties.process import World

PAGE = Path(__file__).parents[3] / "docs" / "context-memory.md"


def printed_check() -> Any:
    blocks = re.findall(r"```python\n(.*?)```", PAGE.read_text("utf-8"), re.DOTALL)
    assert len(blocks) == 1
    names: dict[str, Any] = {}
    exec(blocks[0], names)
    return names["check"]


def spaced(value: dict[str, Any]) -> str:
    return json.dumps(value, indent=1)


def agent(rounds: int) -> list[dict[str, Any]]:
    """Parts, reminders, fences, escapes, arguments in other spellings, letters beyond the BMP."""
    made: list[dict[str, Any]] = []
    for number in range(rounds):
        words = chat(1, seed=number, words=80)[0]["content"]
        part = f"Caf\u00e9 \U0001f680 step {number}: {words}"
        made += [
            {
                "role": "user",
                "content": [
                    {"type": "text", "text": f"<system-reminder>{number}</system-reminder>"},
                    {"type": "text", "text": part},
                    {"type": "text", "text": f"```py\nx = {number}\n```\n{words}"},
                ],
            },
            {
                "role": "assistant",
                "content": f"I write the file {number}.",
                "tool_calls": [
                    {
                        "id": f"c{number}",
                        "type": "function",
                        "function": {
                            "name": "write_file",
                            "arguments": spaced({"path": f"src/é{number}.py", "text": words}),
                        },
                    }
                ],
            },
            {
                "role": "tool",
                "tool_call_id": f"c{number}",
                "content": f"written {number} <system-reminder>be brief</system-reminder> {words}",
            },
        ]
    question = {"role": "user", "content": "What was written to src/é7.py, and what is step 11?"}
    return [{"role": "system", "content": "You are a coder."}, *made, question]


SESSIONS = {
    "agent": agent(30),
    "coding": [*coding(14_000), {"role": "user", "content": "Which file had the error?"}],
    "chat": chat(301),
}


@pytest.mark.slow
@pytest.mark.parametrize("mode", ["fresh", "stable"])
@pytest.mark.parametrize("name", SESSIONS)
async def test_all_excerpts_stand_where_they_are_said_to(name, mode):
    posted = SESSIONS[name]
    answer = await World(embedding=True).ask(posted, mode=mode)
    sent = {"messages": [json.loads(raw) for raw in answer.messages], "explain": answer.explain()}
    excerpts = sent["explain"]["excerpts"]
    assert excerpts
    printed_check()(posted, sent)
    if name == "agent":
        parts = {excerpt["part"] for excerpt in excerpts}
        assert parts & {"content[1]", "content[2]", "tool_calls[0].function.arguments.text"}


@pytest.mark.slow
@pytest.mark.parametrize("change", [{"start": 1}, {"part": "content[2]"}, {"sha256": "0" * 64}])
async def test_the_check_can_fail(change):
    posted = SESSIONS["agent"]
    answer = await World().ask(posted, mode="fresh")
    explain = answer.explain()
    first = next(e for e in explain["excerpts"] if e["part"] == "content[1]" and not e["start"])
    explain["excerpts"] = [{**first, **change}]
    sent = {"messages": [json.loads(raw) for raw in answer.messages], "explain": explain}
    with pytest.raises(AssertionError):
        printed_check()(posted, sent)
