"""Agents turn by turn: what a session costs, how often it is folded, and what the model still
sees of what it needs next after each fold."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from benchmarks.costs.ledger import Account
from benchmarks.costs.replay import ENOUGH, LAST_ROUNDS, Replay, Shares, sessions
from benchmarks.invariants import size
from benchmarks.report import Row
from benchmarks.subject import Bench, Subject, percent
from memtree.budget.prices import Prices
from memtree.context.context_memory import CompressRequest

TARGETS, WINDOW = (20_000, 60_000), 200_000
# Where rounds are large. At 60k of 200k no choice of cuts does better than 0.87 in 14 such rounds,
# so there the figures are told, not judged.
END_GOAL, WORST_GOAL, JUDGED = 0.85, 1.05, 20_000
WORST = {"stable": 1.10, "auto": 1.02}
MOST_FOLDS = 0.5  # of the turns: an epoch of one turn costs more than it saves


async def measure(bench: Bench, subject: Subject, prices: Prices) -> list[Row]:
    rows: list[Row] = []
    for target in TARGETS:
        for mode in WORST:
            shares = Shares()
            found = [
                (one, await _session(subject, one, target, mode, prices, shares))
                for one in _long(bench, target)
            ]
            some = _rows(f"agents at {target // 1000}k {mode}", mode, found, shares)
            rows += (one if target == JUDGED else replace(one, goal=None) for one in some)
    return rows


def _long(bench: Bench, target: int) -> Iterator[Replay]:
    """Sessions that are long enough to be folded."""
    for one in sessions(bench.data):
        if max(map(size, one.requests)) >= max(ENOUGH, 1.5 * target):
            yield one


async def _session(
    subject: Subject, replay: Replay, target: int, mode: str, prices: Prices, shares: Shares
) -> Account:
    account = Account(prices, replay.tools)
    tenant = f"{mode} {replay.name} at {target}"
    for turn, (posted, following) in enumerate(zip(replay.requests, replay.after, strict=True)):
        ask = CompressRequest(
            tenant,
            posted,
            target=target,
            window=WINDOW,
            tools_tokens=replay.tools,
            mode=mode,
            prices=prices,
        )
        answer = await subject.compress(ask, f"{tenant} request {turn}")
        reply = account.add(posted, answer)
        if account.points[-1].began:
            shares.judge_last(posted, reply, target)
            shares.judge_named(posted, reply, following)
    return account


def _rows(
    name: str, mode: str, found: Sequence[tuple[Replay, Account]], shares: Shares
) -> Iterator[Row]:
    large = [(replay, account) for replay, account in found if replay.large]
    for replay, account in large:
        turns = len(account.points)
        end = account.points[-1].ratio
        yield Row(f"{name}, {replay.name}, cost", end, "of direct", END_GOAL, True)
        yield Row(
            f"{name}, {replay.name}, epochs in {turns} turns",
            account.folds,
            "",
            MOST_FOLDS * turns,
            True,
        )
    yield _worst(f"{name}, large rounds", large, WORST_GOAL)
    ends = [account.points[-1].ratio for _, account in found]
    yield Row(f"{name}, {len(found)} sessions, cost, mean", sum(ends) / len(ends), "of direct")
    yield _worst(f"{name}, all", found, WORST[mode])
    yield Row(f"{name}, all, epochs", sum(account.folds for _, account in found))
    last, named = shares.last_rounds, shares.named
    label = f"last {LAST_ROUNDS} rounds whole where they fit"
    yield Row(f"{name}, after folds, {label}", percent(last), "%", 100 if last else None)
    yield Row(f"{name}, after folds, named next", percent(named), "%", 95)
    yield Row(f"{name}, after folds, rounds and names judged", len(last) + len(named))


def _worst(name: str, found: Sequence[tuple[Replay, Account]], goal: float) -> Row:
    replay, account = max(found, key=lambda one: one[1].worst.ratio)
    worst = account.worst
    where = f"{replay.name} at {worst.history // 1000}k"
    return Row(f"{name}, worst moment ({where})", worst.ratio, "of direct", goal, True)
