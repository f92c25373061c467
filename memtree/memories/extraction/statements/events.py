"""Find what happened in a user's life on a day that they name: "we went to Rome last summer".

A day makes it worth keeping: who tells when something was will ask when it was. What was done to
files, tests and servers has its days as well and is nobody's life, so words of work with a machine
speak against it.

    >>> is_event("I adopted a puppy last week.")
    True
    >>> is_event("I tried it yesterday and it failed.")
    False
"""

from __future__ import annotations

import re
from datetime import date

from memtree.memories.extraction.dates import DateKind, dates

LONGEST = 300  # characters of a sentence
_KINDS = frozenset(
    {DateKind.DAY, DateKind.MONTH_DAY, DateKind.MONTH, DateKind.WEEKDAY, DateKind.RELATIVE}
)
_PEOPLE = (
    r"(?:i|we|my (?:[\w'’-]+ (?:and )?){0,2}(?:wife|husband|partner|son|daughter|kids?|children"
    r"|mother|mom|mum|father|dad|parents|brother|sister|family|friends?|girlfriend|boyfriend"
    r"|fianc[eé]e?|grandma|grandpa|dog|cat|team|boss|cousin|uncle|aunt|niece|nephew)(?: and i)?)"
)
_HAPPENED = re.compile(
    rf"\b{_PEOPLE}(?:['’]ve|['’]d| have| had)?(?: (?:just|also|finally|recently|even|already"
    r"|actually|only|both|all|first|officially))*"
    # Said and done to a thing at hand, or not done at all.
    r" (?!tried|tested|updated|installed|deployed|pushed|committed|merged|changed|fixed|implemented"
    r"|configured|noticed|used|asked|mentioned|discussed|wondered|worked on|wanted|needed|talked"
    r"|added|created|removed|opened the|looked|checked|stopped|seemed|liked|loved|decided|planned"
    r"|scheduled|supposed|expected|hoped)(?:\w{2,24}ed|went|met|saw|got|had|took|made|gave|came"
    r"|left|wrote|taught|built|spent|drew|caught|chose|grew|held|led|sold|swam|found|ran|began|told"
    r"|heard|bought|won|lost|flew|drove|sang|quit|broke|been|spoke|became|rode|threw|fell|paid"
    r"|sent|brought|was born|were born)\b",
    re.IGNORECASE,
)
_WORK = re.compile(
    r"\b(?:repos?|repository|branch(?:es)?|commits?|pull requests?|prs?|merge[ds]?|deploy\w*"
    r"|builds?"
    r"|pipeline|servers?|database|tests? (?:suite|fail\w*)|api|endpoint|package|npm|pip|docker"
    r"|version|upgrade[ds]?|update[ds]?|config\w*|files?|folder|director(?:y|ies)|scripts?|code"
    r"|codebase|module|refactor\w*|debug\w*|bugs?|tickets?|this|that (?:error|issue))\b",
    re.IGNORECASE,
)
_TODAY = frozenset({"today", "tonight", "this morning", "this afternoon", "this evening"})


def is_event(sentence: str, said: date | None = None) -> bool:
    """Return True if a sentence tells something of the user's life with its day."""
    text = sentence[:LONGEST]
    if not _HAPPENED.search(text) or _WORK.search(text):
        return False
    return any(
        one.kind in _KINDS and text[one.start : one.end].lower() not in _TODAY
        for one in dates(text, said)
    )
