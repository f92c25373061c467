"""`memtree audit FILE`: show a few parts of a history beside their summaries.

If a model is configured, a part without a summary by the model is summarised now. The summary is
stored as if the indexer had asked for it, so nothing is paid for twice. A node above the leaves is
summarised only if all its children have their summaries, since it is made of these.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import secrets
import sys
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path

from rich.console import Console
from rich.text import Text

from memtree.background.runtime import SystemClock, open_runtime
from memtree.background.summarizing.call import CallOutcome, SummaryCall, SummaryCaller
from memtree.background.summarizing.open import open_summarizer
from memtree.background.summarizing.spending import MILLION, DailyLimits, Spending, SummaryPrices
from memtree.config import Settings
from memtree.context.request import UNHURRIED, CompressRequest
from memtree.conversation.history import History
from memtree.conversation.message import Message
from memtree.errors import BadRequest, SummarizerUnavailable
from memtree.ports.models import Summarizer, SummaryDrafts, Usage
from memtree.ports.store import Store
from memtree.summaries import audit_report
from memtree.summaries.audit_report import AuditEntry, Report
from memtree.summaries.batching import Kinds
from memtree.summaries.prompts import Task
from memtree.summaries.replies import Draft, mended
from memtree.tenant_names import LOCAL
from memtree.tree.btree import walk
from memtree.tree.node import Node, Summary
from memtree.tree.work import NodeWork
from memtree_proxy.cli.drawing.console import open_console
from memtree_proxy.cli.drawing.foreign_text import plain
from memtree_proxy.cli.history import audit_page
from memtree_proxy.cli.history.estimate import without_models
from memtree_proxy.cli.history.history_commands import read_history

CLIP = 400  # characters of each message shown in the terminal


async def run(options: argparse.Namespace, settings: Settings) -> int:
    if options.sample < 1:
        raise BadRequest("--sample must be 1 or more", param="--sample")
    report = await audited(read_history(options.file), settings, options.sample)
    if options.html:
        await asyncio.to_thread(_write, options.html, audit_page.page(report, options.file))
        open_console().print(Text(plain(f"wrote {options.html}; {spent(report)}")), soft_wrap=True)
    elif options.json:
        sys.stdout.write(json.dumps(asdict(report), indent=1) + "\n")
    else:
        show(open_console(), report)
    return 0


async def audited(messages: tuple[Message, ...], settings: Settings, count: int) -> Report:
    """Return the report. The stage-1 tree is stored as by `memtree index`; no embeddings are
    made."""
    summarizer = open_summarizer(settings)
    try:
        async with open_runtime(without_models(settings), drain=0) as runtime:
            ask = CompressRequest(LOCAL, messages, patience=UNHURRIED)
            posted, frontier, nodes = await runtime.memory.outline(ask)
            first = {**nodes, **await runtime.store.nodes(LOCAL, list(nodes))}
            later = {id_: node.summary for id_, node in nodes.items() if node.summary.version > 0}
            placed = (NodeWork(node, place) for node, place in walk(frontier.nodes, nodes))
            picked = audit_report.sample(placed, count)
            desk = _Desk(settings, runtime.store, posted, first, later)
            entries = [
                entry for level in _levels(picked) for entry in await desk.look(level, summarizer)
            ]
            return _report(len(nodes), summarizer, desk, entries)
    finally:
        if summarizer:
            await summarizer.close()


def _levels(picked: Sequence[NodeWork]) -> list[list[NodeWork]]:
    """Group nodes by level, children first, since parents are summarised from their children's
    summaries."""
    levels = sorted({work.node.level for work in picked})
    return [[work for work in picked if work.node.level == level] for level in levels]


def _report(
    nodes: int, summarizer: Summarizer | None, desk: _Desk, entries: list[AuditEntry]
) -> Report:
    usage = Usage(sum(used.input for used in desk.usages), sum(used.output for used in desk.usages))
    prices = desk.prices
    return Report(
        nodes,
        summarizer.recipe if summarizer else "",
        tuple(entries),
        len(desk.usages),
        usage.input,
        usage.output,
        sum(prices.micros(used) for used in desk.usages) / MILLION,
        bool(prices.input or prices.output),
    )


class _Recording:
    """A `Summarizer` that records usage and the last draft, since the refiner keeps no draft."""

    def __init__(self, summarizer: Summarizer) -> None:
        self._summarizer = summarizer
        self.recipe = summarizer.recipe
        self.usages: list[Usage] = []
        self.draft: Draft | None = None

    async def write(self, tasks: Sequence[Task]) -> SummaryDrafts:
        try:
            written = await self._summarizer.write(tasks)
        except SummarizerUnavailable as error:
            self.usages.append(Usage(*error.cost))
            raise
        self.usages.append(written.usage)
        for draft in written.drafts.values():
            self.draft = mended(draft)
        return written

    async def close(self) -> None:
        """Do nothing: the wrapped summarizer is closed by its owner."""


@dataclass(slots=True)
class _Desk:
    settings: Settings
    store: Store
    posted: History
    first: Mapping[bytes, Node]
    later: dict[bytes, Summary]
    usages: list[Usage] = field(default_factory=list)
    prices: SummaryPrices = field(init=False)
    kinds: Kinds = field(init=False)

    def __post_init__(self) -> None:
        self.prices = SummaryPrices.of(self.settings)
        self.kinds = Kinds(self.posted, self.first, {})

    async def look(
        self, level: Sequence[NodeWork], summarizer: Summarizer | None
    ) -> list[AuditEntry]:
        """Audit the nodes of one level concurrently; the summarizer itself limits concurrent
        calls."""
        return await asyncio.gather(*(self._entry(work, summarizer) for work in level))

    async def _entry(self, work: NodeWork, summarizer: Summarizer | None) -> AuditEntry:
        draft = None
        if known := self.later.get(work.id):
            state = audit_report.STORED if known.by_model else audit_report.REJECTED
        elif summarizer is None:
            state = audit_report.NONE
        elif any(child not in self.later for child in work.node.children):
            state = audit_report.WAITING
        else:
            state, draft = await self._asked(work, summarizer)
        kind = self.kinds.of(work)
        return audit_report.entry(self.posted, work, kind, self.first, self.later, state, draft)

    async def _asked(self, work: NodeWork, summarizer: Summarizer) -> tuple[str, Draft | None]:
        recording = _Recording(summarizer)
        try:
            outcome = await self._refined(work, recording)
        except SummarizerUnavailable as error:
            return f"none: {error.message}", None
        finally:
            self.usages += recording.usages
        if outcome.limited:
            return audit_report.LIMITED, None
        newest = await self.store.newest_summaries(LOCAL, [work.id])
        self.later |= {id_: summary for id_, summary in newest.items() if summary.version > 0}
        known = self.later.get(work.id)
        if known is None:
            return "none: another process is at it", None
        return audit_report.WRITTEN if known.by_model else audit_report.REJECTED, recording.draft

    async def _refined(self, work: NodeWork, recording: _Recording) -> CallOutcome:
        """Summarise a node, and retry once if the draft was rejected, as the indexer does."""
        clock = SystemClock()
        spending = Spending(self.store, clock, self.prices, DailyLimits.of(self.settings))
        caller = SummaryCaller(
            self.store,
            recording,
            spending,
            clock,
            secrets.token_hex(8),
            both=self.settings.summary_text == "both",
        )
        kind = self.kinds.of(work)
        before: Mapping[bytes, tuple[int, int]] = {}
        for _ in range(2):
            call = SummaryCall(self.posted, (work,), kind, self.first, before, lambda: True)
            outcome = await caller.run(call)
            if not outcome.rejected:
                break
            before = outcome.rejected
        return outcome


def _write(path: str, text: str) -> None:
    try:
        Path(path).write_text(text, "utf-8")
    except OSError as error:
        raise BadRequest(f"{path}: {error.strerror}", param="--html") from error


# ---------------------------------------------------------------- in the terminal


def show(console: Console, report: Report) -> None:
    def line(text: str, style: str = "") -> None:
        console.print(Text(plain(text), style))

    for entry in report.entries:
        first, last = entry.messages
        line(f"level {entry.level}, messages {first}-{last}, {entry.tokens:,} tokens", "bold cyan")
        for label, text in entry.text:
            line(f"  {label}: {text if len(text) <= CLIP else text[:CLIP] + ' [...]'}", "dim")
        for name, version in (
            ("extraction", entry.extraction),
            (f"model ({entry.state})", entry.model),
        ):
            if version is None:
                line(f"  {name}")
                continue
            line(f"  {name}, {version.tokens} tokens: {version.headline}")
            line(f"    {version.body}")
            for problem in version.problems:
                line(f"    {problem.name}: {problem.detail}", "red")
        if any(entry.cost):
            line(f"  cost: {entry.cost[0]:,} tokens in, {entry.cost[1]:,} out", "dim")
        line("")
    line(f"{len(report.entries)} of {report.nodes:,} nodes; {spent(report)}")


def spent(report: Report) -> str:
    """Describe what the report itself cost."""
    if not report.model:
        return "no model for summaries is configured, nothing was asked"
    if not report.calls:
        return f"nothing was asked of {report.model}"
    money = f", {report.money:.6f} in money" if report.priced else ", no price set"
    return (
        f"asked {report.model} {report.calls} time(s): {report.input:,} tokens in, "
        f"{report.output:,} out{money}"
    )
