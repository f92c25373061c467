"""Messages of Anthropic's API in few words."""

from __future__ import annotations

from typing import Any

Json = dict[str, Any]


def text(said: str) -> Json:
    return {"type": "text", "text": said}


def thinking(told: str, signature: str = "c2ln") -> Json:
    return {"type": "thinking", "thinking": told, "signature": signature}


def called(id_: str, name: str, given: Any) -> Json:
    return {"type": "tool_use", "id": id_, "name": name, "input": given}


def server_call(id_: str, name: str = "web_search") -> Json:
    return {"type": "server_tool_use", "id": id_, "name": name, "input": {"query": "q"}}


def result(id_: str, content: Any) -> Json:
    return {"type": "tool_result", "tool_use_id": id_, "content": content}


def user(content: Any) -> Json:
    return {"role": "user", "content": content}


def assistant(*blocks: Json) -> Json:
    return {"role": "assistant", "content": list(blocks)}
