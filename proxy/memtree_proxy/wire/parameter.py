"""Define parameters of routes for the OpenAPI document."""

from __future__ import annotations

from memtree_proxy.wire.json_schema import Json
from memtree_proxy.wire.shape import Shape, kinds
from memtree_proxy.wire.types import SEARCHED

OFF: Json = {"type": "boolean", "default": False}


def limit(most: int, default: int) -> Json:
    shape = {"type": "integer", "default": default}  # clamped, so the schema has no bounds
    return query("limit", f"Most memories of the answer; clamped to 1 to {most:,}.", shape)


def search_text() -> Json:
    shape = {**SEARCHED, "examples": ["When is it due?"]}
    return {**query("query", "What to look for.", shape), "required": True}


def purge() -> Json:
    return query(
        "purge",
        "Erase it at once, for good; also one that was deleted before.",
        OFF,
    )


def query(name: str, description: str, shape: Json) -> Json:
    return {"name": name, "in": "query", "required": False, "description": description,
            "schema": shape}  # fmt: skip


def queried(shape: type[Shape]) -> list[Json]:
    """Describe the fields of a shape that is read from a query."""
    return [query(name, says, made) for name, says, made in kinds(shape)]


def header(name: str, description: str, shape: Json) -> Json:
    return {**query(name, description, shape), "in": "header"}


def path(name: str, description: str, shape: Json) -> Json:
    return {**query(name, description, shape), "in": "path", "required": True}
