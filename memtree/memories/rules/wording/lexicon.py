"""Words of English that say nothing in a memory, and those that are never to be overlooked."""

from __future__ import annotations

from importlib.resources import files


def data_lines(name: str) -> list[str]:
    """Read the lines of a list that is kept as data, without its comments."""
    text = (files(__package__) / f"{name}.txt").read_text("utf-8")
    return [line for line in text.splitlines() if not line.startswith("#")]


# Words that carry no fact: left out wherever they stand.
FUNCTION = frozenset(
    """
    a an the is are am be been being of to that this these those it its itself there here which who
    whom where and also too just very really quite so please do does will
    any ever located situated set as well however indeed actually basically simply s
    """.split()
)
PREPOSITIONS = frozenset("in on at for with to of as into onto upon within during about".split())
COPULAS = frozenset("is are am be was were being been equals means".split())
ARTICLES = frozenset(("a", "an"))
# Prepositions that say the same before one noun; others do not: works for Ann, works with Ann.
ALIKE_PREPOSITIONS = frozenset(
    frozenset(pair.split("-"))
    for pair in (
        "in-at on-at for-at of-in of-for to-for as-in with-of in-within of-at in-during as-for "
        "on-about by-via by-at"
    ).split()
)
# Values: what differs in one of these says something else. Keys, each with its words.
VALUES = """
past: was were did had ago formerly former ex
can: can could able
may: may might possibly maybe perhaps
must: must shall
should: should ought
would: would
only: only solely exclusively
or: or either
more: more
less: less fewer
than: than over versus vs
from: from
by: by via
before: before until till prior
after: after following
since: since
under: under below beneath
above: above
between: between
against: against
if: if unless when whenever while
because: because therefore hence
through: through
off: off
up: up
down: down
left: left
right: right
all: every each all
some: some several
many: many much
few: few
most: most
both: both
half: half
but: but except although though
plus: plus
minus: minus
out: out
back: back
away: away
other: other another else
same: same
like-as: like-as
""".strip().splitlines()
NEGATIONS = frozenset("not no none nobody nothing nowhere neither nor cannot".split())
USER = frozenset("user users i me my mine myself".split())
# What may stand on one side alone without another meaning.
LIGHT = frozenset(
    """
    have occur begin user you assistant ai model we they he she own use name usually now
    still already yet always about exactly schedule project team company person people
    answer city town thing kind type year time
    """.split()
)
AGENTS = {
    "teacher": "teach", "driver": "drive", "singer": "sing", "dancer": "dance", "writer": "write",
    "painter": "paint", "runner": "run", "swimmer": "swim", "baker": "bake", "smoker": "smoke",
    "climber": "climb", "gardener": "garden", "farmer": "farm",
}  # fmt: skip
EMPTY_VERBS = frozenset(("have", "use"))  # does not have a car: has no car
PER = frozenset("s sec second min minute h hr hour day week month year".split())
# What may stand on both sides: pronouns for somebody that the other text names.
GHOSTS = {
    "we": "we", "our": "we", "us": "we", "ours": "we",
    "you": "you", "your": "you", "yours": "you",
    "they": "they", "them": "they", "their": "they",
    "his": "they", "her": "they", "its": "they",
    "he": "he", "him": "he", "she": "she", "hers": "she",
}  # fmt: skip
CONTRACTIONS = {
    "can't": "can not", "cannot": "can not", "won't": "will not", "shan't": "shall not",
    "ain't": "is not", "let's": "let us", "i'm": "i am", "dont": "do not", "doesnt": "does not",
    "isnt": "is not", "cant": "can not", "didnt": "did not", "wont": "will not",
    "gonna": "going to", "wanna": "want to", "y'all": "you",
}  # fmt: skip
ENDINGS = {"n't": "not", "'re": "are", "'ve": "have", "'ll": "will", "'d": "would", "'m": "am"}
