"""Counters and histograms that every request updates: a dictionary's entry, and no lock.

Those of `prometheus_client` take a lock for each number, look up labels under another one and scan
all bounds of a histogram. These may be used by the thread of the event loop only; counts made in
other threads, and the page itself, use the library.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator, Mapping, Sequence

from prometheus_client import CollectorRegistry, Counter
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, HistogramMetricFamily
from prometheus_client.metrics_core import Metric
from prometheus_client.registry import Collector
from prometheus_client.utils import floatToGoString

Labels = tuple[str, ...]


def counters(
    registry: CollectorRegistry, table: Mapping[str, tuple[str, ...]]
) -> dict[str, Counter]:
    """Make the library's counters of a table: by name, the counter's help and its labels."""
    return {
        name: Counter(name, help_, labels, registry=registry)
        for name, (help_, *labels) in table.items()
    }


def by_label(
    kind: type[CounterMetricFamily | GaugeMetricFamily],
    name: str,
    help_: str,
    label: str,
    numbers: Mapping[str, float],
) -> Metric:
    """Return a metric of this kind with one label, whose values the keys of `numbers` are."""
    family = kind(name, help_, labels=[label])
    for value, number in numbers.items():
        family.add_metric([value], number)
    return family


class LabelCounts(Collector):
    """One counter, by the values of its labels."""

    def __init__(
        self, registry: CollectorRegistry, name: str, help_: str, labels: Sequence[str]
    ) -> None:
        self._shown = (name, help_, labels)
        self._counts: dict[Labels, int] = {}
        registry.register(self)

    def add(self, *labels: str) -> None:
        self._counts[labels] = self._counts.get(labels, 0) + 1

    def describe(self) -> list[Metric]:
        name, help_, labels = self._shown
        return [CounterMetricFamily(name, help_, labels=labels)]

    def collect(self) -> Iterator[Metric]:
        name, help_, labels = self._shown
        family = CounterMetricFamily(name, help_, labels=labels)
        for values, count in self._counts.items():
            family.add_metric(values, count)
        yield family


class LabelTimes(Collector):
    """One histogram of seconds, by the value of its label; without a label it exists from the
    start."""

    def __init__(
        self,
        registry: CollectorRegistry,
        name: str,
        help_: str,
        bounds: Sequence[float],
        labels: Sequence[str] = (),
    ) -> None:
        self._shown = (name, help_, labels)
        self._bounds = bounds
        # By label: the number of observations up to each bound and above all bounds, then their
        # sum.
        self._counts: dict[str, list[float]] = {}
        if not labels:
            self._row("")
        registry.register(self)

    def observe(self, seconds: float, label: str = "") -> None:
        row = self._counts.get(label) or self._row(label)
        row[bisect_left(self._bounds, seconds)] += 1
        row[-1] += seconds

    def _row(self, label: str) -> list[float]:
        row = self._counts[label] = [0.0] * (len(self._bounds) + 2)
        return row

    def describe(self) -> list[Metric]:
        name, help_, labels = self._shown
        return [HistogramMetricFamily(name, help_, labels=labels)]

    def collect(self) -> Iterator[Metric]:
        name, help_, labels = self._shown
        family = HistogramMetricFamily(name, help_, labels=labels)
        for label, row in self._counts.items():
            buckets, seen = [], 0.0
            for bound, count in zip((*self._bounds, float("inf")), row, strict=False):
                seen += count
                buckets.append((floatToGoString(bound), seen))  # type: ignore[no-untyped-call]
            family.add_metric((label,) if labels else (), buckets, row[-1])
        yield family
