from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memtree.agents.agent_memory import AgentScopes
from memtree.agents.grant import Chain, grant_digest
from memtree.agents.grant_book import GrantFacts, Refusal, opens, without_covered
from tests.made.wallets import NOW, Wallet

ADA, BOB, EVE = Wallet("Ada"), Wallet("Bob", Chain.SOLANA), Wallet("Eve")
PAYLOAD = ADA.grant(BOB).payload
FACTS = GrantFacts(NOW, {ADA.canonical: "t-ada", BOB.canonical: "t-bob"}, ())
IDS = st.sampled_from([None, "a", "b"])
SCOPES = st.builds(AgentScopes, st.sampled_from("xy"), IDS, IDS)


def decided(payload=PAYLOAD, facts=FACTS, tenant="t-bob", wanted=None, *, signed=True):
    return opens(payload, grant_digest(payload), facts, tenant, wanted, signed=signed)


def test_a_sound_grant_opens_its_grantors_memories():
    assert decided() == AgentScopes("t-ada", None, None)


def test_it_ends_in_the_second_that_it_names():
    at_its_end = replace(FACTS, now=PAYLOAD.expires)
    assert decided(facts=at_its_end) is Refusal.EXPIRED
    assert isinstance(decided(facts=replace(FACTS, now=PAYLOAD.expires - 0.1)), AgentScopes)


def test_addresses_compare_case_insensitively():
    capitals = replace(PAYLOAD, grantor="0x" + PAYLOAD.grantor[2:].upper())
    assert decided(capitals) == AgentScopes("t-ada", None, None)


def test_the_grantor_is_told_that_others_use_it():
    assert decided(tenant="t-ada") is Refusal.GIVEN
    revoked = replace(FACTS, revoked={grant_digest(PAYLOAD)})
    assert decided(facts=revoked, tenant="t-ada") is Refusal.REVOKED


def test_a_grant_among_the_wallets_of_one_tenant_opens_its_own():
    both = replace(FACTS, tenants={ADA.canonical: "t", BOB.canonical: "t"})
    assert decided(facts=both, tenant="t") == AgentScopes("t", None, None)


@pytest.mark.parametrize(
    ("tenants", "revoked"),
    [
        ({}, ()),
        ({ADA.canonical: "t-ada"}, ()),
        (FACTS.tenants, ()),
        (FACTS.tenants, {grant_digest(PAYLOAD)}),
    ],
)
def test_strangers_learn_nothing_of_wallets_and_revocations(tenants, revoked):
    facts = GrantFacts(NOW, tenants, revoked)
    assert decided(facts=facts, tenant="t-eve") is Refusal.WRONG_GRANTEE
    assert decided(facts=facts, tenant="t-eve", signed=False) is Refusal.BAD_SIGNATURE


@given(IDS, IDS, IDS, st.sampled_from([None, "", "a", "b"]))
def test_no_more_is_opened_than_was_given_and_is_asked_for(agent, subject, asked_agent, asked):
    payload = replace(PAYLOAD, agent=agent, subject=subject)
    found = decided(payload, wanted=AgentScopes("t-bob", asked_agent, asked))
    if isinstance(found, AgentScopes):
        assert found.tenant == "t-ada"
        assert found.agent in ({agent, asked_agent} - {None} or {None})
        assert agent in (None, found.agent)
        assert asked_agent in (None, found.agent)
        assert subject in (None, found.subject)
        assert asked in (None, "", found.subject)
    else:
        assert found.narrows
        assert (agent, subject) != (None, None)


@given(st.lists(SCOPES, max_size=8))
def test_scopes_that_others_hold_are_left_out(scopes):
    def held(scope, tenant, agent, subject):
        return (
            scope.tenant == tenant
            and scope.agent in (None, agent)
            and scope.subject in (None, subject)
        )

    kept = without_covered(scopes)
    assert len(set(kept)) == len(kept)
    assert set(kept) <= set(scopes)
    for tenant in "xy":
        for agent in "abc":
            for subject in "abc":
                point = (tenant, agent, subject)
                assert any(held(one, *point) for one in scopes) == any(
                    held(one, *point) for one in kept
                )
    for one in kept:
        inside = (one.tenant, one.agent or "c", one.subject or "c")
        wider = [other for other in kept if other != one and held(other, *inside)]
        assert not any(
            (other.agent is None or other.agent == one.agent)
            and (other.subject is None or other.subject == one.subject)
            for other in wider
        )
