"""`memtree report`: the cost of summaries by a model, by tenant, from the tallies in the store."""

from __future__ import annotations

import argparse
import asyncio
import json
import sys
import time
from collections.abc import Iterable, Mapping
from typing import Any

from rich.console import Console
from rich.table import Table

from memtree.background.summarizing.spending import MILLION, PREFIX
from memtree.config import Settings
from memtree.days import day_of
from memtree.errors import BadRequest
from memtree.ports.store import TALLY_DAYS, KeyRow
from memtree.stores import open_store
from memtree_proxy.cli.console import open_console
from memtree_proxy.cli.foreign_text import one_line

SHOWN = 10  # characters shown of a tenant, which is a hash
SUMMARY = ("calls", "input_tokens", "cached_tokens", "output_tokens", "nodes", "rejected")


async def run(options: argparse.Namespace, settings: Settings) -> int:
    """Print a table, or JSON. Returns exit code 1 for a tenant without tallies."""
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
    """Return the tenants with summaries; others have usage alone (`GET /v1/usage`)."""
    return {
        tenant: sums
        for tenant, sums in tallied.items()
        if any(name.startswith(PREFIX) for name in sums)
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
    return {
        "tenant": tenant,
        "labels": labels.get(tenant, ""),
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
    if not amounts_of:
        console.print(f"Nothing was summarised by a model in {over}.")
        return
    table = Table(title=f"Summaries by a model, {over}", title_justify="left")
    table.add_column("tenant", overflow="fold")
    for head in ("calls", "input", "cached", "output", "nodes", "rejected", "money"):
        table.add_column(head, justify="right")
    for tenant, amounts in amounts_of.items():
        counts = [f"{amounts.get(f'summary.{name}', 0):,}" for name in SUMMARY]
        money = amounts.get("summary.micros", 0) / MILLION
        table.add_row(_named(tenant, labels), *counts, f"{money:,.4f}")
    console.print(table)


def _named(tenant: str, labels: Mapping[str, str]) -> str:
    label = labels.get(tenant)
    return f"{tenant[:SHOWN]} {one_line(label)}" if label else tenant[:SHOWN]
