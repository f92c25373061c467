"""Title a conversation with the first own words of the user's first request, for lists.

The title depends on that request alone, so it stays the same while the conversation grows. This
file does not distinguish conversations with the same first request: the stores number those.

    >>> title("Please rename parse_row to read_row?\\n```\\nparse_row = 1\\n```")
    'Please rename parse_row to read_row?'
    >>> title("```\\nparse_row = 1\\n```")
    'pasted text, 2 words'
"""

from __future__ import annotations

from memtree.digests.clauses.clauses import clip
from memtree.language import borders
from memtree.text import secrets
from memtree.text.pasted.own_words import first_remark, others_words
from memtree.text.requests import orders
from memtree.text.spans import Span, outside

LONGEST = 60  # characters of a title
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
