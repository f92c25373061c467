"""Counters and histograms of our own beside those of the library: the same page."""

from __future__ import annotations

import pytest
from prometheus_client import (
    CollectorRegistry,
    Counter,
    Histogram,
    disable_created_metrics,
    generate_latest,
)

from memtree_proxy.http.metrics import LabelCounts, LabelTimes

BOUNDS = (0.005, 0.1, 1)
SECONDS = (0, 0.0049, 0.005, 0.0051, 0.1, 0.5, 1, 1.25, 600)


@pytest.fixture(autouse=True)
def without_created_series() -> None:
    """Switch created series off, as in the process of a server, whose page has none."""
    disable_created_metrics()  # type: ignore[no-untyped-call]


def test_a_counter_is_shown_as_the_library_shows_one():
    ours, theirs = CollectorRegistry(), CollectorRegistry()
    counts = LabelCounts(ours, "a_requests", "What came.", ("route", "status"))
    counter = Counter("a_requests", "What came.", ("route", "status"), registry=theirs)
    for route, status in [("/b", "200"), ('/"\n\\', "404"), ("/b", "200")]:
        counts.add(route, status)
        counter.labels(route, status).inc()
    page = generate_latest(ours)
    assert page == generate_latest(theirs)
    assert b'a_requests_total{route="/b",status="200"} 2.0' in page


def test_a_histogram_is_shown_as_the_library_shows_one():
    ours, theirs = CollectorRegistry(), CollectorRegistry()
    times = LabelTimes(ours, "a_seconds", "How long.", BOUNDS, ("step",))
    histogram = Histogram("a_seconds", "How long.", ("step",), buckets=BOUNDS, registry=theirs)
    for place, seconds in enumerate(SECONDS):
        times.observe(seconds, "xy"[place % 2])
        histogram.labels("xy"[place % 2]).observe(seconds)
    page = generate_latest(ours)
    assert page == generate_latest(theirs)
    assert b'a_seconds_count{step="x"} 5.0' in page


def test_a_histogram_without_a_label_is_there_before_anything_is_observed():
    ours, theirs = CollectorRegistry(), CollectorRegistry()
    times = LabelTimes(ours, "a_seconds", "How long.", BOUNDS)
    histogram = Histogram("a_seconds", "How long.", buckets=BOUNDS, registry=theirs)
    assert generate_latest(ours) == generate_latest(theirs)
    for seconds in SECONDS:
        times.observe(seconds)
        histogram.observe(seconds)
    assert generate_latest(ours) == generate_latest(theirs)


def test_names_are_known_to_a_page_that_is_asked_for_a_few():
    registry = CollectorRegistry()
    LabelTimes(registry, "a_seconds", "How long.", BOUNDS).observe(0.1)
    LabelCounts(registry, "a_requests", "What came.", ("route",)).add("/b")
    page = generate_latest(registry.restricted_registry(["a_requests_total"]))
    assert b"a_requests_total" in page
    assert b"a_seconds" not in page
