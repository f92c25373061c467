"""The routes, put together from services that the composition root has built."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass

from prometheus_client.registry import Collector
from starlette.applications import Starlette
from starlette.convertors import PathConvertor, register_url_convertor
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route
from starlette.types import Receive, Scope, Send

from indexer.memory_services import MemoryServices
from indexer.summarizing.queue import InProcessSummaries
from memtree.config import Settings
from memtree.context.context_memory import ContextMemory
from memtree.ports.store import Credentials, Tallies
from proxy.access.auth import Gate, is_loopback
from proxy.access.browser_policy import BrowserPolicy
from proxy.access.rate_limits import RequestRates, WaitingRequests, WaitMetrics
from proxy.chat.completions import ChatCompletions
from proxy.chat.keepalive import PACE, KeepalivePace
from proxy.chat.shadow import ShadowRunner
from proxy.context.compress import ContextMemoryRoutes
from proxy.context.delete import Deletion
from proxy.http import error_response
from proxy.http.request_body import PREFIXES
from proxy.mcp.http_route import McpRoute
from proxy.memories.chat.routes import ChatMemoryRoutes
from proxy.memories.documents.routes import DocumentRoutes
from proxy.memories.events import EVENT_PACE, EventPace, EventStreams
from proxy.memories.requests import MemoryRequests
from proxy.memories.transfer.routes import TransferRoutes
from proxy.memories.user.extract_route import ExtractionRoute
from proxy.memories.user.groups import GroupRoutes
from proxy.memories.user.requests import UserRequests
from proxy.memories.user.routes import UserMemoryRoutes
from proxy.memories.user.settings import SettingsRoutes
from proxy.observability.extraction_metrics import ExtractionMetrics
from proxy.observability.metrics import Metrics
from proxy.observability.summary_metrics import SummaryMetrics
from proxy.observability.timing import Spans
from proxy.openapi.page import DocumentPage
from proxy.server import browser_guard
from proxy.server.browser_guard import BrowserGuard
from proxy.server.edge import Edge
from proxy.server.health import health
from proxy.server.home_page import HomePage, HomeRoute
from proxy.server.metrics_page import MetricsPage
from proxy.upstream.client import Upstream
from proxy.upstream.passthrough import Passthrough

Endpoint = Callable[[Request], Awaitable[Response]]


@dataclass(frozen=True, slots=True)
class Services:
    """What the routes need. Whoever builds them closes them. No `upstream`: nothing is relayed.
    `summaries`: the queue of stage 3, for its metrics. No `tallies`: what is measured in shadow
    mode is counted in the metrics alone. `collectors`: numbers of the process, for its metrics;
    those that have to be asked first are asked. No `spans`: there are no traces."""

    memory: ContextMemory
    memory_services: MemoryServices
    keys: Credentials
    upstream: Upstream | None
    settings: Settings
    pace: KeepalivePace = PACE
    event_pace: EventPace = EVENT_PACE
    summaries: InProcessSummaries | None = None
    tallies: Tallies | None = None
    collectors: tuple[Collector, ...] = ()
    spans: Spans | None = None


class PathRest(PathConvertor):
    """What is left of a path, whatever it holds: Starlette's own stops at a line's end (%0a)."""

    regex = "(?s:.*)"


register_url_convertor("rest", PathRest())


class Handler:
    """An endpoint as an ASGI app, so that Starlette gives it any method; no `methods`: all."""

    def __init__(self, endpoint: Endpoint, *methods: str) -> None:
        self._endpoint = endpoint
        self._methods = methods

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        method = scope["method"]
        asked = "GET" if method == "HEAD" else method
        if browser_guard.is_ours(scope):
            browser_guard.check(scope)
        if self._methods and asked not in self._methods:
            raise error_response.MethodNotAllowed(method, ", ".join(self._methods))
        response = await self._endpoint(Request(scope, receive, send))
        await response(scope, receive, send)


def everywhere(path: str, endpoint: Endpoint, method: str | None = None) -> list[Route]:
    """A route under every prefix; another method goes on to the routes after it."""
    methods = None if method is None else [method]
    return [Route(prefix + path, Handler(endpoint), methods=methods) for prefix in PREFIXES]


def own(path: str, endpoint: Endpoint, *methods: str) -> list[Route]:
    """A route under every prefix that is ours alone: another method is a 405."""
    return [Route(prefix + path, Handler(endpoint, *methods)) for prefix in PREFIXES]


def create_app(services: Services) -> Starlette:
    settings = services.settings
    gate = Gate(
        services.keys,
        loopback=is_loopback(settings.host),
        operator_key=settings.metrics_key,
        rates=RequestRates(settings.requests_per_minute),
    )
    waits = WaitingRequests(settings.max_waits)
    metrics = Metrics()
    if services.summaries:
        metrics.show_also(SummaryMetrics(services.summaries))
    metrics.show_also(ExtractionMetrics(services.memory_services.extracting))
    for collector in services.collectors:
        metrics.show_also(collector)
    metrics.show_also(WaitMetrics(waits))
    context = ContextMemoryRoutes(services.memory, gate, waits, settings)
    shadows = ShadowRunner(services.memory, settings, metrics, services.tallies)
    chat = ChatCompletions(
        services.memory,
        gate,
        services.upstream,
        settings,
        waits,
        services.pace,
        shadows,
        services.memory_services,
    )
    book = services.memory_services.book
    streams = EventStreams(book, services.event_pace)
    chat_memory = ChatMemoryRoutes(book, gate, settings, streams)
    documents = DocumentRoutes(services.memory_services.documents, MemoryRequests(gate, settings))
    transfer = TransferRoutes(
        services.memory_services.transfer, MemoryRequests(gate, settings), settings
    )
    deletion = Deletion(services.memory, gate, metrics, settings, shadows)
    mcp = McpRoute(book, gate, settings)
    policy = BrowserPolicy.of(settings)
    passthrough = Passthrough(gate, services.upstream, settings, policy)
    routes = [
        # GET and DELETE of stored completions lie on the same path and are the upstream's.
        *everywhere("/chat/completions", chat.complete, "POST"),
        *everywhere("/chat_completions", chat.complete, "POST"),
        *own("/context_memory", context.compress, "POST"),
        *own("/memory", context.compress, "POST"),
        *own("/context_memory/status", context.status, "GET"),
        *own("/context_memory/tree", context.tree, "POST"),
        *own("/context_memory/delete", deletion.delete, "POST", "DELETE"),
        *everywhere("/context_memory/{rest:rest}", error_response.not_found),
        *_chat_memory(chat_memory),
        *_documents(documents),
        *_transfer(transfer),
        *_extraction(services, gate),
        *_user_memories(services.memory_services, UserRequests(gate, settings), streams),
        *own("/health", health, "GET"),
        *own("/healthz", health, "GET"),
        # At the root alone: /v1/metrics still reaches an upstream that has a page of its own.
        Route("/metrics", Handler(MetricsPage(metrics, gate).show, "GET")),
        # So does /v1/mcp. With a slash at its end it is ours too: it must not reach the upstream.
        Route("/mcp", Handler(mcp.handle, "POST")),
        Route("/mcp/", Handler(mcp.handle, "POST")),
        Route("/openapi.json", Handler(DocumentPage(settings).show, "GET")),
        HomeRoute("/", Handler(HomePage(settings).show), methods=["GET"]),
        *everywhere("/{rest:rest}", passthrough.relay),
    ]
    app = Starlette(
        lifespan=_lifespan,
        routes=routes,
        middleware=[
            Middleware(
                Edge,
                overflow_status=settings.overflow_status,
                metrics=metrics,
                upload_seconds=settings.upload_seconds,
                spans=services.spans,
                head=browser_guard.answer_headers,
            ),
            Middleware(BrowserGuard, policy=policy, gate=gate, routes=routes),
        ],
    )
    app.state.shadows = shadows
    app.state.mcp = mcp
    app.state.streams = streams
    app.router.redirect_slashes = False
    app.router.default = Handler(error_response.not_found)  # a target that is no path: `*`
    return app


def _chat_memory(routes: ChatMemoryRoutes) -> list[Route]:
    root = "/chat/api/{chatId}"
    return [
        *own(f"{root}/memory", routes.create, "POST"),
        *own(f"{root}/memories", routes.page, "GET"),
        *own(f"{root}/memories/search", routes.search, "GET"),
        *own(f"{root}/memories/events", routes.events, "GET"),
        *own(f"{root}/memories/undelete", routes.undelete, "POST"),
        *own(f"{root}/memories/{{memoryId}}", routes.memory, "GET", "PATCH", "DELETE"),
        *own(f"{root}/memories/{{memoryId}}/confirm", routes.confirm, "POST"),
        *everywhere("/chat/api/{rest:rest}", error_response.not_found),
    ]


def _documents(routes: DocumentRoutes) -> list[Route]:
    root = "/rag/{namespace}"
    return [
        *own("/rag", routes.namespaces, "GET"),
        *own(root, routes.namespace, "GET", "DELETE"),
        *own(f"{root}/documents", routes.documents, "GET", "POST"),
        *own(f"{root}/documents/{{documentId}}", routes.document, "GET", "DELETE"),
        *own(f"{root}/search", routes.search, "GET"),
        *everywhere("/rag/{rest:rest}", error_response.not_found),
    ]


def _transfer(routes: TransferRoutes) -> list[Route]:
    return [
        *own("/memories/export", routes.export, "GET"),
        *own("/memories/import", routes.import_file, "POST"),
    ]


def _extraction(services: Services, gate: Gate) -> list[Route]:
    settings = services.settings
    requests = UserRequests(gate, settings)
    route = ExtractionRoute(services.memory_services, requests, settings.max_messages)
    return own("/memories/extract", route.extract, "POST")


def _user_memories(
    services: MemoryServices, requests: UserRequests, streams: EventStreams
) -> list[Route]:
    """Names come before ids: no memory is called `search`."""
    memories = UserMemoryRoutes(services, requests, streams)
    groups = GroupRoutes(services.users, requests)
    settings = SettingsRoutes(services.users, requests)
    group, one = "/memories/groups/{group_id}", "/memories/{memory_id}"
    return [
        *own("/memories", memories.memories, "GET", "POST"),
        *own("/memories/search", memories.search, "GET"),
        *own("/memories/events", memories.events, "GET"),
        *own("/memories/tombstones", memories.tombstones, "GET"),
        *own("/memories/settings", settings.settings, "GET", "PATCH"),
        *own("/memories/delete", memories.delete_many, "POST"),
        *own("/memories/undelete", memories.undelete, "POST"),
        *own("/memories/groups", groups.groups, "GET", "POST"),
        *own(group, groups.group, "GET", "PATCH", "DELETE"),
        *own(f"{group}/memories", groups.add, "POST"),
        *own(f"{group}/memories/{{memory_id}}", groups.remove, "DELETE"),
        *own(one, memories.memory, "GET", "PATCH", "DELETE"),
        *own(f"{one}/confirm", memories.confirm, "POST"),
        *own(f"{one}/history", memories.history, "GET"),
        *own(f"{one}/merge", memories.merge, "POST"),
        *everywhere("/memories/{rest:rest}", error_response.not_found),
    ]


@asynccontextmanager
async def _lifespan(app: Starlette) -> AsyncIterator[None]:
    """What goes on in the background ends before memory and store are closed."""
    yield
    await app.state.mcp.close()
    await app.state.shadows.close()
