"""Lines of ours around verbatim text: which message it is of, and what is said of it.

[3669 user]
[3670 tool, read_file src/app.py; newest version up to 3702; same text: 12, 45]
"""

from __future__ import annotations

import re
from collections.abc import Sequence

import msgspec

from memtree.conversation.history import History
from memtree.conversation.media.placeholders import placeholders
from memtree.conversation.message import RESULT_ROLES, Message, ToolCall
from memtree.unfolding.plan import ExcerptNote, TextSpan

MOST_NUMBERS = 8  # of messages that say the same; more are counted
ARGUMENT = 60  # characters of a call's main argument
_READ = 4_000  # characters of a call's arguments that are looked at
_CALLS = 3  # calls of one message that a label names
NO_NOTE = ExcerptNote(-1)

# What a call is about, by the names that clients give it; else the first text among its arguments.
_MAIN = re.compile(
    r'"(?:command|cmd|script|file_?path|path|file_?name|filename|file|notebook_path|uri|url'
    r'|pattern|query|regex|symbol|target|name|title|description|prompt|input|text|message)"'
    r'\s{0,9}:\s{0,9}(?:\[\s{0,9}(?:"(?:ba|z)?sh"\s{0,9},\s{0,9}"-l?c"\s{0,9},\s{0,9})?)?'
    r'"((?:[^"\\]|\\.){1,400})',
    re.IGNORECASE,
)
_FIRST = re.compile(r':\s{0,9}"((?:[^"\\]|\\.){1,400})')
_ESCAPE = re.compile(r"\\(?:u[0-9a-fA-F]{4}|.)", re.DOTALL)
_ESCAPED = {"\\n": " ", "\\t": " ", "\\r": " ", '\\"': '"', "\\\\": "\\", "\\/": "/"}
_PATCHED = re.compile(r"\*\*\* (?:Update|Add|Delete) File: ([^\n]{1,200})")


def label(message: int, spans: Sequence[TextSpan], note: ExcerptNote, history: History) -> str:
    """The line before excerpts of one message: its number and role, what a tool was called for,
    what it held that is not text, and the note."""
    said = [_who(message, spans, history)]
    if media := placeholders(history.messages[message]):
        said.append("with " + " ".join(media))
    return f"[{', '.join(said)}{_noted(note, history)}]"


def _who(message: int, spans: Sequence[TextSpan], history: History) -> str:
    info = history.facts[message]
    number = f"{history.posted[message]} {info.role}"
    if info.role in RESULT_ROLES:
        call = answered_call(message, history)
        return f"{number}, {call_label(call)}" if call else number
    calls = _quoted_calls(history.messages[message], spans, history) if info.calls else []
    if not calls:
        return number
    named = "; ".join(call_label(call) for call in calls[:_CALLS])
    more = f" and {len(calls) - _CALLS} more" if len(calls) > _CALLS else ""
    return f"{number}, calls {named}{more}"


def _quoted_calls(message: Message, spans: Sequence[TextSpan], history: History) -> list[ToolCall]:
    """The calls whose arguments the spans touch, or all where they hold no text."""
    if all(span.start == span.end for span in spans):
        return list(message.calls)
    parts = set()
    view = message.view(history.volatile)
    for segment in view.segments:
        if segment.kind != "text" and any(
            span.start < segment.end and segment.start < span.end for span in spans
        ):
            parts.add(segment.part)
    return [call for call in message.calls if call.part in parts]


def answered_call(message: int, history: History) -> ToolCall | None:
    """The call that a tool's message answers; None where it cannot be told."""
    info = history.facts[message]
    at = message - 1
    while at >= 0 and history.facts[at].role in RESULT_ROLES:
        at -= 1
    if at < 0:
        return None
    calls = history.messages[at].calls
    key = "name" if info.role == "function" else "id"
    named = [call for call in calls if info.answers and getattr(call, key) == info.answers]
    if len(named) == 1:
        return named[0]
    order = message - at - 1  # results stand in the order of their calls
    return calls[order] if order < len(calls) else None


def call_label(call: ToolCall) -> str:
    """A call's name and main argument in one short line, as in `read_file src/app.py`."""
    argument = main_argument(call.arguments)
    name = _line(call.name, ARGUMENT)
    return f"{name} {argument}" if argument else name


def main_argument(arguments: str) -> str:
    """What a call is about: its command, path, pattern or the like, in one line of at most 60
    characters without brackets; empty where it has none. Reads the first 4,000 characters."""
    beginning = arguments[:_READ]
    if patched := _PATCHED.search(beginning.replace("\\n", "\n")):
        return _line(patched[1], ARGUMENT)
    if not (match := _MAIN.search(beginning) or _FIRST.search(beginning)):
        plain = beginning.strip()
        return "" if plain[:1] in "{[" else _line(plain, ARGUMENT)
    return _line(_ESCAPE.sub(_unescaped, match[1]), ARGUMENT)


def tells_all(arguments: str) -> bool:
    """Whether a label says all that a call's arguments hold: they are one value, in short."""
    if len(arguments) > 2 * ARGUMENT:
        return False
    try:
        held = msgspec.json.decode(arguments)
    except (msgspec.DecodeError, UnicodeError, RecursionError):
        return False
    if not isinstance(held, dict) or len(held) > 1:
        return False
    return list(held.values()) in ([], [main_argument(arguments)])


def _unescaped(match: re.Match[str]) -> str:
    escape = match[0]
    if escape[1] == "u" and len(escape) == 6:
        return chr(int(escape[2:], 16))
    return _ESCAPED.get(escape, escape[1:])


def _line(text: str, most: int) -> str:
    """One line without brackets and control characters; a path that is too long keeps its end."""
    plain = "".join(c if c.isprintable() and c not in "[]<>" else " " for c in text)
    line = " ".join(plain.split())
    if len(line) <= most:
        return line
    if " " not in line and "/" in line:
        return "…" + line[1 - most :]
    return line[: most - 1].rstrip() + "…"


def _noted(note: ExcerptNote, history: History) -> str:
    said = []
    if note.newest >= 0:
        said.append(f"; newest version up to {history.posted[note.newest]}")
    if note.newer >= 0:
        said.append(f"; older version of {history.posted[note.newer]}, what differs")
    if note.also:
        said.append(f"; same text: {numbers(note.also, history)}")
    return "".join(said)


def numbers(messages: Sequence[int], history: History) -> str:
    """Numbers of messages as a reader sees them; of many the first and the last ones."""
    shown = [str(history.posted[message]) for message in messages]
    if len(shown) <= MOST_NUMBERS:
        return ", ".join(shown)
    half = MOST_NUMBERS // 2
    left = len(shown) - MOST_NUMBERS
    return ", ".join([*shown[:half], f"{left} more", *shown[-half:]])
