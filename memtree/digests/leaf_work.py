"""Collect the work that the passages of a leaf report: calls, joined with their results.

A call is read by the shape of its arguments (`tool_calls.py`), or from prose if the client writes
calls so (`prose_calls.py`). A user message that answers such a call, or that a terminal printed, is
a result. Work is put in words in `work_clauses.py`.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from typing import Any

from memtree.digests import call_patches, call_results, prose_calls, shell_words
from memtree.digests.call_fields import (
    COMMITTED,
    CREATED,
    DELETED,
    EDITED,
    RAN,
    READ,
    TEST,
    UNDONE,
    WRITTEN,
    Action,
    unescaped,
)
from memtree.digests.call_results import OK, CallResult, end_word
from memtree.digests.clause import Clause, SourcePassage
from memtree.digests.line_judgements import numbered
from memtree.digests.shell import program, readers
from memtree.digests.tool_calls import called
from memtree.digests.work_clauses import DETAIL, NAME, SHOWN, TRIED, USED, Work, short_path, shown
from memtree.text.request_words import orders

_CALL = re.compile(r"\s*([\w.:/-]{1,80}) ?(?=[\[{])|\s*([\w.:/-]{1,80})\s*$")
_MAIN = re.compile(
    r'"(?:query|pattern|regex|url|uri|symbol|title|prompt|description|input|name|text|message)"'
    r'\s{0,9}:\s{0,9}"((?:[^"\\]|\\.){1,200})',
    re.IGNORECASE,
)
_COMMAND = re.compile(
    r'"(?:command|cmd|commands|script)"\s{0,9}:\s{0,9}'
    r'(?:\[\s{0,9}(?:"(?:/bin/)?(?:ba|z)?sh"\s{0,9},\s{0,9}"-l?c"\s{0,9},\s{0,9})?)?'
    r'"((?:[^"\\]|\\.){1,400})',
)
_CALLS_IN_PROSE = ("<path>", "<command>", "<parameter", '\n{"', '>{"')
_OBJECT = re.compile(r"\{(?<![^\n>].)\s{0,8}\"")
_THOUGHTS = frozenset("thought thoughts reasoning reason explanation analysis".split())
_SHOWS = frozenset("cat head tail nl less more bat sed type".split())
# The end of a terminal's output, and clients' beginnings of a result in a user message.
_PROMPT = re.compile(r"(?:^|\n)[^\n]{0,80}[$#>%]\s*$")
_RESULT = re.compile(
    r"\s*(?:<(?:output|returncode|tool_result|function_results?|stdout)>|observation:|tool result:"
    r"|\[[\w.-]{1,40}(?: for [^\]\n]{1,200})?\] result:|exit code: \d|total \d+\n[d-][rwx-]{9}"
    r"|\[file: |error:\s*\n|the file \S{1,200} has been |parameter \S{1,60} is )",
    re.IGNORECASE,
)
_MADE = {CREATED: CREATED, WRITTEN: CREATED, EDITED: EDITED, DELETED: DELETED, UNDONE: UNDONE}
_SPEECH = re.compile(r"\s*[A-Z][\w'’,-]*(?: [\w'’,:;()\"-]+){3,}[.!?:]\s")  # a sentence
# A line that a person wrote: three or more words and nothing else
_WORDS = re.compile(r"\s*[^\W\d_]+(?:[,:]?[ '’-]+[^\W\d_]+){2,}\s*[.!?:]*\s*$")
_APPLIED = re.compile(r"^[> \t]{0,4}Applied edit to ([^\s:*?{}\"'()]{1,200}\w)", re.MULTILINE)
_SIGNS = re.compile(r"\W+|\b[aA] result says\b")
_LISTED = re.compile(r"(?:^|\n)[dl-][rwx-]{9}[ .+@]")
_HEAD = 800  # characters of a message searched for the name of the file it shows


@dataclass(slots=True)
class _Call:
    works: list[Work]
    actions: list[Action]


class LeafWork:
    """Collector of the work done in a leaf; a call waits for its result. Call the method for each
    passage's kind, in the order of the passages."""

    def __init__(self) -> None:
        self._works: list[Work] = []
        self._open: list[_Call] = []
        self._message = ""  # the last message that was read
        self._answers = False  # True if that message is a result
        self.says_all = False  # the current result only confirms edits
        self._call_at = -1  # start of a call in prose, and its stated reasons
        self._thought = ""
        self._prose: _Call | None = None
        self._fence = ""

    def call(self, source: SourcePassage) -> None:
        """Record an API call. The text behind its name is its arguments; a passage that begins
        inside the arguments is ignored."""
        if match := _CALL.match(source.text[:400]):
            name, arguments = match[1] or match[2], source.text[match.end() :]
            self._open.append(self._noted(called(name, arguments), name, arguments))

    def is_result(self, source: SourcePassage) -> bool:
        """Return True for a passage of a result, which is matched with the first waiting call."""
        message = source.message or source.text
        if source.role == "assistant":
            return source.kind == "result"
        if message is not self._message:
            self._message = message
            api = source.kind == "result" or source.role in ("tool", "function")
            self._answers = api or (source.role == "user" and self._is_answer(message))
            self.says_all = False
            if self._answers and source.start == 0 and self._open:
                call = self._open.pop(0)
                if not call.actions and call.works and "\n" not in message.strip():
                    call.works[0].detail = shown(message, DETAIL)
                    self.says_all = len(call.works[0].detail) >= len(message.strip())
                result = CallResult(message)
                for work, action in zip(call.works, call.actions, strict=False):
                    _ended(work, action, result)
                if call.actions and all(action.kind in _MADE for action in call.actions):
                    self.says_all = all(work.name for work in call.works)
            if not api:
                self._prose, self._fence = None, ""
        return self._answers

    def _is_answer(self, message: str) -> bool:
        if self._prose is not None:
            return True
        if not (printed(message) or (self._fence and _PROMPT.search(message[-120:]))):
            return False
        if self._fence:
            self._open.append(self._noted(prose_calls.fenced(self._fence, 0), "", self._fence))
        return True

    def is_call(self, source: SourcePassage) -> bool:
        """Return True for an assistant passage that holds a call in prose, or part of one;
        `thought` returns the rest of the passage."""
        message = source.message or source.text
        if message is not self._message:
            self._message = message
            self._read(message)
        if source.ends and "Applied edit to " in message:
            for match in _APPLIED.finditer(message):
                self._works.append(Work(EDITED, short_path(match[1])))
        if source.ends and self._prose is not None:
            self._open.append(self._prose)
            self._works += self._prose.works
        return 0 <= self._call_at < source.start + len(source.text)

    def thought(self, source: SourcePassage) -> str:
        """Return the text of a passage beside its call."""
        at = self._call_at - source.start
        return source.text[: max(0, at)] + (self._thought if at >= 0 else "")

    def tells(self, clause: Clause) -> bool:
        """Return True for a clause whose error is already in a command's work."""
        said = [_SIGNS.sub("", work.detail)[:24] for work in self._works if work.bad]
        return bool(said) and _SIGNS.sub("", clause.text).startswith(tuple(filter(None, said)))

    def shows(self, shown: str) -> None:
        """Note that a result shows lines of a file, as in `src/app.py lines 3-9`."""
        path, _, lines = shown.rpartition(" lines ")
        name = short_path(path)
        known = next((w for w in self._works if w.kind == SHOWN and w.name == name), None)
        if known is None:
            self._works.append(Work(SHOWN, name, detail=f"lines {lines}"))
        elif known.detail and int(lines.partition("-")[0]) > int(
            known.detail[6:].partition("-")[0]
        ):
            known.detail = f"{known.detail.partition('-')[0]}-{lines.partition('-')[2]}"

    def done(self) -> list[Work]:
        """Return all works. Calls without a result in this leaf have an unknown outcome."""
        for call in self._open:
            for work in call.works:
                if work.kind in (CREATED, EDITED, DELETED, UNDONE):
                    work.kind = TRIED
        self._open.clear()
        return [work for work in self._works if work.name]

    def _read(self, message: str) -> None:
        """Search an assistant message for a call."""
        self._call_at, self._thought, self._prose, self._fence = -1, "", None, ""
        if "```" in message[-24:]:
            self._fence = message
        marked = message.startswith('{"') or any(mark in message for mark in _CALLS_IN_PROSE)
        if not marked or call_patches.is_patch(message):
            return
        actions = [
            act for act in prose_calls.written(message, 0, fences=False) if not act.confirmed
        ]
        held, at = _object(message)
        if not (actions or _COMMAND.search(message, max(0, at)) or _THOUGHTS & held.keys()):
            return
        if at >= 0:
            self._call_at = at
            said = (text for key, text in held.items() if key in _THOUGHTS)
            self._thought = "\n".join(text for text in said if isinstance(text, str))
        before = len(self._works)
        self._prose = self._noted(actions, "", message[max(0, at) :], message)
        del self._works[before:]

    def _noted(self, actions: Iterable[Action], name: str, arguments: str, text: str = "") -> _Call:
        pairs = [(work, action) for action in actions if (work := _work(action, text or arguments))]
        if any(action.kind == RAN for _, action in pairs):  # the command names what it writes
            pairs = [pair for pair in pairs if not pair[1].shell or pair[1].kind == RAN]
        works, kept = [work for work, _ in pairs], [action for _, action in pairs]
        if not works and (work := _looked(name, arguments)):
            works.append(work)
        self._works += works
        return _Call(works, kept)


def _object(text: str) -> tuple[dict[str, Any], int]:
    """Return the JSON object of a call in prose, and its start; -1 if there is none."""
    match = _OBJECT.search(text)
    if match is None:
        return {}, -1
    try:
        held, _ = json.JSONDecoder().raw_decode(text, match.start())
    except (ValueError, RecursionError):
        return {}, match.start()
    return (held if isinstance(held, dict) else {}), match.start()


def _work(action: Action, text: str) -> Work | None:
    if action.kind == RAN:
        return Work(RAN, command_name(action.text))
    if action.kind == READ:
        return Work(READ, short_path(action.text))
    if action.kind == COMMITTED or (action.kind == UNDONE and " " in action.text):
        return None
    span = action.new
    detail = "" if span is None or action.removes else text[span.start : span.end]
    name = short_path(action.text) if action.text else ""
    return Work(_MADE[action.kind], name, detail=shown(unescaped(detail), DETAIL))


def _looked(name: str, arguments: str) -> Work | None:
    """Return the work of a read-only call, named by its command or its name and main argument."""
    beginning = arguments[:4_000]
    if match := _COMMAND.search(beginning):
        command = unescaped(match[1])
    elif not name and "```" in beginning[-24:]:
        command = beginning[beginning.rfind("```", 0, -24) + 3 :].strip("`\n ")
    else:
        main = _MAIN.search(beginning)
        said = f"{name} {shown(unescaped(main[1]), NAME)}" if main else name
        return Work(USED, shown(said, NAME)) if name else None
    said = command_name(command)
    words = said.split()
    if not name and "```" in arguments[-24:] and words and words[0] not in readers():
        return None
    if len(words) > 1 and words[0] in _SHOWS and ("." in words[-1] or "/" in words[-1]):
        return Work(READ, words[-1])
    return Work(USED, said) if said else None


def command_name(command: str) -> str:
    """Name a command by its program and the words that tell what it does.

    >>> command_name("cd /srv/shop && python -m pytest tests/unit -q 2>&1 | tail -5")
    'python -m pytest tests/unit'
    >>> command_name("keytool.py --createpub -n 0xCE3205AEFBF19FB84FE171F385B6710B61E1B349")
    'keytool.py --createpub'
    >>> command_name("head -c 30000 src/dump.txt | base64")
    'head src/dump.txt'
    """
    simple = [each for each in shell_words.split(command[:400]) if each.words]
    simple = [each for each in simple if each.words[0].text not in ("cd", "export", "source")]
    if not simple:
        return ""
    words = [word.text for word in simple[0].words]
    said = [program(words[0])]
    for before, word in pairwise(words if said[0] not in ("echo", "printf") else ()):
        if word.isdigit() and before.startswith("-"):
            continue  # a count
        plain = short_path(word) if "/" in word else word
        if len(said) > 3 or len(plain) > 32 or " " in plain or not plain.isprintable():
            break
        if plain.strip("./") and (not word.startswith("-") or word == "-m"):
            said.append(plain)
    if len(said) == 1:  # an option distinguishes its uses
        said += [word.partition("=")[0] for word in words[1:] if word[:2] == "--"][:1]
    return shown(" ".join(said), NAME, orders) or shown(said[0], NAME)


def _ended(work: Work, action: Action, result: CallResult) -> None:
    """Update a work with its result."""
    field, code = result.about(action.text)
    said = field.text
    if action.kind == RAN:
        end = call_results.command_outcome(said, code, action)
        work.end = "passed" if end.code == OK and action.command == TEST else end_word(end.code)
        work.bad = int(end.bad)
        if end.failed or end.passed:
            work.counts = f"{end.failed} failed, {end.passed} passed"
        if end.line:
            work.detail = shown(said[end.line[0] : end.line[1]], DETAIL, orders)
    elif work.kind in (CREATED, EDITED, DELETED, UNDONE):
        refusal = call_results.not_changed if action.shell else call_results.refused
        if refusal(said) is not None:
            work.kind = TRIED
    if not work.name and (file := call_results.shown_file(said)):
        work.name = short_path(said[file[0] : file[1]])


@lru_cache(maxsize=4)  # each leaf of a message asks
def printed(text: str) -> bool:
    """Return True for a text with the form of program output: a client's mark of a result, a prompt
    at its end, a listing, numbered lines, or errors without a person's words around them."""
    begins = text[:2_000]
    if "\n" not in text and begins[:1].isalpha() and text[-1:] not in "$#>% \n":
        return bool(_RESULT.match(begins))
    lines = text.strip().split("\n", 1)[0], text[-400:].strip().rpartition("\n")[2]
    plain = any(_WORDS.match(line[:400]) for line in lines)
    return bool(
        _RESULT.match(begins)
        or (_PROMPT.search(text[-120:]) and not _SPEECH.match(begins))
        or len(_LISTED.findall(begins)) > 2
        or numbered(text)
        or (not plain and call_results.error(text))
    )


def plain_output(source: SourcePassage) -> str:
    """Unwrap a result from JSON, which escapes its line breaks."""
    text = source.text
    if (source.message or text).startswith(("{", "[{")) and text.count("\\n") > text.count("\n"):
        return unescaped(text)
    return text


def head(source: SourcePassage) -> str:
    """Return the beginning of the message for a passage that begins further below in it."""
    return source.message[:_HEAD] if source.start else ""
