"""A route's row, written at its handler: the route is served and described from that."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final, TypeVar

from memtree_proxy.wire.json_schema import Json

# Statuses of errors.
ALWAYS = (403, 405, 421, 431, 500)
KNOWN = (401, 408, 429, 503, *ALWAYS)  # where a credential is looked at
READING = (400, 413, 415, *KNOWN)  # where a body is read

_ROW: Final = "operation"
Handler = TypeVar("Handler", bound=Callable[..., Any])


@dataclass(frozen=True, slots=True, kw_only=True)
class Operation:
    """`answers`: by status what it means, and the names of the shapes it may have. `errors`: the
    statuses of errors. `parameters`, `body`: names in the document, or whole ones. `deletes`: the
    switches of a deletion, `dry_run` and `purge`. `media`: type of the answers."""

    method: str
    path: str
    id: str
    tag: str
    summary: str
    says: str
    answers: Mapping[int, tuple[str, ...]]
    errors: tuple[int, ...]
    parameters: tuple[str | Json, ...] = ()
    body: str | Json = ""
    deletes: tuple[str, ...] = ()
    media: str = "application/json"


def operation(
    route: str, id_: str, tag: str, summary: str, says: str, **more: Any
) -> Callable[[Handler], Handler]:
    """Note at a handler what it answers. `route`: method and path. `more`: as `Operation`."""
    method, _, path = route.partition(" ")
    row = Operation(method=method, path=path, id=id_, tag=tag, summary=summary, says=says, **more)

    def noted(handler: Handler) -> Handler:
        setattr(handler, _ROW, row)
        return handler

    return noted


def operations(routes: object) -> Iterator[tuple[Operation, str]]:
    """Each row of a class of handlers, or of an instance, with its handler's name."""
    kind = routes if isinstance(routes, type) else type(routes)
    for name, handler in vars(kind).items():
        row = getattr(handler, _ROW, None)
        if isinstance(row, Operation):
            yield row, name
