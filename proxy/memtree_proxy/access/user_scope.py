"""Scope of a request that names no chat and no agent: the tenant itself, or one of its users."""

from __future__ import annotations

from starlette.requests import Request

from memtree.memories.scope import Scope, checked_id
from memtree_proxy.access.auth import SESSION_COOKIE, Tenant
from memtree_proxy.http.headers import USER_HEADER


def user_scope(request: Request, tenant: Tenant) -> Scope:
    """Return the tenant itself, or the user within it that `x-user-id` names; raises `BadRequest`
    for an invalid id.

    A browser's cookie authenticates only its owner, so together with a valid cookie the header is
    ignored.
    """
    named = request.headers.get(USER_HEADER)
    if named is None or (tenant.keyed and request.cookies.get(SESSION_COOKIE)):
        return Scope.of_user(tenant.id)
    return Scope.of_user(tenant.id, checked_id(named, USER_HEADER))
