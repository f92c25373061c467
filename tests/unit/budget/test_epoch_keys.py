"""Check which requests may continue each other's epochs."""

from __future__ import annotations

import pytest

from memtree.budget import epoch
from memtree.budget.packing import TokenLimits
from memtree.budget.prices import Prices

KEYED = {
    "limits": TokenLimits(20_000, False, 100_000),
    "window": 128_000,
    "prices": Prices(1.25, 0.1, 3_600.0),
    "recipe": "minilm/1",
    "query": None,
}


@pytest.mark.parametrize(
    "other",
    [
        {"limits": TokenLimits(20_001, False, 100_000)},
        {"limits": TokenLimits(20_000, True, 100_000)},
        {"limits": TokenLimits(20_000, False, 100_000, alternate=True)},
        {"limits": TokenLimits(20_000, False, 100_000, keep_first=True)},
        {"window": 127_999},
        {"prices": Prices(1.0, 0.1, 3_600.0)},
        {"prices": Prices(1.25, 0.5, 3_600.0)},
        {"recipe": "minilm/2"},
        {"query": ""},
        {"query": "None"},
        {"recipe": "minilm/1', 'x", "query": None},
        {"memories": "messages"},
        {"dialect": "messages"},
    ],
    ids=str,
)
def test_requests_of_another_kind_have_another_key(other):
    assert epoch.key(**KEYED) == epoch.key(**dict(KEYED))
    assert epoch.key(**KEYED) != epoch.key(**{**KEYED, **other})


def test_a_dialect_is_no_scope_of_memories():
    one, two = {"memories": "messages"}, {"dialect": "messages"}
    assert epoch.key(**{**KEYED, **one}) != epoch.key(**{**KEYED, **two})
    assert epoch.key(**{**KEYED, **two}) != epoch.key(**{**KEYED, "dialect": "responses"})


def test_the_key_of_a_chat_is_that_of_stored_epochs():
    """Another value would end all epochs that are stored."""
    assert epoch.key(**KEYED, dialect="").hex() == "f70dc0474e7452acb5652758"


def test_what_does_not_make_bytes_is_not_in_the_key():
    """A reply of another length, or another lifetime of the cache, ends no epoch."""
    other = {"limits": TokenLimits(20_000, False, 90_000), "prices": Prices(1.25, 0.1, 300.0)}
    assert epoch.key(**KEYED) == epoch.key(**{**KEYED, **other})


def test_another_version_of_plans_has_another_key(monkeypatch):
    before = epoch.key(**KEYED)
    monkeypatch.setattr(epoch, "PLAN_VERSION", epoch.PLAN_VERSION + 1)
    assert epoch.key(**KEYED) != before
