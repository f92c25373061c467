"""A tool-using session with openai-agents, two runs in one session, for test_openai_agents.py.

Standard input: {"url", "key", "way", "model", "tasks", "files"}. `way`: run or stream. Standard
output: {"last": texts, "files": {...}}.
"""

import asyncio
import json
import sys

from agents import (
    Agent,
    Runner,
    SQLiteSession,
    function_tool,
    set_default_openai_client,
    set_tracing_disabled,
)
from openai import AsyncOpenAI

given = json.load(sys.stdin)
files = given["files"]


def read_file(path: str) -> str:
    """Read a file."""
    return str(files[path])


def run(command: str) -> str:
    """Run a command."""
    words = command.split()
    text = files[words[-1]]
    return text if words[0] == "cat" else f"{len(text.split())} {words[-1]}\n"


def write_file(path: str, text: str) -> str:
    """Write a file."""
    files[path] = text
    return "written"


async def main() -> None:
    headers = {"x-polychat-memory": "on"}
    client = AsyncOpenAI(base_url=given["url"], api_key=given["key"], default_headers=headers)
    set_default_openai_client(client, use_for_tracing=False)
    set_tracing_disabled(True)
    tools = [function_tool(one) for one in (read_file, run, write_file)]
    agent = Agent(name="a", instructions="You work on a project.", tools=tools,
                  model=given["model"])  # fmt: skip
    session, last = SQLiteSession("one"), []
    for task in given["tasks"]:
        if given["way"] == "stream":
            result = Runner.run_streamed(agent, task, session=session, max_turns=100)
            async for _ in result.stream_events():
                pass
        else:
            result = await Runner.run(agent, task, session=session, max_turns=100)
        last.append(result.final_output)
    json.dump({"last": last, "files": files}, sys.stdout)


asyncio.run(main())
