"""Lend the server's own upstream key, which all tenants share, within limits for each.

The provider shows and deletes everything for any holder of the key, so it is lent only for certain
routes, by method and path, and for objects that the tenant itself created here. Everything else is
403: objects of others, unknown ones and those created too long ago look the same. A client that
sends a key of its own is not restricted.

Objects are known by their ids at the provider: those that a request names, and those that an answer
creates. In requests nearly all fields are searched, since a missed field would give access to
somebody else's file; in answers only fields in which the provider itself writes an id. Text by a
model, a tool or the client is searched in neither: there `file_id` is a word like any other.

    >>> from memtree.history.json_body import split
    >>> named(split(b'{"input": "hi", "previous_response_id": "resp_1"}'))
    {'resp_1'}
    >>> named(split(b'{"messages": [{"role": "user", "content": "what is a file_id?"}]}'))
    set()

Streams are read as they pass, line by line, without delaying them.
"""

from __future__ import annotations

import asyncio
import hashlib
import logging
import re
import time
from collections import OrderedDict
from collections.abc import AsyncIterator, Callable, Collection, Iterator
from typing import Any, NamedTuple
from urllib.parse import unquote

import msgspec
from starlette.requests import Request

from memtree.config import Settings
from memtree.errors import BadRequest, Forbidden, MemTreeError, UnsupportedMedia
from memtree.history import json_body
from memtree.history.json_body import Body
from memtree.ports.context_store import ProviderObjects
from memtree.process.bounded import remember
from memtree.process.threads import off_loop
from memtree.setting_values import PASSTHROUGH_ROUTES, passthrough_route
from memtree_proxy.http import log, request_body
from memtree_proxy.http.auth import Tenant
from memtree_proxy.http.headers import takes_server_key, value_of
from memtree_proxy.http.request_body import Decoder
from memtree_proxy.upstream.relay import RelayedReply, ReplyAround

# limits of reading; of a longer answer only its own id is read
MOST_BYTES, MOST_EVENT = 32 << 20, 1 << 20
MAX_ID = 512  # characters

_IDS = frozenset(
    """
    file_id file_ids vector_store_id vector_store_ids container_id previous_response_id skill_id
    previous_message_id cached_content
    """.split()
)
_OBJECTS = frozenset(
    {"prompt", "conversation", "container", "audio", "thread"}
)  # these hold an id, or an object with an `id`
# Fields with arbitrary content: schemas, and text of clients and models. (`diagnostics` explain why
# the provider's cache missed, with the id of an answer that is not stored.)
_FREE = frozenset(
    """
    metadata parameters input_schema schema json_schema arguments headers properties diagnostics
    """.split()
)
_KEYS = ("id", "type", *sorted(_IDS | _OBJECTS))
_KEY = re.compile(rb'"(?:%b)"\s*+:' % "|".join(_KEYS).encode())
_NAMING_KEY = re.compile(rb'"(?:%b)"\s*+:' % "|".join(_KEYS[2:]).encode())
# A letter written as an escape. Few encoders do so; in a key it may hide the key's name.
_ESCAPE = re.compile(rb"\\u00(?:5[Ff]|[46][1-9A-Fa-f]|[57][0-9Aa])")
# No string begins after a backslash, so each is read at most twice.
_ANY_KEY = re.compile(rb'(?<!\\)"((?:[^"\\]++|\\.)*+)"\s*+:', re.DOTALL)
_FIRST_ID = re.compile(rb'\s*+\{\s*+"id"\s*+:\s*+"([^"\\]{1,512})"')
_BARE = {"id", "type", "status"}
_MADE_FILES = frozenset(
    {"container_file_citation", "code_execution_output", "bash_code_execution_output"}
)


def named(body: Body) -> set[str]:
    """Return the ids in a request's body. Raises `BadRequest` for a body in which two readers may
    see different ids."""
    escaped = _ESCAPE.search(body.raw) is not None
    items_told = "input" in body.spans and b'"id"' in body.raw
    if not (escaped or items_told or _NAMING_KEY.search(body.raw)):
        return set()
    if escaped and any(map(_ESCAPE.search, _ANY_KEY.findall(body.raw))):
        raise BadRequest("the name of a field in the body is written with escapes")
    root = {name: body.value(name) for name in body.spans}
    keys = sum(name in node for node in _nodes(root, frozenset()) for name in _KEYS)
    if keys != len(_KEY.findall(body.raw)):
        raise BadRequest("a field of an object in the body is given twice")
    items = root.get("input")
    ids = [item["id"] for item in items if _refers(item)] if isinstance(items, list) else []
    ids += [id_ for node in _nodes(root, _FREE) for id_ in _named_by(node)]
    return {id_ for id_ in ids if isinstance(id_, str) and id_}


def _named_by(node: dict[str, Any]) -> Iterator[Any]:
    for name in node.keys() & _IDS:
        # Anthropic's own skills are available to everybody
        if name != "skill_id" or node.get("type") != "anthropic":
            yield from node[name] if isinstance(node[name], list) else (node[name],)
    for name in node.keys() & _OBJECTS:
        value = node[name]
        if isinstance(value, dict):
            yield value.get("id")
        elif name in ("conversation", "container"):  # other fields of these names may be texts
            yield value


def _refers(item: object) -> bool:
    """Return True if the provider looks up the content of an input item by the item's id."""
    if not isinstance(item, dict) or not isinstance(item.get("id"), str):
        return False
    kind = item.get("type")
    if kind in ("reasoning", "compaction"):
        return not item.get("encrypted_content")
    if not kind:
        return "role" not in item
    return kind in ("item_reference", "image_generation_call") or item.keys() <= _BARE


def _nodes(root: object, free: frozenset[str]) -> Iterator[dict[str, Any]]:
    """Yield all objects in a decoded value, except those in `free` fields and in arguments of
    tools."""
    waiting = [root]
    while waiting:
        value = waiting.pop()
        if isinstance(value, list):
            waiting += value
        elif isinstance(value, dict):
            yield value
            called = bool(free) and value is not root and str(value.get("type")).endswith("_use")
            waiting += [
                inner
                for name, inner in value.items()
                if name not in free and not (called and name == "input")
            ]


class MadeIds:
    """Reads an answer while it passes: `feed` and `end` return the ids read since the last call.
    `events`: it is a stream of server-sent events, else one JSON value. `encoding`: its
    content-encoding. `kept`: the provider stores the answer itself, with its items.
    """

    def __init__(self, *, events: bool, encoding: str, kept: bool) -> None:
        self._events, self._kept = events, kept
        self._most = MOST_EVENT if events else MOST_BYTES
        self._pieces: list[bytes] = []
        self._size = 0
        self._unreadable = False
        try:
            self._decoder = Decoder(encoding) if encoding not in ("", "identity") else None
        except UnsupportedMedia:
            self._decoder, self._unreadable = None, True

    def feed(self, chunk: bytes) -> set[str]:
        """Return the ids in the answer's next bytes, which may begin and end anywhere."""
        ids: set[str] = set()
        try:
            for piece in self._decoder.pieces(chunk) if self._decoder else (chunk,):
                ids |= self._read(piece)
        except (BadRequest, UnsupportedMedia):  # the client's own decoder reports the error
            self._decoder, self._unreadable = None, True
        return ids

    def _read(self, piece: bytes) -> set[str]:
        if not self._events:
            self._keep(piece)
            return set()
        ids: set[str] = set()
        first, *others = piece.split(b"\n")
        self._keep(first)
        for line in others:
            ids |= self.end()
            self._keep(line)
        return ids

    def _keep(self, piece: bytes) -> None:
        self._size += len(piece)
        if self._size <= self._most and not self._unreadable:
            self._pieces.append(piece)

    def end(self) -> set[str]:
        """Return the ids in the buffered text, and drop it: a whole line, or at the end of the
        answer the last one, which has no line break."""
        whole = b"".join(self._pieces)
        cut, self._size, self._pieces = self._size > self._most, 0, []
        if self._events:
            if not whole.startswith(b"data:"):
                return set()
            whole = whole[5:]
        if cut:
            own = _FIRST_ID.match(whole) if self._kept else None
            return {own[1].decode("utf-8", "replace")} if own else set()
        try:
            answer = msgspec.json.decode(whole) if len(whole) > 1 else None
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
            return set()
        ids = made(answer, kept=self._kept) if isinstance(answer, dict) else ()
        return {id_ for id_ in ids if isinstance(id_, str) and 0 < len(id_) <= MAX_ID}


def made(answer: dict[str, Any], *, kept: bool) -> Iterator[Any]:
    """Yield the ids in an answer, or in one event of it, that the provider created for it."""
    outer = [answer, answer.get("response"), answer.get("message"), answer.get("delta")]
    places = [place for place in outer if isinstance(place, dict)]
    items = [answer.get("item")]
    written = [answer.get("annotation"), answer.get("content_block")]
    for place in places:
        for name in ("output", "choices", "content"):
            rows = place.get(name)
            (items if name == "output" else written).extend(rows if isinstance(rows, list) else ())
        container = place.get("container")
        if isinstance(container, dict):
            yield container.get("id")
    if kept:
        yield from (place.get("id") for place in places)
    for item in items:
        if isinstance(item, dict):
            yield item.get("container_id")
            written.append(item.get("content"))
            if kept:
                yield item.get("id")
    for node in _nodes(written, _FREE | {"input", "tools"}):
        if node.get("type") in _MADE_FILES:
            yield from (node.get("file_id"), node.get("container_id"))
        if isinstance(node.get("audio"), dict):
            yield node["audio"].get("id")


logger = logging.getLogger("memtree")

KEPT_SECONDS = 30 * 86_400.0  # as long as OpenAI stores an answer
MOST = 20_000  # known digests, and as many that wait to be written: some 6 MB
LOOK_AGAIN = 0.3  # seconds within which another process has written its new objects
PACE = 5.0  # seconds between two attempts while the store fails
PATIENCE = 5.0  # seconds for the last attempt
_DOMAIN = b"memtree provider object v1\x00"


def digest_of(tenant: str, id_: str) -> bytes:
    """Return the digest of both, which is all that is stored of either."""
    name = tenant.encode()
    return hashlib.sha256(
        _DOMAIN + b"%d:" % len(name) + name + id_.encode("utf-8", "surrogatepass")
    ).digest()


class OwnObjects:
    """Objects of one app; `close` writes the rest."""

    def __init__(
        self,
        store: ProviderObjects,
        now: Callable[[], float] = time.time,
        *,
        look_again: float = LOOK_AGAIN,
        pace: float = PACE,
    ) -> None:
        self._store, self._now = store, now
        self._look_again, self._pace = look_again, pace
        self._known: OrderedDict[bytes, float] = OrderedDict()
        self._waiting: OrderedDict[bytes, float] = OrderedDict()
        self._task: asyncio.Task[None] | None = None

    def made(self, tenant: str, ids: Collection[str]) -> None:
        """Record that a tenant's request has just created these."""
        expires = self._now() + KEPT_SECONDS
        for digest in {digest_of(tenant, id_) for id_ in ids} - self._known.keys():
            remember(self._known, digest, expires, MOST)
            remember(self._waiting, digest, expires, MOST)
        if self._waiting and self._task is None:
            self._task = asyncio.create_task(self._write(), name="own objects")

    async def all_of(self, tenant: str, ids: Collection[str]) -> bool:
        """Return True if the tenant created all of these within the last 30 days. Raises as
        `ProviderObjects` does."""
        missing = await self._missing({digest_of(tenant, id_) for id_ in ids})
        if missing and self._look_again:
            await asyncio.sleep(self._look_again)
            missing = await self._missing(missing)
        return not missing

    async def close(self) -> None:
        """Write the rest, within `PATIENCE`."""
        if (task := self._task) is not None:
            await asyncio.wait((task,), timeout=PATIENCE)
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)
        if self._waiting:
            logger.warning("objects.lost number=%d", len(self._waiting))

    async def _missing(self, digests: set[bytes]) -> set[bytes]:
        now = self._now()
        unknown = {digest for digest in digests if self._known.get(digest, 0.0) <= now}
        return unknown - await self._store.known_objects(unknown) if unknown else unknown

    async def _write(self) -> None:
        failing = False
        while self._waiting:
            rows = dict(self._waiting)
            try:
                # One expiry for all: they were created within seconds.
                await self._store.put_objects(rows, max(rows.values()))
            except MemTreeError as error:
                if not failing:
                    logger.warning("objects.unwritten code=%s", error.code)
                failing = True
                await asyncio.sleep(self._pace)
                continue
            except Exception as error:  # noqa: BLE001  nobody waits for it
                log.failure("objects.failed", error)
                break
            for digest in rows:
                self._waiting.pop(digest, None)
        self._task = None


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
                objects.made(tenant, await off_loop(size, made.end))
            yield chunk
        objects.made(tenant, await off_loop(size, made.end))


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
        path: str = request.scope["path"]
        kept = path.endswith("completions") and bool(read.value("store"))
        kept = kept or (path.endswith("/messages") and "thread" in read.spans)
        if path.endswith("/responses"):
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
            body = content if isinstance(content, Body) else json_body.split(content, halves=True)
            return body, named(body)

        size = len(content if isinstance(content, bytes) else content.raw)
        body, ids = await off_loop(size, read)
        await self._require(tenant, ids)
        return body

    async def _require(self, tenant: Tenant, ids: set[str]) -> None:
        if len(ids) > MOST_NAMED:
            raise BadRequest(f"the body names more than {MOST_NAMED} objects of the provider")
        if ids and not await self.objects.all_of(tenant.id, ids):
            raise Forbidden(_OBJECT)
