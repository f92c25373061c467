"""Sessions of Codex (`~/.codex/sessions/YYYY/MM/DD/rollout-*.jsonl`).

Each line holds an item of the Responses API as it is sent again, or a record of the program's own.
A compaction gives the history that replaces all before it, or, in older files, a summary that
follows the user's messages; a rollback gives the number of user turns that were removed. As in
Codex before it sends, a call without an output gets one that says `aborted`, and an output without
a call is left out. The items are then read like those of a live request, so that the conversation
has the same address.

A summary may be an item that only the provider can read. It is left out, and what stands before it,
the user's messages above all, is kept: of a live request all of that is `sealed`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

import msgspec

from memtree.dialects import responses_conversation
from memtree.dialects.responses_items import InputItem, ItemKind, read_item
from memtree.errors import BadRequest
from memtree.history.message import SYSTEM_ROLES
from memtree_proxy.imports.conversation import (
    Conversation,
    Fields,
    fields,
    listed,
    moment,
    raw_message,
    text,
    titled,
    words,
)

KINDS = frozenset({"session_meta", "response_item", "event_msg", "turn_context", "compacted"})
# Type of a call's output, where it is not the call's type with `_output` added.
_OUTPUTS = {"local_shell_call": "function_call_output"}
_NEVER_SENT = frozenset({"ghost_snapshot", "other"})
_CONTEXT = ("<", "# AGENTS.md instructions")  # beginnings of messages that the program wrote itself


def is_codex(line: Fields) -> bool:
    """Return True if only a Codex session can hold such a line."""
    return text(line.get("type")) in KINDS and isinstance(line.get("payload"), dict)


def read(lines: Sequence[Fields], id_: str, whole: bool) -> Conversation:
    """Read a session. `id_`: its id if no line names one. `whole`: include the messages before
    compactions."""
    session = _Session(whole)
    for line in lines:
        session.take(line)
    made, sealed = _canonical(session.history())
    users = [row for row in made if row["role"] == "user" and not words(row).startswith(_CONTEXT)]
    return Conversation(
        "codex",
        session.id or id_,
        titled(session.title, users or made),
        moment(session.moment),
        tuple(made),
        session.dropped,
        sealed,
    )


class _Session:
    """A conversation built from the lines read so far."""

    def __init__(self, whole: bool) -> None:
        self._whole = whole
        self.id = self.title = self.moment = ""
        self._kept: list[Fields] = []  # the user's messages before a summary in plain text
        self._summary: list[Fields] = []
        self._items: list[Fields] = []
        self._known: set[str] = set()  # ids and texts of items
        self._asked: list[int] = []  # positions of the user's requests
        self.dropped = 0

    def history(self) -> list[Fields]:
        return self._kept + self._summary + self._items

    def take(self, line: Fields) -> None:
        self.moment = text(line.get("timestamp")) or self.moment
        kind, payload = text(line.get("type")), fields(line.get("payload"))
        if kind == "response_item":
            self._add(payload)
        elif kind == "session_meta":
            self.id = self.id or text(payload.get("id"))
        elif kind == "compacted":
            self._compact(payload)
        elif kind == "event_msg":
            self._happened(payload)

    def _add(self, item: Fields) -> None:
        if text(item.get("type")) in _NEVER_SENT:
            return
        said = words(item)
        if item.get("role") == "user" and not said.startswith(_CONTEXT):
            self._asked.append(len(self._items))
        self._items.append(item)
        self._known |= {text(item.get("id")), said}

    def _compact(self, payload: Fields) -> None:
        history, message = payload.get("replacement_history"), text(payload.get("message"))
        newer = listed(history)
        if self._whole:
            newer = [
                row
                for row in newer
                if self._known.isdisjoint({text(row.get("id")), words(row)} - {""})
            ]
        elif isinstance(history, list):
            self.dropped += max(0, len(self.history()) - len(newer))
            self._kept, self._summary = [], []
            self._items, self._known, self._asked = [], set(), []
        elif message:
            users = [self._items[place] for place in self._asked]
            self.dropped += len(self._items) - len(users)
            self._kept += users
            self._summary = [{"type": "message", "role": "user", "content": message}]
            self._items, self._asked = [], []
        for item in newer:
            self._add(item)

    def _happened(self, event: Fields) -> None:
        kind = event.get("type")
        if kind == "thread_name_updated":
            self.title = text(event.get("thread_name")) or self.title
        turns = event.get("num_turns")
        if kind == "thread_rolled_back" and type(turns) is int and turns > 0 and self._asked:
            gone = self._asked[-turns:]
            del self._asked[-turns:], self._items[gone[0] :]


def _canonical(items: Iterable[Fields]) -> tuple[list[Fields], int]:
    """Return the canonical messages of a request with these items, and how many of them it seals.
    System messages are left out, since the session records only a part of their text."""
    sent = [item for item in map(_sent_item, items) if item is not None]
    ends = [at for at, (_, item) in enumerate(sent) if item.kind is ItemKind.COMPACTION]
    sealed, rest = (sent[: ends[-1]], sent[ends[-1] :]) if ends else ([], sent)
    before = _messages(sealed)
    return before + _messages(rest), len(before)


def _messages(sent: Iterable[_SentItem]) -> list[Fields]:
    readable = [pair for pair in sent if pair.item.kind is not ItemKind.COMPACTION]
    paired = list(_paired(readable))
    read = responses_conversation.read(
        None, [pair.raw for pair in paired], [pair.item for pair in paired]
    )
    messages: list[Fields] = [msgspec.json.decode(message.raw) for message in read.messages]
    for message in messages:
        message.pop("reasoning_content", None)
    return [message for message in messages if message["role"] not in SYSTEM_ROLES]


class _SentItem(NamedTuple):
    raw: bytes
    item: InputItem


def _sent_item(posted: Fields) -> _SentItem | None:
    """Return the item as it is sent, None if no request can have held it."""
    raw = raw_message(posted)
    try:
        item = read_item(raw, "")
    except BadRequest:
        return None
    sent = item.kind not in (ItemKind.SERVER_STATE, ItemKind.OTHER)
    return _SentItem(raw, item) if sent else None


def _paired(items: Sequence[_SentItem]) -> Iterator[_SentItem]:
    """Yield the items with each call once, and one output for each call."""
    newest = {  # output of each call
        id_: place
        for place, (_, item) in enumerate(items)
        if item.kind is ItemKind.OUTPUT
        for id_ in item.ids
    }
    called: dict[str, str] = {}  # ids of a call, each with the id under which it is sent
    answered: set[str] = set()
    for place, (raw, item) in enumerate(items):
        if item.kind is ItemKind.OUTPUT:
            known = called.get(item.ids[0]) if item.ids else None
            if known and known not in answered:
                answered.add(known)
                yield _SentItem(raw, item)
        elif not item.call:
            yield _SentItem(raw, item)
        elif item.ids and called.keys().isdisjoint(item.ids):
            called.update(dict.fromkeys(item.ids, item.ids[0]))
            yield _SentItem(raw, item)
            if all(newest.get(id_, -1) < place for id_ in item.ids):
                answered.add(item.ids[0])
                yield _aborted(raw, item.ids[0])


def _aborted(call: bytes, id_: str) -> _SentItem:
    kind = msgspec.json.decode(call)["type"]
    output = _OUTPUTS.get(kind, f"{kind}_output")
    raw = msgspec.json.encode({"type": output, "call_id": id_, "output": "aborted"})
    return _SentItem(raw, read_item(raw, ""))
