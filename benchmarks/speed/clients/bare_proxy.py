"""The least that a proxy can be: what comes in goes on, what comes back goes back."""

import os
from collections.abc import AsyncIterator

import aiohttp
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import StreamingResponse
from starlette.routing import Route

UPSTREAM = os.environ.get("BENCH_UPSTREAM", "")
sessions: list[aiohttp.ClientSession] = []


async def relay(request: Request) -> StreamingResponse:
    if not sessions:
        sessions.append(aiohttp.ClientSession(auto_decompress=False))
    headers = {"content-type": "application/json"}
    answer = await sessions[0].post(
        UPSTREAM + request.url.path, data=await request.body(), headers=headers
    )

    async def chunks() -> AsyncIterator[bytes]:
        async for chunk in answer.content.iter_any():
            yield chunk

    kept = {"content-type": answer.headers["content-type"]}
    return StreamingResponse(chunks(), answer.status, kept)


proxy = Starlette(routes=[Route("/{rest:path}", relay, methods=["GET", "POST"])])
