"""Write deploy/grafana/memtree.json anew: `python scripts/dashboard.py`.

A dashboard is a page of JSON of which a dozen lines are said by somebody; these stand here. Numbers
that every proxy tells of one queue are not added up (`max`), those that each has of its own are.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any, NamedTuple

PATH = Path(__file__).parent.parent / "deploy" / "grafana" / "memtree.json"
SCHEMA = 39  # of Grafana 10 and 11; later ones read it
WIDTH, PANEL, HEIGHT = 24, 8, 8
PROMETHEUS = {"type": "prometheus", "uid": "${datasource}"}
OURS = 'job=~"$job",instance=~"$instance"'
RATE = "$__rate_interval"


class Panel(NamedTuple):
    """`queries`: legend and PromQL. `unit`: as Grafana names it."""

    title: str
    unit: str
    queries: dict[str, str]
    about: str = ""
    stacked: bool = False


def rate(metric: str, *labels: str, where: str = "") -> str:
    by = f" by ({', '.join(labels)})" if labels else ""
    return f"sum{by} (rate({metric}{{{OURS}{where}}}[{RATE}]))"


def share(metric: str, which: str) -> str:
    return f"{rate(metric, where=f',{which}')} / {rate(metric)}"


def quantile(part: float, metric: str, *labels: str, where: str = "") -> str:
    return f"histogram_quantile({part}, {rate(f'{metric}_bucket', 'le', *labels, where=where)})"


def gauge(metric: str, *labels: str, how: str = "max") -> str:
    by = f" by ({', '.join(labels)})" if labels else ""
    return f"{how}{by} ({metric}{{{OURS}}})"


def quantiles(metric: str, where: str = "") -> dict[str, str]:
    return {f"p{part * 100:g}": quantile(part, metric, where=where) for part in (0.5, 0.9, 0.99)}


ROWS = {
    "What it is worth": [
        Panel(
            "Tokens posted and sent",
            "short",
            {"posted": rate("memtree_raw_tokens_total"), "sent": rate("memtree_sent_tokens_total")},
            "Tokens a second that clients posted, and those that were sent in their place.",
        ),
        Panel(
            "Share of tokens that is sent",
            "percentunit",
            {"sent": f"{rate('memtree_sent_tokens_total')} / {rate('memtree_raw_tokens_total')}"},
        ),
        Panel(
            "Balance of folding",
            "short",
            {
                "saved less lost": f"{rate('memtree_folding_saved_tokens_total')} - "
                f"{rate('memtree_folding_lost_tokens_total')}"
            },
            "Input cost saved a second, in uncached input tokens at the prices in effect.",
        ),
        Panel(
            "Answers by state",
            "reqps",
            {"{{state}}": rate("memtree_answers_total", "state")},
            stacked=True,
        ),
        Panel(
            "Answers that went whole, by reason",
            "reqps",
            {"{{reason}}": rate("memtree_answers_total", "reason", where=',state="passed"')},
            "cheaper-whole: folding would cost more so far.",
            stacked=True,
        ),
        Panel(
            "Answers that go on with an epoch",
            "percentunit",
            {"continued": share("memtree_epoch_answers_total", 'kind="continued"')},
            "Only what goes on is cached by the provider.",
        ),
        Panel(
            "Tokens that stay as they were sent before",
            "percentunit",
            {"stays": share("memtree_prefix_tokens_total", 'kind="stays"')},
        ),
    ],
    "How quick it is": [
        Panel("Added by memory", "s", quantiles("memtree_added_seconds")),
        Panel(
            "Steps, p90",
            "s",
            {"{{step}}": quantile(0.9, "memtree_step_seconds", "step")},
            "Parts of what memory adds.",
        ),
        Panel("Upstream, to the head of its answer", "s", quantiles("memtree_upstream_seconds")),
        Panel(
            "Whole requests, p90",
            "s",
            {"{{route}}": quantile(0.9, "memtree_request_seconds", "route")},
        ),
        Panel("Event loop, how late", "s", quantiles("memtree_loop_lag_seconds")),
        Panel(
            "Caches of posted conversations",
            "bytes",
            {"{{cache}}": gauge("memtree_cache_bytes", "cache", how="sum")},
            "What they hold, estimated. The setting cache_mb bounds all of them together.",
            stacked=True,
        ),
        Panel(
            "Under way and waiting",
            "short",
            {
                "under way": gauge("memtree_requests_in_flight", how="sum"),
                "waiting for their tree": gauge("memtree_requests_waiting", how="sum"),
                "waits a second": rate("memtree_step_seconds_count", where=',step="wait"'),
            },
        ),
    ],
    "What goes wrong": [
        Panel(
            "Requests by status",
            "reqps",
            {"{{status}}": rate("memtree_requests_total", "status")},
            stacked=True,
        ),
        Panel("Refusals by code", "reqps", {"{{code}}": rate("memtree_refusals_total", "code")}),
        Panel(
            "Upstream by status",
            "reqps",
            {"{{status}}": rate("memtree_upstream_answers_total", "status")},
            stacked=True,
        ),
        Panel(
            "Degraded answers",
            "reqps",
            {"{{state}}": rate("memtree_answers_total", "state", where=',state=~"degraded:.*"')},
        ),
        Panel(
            "Failures by step",
            "reqps",
            {
                "{{step}}": rate("memtree_step_failures_total", "step"),
                "behind: {{work}}": rate("memtree_background_failures_total", "work"),
                "injection: {{cause}}": rate("memtree_injections_degraded_total", "cause"),
            },
        ),
        Panel("Warnings by event", "short", {"{{event}}": rate("memtree_warnings_total", "event")}),
        Panel(
            "Sent again: too long, thinking refused, recall tools",
            "reqps",
            {
                "packed again": rate("memtree_overflows_total"),
                "without thinking": rate("memtree_thinking_replays_total"),
                "recall rounds": rate("memtree_recall_rounds_total"),
                "injected memories": rate("memtree_injected_memories_total"),
            },
        ),
    ],
    "Indexing": [
        Panel(
            "Index lag",
            "s",
            {"stage {{stage}}": gauge("memtree_index_lag_seconds", "stage")},
            "Age of the job that waits longest.",
        ),
        Panel(
            "Waiting tokens", "short", {"stage {{stage}}": gauge("memtree_queue_tokens", "stage")}
        ),
        Panel("Waiting jobs", "short", {"stage {{stage}}": gauge("memtree_queue_jobs", "stage")}),
        Panel(
            "Indexed tokens a minute",
            "short",
            {"stage {{stage}}": f"60 * {rate('memtree_indexed_tokens_total', 'stage')}"},
        ),
        Panel(
            "Pieces of work by outcome",
            "ops",
            {
                "{{stage}} {{outcome}}": rate("memtree_index_batches_total", "stage", "outcome"),
                "embedder {{outcome}}": rate("memtree_embedder_batches_total", "outcome"),
            },
        ),
        Panel(
            "Work in the background, p90",
            "s",
            {"{{work}}": quantile(0.9, "memtree_background_seconds", "work")},
        ),
    ],
    "Summaries by a model": [
        Panel(
            "Cost an hour",
            "short",
            {"money": f"3600 * {rate('memtree_summary_money_total')}"},
            "At the prices that are set.",
        ),
        Panel(
            "Calls by outcome",
            "ops",
            {"{{outcome}}": rate("memtree_summary_calls_total", "outcome")},
        ),
        Panel(
            "Seconds a call",
            "s",
            {
                "mean": f"{rate('memtree_summary_call_seconds_sum')} / "
                f"{rate('memtree_summary_call_seconds_count')}"
            },
        ),
        Panel("Tokens", "short", {"{{kind}}": rate("memtree_summary_tokens_total", "kind")}),
        Panel(
            "Rejected summaries",
            "short",
            {"{{problem}}": rate("memtree_summary_rejected_total", "problem")},
        ),
        Panel(
            "Waiting nodes", "short", {"nodes": gauge("memtree_summary_pending_nodes", how="sum")}
        ),
    ],
    "Memories out of conversations": [
        Panel(
            "Read and stored",
            "short",
            {
                "messages": rate("memtree_extraction_messages_total"),
                "{{kind}}": rate("memtree_extraction_memories_total", "kind"),
            },
        ),
        Panel(
            "Sentences that are no memory",
            "short",
            {"{{reason}}": rate("memtree_extraction_skipped_total", "reason")},
            stacked=True,
        ),
        Panel(
            "Waiting conversations",
            "short",
            {
                "jobs": gauge("memtree_extraction_queue_jobs", how="sum"),
                "dropped: {{reason}}": rate("memtree_extraction_jobs_dropped_total", "reason"),
                "rows of the log dropped": rate("memtree_requests_dropped_total"),
            },
        ),
        Panel(
            "Waiting bytes",
            "bytes",
            {"bytes": gauge("memtree_extraction_queue_bytes", how="sum")},
        ),
        Panel(
            "Seconds a conversation",
            "s",
            {
                "mean": f"{rate('memtree_extraction_seconds_sum')} / "
                f"{rate('memtree_extraction_seconds_count')}"
            },
        ),
        Panel(
            "The model",
            "short",
            {
                "{{outcome}}": rate("memtree_extraction_model_calls_total", "outcome"),
                "{{kind}} tokens": rate("memtree_extraction_model_tokens_total", "kind"),
            },
            "Where a model finds memories, and no rules.",
        ),
    ],
    "Processes": [
        Panel(
            "Processor",
            "percentunit",
            {"{{instance}}": rate("process_cpu_seconds_total", "instance")},
            "1 is one core.",
        ),
        Panel(
            "Memory",
            "bytes",
            {"{{instance}}": gauge("process_resident_memory_bytes", "instance")},
        ),
        Panel(
            "Open files",
            "percentunit",
            {
                "{{instance}}": f"{gauge('process_open_fds', 'instance')} / "
                f"{gauge('process_max_fds', 'instance')}"
            },
        ),
    ],
}


def dashboard() -> dict[str, Any]:
    return {
        "uid": "memtree",
        "title": "MemTree",
        "tags": ["memtree"],
        "schemaVersion": SCHEMA,
        "version": 1,
        "editable": True,
        "graphTooltip": 1,
        "timezone": "browser",
        "refresh": "30s",
        "time": {"from": "now-6h", "to": "now"},
        "annotations": {"list": []},
        "links": [],
        "templating": {"list": [_datasource(), _variable("job"), _variable("instance")]},
        "panels": _panels(),
    }


def _panels() -> list[dict[str, Any]]:
    made: list[dict[str, Any]] = []
    y = 0
    for title, panels in ROWS.items():
        made.append(_row(len(made) + 1, title, y))
        y += 1
        for at, panel in enumerate(panels):
            x, below = at * PANEL % WIDTH, at * PANEL // WIDTH
            made.append(_panel(len(made) + 1, panel, x, y + below * HEIGHT))
        y += -(-len(panels) * PANEL // WIDTH) * HEIGHT
    return made


def _row(id_: int, title: str, y: int) -> dict[str, Any]:
    place = {"x": 0, "y": y, "w": WIDTH, "h": 1}
    return {"id": id_, "type": "row", "title": title, "collapsed": False, "gridPos": place,
            "panels": []}  # fmt: skip


def _panel(id_: int, panel: Panel, x: int, y: int) -> dict[str, Any]:
    targets = [
        {"refId": chr(ord("A") + at), "datasource": PROMETHEUS, "expr": query, "legendFormat": name,
         "range": True}
        for at, (name, query) in enumerate(panel.queries.items())
    ]  # fmt: skip
    custom = {
        "lineWidth": 1,
        "fillOpacity": 20 if panel.stacked else 5,
        "showPoints": "never",
        "stacking": {"mode": "normal" if panel.stacked else "none", "group": "A"},
    }
    return {
        "id": id_,
        "type": "timeseries",
        "title": panel.title,
        "description": panel.about,
        "datasource": PROMETHEUS,
        "gridPos": {"x": x, "y": y, "w": PANEL, "h": HEIGHT},
        "fieldConfig": {
            "defaults": {"unit": panel.unit, "min": None, "custom": custom},
            "overrides": [],
        },
        "options": {
            "legend": {"displayMode": "list", "placement": "bottom", "showLegend": True},
            "tooltip": {"mode": "multi", "sort": "desc"},
        },
        "targets": targets,
    }


def _datasource() -> dict[str, Any]:
    return {"name": "datasource", "label": "Data source", "type": "datasource",
            "query": "prometheus", "current": {}, "hide": 0}  # fmt: skip


def _variable(label: str) -> dict[str, Any]:
    return {
        "name": label,
        "label": label.capitalize(),
        "type": "query",
        "datasource": PROMETHEUS,
        "query": {
            "query": f"label_values(memtree_build_info, {label})",
            "refId": f"memtree-{label}",
        },
        "refresh": 2,
        "includeAll": True,
        "multi": True,
        "allValue": ".*",
        "current": {"text": "All", "value": "$__all"},
        "hide": 0,
    }


def text() -> str:
    return json.dumps(dashboard(), indent=1) + "\n"


if __name__ == "__main__":
    PATH.write_text(text(), "utf-8")
    sys.stdout.write(f"{PATH}\n")
