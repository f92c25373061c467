"""Whether a model's summary may take the place of the extraction: its form, its language, and what
it claims against the text it was made of.

A summary that is refused costs a call: the model is asked again, then the extraction stays. One
that lies stays in the tree. So every rule names what is surely wrong, and what is told in other
words is not judged.

    >>> task = leaf_task("1", [Source("user", 0, "Use 4 workers, not 8.")])
    >>> check(Draft("Workers", "The user wants 6 workers, not 8."), task, lambda text: 9)
    [Problem(name='number', detail='a number is new: 6')]
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from memtree.summaries.checks import claims, injection, numbers
from memtree.summaries.prompts import SourcePiece, Task, leaf_task
from memtree.summaries.replies import Draft
from memtree.text import languages

__all__ = ["Draft", "Problem", "SourcePiece", "check", "leaf_task"]

TOLERANCE = 1.3  # times the cap, DESIGN section 6
LONGEST = 16  # characters a token; text of any language has 2 to 6


@dataclass(frozen=True, slots=True)
class Problem:
    """`name`: empty, cut off, headline too long, body too long, repetition, meta, planted,
    language, anchor, number, negation, speaker. `detail` quotes the summary: never log it."""

    name: str
    detail: str = ""


def check(draft: Draft, task: Task, count: Callable[[str], int]) -> list[Problem]:
    """All that is wrong with a draft; empty: it is accepted. `count` counts tokens."""
    if hopeless := [*_huge(draft, task), *_empty(draft)]:
        return hopeless
    return [*_form(draft, task, count), *_foreign(draft, task), *_false(draft, task)]


def _huge(draft: Draft, task: Task) -> Iterator[Problem]:
    """What no tokenizer needs to count: nothing else is looked for in it, so no answer, however
    long, takes long to judge."""
    if len(draft.headline) > LONGEST * task.headline_cap:
        yield Problem("headline too long", f"{len(draft.headline)} characters")
    if len(draft.body) > LONGEST * task.cap:
        yield Problem("body too long", f"{len(draft.body)} characters")


_WORDS = re.compile(r"[\w/]+")
_NOTHING = re.compile(
    r"empty|n/?a|none|null|unknown|no (?:summary|content|information)(?: available)?",
    re.IGNORECASE,
)


def _empty(draft: Draft) -> Iterator[Problem]:
    for name, text in (("headline", draft.headline), ("body", draft.body)):
        words = " ".join(_WORDS.findall(text))
        if not words or _NOTHING.fullmatch(words):
            yield Problem("empty", name)


_DANGLING = re.compile(
    r"(?:[,:(\[{\\/&+=-]|\b(?:and|or|but|the|an?|to|of|with|because|that|which|for|from|by|into|"
    r"als|und|oder|aber|der|die|das|ein|eine|weil|dass|mit|von|et|ou|mais|le|les|des|une|que|de|y|"
    r"el|los|las|con|porque|и|или|но|что|с|в))\s*$"
)
_END = re.compile(r"[.!?…。！？\"'”’»)\]`}」]\s*$")
_PAIRS = (("(", ")"), ("[", "]"), ("“", "”"), ("«", "»"), ("「", "」"))


def _form(draft: Draft, task: Task, count: Callable[[str], int]) -> Iterator[Problem]:
    headline, body = count(draft.headline), count(draft.body)
    if headline > TOLERANCE * task.headline_cap:
        yield Problem("headline too long", f"{headline} tokens")
    if body > TOLERANCE * task.cap:
        yield Problem("body too long", f"{body} tokens")
    if _cut(draft.body, body >= 0.9 * task.cap):
        yield Problem("cut off", draft.body[-20:])
    if again := claims.loops(f"{draft.headline}\n{draft.body}"):
        yield Problem("repetition", again)


def _cut(body: str, full: bool) -> bool:
    """A last word that calls for more, something open at the end, or no end of a full body."""
    if _DANGLING.search(body):
        return True
    last = body[max(body.rfind(". "), body.rfind("; ")) + 1 :]
    opened = any(last.count(one) > last.count(other) for one, other in _PAIRS)
    quoted = last.count('"') % 2 == 1 and body.count('"') % 2 == 1
    return not _END.search(body) and (opened or quoted or full)


def _foreign(draft: Draft, task: Task) -> Iterator[Problem]:
    # A tool's words, or a page's that it fetched, are nobody's to give orders with. In a child's
    # summary, which was judged before, it is labelled where the user does not speak.
    heard = claims.said(_pieces(task))
    user = "\n".join(one.text for one in heard if one.speaker in ("", claims.USER))
    if found := injection.planted(draft.headline, draft.body, user):
        yield Problem("planted", found)
    if found := injection.meta(draft.headline, draft.body):
        yield Problem("meta", found)
    spoken = "\n".join(one.text for one in task.sources if one.kind == "text") or _text(task)
    found = languages.differs(draft.body, spoken)
    if not found and languages.script(draft.headline) != "latin":  # in Latin it may be names alone
        found = languages.differs(draft.headline, spoken)
    if found:
        yield Problem("language", found)


def _false(draft: Draft, task: Task) -> Iterator[Problem]:
    summary, text = f"{draft.headline}\n{draft.body}", _text(task)
    # German writes every noun like a name.
    german = languages.language(f"{summary} {text}", 3) == "de"
    names = languages.script(text) == "latin" and not german
    for found in numbers.invented(summary, text, names):
        yield Problem("anchor", found)
    for found in numbers.numbers(summary, text):
        yield Problem("number", found)
    mine, theirs = claims.said([("", summary)]), claims.said(_pieces(task))
    for found in claims.negations(mine, theirs):
        yield Problem("negation", found)
    for found in claims.speakers(mine, theirs):
        yield Problem("speaker", found)


def _text(task: Task) -> str:
    parts = [one.text for one in task.sources]
    for child in task.children:
        parts += [child.headline, child.body, " ".join(child.anchors)]
    return "\n".join(parts)


def _pieces(task: Task) -> list[tuple[str, str]]:
    """(speaker, text): of a child's summary the speaker stands in the text, if anywhere."""
    found = [(_speaker(one), one.text) for one in task.sources]
    return found + [("", f"{child.headline}\n{child.body}") for child in task.children]


def _speaker(source: SourcePiece) -> str:
    if source.kind in ("call", "result") or source.role not in ("user", "assistant"):
        return "tool"
    return source.role
