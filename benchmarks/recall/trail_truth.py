"""Read what was done in an agent's session out of the structured calls and their results.

Three forms of calls are read: tool calls of the API, a JSON object of arguments in the text of an
assistant message (with the result as the next user message), and commands in the last fence or
`<command>` of one. From each come files that were created or edited and commands that were run,
with what came of them.

    >>> normal("cd /app && make test 2>&1 | tail -5")
    'make test'
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from memtree.history.message import Message

PATHS = ("path", "file_path", "filePath", "filepath", "filename", "file_name", "file")
COMMANDS = ("command", "cmd", "commands", "script")
TEXTS = ("new_str", "new_string", "newString", "new_text", "content", "file_text", "contents",
         "replacement_text", "replace", "text", "patch", "diff")  # fmt: skip
_EDITORS = ("str_replace", "insert", "create", "write", "append", "edit", "undo_edit")
_READERS = frozenset(
    """
    ls cat head tail grep rg egrep fgrep find tree pwd wc file which whereis stat du df less more
    cd echo printf env printenv date whoami id uname ps top type man history true sleep sort uniq
    cut tr awk jq diff cmp md5sum sha256sum hexdump xxd strings open goto scroll_up scroll_down
    search_dir search_file find_file view submit exit help base64 export source set read
    set_cursors decompile disassemble connect_start connect_sendline curl wget apt-cache rm mkdir
    mv cp touch chmod
    """.split()
)
_GIT_READERS = frozenset("status log diff show branch blame remote rev-parse ls-files".split())
_SHELL_PATH = re.compile(
    r"(?:/workspace|/testbed|/repo|/home/[\w.-]+|/app|/tmp)/[^\s'\";|&]*?(?=[\w.+-]+\b)"
)
_FENCE = re.compile(r"^```[^\n]*\n(.*?)^```", re.MULTILINE | re.DOTALL)
_TAGGED = re.compile(r"<command>\n?(.*?)</command>", re.DOTALL)
_OPENED = re.compile(r"^\[File: (\S+) \(\d+ lines total\)\]", re.MULTILINE)
_REDIRECT = re.compile(r"(?<![0-9&])>>?\s*([\w./~-]+)")
_SED = re.compile(r"\bsed\s+(?:-\w+\s+)*-i\S*\s+(?:-e\s+)?(?:'[^']*'|\"[^\"]*\"|\S+)\s+([\w./~-]+)")
_REFUSED = re.compile(
    r"\A\s*(?:<error>|ERROR\b|Error[: ])|No replacement was performed|did not appear verbatim"
    r"|introduced new syntax error|edit has NOT been applied|is required for command"
    r"|Multiple occurrences of|No changes? (?:was|were) made|Parameter '\w+' is expected"
    r"|Invalid `\w+` parameter|replacement was not|Text .* not found|<tool_use_error>"
)
_COUNTS = re.compile(r"\b(\d+) (failed|passed|errors?|failures?)\b")
_EXIT = re.compile(r"\b(?:exit(?:ed)?(?: with)?(?: code| status)|rc=)\s*[:=]?\s*(-?\d+)\b", re.I)
_TRAILER = re.compile(r"^(?:\(Open file: |\(Current directory: |bash-\$|Warning: )", re.MULTILINE)
_QUOTED = re.compile(r"'[^']*'|\"[^\"]*\"")
_JOINT = re.compile(r"&&|;")
_ERROR = re.compile(
    r"^.*(?:\b[A-Z]\w*(?:Error|Exception)\b|\berror:|\bERROR\b|\bError (?:\d|at\b)"
    r"|\berrors occurred|\bfatal:|\bFAILED\b|TIMED OUT|timed out|command not found|No such file"
    r"|Traceback|Segmentation fault|[Pp]ermission denied|can't cd|cannot |unable to |E: ).*$",
    re.MULTILINE,
)


@dataclass(frozen=True, slots=True)
class Change:
    """A file written at a message; `text`: what was put there."""

    message: int
    name: str
    text: str


@dataclass(frozen=True, slots=True)
class Outcome:
    """A command run at a message; `lines`: of its result, those that tell what came of it."""

    message: int
    command: str
    failed: bool
    lines: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Trail:
    changes: tuple[Change, ...]
    outcomes: tuple[Outcome, ...]

    @property
    def files(self) -> dict[str, int]:
        """The last message at which each file was written, by the file's own name."""
        return {change.name: change.message for change in self.changes}

    @property
    def last(self) -> dict[str, Outcome]:
        """The last outcome of each command."""
        return {outcome.command: outcome for outcome in self.outcomes}


@dataclass(frozen=True, slots=True)
class Step:
    message: int
    tool: str
    arguments: dict[str, Any]
    result: str


def trail(messages: Sequence[Message]) -> Trail:
    changes: list[Change] = []
    outcomes: list[Outcome] = []
    for step in steps(messages):
        if command := _command(step):
            changes += _written_by(step, command)
            outcomes += _run_by(step, command)
        elif (name := _edited(step)) and not _REFUSED.search(step.result[:600]):
            changes.append(Change(step.message, base(name), _text(step.arguments)))
    return Trail(tuple(changes), tuple(outcomes))


def steps(messages: Sequence[Message]) -> Iterator[Step]:
    """Calls with their results, in order; a call without one is left out."""
    results = {
        str(message.fields["tool_call_id"]): message.text
        for message in messages
        if message.role == "tool"
    }
    for number, message in enumerate(messages):
        if message.role != "assistant":
            continue
        for call in message.calls:
            arguments = _json(call.arguments)
            if call.id in results and arguments is not None:
                yield Step(number, call.name, arguments, results[call.id])
        behind = messages[number + 1] if number + 1 < len(messages) else None
        if not message.calls and behind is not None and behind.role == "user":
            yield from _written_out(number, message.text, behind.text)


def _written_out(number: int, text: str, result: str) -> Iterator[Step]:
    """A call in the text of a message."""
    at = 0 if text.startswith("{") else text.find("\n{") + 1
    arguments = _json(text[at:]) if text[at : at + 1] == "{" else None
    if arguments is not None:
        yield Step(number, "", arguments, result)
        return
    found = _TAGGED.findall(text) or _FENCE.findall(text)[-1:]
    if not found:
        return
    command = found[-1].strip()
    first, _, rest = command.partition("\n")
    verb = first.split(" ")[0]
    if verb in ("edit", "create", "insert"):
        opened = _OPENED.search(result)
        name = opened[1] if opened else first.partition(" ")[2]
        yield Step(number, verb, {"path": name, "text": rest}, result)
    elif command:
        yield Step(number, "bash", {"command": command}, result)


def _command(step: Step) -> str:
    """The command line that a step runs; empty where it edits or reads by a tool of its own."""
    for key in COMMANDS:
        value = step.arguments.get(key)
        if isinstance(value, list):
            value = " && ".join(part for part in value if isinstance(part, str))
        if isinstance(value, str) and value.strip():
            return "" if value in (*_EDITORS, "view") else value
    return ""


def _edited(step: Step) -> str:
    """The file that a step of an editing tool writes; empty where it writes none."""
    kind = str(step.arguments.get("command") or step.tool).lower()
    if not any(verb in kind for verb in _EDITORS):
        return ""
    opened = _OPENED.search(step.result)
    named = next((str(step.arguments[key]) for key in PATHS if step.arguments.get(key)), "")
    return named or (opened[1] if opened else "")


def _text(arguments: dict[str, Any]) -> str:
    return next((str(arguments[key]) for key in TEXTS if arguments.get(key)), "")


def _written_by(step: Step, command: str) -> Iterator[Change]:
    """Files that a shell writes by redirection or `sed -i`. Where a command fails, what `echo` and
    `printf` wrote before it is written all the same."""
    failed = _failed(step.result) and ("sed" not in command or "sed:" in step.result)
    head, _, body = command.partition("\n")
    head = _QUOTED.sub(lambda quoted: " " * len(quoted[0]), head)
    for match in (*_REDIRECT.finditer(head), *_SED.finditer(command)):
        before = _JOINT.split(head[: match.start()])[-1].split()
        later = _JOINT.search(head, match.end()) and base(match[1]) not in step.result
        if failed and not (later and before[:1] in (["echo"], ["printf"])):
            continue
        if not match[1].startswith(("/dev/", "&")):
            yield Change(step.message, base(match[1]), body or command)


def _run_by(step: Step, command: str) -> Iterator[Outcome]:
    head = command.partition("\n")[0]
    key = normal(head)
    parts = [part.strip() for part in re.split(r"&&|;|\|\|?", _QUOTED.sub("''", key))]
    if not key or all(_reads(part) for part in parts if part) or _REDIRECT.search(head):
        return
    if "sed" in key and " -i" in key:
        return
    yield Outcome(step.message, key, _failed(step.result), tuple(_telling(step.result)))


def _reads(part: str) -> bool:
    words = part.split()
    program = base(words[0])
    if program == "git":
        return len(words) > 1 and words[1] in _GIT_READERS
    return program in _READERS or (program == "sed" and "-n" in words)


def normal(command: str) -> str:
    """A command without `cd`, environment, pipes to head and tail, and the sandbox's paths."""
    line = re.sub(r"\A(?:\s*cd\s+\S+\s*(?:&&|;))+", "", command.strip())
    line = re.sub(r"\A(?:\s*[A-Z_]\w*=\S*)+\s+", "", line)
    line = re.sub(r"\s*2>&1", "", line)
    line = re.sub(r"\s*\|\s*(?:head|tail)\b[^|;&]*\Z", "", line)
    line = re.sub(r";\s*echo\s+\S*\$\?\S*\s*\Z", "", line)
    return " ".join(_SHELL_PATH.sub("", line).split())


def _failed(result: str) -> bool:
    exits = [int(code) for code in _EXIT.findall(result)]
    if exits:
        return exits[-1] != 0
    counts = [kind for number, kind in _COUNTS.findall(result) if int(number)]
    if counts:
        return any(not kind.startswith("passed") for kind in counts)
    return any(_ERROR.search(line) for line in result.splitlines() if not _TRAILER.match(line))


def _telling(result: str) -> Iterator[str]:
    """Lines of a result that say how it ended: counts, errors, else the last line."""
    lines = [line.strip() for line in result.splitlines() if line.strip()]
    lines = [line for line in lines if not _TRAILER.match(line)]
    own = [line for line in lines if _COUNTS.search(line) or _ERROR.search(line)]
    for line in (*own[:3], *own[-3:], *(lines[-1:] if not own else ())):
        if len(line) >= 4:
            yield line


def base(path: str) -> str:
    return path.rstrip("/").rsplit("/", 1)[-1]


def _json(text: str) -> dict[str, Any] | None:
    try:
        value = json.loads(text)
    except ValueError:
        return None
    return value if isinstance(value, dict) else None
