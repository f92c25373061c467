"""One chat message: the raw JSON fragment as posted, parsed on demand.

A `Message` never loses a byte: what is kept in an answer is written back as `raw`. Its *text* is
what the tree indexes: the text parts joined without a separator, then a placeholder for each part
that is not text (`[image]`, `[file plan.pdf]`), then each tool call as its name and arguments.
Reasoning and refusals are no part of it: clients drop them, or send them otherwise the next time.
Offsets into that text are "posted" offsets. The *view* of a user message is its text without
volatile blocks (closed tags that clients rewrite on every request, such as `<system-reminder>`);
leaves count in view offsets.

    >>> m = Message(b'{"role":"user","content":[{"type":"text","text":"hi"}]}')
    >>> m.role, m.text
    ('user', 'hi')
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import msgspec

from memtree.conversation.media.parts import REASONING_PARTS
from memtree.conversation.validation import ROLES, SYSTEM_ROLES, TEXT_PARTS, check
from memtree.conversation.volatile_blocks import VOLATILE_TAGS, Volatile, without
from memtree.errors import BadRequest

__all__ = [
    "MESSAGE_OVERHEAD",
    "OFF_LOOP_BYTES",
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
    "read_messages",
]  # fmt: skip

MESSAGE_OVERHEAD = 4  # role and separators; OpenAI's cookbook counts 3 a message and 3 to prime
OFF_LOOP_BYTES = 256 * 1024  # DESIGN section 3: more is read off the event loop
LABEL = 60  # characters of a part's type, and of a file's name, in the text


@dataclass(frozen=True, slots=True)
class ToolCall:
    """One tool call of an assistant message; `id` is empty where it has none, as in a legacy
    function_call."""

    id: str
    name: str
    arguments: str
    posted: bool = True  # the arguments stand in the posted JSON as this string


@dataclass(frozen=True, slots=True)
class Segment:
    """A run of a message's text, [start, end) in characters. `kind`: text, media, name, call.

    Only `text` and `call` segments stand in the posted JSON as they are, so only they are quoted.
    """

    start: int
    end: int
    kind: str

    @property
    def quotable(self) -> bool:
        return self.kind in ("text", "call")


class Message:
    """A posted message. `raw` is its JSON fragment; everything else is read from it when asked."""

    __slots__ = ("_calls", "_fields", "_segments", "_stripped", "_text", "raw")

    def __init__(self, raw: bytes | msgspec.Raw) -> None:
        self.raw: bytes = bytes(raw)  # bytes(bytes) makes no copy
        self._fields: dict[str, Any] | None = None
        self._text: str | None = None
        self._segments: tuple[Segment, ...] = ()
        self._calls: tuple[ToolCall, ...] | None = None
        self._stripped: tuple[Volatile, tuple[tuple[int, int], ...], str] | None = None

    @classmethod
    def of(cls, fields: dict[str, Any]) -> Message:
        """A message made from a plain dict (tests, the library's callers)."""
        return cls(msgspec.json.encode(fields))

    @property
    def fields(self) -> dict[str, Any]:
        """The parsed object. Raises `BadRequest` where it is no JSON object."""
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
        """The content as a list of parts; a string is one text part, null is none."""
        content = self.content
        if isinstance(content, str):
            return [{"type": "text", "text": content}]
        return content if isinstance(content, list) else []

    @property
    def words(self) -> str:
        """The text parts, joined."""
        return "".join(part["text"] for part in self.parts if part["type"] in TEXT_PARTS)

    @property
    def calls(self) -> tuple[ToolCall, ...]:
        """Tool calls in order, legacy `function_call` included."""
        if self._calls is None:
            made = self.fields.get("tool_calls") or []
            legacy = self.fields.get("function_call")
            calls = [
                _call(call.get("id"), call.get("function") or call.get("custom")) for call in made
            ]
            if legacy:
                calls.append(_call("", legacy))
            self._calls = tuple(calls)
        return self._calls

    @property
    def text(self) -> str:
        if self._text is None:
            self._text, self._segments = _render(self)
        return self._text

    @property
    def segments(self) -> tuple[Segment, ...]:
        """The runs that `text` is made of, left to right, without gaps."""
        _ = self.text
        return self._segments

    def view(self, volatile: Volatile) -> View:
        """The text that leaves count in: `text` without volatile blocks (user messages only)."""
        if self._stripped is None or self._stripped[0] != volatile:
            cuts = volatile.find(self.text) if self.role == "user" else ()
            self._stripped = volatile, cuts, without(self.text, cuts) if cuts else self.text
        return View(self, *self._stripped[1:])  # not kept: the two would hold each other


class View:
    """A message's text without its volatile blocks, and the way back to posted offsets."""

    __slots__ = ("_cuts", "_pieces", "message", "text")

    def __init__(self, message: Message, cuts: tuple[tuple[int, int], ...], text: str) -> None:
        self.message = message
        self.text = text
        self._cuts = cuts
        self._pieces: tuple[tuple[Segment, int], ...] | None = None

    @property
    def segments(self) -> tuple[Segment, ...]:
        """The message's segments in view offsets; a volatile block is a seam, too."""
        if not self._cuts:
            return self.message.segments
        return tuple(segment for segment, _ in self._shifted())

    def posted(self, start: int, end: int) -> tuple[tuple[int, int], ...]:
        """Quotable spans of the posted text for the view span [start, end), seams split."""
        spans = []
        pieces = self._shifted()
        first = bisect_right(pieces, start, key=lambda piece: piece[0].end)
        for at in range(first, len(pieces)):
            segment, shift = pieces[at]
            if segment.start >= end:
                break
            low, high = max(start, segment.start), min(end, segment.end)
            if low < high and segment.quotable:
                spans.append((low + shift, high + shift))
        return tuple(spans)

    def _shifted(self) -> tuple[tuple[Segment, int], ...]:
        """Segments in view offsets, left to right, each with what is to be added to an offset in
        it for the posted one: the characters of the volatile blocks before it."""
        if self._pieces is None:
            self._pieces = tuple(self._cut_segments())
        return self._pieces

    def _cut_segments(self) -> Iterator[tuple[Segment, int]]:
        shift = cut = 0
        for segment in self.message.segments:
            at = segment.start
            while cut < len(self._cuts) and self._cuts[cut][0] < segment.end:
                start, end = self._cuts[cut]
                if start > at:
                    yield Segment(at - shift, start - shift, segment.kind), shift
                # Of a block that goes on in the next segment only what stands in this one.
                end, at = min(end, segment.end), max(at, start)
                shift += end - at
                at = end
                if self._cuts[cut][1] > segment.end:
                    break
                cut += 1
            if at < segment.end:
                yield Segment(at - shift, segment.end - shift, segment.kind), shift


def read_messages(
    raw: bytes | Sequence[bytes | msgspec.Raw], where: str = "messages"
) -> tuple[Message, ...]:
    """Parse and check a posted list of messages.

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
    """Raise `BadRequest` unless the message has the shape the API documents."""
    try:
        fields = message.fields
    except BadRequest as error:
        raise BadRequest(f"{where}: {error.message}", param=where) from error
    check(fields, where)


def is_said(part: dict[str, Any]) -> bool:
    """Text, a refusal or reasoning, in contrast to what a placeholder stands for."""
    return (
        part["type"] in TEXT_PARTS or part["type"] in REASONING_PARTS or part["type"] == "refusal"
    )


def _call(id_: Any, body: dict[str, Any]) -> ToolCall:
    arguments = body.get("arguments", body.get("input")) or ""
    if isinstance(arguments, str):
        return ToolCall(str(id_ or ""), body["name"], arguments)
    return ToolCall(str(id_ or ""), body["name"], msgspec.json.encode(arguments).decode(), False)


def _render(message: Message) -> tuple[str, tuple[Segment, ...]]:
    """The text of a message and its segments; empty runs are left out."""
    runs: list[tuple[str, str]] = []
    others: list[tuple[str, str]] = []
    for part in message.parts:
        if part["type"] in TEXT_PARTS:
            runs.append((part["text"], "text"))
        elif not is_said(part):
            others.append((f"\n[{_label(part)}]", "media"))
    if isinstance(message.fields.get("audio"), dict):
        others.append(("\n[audio]", "media"))
    for call in message.calls:
        others.append((f"\n{call.name} ", "name"))
        others.append((call.arguments, "call" if call.posted else "media"))
    segments, offset = [], 0
    for text, kind in (*runs, *others):
        if text:
            segments.append(Segment(offset, offset + len(text), kind))
            offset += len(text)
    return "".join(text for text, _ in (*runs, *others)), tuple(segments)


def _label(part: dict[str, Any]) -> str:
    """What a placeholder says: image, audio, video, file with its name, or the part's type."""
    kind = part["type"].removesuffix("_url").removeprefix("input_")[:LABEL]
    inner = part.get(part["type"])
    name = (inner if isinstance(inner, dict) else part).get("filename")
    return f"{kind} {name[:LABEL]}" if isinstance(name, str) and name else kind
