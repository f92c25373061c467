"""Patterns of a schema as they are compiled: ECMAScript's, in the words that the engine is quick
with.

The engine matches in linear time, so it looks neither ahead nor back. A few patterns that a
widely used library writes do, and can be said without: they are replaced by these.
"""

from __future__ import annotations

from memtree.errors import SchemaInvalid

MAX_PATTERN_CHARS = 1_000

_DAYS = r"(?:\d+Y(?:\d+M)?(?:\d+D)?|\d+M(?:\d+D)?|\d+D)"
_SECONDS = r"\d+(?:[.,]\d+)?S"
_HOURS = rf"T(?:\d+H(?:\d+M)?(?:{_SECONDS})?|\d+M(?:{_SECONDS})?|{_SECONDS})"
_EMOJI = r"\p{Extended_Pictographic}\p{Emoji_Component}"

# What zod 4 writes for `z.email()` (until 4.1), `z.iso.duration()` and `z.emoji()`.
_EMAIL_LOOKING = (
    r"^(?!\.)(?!.*\.\.)([A-Za-z0-9_'+\-\.]*)[A-Za-z0-9_+-]"
    r"@([A-Za-z0-9][A-Za-z0-9\-]*\.)+[A-Za-z]{2,}$"
)
_EMAIL = (
    r"^(?:[A-Za-z0-9_'+\-]+\.)*[A-Za-z0-9_'+\-]*[A-Za-z0-9_+-]"
    r"@(?:[A-Za-z0-9][A-Za-z0-9\-]*\.)+[A-Za-z]{2,}$"
)
_DURATION_LOOKING = (
    r"^P(?:(\d+W)|(?!.*W)(?=\d|T\d)(\d+Y)?(\d+M)?(\d+D)?"
    r"(T(?=\d)(\d+H)?(\d+M)?(\d+([.,]\d+)?S)?)?)$"
)
_DURATION = rf"^P(?:\d+W|{_DAYS}(?:{_HOURS})?|{_HOURS})$"
_EMOJI_LOOKING = (
    rf"^(?=[\s\S]*[\p{{Extended_Pictographic}}\p{{Regional_Indicator}}\u20E3])[{_EMOJI}]+$"
)
_EMOJIS = rf"^[{_EMOJI}]*[\p{{Extended_Pictographic}}\p{{Regional_Indicator}}\u20E3][{_EMOJI}]*$"
KNOWN = {_EMAIL_LOOKING: _EMAIL, _DURATION_LOOKING: _DURATION, _EMOJI_LOOKING: _EMOJIS}

_CLASSES = frozenset("dDsSwW")


def usable(pattern: str, place: str) -> str:
    r"""Return the pattern for the engine. `place`: where it stands, for errors. Raises
    `SchemaInvalid` where it is too long.

    Its class escapes are put in brackets: outside of them the engine takes the square of their
    number to translate them, 35 s for 7,000.

    >>> usable(r"^\d+[\s\d]\\d", "")
    '^[\\d]+[\\s\\d]\\\\d'
    """
    if len(pattern) > MAX_PATTERN_CHARS:
        raise SchemaInvalid(
            f"the schema at {place}: a pattern has at most {MAX_PATTERN_CHARS:,} characters",
            param="schema",
        )
    return _bracketed(KNOWN.get(pattern, pattern))


def _bracketed(pattern: str) -> str:
    pieces: list[str] = []
    at, inside = 0, False
    while at < len(pattern):
        piece = pattern[at : at + 2] if pattern[at] == "\\" else pattern[at]
        at += len(piece)
        if piece == "[":
            inside = True
        elif piece == "]":
            inside = False
        elif len(piece) == 2 and piece[1] in _CLASSES and not inside:
            piece = f"[{piece}]"
        pieces.append(piece)
    return "".join(pieces)
