"""Reads what people say of themselves in other languages than English. Each has a grammar, a file
in `languages/`, with patterns for statements that are kept, by their category, and for sentences
that are none, by their reason. A pattern is for the beginning of a sentence in lower case.

    >>> category_of("ich habe zwei katzen"), str(refused("ich bin so müde"))
    ('fact', 'transient')
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Sequence
from functools import cache
from importlib import resources

from memtree.memories.extraction.candidates import SkipReason
from memtree.text.lazy_patterns import lazily

SPACED = ("de", "es", "fr", "pt", "it", "nl")
UNSPACED = ("zh", "ja")
CATEGORIES = ("preference", "fact", "general")
REASONS = (
    SkipReason.HYPOTHETICAL, SkipReason.QUESTION, SkipReason.CODE, SkipReason.REQUEST,
    SkipReason.TRANSIENT, SkipReason.OTHERS, SkipReason.VAGUE,
)  # fmt: skip
_UNSPACED_LETTER = re.compile("[\u3040-\u30ff\u3400-\u9fff]")
_INDENT = re.compile(r"(?:^|\n)\s*")  # of a pattern that goes on in the next line
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
    reason = _first(lower, REASONS)
    return SkipReason(reason) if reason else None


def category_of(lower: str) -> str:
    """Return `fact`, `preference` or `general`; empty where the sentence is none of them."""
    return "" if _PASSING.search(lower) else _first(lower, CATEGORIES)


def is_unspaced(text: str) -> bool:
    """Return True if a text has letters of a script that is written without spaces."""
    return not text.isascii() and _UNSPACED_LETTER.search(text) is not None


def _first(lower: str, names: Sequence[str]) -> str:
    patterns = _patterns(UNSPACED if is_unspaced(lower) else SPACED)
    return next((str(name) for name in names if patterns[name].match(lower)), "")


@cache
def _patterns(languages: Sequence[str]) -> dict[str, re.Pattern[str]]:
    """One pattern for each name, for several languages."""
    grammars = [grammar(language) for language in languages]
    return {
        name: lazily("|".join(f"(?:{one[name]})" for one in grammars))
        for name in (*CATEGORIES, *REASONS)
    }


def grammar(language: str) -> dict[str, str]:
    """Read the patterns of a language by their names. `{kin}` in one stands for its part `kin`."""
    file = resources.files(__package__) / "languages" / f"{language}.toml"
    table = tomllib.loads(file.read_text("utf-8"))
    parts = {f"{{{name}}}": _INDENT.sub("", part) for name, part in table["parts"].items()}
    found = {}
    for name, alternatives in table["patterns"].items():
        pattern = "|".join(_INDENT.sub("", one) for one in alternatives)
        for mark, part in parts.items():
            pattern = pattern.replace(mark, part)
        found[name] = pattern
    return found
