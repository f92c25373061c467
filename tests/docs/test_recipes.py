"""Recipes of docs/library.md for frameworks that `make recipes` installs apart, each with the real
library, a long history with calls of tools, and a fake model."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from memtree.text import tokens
from tests.docs.pages import ROOT, block
from tests.http.served.running import running
from tests.http.served.upstream import JSON, FakeUpstream

PYTHON = Path(__file__).parent / "recipes" / ".venv" / "bin" / "python"
pytestmark = [
    pytest.mark.slow,
    pytest.mark.clients,
    pytest.mark.skipif(not PYTHON.exists(), reason="not installed: `make recipes` does it"),
]

LONG = "The harbour master writes down each ship, its load and the hour of the tide. " * 12
TURNS = 60
CHAT = {
    "id": "c", "object": "chat.completion", "created": 1, "model": "m",
    "choices": [{"index": 0, "finish_reason": "stop",
                 "message": {"role": "assistant", "content": "It is high tide."}}],
    "usage": {"prompt_tokens": 9, "completion_tokens": 2, "total_tokens": 11},
}  # fmt: skip
RESPONSE = {
    "id": "resp_1", "object": "response", "created_at": 1, "model": "m", "status": "completed",
    "output": [{"type": "message", "id": "msg_1", "role": "assistant", "status": "completed",
                "content": [{"type": "output_text", "text": "It is high tide.",
                             "annotations": []}]}],
    "parallel_tool_calls": True, "tool_choice": "auto", "tools": [],
}  # fmt: skip
AGENTS = f"""
import asyncio

from agents import set_tracing_disabled

set_tracing_disabled(True)
LONG, TURNS = {LONG!r}, {TURNS}


async def main():
    history = []
    for turn in range(TURNS):
        call = {{"call_id": f"call_{{turn}}", "name": "look", "arguments": "{{}}"}}
        history += [
            {{"role": "user", "content": f"Question {{turn}}. {{LONG}}"}},
            {{"type": "function_call", **call}},
            {{"type": "function_call_output", "call_id": f"call_{{turn}}", "output": LONG}},
            {{"role": "assistant", "content": f"Answer {{turn}}."}},
        ]
    history.append({{"role": "user", "content": "How is the tide?"}})
    agent = Agent(name="harbour", instructions="Be brief.", model="gpt-5")
    async with memtree.open("memory:", embedder="none") as memory:
        print(await ask(agent, history, memory))


asyncio.run(main())
"""
PYDANTIC = f"""
import asyncio

from pydantic_ai import Agent
from pydantic_ai.messages import (
    ModelRequest, ModelResponse, TextPart, ToolCallPart, ToolReturnPart, UserPromptPart,
)

LONG, TURNS = {LONG!r}, {TURNS}


async def main():
    history = []
    for turn in range(TURNS):
        call = {{"tool_name": "look", "tool_call_id": f"call_{{turn}}"}}
        history += [
            ModelRequest([UserPromptPart(f"Question {{turn}}. {{LONG}}")]),
            ModelResponse([ToolCallPart(args="{{}}", **call)]),
            ModelRequest([ToolReturnPart(content=LONG, **call)]),
            ModelResponse([TextPart(f"Answer {{turn}}.")]),
        ]
    async with memtree.open("memory:", embedder="none") as memory:
        agent = Agent(remembering("gpt-5", memory), instructions="Be brief.")
        result = await agent.run("How is the tide?", message_history=history)
        assert len(result.all_messages()) == len(history) + 2
        print(result.output)


asyncio.run(main())
"""


@pytest.fixture
def model() -> FakeUpstream:
    fake = FakeUpstream()
    fake.mode, fake.answer_headers = "bytes", JSON
    return fake


@pytest.fixture
def address(model: FakeUpstream) -> Iterator[str]:
    with running(model) as url:
        yield url


def asked(name: str, driver: str, address: str, folder: Path) -> str:
    """Run a recipe, and return what it printed."""
    roots = os.pathsep.join(str(ROOT / part) for part in ("", "indexer", "proxy"))
    env = {**os.environ, "PYTHONPATH": roots, "OPENAI_API_KEY": "none",
           "OPENAI_BASE_URL": f"{address}/v1"}  # fmt: skip
    code = block("docs/library.md", name) + driver
    done = subprocess.run(
        [PYTHON, "-c", code], capture_output=True, text=True, cwd=folder, env=env, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def check_short(sent: list[Any], calls: set[str], results: set[str]) -> None:
    """Nearly all is folded, the question is last, and no result of a tool is without its call."""
    assert tokens.count(json.dumps(sent)) < 9_000
    assert "context_memory" in json.dumps(sent)
    assert "How is the tide?" in json.dumps(sent[-1])
    assert calls == results


def test_openai_agents(model: FakeUpstream, address: str, tmp_path: Path) -> None:
    model.answer_body = json.dumps(RESPONSE).encode()
    assert asked("openai-agents", AGENTS, address, tmp_path) == "It is high tide."
    (seen,) = model.seen
    assert seen.path.endswith(b"/responses")
    body = json.loads(seen.body)
    assert body["instructions"] == "Be brief."
    by_type = {
        kind: {item["call_id"] for item in body["input"] if item.get("type") == kind}
        for kind in ("function_call", "function_call_output")
    }
    check_short(body["input"], *by_type.values())


def test_pydantic_ai(model: FakeUpstream, address: str, tmp_path: Path) -> None:
    model.answer_body = json.dumps(CHAT).encode()
    assert asked("pydantic-ai", PYDANTIC, address, tmp_path) == "It is high tide."
    (seen,) = model.seen
    assert seen.path.endswith(b"/chat/completions")
    sent = json.loads(seen.body)["messages"]
    calls = {call["id"] for each in sent for call in each.get("tool_calls") or ()}
    results = {each["tool_call_id"] for each in sent if each["role"] == "tool"}
    assert sent[0]["content"] == "Be brief."
    check_short(sent, calls, results)
