"""What is worth keeping in English beyond facts and preferences: goals, and what is to be kept in
mind by the user's own word."""

from __future__ import annotations

import re

_GOALS = re.compile(
    r"(?:i'm|i am|im|we're|we are|i|we) (?:(?:also|really|currently|now|still"
    r"|actively) ){0,2}(?:planning"
    r" (?:to|a|our|my|on)|hoping to|saving (?:up )?(?:for|to)|training for|preparing for"
    r"|looking for (?:a"
    r" |an )?(?:new |better |part-time |full-time )?(?:job|flat|apartment|house|place|role"
    r"|position)"
    r"|learning|going to be (?:a|an)|expecting|applying (?:to|for)|building (?:a|an|my"
    r"|our) (?!function|class"
    r"|loop|query|regex|test|list|table)|writing (?:a|my) (?:\w+ )?(?:book|novel|thesis)"
    r"|starting (?:a|my)"
    r" |getting (?:married|divorced|a (?:dog|cat|puppy))|moving (?:to|in|house|out)|launching"
    r"|opening"
    r" (?:a|my|our)|renovating|organi[sz]ing (?:a|my|our)|plan to|hope to|dream of|intend to"
    r"|aim to|aspire"
    r" to|want to (?:become|learn|move|lose|run|retire|start|quit|visit|buy|travel|study"
    r"|get (?:better|fit"
    r"|into|a (?:dog|job|cat)))) (?!(?:this|that|it|these|those|them|the (?:code|file|test"
    r"|function)|do"
    r"|fix|add|use|make|write|run|push|merge|see|check|try|how|what|why|with|again)\b)\w"
    r"|(?:my|our) (?:[\w-]+ ){0,2}(?:goal|dream|plan|aim|ambition"
    r"|resolution)(?: for [\w ]{2,20})? (?:is|are)"
    r" (?!(?:this|that|here|below|as follows|attached)\b)\w"
)
_KEEP = re.compile(
    r"(?:please |also |and |just )*(?:remember|keep in mind|bear in mind|note|don't forget"
    r"|do not forget"
    r"|for (?:the record|your information|future reference|context|background)|fyi"
    r"|just so you know|make a"
    r" note|take note|for next time)(?: for (?:later|next time|the future))?(?: that\b|[:,]| -)*\s+"
)
_KEPT_NOT = re.compile(
    r"(?:to|when|how|what|where|the time|me|this|it|that|these|you|your|only|not|no|if|i (?:don't"
    r"|want|need"
    r"|asked|just|already|am (?:using|getting|running))|we (?:need|should|want|must|can)|[\w-]+$)\b"
)


def is_goal(lower: str) -> bool:
    return _GOALS.match(lower) is not None


def kept_in_mind(lower: str) -> int:
    """Where the statement begins in "remember that ..."; 0 where the sentence is none."""
    match = _KEEP.match(lower)
    if not match or _KEPT_NOT.match(lower, match.end()):
        return 0
    return match.end()
