"""`memtree report`: shadow mode's measurements and the cost of summaries, by tenant, from the
store.

Nothing is measured here: `shadowing` and stage 3 write the tallies.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import sys
import time
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from rich.console import Console
from rich.table import Table

from memtree.background.summarizing.spending import MILLION
from memtree.config import Settings
from memtree.days import day_of
from memtree.errors import BadRequest
from memtree.ports.store import TALLY_DAYS, KeyRow
from memtree.shadow.probes import KINDS
from memtree.shadow.usage import RECALLED, USED
from memtree.stores import open_store
from memtree_proxy.cli.drawing.console import open_console
from memtree_proxy.cli.drawing.foreign_text import one_line

SHOWN = 10  # characters shown of a tenant, which is a hash
SCORES = (*KINDS, USED, RECALLED)
SUMMARY = ("calls", "input_tokens", "cached_tokens", "output_tokens", "nodes", "rejected")
HEADS = {
    "value": "values", "identifier": "ids", "path": "paths", "name": "names",
    "rule": "rules", USED: "used", RECALLED: "recalled",
}  # fmt: skip
NOTE = (
    "kept: of what the folded messages held (ids: identifiers, options, error names; rules: the "
    "user's standing ones), the share that would still have been in sight. "
    "used: the same of what the model's next answer took from the history; recalled: of that, "
    "what no recent message held."
)


async def run(options: argparse.Namespace, settings: Settings) -> int:
    """Print tables, or JSON. Returns exit code 1 for a tenant without tallies."""
    if not 1 <= options.days <= TALLY_DAYS:
        raise BadRequest(f"--days must be from 1 to {TALLY_DAYS}", param="days")
    today = day_of(time.time())
    first = today - options.days + 1
    store = await asyncio.to_thread(open_store, settings.store)
    try:
        tallied = reported(await store.tallied(first, today))
        labels = labelled(await store.list_keys())
    finally:
        await store.close()
    amounts_of = chosen(tallied, labels, options.tenant)
    if options.json:
        shown = [as_json(tenant, labels, amounts_of[tenant]) for tenant in amounts_of]
        sys.stdout.write(json.dumps({"days": options.days, "tenants": shown}, indent=1) + "\n")
    else:
        show(open_console(), options.days, amounts_of, labels)
    return 1 if options.tenant and not amounts_of else 0


def reported(tallied: Mapping[str, Mapping[str, int]]) -> dict[str, Mapping[str, int]]:
    """Return the tenants with measurements or summaries; others have usage alone (`GET
    /v1/usage`)."""
    return {
        tenant: sums
        for tenant, sums in tallied.items()
        if any(name.startswith(("shadow.", "summary.")) for name in sums)
    }


def labelled(keys: Iterable[KeyRow]) -> dict[str, str]:
    """Return the labels of each tenant's access keys."""
    names: dict[str, list[str]] = {}
    for key in keys:
        names.setdefault(key.tenant, []).append(key.label)
    return {tenant: ", ".join(labels) for tenant, labels in names.items()}


def chosen(
    tallied: Mapping[str, Mapping[str, int]], labels: Mapping[str, str], wanted: str | None
) -> dict[str, Mapping[str, int]]:
    """Return all tenants, or those whose hash has this prefix or whose key has this label;
    sorted."""
    return {
        tenant: tallied[tenant]
        for tenant in sorted(tallied)
        if wanted is None
        or tenant.startswith(wanted)
        or wanted in labels.get(tenant, "").split(", ")
    }


def as_json(tenant: str, labels: Mapping[str, str], amounts: Mapping[str, int]) -> dict[str, Any]:
    def counts(name: str) -> dict[str, Any]:
        probes, kept = _score(amounts, name)
        return {"probes": probes, "kept": kept, "share": kept / probes if probes else None}

    names = ("requests", "folded", "raw_tokens", "sent_tokens")
    return {
        "tenant": tenant,
        "labels": labels.get(tenant, ""),
        "shadow": {
            **{name: amounts.get(f"shadow.{name}", 0) for name in names},
            **{name: counts(name) for name in SCORES},
        },
        "summaries": {
            **{name: amounts.get(f"summary.{name}", 0) for name in SUMMARY},
            "money": amounts.get("summary.micros", 0) / MILLION,
        },
    }


def show(
    console: Console,
    days: int,
    amounts_of: Mapping[str, Mapping[str, int]],
    labels: Mapping[str, str],
) -> None:
    over = f"the last {days} days" if days > 1 else "today (UTC)"
    tables = [
        draw(over, amounts_of, labels) for draw in (_tokens_table, _kept_table, _summary_table)
    ]
    shown = [table for table in tables if table.row_count]
    for table in shown:
        console.print(table)
    if tables[1].row_count:
        console.print(NOTE, style="dim")
    if not shown:
        console.print(
            f"Nothing was measured or summarised in {over}. Chats are measured with the header "
            "`x-memtree-mode: shadow` or the setting `--mode shadow`."
        )


def _tokens_table(
    over: str, amounts_of: Mapping[str, Mapping[str, int]], labels: Mapping[str, str]
) -> Table:
    heads = ["requests", "folded", "tokens of these", "compressed"]
    table = _table(f"Shadow mode, {over}", heads)
    for tenant, amounts in amounts_of.items():
        if not amounts.get("shadow.requests"):
            continue
        raw, sent = (amounts.get(f"shadow.{name}_tokens", 0) for name in ("raw", "sent"))
        table.add_row(
            _named(tenant, labels),
            f"{amounts['shadow.requests']:,}",
            f"{amounts.get('shadow.folded', 0):,}",
            f"{raw:,}",
            f"{sent:,} ({sent / raw:.0%})" if raw else "-",
        )
    return table


def _kept_table(
    over: str, amounts_of: Mapping[str, Mapping[str, int]], labels: Mapping[str, str]
) -> Table:
    table = _table("Shadow mode: share kept", [HEADS[name] for name in SCORES])
    for tenant, amounts in amounts_of.items():
        scores = [_score(amounts, name) for name in SCORES]
        if any(probes for probes, _ in scores):
            table.add_row(_named(tenant, labels), *(_share(*score) for score in scores))
    return table


def _summary_table(
    over: str, amounts_of: Mapping[str, Mapping[str, int]], labels: Mapping[str, str]
) -> Table:
    heads = ["calls", "input", "cached", "output", "nodes", "rejected", "money"]
    table = _table(f"Summaries by a model, {over}", heads)
    for tenant, amounts in amounts_of.items():
        counts = [amounts.get(f"summary.{name}", 0) for name in SUMMARY]
        if any(counts):
            money = amounts.get("summary.micros", 0) / MILLION
            table.add_row(
                _named(tenant, labels), *(f"{count:,}" for count in counts), f"{money:,.4f}"
            )
    return table


def _table(title: str, heads: Sequence[str]) -> Table:
    table = Table(title=title, title_justify="left")
    table.add_column("tenant", overflow="fold")
    for head in heads:
        table.add_column(head, justify="right")
    return table


def _named(tenant: str, labels: Mapping[str, str]) -> str:
    label = labels.get(tenant)
    return f"{tenant[:SHOWN]} {one_line(label)}" if label else tenant[:SHOWN]


def _score(amounts: Mapping[str, int], name: str) -> tuple[int, int]:
    return amounts.get(f"shadow.{name}.probes", 0), amounts.get(f"shadow.{name}.kept", 0)


def _share(probes: int, kept: int) -> str:
    return f"{kept / probes:.0%}" if probes else "-"
