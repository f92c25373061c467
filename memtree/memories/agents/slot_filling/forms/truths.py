"""Forms that say what is true of the user or not: "I don't smoke", "I have no pets", "turn off
notifications"."""

from __future__ import annotations

from collections.abc import Iterator

from memtree.language.word_file import WordFile
from memtree.memories.agents.slot_filling.field_claims import MEANT, NAMED, TRUTH, Claim, claim
from memtree.memories.agents.slot_filling.field_names import singular, spoken, words
from memtree.memories.agents.slot_filling.schema_fields import stem
from memtree.memories.agents.slot_filling.user_statements import Statement

_DATA = WordFile("en", "memory_truths")

_IS = _DATA.pattern("is")
_HAS = _DATA.pattern("has")
_DOES = _DATA.pattern("does")
_TURN = _DATA.pattern("turn")
_SOMETIMES = _DATA.pattern("sometimes")


def truths(said: Statement) -> Iterator[Claim]:
    """Yield what is true of the user, or not."""
    lower = said.lower
    if _SOMETIMES.search(lower):
        return
    if match := _IS.match(lower):
        what = " ".join(singular(word) for word in words(match["what"]))
        if what:
            yield claim(
                said, (f"is:{what}",), *match.span("what"), MEANT, TRUTH, truth=not match["no"]
            )
    if match := _HAS.match(lower):
        what = " ".join(singular(word) for word in match["what"].split())
        yield claim(
            said, (f"has:{what}",), *match.span("what"), MEANT, TRUTH, truth=not match["no"]
        )
    if (match := _DOES.match(lower)) and match["what"] not in ("the", "a", "an"):
        parts = [word for word in match["what"].split() if word not in ("the", "a", "an")]
        what = " ".join([stem(parts[0]), *(singular(word) for word in parts[1:])])
        yield claim(
            said, (f"does:{what}",), *match.span("what"), MEANT, TRUTH, truth=not match["no"]
        )
    if match := _TURN.match(lower):
        group = "what" if match["what"] else "what2"
        on = bool(match["on"]) or match["way"] == "on"
        names = (f"on:{spoken(match[group])}",)
        yield claim(said, names, *match.span(group), NAMED, TRUTH, truth=on)
