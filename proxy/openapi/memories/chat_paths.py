"""Operations of chat memory: what a chat remembers, read and changed by a person or a program."""

from __future__ import annotations

from memtree.config import Settings
from proxy.http import content_encoding
from proxy.memories.chat import events, fields
from proxy.openapi import failures, headers
from proxy.openapi.memories.chat_shapes import CATEGORY, SAYS_SOMETHING
from proxy.openapi.operations import KNOWN, READING, operation
from proxy.openapi.shapes import STRING, Json, content, described, ref, schema

TAG = "Chat memory"


def parameters() -> dict[str, Json]:
    """`components.parameters`, by name."""
    named = [
        _path("chatId", "The chat, by an id that its owner chose.", headers.CHAT_ID),
        _path("memoryId", "The memory.", {**headers.CHAT_ID, "examples": ["mem_0b1c2d3e"]}),
        _query("category", "Memories of this category alone.", CATEGORY),
        _query(
            "source_type",
            "Memories that came this way alone.",
            {"type": "string", "enum": list(fields.SOURCE_TYPES)},
        ),
        _query(
            "cursor",
            "`next_cursor` of the page before.",
            {"type": "string", "pattern": "^[0-9]{1,18}$"},
        ),
        _header(
            fields.IF_MATCH_HEADER,
            "The version that the change is meant for, as `etag` told it; another one is a 409. "
            "`*`, or none: any version.",
            {
                "type": "string",
                "pattern": r'^(\*|(W/)?"[0-9]{1,18}"|[0-9]{1,18})$',
                "examples": ['"3"'],
            },
        ),
        _header(
            fields.LAST_EVENT_HEADER,
            "The id of the last event that was seen: what changed since comes first.",
            {"type": "integer", "examples": [12]},
        ),
    ]  # fmt: skip
    return {one["name"]: one for one in named}


_ROOT = "/chat/api/{chatId}"
_MEMORIES = f"{_ROOT}/memories"


def paths(settings: Settings) -> dict[str, Json]:
    return {**_all(settings), **_watched(settings), **_one(settings)}


def _named(*names: str) -> list[Json]:
    return [ref("parameters", name) for name in names]


def _all(settings: Settings) -> dict[str, Json]:
    known, reading = failures.of(settings, 400, *KNOWN), failures.of(settings, *READING)
    refused = failures.of(settings, 409, 422)
    saved = _answer("It was there already, in these or other words.", "SavedChatMemory", etag=True)
    filters = _named("category", "source_type")
    return {
        f"{_ROOT}/memory": {
            "post": _operation(
                "createChatMemory",
                "Remember something",
                "Creates a memory from a message of the chat. What says the same as a stored "
                "memory is not stored twice: the answer is that one, with status 200. What may "
                "replace one is stored beside it, and the answer names both.",
                {
                    "201": {**saved, "description": "It is saved."},
                    "200": saved,
                    **refused,
                    **reading,
                },
                _named("chatId", content_encoding.HEADER),
                "ChatMemory",
            )
        },
        _MEMORIES: {
            "get": _operation(
                "listChatMemories",
                "List memories",
                "The memories of a chat that are not deleted, the newest first. Without `limit` "
                f"all of them, up to {fields.MAX_ROWS:,}.",
                {"200": _answer("A page of them.", "ChatMemoryPage"), **known},
                [
                    *_named("chatId"),
                    *filters,
                    _limit(fields.MAX_ROWS, fields.MAX_ROWS),
                    *_named("cursor"),
                ],
            )
        },
        f"{_MEMORIES}/search": {
            "get": _operation(
                "searchChatMemories",
                "Search memories",
                "By meaning and by words.",
                {"200": _answer("The best of them.", "ChatMemoryHits"), **known},
                [*_named("chatId"), _asked(), *filters, _limit(fields.MAX_HITS, fields.HITS)],
            )
        },
    }


def _watched(settings: Settings) -> dict[str, Json]:
    known, reading = failures.of(settings, 400, *KNOWN), failures.of(settings, *READING)
    return {
        f"{_MEMORIES}/events": {
            "get": _operation(
                "watchChatMemories",
                "Watch memories",
                "Server-sent events, one for each change, with no text in it. The stream ends when "
                "the credential is let in no longer. At most "
                f"{events.MOST_STREAMS} streams of a tenant are open at once.",
                {"200": _event_stream(), **known},
                _named("chatId", fields.LAST_EVENT_HEADER),
            )
        },
        f"{_MEMORIES}/undelete": {
            "post": _operation(
                "undeleteChatMemories",
                "Bring memories back",
                "Deleted memories that are not erased yet. Others are left out of the answer.",
                {"200": _answer("Those that are back.", "ChatMemories"), **reading},
                _named("chatId", content_encoding.HEADER),
                "MemoryIds",
            )
        },
    }


def _one(settings: Settings) -> dict[str, Json]:
    unknown, known = failures.of(settings, 404), failures.of(settings, 400, *KNOWN)
    reading = failures.of(settings, 404, 409, 422, *READING)
    changed = _answer("The memory as it is now.", "ChatMemory", etag=True)
    gone = {"description": "It is gone.", "headers": headers.of_every()}
    given = _named("chatId", "memoryId")
    return {
        f"{_MEMORIES}/{{memoryId}}": {
            "get": _operation(
                "showChatMemory",
                "Show a memory",
                "One memory.",
                {"200": _answer("The memory.", "ChatMemory", etag=True), **unknown, **known},
                given,
            ),
            "patch": _operation(
                "updateChatMemory",
                "Change a memory",
                "Its embedding follows the new content.",
                {"200": changed, **reading},
                [*given, *_named(fields.IF_MATCH_HEADER, content_encoding.HEADER)],
                "ChatMemoryEdit",
            ),
            "delete": _operation(
                "deleteChatMemory",
                "Delete a memory",
                "It is in no answer and no search from now on. For "
                f"{settings.deleted_days} days it can be brought back, then it is erased.",
                {"204": gone, **unknown, **known},
                [*given, _purge()],
            ),
        },
        f"{_MEMORIES}/{{memoryId}}/confirm": {
            "post": _operation(
                "confirmChatMemory",
                "Confirm a memory",
                "A person says that a tainted memory is right: it counts as any other from now on.",
                {"200": changed, **unknown, **known, **failures.of(settings, 415)},
                given,
            )
        },
    }


def _operation(
    id_: str,
    summary: str,
    description: str,
    responses: Json,
    given: list[Json],
    body: str | None = None,
) -> Json:
    more = {"requestBody": ref("requestBodies", body)} if body else {}
    return operation(id_, TAG, summary, description, responses, parameters=given, **more)


def _answer(description: str, name: str, *, etag: bool = False) -> Json:
    tagged = {"etag": {"schema": STRING, "description": "The version.", "required": True}}
    return {
        "description": description,
        "headers": {**headers.of_every(), **(tagged if etag else {})},
        "content": content(schema(name)),
    }


def _event_stream() -> Json:
    shape = described(
        STRING,
        'Events with `id: <count>` and `data: {"type": "created" | "updated" | "deleted", "id": '
        '"mem_...", "count": <memories of the chat>, "version": <of this one>}`, and comments as '
        "signs of life.",
    )
    return {
        "description": "The events, as long as anybody listens.",
        "headers": headers.of_every(),
        "content": content(shape, "text/event-stream"),
    }


def _limit(most: int, default: int) -> Json:
    shape = {"type": "integer", "default": default}  # clamped, so without bounds
    return _query("limit", f"Most memories of the answer; clamped to 1 to {most:,}.", shape)


def _asked() -> Json:
    shape = {"type": "string", "pattern": SAYS_SOMETHING, "examples": ["When is it due?"]}
    return {**_query("query", "What to look for.", shape), "required": True}


def _purge() -> Json:
    return _query(
        "purge",
        "Erase it at once, for good; also one that was deleted before.",
        {"type": "boolean", "default": False},
    )


def _query(name: str, description: str, shape: Json) -> Json:
    return {"name": name, "in": "query", "required": False, "description": description,
            "schema": shape}  # fmt: skip


def _header(name: str, description: str, shape: Json) -> Json:
    return {**_query(name, description, shape), "in": "header"}


def _path(name: str, description: str, shape: Json) -> Json:
    return {**_query(name, description, shape), "in": "path", "required": True}
