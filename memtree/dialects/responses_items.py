"""Read an item of a posted `input`: its kind, and its part in the canonical history.

Real clients send items that the API's own types do not allow (reasoning without an id, messages
without a type), and new kinds of items come every few months. So whatever can be understood is, an
unknown item is kept whole, and only broken JSON is refused.

An item is parsed once and its translation cached (`TranslationCache`). The cache does not copy text
that the client posts anyway: a user message is its own canonical form, and for an output only the
place of its text is stored. The types of the lists of posted items, and of the known translations
of earlier lists, stand here, too.
"""

from __future__ import annotations

import enum
from dataclasses import dataclass
from typing import Any

import msgspec

from memtree.dialects import responses_server_calls
from memtree.dialects.fragment_caches import KnownTranslations, TranslationCache
from memtree.dialects.translated_messages import RawItems, TranslatedItems
from memtree.errors import BadRequest
from memtree.history import json_body
from memtree.history.json_body import DuplicateKey
from memtree.history.message import SYSTEM_ROLES, TEXT_PARTS
from memtree.history.message_shape import UNKNOWN, is_content, is_part, shaped_content, shaped_role
from memtree.history.posted_json import canonical, decode, decode_any, encode, json_text
from memtree.text import tokens

_KNOWN = frozenset(
    {
        "function_call_output", "custom_tool_call_output", "local_shell_call_output",
        "shell_call_output", "apply_patch_call_output", "computer_call_output",
        "tool_search_output", "program_output", "mcp_approval_response",
    }
)  # fmt: skip


def is_output(kind: str, fields: dict[str, Any]) -> bool:
    """Return True for an output; an unknown kind counts if it names a call."""
    return kind in _KNOWN or (kind.endswith("_output") and isinstance(fields.get("call_id"), str))


def output_ids(kind: str, fields: dict[str, Any]) -> tuple[str, ...]:
    """Return the ids by which an output names its call; none if it answers the next call."""
    name = "approval_request_id" if kind == "mcp_approval_response" else "call_id"
    if name not in fields and kind == "local_shell_call_output":
        name = "id"
    return _ids(fields.get(name))


def _ids(*values: object) -> tuple[str, ...]:
    """Return those that are given, each as text."""
    return tuple(_text(value) for value in values if value not in (None, ""))


def is_parts(output: object) -> bool:
    """Return True if the output is a list of content parts, as a canonical message holds them."""
    return isinstance(output, list) and all(map(is_part, output))


def output_content(kind: str, fields: dict[str, Any]) -> object:
    """Return the canonical content of an output that is neither text nor a list of content
    parts."""
    output = fields.get("output")
    if kind == "mcp_approval_response":
        said = "approved" if fields.get("approve") is True else "denied"
        reason = fields.get("reason")
        return f"{said}: {reason}" if isinstance(reason, str) and reason else said
    if kind == "tool_search_output":
        return responses_server_calls.tool_list(fields)
    if kind == "shell_call_output" and isinstance(output, list):
        return "".join(_chunk(chunk) for chunk in output if isinstance(chunk, dict))
    if kind == "computer_call_output" and isinstance(output, dict):
        return [{**output, "type": "input_image"}]
    for given in (output, fields.get("result"), fields.get("status")):
        if given is not None:
            return _text(given)
    return ""


def _chunk(chunk: dict[str, Any]) -> str:
    """Return the output of a command, and its outcome unless it succeeded."""
    texts = [text for name in ("stdout", "stderr") if isinstance(text := chunk.get(name), str)]
    outcome = chunk.get("outcome")
    if isinstance(outcome, dict):
        if outcome.get("type") == "timeout":
            texts.append("\nTimed out\n")
        elif outcome.get("exit_code"):
            texts.append(f"\nExit code: {outcome['exit_code']}\n")
    return "".join(texts)


# Fields that are no arguments: names, the server's bookkeeping, and tokens meaningless to a reader.
_BESIDE = frozenset(
    {
        "type", "id", "call_id", "status", "caller", "name", "namespace", "server_label",
        "execution", "pending_safety_checks", "fingerprint", "environment",
        "internal_chat_message_metadata_passthrough",
    }
)  # fmt: skip
_NAMED = frozenset({"function_call", "custom_tool_call", "mcp_approval_request"})
_OTHERS = frozenset({"program", "mcp_approval_request"})  # calls whose kind has another name


def is_call(kind: str) -> bool:
    return kind.endswith("_call") or kind in _OTHERS


def call_ids(kind: str, fields: dict[str, Any]) -> tuple[str, ...]:
    """Return the ids by which an output may name the call, the usual one first."""
    call_id = fields.get("call_id")
    both = kind == "local_shell_call" or not call_id
    return _ids(call_id, fields.get("id") if both else "")


def canonical_call(kind: str, fields: dict[str, Any], named: tuple[str, ...]) -> dict[str, Any]:
    """Return a canonical tool call. `named`: its ids."""
    id_ = {"id": named[0]} if named else {}
    name = _name(kind, fields)
    if kind == "custom_tool_call":
        body = {"name": name, "input": _text(fields.get("input"))}
        return {**id_, "type": "custom", "custom": body}
    given = fields.get("arguments") if "arguments" in fields else _others(fields)
    body = {"name": name, "arguments": canonical(_text(given))}
    return {**id_, "type": "function", "function": body}


def _name(kind: str, fields: dict[str, Any]) -> str:
    if kind not in _NAMED:
        return kind.removesuffix("_call")
    name = _text(fields.get("name")) or UNKNOWN
    within = fields.get("namespace") or fields.get("server_label")
    return f"{within}.{name}" if isinstance(within, str) else name


def _others(fields: dict[str, Any]) -> object:
    """Return the fields that are arguments; a sole `action`, `operation` or `code` by itself."""
    given = {key: value for key, value in fields.items() if key not in _BESIDE}
    alone = next(iter(given.values())) if len(given) == 1 else None
    return alone if isinstance(alone, dict | str) else given


def _text(value: object) -> str:
    if value is None:
        return ""
    return value if isinstance(value, str) else json_text(value)


BREAKPOINT, MARKER = "prompt_cache_breakpoint", "cache_control"
# Codex used other names for compaction.
_COMPACTIONS = frozenset({"compaction", "compaction_summary", "context_compaction"})
_HELD_BY_SERVER = frozenset({"item_reference", "compaction_trigger"})
_SETTINGS = frozenset({"additional_tools", "configuration_update"})
_BOOKKEEPING = ("id", "status")  # set by the server, different for the same content


class ItemKind(enum.Enum):
    """Kind of a posted item. `OTHER`: a message of an unknown role. `SERVER_STATE`: the item refers
    to state that only the server has, or asks the server to make it."""

    USER = enum.auto()
    OTHER = enum.auto()
    SYSTEM = enum.auto()
    MODEL = enum.auto()
    OUTPUT = enum.auto()
    COMPACTION = enum.auto()
    SERVER_STATE = enum.auto()


@dataclass(frozen=True, slots=True)
class InputItem:
    """An item as read; spans are of its raw JSON.

    `canonical`: the canonical form of a user or system message that differs from the posted one.
    Items of the model have `text` (the inside of a JSON string), `parts` that are no text,
    `reasoning` (JSON strings), `sealed` (the span of encrypted reasoning), and `call`, a canonical
    tool call. `ids`: those of a call, the canonical id first; for an output, those of the call it
    answers. `output`: the span of an output's canonical content, if it is not in `canonical`;
    `opening`: the beginning of its canonical message. `identified`: it has an id, by which the
    server pairs it with its reasoning. `loads`: names of tools that it loads. `tools_tokens`:
    tokens of tools that it defines.
    """

    kind: ItemKind
    canonical: bytes = b""
    text: bytes = b""
    parts: tuple[bytes, ...] = ()
    reasoning: tuple[bytes, ...] = ()
    sealed: tuple[int, int] | None = None
    call: bytes = b""
    ids: tuple[str, ...] = ()
    output: tuple[int, int] | None = None
    opening: bytes = b""
    reasons: bool = False
    identified: bool = False
    loads: frozenset[str] = frozenset()
    tools_tokens: int = 0

    @property
    def size(self) -> int:
        """Number of bytes of text in the item."""
        said = sum(map(len, (*self.parts, *self.reasoning)))
        return len(self.canonical) + len(self.text) + len(self.call) + len(self.opening) + said


def read_item(raw: bytes, place: str) -> InputItem:
    """Read an item. Raises `BadRequest` with the place, as in `input[3]`, for broken JSON."""
    try:
        fields = decode_any(raw)
        return _read(raw, fields) if isinstance(fields, dict) else InputItem(ItemKind.OTHER)
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise BadRequest(f"{place}: not valid JSON: {error}", param=place) from error
    except RecursionError as error:
        raise BadRequest(f"{place}: nested too deeply", param=place) from error


def _read(raw: bytes, fields: dict[str, Any]) -> InputItem:
    kind = fields.get("type")
    if kind == "message" or not isinstance(kind, str):
        if kind is None and "role" not in fields and "id" in fields:
            return InputItem(ItemKind.SERVER_STATE)  # a reference, whose type is optional
        return _message(raw, fields)
    if kind in _HELD_BY_SERVER:
        return InputItem(ItemKind.SERVER_STATE)
    if kind in _COMPACTIONS:
        return InputItem(ItemKind.COMPACTION)
    if kind in _SETTINGS:
        return _setting(fields)
    if kind == "reasoning":
        return _reasoning(raw, fields)
    if is_output(kind, fields):
        return _output(raw, kind, fields)
    if (said := responses_server_calls.said(kind, fields)) is not None:
        return _model(fields, text=said.text, parts=said.parts, loads=said.loads)
    if is_call(kind):
        ids = call_ids(kind, fields)
        call = encode(canonical_call(kind, fields, ids))
        return _model(fields, call=call, ids=ids)
    return _unknown(kind, fields)


def _message(raw: bytes, fields: dict[str, Any]) -> InputItem:
    role, content = shaped_role(fields.get("role")), fields.get("content")
    if not is_content(content):
        posted = decode(raw, dict[str, msgspec.Raw])["content"]
        content = shaped_content(content, bytes(posted))
    if role == "assistant":
        return _said(fields, content)
    kind = ItemKind.USER if role == "user" else ItemKind.OTHER
    kind = ItemKind.SYSTEM if role in SYSTEM_ROLES else kind
    if not _marked(content):
        return InputItem(kind)
    return InputItem(kind, canonical=encode({"role": role, "content": _with_markers(content)}))


def _said(fields: dict[str, Any], content: str | list[dict[str, Any]] | None) -> InputItem:
    if isinstance(content, str):
        return _model(fields, text=content)
    parts = content or []
    text = "".join(part["text"] for part in parts if part["type"] in TEXT_PARTS)
    return _model(fields, text=text, parts=[p for p in parts if p["type"] not in TEXT_PARTS])


def _setting(fields: dict[str, Any]) -> InputItem:
    """Read tools and options that apply from here on; they are the system's at any place."""
    tools = fields.get("tools")
    return InputItem(
        ItemKind.SYSTEM,
        canonical=b'{"role":"system","content":null}',
        tools_tokens=tokens.count(json_text(tools)) if tools else 0,
    )


def _reasoning(raw: bytes, fields: dict[str, Any]) -> InputItem:
    """Read an item of reasoning. The model reads the encrypted part again; a summary beside it is
    for people."""
    sealed = fields.get("encrypted_content")
    if isinstance(sealed, str) and sealed:
        if span := _span(raw, "encrypted_content"):
            return _model(fields, sealed=span, reasons=True)
        return _model(fields, reasoning=(encode(sealed),), reasons=True)
    lists = [fields[name] for name in ("summary", "content") if isinstance(fields.get(name), list)]
    texts = [part.get("text") for parts in lists for part in parts if isinstance(part, dict)]
    reasoning = tuple(msgspec.json.encode(text) for text in texts if isinstance(text, str) and text)
    return _model(fields, reasoning=reasoning, reasons=True)


def _output(raw: bytes, kind: str, fields: dict[str, Any]) -> InputItem:
    ids = output_ids(kind, fields)
    output = fields.get("output")
    parts = is_parts(output)
    opening = tool_opening(ids[0] if ids else "")
    plain = isinstance(output, str) or (parts and not _marked(output))
    if plain and (span := _span(raw, "output")):
        return InputItem(ItemKind.OUTPUT, ids=ids, output=span, opening=opening)
    content = output_content(kind, fields)
    if parts or plain:
        content = _with_markers(output) if parts else output
    return InputItem(
        ItemKind.OUTPUT,
        canonical=encode(content),
        ids=ids,
        opening=opening,
        loads=responses_server_calls.loaded(fields)
        if kind == "tool_search_output"
        else frozenset(),
    )


def tool_opening(call_id: str) -> bytes:
    """Return the beginning of a canonical message with a call's result, up to its content."""
    named = b'"tool_call_id":' + msgspec.json.encode(call_id) + b"," if call_id else b""
    return b'{"role":"tool",' + named + b'"content":'


def _unknown(kind: str, fields: dict[str, Any]) -> InputItem:
    """Keep an item of an unknown kind whole, beside its neighbours."""
    role = fields.get("role")
    if isinstance(role, str) and role in SYSTEM_ROLES:
        message = {"role": "system", "content": [{**fields, "type": kind}]}
        return InputItem(ItemKind.SYSTEM, canonical=encode(message))
    content = {key: value for key, value in fields.items() if key not in _BOOKKEEPING}
    return _model(fields, parts=[content])


def _model(
    fields: dict[str, Any],
    *,
    text: str = "",
    parts: list[dict[str, Any]] | None = None,
    **more: Any,
) -> InputItem:
    return InputItem(
        ItemKind.MODEL,
        text=encode(text)[1:-1],
        parts=tuple(encode(part) for part in parts or ()),
        identified=bool(fields.get("id")),
        **more,
    )


def _span(raw: bytes, name: str) -> tuple[int, int] | None:
    """Return the span of a field's value; None if a field is given twice."""
    try:
        span = json_body.spans_of(raw)[name]
    except DuplicateKey:
        return None
    return span.start, span.end


def _marked(content: object) -> bool:
    return isinstance(content, list) and any(part.get(BREAKPOINT) for part in content)


def _with_markers(content: Any) -> list[dict[str, Any]]:
    """Return the parts, with cache markers under the core's name for them."""
    return [
        {(MARKER if key == BREAKPOINT else key): value for key, value in part.items()}
        for part in content
    ]


INPUT = "input"

ItemCache = TranslationCache[InputItem]


class InputItems:
    """Items of a list, each read at first access."""

    __slots__ = ("_cache", "_found", "_since", "raws", "tenant")

    def __init__(self, raws: RawItems, tenant: str, cache: ItemCache) -> None:
        self.raws = raws
        self.tenant, self._cache, self._since = tenant, cache, cache.deletions
        self._found: dict[int, InputItem] = {}

    def __getitem__(self, index: int) -> InputItem:
        """Return the item at an index. Raises `BadRequest` with the unreadable place."""
        item = self._found.get(index)
        if item is None:
            raw = self.raws[index]
            item = self._cache.get(self.tenant, raw)
            if item is None:
                item = read_item(raw, f"{INPUT}[{index}]")
                self._cache.put(self.tenant, raw, item, item.size, self._since)
            self._found[index] = item
        return item

    def key(self, text: bytes) -> bytes:
        """Return the cache key of an item's text, for this tenant."""
        return self._cache.keys.of(self.tenant, text)


@dataclass(frozen=True, slots=True)
class KnownInput:
    """Translation of an earlier input. `listed`: the number that identifies its canonical list;
    `leading`: keys of the messages of no item."""

    translated: TranslatedItems
    listed: int
    leading: tuple[bytes, ...]

    @property
    def nbytes(self) -> int:
        return self.translated.nbytes


KnownInputs = KnownTranslations[KnownInput]
