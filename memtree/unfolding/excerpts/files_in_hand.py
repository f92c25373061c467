"""Files in hand: those that an agent read or changed in its last turns, and where the history holds
their text.

An agent's next edit quotes lines of a file that it read or changed some turns ago. No question
finds them: they are code, and share hardly a word with what was asked.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from memtree.conversation.history import History
from memtree.digests.tool_calls.calls import shown_files
from memtree.digests.tool_calls.event import CHANGES
from memtree.ranking.corpus import Corpus
from memtree.unfolding.work_log.work_events import answers_of, message_events
from memtree.unfolding.work_log.work_ledger import clean_path, same_file

TURNS = 15  # messages of the assistant; a file touched in one of these is in hand
FILES = 40  # in hand at most, so that a turn of many calls costs time linear in these
REACH = 400  # messages of the assistant in which the text of such files is looked for
MOST = 12  # messages for each file
FIRST = 3  # turns; of each file touched in these a passage is quoted before all others
K = 10.0  # of the reciprocal ranks that are added up


@dataclass(slots=True)
class FileInHand:
    """`age`: turns since it was last touched, from 0. `messages`: calls that read or change it and
    their results, newest first."""

    path: str
    age: int
    messages: list[int] = field(default_factory=list)


def files_in_hand(history: History) -> list[FileInHand]:
    """Return the files that the last turns touched, newest first. Parses only messages of these
    turns, and older ones that hold the name of such a file."""
    files: list[FileInHand] = []
    turn = 0
    for message in range(len(history) - 1, -1, -1):
        if history.facts[message].role != "assistant":
            continue
        if turn >= TURNS and not _may_name(history.messages[message].raw, files):
            turn += 1
            continue
        for path, text in _touched(history, message):
            file = next((file for file in files if same_file(file.path, path)), None)
            if file is None and turn < TURNS and len(files) < FILES:
                file = FileInHand(path, turn)
                files.append(file)
            if file is not None and len(file.messages) < MOST and text not in file.messages:
                file.messages.append(text)
        turn += 1
        if turn > REACH or (turn >= TURNS and not files):
            break
    return files


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
    for rank, (_, _, number, message) in enumerate(places):
        low, high = np.searchsorted(corpus.message, [message, message + 1]).tolist()
        for row in range(low, high):
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


def _may_name(raw: bytes, files: Sequence[FileInHand]) -> bool:
    return any(file.path.rpartition("/")[2].encode() in raw for file in files)


def _touched(history: History, message: int) -> Iterator[tuple[str, int]]:
    """Yield the files that a message of the assistant changes or reads, each with the message that
    holds their text: the message itself for a change, the result that shows what was read."""
    for event in message_events(history, message, len(history)):
        if event.action.kind in CHANGES and event.name is not None and not event.refused:
            yield clean_path(event.text), message
    calls = history.messages[message].calls
    answers = answers_of(history, message, len(history)) if calls else {}
    for index, call in enumerate(calls):
        if index in answers:
            for path in shown_files(call.name, call.arguments):
                yield clean_path(path), answers[index]
