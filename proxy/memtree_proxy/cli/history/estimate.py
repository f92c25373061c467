"""`memtree index FILE --estimate`: estimate the cost of summaries by a model before paying for
them.

No server is called and nothing is stored: the tree is built in memory, and the configured store is
only read, for summaries that it already has.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from rich.console import Console
from rich.table import Table

from memtree.background.runtime import open_runtime
from memtree.background.summarizing.spending import SummaryPrices
from memtree.config import Settings
from memtree.context.request import UNHURRIED, CompressRequest
from memtree.conversation.message import Message
from memtree.stores import open_store
from memtree.summaries.cost_estimate import BEGIN_SECONDS, TOKENS_A_SECOND, Estimate, estimate
from memtree.tree.btree import walk
from memtree.tree.node import Summary
from memtree.tree.work import NodeWork
from memtree_proxy.cli.drawing.console import open_console

FILE_STORE = "sqlite:///"


async def run(messages: tuple[Message, ...], tenant: str, settings: Settings) -> int:
    console = open_console()
    estimate = await estimated(messages, tenant, settings)
    show(console, estimate, settings)
    return 0


async def estimated(messages: tuple[Message, ...], tenant: str, settings: Settings) -> Estimate:
    """Return the estimate for a tenant's history."""
    alone = without_models(replace(settings, store="memory:"))
    async with open_runtime(alone, drain=0) as runtime:
        ask = CompressRequest(tenant, messages, patience=UNHURRIED)
        posted, frontier, nodes = await runtime.memory.outline(ask)
    later = await _stored(settings.store, tenant, list(nodes))
    placed = walk(frontier.nodes, nodes)
    lacking = [NodeWork(node, place) for node, place in placed if node.id not in later]
    return await asyncio.to_thread(estimate, posted, nodes, lacking, later, settings.summary_leaves)


def without_models(settings: Settings) -> Settings:
    """Return the settings for a process that calls no server."""
    return replace(settings, embedder="none", summary_model=None, summary_base_url=None)


async def _stored(url: str, tenant: str, ids: Sequence[bytes]) -> Mapping[bytes, Summary]:
    """Return the model's summaries in the store. A store that does not exist is not created."""
    if not ids or not await asyncio.to_thread(_is_there, url):
        return {}
    store = await asyncio.to_thread(open_store, url)
    try:
        newest = await store.newest_summaries(tenant, ids)
        return {id_: summary for id_, summary in newest.items() if summary.version > 0}
    finally:
        await store.close()


def _is_there(url: str) -> bool:
    return not url.startswith(FILE_STORE) or Path(url.removeprefix(FILE_STORE)).exists()


def show(console: Console, estimate: Estimate, settings: Settings) -> None:
    if not estimate.calls:
        have = f"; all {estimate.done:,} parts have one" if estimate.done else " yet"
        console.print(f"{estimate.history:,} tokens: there is nothing to summarise{have}")
        return
    table = Table(box=None, header_style="dim", pad_edge=False)
    for name in ("level", "summaries", "input", "output", "at most"):
        table.add_column(name, justify="right")
    for row in estimate.levels():
        table.add_row(
            str(row.level), *(f"{n:,}" for n in (row.nodes, row.input, row.expected, row.most))
        )
    console.print(table)
    for line in lines(estimate, settings):
        console.print(line, soft_wrap=True)


def lines(estimate: Estimate, settings: Settings) -> list[str]:
    """Return lines of text with the facts that are missing from the table."""
    read = estimate.constant + estimate.input
    done = f"; {estimate.done:,} summaries are there already" if estimate.done else ""
    return [
        f"calls    {estimate.calls:,} with up to {settings.summary_leaves} parts each{done}",
        f"input    {read:,} tokens: "
        f"{estimate.input:,} of the history ({_per(estimate.input, estimate)}), "
        f"{estimate.constant:,} of instructions ({_per(estimate.constant, estimate)})",
        f"output   {estimate.expected:,} tokens expected ({_per(estimate.expected, estimate)}), "
        f"{estimate.most:,} at the caps ({_per(estimate.most, estimate)}); reasoning comes on top",
        f"money    {_money(estimate, settings)}",
        f"time     about {_time(estimate, settings)}",
        "What the check rejects is asked for once more, which is not counted here.",
    ]


def _per(amount: int, estimate: Estimate) -> str:
    return f"{amount / max(1, estimate.history):.2f} a token"


def _money(estimate: Estimate, settings: Settings) -> str:
    prices = SummaryPrices.of(settings)
    if not (prices.input or prices.output):
        return "no price set (summary_input_price, summary_output_price)"
    expected = estimate.money(prices.input, prices.output)
    most = estimate.money(prices.input, prices.output, most=True)
    return f"{expected:.4f} expected, {most:.4f} at the caps, with nothing from a prompt cache"


def _time(estimate: Estimate, settings: Settings) -> str:
    seconds = estimate.seconds(
        settings.summary_parallel,
        settings.summary_requests_per_minute,
        settings.summary_tokens_per_minute,
    )
    minutes, rest = divmod(round(seconds), 60)
    return (
        f"{minutes} min {rest} s with {settings.summary_parallel} calls at once, if a call takes "
        f"{BEGIN_SECONDS:.0f} s and a second more for every {TOKENS_A_SECOND:.0f} tokens of output"
    )
