"""Read from a recorded session what an agent used next: specific strings, the old lines that its
edit quotes, and the lines that a look-up fetches once more.

All of them stood in the history before the newest round. A model that does not see them must guess
or look them up again.
"""

from __future__ import annotations

import json
import math
import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from benchmarks.invariants import SYSTEM, newest_round, weight
from benchmarks.recall.trail_truth import COMMANDS, steps
from memtree.history.message import Message

NEXT = 3  # messages of the agent that are read for what it needed
RECORDED = ("thought",)  # calls that a recorder made up
LEAST_LINE = 12  # characters of a line that is told from others
LEAST_LINES = 5  # of a look-up
REPEATED = 0.5  # share of its lines that the history held
OLD = ("old_string", "oldText", "old_str", "oldString", "old_text", "search")

_URL = re.compile(r"https?://[^\s\"'`<>()\[\]{}|\\]+[\w/]")
_KINDS = (
    "c|cc|cpp|cs|css|csv|go|h|hpp|html|ini|java|js|json|jsx|kt|lock|log|lua|md|mjs|php|pony|proto"
    "|py|rb|rs|scss|sh|sol|sql|svelte|svg|swift|tags|toml|ts|tsx|txt|vue|xml|yaml|yml|zig"
)
_FILE = re.compile(rf"[\w-]{{2,}}(?:\.[\w-]+)*\.(?:{_KINDS})")
_PATH = re.compile(
    r"(?<![\w./~@+-])(?:~?[\w.@+-]*/)+[\w.@+-]*\w"
    rf"|(?<![\w./-]){_FILE.pattern}(?![\w(]|\.\w)"
)
_WORD = re.compile(r"(?<![\w])[A-Za-z_$][\w$]*(?![\w])")
_NUMBER = re.compile(r"(?<![\w.])\d{3,}(?![\w])")
_QUOTED = re.compile(r"\"([^\"\n\\]{8,80})\"|'([^'\n\\]{8,80})'|`([^`\n\\]{8,80})`")
_ERROR = re.compile(r"\bE[A-Z]{3,}\b|\b[A-Z]{1,4}-?\d{3,5}\b")
_SEARCH = re.compile(r"^<<<<<<< SEARCH\s*\n(.*?)^=======", re.MULTILINE | re.DOTALL)
_PATCH = re.compile(r"^\*\*\* Begin Patch$.*?^\*\*\* End Patch|^```diff$.*?^```", re.M | re.S)
_LINE_NUMBER = re.compile(r"^\s*\d+(?:→|\t)", re.MULTILINE)  # as tools put it in front of each line
_NUMBERED = re.compile(r"^(?:[\w./@+-]+[:-])?\s*\d+\s*[→|:\t-]\s?")
_LOOK_UP_NAMES = re.compile(r"read|grep|view|open|search_file|show_file|^cat", re.IGNORECASE)
_LOOK_UP = re.compile(
    r"^\s*(?:cd\s+\S+\s*(?:&&|;)\s*)?"
    r"(?:cat|head|tail|sed\s+-n|grep|rg|nl|awk|less|git\s+(?:show|diff|grep))\b"
)
_ESCAPE = re.compile(r"\\(?:([\"\\/ntr])|u([0-9a-fA-F]{4}))")
_ESCAPED = {"n": "\n", "t": "\t", "r": "\r", '"': '"', "\\": "\\", "/": "/"}
_ECHOED = re.compile(r"^> .*$\n?", re.MULTILINE)  # what a log of aider shows of its terminal


@dataclass(frozen=True, slots=True)
class Need:
    """A string that the agent used. `weight`: the rarer in the history, the more; `back`: tokens
    between its last place and the end of the history."""

    text: str
    weight: float
    back: int


@dataclass(frozen=True, slots=True)
class Wanted:
    """Holds what the agent used after a cut."""

    needs: tuple[Need, ...] = ()
    old: tuple[str, ...] = ()
    again: tuple[str, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.needs or self.old or self.again)


class Session:
    """The messages of a recorded session, with their texts and sizes read once."""

    def __init__(self, id_: str, messages: Sequence[Message]) -> None:
        self.id, self.messages = id_, tuple(messages)
        self.texts = [plain(message) for message in self.messages]
        self.tools = {call.name for message in self.messages for call in message.calls}
        self.sizes = [0 if m.role in SYSTEM else weight(m.raw) for m in self.messages]
        self._ends = [0]
        self._tokens = [0]
        for text, size in zip(self.texts, self.sizes, strict=True):
            self._ends.append(self._ends[-1] + len(text) + 1)
            self._tokens.append(self._tokens[-1] + size)
        self._all = "\n".join(self.texts)

    def before(self, cut: int) -> int:
        """Return the tokens of the messages before a cut."""
        return self._tokens[cut]

    def agent(self, index: int) -> bool:
        """Return True if the agent wrote this message: one with nothing but a recorder's calls does
        not count."""
        message = self.messages[index]
        if message.role != "assistant":
            return False
        return not message.calls or any(call.name not in RECORDED for call in message.calls)

    def is_cut(self, index: int) -> bool:
        """Return True if a request was sent before this message."""
        return index > 0 and self.agent(index) and self.messages[index - 1].role != "assistant"

    def wanted(self, cut: int) -> Wanted:
        """Return what the agent used from the history before this cut."""
        newest = cut - len(newest_round(self.messages[:cut]))
        return Wanted(
            tuple(self._needs(cut, newest)), tuple(self._old(cut, newest)), self._again(cut, newest)
        )

    def edits(self, cut: int) -> bool:
        """Return True if the message behind a cut quotes old text."""
        return bool(old_lines(self.messages[cut]))

    def looks_up(self, cut: int) -> bool:
        """Return True if the message behind a cut reads what is there."""
        return any(is_look_up(s.tool, s.arguments) for s in steps(self._round(cut)))

    def _round(self, cut: int) -> Sequence[Message]:
        """Return the message behind a cut with what answers it."""
        end = cut + 1
        while end < len(self.messages) and self.messages[end].role != "assistant":
            end += 1
        return self.messages[cut:end]

    def _next(self, cut: int) -> list[int]:
        found = []
        for index in range(cut, len(self.messages)):
            if self.agent(index):
                found.append(index)
            if len(found) == NEXT:
                break
        return found

    def _needs(self, cut: int, newest: int) -> Iterator[Need]:
        end, old = self._ends[cut], self._ends[newest]
        own = [_ECHOED.sub("", self.texts[index]) for index in self._next(cut)]
        for text in dict.fromkeys(each for one in own for each in specific(one)):
            if text in self.tools or not stands(text, self._all, 0, old):
                continue
            count = self._all.count(text, 0, end)
            rarity = math.log(1 + cut / min(count, cut))
            yield Need(text, rarity, self._back(last_place(text, self._all, end), cut))

    def _back(self, place: int, cut: int) -> int:
        """Return the tokens between a place and the end of the history."""
        index = bisect_right(self._ends, place) - 1
        inside = (place - self._ends[index]) / max(1, len(self.texts[index]) + 1)
        return int(self._tokens[cut] - self._tokens[index] - inside * self.sizes[index])

    def _old(self, cut: int, newest: int) -> Iterator[str]:
        """Yield the lines that the first edit quotes, but for those that were fetched after the
        cut."""
        for index in self._next(cut):
            if lines := old_lines(self.messages[index]):
                between = "\n".join(self.texts[cut:index])
                for line in lines:
                    if line not in between and self.held(line, newest):
                        yield line
                return

    def _again(self, cut: int, newest: int) -> tuple[str, ...]:
        found: dict[str, None] = {}
        for step in steps(self._round(cut)):
            if not is_look_up(step.tool, step.arguments):
                continue
            lines = fetched(step.result)
            held = [line for line in lines if self.held(line, newest)]
            if len(lines) >= LEAST_LINES and len(held) >= REPEATED * len(lines):
                found.update(dict.fromkeys(held))
        return tuple(found)

    def held(self, line: str, cut: int) -> bool:
        return self._all.find(line, 0, self._ends[cut]) >= 0


def plain(message: Message) -> str:
    """Return a message's text and the texts in its calls' arguments, without JSON's escapes."""
    text = content(message)
    parts = [_without_json(text)] if text else []
    if message.role == "tool":
        parts = [_LINE_NUMBER.sub("", part) for part in parts]
    for call in message.calls:
        if call.name in RECORDED:
            continue
        try:
            parts += leaves(json.loads(call.arguments))
        except ValueError:
            parts.append(unescaped(call.arguments))
    return "\n".join(parts)


def content(message: Message) -> str:
    """Return a message's own text: `Message.text` shows its calls, too."""
    return "\n".join(str(part.get("text") or "") for part in message.parts)


def _without_json(text: str) -> str:
    """Return a text with the call that is written out at its end as the texts in it."""
    at = 0 if text.startswith("{") else text.find("\n{") + 1
    if text[at : at + 1] != "{":
        return text
    try:
        return "\n".join([text[:at], *leaves(json.loads(text[at:]))])
    except ValueError:
        return text


def leaves(value: Any) -> Iterator[str]:
    """Yield the texts and numbers in a JSON value."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict | list):
        for each in value.values() if isinstance(value, dict) else value:
            yield from leaves(each)
    elif value is not None and not isinstance(value, bool):
        yield str(value)


def unescaped(text: str) -> str:
    """Return a text with the escapes of JSON strings decoded.

    >>> unescaped(r'say \\"yes\\"')
    'say "yes"'
    """
    return _ESCAPE.sub(lambda m: _ESCAPED[m[1]] if m[1] else chr(int(m[2], 16)), text)


def specific(text: str) -> list[str]:
    """Return the strings of a text that hardly stand anywhere by chance.

    >>> specific('Open src/app/main.py at 1250: `the old limit` in parse_line, ENOENT')
    ['app/main.py', 'parse_line', '1250', 'the old limit', 'ENOENT']
    """
    found: dict[str, None] = {}
    for match in _URL.finditer(text):
        found[match[0]] = None
    rest = _URL.sub(" ", text)
    for match in _PATH.finditer(rest):
        if path := _last_parts(match[0]):
            found[path] = None
    rest = _PATH.sub(lambda m: " " * len(m[0]) if _last_parts(m[0]) else m[0], rest)
    for match in _WORD.finditer(rest):
        if _is_identifier(match[0]):
            found[match[0]] = None
    for match in _NUMBER.finditer(rest):
        if not match[0].endswith("00"):  # round ones are limits and sizes, which meet by chance
            found[match[0]] = None
    for match in _QUOTED.finditer(rest):
        quoted = match[1] or match[2] or match[3]
        if " " in quoted and quoted[0].isalnum() and quoted[-1].isalnum():
            found[quoted] = None
    for match in _ERROR.finditer(rest):
        found[match[0]] = None
    return list(found)


def _last_parts(path: str) -> str:
    """Return the last two parts of a path, or "" if it is none.

    >>> _last_parts("/home/me/src/app.py"), _last_parts("and/or"), _last_parts("e.g")
    ('src/app.py', '', '')
    """
    parts = [part for part in path.split("/") if part not in ("", ".", "..", "~")]
    if not parts or not any(character.isalpha() for character in parts[-1]):
        return ""
    if len(parts) < 2:
        return parts[0] if _FILE.fullmatch(parts[0]) else ""
    if len(parts) == 2 and "." not in parts[-1] and not path.startswith(("/", "./", "~")):
        return ""
    return "/".join(parts[-2:])


def _is_identifier(word: str) -> bool:
    """Return True for a name of a program's thing: with an underscore inside, a capital behind a
    small letter, or a digit among letters."""
    if len(word) < 5:
        return False
    if "_" in word.strip("_"):
        return True
    return bool(re.search(r"[a-z][A-Z]|[A-Za-z]{2}\d", word))


def stands(text: str, whole: str, begin: int = 0, end: int | None = None) -> bool:
    """Return True if a text stands in another one, not as a part of a longer word."""
    end = len(whole) if end is None else end
    at = whole.find(text, begin, end)
    while at >= 0:
        if _apart(text, whole, at):
            return True
        at = whole.find(text, at + 1, end)
    return False


def last_place(text: str, whole: str, end: int) -> int:
    """Return the last place before `end` at which a text stands, not as a part of a longer word."""
    at = whole.rfind(text, 0, end)
    while at > 0 and not _apart(text, whole, at):
        at = whole.rfind(text, 0, at + len(text) - 1)
    return max(at, 0)


def _apart(text: str, whole: str, at: int) -> bool:
    before, after = whole[at - 1 : at], whole[at + len(text) : at + len(text) + 1]
    return not (_joins(before) and _joins(text[0])) and not (_joins(after) and _joins(text[-1]))


def _joins(character: str) -> bool:
    return character.isalnum() or character == "_"


def old_lines(message: Message) -> list[str]:
    """Return the lines of existing text that the edits of a message quote."""
    quoted: list[str] = []
    for call in message.calls:
        try:
            quoted += _old_texts(json.loads(call.arguments))
        except ValueError:
            continue
    text = content(message)
    if not message.calls and '"old_str' in text:
        at = text.find("\n{") + 1
        try:
            quoted += _old_texts(json.loads(text[at:]))
        except ValueError:
            pass
    quoted += _SEARCH.findall(text)
    quoted += [_minus(patch[0]) for patch in _PATCH.finditer(plain(message))]
    lines = (line.strip() for one in quoted for line in one.split("\n"))
    return list(dict.fromkeys(line for line in lines if len(line) >= LEAST_LINE))


def _old_texts(arguments: Any) -> Iterator[str]:
    if isinstance(arguments, list):
        for each in arguments:
            yield from _old_texts(each)
    elif isinstance(arguments, dict):
        for name, value in arguments.items():
            if name in OLD and isinstance(value, str):
                yield value
            elif isinstance(value, dict | list):
                yield from _old_texts(value)


def _minus(patch: str) -> str:
    """Return the lines of a patch that it finds in the file: removed ones, and those around."""
    found = [
        line[1:]
        for line in patch.split("\n")
        if line[:1] in ("-", " ") and not line.startswith(("---", "- "))
    ]
    return "\n".join(found)


def is_look_up(tool: str, arguments: dict[str, Any]) -> bool:
    """Return True if a call reads what is there: a file, or lines that a search finds."""
    if tool in RECORDED:
        return False
    for key in COMMANDS:
        value = arguments.get(key)
        if isinstance(value, list):
            value = " ".join(part for part in value if isinstance(part, str))
        if isinstance(value, str) and value.strip():
            return value == "view" or bool(_LOOK_UP.search(value))
    return bool(_LOOK_UP_NAMES.search(tool))


def fetched(result: str) -> list[str]:
    """Return the lines that a look-up showed, without numbers and file names in front.

    >>> fetched("     7→def parse(line):\\nsrc/a.py:12:    return parse(line)\\n8: }")
    ['def parse(line):', 'return parse(line)']
    """
    lines = (_NUMBERED.sub("", line, count=1).strip() for line in result.split("\n"))
    return list(dict.fromkeys(line for line in lines if len(line) >= LEAST_LINE))


class Visible:
    """Holds what a model is sent, as text to look in."""

    def __init__(self, text: str) -> None:
        self._texts = [text]
        if "\\" in text:
            self._texts.append(unescaped(text))

    def has(self, text: str) -> bool:
        return any(stands(text, one) for one in self._texts)

    def holds(self, line: str) -> bool:
        return any(line in one for one in self._texts)
