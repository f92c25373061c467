"""Find the task behind a label such as `ISSUE:` in a message that begins with instructions.

>>> labelled("Take one step at a time.\\n\\nISSUE:\\nPagination drops the last page\\n...")
'Pagination drops the last page'
"""

from __future__ import annotations

import re
from itertools import islice

from memtree.digests.clauses.particular import telling_words
from memtree.digests.clauses.phrases import readable, whole
from memtree.language.word_file import WordFiles, lazily

_DATA = WordFiles("phrases")

READ = 6_000  # characters of a message that are searched for a label
_LINE, _CAP = 300, 16  # characters of a line that are read, and tokens of its phrase
# The message shows how something is done, without a request.
_DEMONSTRATION = re.compile(
    r"(?:here|below|this) (?:is|are) (?:an? |some |the )?(?:demonstration|example)s? ",
    re.IGNORECASE,
)
_LABEL = lazily(
    lambda: rf"^(?:#{{1,6}} *)?\**(?:{_DATA.part('task_label')})\**\s?:\**[ \t]*(?=\S|\n)",
    re.I | re.M,
)
_TAG = re.compile(
    r"<(?:issue\w*|task\w*|problem\w*|user_query|request|query|goal|pr_description)>\s*", re.I
)


def labelled(text: str) -> str:
    """Return a phrase of the first line behind a label; "" if no label precedes an informative
    line, or the message only shows an example."""
    if _DEMONSTRATION.match(text.lstrip()[:200]):
        return ""
    for pattern in (_TAG, _LABEL):
        for match in islice(pattern.finditer(text[:READ]), 4):
            line = text[match.end() : match.end() + READ].lstrip().partition("\n")[0]
            phrase, _ = whole(line[:_LINE], _CAP)
            if phrase and readable(phrase) and len(set(telling_words(phrase))) > 1:
                return phrase
    return ""
