"""Check whether a model's summary may take the place of the extraction.

What is checked is its form, its language, and its claims against the text it was made of.
`faithfulness.py` judges the claims (who said what, every "not", numbers and names that the text
does not have) and finds instructions to the reader.

Rejecting a good summary costs a call: the model is asked again, then the extraction stays.
Accepting a false one leaves it in the tree. So every rule looks for what is certainly wrong; text
that the summary puts in other words is not judged.

    >>> task = leaf_task("1", [SourcePiece("user", 0, "Use 4 workers, not 8.")])
    >>> check(Draft("Workers", "The user wants 6 workers, not 8."), task, lambda text: 9)
    [Problem(name='number', detail='a number is new: 6')]
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from memtree.language import languages
from memtree.language.word_file import WordFiles, lazily
from memtree.text.own_words import others_words
from memtree.text.spans import blanked
from memtree.tree import faithfulness
from memtree.tree.summary_prompts import SourcePiece, Task, leaf_task
from memtree.tree.summary_replies import Draft

_DATA = WordFiles("claims")

__all__ = ["Draft", "Problem", "SourcePiece", "check", "leaf_task"]

TOLERANCE = 1.3  # times the cap, DESIGN section 6
_QUOTED = re.compile("“[^“”]*”")
LONGEST = 16  # characters a token; text of any language has 2 to 6


@dataclass(frozen=True, slots=True)
class Problem:
    """One reason to reject a draft.

    `name`: empty, cut off, headline too long, body too long, repetition, meta, planted (an
    injection), language, anchor, number, negation, speaker. `detail` quotes the summary: never log
    it.
    """

    name: str
    detail: str = ""


def check(draft: Draft, task: Task, count: Callable[[str], int]) -> list[Problem]:
    """All that is wrong with a draft; an empty list accepts it. `count` counts tokens."""
    if hopeless := [*_huge(draft, task), *_empty(draft)]:
        return hopeless
    return [*_form(draft, task, count), *_foreign(draft, task), *_false(draft, task)]


def _huge(draft: Draft, task: Task) -> Iterator[Problem]:
    """Too long by characters alone. Checked first, without a tokenizer, so that an endless
    answer is rejected in no time."""
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


_DANGLING = lazily(lambda: rf"(?:[,:(\[{{\\/&+=-]|\b(?:{_DATA.part('dangling')}))\s*$")
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
    if again := faithfulness.loops(f"{draft.headline}\n{draft.body}"):
        yield Problem("repetition", again)


def _cut(body: str, full: bool) -> bool:
    """A last word that calls for more, something open at the end, or no end of a full body."""
    if _DANGLING.search(body):
        return True
    last = body[max(body.rfind(". "), body.rfind("; ")) + 1 :]
    unclosed = any(last.count(opening) > last.count(closing) for opening, closing in _PAIRS)
    quoted = last.count('"') % 2 == 1 and body.count('"') % 2 == 1
    return not _END.search(body) and (unclosed or quoted or full)


def _foreign(draft: Draft, task: Task) -> Iterator[Problem]:
    # Only the user may give orders, never a tool or a page that it fetched. A child's summary was
    # checked before, and says where somebody other than the user speaks.
    statements = faithfulness.statements(_own_pieces(task))
    by_user = [each.text for each in statements if each.speaker in ("", faithfulness.USER)]
    if quote := faithfulness.injected(draft.headline, draft.body, "\n".join(by_user)):
        yield Problem("planted", quote)
    if quote := faithfulness.meta(draft.headline, draft.body):
        yield Problem("meta", quote)
    prose = [piece.text for piece in task.sources if piece.kind == "text"]
    spoken = "\n".join(prose) or _text(task)
    quote = languages.differs(draft.body, spoken)
    if not quote and languages.script(draft.headline) != "latin":  # in Latin it may be names alone
        quote = languages.differs(draft.headline, spoken)
    if quote:
        yield Problem("language", quote)


def _own_pieces(task: Task) -> Iterator[tuple[str, str]]:
    """Pieces of a task without what the user, or a child's summary, only quotes."""
    for piece in task.sources:
        quoted = others_words(piece.text) if piece.role == "user" else ()
        yield _speaker(piece), blanked(piece.text, quoted)
    for child in task.children:
        yield "", _QUOTED.sub(" ", f"{child.headline}\n{child.body}")


def _false(draft: Draft, task: Task) -> Iterator[Problem]:
    summary, text = f"{draft.headline}\n{draft.body}", _text(task)
    # German writes every noun like a name.
    german = languages.language(f"{summary} {text}", 3) == "de"
    names = languages.script(text) == "latin" and not german
    for detail in faithfulness.invented_anchors(summary, text, names):
        yield Problem("anchor", detail)
    for detail in faithfulness.invented_numbers(summary, text):
        yield Problem("number", detail)
    # Of a child's summary the speaker stands in the text, if anywhere.
    pieces = [(_speaker(source), source.text) for source in task.sources]
    pieces += [("", f"{child.headline}\n{child.body}") for child in task.children]
    claimed, stated = faithfulness.statements([("", summary)]), faithfulness.statements(pieces)
    for detail in faithfulness.negations(claimed, stated):
        yield Problem("negation", detail)
    for detail in faithfulness.speakers(claimed, stated):
        yield Problem("speaker", detail)


def _text(task: Task) -> str:
    parts = [text for source in task.sources for text in (source.name, source.text)]
    for child in task.children:
        parts += [child.headline, child.body, " ".join(child.anchors)]
    return "\n".join(parts)


def _speaker(source: SourcePiece) -> str:
    if source.kind in ("call", "result") or source.role not in ("user", "assistant"):
        return "tool"
    return source.role
