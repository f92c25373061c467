"""The OpenAI Python SDK through the real server to an upstream that answers by script."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, ClassVar

import pytest
from openai import OpenAI

from tests.server import Server, running
from tests.sessions import coding

pytestmark = [pytest.mark.slow, pytest.mark.clients]

WORDS = ["The ", "limit ", "is ", "42", "."]
TOOL = {
    "type": "function",
    "function": {
        "name": "run_tests",
        "parameters": {"type": "object", "properties": {"target": {"type": "string"}}},
    },
}


class Upstream(BaseHTTPRequestHandler):
    """Answers every chat; keeps what it was sent."""

    protocol_version = "HTTP/1.1"
    requests: ClassVar[list[dict[str, Any]]] = []

    def do_POST(self) -> None:
        length = int(self.headers["content-length"])
        body = json.loads(self.rfile.read(length))
        self.requests.append(body)
        if body.get("stream"):
            self._stream()
        elif body.get("tools"):
            call = {"name": "run_tests", "arguments": '{"target": "tests"}'}
            calls = [{"id": "call_new", "type": "function", "function": call}]
            self._whole({"role": "assistant", "content": None, "tool_calls": calls})
        else:
            self._whole({"role": "assistant", "content": "".join(WORDS)})

    def _whole(self, message: dict[str, Any]) -> None:
        choice = {"index": 0, "message": message, "finish_reason": "stop"}
        usage = {"prompt_tokens": 7, "completion_tokens": 5, "total_tokens": 12}
        data = json.dumps(
            {
                "id": "c",
                "object": "chat.completion",
                "created": 1,
                "model": "m",
                "choices": [choice],
                "usage": usage,
            }
        ).encode()
        self.send_response(200)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def _stream(self) -> None:
        self.send_response(200)
        self.send_header("content-type", "text/event-stream")
        self.send_header("transfer-encoding", "chunked")
        self.end_headers()
        base = {"id": "c", "object": "chat.completion.chunk", "created": 1, "model": "m"}
        for word in WORDS:
            choice = {"index": 0, "delta": {"content": word}, "finish_reason": None}
            self._chunk(f"data: {json.dumps({**base, 'choices': [choice]})}\n\n")
        self._chunk("data: [DONE]\n\n")
        self.wfile.write(b"0\r\n\r\n")

    def _chunk(self, text: str) -> None:
        data = text.encode()
        self.wfile.write(b"%x\r\n%s\r\n" % (len(data), data))
        self.wfile.flush()

    def log_message(self, format: str, *args: object) -> None:
        """Quiet."""


@pytest.fixture
def upstream() -> Iterator[str]:
    Upstream.requests.clear()
    server = ThreadingHTTPServer(("127.0.0.1", 0), Upstream)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}/v1"
    server.shutdown()
    server.server_close()


@pytest.fixture
def server(tmp_path: Path, upstream: str) -> Iterator[Server]:
    with running(tmp_path / "sdk.db", "--upstream", upstream) as started:
        yield started


@pytest.fixture
def client(server: Server) -> Iterator[OpenAI]:
    headers = {"x-polychat-memory": "on"}
    with OpenAI(
        base_url=f"{server.url}/v1", api_key="sdk-test", default_headers=headers, max_retries=0
    ) as made:
        yield made


def long_history() -> list[Any]:
    return [*coding(40_000), {"role": "user", "content": "Which limit did we set in SHOP-105?"}]


def check_packed(body: dict[str, Any], history: list[Any]) -> None:
    sent = body["messages"]
    assert sent[0] == history[0], "the system prompt goes first and untouched"
    assert sent[1]["role"] == "user"
    assert sent[1]["content"].startswith("<context_memory>")
    # A recall block may stand before the question, which is otherwise as it was posted.
    before, asked, after = sent[-1].pop("content").partition(history[-1]["content"])
    assert (asked, after, sent[-1]) == (history[-1]["content"], "", {"role": "user"})
    assert not before or before.startswith("<recalled_context>\n")
    assert len(sent) < len(history)


def test_plain_answer(client: OpenAI) -> None:
    history = long_history()
    raw = client.chat.completions.with_raw_response.create(model="m", messages=history)
    assert raw.parse().choices[0].message.content == "".join(WORDS)
    assert raw.headers["x-memtree-state"] in ("packed", "provisional")
    assert int(raw.headers["x-memtree-sent-tokens"]) <= 20_500
    check_packed(Upstream.requests[0], history)


def test_stream(client: OpenAI) -> None:
    history = long_history()
    stream = client.chat.completions.create(model="m", messages=history, stream=True)
    words = [chunk.choices[0].delta.content for chunk in stream]
    assert words == WORDS
    check_packed(Upstream.requests[0], history)


def test_tool_loop_keeps_every_pair(client: OpenAI) -> None:
    messages = long_history()
    for _ in range(3):
        answer = client.chat.completions.create(model="m", messages=messages, tools=[TOOL])  # type: ignore[list-item]
        message = answer.choices[0].message
        assert message.tool_calls
        messages.append(message)
        messages.append(
            {"role": "tool", "tool_call_id": message.tool_calls[0].id, "content": "12 passed"}
        )
    for body in Upstream.requests:
        open_calls: set[str] = set()
        for one in body["messages"]:
            if one["role"] == "tool":
                assert one["tool_call_id"] in open_calls
                open_calls.discard(one["tool_call_id"])
            else:
                assert not open_calls, "a call without its answer"
                open_calls = {call["id"] for call in one.get("tool_calls") or ()}
    assert "Which limit did we set in SHOP-105?" in json.dumps(Upstream.requests[-1])


def test_short_history_passes_as_it_is(client: OpenAI) -> None:
    messages: list[Any] = [{"role": "user", "content": "hi"}]
    raw = client.chat.completions.with_raw_response.create(model="m", messages=messages)
    assert raw.headers["x-memtree-state"] == "below-threshold"
    assert Upstream.requests[0]["messages"] == messages
