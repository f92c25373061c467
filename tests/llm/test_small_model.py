"""A real small model behind the real adapter: whatever it writes, nothing false is stored.

`make llm` installs what this needs (`scripts/small_model.py`) and runs it; 2 minutes on two cores.
"""

from __future__ import annotations

from collections import Counter

import msgspec
import pytest

from memtree.config import Settings
from memtree.context.turn_request import UNHURRIED, CompressRequest
from memtree.history.message import Message, read_messages
from memtree.jobs.runtime import open_runtime
from memtree.text import tokens
from memtree.tree import faithfulness, summary_batches
from memtree.tree.btree import walk
from memtree.tree.node import NodeWork
from memtree.tree.summary_check import check
from memtree.tree.summary_replies import Draft
from tests.made.scripted import encoded
from tests.programs.sessions import coding

pytestmark = pytest.mark.llm

TENANT = "t"


def settings(url: str) -> Settings:
    return Settings(
        store="memory:",
        embedder="none",
        summary_base_url=url,
        summary_model="small",
        summary_parallel=1,
        summary_leaves=2,
        summary_seconds=300,
        summary_input_price=1.0,
    )


def history() -> tuple[Message, ...]:
    """The first messages of a coding session, under 3,000 tokens."""
    fragments = [encoded(one) for one in coding(3_000)]
    while sum(tokens.count(one.decode()) for one in fragments) >= 3_000:
        fragments.pop()
    return read_messages([msgspec.Raw(one) for one in fragments])


async def test_a_history_is_summarised(url: str) -> None:
    ask = CompressRequest(TENANT, history(), patience=UNHURRIED)
    async with open_runtime(settings(url)) as runtime:
        answer = await runtime.memory.index(ask)
        assert 1_500 < answer.raw_tokens < 3_000
        await runtime.settle()
        posted, frontier, nodes = await runtime.memory.outline(ask)
        status = await runtime.memory.summary_status(TENANT)
        assert runtime.summaries
        totals = runtime.summaries.queue.totals
        recipe = runtime.summaries.summarizer.recipe
    kept: Counter[str] = Counter()
    known = {id_: node.summary for id_, node in nodes.items()}
    for node, place in walk(frontier.nodes, nodes):
        work = NodeWork(node, place)
        (task,) = summary_batches.tasks(posted, [work], "coding", known)
        summary = node.summary
        assert summary.by == recipe
        assert summary.cost[0] > 0
        kept["model" if summary.by_model else "extraction"] += 1
        if summary.by_model:
            assert check(Draft(summary.headline, summary.body), task, tokens.count) == []
            text = "\n".join(one.text for one in summary_batches.sources(posted, work))
            if node.is_leaf:
                assert not list(
                    faithfulness.invented_anchors(f"{summary.headline}\n{summary.body}", text)
                )
    assert kept.total() >= 2
    assert status.state == "ok"
    assert status.input_tokens == totals.tokens["input"] > 1_000
    assert status.output_tokens == totals.tokens["output"] > 50
    assert status.money == pytest.approx(status.input_tokens / 1_000_000)
    costs = [node.summary.cost for node in nodes.values()]
    assert sum(one for one, _ in costs) == status.input_tokens
    print(f"\n{answer.raw_tokens} tokens: {dict(kept)}, {dict(totals.problems)}")
    print(f"{status}, {totals.seconds:.0f} s")
