"""Recognise persona and role-play cards: first messages that say who the model shall be.

Cards are recognised by form (W++, lists and JSON of traits, `Name:` and `Personality:` fields,
templates such as `{{char}}`) and by requests ("you are ...", "stay in character", a scenario, how
to write). A single sign is not enough: a résumé has fields too, and "you are right" begins like a
card. This file does not read who the persona is.

    >>> is_card("You are Mira, a dry-witted smuggler. Stay in character. Never speak for {{user}}.")
    True
    >>> is_card("You are right, the second one is better. Can you fix the test?")
    False
"""

from __future__ import annotations

import re

from memtree.language.word_file import WordFiles, grouped, lazily

_DATA = WordFiles("persona_cards")
_any = _DATA.part
CARD = 4  # the least score of a card
REACH = 12_000  # characters that are read: a card shows early that it is one
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
    text = text[:REACH].replace("İ", "i").lower()
    score = sum(weight for pattern, weight in _WEIGHTS if pattern.search(text))
    fields = {_bare(match.group()) for match in _FIELD.finditer(text)}
    traits = {_bare(match.group()) for match in _TRAIT.finditer(text)}
    score += min(2 * len(traits), 4) + min(len(fields), 2 if traits else 1)
    return score - (2 if _REQUEST.search(text) else 0)


def _bare(field: str) -> str:
    return field.strip(" \t\n-*•#>\"'_[{(,;|:：=")
