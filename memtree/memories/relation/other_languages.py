"""Tell what the commonest words of other languages are: nothing, the user, a negation."""

from __future__ import annotations

import re
from functools import lru_cache
from posixpath import commonprefix

from memtree.language.word_file import WordFiles, at_first_use

_OTHERS = ("all", "en")
_DATA = WordFiles("memory_wording", without=_OTHERS)
# Telling words: a text with one of them, or with letters beyond ASCII, is not read as English.
TELLING: frozenset[str]
FUNCTION: frozenset[str]
USER: frozenset[str]
# Words of which something is: "mein", and what stands before the user in "del usuario".
POSSESSIVE = _DATA.words("possessive")
OF = _DATA.words("of")
_ARTICLES = WordFiles("memory_wording", without=("all",)).words("articles_after_of")
NEGATIONS: frozenset[str]
SECOND: frozenset[str]  # behind "ne" and its verb
NUMBERS: dict[str, str]
_ENDINGS = _DATA.words("verb_endings")
__getattr__ = at_first_use(
    globals(),
    {
        "TELLING": lambda: frozenset(_DATA.words("telling")),
        "FUNCTION": lambda: frozenset(_DATA.words("function")),
        "USER": lambda: frozenset(_DATA.words("user")),
        "NEGATIONS": lambda: frozenset(_DATA.words("negations")),
        "SECOND": lambda: frozenset(_DATA.words("second_negations")),
        "NUMBERS": lambda: dict(WordFiles("numbers", without=_OTHERS).table("cardinals")),
    },
)
_LEAST = 3  # letters that two forms share

# Scripts without spaces: what is a word of its own, then single characters.
UNSPACED = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff\u0e00-\u0eff\u1000-\u109f]")
_UNSPACED_WORD = re.compile(
    r"(?P<user>用户|使用者|ユーザー|ユーザ|利用者|我们|我|私|僕|俺)"
    r"|(?P<no>不是|没有|沒有|不|没|沒|無|无|别|勿|ありません|ません|ない|なく)"
    r"|(?P<nothing>です|ます|でした|ました|しています|している|ています|ている|います|いる|あります|では"
    r"|じゃ|の|は|が|を|に|で|と|も|的|了|是|在|很|有|着|呢|吗)"
    r"|(?P<number>[0-9０-９]+)|(?P<latin>[A-Za-z]+)|(?P<other>[\s\S])"
)


def unspaced_words(run: str) -> list[tuple[str, str]]:
    """Return (kind, text) of the words of a run without spaces: `user`, `no`, `nothing`, `number`,
    `latin`, `other`."""
    return [(match.lastgroup or "", match.group()) for match in _UNSPACED_WORD.finditer(run)]


def is_possessive(lower: list[str], at: int) -> bool:
    """Return True if the word at `at` says that something is the user's: mein Hund, el perro del
    usuario."""
    if lower[at] in POSSESSIVE:
        return True
    before = at - 1 - (at > 1 and lower[at - 1] in _ARTICLES and lower[at - 2] in OF)
    return before >= 0 and lower[before] in OF


@lru_cache(maxsize=64)
def synonyms(languages: tuple[str, ...]) -> dict[str, str]:
    """Return the words of any of these languages that others stand for, by each of the others."""
    if not languages:
        return {}
    lines = map(
        str.split, WordFiles("memory_wording", languages, without=_OTHERS).entries("synonyms")
    )
    return {word: line[0] for line in lines for word in line[1:]}


def same_verb(one: str, other: str) -> bool:
    """Return True if two words in lower case are forms of one verb: wohne, wohnt."""
    size = len(commonprefix((one, other)))
    one, other = one[size:], other[size:]
    return size >= _LEAST and not _ENDINGS.isdisjoint((f"{one}-{other}", f"{other}-{one}"))
