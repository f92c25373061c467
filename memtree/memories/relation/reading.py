"""Read a text as the tokens that say something: values, words in their base form, negations.

>>> [token.key for token in read("I don't own two cats.").tokens]
['user', 'have', 'n:2', 'cat']

Before that, contractions and compounds are taken apart, and phrases put into what they mean.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from itertools import pairwise
from typing import NamedTuple

from memtree.language.languages import languages_of
from memtree.language.word_file import WordFile
from memtree.memories.relation import lexicon, other_languages, quantities
from memtree.memories.relation.lexicon import key_of, synonyms
from memtree.text.normal_form import nfc

_RAW = re.compile(
    r"[0-9]{1,3}(?:,[0-9]{3}){1,6}(?:\.[0-9]{1,9})?(?![\w,])"
    r"|\w+(?:['._:/@+&#-]+\w+)*[%°+#]*|[$€£¥%°]|[<>≤≥≠]=?|!=|[,;:&/()–—-]|[.!?。！？]"
)
_QUOTES = str.maketrans({"’": "'", "‘": "'", "`": "'", "“": '"', "”": '"'})
_INNER = re.compile(r"['._:/@+&#-]")


class Word(NamedTuple):
    lower: str
    surface: str
    capital: bool = False


def words_of(text: str) -> list[Word]:
    """Return all words and signs, in order; phrases are left as they are."""
    return list(_words(nfc(text).translate(_QUOTES)))


def _words(text: str) -> Iterator[Word]:
    for match in _RAW.finditer(text):
        raw, at = match.group(), match.end()
        lower = raw.lower()
        if raw[0] in "<>≤≥≠" or raw == "!=":
            yield Word(f"={raw}", raw)
            continue
        if raw in "-–" and text[at : at + 1].isdigit() and text[at - 2 : at - 1] in ("", " ", "("):
            yield Word("minus", raw)
            continue
        capital = raw[0].isupper()
        if other_languages.UNSPACED.search(raw):
            for kind, piece in other_languages.unspaced_words(raw):
                yield Word({"user": "user", "no": "not", "nothing": "of"}.get(kind, piece), piece)
        elif lower in lexicon.CONTRACTIONS or not (
            _INNER.search(raw) or raw[0] in "0123456789" or raw[-1] in "%°"
        ):
            for each in lexicon.CONTRACTIONS.get(lower, lower).split():
                yield Word(each, raw, capital)
        else:
            yield from _compound(raw, lower, capital)


def _compound(raw: str, lower: str, capital: bool) -> Iterator[Word]:
    if "'" in lower:
        for ending, meant in lexicon.ENDINGS.items():
            if lower.endswith(ending):
                if len(lower) > len(ending):
                    yield Word(lower[: -len(ending)], raw, capital)
                yield Word(meant, raw)
                return
        head, _, tail = lower.rpartition("'")
        if head and tail == "s":
            yield Word(head, raw[:-2], capital)
            yield Word("'s", "")
            return
        for piece in filter(None, raw.split("'")):
            yield Word(piece.lower(), piece, piece[0].isupper())
        return
    if glued := quantities.glued(lower):
        yield from (Word(part, raw) for part in glued)
        return
    head, slash, unit = lower.partition("/")
    if slash and head.isalpha() and unit in lexicon.PER:
        yield Word(head, raw[: len(head)], capital)
        yield Word("per", "/")
        yield Word(unit, raw[len(head) + 1 :])
        return
    pieces = re.split("[-/&]", raw)
    wordy = [piece.isalpha() for piece in pieces]
    splits = all(wordy) or (pieces[0].isdigit() and all(wordy[1:]))
    if len(pieces) > 1 and splits and lower not in synonyms():
        for piece in pieces:
            yield Word(piece.lower(), piece, piece[0].isupper())
    else:
        yield Word(lower.strip("+") if raw[0].isdigit() else lower, raw, capital)


def with_phrases(words: list[Word]) -> list[Word]:
    """Replace each phrase by the words that it stands for; the longest that fits counts."""
    known = _phrases()
    made: list[Word] = []
    at = 0
    while at < len(words):
        for size, meant in known.get(words[at].lower, ()):
            if [word.lower for word in words[at : at + size[0]]] == size[1] and (
                meant[-1:] != ["*"] or (at + size[0] < len(words) and words[at + size[0]].capital)
            ):
                surface = " ".join(word.surface for word in words[at : at + size[0]])
                made += [Word(each, surface, False) for each in meant if each != "*"]
                at += size[0]
                break
        else:
            made.append(words[at])
            at += 1
    return made


@cache
def _phrases() -> Mapping[str, list[tuple[tuple[int, list[str]], list[str]]]]:
    phrases: dict[str, list[tuple[tuple[int, list[str]], list[str]]]] = {}
    for line in WordFile("en", "memory_phrases").entries("phrases"):
        phrase, _, meant = line.partition(" = ")
        words = phrase.split()
        phrases.setdefault(words[0], []).append(((len(words), words), meant.split()))
    for each in phrases.values():
        each.sort(key=lambda entry: -entry[0][0])
    return phrases


_DATA = WordFile("en", "memory_wording")

COPULA, PREPOSITION, CONJUNCTION, POSSESSIVE, ARTICLE, MODAL, COMMA = 1, 2, 4, 8, 16, 32, 64
LONGEST_NAME = 6  # words of "the rate limit of the API" before "of"
_PAST_VERBS = _DATA.words("past_verbs")
_SUBJECTS = frozenset(("user", "we", "you", "they", "he", "she"))
_GENDERS = dict.fromkeys(("he", "him", "his"), "he") | dict.fromkeys(("she", "her", "hers"), "she")
_HOURS = {f"n:{hour}": f"t:{hour:02}:00" for hour in range(1, 25)}
_TITLES = frozenset("mr mrs ms dr prof st no vs".split())
_DETERMINERS = frozenset(("the", "a", "an", "this", "that"))
_EACH = frozenset(("every", "each"))
_OFTEN = frozenset("morning afternoon evening night weekend spring summer autumn winter".split())
_GO = frozenset(("go", "goes", "going", "gone", "went"))
_PREFERRED = frozenset(("answer", "example", "code"))


@dataclass(slots=True)
class Token:
    """`key`: what it says. `value`: a number, a date, a marker: never to be overlooked. `lead`:
    what was left out before it, as flags; `preposition` among it. `form`: past, does; behind a
    copula doing, done; "" for others."""

    key: str
    surface: str
    value: bool = False
    negated: bool = False
    lead: int = 0
    preposition: str = ""
    form: str = ""


class TextReading(NamedTuple):
    tokens: tuple[Token, ...]
    past: bool  # whether it tells what was
    gender: str = ""  # of the one pronoun that it has


def read(text: str) -> TextReading:
    words = words_of(text)
    english = not any(
        word.lower in other_languages.TELLING or not word.lower.isascii() for word in words
    ) or any(word.lower in ("the", "user", "my") for word in words)
    words = with_phrases(words) if english else words
    known = other_languages.synonyms(() if english else languages_of(text))
    return _Reader(words, english, known).reading()


class _Reader:
    """Reads the words of a text in one pass."""

    def __init__(self, words: list[Word], english: bool, synonyms: Mapping[str, str]) -> None:
        self._words, self._english, self._synonyms = words, english, synonyms
        self._lower = [word.lower for word in words]
        self._capitals = [word.capital and at > 0 for at, word in enumerate(words)]
        self._tokens: list[Token] = []
        self._lead, self._preposition, self._negated, self._past = 0, "", False, False
        self._starts = True  # of a sentence
        self._before = ""  # the word before a sign
        self._genders: set[str] = set()
        self._possessives: list[Token] = []  # of "my" and "the user's" in other languages

    def reading(self) -> TextReading:
        at = 0
        while at < len(self._words):
            quantity = self._quantity(at)
            if quantity is not None:
                surface = " ".join(word.surface for word in self._words[at : quantity.after])
                self._add(quantity.key, surface, value=True)
                at = quantity.after
            else:
                self._word(at)
                at += 1
        if self._negated and self._tokens:  # French and Japanese negate at the end
            if self._tokens[-1].negated:
                self._add("=not", "not", value=True)
            else:
                self._tokens[-1].negated = True
        self._tokens[:0] = self._possessives[:1]
        for token, following in pairwise(self._tokens):
            if not self._english and token.key == "like" and following.negated:
                token.negated, following.negated = True, False  # mag keinen Koriander
            if token.negated and not following.negated and token.key in lexicon.EMPTY_VERBS:
                token.negated, following.negated = False, True
        for token in self._tokens:
            if token.key == "like" and token.negated:
                token.key, token.negated = "dislike", False
        if any(token.key in _PREFERRED for token in self._tokens):
            for token in self._tokens:
                token.key = "like" if token.key == "want" else token.key
        genders = self._genders - {""}
        gender = genders.pop() if len(genders) == 1 else ""
        return TextReading(tuple(_active(_with_of(self._tokens))), self._past, gender)

    def _quantity(self, at: int) -> quantities.Quantity | None:
        lower = self._lower[at]
        if not lower[0].isalnum() and lower not in "$€£¥":
            return None
        if not self._english and lower in other_languages.NUMBERS:
            return quantities.Quantity(f"n:{other_languages.NUMBERS[lower]}", at + 1)
        quantity = quantities.quantity_at(self._lower, at, self._capitals)
        if quantity and at and self._lower[at - 1] == "at" and quantity.key in _HOURS:
            following = self._lower[quantity.after] if quantity.after < len(self._lower) else ""
            if not following[:1].isalnum() or following in lexicon.PREPOSITIONS:
                return quantities.Quantity(_HOURS[quantity.key], quantity.after)  # at six
        return quantity

    def _is_agent(self, at: int) -> bool:
        """Return True for somebody, or a time: before these "by" says something of its own."""
        if at >= len(self._words):
            return False
        word = self._words[at]
        known = word.lower in lexicon.USER or word.lower in lexicon.GHOSTS
        suffered = bool(self._tokens) and self._tokens[-1].form in ("done", "past")
        return (
            known
            or word.capital
            or (suffered and word.lower in _DETERMINERS)
            or self._quantity(at) is not None
        )

    def _is_duration(self, at: int) -> bool:
        quantity = self._quantity(at) if at < len(self._words) else None
        return quantity is not None and quantity.key.startswith(("time:", "month:"))

    def _word(self, at: int) -> None:
        word = self._words[at]
        lower = word.lower
        if not lower[0].isalnum() and lower[0] not in "='!-_$€£¥%°":
            self._before = self._lower[at - 1] if at else ""
            self._sign(lower)
        elif lower in ("!", "not") or (
            lower in lexicon.NEGATIONS if self._english else lower in other_languages.NEGATIONS
        ):
            if self._negated and self._english:  # never not late
                self._add("=not", word.surface, value=True)
            again = lower in other_languages.SECOND and self._tokens and self._tokens[-1].negated
            self._negated = self._english or not again  # ne boit pas: one negation
        elif lower == "'s":
            self._lead |= POSSESSIVE
        elif lower == "-":
            pass
        elif lower[0] == "=":
            self._marker(lower[1:], word.surface, at)
        elif not self._english:
            self._foreign_word(word, at)
        elif lower in lexicon.USER:
            lead, preposition = self._lead, self._preposition
            self._add("user", word.surface)
            if lower in ("my", "mine"):
                self._lead, self._preposition = lead | POSSESSIVE, preposition
        elif lower in lexicon.GHOSTS:
            self._genders.add(_GENDERS.get(lower, ""))
            key = lexicon.GHOSTS[lower]
            if key == "they":  # a possessive or an object: it tells nothing alone
                self._lead |= POSSESSIVE
            else:
                self._add(key, word.surface)
        elif lower in _EACH and at + 1 < len(self._words) and self._lower[at + 1] in _OFTEN:
            pass
        elif lower in lexicon.VALUES and not (word.capital and at and lower in ("may", "will")):
            if lower in lexicon.COPULAS:
                self._lead |= COPULA
            self._marker(lexicon.VALUES[lower], word.surface, at)
        elif lower in _GO and at + 1 < len(self._words) and self._lower[at + 1].endswith("ing"):
            pass
        elif lower in lexicon.FUNCTION or lower in lexicon.PREPOSITIONS:
            self._dropped(at, lower)
        else:
            self._content(word)

    def _sign(self, sign: str) -> None:
        if sign in ",;":
            self._lead |= COMMA
        elif sign in "&/":
            self._lead |= CONJUNCTION
        elif sign in ":–—":
            self._lead |= COPULA
        self._starts = sign in ".!?。！？" and self._before not in _TITLES

    def _dropped(self, at: int, lower: str) -> None:
        if lower == "and":
            self._lead |= CONJUNCTION
        elif lower in lexicon.COPULAS:
            self._lead |= COPULA
        elif lower in lexicon.ARTICLES:
            self._lead |= ARTICLE
        elif lower == "about" and at + 1 < len(self._words) and self._lower[at + 1][0].isdigit():
            self._add("about", lower)
        elif lower in lexicon.PREPOSITIONS:
            self._lead |= PREPOSITION
            self._preposition = lower

    def _marker(self, key: str, surface: str, at: int) -> None:
        following = self._lower[at + 1] if at + 1 < len(self._words) else ""
        if key == "past":
            self._past = True
        elif key == "perfect":  # has been moved: was moved; has been ill since May: is
            self._lead |= COPULA
            self._past |= following.endswith("ed") or following in _PAST_VERBS
        elif key == "or" and any(token.negated for token in self._tokens):
            self._lead |= CONJUNCTION  # neither this nor that
            self._negated = True
        elif key == "by" and not self._is_agent(at + 1):  # by bus, via email
            self._lead |= PREPOSITION
            self._preposition = "by"
        elif key == "after" and self._is_duration(at + 1):  # expires after 90 days, in 90 days
            self._lead |= PREPOSITION
        else:
            self._add(f"={key}", surface, value=True)
            if key in ("must", "should"):  # answers should be short: be short
                self._lead |= MODAL

    def _foreign_word(self, word: Word, at: int) -> None:
        lower = word.lower
        if lower in other_languages.USER or lower in lexicon.USER:
            negated, self._negated = self._negated, False  # no me gusta: what follows is denied
            self._add("user", word.surface)
            self._negated = negated
            if word.surface != "Mia" and other_languages.is_possessive(self._lower, at):
                self._possessives.append(self._tokens.pop())
        elif lower not in other_languages.FUNCTION:
            self._add(self._synonyms.get(lower, lower), word.surface)

    def _content(self, word: Word) -> None:
        lower = word.lower
        form = self._form(lower)
        subject = bool(self._tokens) and self._tokens[-1].key in _SUBJECTS and not self._lead
        if form == "past" and (subject or (self._tokens and self._tokens[-1].key == "have")):
            self._past = True
        name = word.capital and not self._starts and lower not in synonyms()
        key = lower.removesuffix("s") if name and word.surface[:-1].isupper() else lower
        key = key if name else key_of(lower)
        if self._lead & ARTICLE and not self._lead & POSSESSIVE:
            key = lexicon.AGENTS.get(key, key)  # a teacher teaches; "my teacher" is somebody
        self._add(key, word.surface, form=form)

    def _form(self, lower: str) -> str:
        if lower.endswith("ing"):
            return "doing" if self._lead & COPULA else ""
        if lower in _PAST_VERBS or (lower.endswith("ed") and len(lower) > 4):
            return "done" if self._lead & COPULA else "past"
        return "does" if lower.endswith("s") and not lower.endswith("ss") else ""

    def _add(self, key: str, surface: str, *, value: bool = False, form: str = "") -> None:
        self._tokens.append(
            Token(key, surface, value, self._negated, self._lead, self._preposition, form)
        )
        if key not in lexicon.GHOSTS.values():  # of our team: the team is what "of" belongs to
            self._lead, self._preposition = 0, ""
        self._negated, self._starts = False, False


def _with_of(tokens: list[Token]) -> list[Token]:
    """Move what follows "of" before what it belongs to: the brother of Ann is Ann's brother."""
    made: list[Token] = []
    at = 0
    while at < len(tokens):
        token = tokens[at]
        if token.preposition == "of" and made and not token.value and not made[-1].value:
            start = len(made) - 1
            while (
                start > len(made) - LONGEST_NAME
                and start
                and not made[start].lead
                and not made[start - 1].value
            ):
                start -= 1
            end = at + 1
            while end < len(tokens) and not tokens[end].lead and not tokens[end].value:
                end += 1
            moved = tokens[at:end]
            moved[0].lead, moved[0].preposition = made[start].lead, made[start].preposition
            made[start].lead, made[start].preposition = POSSESSIVE, ""
            made[start:start] = moved
            at = end
        else:
            made.append(token)
            at += 1
    return made


def _active(tokens: list[Token]) -> list[Token]:
    """Turn a passive sentence into an active one: Ann is led by Ben, Ben leads Ann. Only where the
    sentence begins with who suffers it."""
    for at, token in enumerate(tokens[1:-1], 1):
        if token.key != "=by" or not tokens[at - 1].lead & COPULA or tokens[at + 1].value:
            continue
        start, end = at - 1, at + 2
        while (
            start
            and not tokens[start - 1].lead & (PREPOSITION | COPULA)
            and (not tokens[start - 1].value)
        ):
            start -= 1
        while end < len(tokens) and not tokens[end].lead and not tokens[end].value:
            end += 1
        agent, verb, patient = tokens[at + 1 : end], tokens[at - 1], tokens[start : at - 1]
        if patient and start == 0:
            verb.lead, verb.form = 0, "does"
            return [*agent, verb, *patient, *tokens[end:]]
    return tokens
