"""Words around a request that a title leaves out, and words that announce the request."""

from __future__ import annotations

import re

from memtree.language.lazy_patterns import lazily
from memtree.language.word_file import WordFiles

_DATA = WordFiles("titles")

# One lead-in of a request; callers apply the pattern repeatedly.
LEAD = lazily(lambda: rf"(?:{_DATA.part('lead')})", re.IGNORECASE)
# Words that a title may not end with.
ENDING = lazily(
    lambda: rf"(?:[,;:]? (?:{_DATA.part('ending')}))+[ ,.;:!?]*$",
    re.IGNORECASE,
)
SELF = lazily(lambda: rf"(?:{_DATA.part('self')})\b", re.IGNORECASE)
AGE = re.compile(
    r"\b\d{1,3}[ -]years?[ -]old\b|\bI(?:'m|’m| am) \d{2}\b|\b\d{2}-year", re.IGNORECASE
)
# The beginning of a piece that depends on the piece before it.
FRAGMENT = lazily(lambda: rf"(?:{_DATA.part('fragment')})", re.IGNORECASE)
# A request that only hands a text over.
HANDS = lazily(lambda: rf"\b(?:{_DATA.part('hands')})\b|[:：]\W*$", re.IGNORECASE)
# The message shows how something is done, without a request.
DEMONSTRATION = re.compile(
    r"(?:here|below|this) (?:is|are) (?:an? |some |the )?(?:demonstration|example)s? ",
    re.IGNORECASE,
)
LABEL = lazily(
    lambda: rf"^(?:#{{1,6}} *)?\**(?:{_DATA.part('asked')})\**\s?:\**[ \t]*(?=\S|\n)",
    re.I | re.M,
)
TAGGED = re.compile(
    r"<(?:issue\w*|task\w*|problem\w*|user_query|request|query|goal|pr_description)>\s*", re.I
)
# 'a cryptography problem named "Eps"'
NAMED = re.compile(
    r"((?:(?!an? |the )[\w-]{2,30} ){0,3})(?:named|called|titled) [\"“'`]([^\"”'`\n]{2,50})[\"”'`]"
)
VERB = lazily(
    lambda: rf"(?:please |now |can you |could you )*({_DATA.part('verb')})\b", re.IGNORECASE
)
# A time and a name before a statement.
SPEAKER = re.compile(
    r"\s{0,8}(?:\[[^\]\n]{0,60}\]\s{0,8})?[*<]{0,2}(?P<name>[^\W\d_][\w .'’-]{0,29})[*>]{0,2}"
    r"(?: ?\([^)\n]{0,30}\))?[*]{0,2}[:：](?!/)\s?"
)
OFFER = _DATA.pattern("offer", re.IGNORECASE)
