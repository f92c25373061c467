"""Dashboard, alerts and documents speak of metrics that there are, by name and label."""

from __future__ import annotations

import asyncio
import json
import logging
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import promql_parser
import pytest
import yaml
from prometheus_client.parser import text_string_to_metric_families

from memtree.config import Settings
from memtree.jobs.runtime import open_runtime
from memtree.process.tracing import STEPS, step
from memtree_proxy.http.observers import watching
from memtree_proxy.server.app import create_app
from memtree_proxy.server.serve import open_services
from scripts import dashboard
from tests.programs.server import free_port

ROOT = Path(__file__).parent.parent.parent
DEPLOY = ROOT / "deploy"
DASHBOARD = json.loads((DEPLOY / "grafana" / "memtree.json").read_text("utf-8"))
ALERTS = yaml.safe_load((DEPLOY / "alerts.yml").read_text("utf-8"))
RULES = [rule for group in ALERTS["groups"] for rule in group["rules"]]
PANELS = [panel for panel in DASHBOARD["panels"] if panel["type"] != "row"]
QUERIES = [
    *(target["expr"] for panel in PANELS for target in panel["targets"]),
    *(rule["expr"] for rule in RULES),
]
GIVEN = {"job", "instance", "le"}  # by Prometheus itself, and by histograms
SUFFIXES = {
    "counter": ("_total",),
    "gauge": ("",),
    "histogram": ("_bucket", "_sum", "_count"),
    "summary": ("_sum", "_count"),
}
ROW = re.compile(r"^\| `(memtree_[a-z_]+)` \|([^|\n]*)\|([^|\n]+)\|$", re.MULTILINE)
DOCUMENTED = {
    name: set(re.findall(r"`([a-z_]+)`", labels))
    for name, labels, _ in ROW.findall((ROOT / "docs" / "observability.md").read_text("utf-8"))
}


class Page:
    """Content of `/metrics`. `types`: by the name that documents use; `samples`: all sample names;
    `labels`: those seen, by the same names."""

    def __init__(self, text: str) -> None:
        self.types: dict[str, str] = {}
        self.samples: dict[str, str] = {}
        self.labels: dict[str, set[str]] = {}
        self.values: dict[str, set[str]] = {}
        for family in text_string_to_metric_families(text):
            kind = family.type if family.type in SUFFIXES else "gauge"
            suffix = "_total" if kind == "counter" else ""
            name = family.name + suffix
            self.types[name] = kind
            for end in SUFFIXES[kind]:
                self.samples[name.removesuffix(suffix) + end] = name
            for sample in family.samples:
                self.labels.setdefault(name, set()).update(set(sample.labels) - {"le"})
                for label, value in sample.labels.items():
                    self.values.setdefault(f"{name} {label}", set()).add(value)


@pytest.fixture(scope="module")
def page() -> Page:
    """Return the page of a server as it is put together, with a model for summaries, behind some
    requests."""
    return asyncio.run(served())


async def served() -> Page:
    settings = Settings(
        store="memory:", embedder="none", upstream=f"http://127.0.0.1:{free_port()}/v1",
        summary_base_url=f"http://127.0.0.1:{free_port()}/v1", summary_model="m",
    )  # fmt: skip
    said = [
        {"role": ("user", "assistant")[at % 2], "content": f"line {at}. " * 99} for at in range(99)
    ]
    async with (
        open_runtime(settings, drain=0) as runtime,
        watching(settings) as watch,
        open_services(settings, runtime, watch) as services,
        httpx.AsyncClient(
            transport=httpx.ASGITransport(create_app(services)), base_url="http://edge"
        ) as client,
    ):
        logging.getLogger("memtree").warning("store.unavailable code=%s", "x")
        posted = {"messages": said, "target_tokens": 4_000, "mode": "stable"}
        await client.post("/context_memory", json=posted)
        await client.post("/context_memory", json={"messages": []})
        await client.post("/context_memory/delete", json={"all": True})
        await client.post("/chat/completions", json={"model": "m", "messages": said})
        return Page((await client.get("/metrics")).text)


def selectors(query: str) -> Iterator[Any]:
    """All that a query reads. Raises `ValueError` where it is no PromQL."""
    found: list[Any] = []

    def look(one: Any) -> None:
        if isinstance(one, promql_parser.MatrixSelector):
            found.append(one.vector_selector)
        elif isinstance(one, promql_parser.VectorSelector):
            found.append(one)

    promql_parser.walk(parsed(query), look)
    return iter(found)


def grouped(query: str) -> set[str]:
    """Labels by which a query groups or joins."""
    found: set[str] = set()

    def look(one: Any) -> None:
        if isinstance(one, promql_parser.AggregateExpr) and one.modifier:
            found.update(one.modifier.labels)

    promql_parser.walk(parsed(query), look)
    return found


def parsed(query: str) -> Any:
    return promql_parser.parse(query.replace(dashboard.RATE, "5m"))


# -- the page of the documents ------------------------------------------------------------------


def test_every_metric_is_documented_and_no_other(page: Page):
    ours = {name for name in page.types if name.startswith("memtree_")}
    assert ours - {"memtree_build_info"} == set(DOCUMENTED)
    assert "memtree_build_info" in ours


def test_labels_are_as_documented(page: Page):
    seen = {name: labels for name, labels in page.labels.items() if name in DOCUMENTED}
    assert len([name for name in seen if page.labels[name]]) >= 10
    assert seen == {name: DOCUMENTED[name] for name in seen}


def test_every_step_is_documented(page: Page):
    text = (ROOT / "docs" / "observability.md").read_text("utf-8")
    listed = text[text.index("\nSteps: ") : text.index("### What goes wrong")]
    assert set(re.findall(r"`([a-z_]+)`", listed)) == set(STEPS)
    assert page.values["memtree_step_seconds step"] <= set(STEPS)


def test_every_step_of_the_code_is_a_known_one():
    named: set[str] = set()
    for folder in ("memtree", "indexer", "proxy"):
        for path in (ROOT / folder).rglob("*.py"):
            if path.name != "steps.py":
                named |= set(
                    re.findall(r"\bstep(?:ped)?\(\"([a-z_]+)\"\)", path.read_text("utf-8"))
                )
    assert named == set(STEPS)
    with step("read"):  # nobody watches, and nothing happens
        pass


# -- queries ------------------------------------------------------------------------------------


@pytest.mark.parametrize("query", QUERIES)
def test_a_query_reads_what_there_is(query: str, page: Page):
    known = GIVEN | grouped_labels(query)
    for one in selectors(query):
        if one.name == "up":  # Prometheus' own
            continue
        assert one.name in page.samples, one.name
        labels = DOCUMENTED.get(page.samples[one.name], set())
        assert {matcher.name for matcher in one.matchers.matchers} <= labels | GIVEN
    assert grouped(query) <= known


def grouped_labels(query: str) -> set[str]:
    names = {one.name for one in selectors(query)}
    ours = {name.removesuffix(end): name for name in names for end in ("_bucket", "_sum", "_count")}
    return set().union(*(DOCUMENTED.get(one, set()) for one in {*names, *ours}))


@pytest.mark.parametrize("query", QUERIES)
def test_counters_are_read_as_rates_and_only_they(query: str, page: Page):
    text = query.replace(dashboard.RATE, "5m")
    for one in selectors(query):
        kind = page.types.get(page.samples.get(one.name, ""), "gauge")
        ranged = re.search(rf"{one.name}(\{{[^}}]*\}})?\[", text) is not None
        if one.name.startswith("process_"):
            ranged, kind = one.name.endswith("_total"), "gauge"
            assert (f"rate({one.name}" in text) is ranged
            continue
        assert ranged is (kind in ("counter", "histogram", "summary")), one.name


def test_every_metric_of_ours_is_on_the_dashboard(page: Page):
    """But for those that nobody looks at all day."""
    text = json.dumps(DASHBOARD)
    missing = {name for name in DOCUMENTED if name.removesuffix("_total") not in text}
    assert missing <= {
        name for name in DOCUMENTED
        if name.startswith("memtree_summary")
        or name in ("memtree_deletions_total", "memtree_recall_tokens_total",
                    "memtree_queue_up", "memtree_index_busy_seconds_total")
    }  # fmt: skip


# -- forms --------------------------------------------------------------------------------------


def test_the_dashboard_is_what_the_script_writes():
    assert (DEPLOY / "grafana" / "memtree.json").read_text("utf-8") == dashboard.text()


def test_the_dashboard_has_what_grafana_needs():
    assert {"uid", "title", "schemaVersion", "version", "panels", "templating", "time", "tags",
            "refresh", "annotations"} <= set(DASHBOARD)  # fmt: skip
    assert "id" not in DASHBOARD  # that of one Grafana
    assert len({panel["id"] for panel in DASHBOARD["panels"]}) == len(DASHBOARD["panels"])
    names = {one["name"] for one in DASHBOARD["templating"]["list"]}
    used = set(re.findall(r"\$\{?([a-z][a-z_]*)", json.dumps(DASHBOARD)))
    assert used - {"__rate_interval", "__all"} <= names
    for panel in DASHBOARD["panels"]:
        assert {"id", "type", "title", "gridPos"} <= set(panel)
        assert panel["type"] in ("row", "timeseries")
    for panel in PANELS:
        assert panel["datasource"] == {"type": "prometheus", "uid": "${datasource}"}
        assert panel["targets"]
        assert len({target["refId"] for target in panel["targets"]}) == len(panel["targets"])


def test_no_panel_lies_on_another():
    taken: set[tuple[int, int]] = set()
    for panel in DASHBOARD["panels"]:
        place = panel["gridPos"]
        assert place["x"] + place["w"] <= 24
        cells = {
            (place["x"] + x, place["y"] + y) for x in range(place["w"]) for y in range(place["h"])
        }
        assert not cells & taken
        taken |= cells


def test_legends_name_labels_that_are_left():
    for panel in PANELS:
        for target in panel["targets"]:
            named = set(re.findall(r"\{\{([a-z]+)\}\}", target["legendFormat"]))
            assert named <= grouped(target["expr"]), target


def test_rules_have_what_prometheus_needs():
    assert len({rule["alert"] for rule in RULES}) == len(RULES)
    for rule in RULES:
        assert set(rule) == {"alert", "expr", "for", "labels", "annotations"}
        assert re.fullmatch(r"\d+[mh]", rule["for"])
        assert rule["labels"]["severity"] in ("warning", "critical")
        named = set(re.findall(r"\$labels\.([a-z]+)", rule["annotations"]["summary"]))
        assert named <= grouped(rule["expr"]) | {"instance", "job"}


def test_the_example_for_prometheus():
    config = yaml.safe_load((DEPLOY / "prometheus.yml").read_text("utf-8"))
    assert config["rule_files"] == ["alerts.yml"]
    for job in config["scrape_configs"]:
        assert job["job_name"].startswith("memtree")
        for one in job["static_configs"]:
            assert all(re.fullmatch(r"[a-z0-9-]+:\d+", target) for target in one["targets"])
