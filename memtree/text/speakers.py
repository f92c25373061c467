"""Read who speaks in a text, and recognise the cards that say whom the model shall play.

Who speaks is read from the field `name` of a message, or from the name and colon that group chats
and recorded talks have before the text.

Persona and role-play cards are first messages that say who the model shall be. They are recognised
by form (W++, lists and JSON of traits, `Name:` and `Personality:` fields, templates such as
`{{char}}`) and by requests ("you are ...", "stay in character", a scenario, how to write). A single
sign is not enough: a résumé has fields too, and "you are right" begins like a card. Who the persona
is, is not read.

    >>> is_card("You are Mira, a dry-witted smuggler. Stay in character. Never speak for {{user}}.")
    True
    >>> is_card("You are right, the second one is better. Can you fix the test?")
    False
"""

from __future__ import annotations

import re
import unicodedata
from typing import NamedTuple

from memtree.language.word_file import WordFiles, grouped, lazily
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


class SpokenBy(NamedTuple):
    """The speaker of a message in lower case, or "", and True if its text begins with the name."""

    name: str = ""
    tagged: bool = False


NOBODY = SpokenBy()


def spoken_by(text: str, name: str = "") -> SpokenBy:
    """Return the speaker of a message. `name`: as `participant` returns it; without one the text's
    own tag counts."""
    return SpokenBy(name.lower(), tagged=False) if name else SpokenBy(tag(text), tagged=True)


_DATA = WordFiles("persona_cards")
_any = _DATA.part
CARD = 4  # the least score of a card
CARD_REACH = 12_000  # characters that are read: a card shows early that it is one
LEAST = 25  # characters; a shorter message loses nothing if quoted like any other

_BEFORE = r"(?:^|[\n\[{(,;|])[ \t]{0,8}(?:[-*•#>]{1,4}[ \t]?)?[\"'*_]{0,3}"
_AFTER = r"[\"'*_]{0,3}[ \t]?(?::|：|=|\(\s?[\"“])"
_FIELD = lazily(lambda: rf"{_BEFORE}(?:{_any('fields')}){_AFTER}")
_TRAIT = lazily(lambda: rf"{_BEFORE}(?:{_any('traits')}){_AFTER}")
_TEMPLATE = lazily(r"\{\{(?:char|user|original|persona)\}\}|<(?:char|bot|user)>(?!</)")
_PLIST = lazily(
    r"\[\s?character\s?[(:=]|\bcharacter\s?\(\s?[\"“]|\[[^\[\]\n]{1,40}'s (?:persona|"
    r"personality)\s?[:=]"
    r"|\bchara_card_v\d|<start>",
)
_CHARACTER = lazily(r"\{\{char\}\}")
_HEADING = lazily(lambda: rf"^[ ]{{0,3}}#{{1,3}} ?(?:{_any('headings')})[ \t]*$", re.MULTILINE)
_STAY = _DATA.pattern("stay", shaped=grouped)
_YOU_ARE = lazily(
    lambda: (
        rf"(?:\A|[\n.!])[ \t>*#-]{{0,6}}(?:(?:{_any('greetings')})[,.:!]? ?){{0,2}}"
        rf"(?:{_any('you_are')}) (?:{_any('articles')})?(?!{_any('no_role')})"
        r"(?P<who>[^\n.!?,]{2,60})"
    )
)
_YOU_ARE_UNSPACED = lazily(
    lambda: (
        rf"(?:\A|[\n。！])\s{{0,4}}(?:请)?(?:{_any('you_are_unspaced')})"
        rf"(?!{_any('no_role_unspaced')})[^\n。！？?]{{2,80}}"
    )
)
_MANNER = lazily(
    lambda: grouped(rf"{_any('manners')}|\b(?:{_any('ages_and_persons')})|{_any('ages_unspaced')}")
)
_REQUEST = lazily(lambda: rf"\b(?:{_any('tasks')})\b|```")
_WEIGHTS = (
    (_CHARACTER, 4),
    (_HEADING, 2),
    (_TEMPLATE, 3), (_PLIST, 4), (_STAY, 3), (_YOU_ARE, 2), (_YOU_ARE_UNSPACED, 2), (_MANNER, 1),
)  # fmt: skip


def is_card(text: str) -> bool:
    """Return True if the first user message of a chat is a persona or role-play card."""
    return len(text) >= LEAST and card_score(text) >= CARD


def card_score(text: str) -> int:
    """Score the signs of a card, in time linear in the beginning that is read."""
    # In lower case: patterns that ignore case take three times as long.
    text = text[:CARD_REACH].replace("İ", "i").lower()
    score = sum(weight for pattern, weight in _WEIGHTS if pattern.search(text))
    fields = {_bare(match.group()) for match in _FIELD.finditer(text)}
    traits = {_bare(match.group()) for match in _TRAIT.finditer(text)}
    score += min(2 * len(traits), 4) + min(len(fields), 2 if traits else 1)
    return score - (2 if _REQUEST.search(text) else 0)


def _bare(field: str) -> str:
    return field.strip(" \t\n-*•#>\"'_[{(,;|:：=")
