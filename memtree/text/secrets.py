"""Find and mask secrets in text.

Secrets are API keys of known vendors, JSON web tokens, PEM private keys, the password in a
connection string, and high-entropy tokens next to words like key, secret, token, password. UUIDs,
hashes, git ids, identifiers, paths, placeholders and references (`$VAR`) are no secrets. What
happens to a text that holds a secret is decided by the callers.

    >>> mask("export GITHUB_TOKEN=ghp_" + "a1B2c3" * 6)
    'export GITHUB_TOKEN=[secret]'
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache

from memtree.language.word_file import WordFiles

_DATA = WordFiles("secrets")

MASK = "[secret]"
OPENAI_LEAST = 23  # characters, `sk-` among them


@dataclass(frozen=True, slots=True)
class Secret:
    """Secret at `text[start:end]`, in characters. `kind` names the vendor or the form."""

    kind: str
    start: int
    end: int


# A key is a long run with digits. This pattern decides, at over 80 MB/s, if the others are tried at
# all; each of them is tried only at its literal beginning.
_RUN = re.compile(r"[A-Za-z0-9_-]{16,}")
_DIGIT = re.compile(r"[0-9]")


@cache
def _vendors() -> tuple[tuple[str, str, re.Pattern[str]], ...]:
    """Return (kind, beginning, pattern) for every beginning of a vendor's key."""
    read: list[tuple[str, str, re.Pattern[str]]] = []
    for kind, *literals, pattern in map(str.split, _DATA.entries("vendors")):
        key = pattern.replace("{openai_least}", str(OPENAI_LEAST))
        whole = re.compile(rf"{key}(?![A-Za-z0-9])")
        read += ((kind.replace("_", " "), literal, whole) for literal in literals)
    return tuple(read)


_SEGMENT = re.compile(r"[A-Za-z0-9_-]+")
# An unclosed block ends with its last base64 line: leaves and clipped logs split keys.
_PEM = re.compile(
    r"-----BEGIN (?:[A-Z0-9]+ )*PRIVATE KEY(?: BLOCK)?-----"
    r"(?:(?:(?!-----)[\s\S]){0,20000}?-----END (?:[A-Z0-9]+ )*PRIVATE KEY(?: BLOCK)?-----"
    r"|(?:\s+[A-Za-z0-9+/=]{16,})*)"
)
_CONNECTION = re.compile(r"://[^\s:/@'\"`<>]{0,80}:([^\s@/'\"`<>]{1,200})@(?=[\w\[$])")
_PLACEHOLDER = re.compile(
    r"^[$%<{\[*]|\$\{|\*{3}|x{3,}|\.{3}|…"
    r"|^(?:your|my|the|some|pass(?:word|wd)?|pwd|secrets?|changeme|example|redacted|tokens?|"
    r"keys?)\b",
    re.IGNORECASE,
)
_PLACEHOLDER_REACH = 16  # characters of a value that are tested for a placeholder
_WORDS = ("key", "secret", "token", "passw", "pwd", "bearer", "credential", "auth")
_LONG = re.compile(r"\S{8}")
_NAMED = re.compile(
    r"(?:key|secret|token|passw(?:or)?d|passphrase|pwd|bearer|credentials?|auth(?:orization)?)"
    r"[\"'`]?(?:\s(?:for|of|to)\s[\w.' -]{1,40}?)?"
    r"(?:\s{0,3}(?:=>|:=|[:=])\s{0,3}|\s{1,2}(?:is\s{1,2}|bearer\s{1,2})?)"
    r"(?:bearer\s{1,2}|basic\s{1,2})?[\"'`]?([A-Za-z0-9_+/=.~!@#$%^&*-]{8})",
    re.IGNORECASE,
)
_VALUE = re.compile(r"[A-Za-z0-9_+/=.~!@#$%^&*-]+", re.IGNORECASE)
_HEX = re.compile(r"(?:sha\d+[-:])?(?:0x)?[0-9a-fA-F]+")
_UUID = re.compile(r"[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}")
_FIRST, _MORE, _END = (
    r"[A-Za-z]+\d{0,4}",
    r"(?:[._/@:=+-]+(?:[A-Za-z]+\d{0,4}|\d{1,6}))*",
    r"[._/=-]*",
)
_NAME, _NAME_BEGUN = re.compile(_FIRST + _MORE + _END), re.compile(_FIRST + _MORE)
_NAME_ENDED, _NAME_CONTINUED = re.compile(_MORE + _END), re.compile(_MORE)


def mask(text: str) -> str:
    """Replace every secret in a text by `[secret]`."""
    matches = find(text)
    if not matches:
        return text
    pieces: list[str] = []
    at = 0
    for secret in matches:
        pieces += (text[at : secret.start], MASK)
        at = secret.end
    return "".join(pieces) + text[at:]


def find(text: str) -> tuple[Secret, ...]:
    """Return the secrets in `text`, left to right; of overlapping ones the earlier, then longer."""
    if not _LONG.search(text):
        return ()
    matches = [*_vendor_keys(text), *_blocks(text), *_named(text)]
    if len(matches) < 2:
        return tuple(matches)
    matches.sort(key=lambda secret: (secret.start, -secret.end))
    kept: list[Secret] = []
    for secret in matches:
        if not kept or secret.start >= kept[-1].end:
            kept.append(secret)
        elif secret.end > kept[-1].end:
            kept[-1] = Secret(kept[-1].kind, kept[-1].start, secret.end)
    return tuple(kept)


def _vendor_keys(text: str) -> Iterator[Secret]:
    keyed = any(_DIGIT.search(run) for run in _RUN.findall(text))
    if not keyed and "AKIA" not in text and "ASIA" not in text:  # such keys may lack digits
        return
    nested = _DATA.word_set("nested")
    for kind, literal, pattern in _vendors():
        if literal not in text:
            continue
        if kind == "openai":
            yield from _openai_keys(text)
        elif kind == "jwt":
            yield from _web_tokens(text, pattern)
        else:
            end = 0
            for at in _beginnings(text, literal):
                # A key that contains its own beginning is a single key, and is read once.
                alone = at >= end or literal not in nested
                if alone and (match := pattern.match(text, at)):
                    end = match.end()
                    yield Secret(kind, at, end)


def _openai_keys(text: str) -> Iterator[Secret]:
    for group, end in _by_run(text, _beginnings(text, "sk-"), _SEGMENT):
        long = [at for at in group if end - at >= OPENAI_LEAST]
        if long and (dense := min(_dense(text, long, end), default=-1)) >= 0:
            yield Secret("openai", dense, end)


def _web_tokens(text: str, pattern: re.Pattern[str]) -> Iterator[Secret]:
    """Yield JSON web tokens. A beginning inside a token ends with that token, unless it stands in
    the last two segments; likewise a beginning within another beginning's segment."""
    done = 0
    for at in _beginnings(text, "eyJ"):
        if at < done:
            continue
        segment = _SEGMENT.match(text, at)
        done = segment.end() if segment else at
        if match := pattern.match(text, at):
            yield Secret("jwt", at, match.end())
            last = text.rfind(".", at, match.end())
            done = max(done, text.rfind(".", at, last) + 1)


def _beginnings(text: str, literal: str) -> Iterator[int]:
    """Yield the positions of a literal that is not the end of a longer word."""
    for at in _places(text, (literal,)):
        if not at or literal == ":AA" or not text[at - 1].isalnum():
            yield at


def _blocks(text: str) -> Iterator[Secret]:
    if "-----BEGIN" in text:
        for match in _PEM.finditer(text):
            yield Secret("private key", *match.span())
    if "://" in text and "@" in text:
        for match in _CONNECTION.finditer(text):
            if not _PLACEHOLDER.search(match.group(1)):
                yield Secret("password", *match.span(1))


def _named(text: str) -> Iterator[Secret]:
    lower = text.lower()
    if len(lower) != len(text):  # lower case lengthens a few letters; positions must not shift
        lower = text
    starts = {m.start(1) for at in _places(lower, _WORDS) if (m := _NAMED.match(text, at))}
    for group, end in _by_run(text, sorted(starts), _VALUE):
        while text[end - 1] in ".,;:!?" and end > group[0]:
            end -= 1
        long = [start for start in group if end - start >= 12]
        if long and (start := _leftmost_random(text, long, end)) >= 0:
            yield Secret("named", start, end)


def _by_run(
    text: str, starts: Iterable[int], characters: re.Pattern[str]
) -> Iterator[tuple[list[int], int]]:
    """Group ascending `starts` by their run of `characters`, with the end of each run: a run may
    hold thousands of starts, whose values all end at the same place."""
    group: list[int] = []
    end = 0
    for start in starts:
        if start >= end:
            if group:
                yield group, end
            match = characters.match(text, start)
            group, end = [], match.end() if match else start
        group.append(start)
    if group:
        yield group, end


def _places(text: str, words: Iterable[str]) -> Iterator[int]:
    """Yield the positions of each of `words`; `find` is ten times faster than a pattern here."""
    for word in words:
        at = text.find(word)
        while at >= 0:
            yield at
            at = text.find(word, at + 1)


def _leftmost_random(text: str, starts: list[int], end: int) -> int:
    """Return the start of the longest random value up to `end` that is no name, path, hash or
    placeholder; -1 if there is none."""
    names = _names(text, starts, end)
    dots = text.rfind("...", starts[0], end)
    return min(
        (
            start
            for start in _dense(text, starts, end)
            if start > dots
            and start not in names
            and not _HEX.fullmatch(text, start, end)
            and not _UUID.fullmatch(text, start, end)
            and not _PLACEHOLDER.match(text[start : min(end, start + _PLACEHOLDER_REACH)])
        ),
        default=-1,
    )


def _names(text: str, starts: list[int], end: int) -> set[int]:
    """Return the `starts` from which the text up to `end` is a name or a path. Reads from the
    right, each piece once: all but the last end with a letter, and with the `=` before the next
    start."""
    names: set[int] = set()
    last = starts[-1]
    if _NAME.fullmatch(text, last, end):
        names.add(last)
    goes_on = len(starts) > 1 and _NAME_ENDED.fullmatch(text, last - 1, end) is not None
    for start, following in zip(starts[-2::-1], starts[:0:-1], strict=True):
        if not goes_on:
            break
        if _NAME_BEGUN.fullmatch(text, start, following - 1):
            names.add(start)
        goes_on = _NAME_CONTINUED.fullmatch(text, max(0, start - 1), following - 1) is not None
    return names


def _dense(text: str, starts: list[int], end: int) -> Iterator[int]:
    """Yield the `starts` from which the text up to `end` mixes digits and letters, with an entropy
    near that of random base64 of this length. Reads from the right, each character once."""
    counts: Counter[str] = Counter()
    digits, behind = 0, end
    for start in reversed(starts):
        piece = text[start:behind]
        behind = start
        counts.update(piece)
        digits += sum(map(str.isdigit, piece))
        size = end - start
        if not digits or digits == size:
            continue
        entropy = -sum(n / size * math.log2(n / size) for n in counts.values())
        # Random base62 of 12 to 40 characters has 3.4 to 4.9 bits a character; names have about 3.
        if entropy >= min(3.0 + (size - 12) * 0.02, 3.6):
            yield start
