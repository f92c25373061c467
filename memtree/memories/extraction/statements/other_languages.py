"""What people say of themselves in German, Spanish, French, Portuguese, Italian and Dutch."""

from __future__ import annotations

from memtree.memories.extraction.statements import germanic, romance
from memtree.text.lazy_patterns import lazily

_LANGUAGES = (
    germanic.GERMAN, romance.SPANISH, romance.FRENCH, romance.PORTUGUESE, romance.ITALIAN,
    germanic.DUTCH,
)  # fmt: skip
_PATTERNS = tuple(
    (category, lazily(rf"(?:{pattern})"))
    for category in ("preference", "fact", "general")
    for pattern in (language[category] for language in _LANGUAGES)
)
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
    r"|giù|gerade|grad|jetzt|drüber|dein\w*|ton|tes|votre|tu|tus|tuo|tua|seu|sua|jouw|así|assim"
    r"|così|hambre|fome|fame|faim|esto|eso|isso|isto|nisso|questo|quello|dit|dat|wie (?:das|man)"
    r"|lol|haha|keine (?:zeit|lust|ahnung)|hätte|würde|geparkt|gedanken)\b"
)


def lead(lower: str) -> int:
    """Where the sentence begins behind a greeting or a joint."""
    match = _LEAD.match(lower)
    return match.end() if match else 0


def category_of(lower: str) -> str:
    """`fact`, `preference`, `general`; empty where the sentence is none of them."""
    if _PASSING.search(lower):
        return ""
    return next((category for category, pattern in _PATTERNS if pattern.match(lower)), "")
