"""OpenTelemetry spans over OTLP/HTTP: the only file that imports that library.

    request                    server, from the head to the end of the answer
    ├── memory                 from its first step to its last one; `memtree.compact` where a
    │   │                      history was compressed
    │   ├── read, look_up ...  a span each
    │   └── search_memory ...  by OpenTelemetry's conventions for the memory of agents
    └── upstream               client, until the head of the answer
    prepare, embed, summarise  in the background: traces of their own, linked to the request

Attributes are numbers, states and routes; no text, no tenant, no credential. The exporter has a
thread and a bounded queue of its own: spans that it cannot deliver are dropped, and no request
waits. The library itself reads the standard variables (OTEL_EXPORTER_OTLP_HEADERS,
OTEL_TRACES_SAMPLER, OTEL_RESOURCE_ATTRIBUTES).
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from threading import Timer

from opentelemetry import trace as otel
from opentelemetry.context import Context
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.resources import OTELResourceDetector, Resource
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor
from opentelemetry.trace import Link, SpanKind, StatusCode
from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator

from memtree import __version__
from memtree_proxy.http.headers import Headers
from memtree_proxy.http.timing import Known, StepTiming, UpstreamTiming

TRACE_HEADERS = frozenset({b"traceparent", b"tracestate"})
SERVER_ERROR = 500
CLOSE_SECONDS = 3.0
SECOND = 1_000_000_000  # nanoseconds
AT_ONCE = 1_000_000  # nanoseconds that reading two clocks takes without an interruption
TRIES = 10

# Semantic conventions for generative AI, which name operations on memories, but none for
# compressing a history.
OPERATION, STORE = "gen_ai.operation.name", "gen_ai.memory.store.id"
OPERATIONS = frozenset({"upsert_memory", "search_memory", "update_memory", "delete_memory"})
COMPACT = "memtree.compact"
TOKENS = ("memtree.raw_tokens", "memtree.sent_tokens")

_w3c = TraceContextTextMapPropagator()


class Tracing:
    """Starts the span of each request; its creator must close it. `propagate`: add a traceparent to
    calls of the upstream even if the client sent none.
    """

    def __init__(self, endpoint: str, *, propagate: bool = False) -> None:
        """`endpoint`: the full URL, such as http://127.0.0.1:4318/v1/traces."""
        about = {"service.name": "memtree", "service.version": __version__}
        # Resource attributes from the environment override ours.
        resource = Resource.create(about).merge(OTELResourceDetector().detect())
        self._provider = TracerProvider(resource=resource)
        self._exporter = OTLPSpanExporter(endpoint)
        self._provider.add_span_processor(BatchSpanProcessor(self._exporter))
        self._tracer = self._provider.get_tracer("memtree", __version__)
        self._propagate = propagate

    def begin(self, headers: Headers) -> RequestSpan:
        """Start the span of a request with these headers. It is a child of the client's span, if
        the headers name one."""
        given = {
            name.decode(): value.decode("latin-1")
            for name, value in headers
            if name in TRACE_HEADERS
        }
        parent = _w3c.extract(given, Context())
        span = self._tracer.start_span("request", parent, SpanKind.SERVER)
        return RequestSpan(self._tracer, span, sends=self._propagate or "traceparent" in given)

    def close(self) -> None:
        """Deliver queued spans. Blocks, for at most `CLOSE_SECONDS` if the collector does not
        answer."""
        # the library's own limit is ten seconds
        give_up = Timer(CLOSE_SECONDS, self._exporter.shutdown)
        give_up.start()
        self._provider.shutdown()
        give_up.cancel()


class RequestSpan:
    """The `timing.TraceSpan` of one request."""

    def __init__(self, tracer: otel.Tracer, span: otel.Span, *, sends: bool) -> None:
        self._tracer, self._span, self._sends = tracer, span, sends
        self._below = otel.set_span_in_context(span, Context())
        # Steps are timed by a monotonic clock, while spans need the time of day.
        self._offset = _offset()

    def outgoing(self, headers: Headers) -> tuple[Headers, otel.Span]:
        span = self._tracer.start_span("upstream", self._below, SpanKind.CLIENT)
        if not self._sends:
            return headers, span
        named: dict[str, str] = {}
        _w3c.inject(named, otel.set_span_in_context(span, Context()))
        kept = [header for header in headers if header[0].lower() not in TRACE_HEADERS]
        return [*kept, *((name.encode(), value.encode()) for name, value in named.items())], span

    def called(self, handle: otel.Span, call: UpstreamTiming) -> None:
        if isinstance(call.status, int):
            handle.set_attribute("http.response.status_code", call.status)
            failed = call.status >= SERVER_ERROR
        else:
            handle.set_attribute("error.type", call.status)
            failed = True
        if failed:
            handle.set_status(StatusCode.ERROR)
        handle.end()

    def behind(self, name: str, taken: list[StepTiming], whole: StepTiming) -> None:
        if not self._span.get_span_context().trace_flags.sampled:
            return
        link = Link(self._span.get_span_context())
        span = self._tracer.start_span(
            name, Context(), links=[link], start_time=self._ns(whole.begun)
        )
        if whole.failed:
            span.set_status(StatusCode.ERROR)
        self._steps(otel.set_span_in_context(span, Context()), taken)
        span.end(self._ns(whole.ended))

    def end(
        self, name: str, status: int, taken: list[StepTiming], known: Mapping[str, Known]
    ) -> None:
        self._span.update_name(name)
        self._span.set_attributes({k: v for k, v in known.items() if v is not None})
        if status >= SERVER_ERROR:
            self._span.set_status(StatusCode.ERROR)
        if taken and self._span.is_recording():  # the sampler may have excluded this one
            self._memory(taken, known)
        self._span.end()

    def _memory(self, taken: list[StepTiming], known: Mapping[str, Known]) -> None:
        begun = self._ns(min(step.begun for step in taken))
        counts = {name: known[name] for name in TOKENS if known.get(name) is not None}
        memory = self._tracer.start_span(
            COMPACT if counts else "memory",
            self._below,
            start_time=begun,
            attributes={OPERATION: COMPACT, STORE: "memtree", **counts} if counts else None,
        )
        self._steps(otel.set_span_in_context(memory, Context()), taken)
        memory.end(self._ns(max(step.ended for step in taken)))

    def _steps(self, below: Context, taken: list[StepTiming]) -> None:
        for step in taken:
            known = {OPERATION: step.name, STORE: "memtree"} if step.name in OPERATIONS else None
            span = self._tracer.start_span(
                step.name, below, start_time=self._ns(step.begun), attributes=known
            )
            if step.failed:
                span.set_status(StatusCode.ERROR)
            span.end(self._ns(step.ended))

    def _ns(self, seconds: float) -> int:
        return self._offset + int(seconds * SECOND)


def _offset() -> int:
    """Return the nanoseconds from `time.perf_counter` to the time of day."""
    for _ in range(TRIES):
        before, now, after = time.perf_counter_ns(), time.time_ns(), time.perf_counter_ns()
        if after - before < AT_ONCE:  # otherwise another process ran between the two readings
            break
    return now - after
