"""Hold one chat message: the raw JSON fragment as posted, parsed on demand.

A `Message` never loses a byte: a message that stays in an answer is written back as `raw`. Its
*text* is what the tree indexes: the text parts joined without a separator, then a placeholder for
each part that is not text (`[image]`, `[file plan.pdf]`), then each tool call as its name and
arguments, then the text of attached documents. Reasoning is not part of it: clients drop it, or
change it in the next request. Offsets into that text are "posted" offsets. The *view* of a user
message is its text without volatile blocks (closed tags that clients rewrite on every request, such
as `<system-reminder>`); leaves count in view offsets. A tool message's view leaves out
`<system-reminder>` blocks, which some clients put behind every file they read, an assistant's view
the thoughts in its text (`text.thoughts`). In the view, arguments of a tool call that are a JSON
object are compact JSON (`call_arguments`). A view has the text as a terminal shows it: without
escape codes and what was drawn over (`text.terminal`). Messages with one digest have the same view,
unless their text is split into other parts: each part is read by itself.

    >>> m = Message(b'{"role":"user","content":[{"type":"text","text":"hi"}]}')
    >>> m.role, m.text
    ('user', 'hi')
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any

import msgspec

from memtree.errors import BadRequest
from memtree.history.attachments import REASONING_PARTS, TITLES, attached_texts
from memtree.history.message_shape import (
    RESULT_ROLES,
    ROLES,
    SYSTEM_ROLES,
    TEXT_PARTS,
    is_shaped,
    shaped,
)
from memtree.history.posted_json import (
    ArgumentValue,
    argument_values,
    decode,
    decode_any,
    encode,
    json_text,
)
from memtree.history.view_pieces import ATTACHED, Piece, QuotableRun, Segment, view_pieces
from memtree.history.volatile_blocks import VOLATILE_TAGS, Volatile
from memtree.text.pasted_texts import PastedDocument, documents
from memtree.text.speakers import participant
from memtree.text.terminal import without_codes
from memtree.text.thoughts import thoughts, without_thoughts

__all__ = [
    "HEAD", "MESSAGE_OVERHEAD", "RESULT_ROLES", "ROLES", "SYSTEM_ROLES", "TEXT_PARTS",
    "VOLATILE_TAGS", "Message", "Segment", "ToolCall", "View", "Volatile", "check_message",
    "has_placeholder", "label", "read_messages",
]  # fmt: skip

MESSAGE_OVERHEAD = 4  # role and separators; OpenAI's cookbook counts 3 a message and 3 to prime
MOST_TEXT = 16_000_000  # UTF-8 bytes of the text of one message; more takes minutes to index
HEAD = 200  # characters of a message that are read for its day and its speaker
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
        "_fields",
        "_has_thoughts",
        "_name",
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
        self._has_thoughts = True  # until it is known that it has none
        self._calls: tuple[ToolCall, ...] | None = None
        self._only: dict[tuple[str, str], ToolCall | None] | None = None
        self._name: str | None = None
        self._values: dict[str, tuple[ArgumentValue, ...]] = {}
        self._viewed: tuple[Volatile, tuple[Piece, ...], str] | None = None

    @classmethod
    def of(cls, fields: dict[str, Any]) -> Message:
        """Make a message from a plain dict (for tests and callers of the library)."""
        return cls(encode(fields))

    def unread(self) -> Message:
        """Return the message with nothing parsed, for storing it: parsed, it takes several times
        the memory."""
        if self._fields is None:
            return self
        return Message(self.raw, self.joined, self.loads, aside=self.aside)

    @property
    def fields(self) -> dict[str, Any]:
        """Return the parsed object in the documented shape (`message_shape`). Raises `BadRequest`
        for broken JSON or UTF-8, and for nesting that is too deep."""
        if self._fields is None:
            try:
                decoded = decode_any(self.raw)
                self._fields = decoded if is_shaped(decoded) else shaped(decoded, self.raw)
            except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
                raise BadRequest(f"not valid JSON: {error}") from error
        return self._fields

    @property
    def role(self) -> str:
        return str((self._fields or self.fields).get("role", ""))

    @property
    def content(self) -> Any:
        return (self._fields or self.fields).get("content")

    @property
    def parts(self) -> list[dict[str, Any]]:
        """Return the content as a list of parts; a string is one text part, null is none."""
        content = self.content
        if isinstance(content, str):
            return [{"type": "text", "text": content}]
        return content if isinstance(content, list) else []

    @property
    def text_parts(self) -> list[str]:
        """Return the texts of the text parts, in order."""
        content = self.content
        if isinstance(content, str):
            return [content]
        return [part["text"] for part in self.parts if part["type"] in TEXT_PARTS]

    @property
    def media_parts(self) -> list[dict[str, Any]]:
        """Return the parts that are not text, in order."""
        if isinstance(self.content, str):
            return []
        return [part for part in self.parts if part["type"] not in TEXT_PARTS]

    @property
    def words(self) -> str:
        """Return the text parts, joined."""
        return "".join(self.text_parts)

    @property
    def said(self) -> str:
        """Return the words without an assistant's thoughts among them."""
        if self.role != "assistant":
            return self.words
        texts = self.text_parts
        said = [without_thoughts(text) for text in texts] if self._has_thoughts else texts
        self._has_thoughts = said != texts
        return "".join(said)

    @property
    def name(self) -> str:
        """Return who speaks, by the field `name` as `speakers.participant` shows it."""
        if self._name is None:
            given = self.fields.get("name")
            shown = given is not None and self.role in ("user", "assistant")
            self._name = participant(given, self.said) if shown else ""
        return self._name

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
        known = self._viewed
        if known is None or (known[0] is not volatile and known[0] != volatile):
            if self.role == "user":
                cuts = volatile.find(self.text)
            elif self.role in RESULT_ROLES:
                cuts = volatile.find_in_result(self.text)
            elif self.role == "assistant" and self._has_thoughts:
                cuts = tuple(self._thoughts())
            else:
                cuts = ()
            known = self._viewed = volatile, *view_pieces(self.text, self.segments, cuts)
        return View(self, *known[1:])  # not cached: the two would reference each other

    def head(self, volatile: Volatile) -> str:
        """Return the beginning of the view's text, some `HEAD` characters. What an assistant says
        opens its view, which need not be rendered for it."""
        if self.role == "assistant":
            return without_codes(self.said[:HEAD])
        return self.view(volatile).text[:HEAD]

    def _thoughts(self) -> Iterator[tuple[int, int]]:
        for segment in self.segments:
            if segment.kind == "text":
                for start, end in thoughts(self.text[segment.start : segment.end]):
                    yield segment.start + start, segment.start + end

    def documents(self, volatile: Volatile) -> tuple[PastedDocument, ...]:
        """Return the documents that a user's message pastes or attaches, in the text of the
        view."""
        if self.role != "user":
            return ()
        view = self.view(volatile)
        return (*documents(view.own), *_attached_documents(view))


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

    @property
    def own(self) -> str:
        """Return the text without the documents that the message attaches, which stand behind."""
        if not self._pieces or self._pieces[-1].segment.kind != ATTACHED:
            return self.text
        attached = (piece.start for piece in self._pieces if piece.segment.kind == ATTACHED)
        return self.text[: next(attached)]

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
    """Parse a posted list of messages. Raises `BadRequest` that names the place, as in
    `messages[3]`."""
    fragments: Iterable[bytes | msgspec.Raw]
    if isinstance(raw, bytes):
        try:
            fragments = decode(raw, list[msgspec.Raw])
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
    """Raise `BadRequest` unless the message can be read, and within a minute."""
    try:
        _ = message.fields
    except BadRequest as error:
        raise BadRequest(f"{where}: {error.message}", param=where) from error
    if (
        len(message.raw) > MOST_TEXT
        and len(message.text.encode("utf-8", "surrogatepass")) > MOST_TEXT
    ):
        raise BadRequest(f"{where}: more than {MOST_TEXT:,} bytes of text", param=where)


def has_placeholder(part: dict[str, Any]) -> bool:
    """Return False for text and reasoning, which have no placeholder in a message's text."""
    return part["type"] not in TEXT_PARTS and part["type"] not in REASONING_PARTS


def _call(id_: Any, body: dict[str, Any], place: str) -> ToolCall:
    key = "arguments" if "arguments" in body else "input"
    arguments = body.get(key) or ""
    posted = isinstance(arguments, str)
    text = arguments if posted else json_text(arguments)
    return ToolCall(str(id_ or ""), body["name"], text, posted, f"{place}.{key}")


def _render(message: Message) -> tuple[str, tuple[Segment, ...]]:
    """Return the text of a message and its segments; empty runs are left out."""
    runs: list[tuple[str, str, str]] = []  # (text, kind, part)
    others: list[tuple[str, str, str]] = []
    attached: list[tuple[str, str, str]] = []
    listed = isinstance(message.content, list)
    for index, part in enumerate(message.parts):
        if part["type"] in TEXT_PARTS:
            runs.append((part["text"], "text", f"content[{index}]" if listed else "content"))
        elif texts := attached_texts(part):
            for path, text in texts:
                attached += (("\n", "media", ""), (text, ATTACHED, f"content[{index}]{path}"))
        elif has_placeholder(part):
            others.append((f"\n[{label(part)}]", "media", ""))
    if isinstance(message.fields.get("audio"), dict):
        others.append(("\n[audio]", "media", ""))
    for call in message.calls:
        others.append((f"\n{call.name} ", "name", ""))
        others.append((call.arguments, "call" if call.posted else "media", call.part))
    segments, offset = [], 0
    for text, kind, place in (*runs, *others, *attached):
        if text:
            segments.append(Segment(offset, offset + len(text), kind, place))
            offset += len(text)
    return "".join([text for text, _, _ in (*runs, *others, *attached)]), tuple(segments)


def _attached_documents(view: View) -> Iterator[PastedDocument]:
    """Yield the attached documents in the text of a view, by their titles."""
    attached = (segment for segment in view.segments if segment.kind == ATTACHED)
    for _, run in groupby(attached, key=lambda segment: segment.part.partition("]")[0]):
        segments = list(run)
        named = (s for s in segments if s.part.endswith(TITLES))
        title = next((view.text[s.start : s.end] for s in named), "document")
        yield PastedDocument(segments[0].start, segments[-1].end, title)


def label(part: dict[str, Any]) -> str:
    """Return the words of a placeholder: image, audio, video, file with its name, or the part's
    type."""
    kind = part["type"].removesuffix("_url").removeprefix("input_")[:LABEL]
    kind = "file" if kind == "document" else kind
    inner = part.get(part["type"])
    name = (inner if isinstance(inner, dict) else part).get("filename")
    return f"{kind} {name[:LABEL]}" if isinstance(name, str) and name else kind
