from collections.abc import Collection, Mapping
from typing import Any

import pytest

from memtree.errors import BadRequest, Forbidden, NotFound
from memtree.memories.agents.agent_memory import AgentScopes
from memtree.memories.grants.grant import Chain, SignedGrant, grant_digest
from memtree.memories.grants.grant_book import GrantBook, Refusal
from memtree.memories.grants.grant_json import header_of
from memtree.stores import RamStore, open_memories
from tests.made.wallets import FixedClock, Wallet

ADA, BOB = Wallet("Ada"), Wallet("Bob", Chain.SOLANA)
STRANGER = Wallet("Eve")


class WatchedStore:
    """Notes which wallets somebody asks for."""

    def __init__(self) -> None:
        self._store = open_memories(RamStore())
        self.asked: list[str] = []

    def __getattr__(self, name: str) -> Any:
        return getattr(self._store, name)

    async def wallet_tenants(self, addresses: Collection[str]) -> Mapping[str, str]:
        self.asked += addresses
        return await self._store.wallet_tenants(addresses)


@pytest.fixture
async def store() -> WatchedStore:
    store = WatchedStore()
    await store.prove_wallet(ADA.canonical, "t-ada", b"1", 0)
    await store.prove_wallet(BOB.canonical, "t-bob", b"2", 0)
    return store


@pytest.fixture
def clock() -> FixedClock:
    return FixedClock()


@pytest.fixture
def book(store: WatchedStore, clock: FixedClock) -> GrantBook:
    return GrantBook(store, clock)


def wanted(agent: str | None, subject: str | None = "") -> AgentScopes:
    return AgentScopes("t-bob", agent, subject)


async def test_a_grant_opens_the_agents_of_its_grantor(book):
    opened = await book.opened("t-bob", header_of([ADA.grant(BOB)]))
    assert opened.scopes == (AgentScopes("t-ada", None, None),)
    assert opened.warnings == ()


async def test_without_grants_nothing_is_opened(book):
    assert (await book.opened("t-bob", None)).scopes == ()


async def test_shared_alone_needs_grants(book):
    with pytest.raises(BadRequest, match="scope=shared needs grants in x-grants"):
        await book.opened("t-bob", None, strict=True)


@pytest.mark.parametrize(
    ("limits", "asked", "found"),
    [
        ({}, wanted("a", "u"), AgentScopes("t-ada", "a", "u")),
        ({}, wanted("a"), AgentScopes("t-ada", "a", None)),
        ({}, wanted(None, None), AgentScopes("t-ada", None, None)),
        ({"agent": "a"}, None, AgentScopes("t-ada", "a", None)),
        ({"agent": "a"}, wanted(None), AgentScopes("t-ada", "a", None)),
        ({"agent": "a", "subject": "u"}, wanted("a"), AgentScopes("t-ada", "a", "u")),
        ({"agent": "a"}, wanted("b"), Refusal.OTHER_AGENT),
        ({"subject": "u"}, wanted("a", "v"), Refusal.OTHER_SUBJECT),
        ({"subject": "u"}, wanted("a", "u"), AgentScopes("t-ada", "a", "u")),
    ],
)
async def test_a_grant_opens_no_more_than_it_says_and_is_asked_for(book, limits, asked, found):
    header = header_of([ADA.grant(BOB, **limits)])
    opened = await book.opened("t-bob", header, asked, strict=True)
    if isinstance(found, AgentScopes):
        assert opened.scopes == (found,)
    else:
        assert opened.scopes == ()
        assert opened.warnings == (f"grant 1: {found}",)


async def test_each_grant_that_opens_nothing_is_named_with_its_reason(book, clock):
    revoked = ADA.grant(BOB, agent="old")
    sound = ADA.grant(BOB, agent="a")
    await book.revoke("t-ada", revoked)
    header = header_of(
        [
            ADA.grant(BOB, expires=clock.time),
            SignedGrant(sound.payload, STRANGER.sign("x"), Chain.EVM),
            sound,
            ADA.grant(STRANGER),
            revoked,
            STRANGER.grant(BOB),
        ]
    )
    opened = await book.opened("t-bob", header)
    assert opened.scopes == (AgentScopes("t-ada", "a", None),)
    assert opened.warnings == (
        "grant 1: it has expired",
        "grant 2: its signature is not its grantor's",
        "grant 4: its grantee is no wallet that you have proved to own",
        "grant 5: it was revoked",
        "grant 6: its grantor has no memories here",
    )
    with pytest.raises(Forbidden, match="grant 1: it has expired"):
        await book.opened("t-bob", header, strict=True)


async def test_a_remembered_signature_still_expires_and_can_be_revoked(book, clock):
    grant = ADA.grant(BOB)
    header = header_of([grant])
    assert (await book.opened("t-bob", header)).scopes
    assert await book.revoke("t-ada", grant)
    assert (await book.opened("t-bob", header)).warnings == ("grant 1: it was revoked",)
    clock.time += 7200
    assert (await book.opened("t-bob", header)).warnings == ("grant 1: it has expired",)


async def test_a_valid_text_with_another_signature_is_not_valid(book):
    grant = ADA.grant(BOB)
    await book.opened("t-bob", header_of([grant]))
    forged = SignedGrant(grant.payload, STRANGER.sign("x"), Chain.EVM)
    assert (await book.opened("t-bob", header_of([forged]))).scopes == ()


async def test_only_the_tenant_of_the_grantor_revokes(book):
    grant = ADA.grant(BOB)
    with pytest.raises(Forbidden, match="only its grantor"):
        await book.revoke("t-bob", grant)
    with pytest.raises(Forbidden, match="signature"):
        await book.revoke("t-ada", SignedGrant(grant.payload, STRANGER.sign("x"), Chain.EVM))
    assert await book.revoke("t-ada", grant)
    assert not await book.revoke("t-ada", grant)


async def test_what_has_expired_need_not_be_revoked(book, clock, store):
    grant = ADA.grant(BOB, expires=clock.time - 1)
    assert not await book.revoke("t-ada", grant)
    assert await store.revoked_grants([grant_digest(grant.payload)]) == set()


async def test_a_released_wallet_opens_nothing(book):
    await book.release("t-ada", ADA.address)
    with pytest.raises(NotFound):
        await book.release("t-ada", ADA.address)
    opened = await book.opened("t-bob", header_of([ADA.grant(BOB)]))
    assert opened.warnings == ("grant 1: its grantor has no memories here",)


async def test_whether_a_wallet_is_bound_is_not_told_to_others(book, store):
    """The store is not even asked where the signature is not valid."""
    grant = ADA.grant(BOB)
    forged = SignedGrant(grant.payload, STRANGER.sign("x"), Chain.EVM)
    store.asked.clear()
    await book.opened("t-bob", header_of([forged]))
    assert store.asked == []
    known = await book.opened("t-eve", header_of([grant]))
    unknown = await book.opened("t-eve", header_of([STRANGER.grant(BOB)]))
    assert known == unknown
