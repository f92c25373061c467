"""Row, tallies, metrics, log line and span are renderings of one record: they say the same."""

from __future__ import annotations

import logging
from typing import Any

import pytest

from memtree.config import Settings
from memtree.context.sent_requests import Saving
from memtree.context.state import State
from memtree_proxy.observability.metrics import Metrics
from memtree_proxy.observability.request_rows import request_row
from memtree_proxy.observability.request_trace import LogEntry, MemoryShare, RequestTimes, Trace
from memtree_proxy.observability.usage_tallies import RAW, SAVED, SENT, STATE, amounts
from memtree_proxy.server.leases import RunTotals


class EndedSpan:
    """A `TraceSpan` that keeps the attributes of its end."""

    def __init__(self) -> None:
        self.known: dict[str, Any] = {}

    def end(self, name: str, status: int, taken: Any, known: dict[str, Any]) -> None:
        self.known = {"name": name, "status": status, **known}


def test_all_renderings_of_a_record_say_the_same(caplog: pytest.LogCaptureFixture) -> None:
    span = EndedSpan()
    seen = Trace(
        "POST",
        "/v1/chat/completions",
        pattern="/chat/completions",
        status=200,
        tenant="t",
        memory=MemoryShare(
            State.PACKED, "cheaper-whole; folds-at=9", "auto", epoch="ab" * 8, raw_tokens=900,
            sent_tokens=200, recall_tokens=30, continued=True, stays=150, ms=3.0,
        ),
        entry=LogEntry(id="1" * 16, dialect="chat", saving=Saving(-70, 5, 2)),
        work=RequestTimes(seconds=1.25, span=span),  # type: ignore[arg-type]  # it only ends
    )  # fmt: skip
    metrics, totals = Metrics(), RunTotals()
    metrics.end(seen)
    totals.add(seen.memory, seen.entry.saving.saved, "m")
    with caplog.at_level(logging.INFO, "memtree"):
        seen.end()
        seen.log()
    row, page = request_row(seen), bytes(metrics.page().body).decode().splitlines()

    assert (row.state, row.reason, row.status, row.turn) == ("packed", "cheaper-whole", 200, 2)
    assert (row.posted_tokens, row.sent_tokens, row.saved_tokens) == (900, 200, -70)
    assert (row.epoch, row.total_ms) == (b"\xab" * 8, 1250)

    counts = amounts(seen)
    assert counts[f"{STATE}packed"] == 1
    assert (counts[RAW], counts[SENT], counts[SAVED]) == (900, 200, -70_000)

    for sample in (
        'memtree_requests_total{route="/chat/completions",status="200"} 1.0',
        'memtree_request_seconds_sum{route="/chat/completions"} 1.25',
        'memtree_answers_total{mode="auto",reason="cheaper-whole",state="packed"} 1.0',
        "memtree_raw_tokens_total 900.0",
        "memtree_sent_tokens_total 200.0",
        "memtree_recall_tokens_total 30.0",
        "memtree_folding_lost_tokens_total 70.0",
        'memtree_epoch_answers_total{kind="continued"} 1.0',
        'memtree_prefix_tokens_total{kind="stays"} 150.0',
        'memtree_prefix_tokens_total{kind="changes"} 50.0',
    ):
        assert sample in page

    assert (totals.requests, totals.folded, totals.saved_tokens) == (1, 1, -70)
    assert (totals.posted_tokens, totals.sent_tokens) == (900, 200)

    assert caplog.messages == [
        "http.request method=POST route=/v1/chat/completions status=200 ms=1250.0 tenant=t "
        'state=packed reason="cheaper-whole; folds-at=9" raw_tokens=900 sent_tokens=200 '
        "epoch=abababab recall_tokens=30 memory_ms=3.0"
    ]
    assert (span.known["name"], span.known["status"]) == ("POST /chat/completions", 200)
    assert span.known["memtree.state"] == State.PACKED
    assert span.known["memtree.epoch.continued"] is True
    assert span.known["memtree.raw_tokens"] == 900
    assert span.known["memtree.sent_tokens"] == 200


@pytest.mark.parametrize(
    ("state", "reason", "tokens", "told"),
    [
        (State.BELOW_THRESHOLD, "", 900, 20_000),
        (State.PASSED, "cheaper-whole; folds-at=53000", 40_000, 53_000),
        (State.PASSED, "one-round", 90_000, 0),  # its size does not keep it whole
        (State.OFF, "", None, 0),
    ],
)
def test_totals_tell_at_what_size_a_run_is_folded(
    state: State, reason: str, tokens: int | None, told: int
):
    totals = RunTotals()
    totals.add(MemoryShare(state, reason, "auto", raw_tokens=tokens), 0, "gpt-4o-mini")
    assert totals.folds_at(Settings()) == told
