"""Find the files in hand: those that an agent read or changed in its last turns.

`hand_rows` says where the history holds their text.

An agent's next edit quotes lines of a file that it read or changed some turns ago. No question
finds them: they are code, and share hardly a word with what was asked.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import cast

import numpy as np
from numpy.typing import NDArray

from memtree.digests.call_fields import CREATED, EDITED, WRITTEN, clean_path
from memtree.digests.tool_calls import called, shown_files
from memtree.history.chat_history import History
from memtree.history.message import RESULT_ROLES
from memtree.history.message_list import raws_of
from memtree.ranking.corpus import Corpus
from memtree.unfolding.work_events import answers_of, message_events, runs_fences
from memtree.unfolding.work_ledger import same_file

TURNS = 15  # messages of the assistant; a file touched in one of these is in hand
FILES = 40  # in hand at most, so that a turn of many calls costs time linear in these
REACH = 400  # messages of the assistant in which the text of such files is looked for
MOST = 12  # messages for each file
FIRST = 3  # turns; of each file touched in these a passage is quoted before all others
NAME_BYTES = 200  # of a touched file in memory, besides its path
HELD = (CREATED, EDITED, WRITTEN)  # actions whose message holds text of the file
NAMED = 3  # files that newest calls and results name, looked for at each turn of a loop
NEAR, PARSED = 50, NAMED + 1  # messages of the assistant in which these are looked for, and parsed
READ = 20_000  # characters of a result in which names are looked for
LOOKED_AT = 1_000  # names in all
LONGEST_ENDING = 8
K = 10.0  # of the reciprocal ranks that are added up
_BREAK = re.compile(r"[^\w./\\@+-]+")
_PLAIN = re.compile(r"[\w.-]*[a-zA-Z0-9][\w.-]*", re.ASCII)


@dataclass(slots=True)
class FileInHand:
    """`age`: turns since it was last touched, from 0. `mark`: bytes that stand wherever its name
    does. `messages`: calls that read or change it and their results, newest first."""

    path: str
    age: int
    mark: bytes = b""
    messages: list[int] = field(default_factory=list)


def files_in_hand(history: History) -> list[FileInHand]:
    """Return the files that the last turns touched, newest first. Parses only messages of these
    turns, and older ones that hold the name of such a file."""
    files: list[FileInHand] = []
    raw, fences = raws_of(history.messages), runs_fences(history, len(history), 0)
    backwards = range(len(history) - 1, -1, -1)
    said = (message for message in backwards if history.facts[message].role == "assistant")
    for turn, message in enumerate(islice(said, REACH)):
        if turn >= TURNS and not any(file.mark in raw(message) for file in files):
            continue
        for path, text in _touched(history, message, fences=fences):
            file = next((file for file in files if same_file(file.path, path)), None)
            if file is None and turn < TURNS and len(files) < FILES and (mark := _mark(path)):
                file = FileInHand(path, turn, mark)
                files.append(file)
            if file is not None and len(file.messages) < MOST and text not in file.messages:
                file.messages.append(text)
    return files


def named_files(history: History, cut: int, shown: Mapping[int, int]) -> list[FileInHand]:
    """Return the files that the newest calls and their results name, with their newest text, if
    that stands before message `cut` and at most half of it is shown, in the order of their names.
    `shown`: characters of a message that are visible. Parses few messages, since each turn of a
    loop asks."""
    files: list[FileInHand] = []
    for name in dict.fromkeys(islice(_names(history), LOOKED_AT)):
        path = clean_path(name)
        if any(same_file(file.path, path) for file in files) or not (mark := _mark(path)):
            continue
        files.append(FileInHand(path, len(files), mark))
        if len(files) == NAMED:
            break
    _find_newest(history, files)
    return [
        file
        for file in files
        for newest in file.messages
        if newest < cut and 2 * shown.get(newest, 0) <= len(history.view(newest).text)
    ]


def _find_newest(history: History, files: Sequence[FileInHand]) -> None:
    """Add to each file the newest message that holds its text."""
    left, raw = list(files), raws_of(history.messages)
    backwards = range(len(history) - 1, -1, -1)
    said = (message for message in backwards if history.facts[message].role == "assistant")
    naming = (at for at in islice(said, NEAR) if any(file.mark in raw(at) for file in left))
    for message in islice(naming, PARSED):
        for path, text in _written(history, message):
            for file in [file for file in left if same_file(file.path, path)]:
                file.messages.append(text)
                left.remove(file)


def _names(history: History) -> Iterator[str]:
    """Yield what looks like the name of a file in the newest calls, then in their results."""
    results = len(history)
    while results and history.facts[results - 1].role in RESULT_ROLES:
        results -= 1
    calls = history.messages[results - 1].calls if results else ()
    texts = [call.arguments for call in calls]
    texts += (history.view(result).text for result in range(results, len(history)))
    for text in texts:
        for word in _BREAK.split(text[:READ]):
            stem, _, ending = word.rstrip(".-").rpartition(".")
            if stem and ending[:1].isalpha() and len(ending) <= LONGEST_ENDING:
                yield word.rstrip(".-")


def hand_rows(
    files: Sequence[FileInHand],
    corpus: Corpus,
    fused: NDArray[np.float32],
    allowed: NDArray[np.bool_],
) -> list[int]:
    """Return the passages of files in hand, best first: by the last touch of their file, the age of
    their message, and their rank for the query. The best one of each file that was touched just now
    comes first. `fused`: the score of each passage; `allowed`: those that may be quoted."""
    places = sorted(
        (file.age, place, number, message)
        for number, file in enumerate(files)
        for place, message in enumerate(file.messages)
    )
    of_file: dict[int, int] = {}
    recent: dict[int, int] = {}
    # Numbers of the column's own type, otherwise the whole column would be converted.
    messages = np.array([message for *_, message in places], np.int32)
    lows = corpus.message.searchsorted(messages).tolist()
    highs = corpus.message.searchsorted(messages, "right").tolist()
    for rank, (_, _, number, _) in enumerate(places):
        for row in range(lows[rank], highs[rank]):
            if allowed[row] and row not in recent:
                recent[row], of_file[row] = rank, number
    by_score = sorted(recent, key=lambda row: -fused[row])
    votes = {
        row: 1 / (K + recent[row]) + (1 / (K + place) if fused[row] > 0 else 0)
        for place, row in enumerate(by_score)
    }
    order = sorted(votes, key=lambda row: -votes[row])
    first: dict[int, int] = {}
    for row in order:
        if files[of_file[row]].age < FIRST:
            first.setdefault(of_file[row], row)
    return list(dict.fromkeys([*first.values(), *order]))


def _mark(path: str) -> bytes:
    """Return the longest part of a file's name that JSON never escapes; empty without one.

    >>> _mark("src/größe_max.py"), _mark("/"), _mark("..")
    (b'e_max.py', b'', b'')
    """
    parts = _PLAIN.findall(path.rpartition("/")[2])
    return max(parts, key=len, default="").encode()


def _written(history: History, message: int) -> Iterator[tuple[str, int]]:
    """Yield the same as `_touched`, by the calls alone: whether an edit was refused takes more
    time to read, and a refused edit quotes the file, too."""
    calls = history.messages[message].calls
    if not calls:
        yield from _touched(history, message, fences=False)
        return
    for call in calls:
        for action in called(call.name, call.arguments):
            if action.kind in HELD:
                yield clean_path(action.text), message
    yield from _shown(history, message)


def _touched(history: History, message: int, *, fences: bool) -> Sequence[tuple[str, int]]:
    """Return the files that a message of the assistant changes or reads, each with the message that
    holds their text: the message itself for a change, the result that shows what was read."""
    row = history.derived.row(("touched", fences), len(history))
    if (known := row[message]) is None:
        known = row[message] = tuple(_found(history, message, fences))
        history.derived.found_bytes += sum(NAME_BYTES + len(path) for path, _ in known)
    return cast("Sequence[tuple[str, int]]", known)


def _found(history: History, message: int, fences: bool) -> Iterator[tuple[str, int]]:
    for event in message_events(history, message, len(history), fences=fences):
        if event.action.kind in HELD and event.name is not None and not event.refused:
            yield clean_path(event.text), message
    yield from _shown(history, message)


def _shown(history: History, message: int) -> Iterator[tuple[str, int]]:
    """Yield the files that the results of a message's calls show, each with its result."""
    calls = history.messages[message].calls
    answers = answers_of(history, message, len(history)) if calls else {}
    for index, call in enumerate(calls):
        if index in answers:
            for path in shown_files(call.name, call.arguments):
                yield clean_path(path), answers[index]
