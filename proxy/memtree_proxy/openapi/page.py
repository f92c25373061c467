"""`GET /openapi.json`: the document, made once."""

from __future__ import annotations

import msgspec
from starlette.requests import Request
from starlette.responses import Response

from memtree.config import Settings
from memtree_proxy.openapi.document import build


class DocumentPage:
    """Needs no credential: it says nothing that the documentation does not."""

    def __init__(self, settings: Settings) -> None:
        self._content = msgspec.json.format(msgspec.json.encode(build(settings)), indent=2)

    async def show(self, _: Request) -> Response:
        return Response(self._content, media_type="application/json")
