"""Marks at handlers: from these, routes are served."""

from __future__ import annotations

from starlette.requests import Request
from starlette.responses import Response

from memtree_proxy.server.routing import described, family
from memtree_proxy.wire.routes import Mark, route, routes
from memtree_proxy.wire.values import DryRun, NoQuery

PATH = "/teas/{tea}"


class Teas:
    @route(f"GET {PATH}")
    async def show(self, request: Request) -> Response:
        return Response("shown")

    @route(f"DELETE {PATH}", DryRun)
    @route("POST /teas/drop")
    async def drop(self, request: Request) -> Response:
        return Response("gone")

    async def other(self, request: Request) -> Response:
        return Response("no route")


def test_each_mark_is_a_route_with_its_handler():
    assert list(routes(Teas())) == [
        Mark("GET", PATH, NoQuery, "show"),
        Mark("POST", "/teas/drop", NoQuery, "drop"),
        Mark("DELETE", PATH, DryRun, "drop"),
    ]


def test_the_handlers_of_a_path_are_one_route_under_each_prefix():
    paths = [one.path for one in described(Teas())]
    for path, of in (("/teas/drop", paths[:4]), (PATH, paths[4:])):
        assert sorted(of) == sorted([path, f"/v1{path}", f"/api{path}", f"/api/v1{path}"])
    assert len(family("/teas", Teas())) == 12
