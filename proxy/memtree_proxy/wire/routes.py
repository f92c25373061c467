"""Mark the handler of a route with its method and path; the router is built from these marks."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, Final, TypeVar

_MARK: Final = "routes"
Handler = TypeVar("Handler", bound=Callable[..., Any])


def route(method_and_path: str) -> Callable[[Handler], Handler]:
    """Mark a handler with a route, as in `GET /memories/{memory_id}`."""
    method, _, path = method_and_path.partition(" ")

    def marked(handler: Handler) -> Handler:
        setattr(handler, _MARK, (*getattr(handler, _MARK, ()), (method, path)))
        return handler

    return marked


def routes(handlers: object) -> Iterator[tuple[str, str, str]]:
    """Yield method and path of each route of an object, and the name of its handler."""
    for name, handler in vars(type(handlers)).items():
        for method, path in getattr(handler, _MARK, ()):
            yield method, path, name
