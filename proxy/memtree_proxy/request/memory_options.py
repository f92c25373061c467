"""`memory_options` of a chat body: options for the memories of its user."""

from __future__ import annotations

from dataclasses import dataclass

from memtree.errors import BadRequest
from memtree.memories.user_memories import MOST_TOP_K
from memtree.wire.json_body import Body
from memtree_proxy.request import fields

NAME = "memory_options"


@dataclass(frozen=True, slots=True)
class MemoryOptions:
    """None: as in the user's settings. `enabled`: memories are added to this request, and extracted
    from it as far as that is switched on; False: neither."""

    enabled: bool | None = None
    top_k: int | None = None
    threshold: float | None = None


DEFAULTS = MemoryOptions()


def of(body: Body) -> MemoryOptions:
    """Read the options. Raises `BadRequest` that names the field. Unknown names are ignored."""
    given = body.value(NAME)
    if given is None:
        return DEFAULTS
    if not isinstance(given, dict):
        raise BadRequest(f"{NAME} must be an object", param=NAME)
    return MemoryOptions(
        fields.boolean(given.get("enabled"), f"{NAME}.enabled"),
        fields.integer(given.get("top_k"), f"{NAME}.top_k", 1, MOST_TOP_K),
        fields.number(given.get("score_threshold"), f"{NAME}.score_threshold", 0.0, 1.0),
    )
