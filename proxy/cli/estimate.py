"""`memtree index FILE --estimate`: what summaries by a model would cost, before it is spent.

No server is asked and nothing is stored: the tree is built in memory, and the configured store is
only read, for the summaries that it has already.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from rich.console import Console
from rich.table import Table

from indexer.runtime import open_runtime
from indexer.summarizing.spending import SummaryPrices
from memtree.config import Settings
from memtree.context.request import UNHURRIED, CompressRequest
from memtree.conversation.message import Message
from memtree.stores import open_store
from memtree.summaries.cost_estimate import BEGIN_SECONDS, TOKENS_A_SECOND, Estimate, estimate
from memtree.tree.btree import walk
from memtree.tree.node import Summary
from memtree.tree.work import NodeWork

FILE_STORE = "sqlite:///"


async def run(messages: tuple[Message, ...], tenant: str, settings: Settings) -> int:
    console = Console()
    found = await estimated(messages, tenant, settings)
    show(console, found, settings)
    return 0


async def estimated(messages: tuple[Message, ...], tenant: str, settings: Settings) -> Estimate:
    """The estimate for this history of this tenant."""
    alone = without_models(replace(settings, store="memory:"))
    async with open_runtime(alone, drain=0) as runtime:
        ask = CompressRequest(tenant, messages, patience=UNHURRIED)
        posted, frontier, nodes = await runtime.memory.outline(ask)
    later = await _stored(settings.store, tenant, list(nodes))
    placed = walk(frontier.nodes, nodes)
    lacking = [NodeWork(node, place) for node, place in placed if node.id not in later]
    return await asyncio.to_thread(estimate, posted, nodes, lacking, later, settings.summary_leaves)


def without_models(settings: Settings) -> Settings:
    """The same settings for a process that asks no server."""
    return replace(settings, embedder="none", summary_model=None, summary_base_url=None)


async def _stored(url: str, tenant: str, ids: Sequence[bytes]) -> Mapping[bytes, Summary]:
    """Later summaries that the store has. One that is not there is not made."""
    if not ids or not await asyncio.to_thread(_is_there, url):
        return {}
    store = await asyncio.to_thread(open_store, url)
    try:
        return await store.newest_summaries(tenant, ids)
    finally:
        await store.close()


def _is_there(url: str) -> bool:
    return not url.startswith(FILE_STORE) or Path(url.removeprefix(FILE_STORE)).exists()


def show(console: Console, found: Estimate, settings: Settings) -> None:
    if not found.calls:
        have = f"; all {found.done:,} parts have one" if found.done else " yet"
        console.print(f"{found.history:,} tokens: there is nothing to summarise{have}")
        return
    table = Table(box=None, header_style="dim", pad_edge=False)
    for name in ("level", "summaries", "input", "output", "at most"):
        table.add_column(name, justify="right")
    for one in found.levels():
        table.add_row(
            str(one.level), *(f"{n:,}" for n in (one.nodes, one.input, one.expected, one.most))
        )
    console.print(table)
    for line in lines(found, settings):
        console.print(line, soft_wrap=True)


def lines(found: Estimate, settings: Settings) -> list[str]:
    """What the table does not say."""
    read = found.constant + found.input
    done = f"; {found.done:,} summaries are there already" if found.done else ""
    return [
        f"calls    {found.calls:,} with up to {settings.summary_leaves} parts each{done}",
        f"input    {read:,} tokens: {found.input:,} of the history ({_per(found.input, found)}), "
        f"{found.constant:,} of instructions ({_per(found.constant, found)})",
        f"output   {found.expected:,} tokens expected ({_per(found.expected, found)}), "
        f"{found.most:,} at the caps ({_per(found.most, found)}); reasoning comes on top",
        f"money    {_money(found, settings)}",
        f"time     about {_time(found, settings)}",
        "What the check rejects is asked for once more, which is not counted here.",
    ]


def _per(amount: int, found: Estimate) -> str:
    return f"{amount / max(1, found.history):.2f} a token"


def _money(found: Estimate, settings: Settings) -> str:
    prices = SummaryPrices.of(settings)
    if not (prices.input or prices.output):
        return "no price set (summary_input_price, summary_output_price)"
    expected = found.money(prices.input, prices.output)
    most = found.money(prices.input, prices.output, most=True)
    return f"{expected:.4f} expected, {most:.4f} at the caps, with nothing from a prompt cache"


def _time(found: Estimate, settings: Settings) -> str:
    seconds = found.seconds(
        settings.summary_parallel,
        settings.summary_requests_per_minute,
        settings.summary_tokens_per_minute,
    )
    minutes, rest = divmod(round(seconds), 60)
    return (
        f"{minutes} min {rest} s with {settings.summary_parallel} calls at once, if a call takes "
        f"{BEGIN_SECONDS:.0f} s and a second more for every {TOKENS_A_SECOND:.0f} tokens of output"
    )
