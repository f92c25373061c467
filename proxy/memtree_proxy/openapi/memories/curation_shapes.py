"""Shapes of looking after memories: what is posted and what is answered, in each dialect."""

from __future__ import annotations

from collections.abc import Mapping

from memtree.config import Settings
from memtree_proxy.wire.curation import text_of
from memtree_proxy.wire.json_schema import (
    NULL,
    STRING,
    Json,
    array,
    described,
    either,
    object_of,
    when_given,
)
from memtree_proxy.wire.types import (
    GIVEN_TAGS,
    RELEVANCE,
    STANDING,
)


def posted_fields(
    text: str, settings: Settings, category: Json, says: str, **more: Json
) -> dict[str, Json]:
    """Fields of a memory that somebody posts. `text`: the field of its text; `category`: its schema
    and what is said of it; `more`: further fields."""
    return {
        text: text_of(settings),
        "category": described(either(category, NULL), says),
        "tags": described(
            either(GIVEN_TAGS, NULL), "Kept in lower case, with hyphens for white space."
        ),
        **more,
        "standing": either(STANDING, NULL),
    }


def edit_of(given: Mapping[str, Json], text: str) -> Json:
    """The change of a memory with these fields. Null says something for `expires_at` alone."""
    named = [name for name in given if name != "expires_at"]
    return {
        **object_of(
            {**given, text: either(given[text], NULL)},
            (),
            description="What is to be changed: at least one field.",
            additionalProperties=False,
        ),
        "anyOf": [
            *(when_given(name) for name in named),
            *({"required": [name]} for name in given if name not in named),
        ],
    }


def hits_of(row: Mapping[str, Json]) -> Json:
    """The answer to a search for memories that have these fields."""
    return object_of(
        {
            "memories": array(
                object_of({**row, "relevance": RELEVANCE}), description="The best first."
            ),
            "degraded": described(
                array(STRING), "`embedder`: words alone ranked, or some memories lack a vector."
            ),
        }
    )
