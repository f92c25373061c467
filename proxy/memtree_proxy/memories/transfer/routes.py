"""The routes `GET /memories/export` and `POST /memories/import`, of a user's memories, or of an
agent's where the query names one."""

from __future__ import annotations

from collections.abc import Mapping

from starlette.requests import Request
from starlette.responses import Response

from memtree.config import Settings
from memtree.errors import BadRequest
from memtree.memories.transfer.file_items import AUTO, FORMATS
from memtree.memories.transfer.import_options import ImportOptions
from memtree.memories.transfer.memory_transfer import MemoryTransfer
from memtree_proxy.http import request_body
from memtree_proxy.memories.answers import answer
from memtree_proxy.memories.requests import MemoryRequests
from memtree_proxy.memories.transfer.export_stream import ExportResponse
from memtree_proxy.memories.transfer.rendering import report_json
from memtree_proxy.memories.transfer.unpacking import unpacked
from memtree_proxy.request import fields


class TransferRoutes:
    def __init__(
        self, transfer: MemoryTransfer, requests: MemoryRequests, settings: Settings
    ) -> None:
        self._transfer, self._requests, self._settings = transfer, requests, settings

    async def export(self, request: Request) -> Response:
        scope = await self._requests.any_scope(request)
        lines = self._transfer.export(scope, self._requests.allowed(request, scope))
        return ExportResponse(await anext(lines), lines)  # what fails at once is told with a status

    async def import_file(self, request: Request) -> Response:
        """200 with the report, also where nothing of the file could be imported."""
        scope = await self._requests.any_scope(request)
        options = import_options(request.query_params)
        limit = self._settings.max_body_bytes
        with self._requests.costly(scope.tenant):
            file = await request_body.unpacked(request, limit, unpacked)
            return answer(report_json(await self._transfer.import_file(scope, file, options)))


def import_options(query: Mapping[str, str]) -> ImportOptions:
    format_ = query.get("format", AUTO)
    if format_ not in (AUTO, *FORMATS):
        raise BadRequest(f"format must be one of {', '.join((AUTO, *FORMATS))}", param="format")
    return ImportOptions(
        format_,
        dry_run=bool(fields.switch(query, "dry_run")),
        keep_ids=bool(fields.switch(query, "keep_ids")),
    )
