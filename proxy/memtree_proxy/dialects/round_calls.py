"""Separate the tool calls of one round, as their pieces arrive, into ours and the client's.

Calls of our tools are held back; calls of the client's tools are passed on, renumbered if one of
ours came before. A call is undecided while its name may still become one of ours. Providers differ:
the index may be missing (Gemini) or always 0, ids may be missing, a call may arrive whole (Mistral,
Ollama) or in pieces of any size, and its name may be repeated in every piece.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeVar

import msgspec

Json = dict[str, Any]
T = TypeVar("T")

# Answers a call, given its arguments and the most tokens of its text. Raises `BadRequest` for
# invalid arguments.
ToolHandler = Callable[[Mapping[str, Any], int], Awaitable[str]]


@dataclass(slots=True)
class StreamedCall:
    """Tool call whose pieces arrive one by one. `ours`: None while undecided. `place`: its number
    among the client's calls, and `index` the upstream's number. `extra`: fields of providers, such
    as signatures, that must be returned with the call."""

    id: str = ""
    type: str = "function"
    name: str = ""
    ours: bool | None = None
    place: int = 0
    index: int | None = None
    pieces: int = 0
    number: int = 0
    extra: Json = field(default_factory=dict)
    said: list[str] = field(default_factory=list)

    @property
    def arguments(self) -> str:
        """Return the arguments received so far; joined when read, not for each piece."""
        if len(self.said) > 1:
            self.said = ["".join(self.said)]
        return self.said[0] if self.said else ""

    def add(self, piece: Json, names: frozenset[str]) -> None:
        self.pieces += 1
        self.id = self.id or str(piece.get("id") or "")
        self.type = str(piece.get("type") or self.type)
        self.extra |= {k: v for k, v in piece.items() if k not in _OWN and v is not None}
        name, arguments = _function(piece)
        repeated = self.name in names and name == self.name
        if not self.said and not repeated:
            self.name += name
        if arguments:
            self.said.append(arguments)

    def message(self) -> Json:
        """Return the call as it is sent back to the model. Arguments that are not an object become
        an empty one, since servers that parse them would refuse them."""
        sound = bool(self.arguments.strip()) and parsed(self.arguments) is not None
        function = {"name": self.name, "arguments": self.arguments if sound else "{}"}
        return {"id": self.id, "type": "function", "function": function, **self.extra}

    def whole(self) -> Json:
        """Return all pieces as one."""
        index = {} if self.index is None else {"index": self.index}
        id_ = {"id": self.id} if self.id else {}
        function = {"name": self.name, "arguments": self.arguments}
        return {**index, **id_, "type": self.type, "function": function, **self.extra}


@dataclass(frozen=True, slots=True)
class ToolRound:
    """Round that calls our tools: these calls, each with an id, and the model's message, as raw
    items that are sent back to it before the results."""

    items: tuple[bytes, ...]
    calls: tuple[StreamedCall, ...]


def identified(calls: Iterable[StreamedCall], round_: int) -> tuple[StreamedCall, ...]:
    """Return the calls of a round; one without an id gets one."""
    made = tuple(calls)
    for number, call in enumerate(made):
        call.id = call.id or f"mem{round_:02}{number:04}"
    return made


_OWN = frozenset({"index", "id", "type", "function"})


def parsed(arguments: str) -> Json | None:
    """Parse arguments as an object (empty text: an empty one); None if they are not an object."""
    return decoded(arguments, dict) if arguments.strip() else {}


def decoded(raw: bytes | str, kind: type[T]) -> T | None:
    """Decode JSON; None where it is broken, or not of this type."""
    try:
        return msgspec.json.decode(raw, type=kind)
    except (msgspec.DecodeError, UnicodeError, RecursionError):
        return None


class StreamedCalls:
    """The calls of one round. `names`: of our tools."""

    def __init__(self, names: frozenset[str]) -> None:
        self._names = names
        self._calls: list[StreamedCall] = []
        self._by_index: dict[int | None, StreamedCall] = {}
        self._undecided: list[StreamedCall] = []
        self._placed = 0
        self._first_of_ours: int | None = None

    @property
    def ours(self) -> list[StreamedCall]:
        return [call for call in self._calls if call.ours]

    @property
    def theirs(self) -> int:
        return sum(call.ours is False for call in self._calls)

    def take(self, pieces: list[Any]) -> list[Any]:
        """Return what the client gets of these pieces now, and of earlier ones that were held
        back."""
        shown: list[Any] = []
        for piece in pieces:
            if not isinstance(piece, dict):
                shown.append(piece)
                continue
            call = self._continued(piece)
            if call is None:
                shown += self.settle()  # the earlier calls are complete
                call = self._begun(piece)
            undecided = call.ours is None
            call.add(piece, self._names)
            if undecided:
                complete = bool(call.name and call.said)
                if complete or not any(name.startswith(call.name) for name in self._names):
                    self._judge(call)
            if call.ours is False:
                held_back = undecided and call.pieces > 1
                shown.append(self._numbered(call, call.whole() if held_back else piece))
        return shown

    def whole(self, posted: list[Any]) -> list[Any]:
        """Return, of complete calls, those of the client's tools."""
        shown = []
        for raw in posted:
            if isinstance(raw, dict):
                call = self._begun(raw)
                call.add(raw, self._names)
                self._judge(call)
                if call.ours:
                    continue
            shown.append(raw)
        return shown

    def settle(self) -> list[Any]:
        """Decide the undecided calls, because no more pieces come, and return those of the client's
        tools."""
        shown = []
        for call in self._undecided:
            if call.ours is None:
                self._judge(call)
                if not call.ours:
                    shown.append(self._numbered(call, call.whole()))
        self._undecided.clear()
        return shown

    def _continued(self, piece: Json) -> StreamedCall | None:
        """Return the call that a piece belongs to, None if it begins another one."""
        index, id_ = _index(piece), piece.get("id")
        call = self._by_index.get(index)
        if index is None and call is None and self._calls:
            call = self._calls[-1]
        name, _ = _function(piece)
        if call is None or not name or not call.name or (id_ and id_ == call.id):
            return call
        if id_ and call.id:
            return None
        if index is None:
            return None
        # The same number and no ids: does a name continue, or is it another call under a number
        # that is always 0? A call with complete arguments has ended.
        ended = bool(call.said) and call.said[-1].rstrip()[-1:] in ("", "}")
        complete = ended and parsed(call.arguments) is not None
        return None if complete else call

    def _begun(self, piece: Json) -> StreamedCall:
        call = StreamedCall(index=_index(piece), number=len(self._calls))
        self._calls.append(call)
        self._undecided.append(call)
        self._by_index[call.index] = call
        return call

    def _judge(self, call: StreamedCall) -> None:
        """Decide if a call is ours or the client's; the client's gets its number among the client's
        calls."""
        call.ours = call.name in self._names
        if call.ours:
            known = self._first_of_ours
            self._first_of_ours = call.number if known is None else min(known, call.number)
        else:
            call.place = self._placed
            self._placed += 1

    def _numbered(self, call: StreamedCall, piece: Json) -> Json:
        """Return the piece with the client's number; the upstream's own number stays if none of
        ours came before."""
        first = self._first_of_ours
        return piece if first is None or first >= call.number else {**piece, "index": call.place}


def _index(piece: Json) -> int | None:
    index = piece.get("index")
    return index if isinstance(index, int) else None


def _function(piece: Json) -> tuple[str, str]:
    """Return name and arguments in a piece."""
    function = piece.get("function")
    if not isinstance(function, dict):
        return "", ""
    arguments = function.get("arguments")
    if arguments is None:
        arguments = ""
    elif not isinstance(arguments, str):
        arguments = msgspec.json.encode(arguments).decode()
    return str(function.get("name") or ""), arguments
