"""Check what a request is called in the log."""

from __future__ import annotations

from typing import Any

import pytest

from memtree_proxy.observability import request_trace


@pytest.mark.parametrize(
    ("raw", "route"),
    [
        (b"/v1/models?key=secret", "/v1/models"),
        (b"/v1/a%0Ab", "/v1/a%0Ab"),
        (b"/" + b"x" * 500, "/" + "x" * 119),
    ],
)
def test_a_route_is_the_path_without_the_query(raw: bytes, route: str):
    scope: dict[str, Any] = {"method": "GET", "path": "/", "raw_path": raw}
    assert request_trace.begin(scope).route == route
