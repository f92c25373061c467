"""Grants: how long 32 of them take that a process has never seen, and that it has; of either chain,
in SQLite and in RAM; a wallet's proof; and for how long the event loop stands still meanwhile. No
outside data."""

from __future__ import annotations

import asyncio
import tempfile
import time
from collections.abc import Awaitable, Callable
from pathlib import Path

from benchmarks.report import Row
from benchmarks.subject import Bench
from memtree.agents.evm import keccak256_many
from memtree.agents.grant import MAX_GRANTS, Chain, WalletStore
from memtree.agents.grant_book import GrantBook
from memtree.agents.grant_json import header_of
from memtree.agents.wallets import WalletProof, proven
from memtree.jobs.runtime import SystemClock
from memtree.stores import open_memories, open_store
from tests.made.wallets import Wallet

TIMES = 40
TICK = 0.0005  # seconds that the watch on the loop sleeps
BOB = Wallet("Bob", Chain.SOLANA)

Made = Callable[[int], Awaitable[object]]


async def run(bench: Bench) -> tuple[list[Row], list[str]]:
    rows = _hashing()
    with tempfile.TemporaryDirectory(prefix="memtree-bench-") as folder:
        for label, url in (("RAM", "memory:"), ("SQLite", f"sqlite:///{Path(folder)}/m.db")):
            store = open_store(url)
            try:
                memories = open_memories(store)
                for chain in Chain:
                    rows += await _opened(f"{label}, {chain}", memories, Wallet("Ada", chain))
            finally:
                await store.close()
    for chain in Chain:
        rows += await _proofs(chain)
    return rows, []


def _hashing() -> list[Row]:
    rows = []
    for count in (1, MAX_GRANTS):
        messages = [bytes([number]) * 100 for number in range(count)]
        took = []
        for _ in range(TIMES):
            began = time.perf_counter()
            keccak256_many(messages)
            took.append(time.perf_counter() - began)
        rows += _figures(f"keccak of {count} blocks", took)
    return rows


async def _opened(label: str, store: WalletStore, ada: Wallet) -> list[Row]:
    now = time.time()
    for number, wallet in enumerate((ada, BOB)):
        tenant = ("ada", "bob")[number]
        await store.prove_wallet(wallet.canonical, tenant, wallet.key, now)
    headers = [
        header_of(
            [
                ada.grant(BOB, expires=now + 9_000 + turn, agent=f"agent-{n}")
                for n in range(MAX_GRANTS)
            ]
        )
        for turn in range(TIMES)
    ]
    book = GrantBook(store, SystemClock())
    rows = []
    for name in ("never seen", "seen"):
        took, held = await _timed(lambda turn: book.opened("bob", headers[turn]))
        rows += _figures(f"{label}: {MAX_GRANTS} grants, {name}", took)
        rows.append(Row(f"{label}: {name}: the loop stood still, worst", held * 1000, "ms"))
    return rows


async def _proofs(chain: Chain) -> list[Row]:
    proofs: list[WalletProof] = [
        Wallet("Ada", chain).proof("POST", f"/memories?turn={turn}", bytes(2_000), time.time())
        for turn in range(TIMES)
    ]

    async def one(turn: int) -> object:
        return proven(proofs[turn], time.time())

    took, _ = await _timed(one)
    return _figures(f"{chain}: a wallet's proof", took)


def _figures(label: str, took: list[float]) -> list[Row]:
    inorder = sorted(took)
    return [
        Row(f"{label}, p50", inorder[len(took) // 2] * 1000, "ms"),
        Row(f"{label}, worst", inorder[-1] * 1000, "ms"),
    ]


async def _timed(made: Made) -> tuple[list[float], float]:
    """Seconds of each, and the longest time for which nothing else had its turn."""
    watch = _Watch()
    watching = asyncio.create_task(watch.run())
    took = []
    for turn in range(TIMES):
        began = time.perf_counter()
        await made(turn)
        took.append(time.perf_counter() - began)
        await asyncio.sleep(TICK)
    watching.cancel()
    await asyncio.gather(watching, return_exceptions=True)
    return took, watch.worst


class _Watch:
    def __init__(self) -> None:
        self.worst = 0.0

    async def run(self) -> None:
        while True:
            began = time.perf_counter()
            await asyncio.sleep(TICK)
            self.worst = max(self.worst, time.perf_counter() - began - TICK)
