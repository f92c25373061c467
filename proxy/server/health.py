"""Whether the process answers; asks nothing of its parts and needs no credential."""

from __future__ import annotations

from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from memtree import __version__


async def health(_: Request) -> Response:
    return JSONResponse({"status": "ok", "version": __version__})
