"""Make the routes of chats, one set for each wire dialect, and the one that relays the rest."""

from __future__ import annotations

from collections.abc import Mapping

from starlette.datastructures import Headers
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Match, Route
from starlette.types import Scope

from memtree.context.answer_state import Reason, State
from memtree.process.bounded import SizedCache
from memtree_proxy.chat.completion_route import CompletionRoute, CompletionServices, TokenCountRoute
from memtree_proxy.chat.learned_refusals import LearnedRefusals
from memtree_proxy.chat.memory_switch import by_headers, wanted
from memtree_proxy.chat.request_reader import DEPLOYMENT
from memtree_proxy.dialects.chat_dialect import ChatDialect
from memtree_proxy.dialects.dialect import Dialect
from memtree_proxy.dialects.messages_dialect import AnthropicMessages
from memtree_proxy.dialects.responses_dialect import OpenAIResponses
from memtree_proxy.http import error_response, request_body, request_trace
from memtree_proxy.http.error_response import ErrorAnswers
from memtree_proxy.http.headers import FLAG_HEADER, MEMORY_HEADER
from memtree_proxy.http.request_body import PREFIXES
from memtree_proxy.server.browser_guard import BrowserPolicy, FetchHeaders
from memtree_proxy.server.routing import Handler, everywhere
from memtree_proxy.upstream.relay import Relay, forward
from memtree_proxy.upstream.upstreams import UPSTREAMS, Upstreams, settings_of

# Azure's clients put the deployment, whose name stands for the model, into the path.
CHAT_PATHS = (
    "/chat/completions", "/chat_completions", "/openai/v1/chat/completions",
    f"/openai/deployments/{{{DEPLOYMENT}}}/chat/completions",
)  # fmt: skip
_SWITCHES = frozenset({MEMORY_HEADER.encode(), FLAG_HEADER.encode()})
RESPONSES_PATHS = ("/responses", "/openai/v1/responses", "/openai/responses")


class CompletionRoutes:
    """Routes of the three chat APIs, one object for each app. GET and DELETE on these paths, and
    all paths below them, go to the upstream."""

    def __init__(self, services: CompletionServices) -> None:
        settings = services.settings
        self._chat, self._messages = ChatDialect(settings), AnthropicMessages(settings)
        self._responses = OpenAIResponses(settings)
        self._services = services

    @property
    def caches(self) -> Mapping[str, SizedCache]:
        """Return the dialects' caches of posted histories, by name."""
        return {
            "message_translations": self._messages,
            "response_translations": self._responses,
        }

    def routes(self) -> list[Route]:
        learned = LearnedRefusals()
        chat = self._route(self._chat, LearnedRefusals())
        messages = self._route(self._messages, learned)
        counted = TokenCountRoute(self._messages, self._services, learned)
        responses = self._route(self._responses, LearnedRefusals())
        return [
            *(one for path in CHAT_PATHS for one in everywhere(path, chat.complete, "POST")),
            *everywhere("/messages", messages.complete, "POST"),
            *everywhere("/messages/count_tokens", counted.count, "POST"),
            *(one for p in RESPONSES_PATHS for one in everywhere(p, responses.complete, "POST")),
            *(WebSocketRoute(f"{p}/responses", Handler(no_web_socket)) for p in PREFIXES),
        ]

    def errors(self, scope: Scope) -> ErrorAnswers:
        """Return the form of errors for a request: that of the API of its path, also for paths
        below."""
        path = request_body.without_prefix(scope["path"]).lstrip("/").removeprefix("openai/")
        first = path.removeprefix("v1/").partition("/")[0]
        if first == "messages":
            return self._messages.errors
        return self._responses.errors if first == "responses" else self._chat.errors

    def _route(self, dialect: Dialect, learned: LearnedRefusals) -> CompletionRoute:
        route = CompletionRoute(dialect, self._services, learned)
        self._services.memory.on_deletion(route.forget)
        return route


class WebSocketRoute(Route):
    """Matches a path if a client asks for a WebSocket. The server has already removed the offer
    itself from the headers, and leaves the rest of the handshake."""

    def matches(self, scope: Scope) -> tuple[Match, Scope]:
        if scope["type"] == "http" and scope["method"] == "GET":
            headers = Headers(scope=scope)
            if "sec-websocket-key" in headers or "websocket" in headers.get("upgrade", "").lower():
                return super().matches(scope)
        return Match.NONE, {}


async def no_web_socket(request: Request) -> Response:
    """Decline a WebSocket. With this status, and no other, Codex continues over HTTP at once."""
    raise error_response.UpgradeRequired("WebSockets are not spoken here; use POST.")


class Passthrough:
    """Relays every request that no route of ours handles, with any method, unchanged and streamed
    both ways.

    With the server's own key, requests are limited to what `server_key` allows: of their bodies,
    JSON alone is buffered, under the size limit. Web pages may use it as far as the upstream's CORS
    headers allow, but not at our cost: the configured key of the upstream is added only for our own
    pages and allowed origins.
    """

    def __init__(self, services: CompletionServices, policy: BrowserPolicy) -> None:
        self._services, self._policy = services, policy

    async def relay(self, request: Request) -> Response:
        services, trace = self._services, request_trace.of(request.scope)
        on: bool | None = settings_of(request, services.settings).memory
        if not _SWITCHES.isdisjoint(dict(request.scope["headers"])):
            on = wanted(by_headers(request.headers)[0], default=on)
        if on:
            trace.decide(State.OFF, Reason.NO_MEMORY_HERE)
        tenant = await services.gate.tenant(request)
        upstreams: Upstreams = request.scope.get(UPSTREAMS, services.upstreams)
        upstream, key, key_header = upstreams.of(request.scope["path"], request.headers)
        api_key = key if self._policy.trusts(FetchHeaders.of(request.scope["headers"])) else None
        body, recorder = await services.server_key.lend_route(request, tenant, api_key)
        reply = await forward(
            request, upstream, tenant, body, api_key=api_key, key_header=key_header
        )
        own = trace.headers() if on else ()
        return Relay(recorder.reading(reply) if recorder else reply, own)
