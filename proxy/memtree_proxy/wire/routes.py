"""Marks the handlers of routes, and builds the JSON that they answer.

A mark holds a method, a path and a query; the router is built from the marks. Answers are never
cached, and have a memory's version as ETag.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, Final, NamedTuple, TypeVar

import msgspec
from starlette.responses import Response

from memtree.memories.memory import Memory
from memtree_proxy.http.decoding import Posted
from memtree_proxy.wire.values import Answer, Counted, NoQuery, Success

_MARK: Final = "routes"
Handler = TypeVar("Handler", bound=Callable[..., Any])


class Mark(NamedTuple):
    """`query`: the Struct of the query; `handler`: the name of the method."""

    method: str
    path: str
    query: type[Posted]
    handler: str = ""


def route(method_and_path: str, query: type[Posted] = NoQuery) -> Callable[[Handler], Handler]:
    """Mark a handler with a route, as in `GET /memories/{memory_id}`. Query parameters that the
    Struct does not have are refused."""
    method, _, path = method_and_path.partition(" ")

    def marked(handler: Handler) -> Handler:
        setattr(handler, _MARK, (*getattr(handler, _MARK, ()), Mark(method, path, query)))
        return handler

    return marked


def routes(handlers: object) -> Iterator[Mark]:
    """Yield the routes of an object."""
    for name, handler in vars(type(handlers)).items():
        for mark in getattr(handler, _MARK, ()):
            yield mark._replace(handler=name)


def answer(made: Answer, status: int = 200, of: Memory | None = None) -> Response:
    """Build a JSON response. `of`: the memory whose version becomes the ETag."""
    response = Response(msgspec.json.encode(made), status, media_type="application/json")
    response.headers["cache-control"] = "no-store"
    if of is not None:
        response.headers["etag"] = f'"{of.version}"'
    return response


def counted(count: int) -> Response:
    """Answer a dry run with the number of memories that would be deleted."""
    return answer(Counted(count=count))


def done() -> Response:
    return answer(Success())
