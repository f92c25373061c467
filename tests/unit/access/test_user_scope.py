"""The tenant's own memories, or those of a user within it."""

from __future__ import annotations

import pytest
from starlette.requests import Request

from memtree.errors import BadRequest
from memtree.memories.scope import Scope
from memtree_proxy.access.auth import Tenant
from memtree_proxy.access.request_scopes import user_scope


def request(**headers: str) -> Request:
    raw = [(name.replace("_", "-").encode(), v.encode("latin-1")) for name, v in headers.items()]
    return Request({"type": "http", "headers": raw})


@pytest.mark.parametrize("keyed", [True, False])
def test_the_tenant_itself_or_a_user(keyed: bool):
    tenant = Tenant("t_1", keyed=keyed)
    assert user_scope(request(), tenant) == Scope.of_user("t_1")
    assert user_scope(request(x_user_id="ann@x.org"), tenant) == Scope.of_user("t_1", "ann@x.org")


def test_a_cookie_that_may_count_lets_nobody_choose():
    given = request(x_user_id="ann", cookie="session=abc")
    assert user_scope(given, Tenant("t_1", keyed=True)) == Scope.of_user("t_1")
    # Without keys no cookie counts: any local web app may have set it.
    assert user_scope(given, Tenant("t_1", keyed=False)) == Scope.of_user("t_1", "ann")


@pytest.mark.parametrize("name", ["", " ", "a b", "ü", "x" * 201, "../other", "a\x00"])
def test_what_is_no_id_is_refused(name: str):
    with pytest.raises(BadRequest, match="x-user-id"):
        user_scope(request(x_user_id=name), Tenant("t_1", keyed=False))
