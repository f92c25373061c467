"""An upstream whose answers a test writes piece by piece, while it looks at the page.

    with ChatUpstream() as upstream:
        turn = upstream.turn()          # the next request gets this
        ...                             # the page sends a message
        turn.say("Hello")               # a chunk
        turn.end()

A request for which no turn waits is answered with "Answer N." at once. `turn.gone` is set when the
other side has closed the connection before the end.
"""

from __future__ import annotations

import json
import queue
import select
import socket
import threading
from collections.abc import Mapping
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Self

POLL = 0.05  # seconds between two looks at the connection
SECONDS = 180.0
MODELS = ("scripted", "text-embedding-small")  # one that chats: the page begins with it
SEVERAL = ("scripted", "scripted-large", "text-embedding-small")


class Turn:
    """One answer. What is put into it goes out at once; it may be filled before it is asked for."""

    def __init__(self) -> None:
        self.pieces: queue.Queue[bytes | None] = queue.Queue()
        self.asked = threading.Event()
        self.gone = threading.Event()
        self.body: dict[str, Any] = {}
        self.headers: dict[str, str] = {}
        self.status = 200
        self.media_type = "text/event-stream"
        self.extra: dict[str, str] = {}

    def say(self, text: str, **delta: Any) -> Self:
        return self.delta({"content": text, **delta})

    def delta(self, delta: Mapping[str, Any], finish: str | None = None) -> Self:
        choice = {"index": 0, "delta": dict(delta), "finish_reason": finish}
        return self.event({"id": "1", "object": "chat.completion.chunk", "choices": [choice]})

    def event(self, value: object) -> Self:
        return self.raw(b"data: " + json.dumps(value).encode() + b"\n\n")

    def raw(self, data: bytes) -> Self:
        self.pieces.put(data)
        return self

    def end(self, finish: str = "stop") -> Self:
        self.delta({}, finish)
        self.raw(b"data: [DONE]\n\n")
        self.pieces.put(None)
        return self

    def cut(self) -> Self:
        """The connection breaks, without an end."""
        self.pieces.put(b"")
        return self

    def close(self) -> Self:
        """The connection is closed as after an end, which was not said."""
        self.pieces.put(None)
        return self

    def whole(self, status: int, value: object, **headers: str) -> Self:
        """An answer that is no stream, an error among others."""
        self.status, self.media_type = status, "application/json"
        self.extra = {name.replace("_", "-"): value for name, value in headers.items()}
        self.raw(json.dumps(value).encode())
        self.pieces.put(None)
        return self

    def fail(self, status: int, message: str, code: str = "failed", **headers: str) -> Self:
        return self.whole(status, {"error": {"message": message, "code": code}}, **headers)

    def sent(self) -> list[dict[str, Any]]:
        """The messages that the upstream got; waits for them."""
        assert self.asked.wait(SECONDS), "this turn was not asked for"
        return list(self.body["messages"])


class ChatUpstream:
    """Listens on a free port; `url` ends with /v1. `models`: what `/models` answers, an int being
    an error."""

    def __init__(self) -> None:
        self.models: list[str] | int = list(MODELS)
        self._turns: queue.Queue[Turn] = queue.Queue()
        self.turns: list[Turn] = []
        self._past: set[str] = set()
        upstream = self

        class Handler(_Handler):
            owner = upstream

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        self._thread = threading.Thread(target=self._server.serve_forever, daemon=True)
        self.url = f"http://127.0.0.1:{self._server.server_port}/v1"

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()

    def turn(self) -> Turn:
        turn = Turn()
        self._turns.put(turn)
        return turn

    def forget(self, key: str) -> None:
        """End what the test of this key has left over. What it asked for and still comes gets no
        turn of the next test."""
        self._past.add(f"Bearer {key}")
        self.models = list(MODELS)
        while not self._turns.empty():
            self._turns.get_nowait()
        for turn in self.turns:
            turn.pieces.put(None)
        self.turns.clear()

    def next_turn(self, authorization: str | None) -> Turn:
        if authorization in self._past:
            return Turn().fail(410, "this test is over")
        try:
            turn = self._turns.get_nowait()
        except queue.Empty:
            turn = Turn()
            turn.say(f"Answer {len(self.turns) + 1}.").end()
        self.turns.append(turn)
        return turn


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    owner: ChatUpstream

    def log_message(self, format: str, *args: object) -> None:
        pass

    def do_GET(self) -> None:
        models = self.owner.models
        if isinstance(models, int):
            self._whole(models, {"error": {"message": "no models here", "code": "failed"}})
            return
        self._whole(200, {"object": "list", "data": [{"id": name} for name in models]})

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["content-length"]))
        turn = self.owner.next_turn(self.headers["authorization"])
        turn.body = json.loads(body)
        turn.headers = {name.lower(): value for name, value in self.headers.items()}
        turn.asked.set()
        self.send_response(turn.status)
        self.send_header("content-type", turn.media_type)
        for name, value in turn.extra.items():
            self.send_header(name, value)
        self.send_header("transfer-encoding", "chunked")
        self.end_headers()
        self._stream(turn)

    def _stream(self, turn: Turn) -> None:
        while True:
            try:
                piece = turn.pieces.get(timeout=POLL)
            except queue.Empty:
                if self._is_gone():
                    turn.gone.set()
                    self.close_connection = True
                    return
                continue
            if piece == b"":  # cut: the chunked body has no end
                self.connection.shutdown(socket.SHUT_RDWR)
                self.close_connection = True
                return
            try:
                chunk = b"" if piece is None else piece
                self.wfile.write(b"%x\r\n%b\r\n" % (len(chunk), chunk))
            except OSError:
                turn.gone.set()
                self.close_connection = True
                return
            if piece is None:
                return

    def _is_gone(self) -> bool:
        readable, _, _ = select.select([self.connection], [], [], 0)
        if not readable:
            return False
        try:
            return self.connection.recv(1, socket.MSG_PEEK) == b""
        except OSError:
            return True

    def _whole(self, status: int, value: object) -> None:
        body = json.dumps(value).encode()
        self.send_response(status)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)
