"""Forms that say what is true of the user or not: "I don't smoke", "I have no pets", "turn off
notifications"."""

from __future__ import annotations

import re
from collections.abc import Iterator

from memtree.memories.agents.structured_extraction.claims import MEANT, NAMED, TRUTH, Claim, claim
from memtree.memories.agents.structured_extraction.field_names import singular, spoken, words
from memtree.memories.agents.structured_extraction.schema_fields import stem
from memtree.memories.agents.structured_extraction.statements import Statement

_SO = r"(?:(?:now|currently|also|still|just|actually|really|mostly) ){0,2}"
_AM = rf"(?:i'm|i am|im) {_SO}"
_IS = re.compile(
    rf"(?:{_AM}|we're |we are )(?P<no>not |no longer )?(?:an? )?(?P<what>[\w -]{{2,50}})$"
)
_HAS = re.compile(
    r"(?:i|we) (?:(?P<no>don't have|do not have|don't own|do not own|have no|haven't got"
    r"|never had)|have got|have|'ve got|own|got)(?: an?| any| some| two| three| four| five"
    r"| \d{1,2}| several)? (?P<what>[\w-]+(?: [\w-]+)?)$"
)
_DOES = re.compile(
    r"(?:i|we) (?P<no>don't |do not |never |no longer |don't ever )?(?:(?:always|regularly"
    r"|mostly|fully|only|also|100%) )?(?P<what>[a-z]+(?: [\w-]+){0,3}?)(?P<more> any ?more)?$"
)
_TURN = re.compile(
    r"(?:please )?(?:(?P<on>turn on|switch on|enable|activate|subscribe me to|sign me up for"
    r"|i want to (?:receive|get))|(?P<off>turn off|switch off|disable|deactivate"
    r"|unsubscribe me from|i don't want(?: to (?:receive|get))?|i do not want|no more"
    r"|stop sending(?: me)?)) (?:the |my |any |all )*(?P<what>[\w -]{2,50})(?:,.*)?$"
    r"|(?:please )?(?:turn|switch) (?:the |my |all )*(?P<what2>[\w -]{2,50}) (?P<way>on|off)$"
)
_SOMETIMES = re.compile(
    r"\b(?:sometimes|rarely|seldom|occasionally|hardly|used to|would|might|could|almost"
    r"|trying|going to)\b"
)


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
