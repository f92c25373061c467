"""Define a clause of a text, and quote the requests of others, so that they are shown as theirs.

Requests of others stand in a mail, page or tool result. Statements of others are summarised like
any other; but a request, order, ban or wish that its author only passes on would read as the
author's. Such a sentence is quoted: its first words follow a label, and it never becomes a
headline. Requests are told from statements in `memtree/text/request_words.py`; whose words a text
is, in `memtree/text/own_words.py`.

    >>> quotation("user", "Always CC Ann.", 0.4, OTHERS).text
    'quotes a text: “Always CC Ann”'
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from memtree.text.pasted_texts import inline
from memtree.text.request_words import READ, asks
from memtree.text.spans import Span, clipped


@dataclass(frozen=True, slots=True)
class SourcePassage:
    """Passage of a leaf. `kind`: text, code, call or result. `others`: spans of a user's text
    that are not the user's own words, found on the whole message; None if not searched yet.
    `message`: the whole message, or "" if only the passage is known; the passage begins at `start`
    of it. `ends`: True if the message ends with the passage. `name`: of the one who speaks, if the
    message has one."""

    role: str
    text: str
    kind: str
    others: tuple[Span, ...] | None = None
    message: str = ""
    start: int = 0
    ends: bool = True
    name: str = ""


@dataclass(slots=True)
class Clause:
    """Line of text. `speaker`: a role, or a name from the text; `name`: of the one in that role.
    `outcome`: it reports how something ended (an error, a change, a decision);
    `brief`: a shorter text for where room is scarce; `work`: it reports work of an agent
    (`work_clauses.py`); `quoted`: it quotes somebody else's request, so it is never cut and never
    in a headline; `foreign`: others' words in a user's message, or a role's: shown in quotation
    marks."""

    speaker: str
    text: str
    score: float
    outcome: bool = False
    verbatim: bool = False
    brief: str = ""
    quoted: bool = False
    work: bool = False
    name: str = ""
    foreign: bool = False

    @property
    def shown(self) -> str:
        return marked(self.text) if self.foreign else self.text


# How a body says who speaks: role, and name in brackets.
LABEL = r"(?:user|assistant|tool)(?: \([^():;]{1,40}\))?: "
WORDS, LONGEST = 12, 90  # of a quotation: words, and bytes (a tenth of them for the label)
LEAST, MOST = 0.2, 1.0  # scores: any statement of the user's has more
OTHERS, RESULT, OWN = "quotes a text", "a result says", "says"
_WHOLE = re.compile(r"[^“”]{1,80}: “[^“”]{1,400}”")
_TORN = re.compile(r"(?:[;.!?…。！？]? ?)[^“”;.!?…。！？]{1,80}: “[^“”]*$")
_BREAKS = re.compile(r"[;.!?…](?=\s)|[。！？]")
_MARKS = str.maketrans(dict.fromkeys('“”"„«»', "'"))
_ENDS = " .,;"
_SAID = re.compile(r"[\"“”„«»‹›「」『』`]")
_QUOTED = (">", "＞", "&gt;")


def quotation(speaker: str, sentence: str, merit: float, label: str) -> Clause:
    """Return a clause of at most twelve quoted words behind a label, which is never split."""
    score = max(LEAST, min(MOST, LEAST + 0.2 * merit))
    return Clause(speaker, f"{label}: {quote(sentence)}", score, verbatim=True, quoted=True)


def quote(sentence: str) -> str:
    """Return the first words of a sentence, in quotation marks."""
    plain = _BREAKS.sub(",", sentence[: 4 * LONGEST].translate(_MARKS)).replace(": ", " - ")
    words = plain.strip(" .,!?…'*_-").split()
    kept = " ".join(words[:WORDS]).encode("utf-8", "replace")[:LONGEST].decode("utf-8", "ignore")
    return f"“{kept}{'…' if len(kept) < len(' '.join(words)) else ''}”"


def marked(words: str) -> str:
    """Return words in quotation marks, which never hold a border of a body's pieces."""
    return f"“{words.strip(_ENDS).translate(_MARKS).replace('; ', ', ')}”"


def is_quotation(piece: str) -> bool:
    """Return True if a piece of a body is a quotation."""
    return piece[-1:] == "”" and _WHOLE.fullmatch(piece) is not None


def untorn(body: str) -> str:
    """Remove a quotation without its end from a body that was cut."""
    return _TORN.sub("", body) if body.rfind("“") > body.rfind("”") else body


def promotes(line: str) -> bool:
    """Return True for a line that holds a request of others."""
    return any(not own and asks(piece) for piece, own in parts(line.strip()[:READ], 0, None))


def parts(
    line: str,
    start: int,
    others: Sequence[Span] | None,
    asks: Callable[[str], bool] = asks,
) -> Iterator[tuple[str, bool]]:
    """Yield the pieces of a line, each with True if its words are its author's own. Inside a line
    only requests are separated. `others`: spans of others' words in the text, where the line begins
    at `start`; None to judge by the line alone. `asks`: `request_words.asks` or a cache of it."""
    if others is None:
        quoted = line.lstrip().startswith(_QUOTED)
        spans = [Span(0, len(line))] if quoted else inline(line) if _SAID.search(line) else ()
        inside = tuple(sorted(spans))
    else:
        inside = clipped(others, start, start + len(line))
    if not inside:
        yield line, True
        return
    at = 0
    for low, high in inside:
        if low < at or not any(map(str.isalpha, line[low:high])):
            continue
        whole = not any(map(str.isalpha, line[:low] + line[high:]))
        said = line[low:high]
        if whole or (said.count(" ") > 1 and asks(said.strip("\"'“”„«»‹›「」『』‘’` "))):
            if line[at:low].strip():
                yield line[at:low].strip(), True
            yield (line if whole else line[low:high].strip('"“”„«»「」『』 ')), False
            at = len(line) if whole else high
    if line[at:].strip():
        yield line[at:].strip(), True
