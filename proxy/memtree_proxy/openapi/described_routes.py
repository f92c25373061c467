"""Operations of the document, made from the rows that stand at the handlers."""

from __future__ import annotations

from collections import defaultdict

from memtree.config import Settings
from memtree_proxy.openapi import failures
from memtree_proxy.openapi.memories import parts
from memtree_proxy.openapi.operations import operation
from memtree_proxy.wire.json_schema import Json, ref
from memtree_proxy.wire.operation import Operation, operations


def described_routes(settings: Settings, *routes: type) -> dict[str, Json]:
    """The path items of these classes of handlers, by path."""
    paths: dict[str, Json] = defaultdict(dict)
    for kind in routes:
        for row, _ in operations(kind):
            paths[row.path][row.method.lower()] = _described(row, settings)
    return dict(paths)


def _described(row: Operation, settings: Settings) -> Json:
    made = {
        str(status): parts.answer(*named, media=row.media) for status, named in row.answers.items()
    }
    responses = {**made, **failures.of(settings, *row.errors)}
    given = [ref("parameters", one) if isinstance(one, str) else one for one in row.parameters]
    if row.deletes:
        return parts.delete_operation(
            row.tag, row.id, row.summary, row.says, responses, given, purged="purge" in row.deletes
        )
    more: Json = {"parameters": given}
    if row.body:
        body = row.body
        more["requestBody"] = ref("requestBodies", body) if isinstance(body, str) else body
    return operation(row.id, row.tag, row.summary, row.says, responses, **more)
