"""Whose words: messages drawn by a seed from orders and facts, and from documents that hold them.

Each language is a module of plain data:

* `ORDERS`, `FACTS`: sentences as a stranger's text could hold them;
* `WRAPPERS`: documents with `{order}` in the place of such a sentence;
* `ASKS`: pairs of what a user writes before and after a document;
* `REPORTED`: one-line messages with `{order}` or `{fact}` as the words of another;
* `OWN`, `OWN_FACTS`: pairs of a message and the words in it that are the user's own instruction or
  fact;
* `NO_FACTS`: pairs of a message that tells no lasting fact and words that no fact may hold. Where
  these do not stand in the message, they are what is left of it without its negation;
* `FILLER`, where a module has it: sentences that tell and ask nothing.
"""

import importlib
import random
import re
from importlib.util import find_spec
from types import ModuleType

_ALL = ("en", "de", "fr", "es", "it", "pt", "ru", "zh", "ja")

LANGUAGES = tuple(lang for lang in _ALL if find_spec(f"{__name__}.{lang}") is not None)

_MODULES: dict[str, ModuleType] = {
    lang: importlib.import_module(f"{__name__}.{lang}") for lang in LANGUAGES
}

ORDERS: dict[str, list[str]] = {lang: _MODULES[lang].ORDERS for lang in LANGUAGES}
OWN: dict[str, list[tuple[str, str]]] = {lang: _MODULES[lang].OWN for lang in LANGUAGES}
FACTS: dict[str, list[str]] = {lang: _MODULES[lang].FACTS for lang in LANGUAGES}
WRAPPERS: dict[str, list[str]] = {lang: _MODULES[lang].WRAPPERS for lang in LANGUAGES}
ASKS: dict[str, list[tuple[str, str]]] = {lang: _MODULES[lang].ASKS for lang in LANGUAGES}
REPORTED: dict[str, list[str]] = {lang: _MODULES[lang].REPORTED for lang in LANGUAGES}
OWN_FACTS: dict[str, list[tuple[str, str]]] = {lang: _MODULES[lang].OWN_FACTS for lang in LANGUAGES}
NO_FACTS: dict[str, list[tuple[str, str]]] = {lang: _MODULES[lang].NO_FACTS for lang in LANGUAGES}


def _filler(lang: str) -> list[str]:
    """Sentences that tell and ask nothing: a module's own, or the lines of its plain documents."""
    own = getattr(_MODULES[lang], "FILLER", None)
    if own:
        return list(own)
    enough = 12 if lang in ("zh", "ja") else 40
    lines = (line.strip() for text in WRAPPERS[lang] for line in text.splitlines())
    return [
        line
        for line in lines
        if len(line) >= enough and line[0].isalpha() and line[-1] in ".!?。！？" and "{" not in line
    ]


_FILLER = {lang: _filler(lang) for lang in LANGUAGES}

# A full stop before another mark or before the rest of a sentence.
_STOPPED = re.compile(r"[.。](?= ?[?!,;:？！，；：]| [a-zа-яßà-ÿ—–-])")


def _fill(template: str, place: str, words: str) -> tuple[str, str]:
    """The template with the words in their place, and the words as they stand there."""
    before, _, after = template.partition(place)
    if _STOPPED.match(words[-1:] + after[:2]):
        words = words[:-1]
    return before + words + after, words


def _asked(rng: random.Random, lang: str, document: str) -> str:
    """The document with what a user asks before it, after it, on both sides or on neither."""
    before, after = rng.choice(ASKS[lang])
    if before and not after and rng.random() < 0.15:
        after = rng.choice([pair[1] for pair in ASKS[lang] if pair[1]])
    text = document
    if before:
        text = before + rng.choice(("\n\n", "\n")) + text
    if after:
        text = text + "\n\n" + after
    return text


def _wrapped(rng: random.Random, lang: str, choices: list[str]) -> tuple[str, str]:
    sentence = rng.choice(choices)
    document, sentence = _fill(rng.choice(WRAPPERS[lang]), "{order}", sentence)
    kind = rng.random()
    if kind < 0.15:
        other, _ = _fill(rng.choice(WRAPPERS[lang]), "{order}", rng.choice(choices))
        pair = [document, other]
        rng.shuffle(pair)
        document = "\n\n".join(pair)
    elif kind < 0.40:
        lines = rng.choices(_FILLER[lang], k=rng.randint(1, 40))
        filler = rng.choice(("\n", "\n\n", " ")).join(lines)
        pair = [document, filler]
        rng.shuffle(pair)
        document = "\n\n".join(pair)
    return _asked(rng, lang, document), sentence


def drawn(seed: int, lang: str) -> tuple[str, str]:
    """A message with a document that holds an order, and the order."""
    return _wrapped(random.Random(f"{lang}-{seed}"), lang, ORDERS[lang])


def drawn_fact(seed: int, lang: str) -> tuple[str, str]:
    """A message with a document in which a stranger tells a fact, and the fact."""
    return _wrapped(random.Random(f"{lang}-{seed}"), lang, FACTS[lang])


def reported(seed: int, lang: str) -> tuple[str, str]:
    """A line of the user's own that reports an order or a fact of another, and that sentence."""
    rng = random.Random(f"{lang}-{seed}")
    template = rng.choice(REPORTED[lang])
    if "{order}" in template:
        return _fill(template, "{order}", rng.choice(ORDERS[lang]))
    return _fill(template, "{fact}", rng.choice(FACTS[lang]))
