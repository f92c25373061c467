"""`GET /openapi.json`: the document, made when it is first asked for."""

from __future__ import annotations

from functools import cached_property

import msgspec
from starlette.requests import Request
from starlette.responses import Response

from memtree.config import Settings
from memtree_proxy.openapi.document import build


class DocumentPage:
    """Needs no credential: it says nothing that the documentation does not."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings

    @cached_property
    def _content(self) -> bytes:
        return msgspec.json.format(msgspec.json.encode(build(self._settings)), indent=2)

    async def show(self, _: Request) -> Response:
        return Response(self._content, media_type="application/json")
