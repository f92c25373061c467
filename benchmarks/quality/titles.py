"""The titles of a hundred conversations, printed for a reader, and what can be judged by rule.

Titles are those of the list of conversations, all of one tenant, in which they have to be distinct.
Only stage 1 runs. The names of pasted documents (`documents.py`) are judged beside them.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import islice

from benchmarks import multilingual, stories
from benchmarks.data import BEAM_SIZES, Conversation, Data
from benchmarks.quality import documents
from benchmarks.report import Row
from benchmarks.subject import Bench, Subject, open_subject
from memtree.context.context_memory import CompressRequest
from memtree.conversation.message import Message
from memtree.text.words.stop_words import STOP_WORDS

TENANT, COUNT = "titles", 100
LONGEST = 60  # characters
LEAST = 6  # messages of a part of the coding session
DISTINCT_GOAL, FORM_GOAL = 95.0, 95.0
_BANNER = "# aider chat started at"
_WORD = re.compile(r"[^\W\d_][\w'’-]+")
_PATH = re.compile(r"[\w.-]+/[\w./-]+|\w+\.[a-z]{1,4}\b")
_FOREIGN = re.compile(r"[\u3040-\u30ff\u3400-\u9fff]")


async def run(bench: Bench) -> tuple[list[Row], list[str]]:
    names: dict[bytes, str] = {}
    async with open_subject(None, "titles", embedder="none") as subject:
        for talk in islice(conversations(bench.data), COUNT):
            ask = CompressRequest(TENANT, talk.messages)
            answer = await subject.runtime.memory.index(ask)
            names[answer.address] = talk.id
        titles = await _listed(subject)
    for address, title in titles.items():
        print(f"{names.get(address, '')[-40:]:<40} {title or '(none)'}")
    return [*rows(list(titles.values())), *documents.rows()], []


async def _listed(subject: Subject) -> dict[bytes, str]:
    """Return the titles of all conversations, by address; what is too short for a tree is none."""
    page = await subject.runtime.memory.conversations.page(TENANT, COUNT)
    return {talk.address: talk.title for talk in page.conversations}


def rows(titles: Sequence[str]) -> list[Row]:
    often = Counter(title.casefold() for title in titles if title)
    alone = sum(count == 1 for count in often.values())

    def share(good: int) -> float:
        return 100 * good / max(1, len(titles))

    worded = sum(content_words(title) >= 2 for title in titles)
    listed = sum(is_list_of_paths(title) for title in titles)
    return [
        Row("conversations", len(titles)),
        Row("titles that are distinct", share(alone), "%", DISTINCT_GOAL),
        Row(f"of at most {LONGEST} characters", share(_short(titles)), "%", FORM_GOAL),
        Row("with two content words", share(worded), "%", FORM_GOAL),
        Row("that are lists of paths", share(listed), "%", 100 - FORM_GOAL, True),
    ]


def _short(titles: Sequence[str]) -> int:
    return sum(0 < len(title) <= LONGEST for title in titles)


def content_words(title: str) -> int:
    """Return how many words of a title mean something alone; two for a script without blanks."""
    if _FOREIGN.search(title):
        return 2
    words = {word.casefold() for word in _WORD.findall(_PATH.sub(" ", title))}
    return len(words - STOP_WORDS)


def is_list_of_paths(title: str) -> bool:
    """Return True if two paths or more stand there, and hardly anything else."""
    return len(_PATH.findall(title)) >= 2 and content_words(title) < 3


def conversations(data: Data) -> Iterator[Conversation]:
    """Yield one of each kind after the other: talks, chats, runs, captures, stories, coding."""
    for name in ("locomo", "realtalk"):
        yield from data.talks(name)
    for size in BEAM_SIZES:
        yield from data.beam(size)
    yield from data.trajectories()
    for capture in data.captures():
        yield Conversation(capture.client, max(capture.requests, key=len))
    for seed in range(3):
        yield Conversation(f"story {seed}", tuple(stories.story(6_000, seed)))
    for language in multilingual.LANGUAGES:
        yield Conversation(language, tuple(multilingual.messages(language)))
    yield from _coding(data.coding_session())


def _coding(session: Sequence[Message]) -> Iterator[Conversation]:
    """The parts of the coding session between the client's banners, without the short ones."""
    part: list[Message] = []
    for number, message in enumerate(session):
        if message.text.startswith(_BANNER) and part:
            if len(part) >= LEAST:
                yield Conversation(f"coding before {number}", tuple(part))
            part = []
        part.append(message)
