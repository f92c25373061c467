"""Serve the memory tools over standard input and output, one JSON-RPC message a line, until the
input ends. Importing this file loads the SDK.

This file adds three things that the SDK lacks. A line that is no message gets an error, with its id
if it has one, since its client would wait forever. Calls under way when the input ends are
answered; the SDK cancels them, and `... | memtree mcp` would print only some answers. A client may
ask for the newer protocol, give up after a second, and start the older handshake while this process
is still starting; the first request is then refused, since the SDK would otherwise refuse the older
handshake.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Callable
from typing import Any, cast

import anyio
import msgspec
from mcp.server.stdio import stdio_server
from mcp_types import (
    INVALID_REQUEST,
    METHOD_NOT_FOUND,
    PARSE_ERROR,
    JSONRPCMessage,
    JSONRPCNotification,
    JSONRPCRequest,
    jsonrpc_message_adapter,
)
from pydantic import ValidationError

from memtree_proxy.mcp import sdk_server
from memtree_proxy.mcp.stdio_lines import InputLines, OutputLines
from memtree_proxy.mcp.tools import Caller, MemoryTools

END_SECONDS = 10.0  # to finish calls when the input ends
CANCELLED = "notifications/cancelled"
DISCOVER, INITIALIZE = "server/discover", "initialize"  # first requests: newer, older protocol
OPENING_SECONDS = 0.05  # to read lines that the client already sent


class Answered(msgspec.Struct):
    """Part of an answer: the id of its request."""

    id: int | str | None = None


async def serve(
    tools: MemoryTools,
    caller: Caller,
    given: int,
    taken: int,
    stoppable: Callable[[Callable[[], None]], None] = lambda stop: None,
) -> None:
    """Read messages from the descriptor `given` and answer on `taken`, until the input ends or the
    output has no reader. `stoppable` receives a function that stops serving early."""
    wire = Wire(InputLines(given), OutputLines(taken))
    stoppable(wire.end)
    server = sdk_server.build(tools, lambda _: caller)
    streams = stdio_server(stdin=cast(Any, wire), stdout=cast(Any, wire))
    async with streams as (read, write):
        await server.run(read, write, server.create_initialization_options())


class Wire:
    """Stand-in for the SDK's text files: an iterator of lines, `write` and `flush`."""

    def __init__(self, given: InputLines, taken: OutputLines) -> None:
        self._given, self._taken = given, taken
        self._waiting: set[int | str] = set()  # requests without an answer yet
        self._quiet = asyncio.Event()
        self._quiet.set()

    def end(self) -> None:
        self._given.end()

    async def __aiter__(self) -> AsyncIterator[str]:
        opening = True
        while (line := await self._given.next()) is not None:
            if not line.strip():
                continue
            message = read(line)
            if isinstance(message, bytes):
                await self._taken.write(message)
                continue
            if opening and isinstance(message, JSONRPCRequest):
                opening = False
                if message.method == DISCOVER and await self._went_on():
                    error = _error(message.id, METHOD_NOT_FOUND, "Answered as the older protocol")
                    await self._taken.write(error)
                    continue
            self._note(message)
            yield line.decode()
        with anyio.move_on_after(END_SECONDS):
            await self._quiet.wait()

    async def _went_on(self) -> bool:
        """Return True if the client has already sent the older handshake."""
        coming = map(read, await self._given.coming(OPENING_SECONDS))
        return any(isinstance(m, JSONRPCRequest) and m.method == INITIALIZE for m in coming)

    async def write(self, text: str) -> None:
        line = text.rstrip("\n").encode()
        await self._taken.write(line)
        self._settle(msgspec.json.decode(line, type=Answered).id)
        if self._taken.closed:
            self._waiting.clear()
            self._quiet.set()
            self._given.end()

    async def flush(self) -> None:
        """Do nothing: `write` does not buffer."""

    def _note(self, message: JSONRPCMessage) -> None:
        if isinstance(message, JSONRPCRequest):
            self._waiting.add(message.id)
            self._quiet.clear()
        elif isinstance(message, JSONRPCNotification) and message.method == CANCELLED:
            self._settle((message.params or {}).get("requestId"))

    def _settle(self, id_: object) -> None:
        if isinstance(id_, int | str):
            self._waiting.discard(id_)
        if not self._waiting:
            self._quiet.set()


def read(line: bytes) -> JSONRPCMessage | bytes:
    """Return the line's message, or the error that answers an invalid line."""
    try:
        return jsonrpc_message_adapter.validate_json(line, by_name=False)
    except ValidationError:
        pass
    try:
        content = json.loads(line)
    except (ValueError, RecursionError):
        return _error(None, PARSE_ERROR, "Parse error")
    id_ = content.get("id") if isinstance(content, dict) else None
    known = id_ if isinstance(id_, int | str) and not isinstance(id_, bool) else None
    return _error(known, INVALID_REQUEST, "This is no JSON-RPC message that can be read")


def _error(id_: int | str | None, code: int, message: str) -> bytes:
    body = {"jsonrpc": "2.0", "id": id_, "error": {"code": code, "message": message}}
    return json.dumps(body).encode()
