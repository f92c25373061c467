"""Mark the handler of a route with its method, its path and its query; the router is built from
these marks."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, Final, NamedTuple, TypeVar

from memtree_proxy.http.decoding import Posted
from memtree_proxy.wire.values import NoQuery

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
