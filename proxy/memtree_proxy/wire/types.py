"""Define types of values that several route families share, each with its JSON Schema."""

from __future__ import annotations

from typing import Any

from memtree.conversation.address_chain import DIGEST_BYTES
from memtree.errors import BadRequest, SecretRejected
from memtree.memories.agents.schemas.memory_schema import KIND_PATTERN, checked_kind
from memtree.memories.draft import checked_text
from memtree.memories.fields.tags import MAX_GIVEN, canonical_tags
from memtree.memories.memory import MAX_TAGS, MemoryState
from memtree.memories.scope import checked_id
from memtree_proxy.request import fields
from memtree_proxy.wire.json_schema import BOOLEAN, STRING, Json, array, described
from memtree_proxy.wire.shape import FromSetting, Type, TypeNow

MAX_QUERY = 8_000  # characters of a search query, which the embedder reads whole

# -- schemas ---------------------------------------------------------------------------------

CHAT_ID: Json = {
    "type": "string",
    "pattern": r"^[A-Za-z0-9._~:@\-]{1,200}$",
    "examples": ["550e8400-e29b-41d4-a716-446655440000"],
}
ADDRESS_SHAPE: Json = {"type": "string", "pattern": f"^[0-9a-f]{{{2 * DIGEST_BYTES}}}$"}
# Agent or subject, or `*` for all of them.
MANY: Json = {"type": "string", "pattern": r"^([A-Za-z0-9._~:@\-]{1,200}|\*)$"}
KIND: Json = {"type": "string", "pattern": f"^{KIND_PATTERN}$", "examples": ["UserProfile"]}
GIVEN_TAGS = array({"type": "string", "maxLength": MAX_GIVEN}, maxItems=MAX_TAGS)
TRUE: Json = {"const": True}
MILLISECONDS = described({"type": "integer"}, "Milliseconds since 1970.")
TIME: Json = {"type": "string", "format": "date-time"}
MEMORY_ID = described(STRING, "As in `mem_3f9a...`.", examples=["mem_0b1c2d3e4f5a6b7c8d9e"])
RELEVANCE = described(
    {"type": "number", "minimum": 0, "maximum": 1},
    "How near it is to what was asked. 0.85 is what most paraphrases reach, 0.5 what hardly any "
    "unrelated memory does.",
)
STATE = described(
    {"type": "string", "enum": [state.value for state in MemoryState]},
    "Whether it counts. Lists and searches show expired and superseded ones where `include` asks "
    "for them; by its id each is shown, changed and deleted.",
)
VERSION = described({"type": "integer", "minimum": 1}, "One more with each change; the `etag`.")
# A character that Python's `str.strip` keeps.
SAYS_SOMETHING = r"[^\t-\r\x1c-\x20\x85\xa0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000]"
SEARCHED: Json = {"type": "string", "pattern": SAYS_SOMETHING, "maxLength": MAX_QUERY}
NO_NUL: Json = {"not": {"pattern": r"\x00"}}
STANDING = described(
    {"type": "boolean"},
    "It stands in every prompt that memories of its scope stand in: a wish for every answer, or "
    "what the user is. Rules decide, unless it is given.",
)
TAGS_SAY = "Kept in lower case, with hyphens for white space."

# -- types -----------------------------------------------------------------------------------


def checked_query(value: object, name: str) -> str:
    """Return the query of a search. Raises `BadRequest` if it is empty or too long."""
    query = fields.text(value, name)
    if query is None or not query.strip():
        raise BadRequest(f"{name} must be a text that is not empty", param=name)
    if len(query) > MAX_QUERY:
        raise BadRequest(f"{name} must be at most {MAX_QUERY} characters", param=name)
    return query


def memory_text(value: object, name: str, by: Any) -> str:
    """Read the text of a memory. `by`: has `max_text_chars`. Raises `BadRequest` and
    `SecretRejected`, naming the field."""
    try:
        return checked_text(fields.text(value, name) or "", by.max_text_chars, name)
    except SecretRejected as error:
        raise SecretRejected(f"{name}: {error.message}", param=name) from None


def clamped(low: int, most: int) -> Type:
    """Return the type of an integer that is clamped; its schema therefore has no bounds."""
    return Type({"type": "integer"}, lambda value, name: fields.integer(value, name, low, most))


def one_of(*choices: str, **more: object) -> Type:
    """Return the type of a string among these. `more`: further keywords of its schema."""
    schema = {"type": "string", "enum": list(choices), **more}
    return Type(schema, lambda value, name: fields.choice(value, name, choices))


def ids(most: int) -> Type:
    """Return the type of an array of 1 to `most` ids. Repeated ids count towards `most` and are
    then dropped."""

    def read(value: object, name: str) -> list[str]:
        if (
            not isinstance(value, list)
            or not value
            or not all(isinstance(id_, str) for id_ in value)
        ):
            raise BadRequest(f"{name} must be a non-empty array of strings", param=name)
        if len(value) > most:
            raise BadRequest(f"{name} must be at most {most}", param=name)
        return list(dict.fromkeys(value))

    return Type(array(STRING, minItems=1, maxItems=most), read, reads_null=True)


AN_ID = Type(CHAT_ID, checked_id)
A_KIND = Type(KIND, checked_kind)
TAGS = Type(GIVEN_TAGS, canonical_tags)
QUERY = Type(SEARCHED, checked_query, reads_null=True)
YES_OR_NO = Type(BOOLEAN, fields.boolean)
IS_STANDING = Type(STANDING, fields.boolean)
A_SWITCH = Type(BOOLEAN, lambda value, name: fields.switch({name: value}, name))  # in a query
A_TEXT = Type(STRING, fields.text)
MEMORY_TEXT = TypeNow(
    {
        **NO_NUL,
        "type": "string",
        "pattern": SAYS_SOMETHING,
        "maxLength": FromSetting("max_text_chars"),
        "description": "The text to remember. Secrets are refused.",
    },
    memory_text,
)
