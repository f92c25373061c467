"""Build the routes from services that the composition root has opened."""

from __future__ import annotations

import secrets
from collections.abc import AsyncIterator, Awaitable, Callable, Collection, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

from prometheus_client import Gauge
from prometheus_client.registry import Collector
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.routing import Route

from memtree.config import Settings
from memtree.context.context_memory import ContextMemory
from memtree.context.sent_requests import SentRequests
from memtree.jobs.memory_services import MemoryServices
from memtree.jobs.summary_queue import InProcessSummaries
from memtree.ports.context_store import Credentials, Tallies
from memtree.ports.request_log import RequestLog
from memtree.process.bounded import SizedCache
from memtree_proxy.api.agent_memory_routes import AgentBatchRoutes, AgentMemoryRoutes
from memtree_proxy.api.agent_search_routes import AgentSearchRoutes
from memtree_proxy.api.chat_memory_routes import ChatCurationRoutes, ChatMemoryRoutes
from memtree_proxy.api.context_memory_routes import ContextMemoryRoutes, Deletion
from memtree_proxy.api.conversation_routes import (
    ConversationRoutes,
    ParseRoute,
    StoredConversations,
)
from memtree_proxy.api.curation_routes import CurationRoutes
from memtree_proxy.api.document_routes import DocumentRoutes
from memtree_proxy.api.memory_requests import AgentRequests, MemoryRequests, UserRequests
from memtree_proxy.api.request_log_routes import RequestRoutes
from memtree_proxy.api.schema_and_grant_routes import GrantRoutes, SchemaRoutes, WalletRoutes
from memtree_proxy.api.transfer_routes import TransferRoutes
from memtree_proxy.api.usage_route import UsageRoute
from memtree_proxy.api.user_group_routes import GroupRoutes, SettingsRoutes, WholeUserRoutes
from memtree_proxy.api.user_memory_routes import ExtractionRoute, MemoryCollection, UserMemoryRoutes
from memtree_proxy.chat.completion_route import CompletionServices
from memtree_proxy.chat.keepalive import PACE, KeepalivePace
from memtree_proxy.http import error_response
from memtree_proxy.http.auth import Gate, LocalUser, WalletAccess, is_loopback
from memtree_proxy.http.body_budget import BodyBudget
from memtree_proxy.http.event_streams import EVENT_PACE, EventPace, EventStreams
from memtree_proxy.http.known_bodies import KnownBodies
from memtree_proxy.http.metrics import Metrics
from memtree_proxy.http.process_metrics import CacheMetrics, ExtractionMetrics, SummaryMetrics
from memtree_proxy.http.rate_limits import CostlyWork, FailedKeys, RequestRates, WaitingRequests
from memtree_proxy.http.request_log_writer import PACE as PACE_OF_LOG
from memtree_proxy.http.request_log_writer import RequestLogWriter
from memtree_proxy.http.timing import Spans
from memtree_proxy.http.usage_tallies import UsageTallies
from memtree_proxy.mcp.mcp_route import McpRoute
from memtree_proxy.server import browser_guard
from memtree_proxy.server.browser_guard import BrowserGuard, BrowserPolicy
from memtree_proxy.server.dialect_routes import CompletionRoutes, Passthrough
from memtree_proxy.server.edge import Edge, Recorders
from memtree_proxy.server.health_report import HealthDetails, HealthReport, MetricsPage, health
from memtree_proxy.server.page_session import PATH as SESSION_PATH
from memtree_proxy.server.page_session import PageSession
from memtree_proxy.server.routing import App, Handler, described, everywhere, family, own
from memtree_proxy.server.web_pages import (
    DEMO_PATH,
    DemoSession,
    DocumentPage,
    HomePage,
    HomeRoute,
    WebPages,
    show_map,
)
from memtree_proxy.server.wrapped_runs import (
    LEASE_PATH,
    TOTALS_PATH,
    Leases,
    WrappedPaths,
    closed_path,
)
from memtree_proxy.upstream.server_key import OwnObjects, ServerKey
from memtree_proxy.upstream.upstreams import Upstreams


@dataclass(frozen=True, slots=True)
class Services:
    """Services for the routes; their builder closes them. `summaries`: the queue of stage 3, for
    its metrics. `tallies`: None to count no usage. `requests`: None for no log of single requests.
    `collectors`: further metrics of the process. `caches`: of posted conversations, by name.
    `spans`: None for no traces. `health`: of the parts that were built. `local`: this machine's
    user. `tenants`: returns the names of tenants with stored memory. `log_pace`: seconds between
    two transactions of the log. `leases`: of `memtree wrap`, if that started the server."""

    memory: ContextMemory
    memory_services: MemoryServices
    keys: Credentials
    upstreams: Upstreams
    settings: Settings
    pace: KeepalivePace = PACE
    event_pace: EventPace = EVENT_PACE
    summaries: InProcessSummaries | None = None
    tallies: Tallies | None = None
    requests: RequestLog | None = None
    log_pace: float = PACE_OF_LOG
    collectors: tuple[Collector, ...] = ()
    caches: Mapping[str, SizedCache] = field(default_factory=dict)
    spans: Spans | None = None
    health: HealthReport = field(default_factory=HealthReport)
    local: LocalUser | None = None
    tenants: Callable[[], Awaitable[Collection[str]]] | None = None
    leases: Leases | None = None


@dataclass(frozen=True, slots=True)
class _Shared:
    """Parts that several routes use, or a route and the middleware around all routes."""

    gate: Gate
    chat: CompletionServices
    plain: MemoryRequests
    costly: MemoryRequests
    work: CostlyWork
    streams: EventStreams
    metrics: Metrics
    requests: RequestLogWriter
    usage: UsageTallies
    policy: BrowserPolicy
    mcp: McpRoute


def create_app(services: Services) -> Starlette:
    shared = _shared(services)
    completions = CompletionRoutes(shared.chat)
    caches = {**services.caches, **completions.caches, "known_bodies": shared.chat.bodies}
    for collector in _collectors(services, shared, caches):
        shared.metrics.show_also(collector)
    routes = _routes(services, shared, completions)
    middleware = _middleware(services, shared, completions, routes)
    app = App(lifespan=_lifespan, routes=routes, middleware=middleware)
    state, key = app.state, shared.chat.server_key
    state.usage, state.requests = shared.usage, shared.requests
    state.mcp, state.objects, state.streams = shared.mcp, key.objects, shared.streams
    app.router.redirect_slashes = False
    app.router.default = Handler(error_response.not_found)  # for a target that is not a path: `*`
    return app


def _shared(services: Services) -> _Shared:
    settings, uses = services.settings, services.memory_services
    gate = Gate(
        services.keys,
        loopback=is_loopback(settings.host),
        operator_key=settings.metrics_key,
        rates=RequestRates(settings.requests_per_minute),
        wallets=WalletAccess(uses.agents.grants, settings.max_body_bytes),
        failures=FailedKeys(settings),
        local=services.local,
    )
    work = CostlyWork(settings.max_imports, settings.import_seconds)
    sent = SentRequests(services.requests)
    services.memory.on_deletion(sent.forget)
    chat = CompletionServices(
        memory=services.memory,
        memories=uses,
        gate=gate,
        upstreams=services.upstreams,
        settings=settings,
        waits=WaitingRequests(settings.max_waits),
        pace=services.pace,
        bodies=KnownBodies(secrets.randbits(32), settings.cache_limits.known_bodies),
        server_key=ServerKey(settings, OwnObjects(uses.objects)),
        sent=sent,
    )
    return _Shared(
        gate=gate,
        chat=chat,
        plain=MemoryRequests(gate, settings),
        costly=MemoryRequests(gate, settings, work),
        work=work,
        streams=EventStreams(services.event_pace),
        metrics=Metrics(),
        requests=RequestLogWriter(services.requests, pace=services.log_pace),
        usage=UsageTallies(services.tallies),
        policy=BrowserPolicy.of(settings),
        mcp=McpRoute(uses.book, StoredConversations(services.memory), gate, settings),
    )


def _routes(services: Services, shared: _Shared, completions: CompletionRoutes) -> list[Route]:
    """Return all routes; the first that matches a path handles it."""
    settings, gate, mcp = services.settings, shared.gate, shared.mcp
    touch = (services.leases.touch,) if services.leases is not None else ()
    session = PageSession(gate, settings, services.local, services.tenants, *touch)
    pages = WebPages(settings)
    return [
        *completions.routes(),
        *_context_memory(services, shared),
        *_memories(services, shared),
        *own("/health", health, "GET"),
        *own("/healthz", health, "GET"),
        *own("/health/details", HealthDetails(services.health, gate).show, "GET"),
        # Only at the root: /v1/metrics still reaches an upstream that has a page of its own.
        Route("/metrics", Handler(MetricsPage(shared.metrics, gate).show, "GET")),
        Route("/mcp", Handler(mcp.handle, "POST")),  # /v1/mcp still reaches the upstream, too
        # Descriptions of this server: for programs, for people, for language models.
        Route("/openapi.json", Handler(DocumentPage(settings).show, "GET")),
        HomeRoute("/", Handler(HomePage(settings).show), methods=["GET"]),
        Route("/llms.txt", Handler(show_map, "GET")),
        *_wrapping(services.leases),
        # The web pages, only at the root; below the prefixes these paths answer 404, and
        # never go to the upstream.
        Route(DEMO_PATH, Handler(DemoSession(settings).show, "GET")),
        Route(SESSION_PATH, Handler(session.handle, "GET", "POST")),
        Route("/ui", Handler(pages.show, "GET")),
        Route("/ui/{rest:rest}", Handler(pages.show, "GET")),
        *everywhere("/ui", error_response.not_found),
        *everywhere("/ui/{rest:rest}", error_response.not_found),
        *everywhere("/{rest:rest}", Passthrough(shared.chat, shared.policy).relay),
    ]


def _middleware(
    services: Services, shared: _Shared, completions: CompletionRoutes, routes: list[Route]
) -> list[Middleware]:
    leases = [services.leases] if services.leases is not None else []
    return [
        *(Middleware(WrappedPaths, leases=each) for each in leases),
        Middleware(
            Edge,
            errors=completions.errors,
            recorders=Recorders(
                shared.metrics,
                (shared.requests, shared.usage, *leases),
                shared.chat.sent,
                services.spans,
            ),
            budget=BodyBudget(2 * services.settings.max_body_bytes),
            upload_seconds=services.settings.upload_seconds,
            head=browser_guard.answer_headers,
        ),
        Middleware(BrowserGuard, policy=shared.policy, gate=shared.gate, routes=routes),
    ]


def _context_memory(services: Services, shared: _Shared) -> list[Route]:
    memory, settings, gate = services.memory, services.settings, shared.gate
    requests, chat = shared.requests, shared.chat
    context = ContextMemoryRoutes(memory, gate, chat.waits, settings, chat.bodies, chat.sent)
    deletion = Deletion(memory, gate, shared.metrics, settings, requests)
    return [
        *own("/context_memory", context.compress, "POST"),
        *own("/memory", context.compress, "POST"),
        *described(context),
        *own("/context_memory/tree", context.tree, "POST"),
        *own("/context_memory/delete", deletion.delete, "POST", "DELETE"),
        *described(ParseRoute(gate, chat.waits, settings, shared.work)),
        *described(UsageRoute(shared.usage, memory, gate, services.requests)),
        *described(ConversationRoutes(memory, gate)),
        *family("/requests", RequestRoutes(requests, memory, gate, shared.streams)),
        *everywhere("/context_memory/{rest:rest}", error_response.not_found),
    ]


def _memories(services: Services, shared: _Shared) -> list[Route]:
    """Routes of saved memories. No path below their roots goes to the upstream."""
    uses, settings, gate = services.memory_services, services.settings, shared.gate
    streams, plain, costly = shared.streams, shared.plain, shared.costly
    users = UserRequests(gate, settings)
    agent_requests = AgentRequests(gate, settings, uses.book.clock, shared.work)
    agents = AgentMemoryRoutes(
        uses.agents, uses.extracting.readers, services.upstreams, agent_requests
    )
    searches = AgentSearchRoutes(uses.agents, plain)
    both = MemoryCollection(UserMemoryRoutes(uses, users), users, agents, searches.search)
    return [
        *family(
            "/chat/api",
            ChatMemoryRoutes(uses.book, gate, settings, streams),
            ChatCurationRoutes(uses.curation, gate, settings),
        ),
        *family("/rag", DocumentRoutes(uses.documents, costly)),
        *family("/schemas", SchemaRoutes(uses.agents.schemas, plain)),
        *family("/grants", GrantRoutes(uses.agents.grants, plain)),
        *family("/wallets", WalletRoutes(uses.agents.grants, plain)),
        *own("/memories", both.memories, "GET", "POST"),
        *own("/memories/search", both.search, "GET"),
        *described(
            TransferRoutes(uses.transfer, costly, settings),
            ExtractionRoute(uses, UserRequests(gate, settings, shared.work), settings),
            searches,
            CurationRoutes(uses, plain, streams),
            AgentBatchRoutes(uses.agents, agents, agent_requests),
            SettingsRoutes(uses.users, users),
            WholeUserRoutes(uses, users),
            GroupRoutes(uses.users, users),
        ),
        *own("/memories/{memory_id}", both.memory, "GET", "PATCH", "DELETE"),
        *everywhere("/memories/{rest:rest}", error_response.not_found),
    ]


def _collectors(
    services: Services, shared: _Shared, caches: Mapping[str, SizedCache]
) -> list[Collector]:
    """Collect metrics other than those of requests."""
    help_ = "Requests that wait for their tree to be built."
    waiting = Gauge("memtree_requests_waiting", help_, registry=None)
    # The step `wait` shows how many did, and for how long.
    waiting.set_function(lambda: shared.chat.waits.all)
    return [
        *([SummaryMetrics(services.summaries)] if services.summaries else []),
        ExtractionMetrics(services.memory_services.extracting),
        *services.collectors,
        waiting,
        CacheMetrics(caches),
        shared.requests.dropped,
    ]


def _wrapping(leases: Leases | None) -> list[Route]:
    """Return the routes for `memtree wrap`. These paths never go to the upstream, on any server."""
    routes = everywhere("/w/{rest:rest}", closed_path)
    if leases is not None:
        routes.append(Route(LEASE_PATH, Handler(leases.lease, "POST")))
        routes.append(Route(TOTALS_PATH, Handler(leases.totals, "GET")))
    return routes


@asynccontextmanager
async def _lifespan(app: Starlette) -> AsyncIterator[None]:
    """End background work before memory and store are closed."""
    yield
    await app.state.mcp.close()
    await app.state.objects.close()
    await app.state.usage.close()
    await app.state.requests.close()
