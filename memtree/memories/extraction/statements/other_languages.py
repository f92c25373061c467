"""What people say of themselves in other languages than English: each has patterns for statements
that are kept, by their category, and for sentences that are none, by their reason."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from memtree.memories.extraction.candidates import SkipReason
from memtree.memories.extraction.statements import east_asian, germanic, romance
from memtree.text.lazy_patterns import lazily

Patterns = tuple[tuple[str, re.Pattern[str]], ...]


def _joined(languages: Sequence[Mapping[str, str]], names: Sequence[str]) -> Patterns:
    """One pattern for each name, for all languages."""
    return tuple(
        (name, lazily("|".join(rf"(?:{one[name]})" for one in languages if name in one)))
        for name in names
    )


_SPACED = (
    germanic.GERMAN, romance.SPANISH, romance.FRENCH, romance.PORTUGUESE, romance.ITALIAN,
    germanic.DUTCH,
)  # fmt: skip
_UNSPACED = (east_asian.CHINESE, east_asian.JAPANESE)
_CATEGORIES = ("preference", "fact", "general")
_REASONS = (
    SkipReason.HYPOTHETICAL, SkipReason.QUESTION, SkipReason.CODE, SkipReason.REQUEST,
    SkipReason.TRANSIENT, SkipReason.OTHERS, SkipReason.VAGUE,
)  # fmt: skip
# By whether a sentence is of a script without spaces.
_STATEMENTS = (_joined(_SPACED, _CATEGORIES), _joined(_UNSPACED, _CATEGORIES))
_REFUSED = (_joined(_SPACED, _REASONS), _joined(_UNSPACED, _REASONS))
_UNSPACED_LETTER = re.compile("[\u3040-\u30ff\u3400-\u9fff]")
_LEAD = lazily(
    r"(?:(?:hallo|hi|hey|guten (?:tag|morgen)|moin|übrigens|also|ach|und|aber|ja|nein|danke|ok"
    r"|bonjour|salut|bonsoir|alors|merci|oui|non|et|mais|au fait|hola|buenas|buenos días|sí|pero"
    r"|gracias|además|bueno|por cierto|olá|oi|bom dia|sim|mas|obrigad[oa]|aliás|ciao|salve"
    r"|buongiorno|grazie|però|comunque|allora|hoi|dag|bedankt|maar|en|trouwens|eigenlijk"
    r"|eigentlich|außerdem|tatsächlich|en fait|de plus|anche|inoltre|também)\b[\s,:;.!–—-]*+)++"
)
# What passes, what is at hand, and what is somebody else's, in any of them.
_PASSING = lazily(
    r"\b(?:branche?|rama|ramo|tak|code|código|codice|bugs?|fehler|erreur|error|erro|errore|fout"
    r"|problem\w*|problème|probleem|down|kaputt|defekt|lent[ao]?|langsam|rot|grün|en panne|caído"
    r"|giù|jetzt|drüber|dein\w*|ton|tes|votre|tu|tus|tuo|tua|seu|sua|jouw|así|assim"
    r"|così|hambre|fome|fame|faim|esto|eso|isso|isto|nisso|questo|quello|dit|dat|wie (?:das|man)"
    r"|lol|haha|keine (?:zeit|lust|ahnung)|hätte|würde|geparkt|gedanken)\b"
)


def lead(lower: str) -> int:
    """Where the sentence begins behind a greeting or a joint."""
    match = _LEAD.match(lower)
    return match.end() if match else 0


def refused(lower: str) -> SkipReason | None:
    """Return why a sentence in lower case is no statement of its own; None where it may be one."""
    patterns = _REFUSED[is_unspaced(lower)]
    return next((SkipReason(name) for name, pattern in patterns if pattern.match(lower)), None)


def category_of(lower: str) -> str:
    """Return `fact`, `preference` or `general`; empty where the sentence is none of them."""
    if _PASSING.search(lower):
        return ""
    patterns = _STATEMENTS[is_unspaced(lower)]
    return next((name for name, pattern in patterns if pattern.match(lower)), "")


def is_unspaced(text: str) -> bool:
    """Return True if a text has letters of a script that is written without spaces."""
    return not text.isascii() and _UNSPACED_LETTER.search(text) is not None
