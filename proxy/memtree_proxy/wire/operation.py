"""Describe a route at its handler: both the router and the OpenAPI document are built from it."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final, TypeVar

from memtree_proxy.http.request_body import ENCODING_HEADER
from memtree_proxy.wire.json_schema import Json

# Statuses of errors, by what a route does; each list includes those before it.
ALWAYS = (403, 405, 421, 431, 500)
KNOWN = (401, 408, 429, 503, *ALWAYS)  # of routes that check a credential
READING = (400, 413, 415, *KNOWN)  # of routes that read a body

_ROWS: Final = "operations"
Handler = TypeVar("Handler", bound=Callable[..., Any])


@dataclass(frozen=True, slots=True, kw_only=True)
class Operation:
    """Description of a route. `says` may hold the setting `{deleted_days}`. `answers`: by status,
    the meaning, then names of shapes or the whole content. `errors`: statuses. `parameters`,
    `body`: names in the document, or definitions. `deletes`: switches of a deletion, `dry_run` and
    `purge`. `etag`: answers have an ETag; None: only some shapes do."""

    method: str
    path: str
    id: str
    tag: str
    summary: str
    says: str
    answers: Mapping[int, tuple[str | Json, ...]]
    errors: tuple[int, ...]
    parameters: tuple[str | Json, ...] = ()
    body: str | Json = ""
    deletes: tuple[str, ...] = ()
    etag: bool | None = False


def operation(
    route: str, id_: str, tag: str, summary: str, says: str, **more: Any
) -> Callable[[Handler], Handler]:
    """Attach a description to a handler, once for each of its methods. `route`: method and path.
    `more`: further fields of `Operation`."""
    method, _, path = route.partition(" ")
    row = Operation(method=method, path=path, id=id_, tag=tag, summary=summary, says=says, **more)

    def noted(handler: Handler) -> Handler:
        setattr(handler, _ROWS, (row, *getattr(handler, _ROWS, ())))
        return handler

    return noted


def memory_operation(tag: str) -> Callable[..., Callable[[Handler], Handler]]:
    """Return the decorator `operation` for routes of memories under this tag. It adds the ids in
    the path before other parameters, the content encoding of a body after them, and the error
    statuses that follow from credentials, parameters and a body."""

    def noting(
        route: str,
        id_: str,
        summary: str,
        says: str,
        *,
        errors: tuple[int, ...] = (),
        parameters: tuple[str | Json, ...] = (),
        **more: Any,
    ) -> Callable[[Handler], Handler]:
        body = "body" in more
        ids = [name for name in re.findall(r"{(\w+)}", route) if name not in parameters]
        encoding = [ENCODING_HEADER] if body and ENCODING_HEADER not in parameters else []
        given = (*ids, *parameters, *encoding)
        always = READING if body else (400, *KNOWN) if given or "deletes" in more else KNOWN
        more |= {"errors": (*errors, *always), "parameters": given}
        return operation(route, id_, tag, summary, says, **more)

    return noting


def operations(routes: object) -> Iterator[tuple[Operation, str]]:
    """Yield each operation of a class of handlers, or of an instance, with its handler's name."""
    kind = routes if isinstance(routes, type) else type(routes)
    for name, handler in vars(kind).items():
        for row in getattr(handler, _ROWS, ()):
            yield row, name
