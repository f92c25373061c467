"""`/chat/completions`: the history shortened by memory on its way to the upstream.

Whatever goes wrong on our side, the chat goes on: a history that cannot be read, or an error
inside memory, sends the request on as it came (our own fields taken out) and says so in
`x-memtree-state`. Two things stop a request: a field of ours with a wrong type, and a history
that no model of this window can take.
"""

from __future__ import annotations

import dataclasses
import time
from collections.abc import Mapping
from dataclasses import dataclass

import msgspec
from starlette.requests import Request
from starlette.responses import Response

from memtree.compress import Ask, Memory
from memtree.config import Settings
from memtree.errors import BadRequest, ContextOverflow
from proxy import fields, inbound, log, switch, trace, wire
from proxy.auth import Gate
from proxy.relay import Relay, configured, forward
from proxy.upstream import Upstream

OFF = "off"
INVALID = "degraded:invalid-history"
ENCODED = "degraded:encoded-body"
INTERNAL = "degraded:internal"
OVERFLOW = "degraded:overflow"


@dataclass(frozen=True, slots=True)
class Turn:
    """A chat request as read. `plain`: the body for the upstream without memory's help.

    `ask` is None where memory is off (`state` says so) or cannot be asked (`state` says why).
    """

    plain: bytes
    state: str = OFF
    body: wire.Body | None = None
    ask: Ask | None = None
    changed: Mapping[str, bytes] = dataclasses.field(default_factory=dict)


class Chat:
    def __init__(
        self, memory: Memory, gate: Gate, upstream: Upstream | None, settings: Settings
    ) -> None:
        self._memory = memory
        self._gate = gate
        self._upstream = upstream
        self._settings = settings

    async def complete(self, request: Request) -> Response:
        tenant = await self._gate.tenant(request)
        upstream = configured(self._upstream)
        raw = await inbound.read(request, self._settings.max_body_bytes)
        seen = trace.of(request.scope)
        started = time.perf_counter()
        try:
            turn = await self._turn(request, tenant.id, raw)
            body = await self._remember(turn, seen)
        finally:
            seen.memory_ms = (time.perf_counter() - started) * 1000
        reply = await forward(
            request,
            upstream,
            tenant,
            body,
            api_key=self._settings.upstream_api_key,
            without=switch.OWN_HEADERS,
        )
        return Relay(reply, seen.headers())

    async def _turn(self, request: Request, tenant: str, raw: bytes) -> Turn:
        if inbound.is_encoded(request):
            wanted = switch.by_headers(request.headers, self._settings.memory)
            return Turn(raw, ENCODED if wanted else OFF)
        return await wire.off_loop(
            len(raw), lambda: read_turn(tenant, raw, request.headers, self._settings)
        )

    async def _remember(self, turn: Turn, seen: trace.Trace) -> bytes:
        """The body for the upstream. Raises `ContextOverflow`."""
        seen.state = turn.state
        if turn.ask is None or turn.body is None:
            return turn.plain
        seen.mode = turn.ask.mode
        try:
            answer = await self._memory.compress(turn.ask)
        except BadRequest:
            seen.state = INVALID
            return turn.plain
        except ContextOverflow as error:
            seen.state, seen.raw_tokens = OVERFLOW, error.tokens
            raise
        except Exception as error:  # noqa: BLE001  promise 10: the chat goes on without memory
            log.failure("chat.memory_failed", error)
            seen.state = INTERNAL
            return turn.plain
        seen.learn(answer)
        if not answer.changed:
            return turn.plain
        messages = wire.joined(answer.messages)
        return turn.body.rewritten({**turn.changed, "messages": messages})


def read_turn(tenant: str, raw: bytes, headers: Mapping[str, str], settings: Settings) -> Turn:
    """Read a chat body. Raises `BadRequest` for a field of ours with a wrong type, if memory is on.

    A body that is no sound JSON object goes on as it came: the upstream judges it.
    """
    try:
        body = wire.split(raw)
    except BadRequest:
        return Turn(raw, INVALID if switch.by_headers(headers, settings.memory) else OFF)
    suffix = switch.suffix_of(body)
    changed = {"model": msgspec.json.encode(suffix.model)} if suffix.found else {}
    plain = body.rewritten(changed)
    if not switch.wanted(body, headers, suffix, settings.memory):
        return Turn(plain)
    ask = fields.chat_ask(tenant, body, headers, settings, suffix.days)
    try:
        messages = body.messages()
    except BadRequest:
        return Turn(plain, INVALID)
    return Turn(plain, "", body, dataclasses.replace(ask, messages=messages), changed)
