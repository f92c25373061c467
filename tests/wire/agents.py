"""Clients of both APIs that keep a history as real agents do: what the model made goes back whole,
calls are answered, markers move on.

    agent.say("go on"); raw = post(agent.body()); calls = agent.take(raw)
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from typing import Any, ClassVar

from tests.wire.clean import MARK, message, output, result, said, text, tool
from tests.wire.rule_break import Fields

Tool = Callable[[str, Fields], str]


def done(name: str, given: Fields) -> str:
    return f"{name} is done"


def events(raw: bytes) -> Iterator[Fields]:
    """The data of a stream's events."""
    for line in raw.decode().split("\n"):
        if line.startswith("data: {"):
            yield dict(json.loads(line.removeprefix("data: ")))


class MessagesAgent:
    """`marked`: whether it marks its system prompt and its newest message."""

    path = "/messages"
    headers: ClassVar = {"anthropic-version": "2023-06-01", "x-api-key": "sk-agent"}

    def __init__(self, run: Tool = done, *, marked: bool = True, **fields: Any) -> None:
        self.run = run
        self.marked = marked
        system = text("You are an agent.")
        if marked:
            system["cache_control"] = dict(MARK)
        self.fields: Fields = {
            "model": "claude-sonnet-5-5",
            "max_tokens": 4096,
            "stream": True,
            "thinking": {"type": "adaptive"},
            "system": [system],
            "tools": [tool("Read"), tool("Bash")],
            **fields,
        }
        self.history: list[Fields] = []

    def say(self, words: str) -> None:
        self.history.append(said("user", text(words)))

    def body(self, **changes: Any) -> Fields:
        messages: list[Fields] = json.loads(json.dumps(self.history))
        if self.marked:
            last = next(one for one in reversed(messages) if one["role"] == "user")
            last["content"][-1]["cache_control"] = dict(MARK)
        return {**self.fields, "messages": messages, **changes}

    def take(self, raw: bytes) -> bool:
        """An answer, of a stream or whole. True where its calls were answered and it goes on."""
        content = json.loads(raw)["content"] if raw.startswith(b"{") else list(streamed(raw))
        self.history.append({"role": "assistant", "content": content})
        results = [
            result(one["id"], self.run(one["name"], one["input"]))
            for one in content
            if one["type"] == "tool_use"
        ]
        if results:
            self.history.append(said("user", *results))
        return bool(results)


def streamed(raw: bytes) -> Iterator[Fields]:
    """The content blocks of a stream."""
    for event in events(raw):
        if event["type"] == "content_block_start":
            block, given = dict(event["content_block"]), ""
        elif event["type"] == "content_block_delta":
            for name, value in event["delta"].items():
                if name == "partial_json":
                    given += value
                elif name != "type":
                    block[name] += value
        elif event["type"] == "content_block_stop":
            if block["type"] == "tool_use":
                block["input"] = json.loads(given or "{}")
            yield block


class ResponsesAgent:
    path = "/responses"
    headers: ClassVar = {"authorization": "Bearer sk-agent"}

    def __init__(self, run: Tool = done, **fields: Any) -> None:
        self.run = run
        self.fields: Fields = {
            "model": "gpt-5.5",
            "stream": True,
            "store": False,
            "include": ["reasoning.encrypted_content"],
            "prompt_cache_key": "k",
            "tools": [
                {"type": "function", "name": name, "description": "d", "parameters": {}}
                for name in ("Read", "Bash")
            ],
            **fields,
        }
        self.history: list[Fields] = [message("developer", "You are an agent.", id="msg_dev")]

    def say(self, words: str) -> None:
        self.history.append(message("user", words, id=f"msg_u{len(self.history)}"))

    def body(self, **changes: Any) -> Fields:
        return {**self.fields, "input": json.loads(json.dumps(self.history)), **changes}

    def take(self, raw: bytes) -> bool:
        """An answer, of a stream or whole. True where its calls were answered and it goes on."""
        if raw.startswith(b"{"):
            items = json.loads(raw)["output"]
        else:
            items = [e["item"] for e in events(raw) if e["type"] == "response.output_item.done"]
        self.history += items
        calls = [one for one in items if one["type"] == "function_call"]
        for one in calls:
            words = self.run(one["name"], json.loads(one["arguments"]))
            self.history.append({**output("", output=words), "call_id": one["call_id"]})
        return bool(calls)
