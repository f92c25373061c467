"""Lend the server's own upstream key, which all tenants share, within limits for each.

The provider shows and deletes everything for any holder of the key, so it is lent only for certain
routes, by method and path, and for objects that the tenant itself created here. Everything else is
403: objects of others, unknown ones and those created too long ago look the same. A client that
sends a key of its own is not restricted.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import NamedTuple
from urllib.parse import unquote

from starlette.requests import Request

from memtree.config import Settings
from memtree.errors import BadRequest, Forbidden
from memtree.settings.setting_values import PASSTHROUGH_ROUTES, passthrough_route
from memtree.wire import json_body
from memtree.wire.json_body import Body
from memtree_proxy.access.auth import Tenant
from memtree_proxy.http import request_body
from memtree_proxy.http.headers import takes_server_key, value_of
from memtree_proxy.upstream import object_ids
from memtree_proxy.upstream.object_ids import MadeIds
from memtree_proxy.upstream.own_objects import OwnObjects
from memtree_proxy.upstream.relay import RelayedReply, ReplyAround

EVERYTHING = "* /*"
_POLL = "GET /responses/{id}"  # background work reports here the objects it has created
MOST_NAMED = 10_000  # objects in one request: some 300 look-ups
# Bodies are forms with files here; on other routes a form could hide ids from this check.
_FORMS = ("/audio/", "/images/", "/files", "/uploads", "/containers", "/skills")
_ROUTE = (
    "The upstream's key of this server is not lent for this request: the setting "
    "passthrough_routes lists what it is for. With a key of your own you reach all routes."
)
_OBJECT = (
    "The request names an object at the provider that was not made here by you in the last 30 "
    "days, and the upstream's key of this server is not lent for others."
)


class Recorder(NamedTuple):
    """Reads the answer of one request for the objects that it created. `kept`: the provider stores
    the answer itself."""

    objects: OwnObjects
    tenant: str
    kept: bool

    def reading(self, reply: RelayedReply) -> RelayedReply:
        """Return the reply, byte for byte the same, which is read while it passes."""
        return _ReadReply(reply, self) if 200 <= reply.status < 300 else reply


class _ReadReply(ReplyAround):
    def __init__(self, reply: RelayedReply, recorder: Recorder) -> None:
        super().__init__(reply)
        self._recorder = recorder

    async def chunks(self) -> AsyncIterator[bytes]:
        objects, tenant, kept = self._recorder
        made = MadeIds(
            events=value_of(self.headers, b"content-type").startswith("text/event-stream"),
            encoding=value_of(self.headers, b"content-encoding"),
            kept=kept,
        )
        size, length = 0, value_of(self.headers, b"content-length")
        async for chunk in self._reply.chunks():
            size += len(chunk)
            objects.made(tenant, made.feed(chunk))
            if str(size) == length:  # with these bytes the client may use the object, or disconnect
                objects.made(tenant, await json_body.off_loop(size, made.end))
            yield chunk
        objects.made(tenant, await json_body.off_loop(size, made.end))


class ServerKey:
    """Decides by the setting `passthrough_routes` for which requests the key is lent."""

    def __init__(self, settings: Settings, objects: OwnObjects) -> None:
        routes = settings.passthrough_routes
        self._everything = EVERYTHING in routes
        self._most = settings.max_body_bytes
        self._routes = [(passthrough_route(entry), entry) for entry in routes]
        self.objects = objects

    async def lend(
        self, request: Request, tenant: Tenant, api_key: str | None, body: Body | bytes
    ) -> Recorder | None:
        """Lend the key to a chat request, whose routes are ours. `body`: decoded, and split if it
        was read. Returns None if its answer need not be read. Raises as `lend_route`."""
        if not self._pays(request, tenant, api_key):
            return None
        read = await self._check(tenant, body)
        path = request_body.without_prefix(request.scope["path"])
        kept = path.startswith("/chat") and bool(read.value("store"))
        kept = kept or (path == "/messages" and "thread" in read.spans)
        if path == "/responses":
            return Recorder(self.objects, tenant.id, kept=read.value("store") is not False)
        # A chat creates only voices, a message only files of its container.
        tells = b'"audio"' in read.raw or b"code_execution" in read.raw or "container" in read.spans
        return Recorder(self.objects, tenant.id, kept) if kept or tells else None

    async def lend_route(
        self, request: Request, tenant: Tenant, api_key: str | None
    ) -> tuple[bytes | None, Recorder | None]:
        """Lend the key to any other request; returns its body if that was read. Raises `Forbidden`,
        `BadRequest` for a body that is not a JSON object, and the errors of reading it and of the
        store.
        """
        if not self._pays(request, tenant, api_key):
            return None, None
        path = unquote(request_body.target(request).partition("?")[0])
        target = f"{request.method} {path}"
        fitting = [
            (match, entry) for each, entry in self._routes if (match := each.fullmatch(target))
        ]
        if not fitting:
            raise Forbidden(_ROUTE)
        match, entry = min(fitting, key=lambda each: len(each[0].groups()))
        await self._require(tenant, set(match.groups()))
        recorder = Recorder(self.objects, tenant.id, kept=True)
        makes = entry not in PASSTHROUGH_ROUTES and request.method in ("POST", "PUT", "PATCH")
        makes = makes or entry == _POLL
        form = value_of(request.scope["headers"], b"content-type").startswith("multipart/form-data")
        posted = None
        if request_body.announced(request.scope) and not (form and path.startswith(_FORMS)):
            posted = await request_body.kept(request, self._most)
            if content := await request_body.content(request, self._most):
                await self._check(tenant, content)
        return posted, recorder if makes else None

    def _pays(self, request: Request, tenant: Tenant, api_key: str | None) -> bool:
        """Return True if the key to be sent is the server's, and lending it is restricted."""
        posted = request.scope["headers"]
        return not self._everything and takes_server_key(
            posted, keyed=tenant.keyed, api_key=api_key
        )

    async def _check(self, tenant: Tenant, content: Body | bytes) -> Body:
        def read() -> tuple[Body, set[str]]:
            body = content if isinstance(content, Body) else json_body.split(content)
            return body, object_ids.named(body)

        size = len(content if isinstance(content, bytes) else content.raw)
        body, ids = await json_body.off_loop(size, read)
        await self._require(tenant, ids)
        return body

    async def _require(self, tenant: Tenant, ids: set[str]) -> None:
        if len(ids) > MOST_NAMED:
            raise BadRequest(f"the body names more than {MOST_NAMED} objects of the provider")
        if ids and not await self.objects.all_of(tenant.id, ids):
            raise Forbidden(_OBJECT)
