"""`/context_memory/delete`: forget a history, an address, or all that a tenant has.

Whatever the store raises becomes an error of the request: a 200 means that all of it is gone.
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
from memtree.conversation.message import Message
from memtree.errors import BadRequest
from memtree.ports.store import Receipt
from memtree_proxy.access.auth import Gate
from memtree_proxy.chat.shadow import ShadowRunner
from memtree_proxy.context import posted_history
from memtree_proxy.http import json_body, request_body
from memtree_proxy.http.json_body import Body
from memtree_proxy.observability import log
from memtree_proxy.observability.metrics import Metrics
from memtree_proxy.request import fields

NAMES = ("messages", "input", "address", "all")


@dataclass(frozen=True, slots=True)
class Target:
    """What to forget: the history of these canonical `messages`, or what one `address` names, or
    everything."""

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
        shadows: ShadowRunner,
    ) -> None:
        self._memory = memory
        self._gate = gate
        self._metrics = metrics
        self._settings = settings
        self._shadows = shadows

    async def delete(self, request: Request) -> Response:
        tenant = await self._gate.tenant(request)
        raw = await request_body.content(request, self._settings.max_body_bytes)
        most = self._settings.max_messages
        target = await json_body.off_loop(
            len(raw), lambda: read_target(json_body.split(raw), most, tenant.id)
        )
        self._shadows.forget(tenant.id)
        receipt = await self._forget(tenant.id, target)
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

    async def _forget(self, tenant: str, target: Target) -> Receipt:
        if target.messages:
            return await self._memory.forget_history(CompressRequest(tenant, target.messages))
        if target.address is not None:
            return await self._memory.forget_address(tenant, target.address)
        return await self._memory.forget_tenant(tenant)


def read_target(body: Body, most: int | None = None, tenant: str = "") -> Target:
    """`most`: messages that may be posted. Raises `BadRequest` naming the field, or all of them
    unless exactly one is given."""
    everything = [fields.boolean(body.value(name), name) for name in ("all", "tenant")]
    given = [name for name in NAMES[:3] if posted_history.is_given(body, name)]
    given += ["all"] if any(everything) else []
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


def rendered(target: Target, receipt: Receipt, now: datetime) -> bytes:
    shown = {
        "object": "context_memory.deletion",
        "scope": target.scope,
        "address": None if target.address is None else target.address.hex(),
        **receipt._asdict(),
        "deleted_at": now.strftime("%Y-%m-%dT%H:%M:%SZ"),
    }
    return msgspec.json.encode(shown)
