"""Split a command line into simple commands: words, redirections, here-documents.

>>> [[word.text for word in command.words] for command in split("cd /app && X=1 make -j4")]
[['cd', '/app'], ['make', '-j4']]
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace

from memtree.language.word_file import WordFile

_DATA = WordFile("all", "programs")

MAX_COMMANDS = 200  # simple commands of one call
MAX_GLUED = 4_000  # characters of a word that is joined from several quoted ones
_LEX = re.compile(
    r"""'[^']*+'|"(?:[^"\\]++|\\.)*+"|\\.|\d?>&\d?|&>>?|\d?>\|?>?|<<<|<<-?|<\(|<|&&|\|\||[;|&\n]"""
    r"""|[^\s'"\\><&;|\n]++|[^\S\n]++|.""",
    re.DOTALL,
)
_ENDS = frozenset({"&&", "||", ";", "|", "&", "\n"})
_ASSIGNED = re.compile(r"\w+\+?=")
_WRAPPERS = _DATA.words("wrappers")


@dataclass(slots=True)
class Word:
    text: str
    start: int
    end: int


@dataclass(slots=True)
class Command:
    """A simple command. `joint`: the operator before it. `body`: that of its here-document."""

    joint: str
    words: list[Word] = field(default_factory=list)
    targets: list[tuple[str, Word]] = field(default_factory=list)
    body: tuple[int, int] | None = None


def split(text: str) -> list[Command]:
    """Return the simple commands of a line, with words, redirections and here-documents."""
    commands = [Command("")]
    waiting: list[tuple[Command, str]] = []  # commands whose here-documents follow
    operator = ""
    glued = False
    at = 0
    while at < len(text) and len(commands) < MAX_COMMANDS:
        match = _LEX.match(text, at)
        if match is None:
            break
        token, at = match[0], match.end()
        command = commands[-1]
        if token in _ENDS:
            if token == "\n":
                for owner, mark in waiting:
                    at = _document(text, at, owner, mark)
                waiting = []
            if command.words or command.targets:
                commands.append(Command(token))
            elif token != "\n":
                command.joint = token
            operator, glued = "", False
        elif token.isspace() or token == "\\\n":
            glued = False
        elif token[0] in "<>" or token[-1] == ">" or ">&" in token or token[:2] == "&>":
            operator, glued = ("" if ">&" in token and token[-1].isdigit() else token), False
        elif token[0] == "#" and not glued:
            stop = text.find("\n", at)
            at = len(text) if stop < 0 else stop
        else:
            said = _unquoted(token)
            last = command.words[-1:] if operator != "+" else [command.targets[-1][1]]
            if glued and last:
                if len(last[0].text) < MAX_GLUED:
                    last[0].text += said
                last[0].end = at
                continue
            word = Word(said, match.start(), at)
            glued = True
            if operator in ("<<", "<<-"):
                waiting.append((command, said))
                operator = "+"
                command.targets.append(("<<", word))
            elif operator and operator != "+":
                command.targets.append((operator, word))
                operator = "+"
            else:
                operator = ""
                command.words.append(word)
    for owner, mark in waiting:
        at = _document(text, at, owner, mark)
    for command in commands:
        _unwrap(command)
    return commands


def _document(text: str, at: int, owner: Command, mark: str) -> int:
    """Store a here-document's body in its command, and return where the text continues."""
    start = at
    while at < len(text):
        stop = text.find("\n", at)
        stop = len(text) if stop < 0 else stop
        if text[at : min(stop, at + len(mark) + 8)].strip() == mark:
            owner.body = start, at
            return min(stop + 1, len(text))
        at = stop + 1
    owner.body = start, len(text)
    return len(text)


def _unquoted(token: str) -> str:
    if token[0] == "'" and len(token) > 1:
        return token[1:-1]
    if token[0] == '"' and len(token) > 1:
        return token[1:-1].replace('\\"', '"').replace("\\\\", "\\")
    return token[1:] if token[0] == "\\" and len(token) > 1 else token


def _unwrap(command: Command) -> None:
    """Remove what stands before a program: assignments, `sudo`, `timeout 60`, brackets."""
    words, at = command.words, 0
    while at < len(words):
        first = words[at].text
        if (bare := first.lstrip("({")) != first:
            start = words[at].start + len(first) - len(bare)
            words[at] = replace(words[at], text=bare, start=start)
            at += not bare
        elif _ASSIGNED.match(first):
            at += 1
        elif first in _WRAPPERS:
            at += 1
            while at < len(words) and (
                words[at].text.startswith("-")
                or words[at].text.rstrip("smh").replace(".", "").isdigit()
            ):
                at += 1
        else:
            break
    del words[:at]
    if words and words[-1].text.endswith(")") and "(" not in words[-1].text:
        last = words[-1]
        words[-1] = replace(last, text=last.text[:-1], end=last.end - 1)
