"""Watches with a clock: how long each step took, and what work in the background took.

What this file does not do: know what a request is (`trace`), or what a span looks like (`spans`).
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from types import TracebackType
from typing import Any, NamedTuple, Protocol

from memtree.tracing import Tracer
from proxy.http.headers import Headers

MOST_STEPS = 200  # spans of one request; rounds of tools have a few each

Known = str | int | float | bool | None


class StepTiming(NamedTuple):
    """One step. Times as `time.perf_counter` tells them."""

    name: str
    begun: float
    ended: float
    failed: bool


class UpstreamTiming(NamedTuple):
    """One request to the upstream: seconds until the head of its answer, and its status or the
    code of the error."""

    seconds: float
    status: int | str


class Spans(Protocol):
    """Makes spans (`proxy.spans`)."""

    def begin(self, headers: Headers) -> TraceSpan:
        """For a request with these headers."""
        ...


class TraceSpan(Protocol):
    """The span of one request, and of what it began."""

    def outgoing(self, headers: Headers) -> tuple[Headers, Any]:
        """A span of a call: the headers that go out with it, and what `called` is given."""
        ...

    def called(self, handle: Any, call: UpstreamTiming) -> None: ...

    def behind(self, name: str, taken: list[StepTiming], whole: StepTiming) -> None:
        """Work in the background that is over."""
        ...

    def end(
        self, name: str, status: int, taken: list[StepTiming], known: Mapping[str, Known]
    ) -> None:
        """The request is over; `known`: what is told of it, by name."""
        ...


class BackgroundSink(Protocol):
    """Told of work in the background that is over."""

    def worked(self, name: str, seconds: float, failed: bool) -> None: ...


class StepSink(Protocol):
    """What steps are added to."""

    def add(self, one: StepTiming) -> None: ...


class Step:
    """One step of a watched piece of work. A class, not a generator: a tenth of the time."""

    __slots__ = ("_begun", "_name", "_whose")

    def __init__(self, whose: StepSink, name: str) -> None:
        self._whose, self._name = whose, name

    def __enter__(self) -> None:
        self._begun = time.perf_counter()

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        frames: TracebackType | None,
    ) -> None:
        # Whoever gives a request up has not failed.
        failed = kind is not None and not issubclass(kind, asyncio.CancelledError)
        self._whose.add(StepTiming(self._name, self._begun, time.perf_counter(), failed))


class BackgroundTracer:
    """The watch of work that goes on when its request is over."""

    __slots__ = ("_span", "_taken", "_worked", "request")

    def __init__(self, request: str, span: TraceSpan | None, worked: BackgroundSink | None) -> None:
        self.request = request
        self._span, self._worked = span, worked
        self._taken: list[StepTiming] = []

    def step(self, name: str) -> Step:
        return Step(self, name)

    def add(self, one: StepTiming) -> None:
        if self._span is not None and len(self._taken) < MOST_STEPS:
            self._taken.append(one)

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
    """As `Tracer.behind`, for work that a request has begun."""
    own = BackgroundTracer(request, span, worked)
    begun, failed = time.perf_counter(), True
    try:
        yield own
        failed = False
    except asyncio.CancelledError:  # the process ends, or nobody wants it any more
        failed = False
        raise
    finally:
        own.end(StepTiming(name, begun, time.perf_counter(), failed))
