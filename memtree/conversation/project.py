"""The project that a conversation works in: the last part of the directory that its client names.

Coding agents write the working directory into their system prompt or into a block of the first
user message, each in words of its own. It is known by its shape: words that say "working
directory" or the like, and an absolute path behind them.

    >>> project_of(["You are an agent.\\n<env>\\n  Working directory: /home/ann/tea-shop\\n</env>"])
    'tea-shop'
    >>> project_of(["<cwd>C:\\\\src\\\\parser</cwd>"]), project_of(["Go to the directory above."])
    ('parser', '')
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from memtree.text import secrets

LONGEST = 60  # characters of a name
READ = 200_000  # characters of a text that are read
_PLACES = 400  # words in a text that may stand before a path
# One of these stands shortly before the path.
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
    """The name, without secrets; empty where no text names a directory. `texts`: of the system
    messages, and of the first messages of the user."""
    for text in texts:
        for word in _words(text[:READ]):
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
