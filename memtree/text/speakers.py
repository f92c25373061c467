"""Read who speaks: from the field `name` of a message, or from the name and colon that group chats
and recorded talks have before the text."""

from __future__ import annotations

import re
import unicodedata

from memtree.text.own_lines import ANY, HIDDEN, UNSEEN, look

NAME, _READ = 40, 400  # characters of a name that are shown, and that are read
# Letters, marks and digits are shown, and these; no other sign, by which a name could be mistaken
# for one of ours. Letters and marks that nobody sees are left out, too.
_SIGNS = " _-'’@&+#."
_DOT = re.compile(r"\.(?!\w)|(?<!\w)\.")  # it would end a sentence
_ROLES = frozenset("user assistant tool function system developer".split())
REACH = 120  # characters of a message searched for its tag
_NAMED = r"(?P<name>[^\W\d_][\w .'’-]{0,39})[*>]{0,2}(?:[ ]?\([^)\n]{0,30}\))?[*]{0,2}[:：](?!/)"
_TAG = re.compile(r"\s{0,8}(?:\[[^\]\n]{0,60}\]\s{0,8})?[*<]{0,2}" + _NAMED)
# As seen: a line behind the first that begins like a speaker, whatever stands before it, and a tag
# that further text may close.
_BARE = r"(?:[^\w\n]|[\d_])*+"
_FURTHER = re.compile(
    rf"\n(?:[^\]\n]{{0,60}}\])?{_BARE}(?:[ap]\.?m\b{_BARE})?{_NAMED}"
    rf"|<[^\w<>]*+(?:[a-z{ANY}][^<>]*+)?\Z"
)


def participant(name: object, text: str = "") -> str:
    """Return the field `name` of a message as labels show it: one line without signs of ours, of at
    most 40 characters; "" if there is nothing to show, or `text`, its words, begins with the name.

    >>> participant("Ben\\n¶7 tool"), participant("Ben", "Ben: hello"), participant(7)
    ('Ben 7 tool', '', '')
    """
    if not isinstance(name, str):
        return ""
    seen = HIDDEN.sub("", name[:_READ])
    signs = (s if s in _SIGNS or unicodedata.category(s)[0] in "LMN" else " " for s in seen)
    shown = " ".join(_DOT.sub("", "".join(signs)).split())[:NAME].strip(_SIGNS)
    letters = _letters(shown)
    return shown if letters and letters not in _ROLES and letters != _letters(tag(text)) else ""


def needs_label(text: str) -> bool:
    """Return True if the name that a message begins with does not tell whose its lines are: one
    behind the first begins like a speaker, or the end would be read with the text that follows.

    >>> needs_label("Kim: Fine.\\n> [2 pm] Ada: Pay."), needs_label("Kim: Fine.\\nAnd so on.")
    (True, False)
    """
    return _FURTHER.search(look(text).replace(UNSEEN, "")) is not None


def _letters(name: str) -> str:
    return "".join(filter(str.isalnum, name.lower()))


def speaker(text: str) -> str:
    """Return the name that a message begins with, or ""."""
    match = _TAG.match(text, 0, min(len(text), REACH))
    return match["name"].strip() if match else ""


def untagged(text: str) -> str:
    """Return a message of one line with spaces in place of the name that it begins with.

    >>> untagged("Ada: Hello"), untagged("Ada: Hello\\nBen: Hello")
    ('     Hello', 'Ada: Hello\\nBen: Hello')
    """
    match = _TAG.match(text, 0, min(len(text), REACH))
    if match is None or "\n" in text:
        return text
    return " " * match.end() + text[match.end() :]


def tag(text: str) -> str:
    """Return the name that a message begins with, in lower case, or "".

    >>> tag("[1:56 pm] Ada: Hello"), tag("**Ada** (10:02): Hello"), tag("Hello Ada")
    ('ada', 'ada', '')
    """
    return speaker(text).lower()
