"""Secrets in text: where they are, and the text without them.

Found: API keys of known vendors, JSON web tokens, PEM private keys, the password in a connection
string, and high-entropy tokens next to words like key, secret, token, password.
Not secrets: UUIDs, hashes, git ids, identifiers, paths, placeholders, references (`$VAR`).
What this file does not do: decide what happens to a text that holds one.

    >>> mask("export GITHUB_TOKEN=ghp_" + "a1B2c3" * 6)
    'export GITHUB_TOKEN=[secret]'
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

MASK = "[secret]"


@dataclass(frozen=True, slots=True)
class Secret:
    """One secret: `text[start:end]`, in characters. `kind` names the vendor or the form."""

    kind: str
    start: int
    end: int


# A key is a long run with digits in it. This one pattern decides, at over 80 MB/s, whether the
# others are tried at all; and each of those only where its literal beginning stands.
_RUN = re.compile(r"[A-Za-z0-9_-]{16,}")
_DIGIT = re.compile(r"[0-9]")
_VENDORS: tuple[tuple[str, str, re.Pattern[str]], ...] = tuple(
    (kind, literal, re.compile(rf"{pattern}(?![A-Za-z0-9])"))
    for kind, literals, pattern in (
        ("anthropic", ("sk-ant-",), r"sk-ant-[A-Za-z0-9_-]{20,}"),
        ("openai", ("sk-",), r"sk-(?:proj-|svcacct-|admin-|or-v1-)?[A-Za-z0-9_-]{20,}"),
        ("stripe", ("sk_", "rk_", "pk_"), r"[srp]k_(?:live|test)_[A-Za-z0-9]{16,}"),
        ("stripe", ("whsec_",), r"whsec_[A-Za-z0-9+/=]{24,}"),
        ("aws", ("AKIA", "ASIA"), r"A[KS]IA[A-Z0-9]{16}"),
        ("github", ("ghp_", "gho_", "ghu_", "ghs_", "ghr_"), r"gh[pousr]_[A-Za-z0-9]{30,}"),
        ("github", ("github_pat_",), r"github_pat_[A-Za-z0-9_]{22,}"),
        ("gitlab", ("glpat-",), r"glpat-[A-Za-z0-9_.-]{18,}"),
        ("slack", ("xox", "xapp-"), r"(?:xox[abeoprs]|xapp)-[A-Za-z0-9-]{10,}"),
        ("slack", ("hooks.slack.com/",), r"hooks\.slack\.com/services/T\w+/B\w+/\w{16,}"),
        ("google", ("AIza",), r"AIza[A-Za-z0-9_-]{35}"),
        ("google", ("ya29.",), r"ya29\.[A-Za-z0-9_-]{20,}"),
        ("google", ("GOCSPX-",), r"GOCSPX-[A-Za-z0-9_-]{20,}"),
        ("npm", ("npm_",), r"npm_[A-Za-z0-9]{36}"),
        ("pypi", ("pypi-",), r"pypi-[A-Za-z0-9_-]{50,}"),
        ("huggingface", ("hf_",), r"hf_[A-Za-z0-9]{30,}"),
        ("twilio", ("SK", "AC"), r"(?:SK|AC)[0-9a-f]{32}"),
        ("sendgrid", ("SG.",), r"SG\.[A-Za-z0-9_-]{16,}\.[A-Za-z0-9_-]{16,}"),
        ("digitalocean", ("dop_v1_", "doo_v1_", "dor_v1_"), r"do[opr]_v1_[0-9a-f]{64}"),
        ("groq", ("gsk_",), r"gsk_[A-Za-z0-9]{40,}"),
        ("xai", ("xai-",), r"xai-[A-Za-z0-9]{40,}"),
        ("replicate", ("r8_",), r"r8_[A-Za-z0-9]{30,}"),
        ("telegram", (":AA",), r":AA[A-Za-z0-9_-]{32,34}"),
        (
            "jwt",
            ("eyJ",),
            r"eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}(?:\.[A-Za-z0-9_-]*)?(?:\.[A-Za-z0-9_-]+)*",
        ),
    )
    for literal in literals
)
# An unclosed block ends with its last base64 line: leaves and clipped logs cut keys in two.
_PEM = re.compile(
    r"-----BEGIN (?:[A-Z0-9]+ )*PRIVATE KEY(?: BLOCK)?-----"
    r"(?:(?:(?!-----)[\s\S]){0,20000}?-----END (?:[A-Z0-9]+ )*PRIVATE KEY(?: BLOCK)?-----"
    r"|(?:\s+[A-Za-z0-9+/=]{16,})*)"
)
_CONNECTION = re.compile(r"://[^\s:/@'\"`<>]{0,80}:([^\s@/'\"`<>]{1,200})@(?=[\w\[$])")
_PLACEHOLDER = re.compile(
    r"[$%<{\[*]|x{3,}|\.{3}|…"
    r"|^(?:your|my|the|some|pass(?:word|wd)?|pwd|secrets?|changeme|example|redacted|tokens?|"
    r"keys?)\b",
    re.IGNORECASE,
)
_WORDS = ("key", "secret", "token", "passw", "pwd", "bearer", "credential", "auth")
_LONG = re.compile(r"\S{8}")
_NAMED = re.compile(
    r"(?:key|secret|token|passw(?:or)?d|passphrase|pwd|bearer|credentials?|auth(?:orization)?)"
    r"[\"'`]?(?:\s{0,3}(?:=>|:=|[:=])\s{0,3}|\s{1,2}(?:is\s{1,2}|bearer\s{1,2})?)"
    r"(?:bearer\s{1,2}|basic\s{1,2})?([\"'`]?)([A-Za-z0-9_+/=.~!@#$%^&*-]{8,})",
    re.IGNORECASE,
)
_HEX = re.compile(r"(?:sha\d+[-:])?(?:0x)?[0-9a-fA-F]+")
_UUID = re.compile(r"[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}")
_NAME = re.compile(r"[A-Za-z]+\d{0,4}(?:[._/@:=+-]+(?:[A-Za-z]+\d{0,4}|\d{1,6}))*[._/=-]*")


def mask(text: str) -> str:
    """`text` with every secret replaced by `[secret]`."""
    found = find(text)
    if not found:
        return text
    pieces: list[str] = []
    at = 0
    for secret in found:
        pieces += (text[at : secret.start], MASK)
        at = secret.end
    return "".join(pieces) + text[at:]


def find(text: str) -> tuple[Secret, ...]:
    """Every secret in `text`, left to right, none overlapping (the earlier, then longer, wins)."""
    if not _LONG.search(text):
        return ()
    found = [*_vendor_keys(text), *_blocks(text), *_named(text)]
    if len(found) < 2:
        return tuple(found)
    found.sort(key=lambda secret: (secret.start, -secret.end))
    kept: list[Secret] = []
    for secret in found:
        if not kept or secret.start >= kept[-1].end:
            kept.append(secret)
        elif secret.end > kept[-1].end:
            kept[-1] = Secret(kept[-1].kind, kept[-1].start, secret.end)
    return tuple(kept)


def _vendor_keys(text: str) -> Iterator[Secret]:
    if not any(_DIGIT.search(run) for run in _RUN.findall(text)):
        return
    for kind, literal, pattern in _VENDORS:
        for at in _places(text, (literal,)):
            if at and text[at - 1].isalnum() and literal != ":AA":
                continue
            match = pattern.match(text, at)
            if match and (kind != "openai" or _is_dense(match.group())):
                yield Secret(kind, *match.span())


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
    if len(lower) != len(text):  # a few letters grow; positions must not shift
        lower = text
    for at in _places(lower, _WORDS):
        if match := _NAMED.match(text, at):
            start = match.start(2)
            value = match.group(2).rstrip(".,;:!?")
            if _is_random(value):
                yield Secret("named", start, start + len(value))


def _places(text: str, words: Iterable[str]) -> Iterator[int]:
    """Where each of `words` begins: `find` is ten times faster than a pattern here."""
    for word in words:
        at = text.find(word)
        while at >= 0:
            yield at
            at = text.find(word, at + 1)


def _is_random(value: str) -> bool:
    """A value that somebody generated, and neither a name, a path, a hash nor a placeholder."""
    if len(value) < 12 or _HEX.fullmatch(value) or _UUID.fullmatch(value):
        return False
    if _NAME.fullmatch(value) or _PLACEHOLDER.match(value) or "..." in value:
        return False
    return _is_dense(value)


def _is_dense(value: str) -> bool:
    """Digits among letters, and entropy near that of random base64 of this length."""
    digits = sum(map(str.isdigit, value))
    if not digits or digits == len(value):
        return False
    size = len(value)
    entropy = -sum(n / size * math.log2(n / size) for n in Counter(value).values())
    # Random base62 of 12 to 40 characters has 3.4 to 4.9 bits a character; names have about 3.
    return entropy >= min(3.0 + (size - 12) * 0.02, 3.6)
