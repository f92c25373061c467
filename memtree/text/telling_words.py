"""Find words that tell what a text is about, in forms that join inflections.

A word of a message is informative if hardly any sentence of its language's background holds it, and
few memories do. Texts that share such a word are about the same subject far more often than their
vectors show, and for a language that an embedder cannot read there is no other evidence.

    >>> sharing("Quel morceau de violoncelle travailler ?", ["L'utilisateur joue du violoncelle."])
    [True]
    >>> sharing("What does the user like best?", ["The user likes tea."])
    [False]
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache

from memtree.language.languages import LATIN, common_words, language_of, sentences
from memtree.text.terms import stem

REACH = 2_000  # characters of a text that are read
IN_BACKGROUND = 1  # most sentences of the background that hold an informative word
FEW, SHARE = 3, 0.01  # most memories that hold it: a number, or a share of all
OF_GENERAL = 2  # words that a memory shares with a question about the world
ENDING = 3  # letters of the shorter of two words after their common beginning
LONG = 7  # letters of a word that is common only if a common one goes on as it does
LONGEST = 40  # letters of a word that are read
LETTERS, SYLLABLES, CONSONANTS = 5, 2, 4  # of a word's beginning: of Korean, of Arabic words
_WORD = re.compile(r"[^\W_]+")
_RUN = re.compile(
    r"(?P<pairs>[\u3400-\u9fff\uf900-\ufaff]+)|(?P<triples>[\u30a0-\u30ff\u0e00-\u0eff\u1000-\u109f]+)"
    r"|(?P<nothing>[\u3040-\u309f]+)"
    r"|(?P<letters>[^\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff\u0e00-\u0eff\u1000-\u109f]+)"
)
_ARTICLE = re.compile("^(?:[وبكف]?ال|لل)(?=...)")
_LATIN = frozenset(LATIN)
_PARTICLE = re.compile("[是了吗呢和在也都很就才着]|.的")
_KATAKANA = re.compile("[\u30a0-\u30ff]")
_VOICED = "\u3099\u309a"


def sharing(
    message: str, texts: Sequence[str], memories: int = 0, *, general: bool = False
) -> list[bool]:
    """Return for each text True if it shares an informative word with `message`, or two if the
    message asks about the world (`general`), since it shares one by chance. `memories`: the number
    in the scope."""
    message_words = telling(message)
    language, words = language_of(message), _words(message)
    shared = [_shared(message_words, language, words, text) for text in texts]
    held = Counter(form for forms in shared for form in forms)
    few = max(FEW, SHARE * memories)
    needed = OF_GENERAL if general else 1
    return [_count({form for form in forms if held[form] <= few}) >= needed for forms in shared]


def _count(forms: set[str]) -> int:
    """Count the words of the forms: in unspaced scripts, forms of the same word overlap.

    >>> _count({"加拿", "拿大", "首都"}), _count({"データ", "データベー"})
    (2, 1)
    """
    beginnings = {form[:at] for form in forms for at in range(1, len(form))}
    return len({form for form in forms if form not in beginnings and form[1:] not in beginnings})


def _shared(message_words: set[str], language: str, words: set[str], text: str) -> set[str]:
    """Return the forms that a text shares with the message whose words and language are given.

    Between two languages only whole words count, such as names: "print" is no form of "printemps".
    """
    shared = message_words & _own_forms(text)
    if not shared:
        return shared
    theirs = _words(text)
    if _two_latin(language, language_of(text)):
        return shared & word_forms(" ".join(words & theirs))
    ours, others = _beginnings(words, shared), _beginnings(theirs, shared)
    return {form for form in shared if _one_word(ours[form], others[form])}


def _beginnings(words: set[str], forms: set[str]) -> dict[str, tuple[set[str], set[str]]]:
    """Return for each form the beginnings of its words: without their endings, and of any
    length."""
    beginnings: dict[str, tuple[set[str], set[str]]] = {form: (set(), set()) for form in forms}
    for word in words:
        if (form := word[:LETTERS]) in beginnings:
            word = word[:LONGEST]
            beginnings[form][0].add(word[: max(LETTERS, len(word) - ENDING)])
            beginnings[form][1].update(word[:at] for at in range(len(form), len(word) + 1))
    return beginnings


def _one_word(ours: tuple[set[str], set[str]], others: tuple[set[str], set[str]]) -> bool:
    """Return True if words with the same beginning may be forms of one word; not if both have long,
    different rests (Sonnensystem, Sonnenblume)."""
    return not ours[0] or not others[0] or bool(ours[0] & others[1] or others[0] & ours[1])


def _words(text: str) -> set[str]:
    return set(_WORD.findall(_folded(text[:REACH])))


def apart(one: str, other: str) -> bool:
    """Return True if two texts are in two languages, both written in Latin letters."""
    return _two_latin(language_of(one), language_of(other))


def _two_latin(one: str, other: str) -> bool:
    return one != other and one in _LATIN and other in _LATIN


def telling(text: str) -> set[str]:
    """Return the forms of a text's words that are not common in its language. A long word is not
    common because a shorter one begins like it: `allergy` beside `aller`."""
    language = language_of(text)
    often, begun = _often(language), _begun(language)
    return {
        form
        for word in _words(text)
        for form in _forms_of(word)
        if len(form) > 1
        and (
            form not in often
            or (len(word) >= LONG and word.startswith(form) and word[:-1] not in begun)
        )
    }


def _own_forms(text: str) -> set[str]:
    """Return `word_forms` without forms that join a Chinese word with a particle, or that begin
    within a katakana word."""
    return {form for word in _words(text) for form in _forms_of(word)}


def _forms_of(word: str) -> Iterable[str]:
    return _kept_forms(word) if len(word) <= LONGEST else _forms(word, within=False)


@lru_cache(maxsize=8_192)
def _kept_forms(word: str) -> tuple[str, ...]:
    return tuple(_forms(word, within=False))


def word_forms(text: str) -> set[str]:
    """Return the beginnings of words without accents; for Chinese characters, which have no spaces,
    their pairs; for syllable signs, which say less, two adjacent pairs."""
    return {form for word in _words(text) for form in _forms(word)}


def _forms(word: str, *, within: bool = True) -> Iterator[str]:
    for run in _RUN.finditer(word):
        signs = run[0]
        if run.lastgroup == "letters":
            yield _beginning(signs)
        elif run.lastgroup == "pairs":
            pairs = (signs[at : at + 2] for at in range(max(1, len(signs) - 1)))
            yield from pairs if within else (pair for pair in pairs if not _PARTICLE.search(pair))
        elif run.lastgroup == "triples":
            if within or not _KATAKANA.match(signs):
                yield from (signs[at : at + 3] for at in range(max(1, len(signs) - 2)))
            else:
                yield from (signs[:3], signs[:LETTERS])


@lru_cache(maxsize=32)
def _often(language: str) -> frozenset[str]:
    held = Counter(form for each in sentences(language) for form in _own_forms(each))
    often = {form for form, count in held.items() if count > IN_BACKGROUND}
    common = common_words().get(language, ())
    return frozenset(often.union(*map(word_forms, common)))


@lru_cache(maxsize=32)
def _begun(language: str) -> frozenset[str]:
    """Return the beginnings of all words of a language's background, and of its common ones."""
    words = {_folded(word) for word in common_words().get(language, ())}
    words = words.union(*map(_words, sentences(language)))
    return frozenset(word[:at] for word in words for at in range(LETTERS, len(word) + 1))


def _beginning(word: str) -> str:
    if "\uac00" <= word[0] <= "\ud7a3":
        return word[:SYLLABLES]
    if "\u0600" <= word[0] <= "\u06ff":
        return _ARTICLE.sub("", word)[:CONSONANTS]
    return (stem(word) if word.isascii() and word.isalpha() else word)[:LETTERS]


def _folded(text: str) -> str:
    if text.isascii():
        return text.lower()
    apart = unicodedata.normalize("NFKD", text.lower())
    bare = "".join(sign for sign in apart if sign in _VOICED or unicodedata.category(sign) != "Mn")
    return unicodedata.normalize("NFC", bare)
