"""Words of English that say nothing in a memory, and those that are never to be overlooked."""

from __future__ import annotations

from importlib.resources import files

from memtree.memories.word_file import WordFile

_DATA = WordFile("en", "memory_wording")


def data_lines(name: str) -> list[str]:
    """Read the lines of a list that is kept as data, without its comments."""
    text = (files(__package__) / f"{name}.txt").read_text("utf-8")
    return [line for line in text.splitlines() if not line.startswith("#")]


# Words that carry no fact: left out wherever they stand.
FUNCTION = _DATA.words("function")
PREPOSITIONS = _DATA.words("prepositions")
COPULAS = _DATA.words("copulas")
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
NEGATIONS = _DATA.words("negations")
USER = _DATA.words("user")
# What may stand on one side alone without another meaning.
LIGHT = _DATA.words("light")
AGENTS = _DATA.table("agents")
EMPTY_VERBS = frozenset(("have", "use"))  # does not have a car: has no car
PER = _DATA.words("per")
# What may stand on both sides: pronouns for somebody that the other text names.
GHOSTS = _DATA.table("ghosts")
CONTRACTIONS = _DATA.table("contractions")
ENDINGS = _DATA.table("endings")
