"""Options of a delete route: `dry_run` and `purge`.

Both may be in the query or in the body. A delete route refuses all unknown fields: ignoring a
mistyped `dry_run`, or a filter of another route, would delete more than was requested.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import NamedTuple

from starlette.datastructures import QueryParams

from memtree.errors import BadRequest
from memtree.history.json_body import Body
from memtree_proxy.http.decoding import converted, header, unknown

DRY_RUN, PURGE = "dry_run", "purge"


class DeleteOptions(NamedTuple):
    """`dry_run`: delete nothing and return how much would be deleted. `purge`: erase it for
    good."""

    dry_run: bool
    purge: bool


def read(
    query: QueryParams,
    body: Body | None,
    switches: Collection[str] = (DRY_RUN, PURGE),
    *,
    queried: Iterable[str] = (),
    posted: Iterable[str] = (),
) -> DeleteOptions:
    """Read the options. `queried`, `posted`: other fields that the query and the body may have.
    Raises `BadRequest` that names an unknown field, or a switch given in both."""
    refuse_unknown(query, {*switches, *queried}, "query parameter")
    refuse_unknown(body.spans if body else (), {*switches, *posted}, "field")
    values = {}
    for name in switches:
        in_query = header(bool, query, name)
        posted_value = body.value(name) if body else None
        value = None if posted_value is None else converted(bool, posted_value, name)
        if len(query.getlist(name)) > 1 or None not in (in_query, value):
            raise BadRequest(f"{name} is given twice", param=name)
        values[name] = bool(in_query or value)
    return DeleteOptions(values.get(DRY_RUN, False), values.get(PURGE, False))


def refuse_unknown(given: Iterable[str], known: Collection[str], what: str) -> None:
    """Raise `BadRequest` for the first unknown name. `what`: the kind of name."""
    for name in given:
        if name not in known:
            raise unknown(name, known, what)
