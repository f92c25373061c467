"""Serve `/context_memory/conversations`: data about a tenant's conversations, without text, and
titles that the user sets."""

from __future__ import annotations

from typing import Annotated

import msgspec
from msgspec import Meta
from starlette.requests import Request
from starlette.responses import Response

from memtree.context.context_memory import ContextMemory
from memtree.digests.conversation_title import LONGEST
from memtree.errors import BadRequest
from memtree.unfolding.pinned.pinned_places import MOST, PinnedPlace
from memtree.wire import json_body
from memtree.wire.json_body import Body
from memtree_proxy.access.auth import Gate
from memtree_proxy.http import request_body
from memtree_proxy.request import fields
from memtree_proxy.wire.answer import shown
from memtree_proxy.wire.conversation_answers import CONVERSATION, PLAN
from memtree_proxy.wire.json_schema import Json
from memtree_proxy.wire.routes import route
from memtree_proxy.wire.tree_answers import STORED_TREE

MAX_ROWS, ROWS = 100, 50  # in one page: the limit and the default
MAX_BYTES = 16_384  # in a body with a title
ADDRESS, TITLE, PINS = "address", "title", "pins"

_ROOT = "/context_memory/conversations"
_ONE = f"{_ROOT}/{{{ADDRESS}}}"
_Count = Annotated[int, Meta(ge=0, lt=1 << 40)]


class Pin(msgspec.Struct, forbid_unknown_fields=True):
    """Posted passage to keep verbatim."""

    message: _Count
    start: _Count
    end: _Count
    sha256: Annotated[str, Meta(pattern="^[0-9a-fA-F]{64}$")]
    part: Annotated[str, Meta(min_length=1, max_length=200)] = "content"


class ConversationRoutes:
    def __init__(self, memory: ContextMemory, gate: Gate) -> None:
        self._memory, self._gate = memory, gate

    @route(f"GET {_ROOT}")
    async def page(self, request: Request) -> Response:
        tenant = await self._gate.tenant(request)
        params = request.query_params
        limit = fields.integer(params.get("limit"), "limit", 1, MAX_ROWS) or ROWS
        page = await self._memory.conversations.page(tenant.id, limit, params.get("cursor"))
        rows = [shown(CONVERSATION, conversation) for conversation in page.conversations]
        return json_answer({"conversations": rows, "next_cursor": page.next_cursor})

    @route(f"PATCH {_ONE}")
    async def rename(self, request: Request) -> Response:
        tenant = await self._gate.tenant(request)
        address = _named(request)
        body = json_body.split(await request_body.content(request, MAX_BYTES))
        title = read_title(body)
        await self._memory.conversations.rename(tenant.id, address, title)
        return json_answer({ADDRESS: address.hex(), TITLE: title})

    @route(f"PUT {_ONE}/pins")
    async def pin(self, request: Request) -> Response:
        tenant = await self._gate.tenant(request)
        address = _named(request)
        places = read_pins(json_body.split(await request_body.content(request, MAX_BYTES)))
        await self._memory.conversations.pin(tenant.id, address, places)
        return json_answer({ADDRESS: address.hex(), PINS: [_pin_json(place) for place in places]})

    @route(f"GET {_ONE}/pins")
    async def pins(self, request: Request) -> Response:
        tenant = await self._gate.tenant(request)
        address = _named(request)
        places = await self._memory.conversations.pins(tenant.id, address)
        return json_answer({ADDRESS: address.hex(), PINS: [_pin_json(place) for place in places]})

    @route(f"GET {_ONE}/tree")
    async def tree(self, request: Request) -> Response:
        tenant = await self._gate.tenant(request)
        return json_answer(
            shown(STORED_TREE, await self._memory.conversations.tree(tenant.id, _named(request)))
        )

    @route(f"GET {_ONE}/plan")
    async def plan(self, request: Request) -> Response:
        tenant = await self._gate.tenant(request)
        address = _named(request)
        plan = await self._memory.conversations.plan(tenant.id, address)
        return json_answer(shown(PLAN, plan, address=address.hex()))


class StoredConversations:
    """Reads conversations in the form of the routes' answers, for callers other than HTTP."""

    def __init__(self, memory: ContextMemory) -> None:
        self._memory = memory

    async def newest(self, tenant: str, limit: int) -> list[Json]:
        page = await self._memory.conversations.page(tenant, limit, None)
        return [shown(CONVERSATION, conversation) for conversation in page.conversations]

    async def tree(self, tenant: str, address: str) -> Json:
        """Return the tree of a conversation. Raises `NotFound`."""
        named = fields.address(address, ADDRESS)
        return shown(STORED_TREE, await self._memory.conversations.tree(tenant, named))


def json_answer(answer: Json) -> Response:
    response = Response(msgspec.json.encode(answer), media_type="application/json")
    response.headers["cache-control"] = "no-store"
    return response


def _named(request: Request) -> bytes:
    return fields.address(request.path_params[ADDRESS], ADDRESS)


def read_title(body: Body) -> str:
    """Return the posted title without surrounding white space. Raises `BadRequest` naming the
    field."""
    for name in body.spans:
        if name != TITLE:
            raise BadRequest(f"{name[:80]} is not a known field; known is {TITLE}", param=name[:80])
    title = (fields.text(body.value(TITLE), TITLE) or "").strip()
    if not 0 < len(title) <= LONGEST or not title.isprintable():
        raise BadRequest(f"{TITLE} must be 1 to {LONGEST} characters of one line", param=TITLE)
    return title


def read_pins(body: Body) -> tuple[PinnedPlace, ...]:
    """Return the posted passages to keep verbatim. Raises `BadRequest` naming the field."""
    for name in body.spans:
        if name != PINS:
            raise BadRequest(f"{name[:80]} is not a known field; known is {PINS}", param=name[:80])
    posted = body.value(PINS)
    if not isinstance(posted, list) or len(posted) > MOST:
        raise BadRequest(f"{PINS} must be an array of at most {MOST} passages", param=PINS)
    places = []
    for index, each in enumerate(posted):
        try:
            place = msgspec.convert(each, Pin)
        except msgspec.ValidationError as error:
            where = f"{PINS}[{index}]"
            raise BadRequest(f"{where}: {error}", param=where) from error
        if place.start >= place.end:
            where = f"{PINS}[{index}].end"
            raise BadRequest(f"{where} must be greater than start", param=where)
        places.append(
            PinnedPlace(place.message, place.part, place.start, place.end, place.sha256.lower())
        )
    return tuple(places)


def _pin_json(place: PinnedPlace) -> Json:
    return {name: getattr(place, name) for name in PinnedPlace.__struct_fields__}
