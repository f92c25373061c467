"""Request to index a history, with its conditions."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
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


# Seconds for stage 1 if the history fits the model without a tree, so that waiting is not
# necessary.
BUILD_PATIENCE = 20.0
LONG_PATIENCE = 600.0  # used if nobody waits for it
SURROUNDINGS = 4  # how many system messages, and how many first messages, may name the directory


@dataclass(frozen=True, slots=True)
class IndexRequest:
    """`days`: how long the index is to be kept from now on. `generation`: the tenant's deletion
    count when the request began. `patience`: seconds for stage 1. `backfill`: the history is not in
    use now, so stages 2 and 3 do others first. `client`: the program that posted it."""

    posted: History
    days: int
    generation: int
    patience: float = BUILD_PATIENCE
    backfill: bool = False
    client: str = ""

    @property
    def tenant(self) -> str:
        return self.posted.tenant

    @property
    def conversation(self) -> tuple[str, bytes]:
        """Return a key that all requests of the conversation share: the tenant and the address of
        the first message."""
        return self.posted.tenant, self.posted.addresses[1]

    def end(self, length: int, used: float, *, titled: bool = False) -> HistoryEnd:
        """Describe the first `length` messages; `used`: unix seconds of their last request.
        `titled`: title and project are stored already; otherwise the beginning of the conversation
        is read, which takes milliseconds."""
        posted = self.posted
        return HistoryEnd(
            used,
            length,
            posted.size(0, length),
            posted.posted[0],
            length == len(posted),
            "" if titled else title(posted.first_request(MESSAGES)),
            self.client,
            "" if titled else project_of(self._surroundings()),
        )

    def _surroundings(self) -> Iterator[str]:
        """Yield texts in which a client may name the directory."""
        yield from (message.words for _, message in islice(self.posted.system, SURROUNDINGS))
        for index, info in enumerate(self.posted.facts[:SURROUNDINGS]):
            if info.role == "user":
                yield self.posted.messages[index].words
