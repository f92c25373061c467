"""Shapes of looking after memories: what is posted and what is answered, in each dialect."""

from __future__ import annotations

from collections.abc import Mapping

from memtree.config import Settings
from memtree_proxy.memories.fields import MAX_IDS
from memtree_proxy.memories.user.fields import FILTER_CATEGORY, GIVEN_TIME, SOURCE_TYPE
from memtree_proxy.memories.user.fields import SWITCHES as SWITCHED
from memtree_proxy.wire.json_schema import (
    BOOLEAN,
    COUNT,
    NULL,
    STRING,
    Json,
    array,
    described,
    either,
    object_of,
    schema,
)
from memtree_proxy.wire.types import (
    GIVEN_TAGS,
    MEMORY_ID,
    NO_NUL,
    RELEVANCE,
    SAYS_SOMETHING,
    STANDING,
    TIME,
)

_MAYBE_STRING = either(STRING, NULL)
SWITCHES = {
    "dry_run": described(either(BOOLEAN, NULL), "Count them, and delete nothing."),
    "purge": described(either(BOOLEAN, NULL), "Erase them at once, for good."),
}
DRY_RUN = object_of(
    {"dry_run": {"const": True}, "count": described(COUNT, "How much would go.")},
    description="Nothing is deleted.",
)
BULK_RECEIPT = either(
    object_of(
        {
            "deleted": COUNT,
            "verified": described(
                BOOLEAN,
                "No list, search, history, past list or export answers one of them, or a twin of "
                "it in its scope (looked for are up to 50).",
            ),
            "apart": object_of(
                {
                    "undelete_until": described(
                        either(TIME, NULL), "Until then `undelete` brings them back."
                    ),
                    "tombstones": described(COUNT, "Ids and dates of those that were forgotten."),
                    "snapshots": described(
                        array(MEMORY_ID), "Snapshots of conversations that quote one of them."
                    ),
                    "other_scopes": {"const": "kept"},
                },
                description="What stands apart. Equal texts of other scopes are not looked for.",
            ),
        },
        description="They are deleted.",
    ),
    schema("DryRun"),
)


def history_of(version: Json) -> Json:
    """Schema of a memory's history. `version`: schema of the memory at one time."""
    return object_of(
        {
            "id": MEMORY_ID,
            "versions": array(version, description="The newest, which counts, first."),
            "replaced": array(
                object_of(
                    {
                        "id": MEMORY_ID,
                        "replaced_at": TIME,
                        "replaced_by": either(MEMORY_ID, NULL),
                        "reason": _MAYBE_STRING,
                        "versions": array(version),
                    }
                ),
                description="Memories that it took the place of, and what these said.",
            ),
        }
    )


def tombstones_of(text: str) -> Json:
    """Schema of a list of tombstones. `text`: the name of the field that holds a text."""
    stone = {
        "id": MEMORY_ID,
        "number": COUNT,
        "at": TIME,
        "reason": _MAYBE_STRING,
        text: described(_MAYBE_STRING, "Null of what was forgotten."),
        "replaced_by": either(MEMORY_ID, NULL),
    }
    return object_of({"tombstones": array(object_of(stone))})


def bulk_deletion(filters: Mapping[str, Json], more: Mapping[str, Json]) -> Json:
    """Schema of a request that deletes many memories. `filters`: fields that a filter may have;
    `more`: fields beside the filter."""
    wanted = object_of(
        filters,
        (),
        additionalProperties=False,
        anyOf=[given_field(name) for name in filters],
        description="All of these must hold; a filter that says nothing is a 400.",
    )
    which = {
        "filter": either(wanted, NULL),
        "ids": either(array(STRING, minItems=1, maxItems=MAX_IDS), NULL),
        "all": described(
            either(BOOLEAN, NULL), "Everything that is stored, also what expired or was replaced."
        ),
    }
    everything = {"required": ["all"], "properties": {"all": {"const": True}}}
    return {
        **object_of({**which, **SWITCHES, **more}, (), additionalProperties=False),
        "oneOf": [given_field("filter"), given_field("ids"), everything],
    }


def posted_fields(
    text: str, settings: Settings, category: Json, says: str, **more: Json
) -> dict[str, Json]:
    """Fields of a memory that somebody posts. `text`: the field of its text; `category`: its schema
    and what is said of it; `more`: further fields."""
    shape = {
        **NO_NUL,
        "type": "string",
        "pattern": SAYS_SOMETHING,
        "maxLength": settings.max_text_chars,
    }
    return {
        text: described(shape, "The text to remember. Secrets are refused."),
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
            *(given_field(name) for name in named),
            *({"required": [name]} for name in given if name not in named),
        ],
    }


def merge_of(given: Mapping[str, Json], text: str) -> Json:
    """The change in which a memory takes the place of an older one."""
    return object_of(
        {
            "replaces": described(STRING, "The id of the older memory."),
            text: either(given[text], NULL),
        },
        ("replaces",),
    )


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


def filter_fields(tags: Json, **more: Json) -> dict[str, Json]:
    """Fields of the filter of a bulk deletion. `more`: further fields."""
    return {
        "category": either(FILTER_CATEGORY, NULL),
        "tags": tags,
        "source_type": either(SOURCE_TYPE, NULL),
        **more,
        **{name: either(BOOLEAN, NULL) for name in SWITCHED},
        "created_from": either(GIVEN_TIME, NULL),
        "created_before": either(GIVEN_TIME, NULL),
    }


def given_field(name: str) -> Json:
    return {"required": [name], "properties": {name: {"not": NULL}}}
