"""Serves `/context_memory/conversations`, and reads conversations from a posted file.

The list holds data about a tenant's conversations, without text, and titles that the user sets.

`POST /context_memory/parse` reads a file of another program and stores nothing. The web pages draw
the tree of a dropped file this way, without the command line.
"""

from __future__ import annotations

from typing import Annotated

from msgspec import Meta
from starlette.requests import Request
from starlette.responses import Response

from memtree.config import Settings
from memtree.context.context_memory import ContextMemory
from memtree.digests.titles import LONGEST
from memtree.errors import BadRequest
from memtree.history import json_body
from memtree.history.message import Volatile
from memtree.unfolding.kept_passages import MOST_PINNED, PinnedPlace
from memtree_proxy.chat import request_fields
from memtree_proxy.http import request_body
from memtree_proxy.http.auth import Gate
from memtree_proxy.http.decoding import FieldError, OrNull, Posted, decode, queried
from memtree_proxy.http.rate_limits import CostlyWork, WaitingRequests
from memtree_proxy.imports.posted_file import NAME, FileReader, PrefixQuery
from memtree_proxy.wire.context_bodies import ShownStoredTree
from memtree_proxy.wire.conversation_bodies import (
    ConversationPage,
    PinnedPassages,
    Plan,
    RenamedConversation,
    ShownConversation,
)
from memtree_proxy.wire.routes import answer, route
from memtree_proxy.wire.values import Address

MAX_ROWS, ROWS = 100, 50  # in one page: the limit and the default
MAX_BYTES = 16_384  # in a body with a title
MAX_NAME_CHARS = 255  # of a posted file
ADDRESS = "address"

_ROOT = "/context_memory/conversations"
_ONE = f"{_ROOT}/{{{ADDRESS}}}"
_Count = Annotated[int, Meta(ge=0, lt=1 << 40)]


class Pin(Posted, frozen=True):
    """Posted passage to keep verbatim."""

    message: _Count
    start: _Count
    end: _Count
    sha256: Address
    part: Annotated[str, Meta(min_length=1, max_length=200)] = "content"

    def check(self) -> None:
        if self.start >= self.end:
            raise FieldError("end", "must be greater than start")


class Pins(Posted, frozen=True):
    pins: Annotated[list[Pin], Meta(max_length=MOST_PINNED)]

    def places(self) -> tuple[PinnedPlace, ...]:
        return tuple(
            PinnedPlace(pin.message, pin.part, pin.start, pin.end, pin.sha256.lower())
            for pin in self.pins
        )


class ConversationTitle(Posted, frozen=True):
    title: str

    def check(self) -> None:
        title = self.title.strip()
        if not 0 < len(title) <= LONGEST or not title.isprintable():
            raise FieldError("title", f"must be 1 to {LONGEST} characters of one line")


class ConversationListing(Posted, frozen=True):
    limit: OrNull[Annotated[int, Meta(ge=1, le=MAX_ROWS)]] = ROWS
    cursor: str | None = None


class ConversationRoutes:
    def __init__(self, memory: ContextMemory, gate: Gate) -> None:
        self._memory, self._gate = memory, gate

    @route(f"GET {_ROOT}", ConversationListing)
    async def page(self, request: Request) -> Response:
        tenant = await self._gate.tenant(request)
        query = queried(ConversationListing, request.query_params)
        page = await self._memory.conversations.page(tenant.id, query.limit, query.cursor)
        rows = [ShownConversation.of(conversation) for conversation in page.conversations]
        return answer(ConversationPage(conversations=rows, next_cursor=page.next_cursor))

    @route(f"PATCH {_ONE}")
    async def rename(self, request: Request) -> Response:
        tenant = await self._gate.tenant(request)
        address = _named(request)
        body = json_body.split(await request_body.content(request, MAX_BYTES))
        title = decode(ConversationTitle, body).title.strip()
        await self._memory.conversations.rename(tenant.id, address, title)
        return answer(RenamedConversation(address=address.hex(), title=title))

    @route(f"PUT {_ONE}/pins")
    async def pin(self, request: Request) -> Response:
        tenant = await self._gate.tenant(request)
        address = _named(request)
        body = json_body.split(await request_body.content(request, MAX_BYTES))
        places = decode(Pins, body).places()
        await self._memory.conversations.pin(tenant.id, address, places)
        return answer(PinnedPassages.of(address, places))

    @route(f"GET {_ONE}/pins")
    async def pins(self, request: Request) -> Response:
        tenant = await self._gate.tenant(request)
        address = _named(request)
        places = await self._memory.conversations.pins(tenant.id, address)
        return answer(PinnedPassages.of(address, places))

    @route(f"GET {_ONE}/tree")
    async def tree(self, request: Request) -> Response:
        tenant = await self._gate.tenant(request)
        tree = await self._memory.conversations.tree(tenant.id, _named(request))
        return answer(ShownStoredTree.of(tree))

    @route(f"GET {_ONE}/plan")
    async def plan(self, request: Request) -> Response:
        tenant = await self._gate.tenant(request)
        address = _named(request)
        plan = await self._memory.conversations.plan(tenant.id, address)
        return answer(Plan.of(plan, address))


class StoredConversations:
    """Reads conversations in the form of the routes' answers, for callers other than HTTP."""

    def __init__(self, memory: ContextMemory) -> None:
        self._memory = memory

    async def newest(self, tenant: str, limit: int) -> list[ShownConversation]:
        page = await self._memory.conversations.page(tenant, limit, None)
        return [ShownConversation.of(conversation) for conversation in page.conversations]

    async def tree(self, tenant: str, address: str) -> ShownStoredTree:
        """Return the tree of a conversation. Raises `NotFound`."""
        named = request_fields.address(address, ADDRESS)
        return ShownStoredTree.of(await self._memory.conversations.tree(tenant, named))


def _named(request: Request) -> bytes:
    return request_fields.address(request.path_params[ADDRESS], ADDRESS)


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
