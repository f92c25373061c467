"""Join the actions of a history's messages with the results that answer them.

Only messages with calls, and prose with the marks of an edit or a command, are parsed, together
with the results of actions that change or run something. Takes time linear in these.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import deque
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from operator import itemgetter
from typing import NamedTuple

from memtree.digests import call_patches, call_results, prose_calls
from memtree.digests.call_fields import (
    CHANGES,
    COMMITTED,
    EDITED,
    RAN,
    READ,
    UNDONE,
    Action,
    Field,
    Span,
    clean_path,
)
from memtree.digests.call_results import NO_OUTCOME, CallResult, Outcome
from memtree.digests.tool_calls import called
from memtree.history.chat_history import LATE, History
from memtree.history.message import RESULT_ROLES

APPLIED = b"Applied edit to "  # a client that reports some edits this way reports all of them so
EVENT_BYTES, TEXT_BYTES = 700, 2  # of an event in memory, and of a character of its text
NO_PROSE, PROSE, FENCED = range(3)  # messages, as far as they are prose of the assistant
MOSTLY = 0.6  # share of messages, for an assistant that runs commands by fenced blocks


@dataclass(frozen=True, slots=True)
class WorkText:
    """A span of message `message`."""

    message: int
    span: Span


@dataclass(frozen=True, slots=True)
class WorkEvent:
    """An action of message `message` and how it ended. `refused`: it did not take place. `name`:
    None if no file is named. `line`: the line of the result that tells how a command ended, or why
    it was refused. `made`: the result says that the file is new (True) or existed (False)."""

    message: int
    action: Action
    text: str
    name: WorkText | None
    outcome: Outcome = NO_OUTCOME
    refused: bool = False
    line: WorkText | None = None
    made: bool | None = None


def work_events(history: History, cut: int, head: int = 0) -> Iterator[WorkEvent]:
    """Yield the events of messages [head, cut), in order. Events of messages that earlier histories
    have in common are found once."""
    changed: set[str] = set()  # files that the message before the results changed
    for message, done in enumerate(_found(history, cut, head), head):
        if history.facts[message].role in RESULT_ROLES:
            yield from (event for event in done if clean_path(event.text) not in changed)
        else:
            yield from done
            changed = {clean_path(event.text) for event in done if event.action.kind in CHANGES}


class _FoundWork(NamedTuple):
    """`confirms`: the client reports which edits it applied, as far as is known behind the
    message."""

    events: tuple[WorkEvent, ...] = ()
    confirms: bool = False


_NONE_FOUND = (_FoundWork(), _FoundWork(confirms=True))


def _found(history: History, cut: int, head: int) -> Iterator[tuple[WorkEvent, ...]]:
    """Yield the events of each message of [head, cut)."""
    fences, settled = runs_fences(history, cut, head), history.settled(cut)
    row = history.derived.row(("work", head, fences), settled)
    confirms = False
    for message in range(head, cut):
        work = row[message] if message < settled else None
        if work is None:
            work = _of_message(history, message, cut, confirms, fences)
            if message < settled:
                row[message] = work
                sizes = (EVENT_BYTES + TEXT_BYTES * len(event.text) for event in work.events)
                history.derived.found_bytes += sum(sizes)
        confirms = work.confirms
        yield work.events


def _of_message(
    history: History, message: int, cut: int, confirms: bool, fences: bool
) -> _FoundWork:
    events = tuple(message_events(history, message, cut, confirms=confirms, fences=fences))
    fact = history.facts[message]
    if fact.role in RESULT_ROLES or (fact.role != "user" and not fact.calls):
        confirms = confirms or _confirms(history, message)
    return _FoundWork(events, confirms) if events else _NONE_FOUND[confirms]


def _confirms(history: History, message: int) -> bool:
    """Return True if a line of a message reports an edit that the client applied; other text may
    mention such a line."""
    if APPLIED not in history.messages[message].raw:
        return False
    return any(action.kind == EDITED for action in prose_calls.reported(history.view(message).text))


def message_events(
    history: History, message: int, cut: int, *, confirms: bool = False, fences: bool = False
) -> Iterator[WorkEvent]:
    """Yield the events of one message, with results before `cut`. `confirms`: the client reports
    which edits it applied; `fences`: it runs a fenced command at the end of a message."""
    fact, posted = history.facts[message], history.messages[message]
    if fact.calls and (events := list(_of_calls(history, message, cut))):
        yield from events
    elif fact.calls and not call_patches.is_patch(posted.text):
        return
    elif fact.role == "user":
        if prose_calls.may_be_said(posted.raw):
            for action in prose_calls.said(history.view(message).text):
                yield _event(history, message, action, None, {})
    elif fact.role in RESULT_ROLES:
        if APPLIED in posted.raw:
            for action in prose_calls.reported(history.view(message).text):
                if action.kind == EDITED:
                    yield _event(history, message, action, None, {})
    elif prose_calls.may_tell(posted.raw):
        yield from _of_prose(history, message, cut, confirms, fences)


def _of_calls(history: History, message: int, cut: int) -> Iterator[WorkEvent]:
    answers = answers_of(history, message, cut)
    view = history.view(message)
    parts = {call.part: index for index, call in enumerate(history.messages[message].calls)}
    calls = history.messages[message].calls
    read: dict[int, CallResult] = {}
    for segment in view.segments:
        index = parts.get(segment.part) if segment.kind != "text" else None
        if index is None:
            continue
        text = view.text[segment.start : segment.end]
        actions = called(calls[index].name, text, segment.start)
        ran = any(action.kind == RAN for action in actions)
        answer = answers.get(index)
        for action in actions:
            known = ran and action.shell and not _not_run(history, answer)
            yield _event(history, message, action, None if known else answer, read)


def _not_run(history: History, answer: int | None) -> bool:
    """Return True if a message answers that a command line was not let run; if it failed, the files
    may have been changed before."""
    return answer is not None and call_results.not_run(history.view(answer).text) is not None


def answers_of(history: History, message: int, cut: int) -> dict[int, int]:
    """Return the message that answers each call of a message, by the number of the call; a result
    that names none answers the first open one. Takes time linear in the calls."""
    calls = history.facts[message].calls
    named: dict[tuple[bool, str], deque[int]] = {}
    for index, (id_, name) in enumerate(calls):
        named.setdefault((False, id_), deque()).append(index)
        named.setdefault((True, name), deque()).append(index)
    in_order = deque(range(len(calls)))
    answers: dict[int, int] = {}
    for at in _results(history, message, cut):
        fact = history.facts[at]
        if len(answers) == len(calls):
            break
        by_name = named.get((fact.role == "function", fact.answers or ""), deque())
        _drop_answered(by_name, answers)
        _drop_answered(in_order, answers)
        if by_name or not fact.answers:
            answers[by_name[0] if fact.answers else in_order[0]] = at
    return answers


def _results(history: History, message: int, cut: int) -> Iterator[int]:
    """Yield the results that follow a message, and the late ones of its calls."""
    for at in range(message + 1, cut):
        if history.facts[at].role not in RESULT_ROLES:
            break
        yield at
    first = bisect_right(history.late, message, key=itemgetter(1))
    for caller, at in history.late[first : first + LATE]:
        if caller == message and at < cut:
            yield at


def _drop_answered(waiting: deque[int], answers: Mapping[int, int]) -> None:
    while waiting and waiting[0] in answers:
        waiting.popleft()


def runs_fences(history: History, cut: int, head: int) -> bool:
    """Return True if the assistant runs commands by fenced blocks: most of its messages end with
    one. An assistant that only explains does so occasionally."""
    row = history.derived.row("fences", cut)
    for message in range(head, cut):
        if row[message] is None:
            row[message] = _ends_fenced(history, message)
    said = row[head:cut]
    return said.count(FENCED) > MOSTLY * (len(said) - said.count(NO_PROSE))


def _ends_fenced(history: History, message: int) -> int:
    fact = history.facts[message]
    if fact.role != "assistant" or fact.calls:
        return NO_PROSE
    return FENCED if prose_calls.ends_fenced(history.messages[message].raw) else PROSE


def _of_prose(
    history: History, message: int, cut: int, confirms: bool, fences: bool
) -> Iterator[WorkEvent]:
    view = history.view(message)
    actions = [
        action
        for segment in view.segments
        if segment.kind == "text"
        for action in prose_calls.written(
            view.text[segment.start : segment.end], segment.start, fences=fences
        )
    ]
    answer = _answer(history, message, cut)
    answered = history.view(answer).text if answer is not None else ""
    if not actions and prose_calls.is_applied(answered):
        actions = list(call_patches.whole_files(Field(view.text)))
    edits = [action for action in actions if action.confirmed and action.kind == EDITED]
    reports = [action for action in prose_calls.reported(answered) if action.kind == EDITED]
    confirmed = {clean_path(action.text) for action in (*edits, *reports)}
    proposed = {clean_path(action.text) for action in actions if not action.confirmed}
    ran = any(action.kind == RAN for action in actions)
    needs = (confirms or bool(confirmed)) and call_patches.is_patch(view.text)
    read: dict[int, CallResult] = {}
    for action in actions:
        path = clean_path(action.text)
        if action.confirmed and action.kind == EDITED and path in proposed:
            continue  # its blocks are more precise
        if needs and not action.confirmed and path not in confirmed:
            continue  # only proposed, or refused
        known = ran and action.shell and not _not_run(history, answer)
        known = known or path in confirmed
        yield _event(history, message, action, None if known else answer, read)


def _answer(history: History, message: int, cut: int) -> int | None:
    """Return the message after prose of the assistant that contains its results."""
    behind = message + 1
    return behind if behind < cut and history.facts[behind].role != "assistant" else None


def _event(
    history: History,
    message: int,
    action: Action,
    answer: int | None,
    read: dict[int, CallResult],
) -> WorkEvent:
    """Return the event of an action that message `answer` may answer. `read`: the parsed results of
    the actions before it."""
    name = WorkText(message, action.name) if action.name else None
    if action.kind == READ or action.confirmed or answer is None:
        return WorkEvent(message, action, action.text, name)
    if answer not in read:
        read[answer] = CallResult(history.view(answer).text)
    field, code = read[answer].about(action.text)
    if action.kind == RAN:
        outcome = call_results.command_outcome(field.text, code, action)
        line = WorkText(answer, field.span(*outcome.line)) if outcome.line else None
        return WorkEvent(message, action, action.text, name, outcome, line=line)
    text = action.text
    if name is None and (shown := call_results.shown_file(field.text)):
        name = WorkText(answer, field.span(*shown))
        text = field.text[shown[0] : shown[1]]
    place = (call_results.not_changed if action.shell else call_results.refused)(field.text)
    refused = place is not None
    if not refused and action.kind in (COMMITTED, UNDONE):
        ended = call_results.command_outcome(field.text, code, action)
        refused, place = ended.bad, ended.line if ended.bad else None
    why = WorkText(answer, field.span(*place)) if place else None
    return WorkEvent(
        message, action, text, name, NO_OUTCOME, refused, why, call_results.made(field.text)
    )
