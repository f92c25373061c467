"""Read a posted file: its conversations as JSON, and the one that has a given address.

Reads the formats of `memtree import` and plain messages, one file at a time. Pure: it reads only
the posted bytes and keeps nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import msgspec

from memtree.dialects import anthropic_history, responses_history
from memtree.dialects import anthropic_request as messages_request
from memtree.dialects.responses_items import ItemCache
from memtree.errors import BadRequest
from memtree.history import chat_history, json_body
from memtree.history.message import Message, Volatile, read_messages
from memtree_proxy.imports import recognise
from memtree_proxy.imports.conversation import FORMATS, Conversation, raw_message, titled
from memtree_proxy.imports.recognise import NoConversation, ParsedFile, SourceFile

NAME = "the file"
MESSAGES = "messages"  # format name of a file that is already a list of messages
# A known signature names the kind of file; other binary data is told by its first invalid byte.
_SIGNATURES = {
    b"PK\x03\x04": "a zip: unpack it and post the file in it",
    b"PK\x05\x06": "an empty zip",
    b"SQLite format 3\x00": "a database: `memtree import` reads those of opencode and Kilo",
    b"\x1f\x8b": "compressed by gzip: unpack it first",
    b"\x28\xb5\x2f\xfd": "compressed by zstd: unpack it first",
    b"%PDF": "a PDF",
    b"\x89PNG": "a picture",
    b"\xff\xd8\xff": "a picture",
}  # fmt: skip


def posted_file(data: bytes, name: str = NAME) -> SourceFile:
    """Parse a posted file; `name`: as its owner calls it. Raises `BadRequest` naming the kind of
    file, or the place where its JSON is invalid."""
    for signature, what in _SIGNATURES.items():
        if data.startswith(signature):
            raise BadRequest(f"{name}: is {what}", param=name)
    loaded = recognise.parse(data, name)
    title = name.removesuffix(".jsonl").removesuffix(".json").removesuffix(".md")
    return SourceFile(name, lambda: loaded, name, title, title)


@dataclass(frozen=True, slots=True)
class PrefixQuery:
    """A query for the conversation of which some prefix has `address`, for `tenant`; empty: no
    query. `most`: the most messages in a conversation. `volatile`: parts that addresses leave
    out."""

    address: bytes = b""
    tenant: str = ""
    most: int = 200_000
    volatile: Volatile = field(default_factory=Volatile)


def parsed(file: SourceFile, wanted: PrefixQuery) -> bytes:
    """Return JSON: {"conversations": [{"title", "messages", "format", "belongs", "notes"}]}.

    Raises `BadRequest` that describes the file, and names the line where there is one.
    """
    shown = [
        _shown(number, conversation, wanted)
        for number, conversation in enumerate(_conversations(file))
    ]
    if not shown:
        raise BadRequest(f"{file.name}: there are no messages in it", param=file.name)
    return msgspec.json.encode({"conversations": shown})


def _conversations(file: SourceFile) -> Sequence[Conversation]:
    plain = request_messages(file.load()) or plain_messages(file.load())
    if plain is not None:
        notes, title = file.load().notes, titled("", plain)
        return [Conversation(MESSAGES, "", title, "", tuple(plain), notes=notes)] if plain else []
    try:
        return list(recognise.conversations(file))
    except NoConversation as error:
        known, notes = ", ".join((MESSAGES, *FORMATS)), file.load().notes
        raise BadRequest(
            f"{file.name}: {_what(file.load())}, and not a conversation of a program that is known "
            f"({known}){'; ' if notes else ''}{'; '.join(notes[:1])}",
            param=file.name,
        ) from error


def request_messages(loaded: ParsedFile) -> list[dict[str, Any]] | None:
    """Return the canonical messages of a request to `/messages` or `/responses`, None for anything
    else. Raises `BadRequest` naming the place."""
    value = loaded.value
    if not isinstance(value, dict) or value.keys() & {"info", "sessionId", "agent"}:
        return None
    said = value.get("messages")
    if isinstance(said, list):
        contents = [message.get("content") for message in said if isinstance(message, dict)]
        if "system" not in value and not any(map(_has_foreign_blocks, contents)):
            return None
        body = json_body.split(raw_message(value))
        read: Sequence[Message] = anthropic_history.read(
            body, "", messages_request.Cache(0, most=0)
        ).messages
    elif isinstance(value.get("input"), list):
        body = json_body.split(raw_message(value))
        read = responses_history.read(body, "", ItemCache(0, most=0)).messages
    else:
        return None
    messages: list[dict[str, Any]] = [msgspec.json.decode(message.raw) for message in read]
    for message in messages:
        message.pop("reasoning_content", None)
    return messages


def plain_messages(loaded: ParsedFile) -> list[dict[str, Any]] | None:
    """Return the messages of a file that holds them as requests do: a list, an object with the
    field `messages`, or one message on each line. Returns None for anything else."""
    value = loaded.value
    if isinstance(value, dict) and not value.keys() & {"info", "sessionId", "agent"}:
        value = value.get("messages")
    if not isinstance(value, list) or not value:
        return None
    if not all(isinstance(item, dict) and isinstance(item.get("role"), str) for item in value):
        return None
    return None if any(_has_foreign_blocks(item.get("content")) for item in value) else value


def _has_foreign_blocks(content: Any) -> bool:
    """Return True if the content has Anthropic blocks, which a reader of `recognise` handles."""
    if not isinstance(content, list):
        return False
    kinds = {block.get("type") for block in content if isinstance(block, dict) and _plain(block)}
    return bool(kinds & recognise.BLOCKS)


def _plain(block: dict[str, Any]) -> bool:
    return isinstance(block.get("type"), str)


def _shown(number: int, conversation: Conversation, wanted: PrefixQuery) -> dict[str, Any]:
    place = f"conversations[{number}].messages"
    if len(conversation.messages) > wanted.most:
        raise BadRequest(
            f"{place}: {len(conversation.messages)} messages, over the limit of {wanted.most}"
        )
    messages = read_messages([raw_message(fields) for fields in conversation.messages], place)
    return {
        "title": conversation.title,
        "format": conversation.format,
        "notes": conversation.notes,
        "belongs": belongs(messages, wanted, conversation.sealed) if wanted.address else None,
        "messages": [msgspec.Raw(message.raw) for message in messages],
    }


def belongs(messages: Sequence[Message], wanted: PrefixQuery, sealed: int = 0) -> int | None:
    """Return the number of leading messages whose address is the wanted one, None if no prefix has
    it. `sealed`: messages at the beginning that have no part in addresses."""
    try:
        said = messages[sealed:]
        read = chat_history.read(wanted.tenant, said, wanted.volatile, count=lambda _: 0)
    except BadRequest:  # a result that answers no call, which no request can have held
        return None
    if wanted.address not in read.addresses[1:]:
        return None
    return sealed + read.posted[read.addresses.index(wanted.address, 1) - 1] + 1


def _what(loaded: ParsedFile) -> str:
    """Describe a file of unknown format, without quoting it."""
    if loaded.lines:
        return f"{len(loaded.value):,} lines of JSON objects"
    names = {dict: "an object", list: "a list", str: "a string", bool: "true or false"}
    if loaded.value is None:
        return "null in JSON"
    return f"{names.get(type(loaded.value), 'a number')} in JSON"
