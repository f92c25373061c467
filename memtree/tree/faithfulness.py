"""Find what a model's text says and its source does not, and orders that came through into it.

Claims: what is denied, and who said what. A rule applies only where the summary keeps a clause of
the text (they share most of their words) and says something else in it. What the summary puts in
other words is not judged; its form and language are checked in `summary_check.py`.

Numbers, names and other anchors that a summary has and its text does not. Forms may differ: 1,000
and 1000, 12k and 12,000, "three" and 3, 2023-05-08 and 8 May 2023, and a path or a name may be
given in part. What a number means is not judged, only what it counts.

    >>> list(invented_numbers("3 of 12k rows", "three of the 12,500 rows"))
    ['a number is new: 12']

Prompt injection: instructions hidden in a text that came through into its summary, and other things
that no summary says (roles, tags, tool calls, words about itself). A summary is read by a model as
part of its prompt, so a sentence in it that speaks to its reader is rejected whatever it means; the
extraction, which quotes with the speaker's name, takes its place. Only what the user said as a rule
may speak to the assistant, word for word. For this, a summary is not compared with its text.
"""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

from memtree.digests.clause import LABEL
from memtree.language.borders import DENIALS, denies
from memtree.language.day_names import ENGLISH_NAMES
from memtree.language.word_file import WordFiles, grouped, lazily
from memtree.text.anchors import weigh
from memtree.text.normal_form import nfkc

_CLAIMS = WordFiles("claims")
_claim_words = _CLAIMS.part

USER, ASSISTANT = "user", "assistant"


@dataclass(frozen=True, slots=True)
class Statement:
    """A clause, by whom (user, assistant, tool; empty: not known).

    `stems`: of its content words; `denied`: those of them next to a "not". `hedged`: it holds a
    denial or a word that may come to the same ("failed to", "avoid").
    """

    speaker: str
    text: str
    stems: frozenset[str]
    denied: frozenset[str]
    hedged: bool


_BORDER = lazily(
    lambda: (
        r"(?<=[.!?…])[\"')\]”’]*\s+|(?<=[。！？；，、])|[;\n]\s*"
        rf"|,\s+(?=(?:{_claim_words('after_commas')})\b)"
        rf"|(?<!\s)\s+(?:{_claim_words('joints')})\s+"
        rf"|\s[—–-]\s|(?=\b{LABEL})"
    )
)
_STEM = lazily(r"[぀-ヿ㐀-鿿가-힯]{2,}|[^\W\d_]{3,}|[^\W_]*\d[^\W_]*")
_DENSE = lazily("[぀-ヿ㐀-鿿가-힯]+")
_HEDGES = lazily(
    lambda: rf"\b(?:{_claim_words('hedges')})\b|{_claim_words('hedges_unspaced')}", re.IGNORECASE
)
_ROLE = lazily(r"\b(?:user|assistant)\b")
_LABEL = lazily(rf"^\s*(?:[\"'(]*)({LABEL})", re.IGNORECASE)
_SUBJECT = lazily(
    lambda: (
        r"^\s*(?:(?:then|later|and|so|also|finally|first|next|but),? )?(?:the )?(user"
        r"|assistant)(?:['’]s \w+|(?: also| then| now| later| explicitly)? "
        rf"(?:{_claim_words('subject_verbs')}))\b"
    ),
    re.IGNORECASE,
)


def statements(pieces: Iterable[tuple[str, str]]) -> list[Statement]:
    """Clauses of (speaker, text) pieces. A label ("user: ") or a subject ("The user wants") in the
    text itself says who speaks, up to the next label."""
    clauses = []
    for speaker, text in pieces:
        for clause in _BORDER.split(text):
            if not clause or not clause.strip():
                continue
            if match := _LABEL.match(clause):
                speaker = match[1].lower().rstrip(": ").partition(" ")[0]
                clause = clause[match.end() :]
            subject = _SUBJECT.match(clause)
            who = subject.group(1).lower() if subject else speaker
            stems = frozenset(stem for _, stem in _content_words(clause.lower()))
            hedged = denies(clause) or bool(_HEDGES.search(clause))
            clauses.append(Statement(who, clause, stems, frozenset(_denied(clause)), hedged))
    return clauses


def _content_words(text: str) -> Iterator[tuple[int, str]]:
    """(start, stem): the first letters of a word, each two letters of a dense script."""
    for match in _STEM.finditer(text):
        word, start = match.group(), match.start()
        if _DENSE.match(word):
            yield from ((start + at, word[at : at + 2]) for at in range(len(word) - 1))
        elif word not in _CLAIMS.word_set("stop_words"):
            yield start, word[:5]


def _denied(clause: str) -> Iterator[str]:
    """The content word after each denial, or before one at the end ("weiß ich nicht")."""
    clause = clause.lower()
    content = list(_content_words(clause))
    starts = [start for start, _ in content]
    for match in DENIALS.finditer(clause):
        after = bisect_left(starts, match.end())
        # Nothing after it: the last one that begins before it.
        at = after if after < len(starts) else bisect_left(starts, match.start()) - 1
        yield content[at][1] if at >= 0 else ""


def negations(draft: Sequence[Statement], text: Sequence[Statement]) -> Iterator[str]:
    """Clauses that the summary keeps, but with a "not" lost or added."""
    # A question neither says nor denies.
    stated = [
        clause for clause in (*text, *_pairs(text)) if clause.text.rstrip()[-1:] not in ("?", "？")
    ]
    for claim in draft:
        near = [(_kept(claim, clause), clause) for clause in stated] if len(claim.stems) > 2 else []
        closest = max((kept for kept, _ in near), default=0.0)
        if closest < 0.75:
            continue
        # Only what the summary keeps more than half of: the rest may hold what is denied.
        same = [
            clause
            for kept, clause in near
            if kept >= closest - 0.15 and 2 * _kept(clause, claim) > 1
        ]
        if same and not claim.hedged and all(clause.denied & claim.stems for clause in same):
            yield f"a denial is lost: {claim.text.strip()}"
        # Another clause of the text may deny it: look at all clauses about the same thing.
        elif any(claim.denied & clause.stems for clause in same) and not any(
            clause.hedged for kept, clause in near if kept >= 0.5
        ):
            yield f"a denial is new: {claim.text.strip()}"


def speakers(draft: Sequence[Statement], text: Sequence[Statement]) -> Iterator[str]:
    """Clauses that the summary gives to one speaker and only the other one said."""
    roles = {clause.speaker for clause in text}
    text = [*text, *_pairs(text)]
    for claim in draft:
        if claim.speaker not in (USER, ASSISTANT) or len(claim.stems) < 3 or "" in roles:
            continue
        if len(set(_ROLE.findall(claim.text.lower()))) > 1:
            continue  # "the assistant recommended Hyperion, which the user had read"
        theirs = ASSISTANT if claim.speaker == USER else USER
        by_own = [clause for clause in text if clause.speaker == claim.speaker]
        # What a tool printed is left out: the assistant reports it.
        by_other = [clause for clause in text if clause.speaker == theirs]
        own = max((_kept(claim, clause) for clause in by_own), default=0)
        other = max((_kept(claim, clause) for clause in by_other), default=0)
        own_words = frozenset().union(*(clause.stems for clause in by_own))
        sure = (other >= 0.75 and own < other - 0.4) or (other >= 0.6 and own < 0.2)
        if sure and len(claim.stems & own_words) < 0.6 * len(claim.stems):
            yield f"said by the {theirs}: {claim.text.strip()}"


def _pairs(text: Sequence[Statement]) -> Iterator[Statement]:
    """Neighbouring clauses of one speaker, joined: a summary makes one sentence of two."""
    for first, second in pairwise(text):
        if first.speaker == second.speaker:
            yield Statement(
                first.speaker,
                f"{first.text} {second.text}",
                first.stems | second.stems,
                first.denied | second.denied,
                first.hedged or second.hedged,
            )


def _kept(clause: Statement, other: Statement) -> float:
    """The share of a summary's clause that the other clause holds."""
    return len(clause.stems & other.stems) / len(clause.stems) if clause.stems else 0.0


def loops(text: str) -> str:
    """Return what a text says over and over; empty where nothing repeats."""
    if match := re.search(r"([^\s=_*#.-])\1{11,}", text):
        return match.group()[:12]
    words = re.findall(r"\w+", text.lower())
    for size, often in ((3, 6), (5, 4)):
        grams = Counter(zip(*(words[at:] for at in range(size)), strict=False))
        gram, times = grams.most_common(1)[0] if grams else ((), 0)
        if times >= often:
            return " ".join(gram)
    same = sum(word == other for word, other in pairwise(words))
    return "the same words" if len(words) > 12 and same > len(words) / 3 else ""


_DATA = WordFiles("numbers")

_NUMBER = re.compile(r"\d+(?:[.,:/'-]\d+)*")
_SCALED = re.compile(r"(?<!\d)(\d{1,12}(?:[.,]\d{1,12})?) ?([kKM])(?!\w)")


# Italian "due", Dutch "tien" and the like are words of other languages.
_WORDS = WordFiles("numbers", without=("it", "nl", "pt")).table("cardinals", "ordinals", "counts")
_CJK_DIGITS = {digit: str(at) for at, digit in enumerate("〇一二三四五六七八九十")}
_MONTHS = {name[:3].lower(): str(at) for at, name in enumerate(ENGLISH_NAMES, 1)}
_LETTERED = re.compile(r"[^\W\d_]+")
_COUNTED = re.compile(r"(?<![\w.,:/-])(\d+(?:[.,]\d+)*)[ -]([^\W\d_]{4,})")


def invented_numbers(draft: str, text: str) -> Iterator[str]:
    """Numbers that the text does not have, or has for another thing ("4 files in 7 folders")."""
    draft, text = plain(draft), plain(text)
    known = set(_values(text))
    words = set(_LETTERED.findall(text.lower()))
    known |= {_WORDS[word] for word in words if word in _WORDS}
    known |= {_MONTHS[word[:3]] for word in words if word[:3] in _MONTHS}
    known |= {_CJK_DIGITS[char] for char in text if char in _CJK_DIGITS}
    for match in _NUMBER.finditer(draft):
        number = match.group()
        if not _known(number, draft[match.end() : match.end() + 3], known):
            yield f"a number is new: {number}"
    counted = _counted(text)
    for thing, values in _counted(draft).items():
        if thing in counted and not values & counted[thing] and values <= known:
            yield f"a number counts another thing: {min(values)} {thing}"


def _known(number: str, rest: str, known: set[str]) -> bool:
    if _value(number) in known:
        return True
    if (match := _SCALED.match(number + rest)) and _scaled(*match.groups()) in known:
        return True
    if number.count(".") == 1 and not re.search(r"[,:/'-]", number):
        # 3.5 is one number, but a version or a section may be cut short: 3.5 of 3.5.1
        return any(value.startswith(number + ".") for value in known)
    parts = re.split(r"[.,:/'-]", number)
    return len(parts) > 1 and all(_value(part) in known for part in parts)


def _values(text: str) -> Iterator[str]:
    for match in _NUMBER.finditer(text):
        yield _value(match.group())
        parts = re.split(r"[,:/'-]", match.group())
        if len(parts) > 1 and not re.fullmatch(r"\d{1,3}(?:,\d{3})+(?:\.\d+)?", match.group()):
            yield from map(_value, parts)
        if match.group().count(".") > 1:
            yield from map(_value, match.group().split("."))
    for match in _SCALED.finditer(text):
        yield _scaled(match.group(1), match.group(2))


def _value(number: str) -> str:
    """One form for 1,000 and 1000, for 05 and 5, for 2.50 and 2.5."""
    if re.fullmatch(r"\d{1,3}(?:[,'.]\d{3})+", number) and not re.fullmatch(r"0[.,]\d+", number):
        number = re.sub(r"[,'.]", "", number)
    elif re.fullmatch(r"\d{1,3}(?:,\d{3})+\.\d+", number):
        number = number.replace(",", "")
    elif re.fullmatch(r"\d+,\d+", number):
        number = number.replace(",", ".")
    if re.fullmatch(r"\d+\.\d*0", number):
        number = number.rstrip("0").rstrip(".")
    return number.lstrip("0") or "0" if number.isdigit() else number


def _scaled(number: str, unit: str) -> str:
    value = float(number.replace(",", "."))
    return str(round(value * (1_000 if unit in "kK" else 1_000_000)))


def _counted(text: str) -> dict[str, set[str]]:
    """Return the numbers that stand before each word."""
    counted: dict[str, set[str]] = {}
    for match in _COUNTED.finditer(text):
        counted.setdefault(match.group(2).lower().rstrip("s"), set()).add(_value(match.group(1)))
    return counted


_PARTS = re.compile(r"[^\W_]+(?:['’][^\W_]+)?")


_ADDRESS = re.compile(r"(?<![\w.+-])[\w.+-]+@[\w-]+(?:\.[\w-]+)+")  # of mail
_QUOTED_END = re.compile(r"([.!?])[\"'”»)]+\s")


def invented_anchors(draft: str, text: str, names: bool = True) -> Iterator[str]:
    """Anchors (paths, identifiers, dates, names) of the summary that the text does not have.

    `names`: look for proper nouns too. Not of use where every noun is written with a capital.
    """
    draft, text = plain(draft), plain(text).lower()
    words = {word.removesuffix("'s") for word in _PARTS.findall(text.replace("’", "'"))}
    for anchor in _ADDRESS.findall(draft):
        if anchor.lower() not in text:
            yield anchor
    draft = _QUOTED_END.sub(r"\1 ", draft)  # or a sentence's first word passes for a name
    for anchor in weigh(draft, prose=names):
        low = anchor.lower().replace("’", "'").rstrip(".,;:!?")
        if low in text or low.isdigit():  # digits alone are judged as numbers
            continue
        if all(part.replace("'", "").isalpha() for part in low.split()):  # words alone
            if not _in_text(low, words):
                yield anchor
        elif not _several(low, words):
            yield anchor


def _in_text(name: str, words: set[str]) -> bool:
    """Return True if the text has every word of a name, in whatever form: "Swedish" of "Sweden"."""
    for part in name.split():
        part = part.removesuffix("'s")
        stem = part[: max(4, len(part) - 3)]
        if part in _DATA.word_set("capitals") or part in words or len(part) < 3:
            continue
        if not any(
            word.startswith(stem) or (part.startswith(word) and len(word) > 3) for word in words
        ):
            return False
    return True


def _several(anchor: str, words: set[str]) -> bool:
    """Worded dates and amounts ("8 May 2023") are known when every word of them is."""
    return " " in anchor and all(
        part in words or part in _DATA.word_set("capitals") or part.isdigit()
        for part in _PARTS.findall(anchor)
    )


def plain(text: str) -> str:
    """Compatibility forms and foreign digits as the usual ones."""
    text = nfkc(text)
    if text.isascii():
        return text
    return "".join(
        str(unicodedata.digit(char)) if char.isdigit() and not char.isascii() else char
        for char in text
    )


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
