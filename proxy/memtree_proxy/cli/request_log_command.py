"""`memtree requests`: show the log of requests in the terminal, once or continuously.

The rows are read from the store and not from a server, so they show the requests to every server of
that store.
"""

from __future__ import annotations

import argparse
import asyncio
import sys
import time
from collections.abc import Awaitable, Callable, Sequence
from datetime import datetime
from typing import NamedTuple

from rich.box import SIMPLE_HEAD
from rich.live import Live
from rich.table import Table
from rich.text import Text

from memtree.config import Settings
from memtree.errors import BadRequest
from memtree.ports.request_log import RequestFilter, RequestRow, RequestTotals
from memtree.stores import Opened, open_memories
from memtree_proxy.cli.foreign_text import json_line, one_line
from memtree_proxy.cli.key_commands import named_tenant, opened
from memtree_proxy.cli.terminal_drawing import open_console
from memtree_proxy.http.request_rows import wrap_run
from memtree_proxy.wire.conversation_bodies import shown_request

MAX_ROWS = 10_000
PACE = 1.0  # seconds between two reads of the store: as often as a server writes
FRAME = 6  # lines of a terminal that are not rows
HEADS = (
    *("time", "client", "model", "state", "posted", "sent", "cached", "answer", "saved", "ms"),
    "title",
)
NUMBERS = frozenset(HEADS[4:10])
# least columns of a terminal that shows this field
FROM = {"model": 100, "title": 100, "cached": 120, "answer": 120}


class TitledRow(NamedTuple):
    row: RequestRow
    title: str


class Shown(NamedTuple):
    """Rows to show. `rows`: the newest first; `last`: the greatest row number in the store."""

    rows: list[TitledRow]
    totals: RequestTotals
    last: int


async def run(options: argparse.Namespace, settings: Settings) -> int:
    """Show the log. Returns exit code 1 if it is empty and the command does not wait for rows."""
    if not 1 <= options.limit <= MAX_ROWS:
        raise BadRequest(f"--limit must be from 1 to {MAX_ROWS:,}", param="limit")
    if options.wrap and not wrap_run(options.wrap):
        raise BadRequest("--wrap must be the id of a run of memtree wrap", param="wrap")
    where = RequestFilter(wrap_run=options.wrap)
    async with opened(settings.store) as store:

        async def read() -> Shown:
            return await read_log(store, await _tenants(store, options), where, options.limit)

        if options.follow:
            await _follow(read, options.json)
            return 0
        shown = await read()
    if options.json:
        _print_json(shown.rows)
    elif shown.rows:
        console = open_console()
        console.print(_table(shown.rows, shown.totals, console.width))
    else:
        of = " of this run" if options.wrap else ""
        whose = " of this tenant" if options.tenant else ""
        print(f"no requests{whose}{of} are in the log of this store")
    return 0 if shown.rows else 1


async def _tenants(store: Opened, options: argparse.Namespace) -> list[str]:
    """Return the tenants that the options name. Raises `BadRequest` for an unknown name."""
    known = await store.logged_tenants()
    if options.tenant in known:
        return [options.tenant]
    if options.tenant:
        return [await named_tenant(store, open_memories(store), options.tenant)]
    return known


async def read_log(
    store: Opened, tenants: Sequence[str], where: RequestFilter, limit: int
) -> Shown:
    """Return the newest rows of these tenants, and the sums of all rows that the filter matches."""
    last = await store.last_request()
    titled: list[TitledRow] = []
    sums = RequestTotals()
    for tenant in tenants:
        rows = await store.requests(tenant, limit, where)
        titles = await store.titles(tenant, [row.address for row in rows if row.address])
        titled += (TitledRow(row, titles.get(row.address, "")) for row in rows)
        totals = await store.request_totals(tenant, where)
        sums = RequestTotals(*map(sum, zip(sums, totals, strict=True)))
    titled.sort(key=lambda each: (each.row.time, each.row.number), reverse=True)
    return Shown(titled[:limit], sums, last)


async def _follow(read: Callable[[], Awaitable[Shown]], as_json: bool) -> None:
    """Show rows until interrupted: in a terminal a table that is redrawn, elsewhere lines."""
    console = open_console()
    shown = await read()
    if as_json or not console.is_terminal:
        seen = 0
        while True:
            new = [each for each in reversed(shown.rows) if each.row.number > seen]
            if as_json:
                _print_json(new)
            else:
                for each in new:
                    print("  ".join(cell for cell in _cells(each) if cell), flush=True)
            seen, shown = shown.last, await _next(read)
    with Live(console=console, auto_refresh=False) as live:
        while True:
            rows = shown.rows[: max(1, console.height - FRAME)]
            live.update(_table(rows, shown.totals, console.width), refresh=True)
            shown = await _next(read)


async def _next(read: Callable[[], Awaitable[Shown]]) -> Shown:
    await asyncio.sleep(PACE)
    return await read()


def _print_json(rows: Sequence[TitledRow]) -> None:
    for row, title in rows:
        sys.stdout.write(json_line(shown_request(row, {row.address: title})) + "\n")
    sys.stdout.flush()


def _table(rows: Sequence[TitledRow], totals: RequestTotals, width: int) -> Table:
    """Draw a table with one line for each row: words are cut before numbers, and some columns need
    a wide terminal."""
    heads = [head for head in HEADS if width >= FROM.get(head, 0)]
    table = Table(
        box=SIMPLE_HEAD,
        caption=f"{totals.requests:,} requests, {totals.folded:,} folded (older messages sent as "
        f"summaries and excerpts); memory got {totals.posted_tokens:,} tokens, sent "
        f"{totals.sent_tokens:,}, saved {totals.saved_tokens:,} (uncached input tokens)",
        caption_justify="left",
    )
    for head in heads:
        right = head in NUMBERS
        table.add_column(head, justify="right" if right else "left", no_wrap=right, min_width=4)
    for each in rows:
        cells = dict(zip(HEADS, _cells(each), strict=True))
        table.add_row(*(Text(cells[head], no_wrap=True, overflow="ellipsis") for head in heads))
    return table


def _cells(each: TitledRow) -> tuple[str, ...]:
    row = each.row
    at = datetime.fromtimestamp(row.time).astimezone()
    today = at.date() == datetime.fromtimestamp(time.time()).astimezone().date()
    state = f"{row.state or '-'} {row.reason}".strip()
    if row.status >= 400:
        state = f"{state} ({row.status} {row.error_type})".replace(" )", ")")
    numbers = (row.posted_tokens, row.sent_tokens, row.cached_tokens, row.output_tokens)
    return (
        at.strftime("%H:%M:%S" if today else "%m-%d %H:%M"),
        row.client,
        one_line(row.model, 30),
        state,
        *("" if number < 0 else f"{number:,}" for number in numbers),
        f"{row.saved_tokens:,}" if row.epoch or row.saved_tokens else "",
        f"{row.total_ms:,}",
        one_line(each.title, 60),
    )
