"""Measure what summaries keep: planted facts by level of the tree, and what an answer shows of
evidence; by extraction, by the model that the settings name, by both side by side. Prices the
model, too.

    MEMTREE_SUMMARY_BASE_URL=http://127.0.0.1:8080/v1 MEMTREE_SUMMARY_MODEL=small \\
        python -m benchmarks kept --keep DIR

Three short histories, so that a model on a laptop gets through them: a story, two people who talk,
somebody's work with an assistant. In a kept database nothing is asked again, so calls, rejected
drafts and seconds are those of this run alone. "quoting" is a script that knows the facts and
quotes as many as the caps let it: more than it keeps, no model keeps.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from benchmarks import facts, stories
from benchmarks.data import Data, Probe
from benchmarks.facts import CHAT, CODING, FACTS, TOP, Fact
from benchmarks.quality import outlines, quoting
from benchmarks.quality.views import EXTRACTION, MODEL, open_summarised, views
from benchmarks.report import Row, promises
from benchmarks.session import first
from benchmarks.subject import Bench, Subject
from memtree.context.turn_request import UNHURRIED, CompressRequest
from memtree.history.message import Message
from memtree.jobs.summary_calls import CallTotals
from memtree.tree.btree import walk
from memtree.tree.node import Node

STRETCH = 13_000  # tokens: over the 10,000 below which there is no memory
LONG = 60_000  # with `--long`
EVERY = 2  # of the facts of a subject
NAMES = {"0": "leaves", TOP: "the top"}


@dataclass(frozen=True, slots=True)
class Case:
    """A history with facts planted in it, and questions about it."""

    name: str
    messages: tuple[Message, ...]
    facts: tuple[Fact, ...]
    probes: tuple[Probe, ...] = ()

    @property
    def ask(self) -> CompressRequest:
        return CompressRequest(self.name, self.messages, patience=UNHURRIED)


def cases(data: Data, size: int) -> Iterator[Case]:
    yield _case("story", stories.story(), stories.FACTS)
    talk = list(data.locomo())[1]  # the shortest one
    yield _case("locomo", first(talk.messages, 2 * size), _about(CHAT), talk.probes)
    work, beginning = max(
        ((chat, first(chat.messages, size)) for chat in data.beam("100k")),
        key=lambda one: len(outlines.within(one[0].probes, one[1])),
    )
    yield _case("beam", beginning, _about(CODING), work.probes)


def _about(subject: str) -> tuple[Fact, ...]:
    return tuple(fact for fact in FACTS if fact.about == subject)[::EVERY]


def _case(
    name: str, messages: Sequence[Message], own: tuple[Fact, ...], probes: Sequence[Probe] = ()
) -> Case:
    planted = tuple(facts.plant(messages, own))
    return Case(name, planted, own, tuple(outlines.within(probes, planted)))


async def run(bench: Bench) -> tuple[list[Row], list[str]]:
    rows: list[Row] = []
    async with open_summarised(bench.keep, "kept") as subject:
        for case in cases(bench.data, LONG if bench.long else STRETCH):
            rows += await _learned(case, subject)
            ways = views(subject)
            rows += await _kept(case, ways)
            if case.probes:
                rows += await outlines.measure(case.name, ways, case.messages, case.probes)
    tally = subject.tally
    return [*rows, *promises(tally.answers, len(tally.broken))], tally.broken


# -- facts -----------------------------------------------------------------------------------


async def _kept(case: Case, ways: Mapping[str, Subject]) -> list[Row]:
    shares = {way: await _shares(case, subject) for way, subject in ways.items()}
    async with quoting.open_quoting(case.facts) as desk:
        await desk.learn(case.name, case.messages)
        shares["quoting"] = await _shares(case, desk)
        assert desk.runtime.summaries
        rejected = desk.runtime.summaries.queue.totals.problems.total()
    return [
        *(
            Row(
                f"{case.name}: facts in {NAMES.get(level, f'level {level}')}, {way}",
                by_level[level],
                "%",
            )
            for level in shares[EXTRACTION]
            for way, by_level in shares.items()
        ),
        Row(f"{case.name}: drafts rejected, quoting", rejected),
    ]


async def _shares(case: Case, subject: Subject) -> dict[str, float]:
    """Return the percentage of the facts below a level that its summaries keep."""
    posted, frontier, nodes = await subject.runtime.memory.outline(case.ask)
    told = facts.told(posted, _grown(frontier.nodes, nodes))
    found = facts.shares(case.facts, told)
    return {
        level: 100 * good / whole
        for level, (good, whole) in ((level, kinds["all"]) for level, kinds in found.items())
    }


def _grown(roots: Sequence[bytes], nodes: Mapping[bytes, Node]) -> list[Node]:
    """Leaves in reading order, and children before their parents."""
    return sorted((node for node, _ in walk(roots, nodes)), key=lambda node: node.level)


# -- the model -------------------------------------------------------------------------------


async def _learned(case: Case, subject: Subject) -> list[Row]:
    """Have all summaries written; what that took."""
    three = subject.runtime.summaries
    before = _counted(three.queue.totals) if three else Counter[str]()
    started = time.monotonic()
    await subject.learn(case.name, case.messages)
    seconds = time.monotonic() - started
    _, frontier, nodes = await subject.runtime.memory.outline(case.ask)
    rows = [
        Row(f"{case.name}: history in the tree", frontier.tokens, "tokens"),
        Row(f"{case.name}: nodes", len(nodes)),
        Row(f"{case.name}: facts planted", len(case.facts)),
    ]
    if three is None:
        return rows
    counted = _counted(three.queue.totals) - before
    written = sum(node.summary.by_model for node in nodes.values())
    return [
        *rows,
        Row(f"{case.name}: nodes with a summary by the {MODEL}", 100 * written / len(nodes), "%"),
        *_paid(case.name, frontier.tokens, nodes),
        Row(f"{case.name}: seconds", seconds, "s"),
        *(Row(f"{case.name}: {what}", number) for what, number in sorted(counted.items())),
    ]


def _paid(name: str, tokens: int, nodes: Mapping[bytes, Node]) -> Iterator[Row]:
    """Yield the price as the tree has it: rejected attempts are in it, and so are other runs."""
    costs = [node.summary.cost for node in nodes.values()]
    for what, at in (("read", 0), ("written", 1)):
        paid = sum(cost[at] for cost in costs)
        yield Row(f"{name}: {what} a history token", paid / tokens, "tokens")


def _counted(totals: CallTotals) -> Counter[str]:
    calls = {f"calls {outcome}": number for outcome, number in totals.calls.items()}
    rejected = {f"drafts rejected: {name}": number for name, number in totals.problems.items()}
    return Counter(calls | rejected)
