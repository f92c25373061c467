"""The work log: changed files, outcomes of commands, commits, and reverted changes.

    ¶ Work done so far, by tool calls and their results:
    ¶ `src/match.c` edited 17 times, last [72] `case TK_ISO`; [70] `return type`
    ¶ `make`: failed 3 times, last exit 2 [94]: `make: *** [build] Error 2`
    ¶ `npx vite build`: ran [96]: `34 modules transformed.`
    ¶ tests: not seen

A plan stores places and counts, no text: `work_log` chooses the lines of a plan within its tokens,
`work_lines` writes them from the posted history, with the same bytes each time. Quotations are
single lines, without control characters and our signs, in backticks, with secrets masked. `ok`,
`passed`, `failed`, `timed out`, `killed`, `refused` and `still running` stand only where the result
has a sign of it; else the word is `ran`. Of a command that ran several times, each end is counted.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence, Set
from itertools import chain, zip_longest

from memtree.digests.call_fields import (
    COMMITTED,
    CREATED,
    DELETED,
    EDITED,
    RAN,
    TEST,
    UNDONE,
    unescaped,
)
from memtree.digests.call_results import ENDS, OK, REFUSED, RUNNING, UNKNOWN, end_word
from memtree.history.chat_history import History
from memtree.text import own_lines, secrets, tokens
from memtree.text.own_lines import MARK, WORK
from memtree.text.terminal import without_codes
from memtree.unfolding.memory_plan import Plan, WorkLine, WorkSpan
from memtree.unfolding.work_events import work_events
from memtree.unfolding.work_ledger import REFUSED_EDIT, REMOVED, CommandWork, FileWork, Ledger

# Kinds of lines that are not kinds of events
NOT_SEEN, OTHER_FILES, FILES_READ, OTHER_FAILED, OTHER_PASSED, OTHER_RAN, OTHER_REFUSED = range(
    8, 15
)
_TOGETHER = {OTHER_FAILED: "also failed", OTHER_PASSED: "also ok", OTHER_RAN: "also ran"}
_TOGETHER |= {OTHER_REFUSED: "also refused", OTHER_FILES: "also changed"}
NAME, DETAIL = 60, 60  # characters shown of a name, and of a line of text
WHY = 90  # characters of an error that are shown
ENDING = 60  # characters of the line that stands for an unknown outcome
BRIEF = 32  # characters of a name in a list
MAX_DETAILS = 12  # edits of one file that are listed individually
MAX_COMMITS = 6
MAX_LINES = 60
LEAST = 60  # tokens below which there is no log
READ_PART = 4  # one part in so many of the log's tokens names files that were only read
SURELY, RESERVE = 8, 120  # lines; tokens that further lines leave for names without a line
SHORT = 60  # tokens below which what succeeded shares a line with what ran
_WORDS = re.compile(r"\"\s*,\s*\"")


def work_log(history: History, cut: int, head: int, budget: int) -> tuple[WorkLine, ...]:
    """Return the lines of the log of messages [head, cut) that fit into `budget` tokens; none if
    nothing was done. Takes time linear in the messages."""
    if budget < LEAST:
        return ()
    ledger = Ledger(history)
    for event in work_events(history, cut, head):
        ledger.add(event)
    if not ledger.any:
        return ()
    return _chosen(history, ledger, budget)


def work_lines(lines: Sequence[WorkLine], history: History) -> list[str]:
    """Return the text of a log, a string a line."""
    written = (own_lines.line(MARK, _line(line, history)) for line in lines)
    return [f"{MARK} {WORK}", *written] if lines else []


def work_names(plan: Plan) -> Iterator[tuple[WorkLine, WorkSpan]]:
    """Yield the names in a plan's log, in order, each with its line."""
    for line in plan.work:
        names = line.details if line.kind in _TOGETHER else (line.name,)
        yield from ((line, name) for name in names if name is not None)


def work_kind(line: WorkLine) -> str:
    """Return what was done to the names of a line: `created`, `edited`, `deleted`, `run` or
    `changed`."""
    kinds = {CREATED: "created", EDITED: "edited", DELETED: "deleted", OTHER_FILES: "changed"}
    return kinds.get(line.kind, "run")


def work_outcome(line: WorkLine) -> str | None:
    """Return how the last run of a command ended, None if its result has no sign of it."""
    known = line.kind in (OTHER_FAILED, OTHER_PASSED) or (line.kind == RAN and line.code >= OK)
    if work_kind(line) != "run" or not known:
        return None
    good = line.kind == OTHER_PASSED or (line.kind == RAN and line.code == OK)
    return "passed" if good else "failed"


def _chosen(history: History, ledger: Ledger, budget: int) -> tuple[WorkLine, ...]:
    ends = [*_not_seen(ledger), *_commits(ledger), *_read(ledger, history, budget // READ_PART)]
    left = budget - tokens.count("\n".join(work_lines(ends, history)))
    files = [_file_line(file) for file in ledger.changed_files()]
    commands = [_command_line(command) for command in ledger.commands_run()]
    reserve = min(RESERVE, left // 4) if len(files) + len(commands) > SURELY else 0
    kept: set[WorkLine] = set()
    for line in filter(None, chain(*zip_longest(files, commands))):
        cost = _cost(line, history)
        if len(kept) < MAX_LINES and left - cost >= reserve:
            kept.add(line)
            left -= cost
    others = []
    for kind, missing in _missing(kept, files, commands, short=left < SHORT):
        line = _others(kind, missing, history, left)
        left -= _cost(line, history)
        others.append(line)
    shown = _with_details([line for line in files if line in kept], ledger, history, left)
    return (*shown, *(line for line in commands if line in kept), *others, *ends)


def _missing(
    kept: Set[WorkLine], files: Sequence[WorkLine], commands: Sequence[WorkLine], *, short: bool
) -> Iterator[tuple[int, list[WorkLine]]]:
    """Yield the lines that did not fit, by the kind of the line that names them together. `short`:
    what succeeded is named with what ran, to save a line."""
    together = short and any(line.code in (UNKNOWN, RUNNING) for line in commands)
    kinds = {OK: OTHER_RAN if together else OTHER_PASSED, REFUSED: OTHER_REFUSED}
    kinds |= {UNKNOWN: OTHER_RAN, RUNNING: OTHER_RAN}
    named = [(kinds.get(line.code, OTHER_FAILED), line) for line in commands]
    named += [(OTHER_FILES, line) for line in files]
    for kind in _TOGETHER:
        if missing := [line for each, line in named if each == kind and line not in kept]:
            yield kind, missing


def _cost(line: WorkLine, history: History) -> int:
    return tokens.count(_line(line, history)) + 2


def _file_line(file: FileWork) -> WorkLine:
    kind = DELETED if file.deleted else EDITED if file.edits else CREATED
    if not (file.edits or file.created or file.deleted):
        kind = EDITED
    counts = (file.created, file.edits, file.refused, file.undone)
    return WorkLine(kind, file.name, file.last, counts)


def _command_line(command: CommandWork) -> WorkLine:
    outcome = command.outcome
    ends = [command.ends[kind] for kind in ENDS]
    counts = (command.runs, ends[0], outcome.failed, outcome.passed, command.purpose, *ends[1:])
    details = (command.line,) if command.line else ()
    return WorkLine(RAN, command.name, command.last, counts, outcome.code, details)


def _not_seen(ledger: Ledger) -> Iterator[WorkLine]:
    commands = ledger.commands_run()
    if ledger.changed_files() and not any(command.purpose == TEST for command in commands):
        yield WorkLine(NOT_SEEN)


def _commits(ledger: Ledger) -> Iterator[WorkLine]:
    for kind, places in ((COMMITTED, ledger.commits), (UNDONE, ledger.undone)):
        if places:
            newest = tuple(reversed(places[-MAX_COMMITS:]))
            yield WorkLine(kind, None, newest[0].message, (len(places),), 0, newest)


def _read(ledger: Ledger, history: History, room: int) -> Iterator[WorkLine]:
    """Yield the line of the files that were only read, with the newest of their names."""
    files = ledger.files_only_read()
    if not files:
        return
    names = []
    for path, place in files:
        name = ledger.short(path, place)
        room -= tokens.count(_quoted(name, history, NAME)) + 1
        if room < 0:
            break
        names.append(name)
    yield WorkLine(FILES_READ, None, -1, (len(files),), 0, tuple(names))


def _others(kind: int, missing: Sequence[WorkLine], history: History, left: int) -> WorkLine:
    """Name the files or commands without a line of their own, as many as fit."""
    names = [line.name for line in missing if line.name]
    while True:
        line = WorkLine(kind, None, -1, (len(missing),), 0, tuple(names))
        if not names or _cost(line, history) <= max(0, left):
            return line
        del names[len(names) * 3 // 4 :]


def _with_details(
    lines: Sequence[WorkLine], ledger: Ledger, history: History, left: int
) -> list[WorkLine]:
    """Return the lines of files with the newest of their edits, as far as the tokens allow."""
    details: dict[int, list[WorkSpan]] = {index: [] for index in range(len(lines))}
    edits = sorted(
        (
            (span.message, index, span)
            for index, line in enumerate(lines)
            for span in ledger.edits_of(line)
        ),
        key=lambda edit: (edit[2].mark == REFUSED_EDIT, -edit[0], edit[1]),
    )
    said: set[tuple[int, str]] = set()
    for _, index, span in edits:
        text = _quoted(span, history, DETAIL)
        if len(details[index]) >= MAX_DETAILS or (index, text) in said or text == "``":
            continue
        cost = tokens.count(f"; [{history.posted[span.message]}] {text}") + (span.mark > 0) * 2
        if cost > left:
            break
        left -= cost
        said.add((index, text))
        details[index].append(span)
    return [
        WorkLine(line.kind, line.name, line.last, line.counts, line.code, tuple(details[index]))
        for index, line in enumerate(lines)
    ]


def _line(line: WorkLine, history: History) -> str:
    if line.kind == NOT_SEEN:
        return "tests: not seen"
    if line.kind == FILES_READ:
        names = [_quoted(span, history, NAME) for span in line.details]
        rest = f", last {', '.join(names)}" if names else ""
        return f"{_times(line.counts[0], 'other file')} read{rest}"
    name = _quoted(line.name, history, NAME) if line.name else ""
    if line.kind == RAN:
        return f"{name}: {_ended(line, history)}"
    if line.kind in _TOGETHER:
        return _together(line, history)
    if line.kind in (COMMITTED, UNDONE):
        word = "commit" if line.kind == COMMITTED else "undoing"
        return f"{_times(line.counts[0], word)}: {_list(line.details, history)}"
    return f"{name} {_changed(line, history)}"


def _together(line: WorkLine, history: History) -> str:
    """Return names without a line of their own, and how many more there are."""
    names = [_quoted(span, history, BRIEF) for span in line.details]
    if more := line.counts[0] - len(names):
        names.append(f"{more} more" if names else f"{more} without room here")
    return f"{_TOGETHER[line.kind]}: {', '.join(names)}"


def _changed(line: WorkLine, history: History) -> str:
    """Return what was done to a file, as in `created [3], edited 4 times, last [9] ...`."""
    created, edits, refused, undone = line.counts
    said = []
    if created:
        said.append("created" if created == 1 else f"written {created} times")
    if edits:
        said.append(f"edited {edits} times" if edits > 1 else "edited")
    if refused:
        said.append(f"{_times(refused, 'edit')} refused")
    if undone:
        said.append("undone" if undone == 1 else f"undone {undone} times")
    if line.kind == DELETED:
        said.append("then deleted" if said else "deleted")
    text = ", ".join(said)
    rest = _list(line.details, history)
    if rest and line.details[0].message == line.last:
        return f"{text}, last {rest}"
    return f"{text}, last [{history.posted[line.last]}]" + (f"; {rest}" if rest else "")


def _list(spans: Iterable[WorkSpan], history: History) -> str:
    marks = {REMOVED: "removed ", REFUSED_EDIT: "refused "}
    return "; ".join(
        f"[{history.posted[span.message]}] "
        f"{marks.get(span.mark, '')}{_quoted(span, history, DETAIL)}"
        for span in spans
    )


def _ended(line: WorkLine, history: History) -> str:
    """Return how a command ended, as in `failed 2, ok 1 of 3 times, last ok [9]`."""
    runs, failures, failed, passed, purpose, *others = line.counts
    place = f"[{history.posted[line.last]}]"
    end = _end(line.code, purpose)
    if failed or passed:
        numbers = [f"{failed} failed"] * bool(failed) + [f"{passed} passed"] * bool(passed)
        end += f" ({', '.join(numbers)})"
    most = WHY if line.code > OK else ENDING
    why = f": {_quoted(line.details[0], history, most)}" if line.details else ""
    if runs == 1:
        return f"{end} {place}{why}"
    ends = zip(ENDS, (failures, *others), strict=False)  # older plans count failures alone
    counts = {kind: count for kind, count in ends if count and kind != UNKNOWN}
    if not counts or max(counts.values()) == runs:
        word = _end(next(iter(counts), UNKNOWN), purpose)
        rest = end.removeprefix(word).lstrip(", ")
        return f"{word} {runs} times, last {rest + ' ' if rest else ''}{place}{why}"
    counted = ", ".join(f"{_end(kind, purpose)} {count}" for kind, count in counts.items())
    return f"{counted} of {runs} times, last {end} {place}{why}"


def _end(code: int, purpose: int) -> str:
    """Return how one run ended."""
    word = "passed" if code == OK and purpose == TEST else end_word(code)
    return f"{word}, exit {code}" if word == "failed" and code > 1 else word


def _times(count: int, noun: str) -> str:
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"


def _quoted(span: WorkSpan, history: History, most: int) -> str:
    """Return the text of a span in backticks, as one line, with secrets masked; if it is shortened,
    `…` follows the backticks."""
    text = span_text(span, history)
    if "\x1b" in text:  # was escaped in the arguments of a call
        text = without_codes(text)
    plain = own_lines.printable(text.replace("`", " "))
    line = own_lines.one_line(secrets.mask(plain))
    if len(line) <= most:
        return f"`{line}`"
    if " " not in line and "/" in line:
        return f"…`{line[-most:].partition('/')[2] or line[-most:]}`"
    return f"`{line[:most].rstrip()}`…"


def span_text(span: WorkSpan, history: History) -> str:
    """Return the text of a span with JSON escapes resolved."""
    text = history.view(span.message).text[span.start : span.end]
    return unescaped(_WORDS.sub(" ", text)) if span.escaped else text
