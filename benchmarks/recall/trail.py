"""Does the memory message tell what an agent did: files written, and how commands ended?

The truth comes out of the structured calls and results before the cut (`trail_truth`). Asked are
"Continue." and a direct question, one-shot and in a running epoch; the worse of both counts. A file
is told where its name stands on a line with a word of editing, an outcome where its command stands
on a line with the right end, or where command and a telling line of the result are quoted. Beside
them stands what is told in the message's own words, on lines that are not quoted from the session;
what is told wrongly is looked for there, too.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace

from benchmarks.data import Data, joined, turns
from benchmarks.invariants import THRESHOLD, Reply, size
from benchmarks.recall.midepoch import WINDOW
from benchmarks.recall.trail_truth import Change, Outcome, Trail, normal, trail
from benchmarks.report import Row, promises
from benchmarks.subject import Bench, Subject, asked, open_subject, percent
from memtree.history.message import Message

TARGETS = (8_000, 4_000)
MODES = ("fresh", "stable")
QUESTIONS = ("Continue.", "What did you change so far, and which tests failed?")
FILES_GOALS: dict[int, float] = {8_000: 95, 4_000: 85}
OUTCOME_GOALS: dict[int, float] = {8_000: 90, 4_000: 80}
EDITS_GOALS: dict[int, float] = {8_000: 50}
WRONG = 2.0  # percent of what is told
FEW = 25  # files and commands together: at 4,000, outcomes are judged over such sessions
JOINED = 30_000  # tokens: short runs are read one after the other as one session
NEAR = 60  # characters between a file's name and a word of editing
LEAST = 12  # characters of a line of new text that is told from others

_EDITING = re.compile(
    r"edit|creat|wr[io]te|written|insert|str_replace|replac|modif|chang|updat|patch|appl(?:y|ied)"
    r"|new file|sed -i|append|SEARCH",
    re.IGNORECASE,
)
_FAILED = re.compile(
    r"(?<!\b0 )fail|error|exception|traceback|exit(?:ed)?(?: with)?(?: code| status)?[ :=]*[1-9]"
    r"|rc=[1-9]|not found|unable to|no such|timed out|killed",
    re.IGNORECASE,
)
_PASSED = re.compile(
    r"pass|\bok\b|succe|exit(?:ed)?(?: with)?(?: code| status)?[ :=]*0|rc=0|\bdone\b|\bworks?\b"
    r"|no output|->|\bran\b",
    re.IGNORECASE,
)
_FOLDERS = re.compile(r"(?<![\w.~@+/-])/?(?:[\w.~@+-]+/)+(?=[\w.])")
_WRITTEN_CLAIM = re.compile(r"([\w.+@/-]*\w\.\w+)`? (?:was )?(?:edited|created|written|changed)\b")
_OUTCOME_CLAIM = re.compile(
    r"(?:^|; |- |¶ |\] )`?([^;:`]{2,120}?)`?: ((?:\d+ )?"
    r"(?:failed|timed out|killed|passed|ok|exit|error|ran \d+ times, last (?:ok|passed))[^;]*)"
)


@dataclass(frozen=True, slots=True)
class AgentSession:
    client: str
    name: str
    messages: tuple[Message, ...]


@dataclass(slots=True)
class Told:
    """Shares by what was asked for; `claims`: right and wrong ones that were made."""

    files: list[float] = field(default_factory=list)
    outcomes: list[float] = field(default_factory=list)
    edits: list[float] = field(default_factory=list)
    own_files: list[float] = field(default_factory=list)
    own_outcomes: list[float] = field(default_factory=list)
    written: list[bool] = field(default_factory=list)
    ended: list[bool] = field(default_factory=list)


async def run(bench: Bench) -> tuple[list[Row], list[str]]:
    told: dict[tuple[int, str, str, str], Told] = defaultdict(Told)
    names = []
    async with open_subject(bench.keep, "trail") as subject:
        for session in sessions(bench.data):
            names.append(session.name)
            await subject.learn(session.name, session.messages)
            for target in TARGETS:
                for mode in MODES:
                    await _ask(subject, session, target, mode, told)
    rows = [Row("sessions", len(names))]
    for target in TARGETS:
        for mode in MODES:
            rows += _rows(told, target, mode)
    return [
        *rows,
        *promises(subject.tally.answers, len(subject.tally.broken)),
    ], subject.tally.broken


def sessions(data: Data) -> Iterator[AgentSession]:
    """Runs and captures in which something was done; short runs of one form are joined."""
    short: dict[str, list[tuple[Message, ...]]] = defaultdict(list)
    for talk in data.trajectories():
        client = talk.id.partition("/")[0]
        if size(talk.messages) > THRESHOLD:
            yield AgentSession(client, talk.id, talk.messages)
        else:
            short[f"{client} {'calls' if any(m.calls for m in talk.messages) else 'text'}"].append(
                talk.messages
            )
    for client, runs in short.items():
        for number, group in enumerate(_groups(runs)):
            yield AgentSession(client, f"{client} {number}", group)
    for capture in data.captures():
        longest = max(capture.requests, key=len)
        done = trail(longest)
        if size(longest) > THRESHOLD and (done.changes or done.outcomes):
            yield AgentSession(capture.client, capture.client, longest)


def _groups(runs: Sequence[tuple[Message, ...]]) -> Iterator[tuple[Message, ...]]:
    group: list[tuple[Message, ...]] = []
    for run_ in runs:
        group.append(run_)
        if sum(map(size, group)) > JOINED:
            yield joined(group)
            group = []
    if sum(map(size, group)) > THRESHOLD:
        yield joined(group)


async def _ask(
    subject: Subject,
    session: AgentSession,
    target: int,
    mode: str,
    told: dict[tuple[int, str, str, str], Told],
) -> None:
    if mode == "stable":
        for posted in turns(session.messages):
            ask = asked(session.name, posted[:-1], "", target)
            ask = replace(ask, messages=posted, mode=mode, window=WINDOW)
            if posted[-1].role != "assistant":
                await subject.compress(ask, f"{session.name}, {len(posted)} messages at {target}")
    for question in QUESTIONS:
        ask = asked(session.name, session.messages, question, target)
        ask = replace(ask, mode=mode, window=WINDOW)
        reply = await subject.answer(ask, f"{session.name} at {target}, {mode}, {question}")
        if reply.memory is not None:
            for client in ("all", session.client):
                judge(session.messages, reply, target, told[target, mode, client, question])


def judge(messages: Sequence[Message], reply: Reply, target: int, told: Told) -> None:
    """Add what a reply tells of the part that it does not show as it was posted."""
    cut = len(messages) + 1 - len(reply.kept)
    done, later = trail(messages[:cut]), trail(messages[cut:])
    text = "\n".join([reply.memory or "", *reply.blocks[-1:]])
    lines = text.splitlines()
    own = own_lines(lines, messages)
    told.files += [float(is_written(name, lines)) for name in done.files]
    told.own_files += [float(is_written(name, own)) for name in done.files]
    told.edits += [float(is_shown(change, text)) for change in done.changes if change.text]
    if target > TARGETS[-1] or len(done.files) + len(done.last) <= FEW:
        last = [end for key, end in done.last.items() if key not in later.last]
        told.outcomes += [float(is_told(outcome, lines)) for outcome in last]
        told.own_outcomes += [float(is_told(outcome, own)) for outcome in last]
    told.written += written_claims(own, trail(messages))
    told.ended += ended_claims(own, done)


def is_written(name: str, lines: Sequence[str]) -> bool:
    """Return True if a line names the file near a word of editing."""
    for line in lines:
        at = line.find(name)
        while at >= 0:
            near = f"{line[max(0, at - NEAR) : at]} {line[at + len(name) : at + len(name) + NEAR]}"
            if _EDITING.search(near):
                return True
            at = line.find(name, at + 1)
    return False


def is_shown(change: Change, text: str) -> bool:
    """Return True if a line of the new text stands there, or a part of it in backticks."""
    own = [line.strip() for line in change.text.splitlines() if len(line.strip()) >= LEAST]
    if any(line in text for line in own or [change.text.strip()]):
        return True
    anchors = [
        anchor
        for line in text.splitlines()
        if change.name in line
        for anchor in re.findall(r"`([^`\n]{4,})`", line)
    ]
    return any(anchor in change.text for anchor in anchors)


def is_told(outcome: Outcome, lines: Sequence[str]) -> bool:
    """Return True if a line says how the command ended, or the result's own words stand there with
    it."""
    head = " ".join(_bare(outcome.command).split()[:2])
    named = [bare for line in lines if head in (bare := _bare(line))]
    right = _FAILED if outcome.failed else _PASSED
    if any(right.search(line.replace(head, "")) for line in named):
        return True
    return bool(named) and any(end in line for end in outcome.lines for line in lines)


def own_lines(lines: Sequence[str], messages: Sequence[Message]) -> list[str]:
    """Lines that stand in no message of the session, and in no arguments of a call."""
    parts = [message.text for message in messages]
    parts += [call.arguments for message in messages for call in message.calls]
    quoted = "\n".join(parts)
    return [line for line in lines if line.strip() and line.strip() not in quoted]


def written_claims(own: Sequence[str], done: Trail) -> Iterator[bool]:
    """For each file that is told as written: was it?"""
    for line in own:
        for match in _WRITTEN_CLAIM.finditer(line):
            yield match[1].rsplit("/", 1)[-1] in done.files


def ended_claims(own: Sequence[str], done: Trail) -> Iterator[bool]:
    """For each command of the session whose end is told: did it end so the last time?"""
    for line in own:
        for match in _OUTCOME_CLAIM.finditer(line):
            command, end = _bare(normal(match[1])), match[2].rpartition("last ")[2] or match[2]
            ends = [
                outcome.failed
                for key, outcome in done.last.items()
                if f"{_bare(key)} ".startswith(f"{command} ")
            ]
            if ends:
                failed = bool(_FAILED.search(match[2] if not _PASSED.search(end) else end))
                yield failed in ends


def _bare(text: str) -> str:
    """A line without the folders of its paths."""
    return " ".join(_FOLDERS.sub("", text).split())


def _rows(told: dict[tuple[int, str, str, str], Told], target: int, mode: str) -> Iterator[Row]:
    clients = sorted({key[2] for key in told if key[:2] == (target, mode)} - {"all"})
    for client in ("all", *clients):
        both = [told[target, mode, client, question] for question in QUESTIONS]
        name = f"{client} at {target}, {mode}"
        judged = client == "all"
        for what, goals, shares in (
            ("files told", FILES_GOALS, [one.files for one in both]),
            ("  in our own words", {}, [one.own_files for one in both]),
            ("outcomes told", OUTCOME_GOALS, [one.outcomes for one in both]),
            ("  in our own words", {}, [one.own_outcomes for one in both]),
            ("edits shown", EDITS_GOALS, [one.edits for one in both]),
        ):
            if any(shares):
                worse = min(map(percent, shares))
                label = f"{name}: {what}, of {min(map(len, shares))}"
                yield Row(label, worse, "%", goals.get(target) if judged else None)
        if judged:
            yield from _claims(name, both)


def _claims(name: str, both: Sequence[Told]) -> Iterator[Row]:
    for what, claims in (
        ("files", [right for one in both for right in one.written]),
        ("outcomes", [right for one in both for right in one.ended]),
    ):
        wrong = 100 * claims.count(False) / max(1, len(claims))
        yield Row(f"{name}: {len(claims)} {what} claimed, wrong", wrong, "%", WRONG, True)
