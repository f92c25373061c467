"""Times of each step of a request, and of background work.

Requests are known to `request_trace`, spans to `otel`.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from types import TracebackType
from typing import Any, NamedTuple, Protocol

from memtree.process.tracing import Tracer
from memtree_proxy.http.headers import Headers

MOST_STEPS = 200  # spans of one request; each round of recall tools has a few

Known = str | int | float | bool | None


class StepTiming(NamedTuple):
    """One step. Times are those of `time.perf_counter`."""

    name: str
    begun: float
    ended: float
    failed: bool


class UpstreamTiming(NamedTuple):
    """One request to the upstream: seconds until the head of its answer, and its status or the code
    of the error."""

    seconds: float
    status: int | str


class Spans(Protocol):
    """Creates spans (`memtree_proxy.http.otel`)."""

    def begin(self, headers: Headers) -> TraceSpan:
        """Start the span of a request with these headers."""
        ...


class TraceSpan(Protocol):
    """The span of one request, parent of its upstream calls and background work."""

    def outgoing(self, headers: Headers) -> tuple[Headers, Any]:
        """Start the span of an upstream call. Returns the headers to send, and a handle for
        `called`."""
        ...

    def called(self, handle: Any, call: UpstreamTiming) -> None: ...

    def behind(self, name: str, taken: list[StepTiming], whole: StepTiming) -> None:
        """Record background work that has ended: its steps, and the whole of it."""
        ...

    def end(
        self, name: str, status: int, taken: list[StepTiming], known: Mapping[str, Known]
    ) -> None:
        """End the request's span; `known`: its attributes by name."""
        ...


class BackgroundSink(Protocol):
    """Called when background work has ended."""

    def worked(self, name: str, seconds: float, failed: bool) -> None: ...


class StepSink(Protocol):
    """Receives the times of steps."""

    def add(self, step: StepTiming) -> None: ...


class StepTimer:
    """Times one step. A class instead of a generator, since it takes a tenth of the time."""

    __slots__ = ("_begun", "_name", "_sink")

    def __init__(self, sink: StepSink, name: str) -> None:
        self._sink, self._name = sink, name

    def __enter__(self) -> None:
        self._begun = time.perf_counter()

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        frames: TracebackType | None,
    ) -> None:
        # A cancelled request has not failed.
        failed = kind is not None and not issubclass(kind, asyncio.CancelledError)
        self._sink.add(StepTiming(self._name, self._begun, time.perf_counter(), failed))


class BackgroundTracer:
    """The tracer of work that continues after its request."""

    __slots__ = ("_span", "_taken", "_worked", "request")

    def __init__(self, request: str, span: TraceSpan | None, worked: BackgroundSink | None) -> None:
        self.request = request
        self._span, self._worked = span, worked
        self._taken: list[StepTiming] = []

    def step(self, name: str) -> StepTimer:
        return StepTimer(self, name)

    def add(self, step: StepTiming) -> None:
        if self._span is not None and len(self._taken) < MOST_STEPS:
            self._taken.append(step)

    def behind(self, name: str) -> AbstractContextManager[Tracer]:
        return behind(name, self.request, self._span, self._worked)

    def end(self, whole: StepTiming) -> None:
        if self._worked is not None:
            self._worked.worked(whole.name, whole.ended - whole.begun, whole.failed)
        if self._span is not None:
            self._span.behind(whole.name, self._taken, whole)


@contextmanager
def behind(
    name: str, request: str, span: TraceSpan | None, worked: BackgroundSink | None
) -> Iterator[Tracer]:
    """Trace background work started by a request, as `Tracer.behind` does."""
    own = BackgroundTracer(request, span, worked)
    begun, failed = time.perf_counter(), True
    try:
        yield own
        failed = False
    except asyncio.CancelledError:  # the process ends, or the result is no longer needed
        failed = False
        raise
    finally:
        own.end(StepTiming(name, begun, time.perf_counter(), failed))
