"""Prompt injection: instructions hidden in a text that came through into its summary, and other
things that no summary says (roles, tags, tool calls, words about itself).

A summary is read by a model as part of its prompt, so a sentence in it that speaks to its reader
is rejected whatever it means; the extraction, which quotes with the speaker's name, takes its
place. Only what the user said as a rule may speak to the assistant, word for word.
What this file does not do: compare a summary with its text (`faithfulness.py`).
"""

from __future__ import annotations

import re

from memtree.language.word_file import WordFiles, grouped, lazily
from memtree.text.normal_form import nfkc

_CAPITAL = re.compile(r"(?<!\\)[A-Z]")  # of a pattern: no class such as \W


def _any(*names: str) -> re.Pattern[str]:
    """For text that `_lowered` made: to ignore case takes four times as long."""

    def read() -> str:
        patterns = "|".join(WordFiles("prompt_injection").part(name) for name in names)
        return grouped(_CAPITAL.sub(lambda match: match.group().lower(), patterns))

    return lazily(read)


_OVERRIDE, _SYNTAX_OF_PROMPTS, META = _any("overrides"), _any("syntax"), _any("meta")
IN_HEADLINE, IN_BODY = _any("address", "orders"), _any("address", "orders", "deeds")
# Invisible to a reader, not to a model: tag characters, direction overrides, zero-width joins.
_HIDDEN = lazily(
    "[\U000e0000-\U000e007f\u202a-\u202e\u2066-\u2069\u200b\u2060\ufeff\x00-\x08\x0b-\x1f]"
)


def overriding(text: str) -> re.Match[str] | None:
    """Find words that override instructions or imitate a prompt, in the text in lower case."""
    lower = _lowered(text)
    return _OVERRIDE.search(lower) or _SYNTAX_OF_PROMPTS.search(lower)


def injected(headline: str, body: str, said: str = "") -> str:
    """The part of a summary that speaks to its reader or imitates a prompt; empty: there is none.

    `said`: all that the user said, in one string; words of it, quoted exactly, may speak to the
    assistant in the body, but never to override or with syntax.
    """
    if match := _HIDDEN.search(headline + body):
        return f"hidden character U+{ord(match.group()):04X}"
    headline, body = map(_plain, (headline, body))
    for text in (headline, body):
        if match := overriding(text):
            return _as_written(text, match)
    if match := IN_HEADLINE.search(_lowered(headline)):
        return _as_written(headline, match)
    known = _folded(said)
    for match in IN_BODY.finditer(_lowered(body)):
        if not known or _around(match.string, match) not in known:
            return _as_written(body, match)
    return ""


def meta(headline: str, body: str) -> str:
    """Words of a summary about itself or its writer; empty: there are none."""
    for text in map(_lowered, (headline.strip(), body.strip())):
        if match := META.search(text):
            return match.group()
    return ""


def _around(text: str, match: re.Match[str]) -> str:
    """The match with a few words after it, as far as they belong to one sentence."""
    low = match.start()
    rest = re.split(r"[.;!?\"”»\n]", text[match.end() : match.end() + 40], maxsplit=1)
    words = rest[0].rsplit(" ", 1)[0] if len(rest) == 1 else rest[0]
    return _folded(text[low : match.end()] + words)


def _plain(text: str) -> str:
    """Wide letters and other look-alikes of the same letter, and several spaces, as usual ones."""
    return " ".join(nfkc(text).split())


def _as_written(text: str, match: re.Match[str]) -> str:
    """The words of a match in the lower case of `text`, which may be longer in rare letters."""
    return text[slice(*match.span())] if len(text) == len(match.string) else match.group()


def _lowered(text: str) -> str:
    """In lower case; the Turkish letters i are both one."""
    return text.replace("İ", "i").replace("ı", "i").lower()


def _folded(text: str) -> str:
    return " ".join(re.findall(r"\w+", nfkc(text).lower()))
