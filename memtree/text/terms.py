"""Compute the terms of a text for BM25 and cohesion: hashed and lightly stemmed, in any language.

A word becomes the 32-bit hash of its lower-case stem; an identifier gives itself and its parts
(`getUserName`, `get_user_name` -> get, user, name); a run of script without spaces (Chinese,
Japanese, Thai ...) gives its character pairs. Only hashes are kept: statistics show no text. Stop
words are left out; common words, which name nothing and do not distinguish texts, are apart, since
stored counts depend on the stop words.

    >>> sorted(terms("parse_config failed")) == sorted(hashed(w) for w in
    ...     ("parse_config", "pars", "config", "fail"))
    True
"""

from __future__ import annotations

import re
from array import array
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping
from functools import cache, lru_cache
from itertools import chain
from math import sqrt
from sys import byteorder

import msgspec
import xxhash

from memtree.language.word_file import WordFiles

# Function words carry no topic and are half of all prose; dropping them halves the statistics.
# The last line holds the rests behind apostrophes: he'd, we'll, I'm, we're, it's, don't, I've.
STOP_WORDS = frozenset(
    """
    a an the this that these there some no not
    and but or if so than then too just
    as at by for from in into of on to up with
    i me my he him his she her it its we us our they them their you your
    are be been is was were do did does had has have can could should will would
    how what when where which who why
    d ll m re s t ve
    """.split()
)


_WORD = re.compile(r"\w+")
# Word characters of ASCII; the table is never used for other byte values.
_WORD_BYTES = bytes(
    code if chr(code).isalnum() or chr(code) == "_" else ord(" ") for code in range(128)
) + bytes(128)
_PART = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")
_UNSPACED = re.compile(r"[\u0e00-\u0eff\u1000-\u109f\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff]")
_SUFFIXES = ("ingly", "edly", "ings", "ing", "ed", "ly", "es", "s", "e")
_MEMO_LIMIT = 200_000
_MEMO_WORD = 40
_MAX_COUNT = 255
PROFILE_TERMS = 24


class _Memo(dict[str, tuple[int, ...]]):
    """Cache of the terms of short words, which recur."""

    def __missing__(self, word: str) -> tuple[int, ...]:
        hashes = tuple(hashed(form) for form in _forms(word))
        if len(word) <= _MEMO_WORD:
            if len(self) >= _MEMO_LIMIT:
                self.clear()
            self[word] = hashes
        return hashes


_memo = _Memo()


def hashed(word: str) -> int:
    """Return the term hash of a word that is already in stored form."""
    return xxhash.xxh32_intdigest(word.encode("utf-8", "surrogatepass"))


def terms(text: str) -> dict[int, int]:
    """Count the terms of a text, by term hash."""
    return dict(Counter(chain.from_iterable(map(_memo.__getitem__, words(text)))))


def words(text: str) -> list[str]:
    """Return runs of letters, digits and underscores; ASCII text takes half the pattern's time."""
    if text.isascii():
        return text.encode().translate(_WORD_BYTES).decode().split()
    return _WORD.findall(text)


def stem(word: str) -> str:
    """Return a light stem of a lower-case ASCII word, so that inflections become equal."""
    if word.endswith(("ies", "ied")) and len(word) > 4:
        return word[:-2]  # as the -y form: queries, query -> queri
    if word[-1] in "ydsge":
        for suffix in _SUFFIXES:
            if word.endswith(suffix) and len(word) - len(suffix) >= 3:
                word = word[: -len(suffix)]
                break
    if len(word) > 3 and word[-1] == word[-2] and word[-1] not in "aeiouls":
        word = word[:-1]
    return word[:-1] + "i" if len(word) > 3 and word[-1] == "y" else word


def _forms(word: str) -> list[str]:
    lower = word.lower()
    if lower in STOP_WORDS:
        return []
    if not lower.isascii():
        if _UNSPACED.search(lower):
            return [lower[at : at + 2] for at in range(max(1, len(lower) - 1))]
        return [lower]
    if lower.isalpha() and (lower == word or word.istitle() or word.isupper()):
        return [stem(lower)]
    if lower.isdigit():
        return [lower]
    parts = [part.lower() for part in _PART.findall(word)]
    whole = lower.strip("_")
    inner = [stem(part) for part in parts if len(part) > 1 and part not in STOP_WORDS]
    return [whole, *inner] if len(parts) > 1 else [stem(whole)] if whole else []


def pack(passages: Iterable[Mapping[int, int]]) -> Terms:
    """Pack the statistics of consecutive passages into stored form."""
    hashes: list[int] = []
    ends: list[int] = []
    counts, total = bytearray(), 0
    for passage in passages:
        total += len(passage)
        hashes.extend(passage)
        counts += _bytes(passage.values())
        ends.append(total)
    return Terms(_ints(hashes), bytes(counts), tuple(ends))


def unpack(packed: Terms) -> Iterator[dict[int, int]]:
    """Yield the statistics of each passage, in the order in which they were packed."""
    hashes = array("I", packed.hashes)
    if byteorder == "big":
        hashes.byteswap()
    start = 0
    for end in packed.ends:
        yield dict(zip(hashes[start:end], packed.counts[start:end], strict=True))
        start = end


def is_capped(packed: Terms) -> bool:
    """Return True if a count may have been larger than the packed value says."""
    return _MAX_COUNT in packed.counts


def profile(counts: Mapping[int, int]) -> tuple[bytes, bytes]:
    """Pack the most frequent terms; ties go to the smaller hash, for a deterministic result."""
    # One number for count and term, because numbers are sorted much faster than pairs.
    often = [(-count << 32) + term for term, count in counts.items() if count > 1]
    if len(often) < PROFILE_TERMS:  # then terms that occur once count as well
        often = [(-count << 32) + term for term, count in counts.items()]
    order = sorted(often)[:PROFILE_TERMS]
    return _ints([term & 0xFFFF_FFFF for term in order]), _bytes([-(term >> 32) for term in order])


def unprofile(packed: tuple[bytes, bytes]) -> dict[int, int]:
    hashes = memoryview(packed[0]).cast("I")
    return dict(zip(hashes, packed[1], strict=True))


def merge(many: Iterable[Mapping[int, int]]) -> dict[int, int]:
    rest = iter(many)
    total = dict(next(rest, ()))
    get = total.get
    for counts in rest:
        for term, count in counts.items():
            total[term] = get(term, 0) + count
    return total


def similarity(one: Mapping[int, int], other: Mapping[int, int]) -> float:
    """Return the cosine of square-rooted counts, 0 to 1; repeated words count less than shared
    ones."""
    if len(one) > len(other):
        one, other = other, one
    shared = sum(sqrt(count * other[term]) for term, count in one.items() if term in other)
    if not shared:
        return 0.0
    return shared / sqrt(sum(one.values()) * sum(other.values()))


def _bytes(counts: Collection[int]) -> bytes:
    try:
        return bytes(counts)
    except ValueError:  # a count is above 255
        return bytes([min(count, _MAX_COUNT) for count in counts])


def _ints(values: Iterable[int]) -> bytes:
    """Pack numbers as little-endian uint32 on any machine."""
    packed = array("I", values)
    if byteorder == "big":
        packed.byteswap()
    return packed.tobytes()


class Terms(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """Term statistics of a leaf's passages, packed: uint32 term hashes, uint8 counts, and for
    each passage where its run ends in both (in terms)."""

    hashes: bytes = b""
    counts: bytes = b""
    ends: tuple[int, ...] = ()


_COMMON = WordFiles("common_words")


@cache
def chat_words() -> frozenset[str]:
    return _COMMON.word_set("chat")


@cache
def common_words() -> frozenset[str]:
    general = (_COMMON.word_set(section) for section in ("chat", "general", "small"))
    return STOP_WORDS.union(*general)


_ENDINGS = ("ingly", "ings", "ing", "ed", "ly", "er", "est", "s")


@lru_cache(maxsize=1 << 14)  # most words of a talk recur
def is_common(word: str) -> bool:
    """Return True for a common word, also with an apostrophe or an English ending.

    >>> [is_common(word) for word in ("I'd", "guessing", "weirdest", "greyhound", "king")]
    [True, True, True, False, False]
    """
    lower = word.lower().replace("'", "").replace("’", "")
    common = common_words()
    if lower in common:
        return True
    for ending in _ENDINGS:
        base = lower.removesuffix(ending)
        if 3 <= len(base) < len(lower) and (base in common or f"{base}e" in common):
            return True
    return False
