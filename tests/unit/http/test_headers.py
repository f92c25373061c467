"""Header fields of ours that clients or front proxies repeat."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import pytest
from starlette.datastructures import Headers
from starlette.requests import Request

from memtree.config import Settings
from memtree.conversation.keep_options import KeepOptions
from memtree.errors import BadRequest
from memtree_proxy.access.auth import Tenant, credentials
from memtree_proxy.access.request_scopes import user_scope
from memtree_proxy.http.headers import own_value, own_values
from memtree_proxy.request import fields
from memtree_proxy.request.options import DEFAULTS


def posted(name: str, *lines: str) -> Headers:
    return Headers(raw=[(name.encode(), line.encode()) for line in lines])


@pytest.mark.parametrize(
    ("lines", "values"),
    [
        ([" a "], ["a"]),
        (["a", "a"], ["a"]),
        (["a , a,a"], ["a"]),
        (["a,b"], ["a,b"]),  # a credential may hold a comma
        (["a", "b, b", "a"], ["a", "b"]),
        ([""], [""]),
    ],
)
def test_equal_values_count_once(lines: list[str], values: list[str]):
    assert own_values(posted("x-user-id", *lines), "x-user-id") == values


def _of(read: Callable[[Request], object]) -> Callable[[Headers], object]:
    return lambda headers: read(Request({"type": "http", "headers": headers.raw}))


def _kept(headers: Mapping[str, str]) -> KeepOptions:
    return fields.keep(DEFAULTS, headers, Settings())


READERS: dict[str, tuple[str, str, Callable[[Headers], Any]]] = {
    "x-user-id": ("ann", "ben", _of(lambda request: user_scope(request, Tenant("t", keyed=False)))),
    "x-chat-id": ("c", "d", lambda headers: own_value(headers, "x-chat-id")),
    "x-memtree-key": ("K", "L", _of(lambda request: list(credentials(request)))),
    "x-memtree-mode": ("fresh", "auto", lambda headers: fields.mode(None, headers, "stable")),
    "x-memtree-keep": ('{"keep_patterns": ["a"]}', "{}", _kept),
    "memory-expiration-days": ("3", "4", lambda headers: fields.expiration_days(None, headers, 9)),
}


@pytest.mark.parametrize("name", READERS)
def test_each_reader_takes_equal_values_and_refuses_others(name: str):
    value, other, read = READERS[name]
    assert read(posted(name, value, value)) == read(posted(name, value))
    with pytest.raises(BadRequest) as refused:
        read(posted(name, value, other))
    assert refused.value.param == name
    assert refused.value.message == f"{name} is given twice, with different values"
