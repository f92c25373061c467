"""Serve `POST /context_memory/parse`: read conversations from a file of another program.

Nothing is stored. The web pages draw the tree of a dropped file this way, without the command line.
"""

from __future__ import annotations

from typing import Annotated

from msgspec import Meta
from starlette.requests import Request
from starlette.responses import Response

from memtree.config import Settings
from memtree.errors import BadRequest
from memtree.history.message import Volatile
from memtree_proxy.http import request_body
from memtree_proxy.http.access_auth import Gate
from memtree_proxy.http.decoding import Posted, queried
from memtree_proxy.http.rate_limits import CostlyWork, WaitingRequests
from memtree_proxy.imports.parse_process import FileReader
from memtree_proxy.imports.posted_file import NAME, PrefixQuery
from memtree_proxy.wire.routes import route
from memtree_proxy.wire.values import Address

MAX_NAME_CHARS = 255


class ParseQuery(Posted, frozen=True):
    """`address`: of a conversation that the file may hold. `name`: of the file, for titles and
    errors."""

    address: Address | None = None
    name: Annotated[str, Meta(max_length=MAX_NAME_CHARS)] | None = None


class ParseRoute:
    def __init__(
        self, gate: Gate, waits: WaitingRequests, settings: Settings, work: CostlyWork
    ) -> None:
        self._gate, self._waits, self._settings, self._work = gate, waits, settings, work
        self._volatile = Volatile(settings.volatile_tags, settings.preamble_tags)
        self._files = FileReader()

    @route("POST /context_memory/parse", ParseQuery)
    async def parse(self, request: Request) -> Response:
        tenant = await self._gate.tenant(request)
        query = queried(ParseQuery, request.query_params)
        name = query.name or NAME
        wanted = PrefixQuery(
            bytes.fromhex(query.address or ""),
            tenant.id,
            self._settings.max_messages,
            self._volatile,
        )
        size = None if request_body.encoded(request) else request_body.length(request)
        with self._work.place(tenant.id), self._files.place(tenant.id, size):
            data = await request_body.unpacked(request, self._settings.max_body_bytes)
            shown = await self._waits.counted(tenant.id, self._read(data, name, wanted))
        return Response(shown, media_type="application/json")

    async def _read(self, data: bytes, name: str, wanted: PrefixQuery) -> bytes:
        """Read the file. `param` of an error is a parameter or a place in the file. It is never the
        file's name, since the message begins with that."""
        try:
            return await self._files.read(data, name, wanted)
        except BadRequest as error:
            raise BadRequest(
                error.message, param=None if error.param == name else error.param
            ) from error
