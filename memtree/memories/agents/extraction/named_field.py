"""Read "my FIELD is VALUE", for tenants without schemas: data instead of a sentence.

    >>> named_field("My favorite color is blue.")
    {'favoriteColor': 'blue'}
    >>> named_field("my time zone is CET"), named_field("My name is Ada Lovelace")
    ({'timeZone': 'CET'}, {'name': 'Ada Lovelace'})

Whatever says more stays a sentence: the value is a name, or one word of a favourite.

    >>> named_field("My job is stressful"), named_field("My favorite color is not blue")
    (None, None)
"""

from __future__ import annotations

import re

PROFILE = "UserProfile"  # the kind of such data
LONGEST = 200  # characters of a clause
_CLAUSE = re.compile(
    r"[Mm]y (?P<field>[^\W\d_]+(?: [^\W\d_]+){0,3}) is "
    r"(?P<value>(?P<name>[A-ZÀ-ÖØ-Þ][\w'’+#-]*(?: [A-ZÀ-ÖØ-Þ][\w'’+#-]*){0,3})|[\w'’+#-]+)[.!]*"
)
_FAVORITE = re.compile(r"favou?rite ")


def named_field(clause: str) -> dict[str, str] | None:
    """Return the one field that a clause of the user names; None if it says anything else."""
    match = _CLAUSE.fullmatch(clause.strip()) if len(clause) <= LONGEST else None
    if match is None or not (match["name"] or _FAVORITE.match(match["field"])):
        return None
    first, *rest = match["field"].lower().split()
    return {first + "".join(map(str.capitalize, rest)): match["value"]}
