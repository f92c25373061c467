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
from memtree_proxy.wire.json_schema import Json, content, schema
from memtree_proxy.wire.operation import KNOWN, operation
from memtree_proxy.wire.parameter import path, query
from memtree_proxy.wire.tree_answers import STORED_TREE
from memtree_proxy.wire.types import ADDRESS_SHAPE

MAX_ROWS, ROWS = 100, 50  # in one page: the limit and the default
MAX_BYTES = 16_384  # in a body with a title
ADDRESS, TITLE, PINS = "address", "title", "pins"

_TAG = "Context memory"
_ROOT = "/context_memory/conversations"
_ONE = f"{_ROOT}/{{{ADDRESS}}}"
_PLACES = (
    "Messages are counted among what was posted last, from 0, system messages at its beginning "
    "included; one further back is not counted."
)
_Count = Annotated[int, Meta(ge=0, lt=1 << 40)]
# Defined here, not in the document's components, since wallets have an `address`, too.
_NAMED = path(
    ADDRESS,
    "As `memory.address` and the header `x-memtree-address` tell it.",
    {**ADDRESS_SHAPE, "pattern": "^[0-9a-fA-F]{64}$"},
)


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

    @operation(
        f"GET {_ROOT}",
        "listConversations",
        _TAG,
        "List conversations",
        "Those that have a tree and are not expired: of a chat that grew its newest state, "
        "of one that branched each branch.",
        answers={200: ("A page of them.", "ConversationPage")},
        errors=(400, *KNOWN),
        parameters=(
            query(
                "limit",
                f"Most conversations of the answer; clamped to 1 to {MAX_ROWS}.",
                {"type": "integer", "default": ROWS},
            ),
            query(
                "cursor",
                "`next_cursor` of the page before.",
                {"type": "string", "pattern": "^[A-Za-z0-9_-]{53}[AQgw]$"},
            ),
        ),
    )
    async def page(self, request: Request) -> Response:
        tenant = await self._gate.tenant(request)
        params = request.query_params
        limit = fields.integer(params.get("limit"), "limit", 1, MAX_ROWS) or ROWS
        page = await self._memory.conversations.page(tenant.id, limit, params.get("cursor"))
        rows = [shown(CONVERSATION, conversation) for conversation in page.conversations]
        return json_answer({"conversations": rows, "next_cursor": page.next_cursor})

    @operation(
        f"PATCH {_ONE}",
        "renameConversation",
        _TAG,
        "Rename a conversation",
        "Gives it a title of its own, which it keeps while it grows. Renamed at an address "
        "that others go on from, all of these are.",
        answers={200: ("The title.", "RenamedConversation")},
        errors=(400, 404, 413, 415, *KNOWN),
        parameters=(_NAMED,),
        body={
            "required": True,
            "content": content(
                schema("ConversationTitle"),
                examples={
                    "rename": {"summary": "A title of its own", "value": {"title": "The tea bar"}}
                },
            ),
        },
    )
    async def rename(self, request: Request) -> Response:
        tenant = await self._gate.tenant(request)
        address = _named(request)
        body = json_body.split(await request_body.content(request, MAX_BYTES))
        title = read_title(body)
        await self._memory.conversations.rename(tenant.id, address, title)
        return json_answer({ADDRESS: address.hex(), TITLE: title})

    @operation(
        f"PUT {_ONE}/pins",
        "pinPassages",
        _TAG,
        "Pin passages of a conversation",
        "These passages, and no others, stay verbatim in its memory message from its next fold on. "
        "Kept are places and hashes, no text. Pinned at an address that others go on from, they "
        "are in all of these.",
        answers={200: ("The passages.", "PinnedPassages")},
        errors=(400, 404, 413, 415, *KNOWN),
        parameters=(_NAMED,),
        body={
            "required": True,
            "content": content(
                schema("Pins"),
                examples={
                    "pin": {"summary": "No passage any more", "value": {"pins": []}},
                },
            ),
        },
    )
    async def pin(self, request: Request) -> Response:
        tenant = await self._gate.tenant(request)
        address = _named(request)
        places = read_pins(json_body.split(await request_body.content(request, MAX_BYTES)))
        await self._memory.conversations.pin(tenant.id, address, places)
        return json_answer({ADDRESS: address.hex(), PINS: [_pin_json(place) for place in places]})

    @operation(
        f"GET {_ONE}/pins",
        "listPins",
        _TAG,
        "List the pinned passages",
        f"Of one that ends at this address. {_PLACES}",
        answers={200: ("The passages.", "PinnedPassages")},
        errors=(400, 404, *KNOWN),
        parameters=(_NAMED,),
    )
    async def pins(self, request: Request) -> Response:
        tenant = await self._gate.tenant(request)
        address = _named(request)
        places = await self._memory.conversations.pins(tenant.id, address)
        return json_answer({ADDRESS: address.hex(), PINS: [_pin_json(place) for place in places]})

    @operation(
        f"GET {_ONE}/tree",
        "showStoredTree",
        _TAG,
        "The stored tree",
        f"Summaries and places, made of what is stored: no text of messages. {_PLACES}",
        answers={200: ("The tree.", "StoredTree")},
        errors=(400, 404, *KNOWN),
        parameters=(_NAMED,),
    )
    async def tree(self, request: Request) -> Response:
        tenant = await self._gate.tenant(request)
        return json_answer(
            shown(STORED_TREE, await self._memory.conversations.tree(tenant.id, _named(request)))
        )

    @operation(
        f"GET {_ONE}/plan",
        "showStoredPlan",
        _TAG,
        "What the model was shown",
        "Of the newest fold: which nodes, which passages and why; places and sizes, no "
        f"text. {_PLACES}",
        answers={200: ("The plan; an empty one where nothing is folded.", "StoredPlan")},
        errors=(400, 404, *KNOWN),
        parameters=(_NAMED,),
    )
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
