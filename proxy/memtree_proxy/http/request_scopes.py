"""Scope of a request: the tenant itself or one of its users (`x-user-id`), or the agents' memories
that `agentId` and `subjectId` name in its query or body.

agentId                 what the agent remembers without a subject
agentId, subjectId      what it remembers of one subject
* in place of either    every agent, every subject of the tenant; on routes that allow several
neither                 no agent's: the caller decides
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from starlette.datastructures import QueryParams
from starlette.requests import Request

from memtree.agents.agent_memory import ALL, AgentScopes
from memtree.errors import BadRequest
from memtree.memories.scope import Scope, checked_id
from memtree_proxy.http.auth import SESSION_COOKIE, Tenant
from memtree_proxy.http.headers import USER_HEADER, own_value

AGENT, SUBJECT = AGENT_FIELDS = ("agentId", "subjectId")


def agent_scopes(named: Mapping[str, object], tenant: str, place: str = "") -> AgentScopes | None:
    """Return the scopes; None if no agent is named. `place`: prefix of the fields in errors. Raises
    `BadRequest` that names the field."""
    names = (f"{place}{AGENT}", f"{place}{SUBJECT}")
    return meant_agents(named.get(AGENT), named.get(SUBJECT), tenant, names)


def meant_agents(
    agent: object, subject: object, tenant: str, names: tuple[str, str]
) -> AgentScopes | None:
    """Return the scopes; None if neither is given. `names`: of the two fields in errors. Raises
    `BadRequest`."""
    agent_name, subject_name = names
    if agent is None:
        if subject is not None:
            raise BadRequest(
                f"{subject_name} needs {agent_name}, which may be {ALL}", param=subject_name
            )
        return None
    return AgentScopes(
        tenant,
        None if agent == ALL else checked_id(agent, agent_name),
        "" if subject is None else None if subject == ALL else checked_id(subject, subject_name),
    )


def queried_agents(query: QueryParams, tenant: str) -> AgentScopes | None:
    """Read the scopes as `agent_scopes` does; a repeated field is a 400, since two readers may see
    two agents."""
    refuse_twice(query, AGENT_FIELDS)
    return agent_scopes(query, tenant)


def refuse_twice(query: QueryParams, names: Iterable[str]) -> None:
    """Raise `BadRequest` for a repeated query field, because two readers may see two values."""
    for name in names:
        if len(query.getlist(name)) > 1:
            raise BadRequest(f"{name} is given twice", param=name)


def single_scope(scopes: AgentScopes) -> Scope:
    """Return the single scope. Raises `BadRequest` if there may be several."""
    scope = scopes.single
    if scope is None:
        name = AGENT if scopes.agent is None else SUBJECT
        raise BadRequest(f"{name} must be one name; {ALL} is for lists and searches", param=name)
    return scope


def user_scope(request: Request, tenant: Tenant) -> Scope:
    """Return the tenant itself, or the user within it that `x-user-id` names; raises `BadRequest`
    for an invalid id.

    A browser's cookie authenticates only its owner, so together with a valid cookie the header is
    ignored.
    """
    headers = request.headers
    if USER_HEADER not in headers or (tenant.keyed and request.cookies.get(SESSION_COOKIE)):
        return Scope.of_user(tenant.id)
    return Scope.of_user(tenant.id, checked_id(own_value(headers, USER_HEADER), USER_HEADER))
