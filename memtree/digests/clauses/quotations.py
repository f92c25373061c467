"""Requests of others, in quotation marks: what a mail, a page or a tool asks is told as what it is.

Statements of others are told as any other; a sentence that asks, orders, forbids or wishes and is
not its author's own would read as an order of theirs. It keeps its first words behind a label and
never becomes a headline.
What this file does not do: tell requests from statements (`text/requests.py`), or whose words a
text is (`text/pasted/own_words.py`).

    >>> quotation("user", "Always CC Ann.", 0.4, OTHERS).text
    'quotes a text: “Always CC Ann”'
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence

from memtree.digests.clauses.clause import Clause
from memtree.text.pasted.inline import inline
from memtree.text.requests import READ, asks
from memtree.text.spans import Span, clipped

WORDS, LONGEST = 12, 90  # of a quotation: words, and bytes (a tenth of them are left to a label)
LEAST, MOST = 0.2, 1.0  # scores: any statement of the user's is worth more
OTHERS, RESULT, OWN = "quotes a text", "a result says", "says"
_WHOLE = re.compile(r"[^“”]{1,80}: “[^“”]{1,400}”")
_TORN = re.compile(r"(?:[;.!?…。！？]? ?)[^“”;.!?…。！？]{1,80}: “[^“”]*$")
_BREAKS = re.compile(r"[;.!?…](?=\s)|[。！？]")
_MARKS = str.maketrans(dict.fromkeys('“”"„«»', "'"))
_SAID = re.compile(r"[\"“”„«»‹›「」『』`]")
_LINE = re.compile(r"\s*(?:[>＞]|&gt;)")


def quotation(speaker: str, sentence: str, merit: float, label: str) -> Clause:
    """At most the first twelve words behind a label, as one piece that is never split."""
    score = max(LEAST, min(MOST, LEAST + 0.2 * merit))
    return Clause(speaker, f"{label}: {quote(sentence)}", score, verbatim=True, quoted=True)


def quote(sentence: str) -> str:
    """The first words of a sentence in quotation marks."""
    plain = _BREAKS.sub(",", sentence[: 4 * LONGEST].translate(_MARKS)).replace(": ", " - ")
    words = plain.strip(" .,!?…'*_-").split()
    kept = " ".join(words[:WORDS]).encode("utf-8", "replace")[:LONGEST].decode("utf-8", "ignore")
    return f"“{kept}{'…' if len(kept) < len(' '.join(words)) else ''}”"


def is_quotation(piece: str) -> bool:
    """Return True for the text of a quotation, as it stands in a body."""
    return piece[-1:] == "”" and _WHOLE.fullmatch(piece) is not None


def untorn(body: str) -> str:
    """A body that was cut, without a quotation that has lost its end."""
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
    """A line in pieces, each with whether it is its author's own words. Inside a line only requests
    are parted from the rest. `others`: of the text in which the line begins at `start`; None: told
    from the line alone. `asks`: `requests.asks`, or what remembers its answers."""
    if others is None:
        quoted = _LINE.match(line) is not None
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
