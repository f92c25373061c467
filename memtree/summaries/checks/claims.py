"""What a summary claims, against the text: what is denied in it, and who said what.

Every rule is one-sided: it speaks only where the summary keeps a clause of the text (they share
most of their words) and says something else in it. What is told in other words is not judged.
What this file does not do: numbers and names (`figures.py`); form and language (`checking.py`).
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

USER, ASSISTANT = "user", "assistant"


@dataclass(frozen=True, slots=True)
class Statement:
    """A clause: who said it (user, assistant, tool, or empty: not known), its text, the stems of
    its telling words, those that a "not" stands next to, and whether it denies, or says what may
    come to the same ("failed to", "avoid")."""

    speaker: str
    text: str
    stems: frozenset[str]
    denied: frozenset[str]
    denies: bool
    softly: bool


_BORDER = re.compile(
    r"(?<=[.!?…])[\"')\]”’]*\s+|(?<=[。！？；，、])|[;\n]\s*"
    r"|,\s+(?=(?:but|and|so|because|my|i|he|she|it|we|they|you|the|this|aber|und|ich|wir|sie|es|"
    r"mais|je|il|elle|pero|но|а|я|он|она|это)\b)"
    r"|(?<!\s)\s+(?:but|because|aber|weil|mais|pero|porque|но)\s+|\s[—–-]\s"
    r"|(?=\b(?:user|assistant|tool): )"
)
_STEM = re.compile(r"[぀-ヿ㐀-鿿가-힯]{2,}|[^\W\d_]{3,}|[^\W_]*\d[^\W_]*")
_DENSE = re.compile("[぀-ヿ㐀-鿿가-힯]+")
_EMPTY = frozenset(
    """
    the and for that this with but from into out about also any all just than then
    was were are has had have been will would can could should does did done
    you your she her his him they them their its our
    who what when which how why where there here
    user assistant tool asked asks wants wanted said says told
    not nor never without cannot don doesn didn isn wasn won aren weren hasn haven hadn
    couldn wouldn shouldn
    der die das und ist nicht ein eine mit auf für
    les des est une pas que qui dans pour
    los las una por con para
    не что это как
    """.split()
)
_DENIES = re.compile(
    r"\b(?:not|never|no|none|nothing|nobody|nor|neither|cannot|without|\w+n['’]t|"
    r"nicht|kein\w*|nie|niemals|nichts|ohne|pas|jamais|sans|aucune?|rien|nunca|sin|"
    r"ningun[oa]?|tampoco|nada|non|mai|senza|não|nem|niet|geen|zonder|"
    r"не|нет|ни|без|никогда|нельзя)\b|不|没|沒|未|無|无|别|ない|ません|なかった|ず[にが、。]"
    r"|안 |못|없|않|말고"
    r"|لا |لم |ليس|नहीं|मत ",
    re.IGNORECASE,
)
_SOFT = re.compile(
    r"\b(?:avoid\w*|refus\w*|reject\w*|fail\w*|unable|un\w{4,}|lack\w*|stop\w*|skip\w*|omit\w*|"
    r"leav\w+|left|instead|rather|except|forb\w+|prohibit\w*|prevent\w*|miss\w*|remov\w*|drop\w*|"
    r"disab\w*|lost|loses?|declin\w*|exclud\w*|against|hardly|until|unless|few|little|"
    r"false|wrong|zero|deny|denie[sd]|statt|kaum|weder|ni|solo|только|вместо|in\w{2,}ible|"
    r"dis\w{4,}|im\w{3,}le)\b|n't|避|拒|禁|失败|失敗",
    re.IGNORECASE,
)
_ROLE = re.compile(r"\b(?:user|assistant)\b")
_LABEL = re.compile(r"^\s*(?:[\"'(]*)(user|assistant|tool): ", re.IGNORECASE)
_SUBJECT = re.compile(
    r"^\s*(?:(?:then|later|and|so|also|finally|first|next|but),? )?(?:the )?(user|assistant)"
    r"(?:['’]s \w+|(?: also| then| now| later| explicitly)? "
    r"(?:asks?|asked|wants?|wanted|says?|said|tells?|told|requests?|requested|prefers?|preferred|"
    r"needs?|needed|decid\w+|chose|insist\w*|demand\w*|forb\w+|proposed?|proposes|suggest\w*|"
    r"recommend\w*|found|fixed|explain\w*|report\w*|stat\w+|mention\w*|is|was|has|had|likes?|"
    r"liked|plans?|planned|bought|made|did|does|will|must|can|hands?|\w+ed))\b",
    re.IGNORECASE,
)


def said(pieces: Iterable[tuple[str, str]]) -> list[Statement]:
    """Clauses of (speaker, text) pieces. A label ("user: ") or a subject ("The user wants") in the
    text itself says who speaks, up to the next label."""
    found = []
    for speaker, text in pieces:
        for clause in _BORDER.split(text):
            if not clause or not clause.strip():
                continue
            if match := _LABEL.match(clause):
                speaker = match.group(1).lower()
                clause = clause[match.end() :]
            subject = _SUBJECT.match(clause)
            who = subject.group(1).lower() if subject else speaker
            stems = frozenset(_stems(clause))
            denies = bool(_DENIES.search(clause))
            softly = denies or bool(_SOFT.search(clause))
            found.append(Statement(who, clause, stems, frozenset(_denied(clause)), denies, softly))
    return found


def _stems(text: str) -> Iterator[str]:
    return (stem for _, stem in _telling(text.lower()))


def _telling(text: str) -> Iterator[tuple[int, str]]:
    """(start, stem): the first letters of a word, each two letters of a dense script."""
    for match in _STEM.finditer(text):
        word, start = match.group(), match.start()
        if _DENSE.match(word):
            yield from ((start + at, word[at : at + 2]) for at in range(len(word) - 1))
        elif word not in _EMPTY:
            yield start, word[:5]


def _denied(clause: str) -> Iterator[str]:
    """The telling word behind each denial, or before one at the end ("weiß ich nicht")."""
    clause = clause.lower()
    telling = list(_telling(clause))
    starts = [start for start, _ in telling]
    for match in _DENIES.finditer(clause):
        behind = bisect_left(starts, match.end())
        # None behind it: the last one that begins before it.
        at = behind if behind < len(starts) else bisect_left(starts, match.start()) - 1
        yield telling[at][1] if at >= 0 else ""


def negations(draft: Sequence[Statement], text: Sequence[Statement]) -> Iterator[str]:
    """Clauses that the summary keeps but for a "not", or with one more."""
    # A question neither says nor denies.
    wide = [one for one in (*text, *_pairs(text)) if one.text.rstrip()[-1:] not in ("?", "？")]
    for one in draft:
        near = [(_kept(one, other), other) for other in wide] if len(one.stems) > 2 else []
        closest = max((kept for kept, _ in near), default=0.0)
        if closest < 0.75:
            continue
        # Only what the summary keeps more than half of: the rest may hold what is denied.
        same = [o for kept, o in near if kept >= closest - 0.15 and 2 * _kept(o, one) > 1]
        if same and not one.softly and all(other.denied & one.stems for other in same):
            yield f"a denial is lost: {one.text.strip()}"
        # It may be another clause of the text that denies: look at all that is told of the same.
        elif any(one.denied & other.stems for other in same) and not any(
            other.softly for kept, other in near if kept >= 0.5
        ):
            yield f"a denial is new: {one.text.strip()}"


def speakers(draft: Sequence[Statement], text: Sequence[Statement]) -> Iterator[str]:
    """Clauses given to one speaker that only the other one said."""
    roles = {other.speaker for other in text}
    text = [*text, *_pairs(text)]
    for one in draft:
        if one.speaker not in (USER, ASSISTANT) or len(one.stems) < 3 or "" in roles:
            continue
        if len(set(_ROLE.findall(one.text.lower()))) > 1:
            continue  # "the assistant recommended Hyperion, which the user had read"
        theirs = ASSISTANT if one.speaker == USER else USER
        own = max((_kept(one, other) for other in text if other.speaker == one.speaker), default=0)
        # What a tool printed, the assistant reports: so it counts as nobody's.
        other = max((_kept(one, other) for other in text if other.speaker == theirs), default=0)
        told = frozenset().union(*(o.stems for o in text if o.speaker == one.speaker))
        sure = (other >= 0.75 and own < other - 0.4) or (other >= 0.6 and own < 0.2)
        if sure and len(one.stems & told) < 0.6 * len(one.stems):
            yield f"said by the {theirs}: {one.text.strip()}"


def _pairs(text: Sequence[Statement]) -> Iterator[Statement]:
    """Two clauses of one speaker as one: a summary joins what stood in two sentences."""
    for one, other in pairwise(text):
        if one.speaker == other.speaker:
            yield Statement(
                one.speaker,
                f"{one.text} {other.text}",
                one.stems | other.stems,
                one.denied | other.denied,
                one.denies or other.denies,
                one.softly or other.softly,
            )


def _kept(one: Statement, other: Statement) -> float:
    """The share of a summary's clause that the other clause holds."""
    return len(one.stems & other.stems) / len(one.stems) if one.stems else 0.0


def loops(text: str) -> str:
    """What a text says over and over; empty when it does not."""
    if match := re.search(r"([^\s=_*#.-])\1{11,}", text):
        return match.group()[:12]
    words = re.findall(r"\w+", text.lower())
    for size, often in ((3, 6), (5, 4)):
        grams = Counter(zip(*(words[at:] for at in range(size)), strict=False))
        gram, times = grams.most_common(1)[0] if grams else ((), 0)
        if times >= often:
            return " ".join(gram)
    same = sum(one == other for one, other in pairwise(words))
    return "the same words" if len(words) > 12 and same > len(words) / 3 else ""
