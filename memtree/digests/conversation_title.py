"""Title a conversation with the first own words of the user's first request, for lists; name its
project.

The title depends on that request alone, so it stays the same while the conversation grows. This
file does not distinguish conversations with the same first request: the stores number those.

    >>> title("Please rename parse_row to read_row?\\n```\\nparse_row = 1\\n```")
    'Please rename parse_row to read_row?'
    >>> title("```\\nparse_row = 1\\n```")
    'pasted text, 2 words'
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from memtree.digests.clauses import clip
from memtree.language import borders
from memtree.text import secrets
from memtree.text.own_words import first_remark, others_words
from memtree.text.request_words import orders
from memtree.text.spans import Span, outside

LONGEST = 60  # characters of a title, or of a name
_MASKED = 8_000  # characters in which secrets are looked for: a private key fits
MESSAGES = 40  # first messages among which the first request is searched
_MARKS = " #*_>|•-"  # Markdown before a request


def title(request: str) -> str:
    """Return a title of at most `LONGEST` characters, without secrets; "" for a request without
    text. Without own words it is the beginning, unless that orders something for good."""
    own = outside([Span(0, len(request))], others_words(request))
    words = " ".join(" ".join(request[start:end] for start, end in own).split()).lstrip(_MARKS)
    if not own and not orders(remark := first_remark(request)):
        words = " ".join(remark.split()).lstrip(_MARKS)
    if any(map(str.isalnum, words)):
        return clip(secrets.mask(clip(words, _MASKED)), LONGEST)
    count = sum(any(map(str.isalnum, unit)) for unit in borders.units(request))
    return f"pasted text, {count} word{'s' if count > 1 else ''}" if count else ""


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
