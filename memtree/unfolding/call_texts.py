"""Parts of a call's JSON that a quotation shows: its texts, such as a thought or the content of a
written file, without the fields and switches around them. Of an edit only the new text is shown,
since it repeats most of the old one.

A call of the API has a label with its main argument. If a client writes calls into prose, the
object ends its message and contains a thought beside a path or a command. Any other JSON is quoted
whole. Calls are named in `labels.py`; their effects are read in `digests.tool_calls`.

    >>> call = 'Running: make\\n{"command": "make", "thought": "Build it again.", "hidden": false}'
    >>> left = list(around_texts(call, 14, len(call), call[:14]))
    >>> [call[low:high] for low, high in left]
    ['{"command": "make", "thought": "', '", "hidden": false}']
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator

from memtree.history.message import Message
from memtree.unfolding.labels import ARGUMENT, main_argument, shown_line

LONGEST = 40_000  # characters of a message that is examined
BEFORE = 2_000  # characters before an object that are searched for its values
LEAST = 8  # characters of a text that is worth showing
_STRING = re.compile(r'"((?:[^"\\]|\\.)*+)"(?P<key>\s{0,9}:)?')
_OLD = frozenset("old_str old_string old_text oldtext oldstring old_content search find".split())
_NEW = re.compile(
    r'"(?:new_(?:str|string|text|content)|new(?:Text|String)|replace(?:ment)?)"\s{0,9}:\s{0,9}"[^"]'
)
_THOUGHT = re.compile(r'"(?:thoughts?|reasoning|explanation)"\s{0,9}:', re.IGNORECASE)
_CALLS = re.compile(r'"(?:command|cmd|path|file_?path|code|tool|action)"\s{0,9}:', re.IGNORECASE)


def left_out(message: Message) -> list[tuple[int, int]]:
    """Return the spans of an assistant's posted text that quotations leave out, in order."""
    text = message.text
    if message.role != "assistant" or '"' not in text or len(text) > LONGEST:
        return []
    spans: list[tuple[int, int]] = []
    at = 0 if text.startswith('{"') else text.find('\n{"') + 1
    if at or text.startswith('{"'):
        end = message.segment_at(at).end
        if _is_call(text[at:end]):
            spans += around_texts(text, at, end, text[max(0, at - BEFORE) : at])
    for segment in message.segments:
        if segment.kind == "call" and text.startswith("{", segment.start):
            argument = main_argument(text[segment.start : segment.end])
            if argument:
                spans += around_texts(text, segment.start, segment.end, argument)
    return spans


def without_left_out(message: Message) -> str:
    """Return the posted text with parts that quotations leave out replaced by as many blanks."""
    kept, done = [], 0
    for start, end in left_out(message):
        kept += [message.text[done:start], " " * (end - start)]
        done = end
    return "".join([*kept, message.text[done:]])


def _is_call(text: str) -> bool:
    if not (text.rstrip().endswith("}") and _THOUGHT.search(text) and _CALLS.search(text)):
        return False
    try:
        return isinstance(json.loads(text), dict)
    except (ValueError, RecursionError):
        return False


def around_texts(text: str, start: int, end: int, known: str) -> Iterator[tuple[int, int]]:
    """Yield the spans around the texts of a JSON object, text[start:end). `known`: text that the
    reader has seen; a value that occurs there is left out, too."""
    at, name = start, ""
    edits = _NEW.search(text, start, end) is not None
    for match in _STRING.finditer(text, start, end):
        if match["key"] is not None:
            name = match[1].lower()
        elif not (edits and name in _OLD) and _is_text(match[1], known):
            yield at, match.start(1)
            at = match.end(1)
    yield at, end


def _is_text(value: str, known: str) -> bool:
    if len(value) <= LEAST or not (" " in value or "\\n" in value):
        return False
    if value in known or value.replace('\\"', '"') in known:
        return False
    return len(value) > ARGUMENT or shown_line(value, ARGUMENT) != known
