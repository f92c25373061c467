"""Record one request: filled in while it runs, and complete when `Edge` ends it.

Its `x-memtree-*` headers, its log line, its span, its metrics, its row of the log and its tallies
are renderings of this record; none of them keeps it. No rendering contains message text or a
credential, and only the row contains the model's name.

`Trace` is the `memtree.process.tracing.Tracer` of a request. Steps are summed by name, and kept
individually only if traces are exported.
"""

from __future__ import annotations

import re
import secrets
import time
from collections.abc import MutableMapping
from contextlib import AbstractContextManager
from functools import cache
from itertools import count
from types import TracebackType
from typing import Any

import msgspec

from memtree.budget.prices import ProviderUsage
from memtree.context.answer_state import State, is_degraded
from memtree.context.context_memory import Answer
from memtree.context.sent_requests import NOTHING, Saving
from memtree.ports.request_log import CLIENT_GONE
from memtree.process.tracing import Tracer
from memtree_proxy.http import log
from memtree_proxy.http.answer_usage import AnswerBytes
from memtree_proxy.http.headers import Headers
from memtree_proxy.http.request_body import PREFIXES, WRAP_RUN
from memtree_proxy.http.timing import (
    MOST_STEPS,
    BackgroundSink,
    Known,
    Spans,
    StepTimer,
    StepTiming,
    TraceSpan,
    UpstreamTiming,
    behind,
)

_KEY = "memtree.trace"
REQUEST_ID = b"x-request-id"  # the client's own id; returned in `x-memtree-request-id`
OWN_REQUEST_ID = b"x-memtree-request-id"
REQUEST = b"x-memtree-request"  # our id, under which the log has the request
_ENCODING = b"content-encoding"
_SANE_ID = re.compile(rb"[A-Za-z0-9._:@/+=-]{1,128}")
RELAYED = "/*"  # the route of all requests that are relayed unchanged
NO_ROUTE = "none"
BYTES_A_TOKEN = 4  # of a JSON body with English text
FILES = frozenset({"/ui", "/ui/*"})  # the web pages, which contain no data


class MemoryShare(msgspec.Struct):
    """Part of memory in a request. `ms`: milliseconds that it added, from the body being read to
    the upstream request being ready. `input_price`: price of a million uncached input tokens in
    money. `saved`: ids of the memories that the model was shown; `degraded`: the part that failed
    while reading them; `forgotten`: ids of those that the user asked to forget. `answer`: what
    memory sends."""

    state: State | None = None
    reason: str = ""
    mode: str | None = None
    address: str | None = None
    epoch: str | None = None
    raw_tokens: int | None = None
    sent_tokens: int | None = None
    recall_tokens: int | None = None
    continued: bool = False
    stays: int = 0
    saved: tuple[str, ...] = ()
    degraded: tuple[str, ...] = ()
    forgotten: tuple[str, ...] = ()
    ms: float | None = None
    input_price: float | None = None
    answer: Answer | None = None

    @property
    def word(self) -> str:
        """Return the reason without its numbers."""
        return self.reason.partition(";")[0]


class LogEntry(msgspec.Struct):
    """Entry of a request in the log. `id`: also in the header `x-memtree-request`; `came`: unix
    seconds, also part of the id. `dialect`: empty if the request is not logged. `posted_headers`:
    to find the client's name; `answered`: bytes of the answer, to find the provider's usage;
    `first`: when its first ones came. `saving`: what memory saved, known at the end. `wrap_run`:
    the run of `memtree wrap` that the request belongs to. `sent_bytes`: size of the last body that
    went to the provider."""

    id: str = ""
    came: float = 0.0
    dialect: str = ""
    model: str = ""
    posted_headers: Headers = msgspec.field(default_factory=list)
    answered: AnswerBytes | None = None
    first: float | None = None
    saving: Saving = NOTHING
    index_only: bool = False
    explained: bool = False
    wrap_run: str = ""
    sent_bytes: int = 0


class RequestTimes(msgspec.Struct):
    """Steps of a request and their times. `seconds`: of the whole, known at its end; `steps`:
    seconds by name; `taken`: the individual steps, if traces are exported."""

    begun: float = msgspec.field(default_factory=time.perf_counter)
    seconds: float = 0.0
    steps: dict[str, float] = msgspec.field(default_factory=dict)
    failed: list[str] = msgspec.field(default_factory=list)
    calls: list[UpstreamTiming] = msgspec.field(default_factory=list)
    taken: list[StepTiming] = msgspec.field(default_factory=list)
    span: TraceSpan | None = None
    worked: BackgroundSink | None = None


class Rounds(msgspec.Struct):
    """Number of further calls of the model, by their reason."""

    recalls: int = 0
    overflows: int = 0
    thinking_replays: int = 0


class Trace(msgspec.Struct):
    """Filled in while the request runs; None: unknown (yet). `route`: the requested path;
    `pattern`: our route that handled it."""

    method: str
    route: str
    request: str = ""
    pattern: str = NO_ROUTE
    status: int = 0
    error: str | None = None
    tenant: str | None = None
    memory: MemoryShare = msgspec.field(default_factory=MemoryShare)
    entry: LogEntry = msgspec.field(default_factory=LogEntry)
    work: RequestTimes = msgspec.field(default_factory=RequestTimes)
    rounds: Rounds = msgspec.field(default_factory=Rounds)

    # -- the tracer --------------------------------------------------------------------------

    def step(self, name: str) -> StepTimer:
        return StepTimer(self, name)

    def add(self, step: StepTiming) -> None:
        self.work.steps[step.name] = self.work.steps.get(step.name, 0.0) + step.ended - step.begun
        if step.failed:
            self.work.failed.append(step.name)
        if self.work.span is not None and len(self.work.taken) < MOST_STEPS:
            self.work.taken.append(step)

    def behind(self, name: str) -> AbstractContextManager[Tracer]:
        return behind(name, self.request, self.work.span, self.work.worked)

    # -- the upstream ------------------------------------------------------------------------

    def calling(self, headers: Headers) -> UpstreamCall:
        """Return a context that times a request to the upstream, until the head of its answer has
        arrived."""
        return UpstreamCall(self, headers)

    # -- results -----------------------------------------------------------------------------

    def decide(self, state: State, reason: str = "") -> None:
        """Record the state of memory, and the reason."""
        self.memory.state, self.memory.reason = state, reason

    def keep(self, dialect: str, headers: Headers, *, relayed: bool = True) -> None:
        """Have this request logged. `relayed`: a provider answers it."""
        self.entry.dialect, self.entry.posted_headers = dialect, headers
        self.entry.answered = AnswerBytes() if relayed else None

    def begins(self, headers: Headers) -> None:
        """Record the headers of its answer."""
        if self.entry.answered is not None:
            for name, value in headers:
                if len(name) == len(_ENCODING) and name.lower() == _ENCODING:
                    self.entry.answered.encoding = value.decode("latin-1").replace("identity", "")

    def passes(self, chunk: bytes) -> None:
        """Record bytes of its answer."""
        if self.entry.dialect and chunk:
            if self.entry.first is None and not (chunk.isspace() or chunk[:1] == b":"):
                self.entry.first = time.perf_counter()  # earlier bytes were only heartbeats
            if self.entry.answered is not None:
                self.entry.answered.feed(chunk)

    @property
    def relayed(self) -> bool:
        """Return True if a provider answers the request."""
        return self.entry.answered is not None

    @property
    def counted(self) -> bool:
        """Return True if memory decided on the request, and did not only index it."""
        return bool(self.memory.state) and not self.entry.index_only

    @property
    def usage(self) -> ProviderUsage | None:
        """Return the usage that the provider reported."""
        return self.entry.answered.usage() if self.entry.answered is not None else None

    @property
    def billed(self) -> bool:
        """Return True if a provider has answered the request, even if the client disconnected
        early. Requests that only index or explain are not sent to one."""
        if self.entry.index_only or self.entry.explained:
            return False
        gone = self.status == CLIENT_GONE and self.entry.first is not None
        return gone or 200 <= self.status < 300

    def learn(self, answer: Answer) -> None:
        self.decide(answer.state, answer.reason)
        self.memory.mode = answer.mode
        self.memory.epoch = answer.epoch
        self.memory.recall_tokens = answer.recall_tokens
        self.memory.answer = answer
        self.memory.continued, self.memory.stays = answer.continued, answer.stays
        self.memory.address = answer.address.hex()
        self.memory.raw_tokens = answer.raw_tokens
        self.memory.sent_tokens = answer.sent_tokens
        self.memory.saved = answer.memories

    def count_unread(self) -> None:
        """Count the tokens of a request that was sent whole because memory could not read it: as
        the provider counted them, or else estimated."""
        memory = self.memory
        size = self.entry.sent_bytes
        if memory.sent_tokens is None and size and is_degraded(memory.state or ""):
            usage = None if self.rounds.recalls else self.usage
            tokens = usage.input if usage else -(-size // BYTES_A_TOKEN)
            memory.raw_tokens = memory.sent_tokens = tokens

    def headers(self) -> Headers:
        """Return the `x-memtree-*` response headers; none if memory was not used."""
        if self.memory.state is None:
            return []
        known: list[tuple[bytes, str | int | None]] = [
            (b"x-memtree-address", self.memory.address),
            (b"x-memtree-raw-tokens", self.memory.raw_tokens),
            (b"x-memtree-sent-tokens", self.memory.sent_tokens),
            (b"x-memtree-state", self.memory.state),
            (b"x-memtree-reason", self.memory.reason or None),
            (b"x-memtree-epoch", self.memory.epoch),
            (b"x-memtree-ms", None if self.memory.ms is None else round(self.memory.ms)),
            (b"x-memtree-memories", ",".join(self.memory.saved) or None),
            (b"x-memtree-memories-forgotten", ",".join(self.memory.forgotten) or None),
            (b"x-memtree-memories-degraded", ",".join(self.memory.degraded) or None),
        ]
        return [(name, str(value).encode()) for name, value in known if value is not None]

    def end(self) -> None:
        """Record the end of the request."""
        work = self.work
        if work.span is None:
            return
        known: dict[str, Known] = {
            "http.request.method": self.method,
            "http.route": self.pattern,
            "http.response.status_code": self.status,
            "memtree.request_id": self.request,
            "memtree.error": self.error,
            "memtree.state": self.memory.state,
            "memtree.reason": self.memory.reason or None,
            "memtree.mode": self.memory.mode,
            "memtree.epoch.continued": self.memory.continued if self.memory.epoch else None,
            "memtree.raw_tokens": self.memory.raw_tokens,
            "memtree.sent_tokens": self.memory.sent_tokens,
            "memtree.recall_tokens": self.memory.recall_tokens,
            "memtree.recall_rounds": self.rounds.recalls or None,
            "memtree.memories": len(self.memory.saved) or None,
        }
        work.span.end(f"{self.method} {self.pattern}", self.status, work.taken, known)

    def named(self, headers: Headers) -> Headers:
        """Return the response headers with the request's ids; on relayed answers with our own
        only."""
        ours = self.own_ids()[: 1 if self.pattern == RELAYED else None]
        names = {name for name, _ in ours}
        return [*(header for header in headers if header[0].lower() not in names), *ours]

    def own_ids(self) -> Headers:
        """Return the headers with our id and the client's own."""
        return [(REQUEST, self.entry.id.encode()), (OWN_REQUEST_ID, self.request.encode())]

    def log(self) -> None:
        # A visit to a page requests some seventy files.
        quiet = self.pattern in FILES and self.status < 400
        (log.detail if quiet else log.event)(
            "http.request",
            method=self.method,
            route=self.route,
            status=self.status,
            ms=self.work.seconds * 1000,
            tenant=self.tenant[:10] if self.tenant else None,
            state=self.memory.state,
            reason=self.memory.reason or None,
            raw_tokens=self.memory.raw_tokens,
            sent_tokens=self.memory.sent_tokens,
            epoch=self.memory.epoch[:8] if self.memory.epoch else None,
            recall_tokens=self.memory.recall_tokens,
            memories=len(self.memory.saved) or None,
            memory_ms=self.memory.ms,
        )


class UpstreamCall:
    """A request to the upstream, timed while it is entered. `headers`: those to send; `status`: set
    it from the answer's. A class instead of a generator, for the same reason as `StepTimer`."""

    __slots__ = ("_begun", "_handle", "_trace", "headers", "status")

    def __init__(self, trace: Trace, headers: Headers) -> None:
        self._trace, self.headers = trace, headers
        self._handle: Any = None
        self.status: int | str = "cancelled"

    def __enter__(self) -> UpstreamCall:
        self._begun = time.perf_counter()
        if self._trace.work.span is not None:
            self.headers, self._handle = self._trace.work.span.outgoing(self.headers)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        frames: TracebackType | None,
    ) -> None:
        if kind is not None:
            self.status = getattr(error, "code", "cancelled")
        timing = UpstreamTiming(time.perf_counter() - self._begun, self.status)
        self._trace.work.calls.append(timing)
        if self._trace.work.span is not None:
            self._trace.work.span.called(self._handle, timing)


# -- around a request -------------------------------------------------------------------------


def begin(
    scope: MutableMapping[str, Any],
    spans: Spans | None = None,
    worked: BackgroundSink | None = None,
) -> Trace:
    # raw_path: percent-encoded, so it cannot break the log line, and without the query string.
    route = scope.get("raw_path") or scope["path"].encode("utf-8", "replace")
    path = route.partition(b"?")[0].decode("ascii", "replace")[:120]
    headers = scope.get("headers", [])
    trace = Trace(scope["method"], path, request_id(headers), work=RequestTimes(worked=worked))
    trace.entry.came, trace.entry.id = new_id()
    trace.entry.wrap_run = scope.get("state", {}).get(WRAP_RUN, "")
    if spans is not None:
        trace.work.span = spans.begin(headers)
    scope[_KEY] = trace
    return trace


def new_id() -> tuple[float, str]:
    """Return the present time and an id that begins with it (`request_log.time_of`): 16 hex digits,
    of which the last five distinguish requests of one millisecond."""
    milliseconds = int(time.time() * 1000)
    return milliseconds / 1000, "%011x%05x" % (milliseconds, next(_counted) & 0xFFFFF)  # noqa: UP031


_counted = count(secrets.randbits(20))


def of(scope: MutableMapping[str, Any]) -> Trace:
    """Return the trace of a running request."""
    trace: Trace = scope[_KEY]
    return trace


def request_id(headers: Headers) -> str:
    """Return the client's id of its request if it is short and printable, else a random one.

    >>> request_id([(b"x-request-id", b"call-7")])
    'call-7'
    """
    for name, value in headers:
        if name == REQUEST_ID and _SANE_ID.fullmatch(value):
            return value.decode()
    return secrets.token_hex(8)


def pattern(scope: MutableMapping[str, Any]) -> str:
    """Return the route that answered, without its prefix: there are few, whatever path was
    requested."""
    path = getattr(scope.get("route"), "path", None)
    return _shown(path) if isinstance(path, str) else NO_ROUTE


@cache  # there are few routes
def _shown(path: str) -> str:
    shown = path.replace("{rest:rest}", "*")
    for prefix in PREFIXES:
        if prefix and shown.startswith(prefix + "/"):
            return shown.removeprefix(prefix)
    return shown
