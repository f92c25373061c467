"""Rivals that the server is measured beside, as ASGI apps that run in processes of their own.

`instant` is the upstream. `reading` reads the body and answers: nothing can be faster. `naive` is
the recipe that comes to mind first, `cheapest` the one that does least with a body of which nothing
is remembered: split it into messages without decoding them, one digest over all.
"""

from __future__ import annotations

import asyncio
import json
from hashlib import sha256
from typing import Any

import msgspec
import xxhash

ANSWER = b'{"id": "x", "content": [], "output": [], "choices": []}'
HEADERS = [(b"content-type", b"application/json"), (b"content-length", str(len(ANSWER)).encode())]
HISTORIES = ("messages", "input")


class Raws(msgspec.Struct):
    messages: list[msgspec.Raw] | None = None
    input: list[msgspec.Raw] | None = None


async def instant(scope: Any, receive: Any, send: Any) -> None:
    """Takes the request piece by piece and keeps nothing."""
    if scope["type"] == "http":
        while (await receive()).get("more_body"):
            pass
        await _answer(send)


EVENTS, PAUSE = 60, 0.02  # of a stream; seconds between two
EVENT = b'data: {"id":"c","object":"chat.completion.chunk","created":1,"model":"m","choices":[\
{"index":0,"delta":{"content":" word"},"logprobs":null,"finish_reason":null}]}\n\n'
WHOLE = b"""{"id":"c","object":"chat.completion","created":1,"model":"m","choices":[{"index":0,\
"message":{"role":"assistant","content":"Hello."},"finish_reason":"stop"}],\
"usage":{"prompt_tokens":9,"completion_tokens":3,"total_tokens":12}}"""


async def upstream(scope: Any, receive: Any, send: Any) -> None:
    """Says hello at once, or streams words with pauses."""
    if scope["type"] != "http":
        return
    body = await _body(receive)
    if b'"stream": true' not in body and b'"stream":true' not in body:
        size = (b"content-length", str(len(WHOLE)).encode())
        await send({"type": "http.response.start", "status": 200, "headers": [HEADERS[0], size]})
        await send({"type": "http.response.body", "body": WHOLE})
        return
    headers = [(b"content-type", b"text/event-stream")]
    await send({"type": "http.response.start", "status": 200, "headers": headers})
    for _ in range(EVENTS):
        await send({"type": "http.response.body", "body": EVENT, "more_body": True})
        await asyncio.sleep(PAUSE)
    await send({"type": "http.response.body", "body": b"data: [DONE]\n\n"})


async def reading(scope: Any, receive: Any, send: Any) -> None:
    if scope["type"] == "http":
        await _body(receive)
        await _answer(send)


async def cheapest(scope: Any, receive: Any, send: Any) -> None:
    if scope["type"] == "http":
        body = await _body(receive)
        msgspec.json.decode(body, type=Raws)
        xxhash.xxh3_128_digest(body)
        await _answer(send)


async def naive(scope: Any, receive: Any, send: Any) -> None:
    """Each message decoded, and hashed behind all those before it."""
    if scope["type"] == "http":
        decoded = json.loads(await _body(receive))
        digest = b""
        for name in HISTORIES:
            for message in decoded.get(name) or ():
                digest = sha256(digest + json.dumps(message, sort_keys=True).encode()).digest()
        await _answer(send)


async def _body(receive: Any) -> bytes:
    parts, more = [], True
    while more:
        message = await receive()
        parts.append(message.get("body", b""))
        more = message.get("more_body", False)
    return b"".join(parts)


async def _answer(send: Any) -> None:
    await send({"type": "http.response.start", "status": 200, "headers": HEADERS})
    await send({"type": "http.response.body", "body": ANSWER})
