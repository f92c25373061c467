"""Price the input of a session, beside sending everything directly with a warm cache.

Chats of 600k tokens under three prices, in each mode, and behind an upstream of one's own, where an
unknown model has memory at once; then agents, under the first prices. Of each: when memory began.
"""

from __future__ import annotations

import statistics
from collections.abc import Iterator
from dataclasses import replace

from benchmarks import synthetic
from benchmarks.costs import loops
from benchmarks.costs.ledger import Account
from benchmarks.report import Row, promises
from benchmarks.subject import Bench, Subject, open_subject
from memtree.budget.prices import LOCAL, UNKNOWN, Prices
from memtree.context.context_memory import CompressRequest
from memtree.history.message import Message

PRICES = (Prices(1.25, 0.10), UNKNOWN, Prices(1.0, 0.50), LOCAL)
TARGET, TOOLS, WINDOW = 20_000, 6_000, 1_000_000
LENGTHS = {"stable": 600_000, "auto": 600_000, "fresh": 150_000}  # unfolding each turn is dear
# by the history's length, with recall blocks and without
GOALS = {75_000: (0.88, 0.80), 150_000: (0.58, 0.52), 300_000: (0.35, 0.31), 600_000: (0.20, 0.17)}
WORST = {"stable": 1.10, "auto": 1.02}
# Tokens of history at the first fold: a round more than the target, and what a guess may wait
BEGINS = {LOCAL: TARGET + synthetic.USER + synthetic.ASSISTANT, UNKNOWN: 32_000}
SEED = 7


async def run(bench: Bench) -> tuple[list[Row], list[str]]:
    rows: list[Row] = []
    async with open_subject(None, "cost", embedder="none") as subject:
        for prices in PRICES:
            for mode in LENGTHS if prices.metered else ("auto", "stable"):
                rows += _rows(prices, mode, await _chat(subject, prices, mode))
        rows += await loops.measure(bench, subject, PRICES[0])
    return [
        *rows,
        *promises(subject.tally.answers, len(subject.tally.broken)),
    ], subject.tally.broken


async def _chat(subject: Subject, prices: Prices, mode: str) -> Account:
    account = Account(prices, TOOLS)
    tenant = _name(prices, mode)
    for posted in requests(_length(prices, mode)):
        ask = CompressRequest(
            tenant,
            posted,
            target=TARGET,
            window=WINDOW,
            tools_tokens=TOOLS,
            mode=mode,
            prices=prices,
        )
        answer = await subject.compress(ask, f"{tenant}, {len(posted)} messages")
        account.add(posted, answer)
    return account


def _name(prices: Prices, mode: str) -> str:
    place = "" if prices.metered else "at home "
    return f"{place}({prices.write:.2f}, {prices.read:.2f}) {mode}"


def _length(prices: Prices, mode: str) -> int:
    return LENGTHS[mode] if prices.metered else LENGTHS["fresh"]


def requests(length: int) -> Iterator[tuple[Message, ...]]:
    """Yield the requests of a client, turn by turn, until the history has `length` tokens."""
    posted = [synthetic.system(SEED)]
    for user, assistant in synthetic.chat(SEED, length):
        posted.append(user)
        yield tuple(posted)
        posted.append(assistant)


def _rows(prices: Prices, mode: str, account: Account) -> Iterator[Row]:
    name = _name(prices, mode)
    judged = prices == PRICES[0] and mode in WORST
    for length, (goal, bare) in GOALS.items():
        if length <= _length(prices, mode):
            point = account.at(length - synthetic.USER - synthetic.ASSISTANT)
            row = Row(f"{name}, cost at {length // 1000}k", point.ratio, "of direct", goal, True)
            without = Row(f"{row.name} without blocks", point.bare, "of direct", bare, True)
            yield from (row if judged else replace(row, goal=None) for row in (row, without))
    worst = account.worst
    where = f"{name}, worst moment, at {worst.history // 1000}k"
    yield Row(where, worst.ratio, "of direct", WORST.get(mode) if prices.metered else None, True)
    if mode in WORST:
        begins = BEGINS.get(prices) if mode == "auto" else None
        yield Row(f"{name}, memory begins at", account.begins, "tokens", begins, True)
        yield Row(f"{name}, epochs in {len(account.points)} turns", account.folds)
        blocks = statistics.fmean(point.blocks for point in account.points)
        yield Row(f"{name}, blocks in an answer, mean", blocks, "tokens")
