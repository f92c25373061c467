"""Wallets, proofs and revocations in every store: whose they are, over any number of processes."""

from __future__ import annotations

import asyncio

import pytest

from memtree.errors import Conflict, Forbidden
from memtree.stores.memories.tenant_rows import PROOF_SECONDS
from tests.contracts.memory_backends import START, InEveryStore

WALLET, ANOTHER = "evm:0xab", "sol:Cd"
UNTIL = START + 120


class TestWallets(InEveryStore):
    async def test_the_first_proof_binds_a_wallet(self, memories, clock):
        await memories.prove_wallet(WALLET, "a", b"1" * 32, UNTIL)
        clock.time += 5
        await memories.prove_wallet(WALLET, "a", b"2" * 32, UNTIL)
        await memories.prove_wallet(ANOTHER, "a", b"3" * 32, UNTIL)
        assert await memories.wallets("a") == [(WALLET, START), (ANOTHER, START + 5)]
        assert await memories.wallets("b") == []
        asked = [WALLET, ANOTHER, "evm:0xff", "\0"]
        assert await memories.wallet_tenants(asked) == {WALLET: "a", ANOTHER: "a"}
        assert await memories.wallet_tenants([]) == {}

    async def test_a_wallet_is_of_one_tenant(self, memories):
        await memories.prove_wallet(WALLET, "a", b"1" * 32, UNTIL)
        with pytest.raises(Conflict) as caught:
            await memories.prove_wallet(WALLET, "b", b"2" * 32, UNTIL)
        assert WALLET not in caught.value.message
        assert await memories.wallets("b") == []
        # A proof that bound nothing is nobody's.
        await memories.prove_wallet(WALLET, "a", b"2" * 32, UNTIL)

    async def test_a_proof_counts_for_one_tenant(self, memories):
        for _ in range(2):  # a client sends a request again
            await memories.prove_wallet(WALLET, "a", b"1" * 32, UNTIL)
        await memories.release_wallet(WALLET, "a")
        with pytest.raises(Forbidden) as caught:
            await memories.prove_wallet(WALLET, "b", b"1" * 32, UNTIL)
        assert WALLET not in caught.value.message
        assert await memories.wallets("b") == []

    async def test_a_proof_is_known_until_nobody_takes_it(self, memories, clock):
        """Clocks differ about whether the proof is good still."""
        await memories.prove_wallet(WALLET, "a", b"1" * 32, UNTIL)
        await memories.release_wallet(WALLET, "a")
        for at in (UNTIL, UNTIL + 1, UNTIL + PROOF_SECONDS - 1):
            clock.time = at
            await memories.sweep_memories(clock.time, 30)
            with pytest.raises(Forbidden):
                await memories.prove_wallet(WALLET, "b", b"1" * 32, UNTIL)
        clock.time = UNTIL + PROOF_SECONDS
        await memories.sweep_memories(clock.time, 30)
        await memories.prove_wallet(WALLET, "b", b"1" * 32, UNTIL)

    async def test_a_wallet_that_is_released(self, memories):
        await memories.prove_wallet(WALLET, "a", b"1" * 32, UNTIL)
        assert not await memories.release_wallet(WALLET, "b")
        assert not await memories.release_wallet(ANOTHER, "a")
        assert not await memories.release_wallet("\0", "a")
        assert await memories.release_wallet(WALLET, "a")
        assert not await memories.release_wallet(WALLET, "a")
        await memories.prove_wallet(WALLET, "b", b"2" * 32, UNTIL)
        assert await memories.wallet_tenants([WALLET]) == {WALLET: "b"}

    async def test_a_grant_is_revoked_once_and_until_it_would_have_expired(self, memories, clock):
        assert await memories.revoke_grant(b"1" * 32, WALLET, "a", START + 50)
        assert not await memories.revoke_grant(b"1" * 32, WALLET, "a", START + 50)
        asked = [bytes([n]) * 32 for n in range(100)]
        assert await memories.revoked_grants(asked) == {b"1" * 32}
        assert await memories.revoked_grants([]) == set()
        clock.time = START + 49
        await memories.sweep_memories(clock.time, 30)
        assert await memories.revoked_grants([b"1" * 32]) == {b"1" * 32}
        clock.time = START + 50
        await memories.sweep_memories(clock.time, 30)
        assert await memories.revoked_grants([b"1" * 32]) == set()

    async def test_a_tenant_that_is_erased(self, memories):
        await memories.prove_wallet(WALLET, "a", b"1" * 32, UNTIL)
        await memories.prove_wallet(ANOTHER, "b", b"2" * 32, UNTIL)
        await memories.revoke_grant(b"3" * 32, WALLET, "a", START + 50)
        await memories.erase_memories("a")
        assert await memories.wallet_tenants([WALLET, ANOTHER]) == {ANOTHER: "b"}
        # What it revoked stays so, whoever has the wallet next.
        assert await memories.revoked_grants([b"3" * 32]) == {b"3" * 32}
        with pytest.raises(Forbidden):
            await memories.prove_wallet(WALLET, "b", b"1" * 32, UNTIL)
        await memories.prove_wallet(WALLET, "b", b"4" * 32, UNTIL)

    async def test_of_many_tenants_at_once_one_wins(self, memories):
        calls = [
            memories.prove_wallet(WALLET, f"tenant {n}", bytes([n]) * 32, UNTIL) for n in range(12)
        ]
        results = await asyncio.gather(*calls, return_exceptions=True)
        (won,) = [n for n, result in enumerate(results) if result is None]
        assert all(isinstance(each, Conflict) for n, each in enumerate(results) if n != won)
        assert await memories.wallet_tenants([WALLET]) == {WALLET: f"tenant {won}"}

    async def test_of_many_that_use_a_proof_at_once_one_wins(self, memories):
        calls = [
            memories.prove_wallet(f"evm:{n}", f"tenant {n}", b"1" * 32, UNTIL) for n in range(12)
        ]
        results = await asyncio.gather(*calls, return_exceptions=True)
        (won,) = [n for n, result in enumerate(results) if result is None]
        assert all(isinstance(each, Forbidden) for n, each in enumerate(results) if n != won)
        found = await memories.wallet_tenants([f"evm:{n}" for n in range(12)])
        assert found == {f"evm:{won}": f"tenant {won}"}

    async def test_of_many_revocations_one_is_new(self, memories):
        calls = [memories.revoke_grant(b"1" * 32, WALLET, "a", START + 50) for _ in range(9)]
        assert sorted(await asyncio.gather(*calls)) == [False] * 8 + [True]
