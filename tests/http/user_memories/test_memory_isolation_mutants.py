"""The isolation tests must notice a broken scope: each mutant here is one plausible mistake."""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from memtree.agents.agent_memory import AgentScopes
from memtree.memories.scope import Scope, ScopeKind
from memtree.stores.memories import scopes
from memtree.stores.memories.table_rows import scope_values
from memtree_proxy.http import auth
from tests.http.owned.owners import ASKS, OTHER
from tests.http.user_memories import test_memory_isolation as isolation

pytestmark = pytest.mark.slow


def of_every_tenant(original: Any) -> Any:
    """The clause of the tenant is gone."""

    def mutant(meant: AgentScopes, *rest: Any) -> Any:
        condition, values = original(meant, *rest)
        return condition.replace("= :tenant", "<> ''"), values

    return mutant


def of_every_agent(original: Any) -> Any:
    return lambda meant, *rest: original(replace(meant, agent=None), *rest)


def of_every_subject(original: Any) -> Any:
    return lambda meant, *rest: original(replace(meant, subject=None), *rest)


def of_users_as_well(original: Any) -> Any:
    """The clause of the kind is gone."""

    def mutant(meant: AgentScopes, *rest: Any) -> Any:
        condition, values = original(meant, *rest)
        return condition.replace("= :scope_kind", "<> ''"), values

    return mutant


def no_subject_is_all(original: Any) -> Any:
    """Leaving the subject out means everybody: how the source service does it."""

    def mutant(named: Any, tenant: str, place: str = "") -> Any:
        found = original(named, tenant, place)
        if found is not None and named.get("subjectId") is None:
            return replace(found, subject=None)
        return found

    return mutant


def stars_are_let_through(original: Any) -> Any:
    return lambda scopes: Scope.of_agent(scopes.tenant, scopes.agent or "a", scopes.subject or "")


def agents_are_users(original: Any) -> Any:
    """A scope's kind is left out of what finds it."""

    def mutant(scope: Scope) -> Any:
        if scope.kind is ScopeKind.AGENT:
            scope = Scope.of_user(scope.tenant, scope.owner)
        return original(scope)

    return mutant


def subjects_are_agents(original: Any) -> Any:
    return lambda scope: original(replace(scope, subject=""))


def tenants_are_one(original: Any) -> Any:
    def mutant(request: Any, tenant: Any) -> Any:
        found = original(request, tenant)
        return replace(found, tenant=OTHER)

    return mutant


MUTANTS: list[tuple[Callable[..., Any], Callable[[Any], Any]]] = [
    (scopes.meant, of_every_tenant),
    (scopes.meant, of_every_agent),
    (scopes.meant, of_every_subject),
    (scopes.meant, of_users_as_well),
    (auth.agent_scopes, no_subject_is_all),
    (auth.single_scope, stars_are_let_through),
    (scope_values, agents_are_users),
    (scope_values, subjects_are_agents),
    (auth.user_scope, tenants_are_one),
]
# One of the store, one of the requests, one of what finds a scope.
FIRST = (of_every_tenant, no_subject_is_all, agents_are_users)


def broken(patch: pytest.MonkeyPatch, function: Callable[..., Any], mutate: Any) -> int:
    """Everywhere it was imported to; how often."""
    mutant, places = mutate(function), 0
    for module in list(sys.modules.values()):
        for name, value in list(vars(module).items()):
            if value is function:
                patch.setattr(module, name, mutant)
                places += 1
    return places


async def noticed() -> bool:
    """Return True if a test of isolation fails."""
    tests: list[Callable[[], Any]] = [
        isolation.test_an_answer_tells_of_nobody_else,
        isolation.test_an_id_opens_no_memory_of_anybody_else,
        lambda: isolation.test_all_of_a_scope_goes_and_nothing_else(ASKS["agent a"]),
        lambda: isolation.test_an_id_opens_what_it_may(ASKS["the tenant"]),
    ]
    for test in tests:
        try:
            await test()
        except AssertionError:
            return True
    return False


@pytest.mark.parametrize(
    ("function", "mutate"),
    [
        pytest.param(
            function, mutate, id=mutate.__name__, marks=() if mutate in FIRST else pytest.mark.long
        )
        for function, mutate in MUTANTS
    ],
)
async def test_a_broken_scope_is_noticed(
    function: Callable[..., Any], mutate: Any, monkeypatch: pytest.MonkeyPatch
):
    assert broken(monkeypatch, function, mutate)
    assert await noticed()


@pytest.mark.long
async def test_nothing_is_noticed_where_nothing_is_broken():
    assert not await noticed()
