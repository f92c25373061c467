"""One chat message: the raw JSON fragment as posted, parsed on demand.

A `Message` never loses a byte: a message that stays in an answer is written back as `raw`. Its
*text* is what the tree indexes: the text parts joined without a separator, then a placeholder for
each part that is not text (`[image]`, `[file plan.pdf]`), then each tool call as its name and
arguments. Reasoning and refusals are not part of it: clients drop them, or change them in the next
request. Offsets into that text are "posted" offsets. The *view* of a user message is its text
without volatile blocks (closed tags that clients rewrite on every request, such as
`<system-reminder>`); leaves count in view offsets. A tool message's view leaves out
`<system-reminder>` blocks, which some clients put behind every file they read. In the view,
arguments of a tool call that are a JSON object are compact JSON (`call_arguments`). A view has the
text as a terminal shows it: without escape codes and what was drawn over (`text.terminal`). Two
messages with one digest have the same view.

    >>> m = Message(b'{"role":"user","content":[{"type":"text","text":"hi"}]}')
    >>> m.role, m.text
    ('user', 'hi')
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import msgspec

from memtree.conversation.call_arguments import ArgumentValue, argument_values
from memtree.conversation.media import REASONING_PARTS
from memtree.conversation.view_pieces import Piece, QuotableRun, Segment, pieces
from memtree.conversation.volatile_blocks import VOLATILE_TAGS, Volatile
from memtree.errors import BadRequest
from memtree.text.pasted.pasted_documents import PastedDocument, documents

__all__ = [
    "MESSAGE_OVERHEAD",
    "OFF_LOOP_BYTES",
    "RESULT_ROLES",
    "ROLES",
    "SYSTEM_ROLES",
    "TEXT_PARTS",
    "VOLATILE_TAGS",
    "Message",
    "Segment",
    "ToolCall",
    "View",
    "Volatile",
    "check_message",
    "is_said",
    "label",
    "read_messages",
]  # fmt: skip

SYSTEM_ROLES = frozenset({"system", "developer"})
RESULT_ROLES = frozenset({"tool", "function"})
ROLES = SYSTEM_ROLES | {"user", "assistant", "tool", "function"}
TEXT_PARTS = frozenset({"text", "input_text", "output_text"})


def check(fields: dict[str, Any], where: str) -> None:
    """Raise `BadRequest` unless a message has the shape the API documents."""
    role = fields.get("role")
    if not isinstance(role, str) or role not in ROLES:
        raise BadRequest(
            f"{where}.role must be one of {', '.join(sorted(ROLES))}", param=f"{where}.role"
        )
    _check_content(fields.get("content"), f"{where}.content")
    _check_calls(fields, where)
    if role == "tool":
        _check_id(fields.get("tool_call_id"), f"{where}.tool_call_id")


def _check_content(content: Any, where: str) -> None:
    if content is None or isinstance(content, str):
        return
    if not isinstance(content, list):
        raise BadRequest(f"{where} must be a string, null or an array of parts", param=where)
    for index, part in enumerate(content):
        place = f"{where}[{index}]"
        if not isinstance(part, dict) or not isinstance(part.get("type"), str):
            raise BadRequest(f"{place} must be an object with a type", param=place)
        if part["type"] in TEXT_PARTS and not isinstance(part.get("text"), str):
            raise BadRequest(f"{place}.text must be a string", param=f"{place}.text")


def _check_calls(fields: dict[str, Any], where: str) -> None:
    calls = fields.get("tool_calls")
    if calls is not None and not isinstance(calls, list):
        raise BadRequest(f"{where}.tool_calls must be an array", param=f"{where}.tool_calls")
    for index, call in enumerate(calls or ()):
        place = f"{where}.tool_calls[{index}]"
        body = (call.get("function") or call.get("custom")) if isinstance(call, dict) else None
        _check_function(body, f"{place}.function")
        _check_id(call.get("id"), f"{place}.id")
    if fields.get("function_call") is not None:
        _check_function(fields["function_call"], f"{where}.function_call")


def _check_function(body: Any, where: str) -> None:
    if not isinstance(body, dict) or not isinstance(body.get("name"), str):
        raise BadRequest(f"{where} must be an object with a name", param=where)
    arguments = body.get("arguments", body.get("input", ""))
    if arguments is not None and not isinstance(arguments, (str, dict)):
        raise BadRequest(
            f"{where}.arguments must be a string or an object", param=f"{where}.arguments"
        )


def _check_id(value: Any, where: str) -> None:
    """Check an id. It may be absent: some servers give calls no id, and their clients send none
    back."""
    if value is not None and not isinstance(value, str):
        raise BadRequest(f"{where} must be a string", param=where)


MESSAGE_OVERHEAD = 4  # role and separators; OpenAI's cookbook counts 3 a message and 3 to prime
OFF_LOOP_BYTES = 256 * 1024  # DESIGN section 3: larger bodies are read off the event loop
LABEL = 60  # characters of a part's type, and of a file's name, in the text


@dataclass(frozen=True, slots=True)
class ToolCall:
    """One tool call of an assistant message; `id` is empty if it has none, as in a legacy
    function_call."""

    id: str
    name: str
    arguments: str
    posted: bool = True  # the posted JSON contains the arguments as this string
    part: str = ""  # their place, as in `tool_calls[0].function.arguments`


class Message:
    """A posted message. `raw` is its JSON fragment; everything else is read from it on demand.
    Fields added by a wire dialect are not part of its text or digest. `joined`: in the posted form
    it is one with the message before it, so both are sent or neither is. `aside`: the client's
    program wrote it in the user's role (a reminder, a token count); it asks nothing, and no text of
    ours is put before it. `loads`: names of the tools that a model may use because this message is
    sent."""

    __slots__ = (
        "_calls",
        "_documents",
        "_fields",
        "_only",
        "_segments",
        "_text",
        "_values",
        "_viewed",
        "aside",
        "joined",
        "loads",
        "raw",
    )

    def __init__(
        self,
        raw: bytes | msgspec.Raw,
        joined: bool = False,
        loads: frozenset[str] = frozenset(),
        *,
        aside: bool = False,
    ) -> None:
        self.raw: bytes = bytes(raw)  # bytes(bytes) makes no copy
        self.joined = joined
        self.aside = aside
        self.loads = loads
        self._fields: dict[str, Any] | None = None
        self._text: str | None = None
        self._segments: tuple[Segment, ...] = ()
        self._calls: tuple[ToolCall, ...] | None = None
        self._only: dict[tuple[str, str], ToolCall | None] | None = None
        self._documents: tuple[PastedDocument, ...] | None = None
        self._values: dict[str, tuple[ArgumentValue, ...]] = {}
        self._viewed: tuple[Volatile, tuple[Piece, ...], str] | None = None

    @classmethod
    def of(cls, fields: dict[str, Any]) -> Message:
        """Make a message from a plain dict (for tests and callers of the library)."""
        return cls(msgspec.json.encode(fields))

    def unread(self) -> Message:
        """Return the message with nothing parsed, for storing it: parsed, it takes several times
        the memory."""
        if self._fields is None:
            return self
        return Message(self.raw, self.joined, self.loads, aside=self.aside)

    @property
    def fields(self) -> dict[str, Any]:
        """Return the parsed object. Raises `BadRequest` if it is not a JSON object."""
        if self._fields is None:
            try:
                decoded = msgspec.json.decode(self.raw)
            except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
                raise BadRequest(f"not valid JSON: {error}") from error
            if not isinstance(decoded, dict):
                raise BadRequest("must be an object")
            self._fields = decoded
        return self._fields

    @property
    def role(self) -> str:
        return str(self.fields.get("role", ""))

    @property
    def content(self) -> Any:
        return self.fields.get("content")

    @property
    def parts(self) -> list[dict[str, Any]]:
        """Return the content as a list of parts; a string is one text part, null is none."""
        content = self.content
        if isinstance(content, str):
            return [{"type": "text", "text": content}]
        return content if isinstance(content, list) else []

    @property
    def words(self) -> str:
        """Return the text parts, joined."""
        return "".join(part["text"] for part in self.parts if part["type"] in TEXT_PARTS)

    @property
    def calls(self) -> tuple[ToolCall, ...]:
        """Return the tool calls in order, legacy `function_call` included."""
        if self._calls is None:
            made = self.fields.get("tool_calls") or []
            legacy = self.fields.get("function_call")
            calls = []
            for index, call in enumerate(made):
                key = "function" if call.get("function") else "custom"
                calls.append(_call(call.get("id"), call[key], f"tool_calls[{index}].{key}"))
            if legacy:
                calls.append(_call("", legacy, "function_call"))
            self._calls = tuple(calls)
        return self._calls

    def only_call(self, key: str, value: str) -> ToolCall | None:
        """Return the call whose id or name (`key`) has this value; None if it is not one alone."""
        if self._only is None:
            self._only = {}
            for call in self.calls:
                for name in (("id", call.id), ("name", call.name)):
                    self._only[name] = None if name in self._only else call
        return self._only.get((key, value))

    @property
    def text(self) -> str:
        if self._text is None:
            self._text, self._segments = _render(self)
        return self._text

    @property
    def segments(self) -> tuple[Segment, ...]:
        """Return the runs that `text` consists of, left to right, without gaps."""
        _ = self.text
        return self._segments

    def segment_at(self, offset: int) -> Segment:
        """Return the segment that contains a character of `text`."""
        at = bisect_right(self.segments, offset, key=lambda segment: segment.start)
        return self._segments[at - 1]

    def argument_values(self, segment: Segment) -> tuple[ArgumentValue, ...]:
        """Return the strings in the arguments that a segment holds; none for other segments."""
        if segment.kind != "call":
            return ()
        if segment.part not in self._values:
            text = self.text[segment.start : segment.end]
            self._values[segment.part] = argument_values(text)
        return self._values[segment.part]

    def string_at(self, part: str) -> str | None:
        """Return the posted string that the part of a quotation names; a string in the arguments of
        a call is decoded."""
        for segment in self.segments:
            if segment.quotable and segment.part == part:
                return self.text[segment.start : segment.end]
            if segment.kind == "call" and part.startswith(segment.part):
                path = part.removeprefix(segment.part)
                named = (value for value in self.argument_values(segment) if value.path == path)
                if (value := next(named, None)) is not None:
                    return value.text
        return None

    def view(self, volatile: Volatile) -> View:
        """Return the text that leaves refer to."""
        if self._viewed is None or self._viewed[0] != volatile:
            if self.role == "user":
                cuts = volatile.find(self.text)
            elif self.role in RESULT_ROLES:
                cuts = volatile.find_in_result(self.text)
            else:
                cuts = ()
            self._viewed = volatile, *pieces(self.text, self.segments, cuts)
        return View(self, *self._viewed[1:])  # not cached: the two would reference each other

    def document_at(self, start: int, end: int, volatile: Volatile) -> PastedDocument | None:
        """Return the first pasted document that a span of a user's message overlaps; None if the
        span is the user's own text. `start`, `end`: in the text of the view."""
        if self.role != "user":
            return None
        if self._documents is None:
            self._documents = documents(self.view(volatile).text)
        touched = (each for each in self._documents if each.start < end and start < each.end)
        return next(touched, None)


class View:
    """A message's text as it is hashed and indexed, with the mapping back to posted offsets."""

    __slots__ = ("_pieces", "message", "text")

    def __init__(self, message: Message, pieces: tuple[Piece, ...], text: str) -> None:
        self.message = message
        self.text = text
        self._pieces = pieces

    @property
    def segments(self) -> tuple[Segment, ...]:
        """Return the message's segments in view offsets; a removed volatile block separates
        segments, too."""
        return tuple(
            Segment(run[0].start, run[-1].end, run[0].segment.kind, run[0].segment.part)
            for run in self._runs(self._pieces)
        )

    @staticmethod
    def _runs(pieces: Iterable[Piece]) -> list[list[Piece]]:
        """Group the pieces that go on where the one before them ended."""
        runs: list[list[Piece]] = []
        for piece in pieces:
            if piece.seam is None or not runs:
                runs.append([piece])
            else:
                runs[-1].append(piece)
        return runs

    def posted(self, start: int, end: int) -> tuple[tuple[int, int], ...]:
        """Return quotable spans of the posted text for the view span [start, end), split between
        segments and where the view leaves characters out."""
        return tuple(span[1:] for run in self.quotable(start, end) for span in run.spans)

    def quotable(self, start: int, end: int) -> Iterator[QuotableRun]:
        """Yield the quotable runs of the view span [start, end), split between segments."""
        first = bisect_right(self._pieces, start, key=lambda piece: piece.end)
        last = bisect_left(self._pieces, end, first, key=lambda piece: piece.start)
        # `islice` would step over all earlier ones
        pieces = (self._pieces[index] for index in range(first, last))
        for run in self._runs(piece for piece in pieces if piece.segment.quotable):
            low, high = max(start, run[0].start), min(end, run[-1].end)
            if low < high:
                spans = [piece.clipped(start, end) for piece in run]
                yield QuotableRun(low, high, run[0].segment, spans)


def read_messages(
    raw: bytes | Sequence[bytes | msgspec.Raw], where: str = "messages"
) -> tuple[Message, ...]:
    """Parse and validate a posted list of messages.

    Raises `BadRequest` that names the place, as in `messages[3].content`.
    """
    fragments: Iterable[bytes | msgspec.Raw]
    if isinstance(raw, bytes):
        try:
            fragments = msgspec.json.decode(raw, type=list[msgspec.Raw])
        except (msgspec.DecodeError, RecursionError) as error:
            raise BadRequest(f"{where} must be a non-empty array", param=where) from error
    else:
        fragments = raw
    messages = tuple(Message(fragment) for fragment in fragments)
    if not messages:
        raise BadRequest(f"{where} must be a non-empty array", param=where)
    for index, message in enumerate(messages):
        check_message(message, f"{where}[{index}]")
    return messages


def check_message(message: Message, where: str) -> None:
    """Raise `BadRequest` unless the message has the documented shape."""
    try:
        fields = message.fields
    except BadRequest as error:
        raise BadRequest(f"{where}: {error.message}", param=where) from error
    check(fields, where)


def is_said(part: dict[str, Any]) -> bool:
    """Return True for text, a refusal or reasoning: parts that need no placeholder."""
    return (
        part["type"] in TEXT_PARTS or part["type"] in REASONING_PARTS or part["type"] == "refusal"
    )


def _call(id_: Any, body: dict[str, Any], place: str) -> ToolCall:
    key = "arguments" if "arguments" in body else "input"
    arguments = body.get(key) or ""
    posted = isinstance(arguments, str)
    text = arguments if posted else msgspec.json.encode(arguments).decode()
    return ToolCall(str(id_ or ""), body["name"], text, posted, f"{place}.{key}")


def _render(message: Message) -> tuple[str, tuple[Segment, ...]]:
    """Return the text of a message and its segments; empty runs are left out."""
    runs: list[tuple[str, str, str]] = []  # (text, kind, part)
    others: list[tuple[str, str, str]] = []
    listed = isinstance(message.content, list)
    for index, part in enumerate(message.parts):
        if part["type"] in TEXT_PARTS:
            runs.append((part["text"], "text", f"content[{index}]" if listed else "content"))
        elif not is_said(part):
            others.append((f"\n[{label(part)}]", "media", ""))
    if isinstance(message.fields.get("audio"), dict):
        others.append(("\n[audio]", "media", ""))
    for call in message.calls:
        others.append((f"\n{call.name} ", "name", ""))
        others.append((call.arguments, "call" if call.posted else "media", call.part))
    segments, offset = [], 0
    for text, kind, place in (*runs, *others):
        if text:
            segments.append(Segment(offset, offset + len(text), kind, place))
            offset += len(text)
    return "".join(text for text, _, _ in (*runs, *others)), tuple(segments)


def label(part: dict[str, Any]) -> str:
    """Return the words of a placeholder: image, audio, video, file with its name, or the part's
    type."""
    kind = part["type"].removesuffix("_url").removeprefix("input_")[:LABEL]
    kind = "file" if kind == "document" else kind
    inner = part.get(part["type"])
    name = (inner if isinstance(inner, dict) else part).get("filename")
    return f"{kind} {name[:LABEL]}" if isinstance(name, str) and name else kind
