"""Histories of a few messages."""

from __future__ import annotations

from typing import Any

from memtree.history.chat_history import History, read
from memtree.history.message import Message, Volatile


def history(*messages: str | dict[str, Any]) -> History:
    """A string is a message of the user."""
    made = [one if isinstance(one, dict) else {"role": "user", "content": one} for one in messages]
    return read("t", [Message.of(one) for one in made], Volatile())


def call(name: str, arguments: str, id_: str = "c") -> dict[str, Any]:
    return {"id": id_, "type": "function", "function": {"name": name, "arguments": arguments}}


def calling(*calls: dict[str, Any], content: str | None = None) -> dict[str, Any]:
    return {"role": "assistant", "content": content, "tool_calls": list(calls)}


def answering(content: str, id_: str = "c") -> dict[str, Any]:
    return {"role": "tool", "tool_call_id": id_, "content": content}
