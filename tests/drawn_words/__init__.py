"""Whose words: messages drawn by a seed from orders and facts, and from documents that hold them.

Each language is a file of plain data; a text of several lines is a list of lines:

* `ORDERS`, `FACTS`: sentences as a stranger's text could hold them;
* `WRAPPERS`: documents with `{order}` in the place of such a sentence;
* `ASKS`: pairs of what a user writes before and after a document;
* `REPORTED`: one-line messages with `{order}` or `{fact}` as the words of another;
* `OWN`, `OWN_FACTS`: pairs of a message and the words in it that are the user's own instruction or
  fact;
* `NO_FACTS`: pairs of a message that tells no lasting fact and words that no fact may hold. Where
  these do not stand in the message, they are what is left of it without its negation;
* `FILLER`, where a language has it: sentences that tell and ask nothing.
"""

import json
import random
import re
from pathlib import Path
from typing import Any

_DATA = Path(__file__).parent

LANGUAGES = ("en", "de", "fr", "es", "it", "pt", "ru", "zh", "ja")


def _text(lines: str | list[str]) -> str:
    return lines if isinstance(lines, str) else "\n".join(lines)


def _texts(file: dict[str, Any], name: str) -> list[str]:
    return [_text(lines) for lines in file.get(name, ())]


def _pairs(file: dict[str, Any], name: str) -> list[tuple[str, str]]:
    return [(_text(one["message"]), one["words"]) for one in file[name]]


_FILES: dict[str, dict[str, Any]] = {
    lang: json.loads((_DATA / f"{lang}.json").read_text("utf-8")) for lang in LANGUAGES
}
ORDERS = {lang: _texts(file, "orders") for lang, file in _FILES.items()}
FACTS = {lang: _texts(file, "facts") for lang, file in _FILES.items()}
WRAPPERS = {lang: _texts(file, "wrappers") for lang, file in _FILES.items()}
REPORTED = {lang: _texts(file, "reported") for lang, file in _FILES.items()}
ASKS: dict[str, list[tuple[str, str]]] = {
    lang: [(before, after) for before, after in file["asks"]] for lang, file in _FILES.items()
}
OWN = {lang: _pairs(file, "own") for lang, file in _FILES.items()}
OWN_FACTS = {lang: _pairs(file, "own_facts") for lang, file in _FILES.items()}
NO_FACTS = {lang: _pairs(file, "no_facts") for lang, file in _FILES.items()}


def _filler(lang: str) -> list[str]:
    """Sentences that tell and ask nothing: a module's own, or the lines of its plain documents."""
    own = _texts(_FILES[lang], "filler")
    if own:
        return own
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
