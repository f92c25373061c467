"""Labels above verbatim text: the messages it comes from, and notes on them.

    ¶3669 user
    ¶3669 user Ben
    ¶3670 tool, read_file src/app.py, 2026-03-01; newest version up to 3702; same text: 12, 45 ...
    ¶3671 user, Apache-2.0 licence, section 3
    ¶3672-3674 Vanessa:

The last form is put on the same line as the text: messages that begin with their speaker's name
need only their number.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from operator import itemgetter

import msgspec

from memtree.digests.call_fields import unescaped
from memtree.history.chat_history import History
from memtree.history.message import RESULT_ROLES, Message, ToolCall
from memtree.history.placeholders import placeholders
from memtree.text import own_lines
from memtree.text.pasted_texts import PastedDocument
from memtree.tree.node import NodePlace
from memtree.unfolding.memory_plan import ExcerptNote, TextSpan

MOST_NUMBERS = 8  # numbers of messages with the same text; further ones are counted
ARGUMENT = 60  # characters of a call's main argument that are shown
DOCUMENT = 100  # characters of a pasted document's name, with the place in it
DOCUMENT_BYTES = 120  # of a document that was found, without its title
_READ = 4_000  # characters of a call's arguments that are read
_CALLS = 3  # calls of one message that a label names
_SWITCH = 8  # characters of an argument that is hardly more than yes or no
NO_NOTE = ExcerptNote(-1)

# Names that clients give to a call's main argument; without one, the first text among the arguments
# is used.
_MAIN = re.compile(
    r'"(?:command|cmd|script|file_?path|path|file_?name|filename|file|notebook_path|uri|url'
    r'|pattern|query|regex|symbol|target|name|title|description|prompt|input|text|message)"'
    r'\s{0,9}:\s{0,9}(?:\[\s{0,9}(?:"(?:ba|z)?sh"\s{0,9},\s{0,9}"-l?c"\s{0,9},\s{0,9})?)?'
    r'"((?:[^"\\]|\\.){1,400})',
    re.IGNORECASE,
)
_FIRST = re.compile(r':\s{0,9}"((?:[^"\\]|\\.){1,400})')
_PATCHED = re.compile(r"\*\*\* (?:Update|Add|Delete) File: ([^\n]{1,200})")


def label(
    spans: Sequence[TextSpan], note: ExcerptNote, history: History, last: int, day: str, cut: bool
) -> str:
    """Return the line before excerpts of one message, or of messages up to `last` with one role:
    numbers and role, what a tool was called for, parts that are not text, the day, the note, and
    `...` if the beginning of the message is left out (`cut`)."""
    message = spans[0].message
    said = [_who(message, spans, history)]
    span = spans[0].start, spans[0].end
    if message == last and (place := document_place(message, span, history, whole=False)):
        said.append(place)
    if media := placeholders(history.messages[message]):
        said.append("with " + " ".join(media))
    if day:
        said.append(day)
    text = f"{', '.join(said)}{_noted(note, history)}{' ...' * cut}"
    return own_lines.line(numbered(message, last, history), text)


def document_place(message: int, span: tuple[int, int], history: History, *, whole: bool) -> str:
    """Return the name of the pasted document that a span overlaps, with the section or line where
    the span begins; "" for the user's own words. `whole`: only its title."""
    start, end = span
    for document in _documents(message, history):
        if document.start < end and start < document.end:
            inside = not whole and start > document.start
            place = document.place(history.view(message).text, start) if inside else document.title
            return shown_line(place, DOCUMENT)
    return ""


def _documents(message: int, history: History) -> tuple[PastedDocument, ...]:
    """Return the documents in a message; each message is searched once."""
    if history.facts[message].role != "user":
        return ()
    row = history.derived.row("documents", message + 1)
    held: tuple[PastedDocument, ...] | None = row[message]
    if held is None:
        held = row[message] = history.messages[message].documents(history.volatile)
        for document in held:
            history.derived.found_bytes += DOCUMENT_BYTES + 4 * len(document.title)
    return held


def with_document(text: str, place: NodePlace, history: History, *, whole: bool) -> str:
    """Return a summary's line after the name of the pasted document that it is about; unchanged if
    its node contains anything else."""
    if not text or place.first != place.last:
        return text
    span = place.start, place.tail or len(history.view(place.first).text)
    title = document_place(place.first, span, history, whole=True)
    first = title.partition(" ")[0].rstrip(",:").rpartition("/")[2]
    if not title or first.lower() in text.lower():
        return text
    return f"{document_place(place.first, span, history, whole=whole)}: {text}"


def named_label(first: int, last: int, history: History, day: str) -> str:
    """Return the label for messages that begin with their speaker's name."""
    return f"{numbered(first, last, history)}{f' ({day})' * bool(day)} "


def numbered(first: int, last: int, history: History) -> str:
    """Return our mark with the numbers of messages [first, last]."""
    low, high = history.posted[first], history.posted[last]
    return f"{own_lines.MARK}{low}" if low == high else f"{own_lines.MARK}{low}-{high}"


def role_and_name(message: int, history: History) -> str:
    """Return the role of a message, and the name of the one who speaks, if it has one."""
    return f"{history.facts[message].role} {history.messages[message].name}".rstrip()


def _who(message: int, spans: Sequence[TextSpan], history: History) -> str:
    info, said = history.facts[message], role_and_name(message, history)
    if info.role in RESULT_ROLES:
        call = answered_call(message, history)
        return f"{info.role}, {call_label(call)}" if call else info.role
    calls = _quoted_calls(history.messages[message], spans, history) if info.calls else []
    if not calls:
        return said
    named = "; ".join(_call_labels(calls[:_CALLS]))
    more = f" and {len(calls) - _CALLS} more" if len(calls) > _CALLS else ""
    return f"{said}, calls {named}{more}"


def _quoted_calls(message: Message, spans: Sequence[TextSpan], history: History) -> list[ToolCall]:
    """Return the calls whose arguments the spans overlap, or all if the spans contain no text."""
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
    """Return the call that a tool message answers; None if it is unknown."""
    info = history.facts[message]
    key = "name" if info.role == "function" else "id"
    late = bisect_left(history.late, message, key=itemgetter(1))
    if late < len(history.late) and history.late[late][1] == message:
        return history.messages[history.late[late][0]].only_call(key, info.answers or "")
    at = history.rounds[bisect_right(history.rounds, message) - 1]
    if at == message:
        return None
    calls = history.messages[at].calls
    order = message - at - 1  # results are in the order of their calls
    follows = calls[order] if order < len(calls) else None
    if not info.answers or (follows and getattr(follows, key) == info.answers):
        return follows
    return history.messages[at].only_call(key, info.answers)


def call_label(call: ToolCall) -> str:
    """Return a call's name and main argument in one short line, as in `read_file src/app.py`; of a
    long path the last two parts."""
    argument = _short_path(main_argument(call.arguments))
    name = shown_line(call.name, ARGUMENT)
    return f"{name} {argument}" if argument else name


def _short_path(argument: str) -> str:
    """Return the folder and the file of a long path, any other argument unchanged, as a command, a
    pattern or an address.

    >>> _short_path("/srv/shop/api/orders.py"), _short_path("src/a/b.py"), _short_path("ls /a/b/c")
    ('…/api/orders.py', 'src/a/b.py', 'ls /a/b/c')
    >>> _short_path("https://example.org/a/b"), _short_path("/srv/shop/**/*.py")
    ('https://example.org/a/b', '/srv/shop/**/*.py')
    """
    if any(sign in argument for sign in (" ", "*", "://")):
        return argument
    folders, _, file = argument.rpartition("/")
    above, _, folder = folders.rpartition("/")
    return f"…/{folder}/{file}" if "/" in above.strip("/…") else argument


def _call_labels(calls: Sequence[ToolCall]) -> list[str]:
    """Return one label for each call; files of one folder that the same tool was called for share
    one, as in `read src/a.py, b.py`."""
    labels: list[str] = []
    before = ("", "")
    for call in calls:
        folder, slash, file = main_argument(call.arguments).rpartition("/")
        if slash and file and " " not in folder and (call.name, folder) == before:
            labels[-1] += f", {file}"
        else:
            labels.append(call_label(call))
        before = call.name, folder
    return labels


def main_argument(arguments: str) -> str:
    """Return a call's main argument: its command, path, pattern or the like, in one line of at most
    60 characters; "" if it has none. Reads the first 4,000 characters."""
    beginning = arguments[:_READ]
    if patched := _PATCHED.search(beginning.replace("\\n", "\n")):
        return shown_line(patched[1], ARGUMENT)
    if not (match := _MAIN.search(beginning) or _FIRST.search(beginning)):
        plain = beginning.strip()
        return "" if plain[:1] in "{[" else shown_line(plain, ARGUMENT)
    return shown_line(unescaped(match[1]), ARGUMENT)


def tells_all(arguments: str) -> bool:
    """Return True if a label says everything in a call's arguments: one short value, besides
    switches and numbers. The folder and file of a long path count as the path: to quote the
    arguments for the folders above them would cost more than the label saves."""
    if len(arguments) > 8 * ARGUMENT:
        return False
    try:
        held = msgspec.json.decode(arguments)
    except (msgspec.DecodeError, UnicodeError, RecursionError):
        return False
    if not isinstance(held, dict):
        return False
    values = list(held.values())
    main = main_argument(arguments)
    if main not in values:
        return not values
    values.remove(main)
    return not any(
        isinstance(value, dict | list) or (isinstance(value, str) and len(value) > _SWITCH)
        for value in values
    )


def shown_line(text: str, most: int) -> str:
    """Return one line of at most `most` characters, without our signs and control characters; a
    path that is too long keeps its end."""
    line = own_lines.one_line(own_lines.printable(text.replace(own_lines.MARK, " ")))
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
    if note.earlier >= 0:
        said.append(f"; newer than {history.posted[note.earlier]}, which differs")
    if note.also:
        said.append(f"; same text: {numbers(note.also, history)}")
    return "".join(said)


def numbers(messages: Sequence[int], history: History) -> str:
    """Return the numbers of messages as a reader sees them; of many only the first and the last."""
    shown = [str(history.posted[message]) for message in messages]
    if len(shown) <= MOST_NUMBERS:
        return ", ".join(shown)
    half = MOST_NUMBERS // 2
    left = len(shown) - MOST_NUMBERS
    return ", ".join([*shown[:half], f"{left} more", *shown[-half:]])
