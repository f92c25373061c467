"""Whose memories a request is about where no chat and no agent is named: the tenant's own, or those
of one of its users."""

from __future__ import annotations

from starlette.requests import Request

from memtree.memories.scope import Scope, checked_id
from memtree_proxy.access.auth import SESSION_COOKIE, Tenant
from memtree_proxy.http.own_headers import USER_HEADER


def user_scope(request: Request, tenant: Tenant) -> Scope:
    """The tenant itself, or the user within it that `x-user-id` names; raises `BadRequest` for one
    that is no id.

    A browser's cookie lets its owner in and nobody else, so beside one that may count the header
    is ignored.
    """
    named = request.headers.get(USER_HEADER)
    if named is None or (tenant.keyed and request.cookies.get(SESSION_COOKIE)):
        return Scope.of_user(tenant.id)
    return Scope.of_user(tenant.id, checked_id(named, USER_HEADER))
