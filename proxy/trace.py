"""What is known about one request while it runs: its log line and its `x-memtree-*` headers."""

from __future__ import annotations

from collections.abc import MutableMapping
from dataclasses import dataclass
from typing import Any

from memtree.compress import Answer
from proxy import log

_KEY = "memtree.trace"


@dataclass(slots=True)
class Trace:
    """Filled in by whoever learns something; None: not known (yet).

    `memory_ms` is what memory cost: from the whole body read to the request for the model ready.
    `gain`: what this request saved against sending everything, in uncached input tokens.
    """

    method: str
    route: str
    status: int = 0
    tenant: str | None = None
    state: str | None = None
    address: str | None = None
    raw_tokens: int | None = None
    sent_tokens: int | None = None
    memory_ms: float | None = None
    mode: str | None = None
    epoch: str | None = None
    recall_tokens: int | None = None
    gain: float = 0.0
    index_only: bool = False

    def learn(self, answer: Answer) -> None:
        self.state = answer.state
        self.mode = answer.mode
        self.epoch = answer.epoch
        self.recall_tokens = answer.recall_tokens
        self.gain = answer.gain
        self.address = answer.address.hex()
        self.raw_tokens = answer.raw_tokens
        self.sent_tokens = answer.sent_tokens

    def headers(self) -> list[tuple[bytes, bytes]]:
        """Response headers for what is known; nothing where memory had no say."""
        if self.state is None:
            return []
        known = {
            "address": self.address,
            "raw-tokens": self.raw_tokens,
            "sent-tokens": self.sent_tokens,
            "state": self.state,
            "epoch": self.epoch,
            "ms": None if self.memory_ms is None else round(self.memory_ms),
        }
        return [
            (f"x-memtree-{name}".encode(), str(value).encode())
            for name, value in known.items()
            if value is not None
        ]

    def log(self, ms: float) -> None:
        log.event(
            "http.request",
            method=self.method,
            route=self.route,
            status=self.status,
            ms=ms,
            tenant=self.tenant[:10] if self.tenant else None,
            state=self.state,
            raw_tokens=self.raw_tokens,
            sent_tokens=self.sent_tokens,
            epoch=self.epoch[:8] if self.epoch else None,
            recall_tokens=self.recall_tokens,
            memory_ms=self.memory_ms,
        )


def begin(scope: MutableMapping[str, Any]) -> Trace:
    # raw_path: percent-encoded, so it cannot break the log line, and without the query string.
    route = scope.get("raw_path") or scope["path"].encode("utf-8", "replace")
    trace = Trace(scope["method"], route.partition(b"?")[0].decode("ascii", "replace")[:120])
    scope[_KEY] = trace
    return trace


def of(scope: MutableMapping[str, Any]) -> Trace:
    """The trace of a running request."""
    trace: Trace = scope[_KEY]
    return trace
