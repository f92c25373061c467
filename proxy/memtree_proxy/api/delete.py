"""Serve `/context_memory/delete`: delete the memory of a history, an address, or the whole tenant.

Any error of the store becomes an error of the request, so a 200 means that everything is gone.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

import msgspec
from starlette.requests import Request
from starlette.responses import Response

from memtree.config import Settings
from memtree.context.context_memory import CompressRequest, ContextMemory
from memtree.dialects import posted_history
from memtree.errors import BadRequest
from memtree.history import json_body
from memtree.history.json_body import Body
from memtree.history.message import Message
from memtree.ports.store import Receipt
from memtree.process.threads import off_loop
from memtree_proxy.chat import fields
from memtree_proxy.chat.request_request_fields import REQUEST_FIELDS
from memtree_proxy.http import log, request_body
from memtree_proxy.http.access_auth import Gate
from memtree_proxy.http.decoding import OrNull, Posted, fields_of, names
from memtree_proxy.http.observability_metrics import Metrics
from memtree_proxy.http.request_log import RequestLogWriter
from memtree_proxy.wire import delete_options
from memtree_proxy.wire.context_answers import ShownReceipt

NAMES = ("messages", "input", "address", "all")
SWITCHES = (delete_options.DRY_RUN,)


class _Everything(Posted, frozen=True):
    all: OrNull[bool] = False
    tenant: OrNull[bool] = False


@dataclass(frozen=True, slots=True)
class Target:
    """Target of a deletion: the history in canonical `messages`, the conversation at `address`, or,
    if both are empty, the whole tenant."""

    messages: Sequence[Message] = ()
    address: bytes | None = None

    @property
    def scope(self) -> str:
        if self.messages:
            return "history"
        return "tenant" if self.address is None else "address"


class Deletion:
    def __init__(
        self,
        memory: ContextMemory,
        gate: Gate,
        metrics: Metrics,
        settings: Settings,
        requests: RequestLogWriter,
    ) -> None:
        self._memory = memory
        self._gate = gate
        self._metrics = metrics
        self._settings = settings
        self._requests = requests

    async def delete(self, request: Request) -> Response:
        tenant = await self._gate.tenant(request)
        raw = await request_body.content(request, self._settings.max_body_bytes)
        most = self._settings.max_messages

        def read_options() -> tuple[bool, Target]:
            body = json_body.split(raw, halves=True)
            options = delete_options.read(
                request.query_params, body, SWITCHES, posted=known_fields(body)
            )
            return options.dry_run, read_target(body, most, tenant.id)

        dry_run, target = await off_loop(len(raw), read_options)
        if dry_run:
            receipt = await self._forget(tenant.id, target, dry_run=True)
            return Response(rendered(target, receipt, None), media_type="application/json")
        if target.scope == "tenant":
            await self._requests.forget(tenant.id)
        receipt = await self._forget(tenant.id, target, dry_run=False)
        self._metrics.deleted(target.scope)
        log.event(
            "context_memory.deleted",
            tenant=tenant.id[:10],
            scope=target.scope,
            addresses=receipt.addresses,
            nodes=receipt.nodes,
        )
        content = rendered(target, receipt, datetime.now(UTC))
        return Response(content, media_type="application/json")

    async def _forget(self, tenant: str, target: Target, *, dry_run: bool) -> Receipt:
        if target.messages:
            ask = CompressRequest(tenant, target.messages)
            return await self._memory.forget_history(ask, dry_run=dry_run)
        if target.address is not None:
            return await self._memory.forget_address(tenant, target.address, dry_run=dry_run)
        return await self._memory.forget_tenant(tenant, dry_run=dry_run)


def known_fields(body: Body) -> frozenset[str]:
    """Return the fields that the body may hold. Fields of chat requests are allowed only with a
    history."""
    own = frozenset({*NAMES, "tenant"})
    posted = any(posted_history.is_given(body, name) for name in NAMES[:2])
    return own | REQUEST_FIELDS if posted else own


def read_target(body: Body, most: int | None = None, tenant: str = "") -> Target:
    """Read the target of a deletion. `most`: messages that may be posted. Raises `BadRequest`
    naming the field, or all alternatives unless exactly one is given."""
    everything = fields_of(_Everything, body, names(_Everything))
    given = [name for name in NAMES[:3] if posted_history.is_given(body, name)]
    given += ["all"] if everything.all or everything.tenant else []
    if len(given) != 1:
        posted = f"not {' and '.join(given)}" if given else "there is none"
        raise BadRequest(
            f"give exactly one of messages, input, address, or all: true; {posted}",
            param=given[-1] if given else None,
        )
    if given[0] in NAMES[:2]:
        return Target(messages=posted_history.read(body, tenant, most).messages)
    if given == ["address"]:
        return Target(address=fields.address(body.value("address"), "address"))
    return Target()


def rendered(target: Target, receipt: Receipt, now: datetime | None) -> bytes:
    """Render the answer. `now`: time of the deletion; None for a dry run, which counts no jobs."""
    address = None if target.address is None else target.address.hex()
    at = None if now is None else now.strftime("%Y-%m-%dT%H:%M:%SZ")
    return msgspec.json.encode(ShownReceipt.of(receipt, at, scope=target.scope, address=address))
