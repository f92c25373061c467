"""What is stored of the end of a history: its size, its title, the project that it works in."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from itertools import islice

from memtree.conversation.history import History
from memtree.digests.conversation_title import MESSAGES, title
from memtree.ports.conversations import HistoryEnd
from memtree.text import secrets

LONGEST = 60  # characters of a name
_READ = 200_000  # characters that are searched in a text
_PLACES = 400  # words in a text that may precede a path
# One of these words stands shortly before the path.
_WORD = re.compile(r"director(?:y|io)|<cwd>|\bcwd\b|workspace|uploaded_files|project[ _]root", re.I)
_BEFORE, _BEHIND = 40, 400  # characters around such a word
_NAMED = re.compile(
    r"(?:<(?:cwd|uploaded_files|working_?directory|workspace)>\s{0,9}"
    r"|\b(?:(?:primary|current|present|initial|active) )?(?:working|workspace|project)[ _-]?"
    r"(?:directory|root(?: (?:folder|directory))?|path|folder|dir)\b(?P<open> \()?"
    r"|\bworking in the directory\b|\bcurrent directory\b|\bcwd\b)"
    r"[\"'`*]{0,3}(?: is| of the user is)?\s?[:=]?[ \t]{0,4}[\"'`(*]{0,3}"
    r"(?P<path>(?:~|[A-Za-z]:)?[\\/][^\n<>\"'`|*?]{0,300})",
    re.IGNORECASE,
)
_SEPARATOR = re.compile(r"[\\/]+")


def project_of(texts: Iterable[str]) -> str:
    """Return the name of the project that a conversation works in, without secrets: the last part
    of the directory that its client names. Empty where no text names one. `texts`: of the system
    messages, and of the first messages of the user.

    Coding agents write the working directory into their system prompt or into a block of the first
    user message, each in words of its own. It is recognised by its form: words like "working
    directory", followed by an absolute path.
    """
    for text in texts:
        for word in _words(text[:_READ]):
            window = text[max(0, word - _BEFORE) : word + _BEHIND]
            if (match := _NAMED.search(window)) and (name := _last(match)):
                return name
    return ""


def _words(text: str) -> list[int]:
    return [match.start() for _, match in zip(range(_PLACES), _WORD.finditer(text), strict=False)]


def _last(match: re.Match[str]) -> str:
    path = match["path"]
    if match["open"] or ") " in path:
        path = path.partition(")")[0]
    parts = [part for part in _SEPARATOR.split(path.strip(" \t.,;:)")) if part.strip()]
    name = parts[-1] if parts else ""
    plain = "".join(c for c in secrets.mask(name) if c.isprintable()).strip()
    return plain if len(plain) <= LONGEST else ""


SURROUNDINGS = 4  # how many system messages, and how many first messages, may name the directory


def history_end(
    posted: History, length: int, client: str, used: float, *, titled: bool = False
) -> HistoryEnd:
    """Describe the first `length` messages; `used`: unix seconds of their last request; `client`:
    the program that posted them. `titled`: title and project are stored already; otherwise the
    beginning of the conversation is read, which takes milliseconds."""
    return HistoryEnd(
        used,
        length,
        posted.size(0, length),
        posted.posted[0],
        length == len(posted),
        "" if titled else title(posted.first_request(MESSAGES)),
        client,
        "" if titled else project_of(_surroundings(posted)),
    )


def _surroundings(posted: History) -> Iterator[str]:
    """Yield texts in which a client may name the directory."""
    yield from (message.words for _, message in islice(posted.system, SURROUNDINGS))
    for index, info in enumerate(posted.facts[:SURROUNDINGS]):
        if info.role == "user":
            yield posted.messages[index].words
