"""What is worth keeping in English beyond facts and preferences: goals, and what is to be kept in
mind by the user's own word."""

from __future__ import annotations

import re

_GOALS = re.compile(
    r"(?:i'm|i am|im|we're|we are|i|we) (?:(?:also|really|currently|now|still"
    r"|actively) ){0,2}(?:planning (?:to|a|our|my|on)|hoping to|saving (?:up )?(?:for|to)"
    r"|training for|preparing for|looking for (?:a |an )?(?:new |better |part-time "
    r"|full-time )?(?:job|flat|apartment|house|place|role|position)|learning|going to be (?:a|an)"
    r"|expecting|applying (?:to|for)|building (?:a|an|my|our)(?! (?:function|class|loop|query"
    r"|regex|test|list|table)\b)|writing (?:a|my) (?:\w+ )?(?:book|novel|thesis)|starting (?:a"
    r"|my) |getting (?:married|divorced|a (?:dog|cat|puppy))|moving (?:to|in|house|out)|launching"
    r"|opening (?:a|my|our)|renovating|organi[sz]ing (?:a|my|our)|plan to|hope to|dream of"
    r"|intend to|aim to|aspire to|want to (?:become|learn|move|lose|run|retire|start|quit|visit"
    r"|buy|travel|study|get (?:better|fit|into|a (?:dog|job|cat)))) (?!(?:this|that|it|these"
    r"|those|them|an? (?:ton|lot|bit|few)|so |more|new things|everything|how|to (?:do|use|make"
    r"|add|get|set|have) (?:it|this|that|the)|the (?:code|file|test|function)|do|fix|add|use|make"
    r"|write|run|push|merge|see|check|try|how|what|why|with|again)\b)\w|(?:my"
    r"|our) (?:[\w-]+ ){0,2}(?:goal|dream|plan|aim|ambition|resolution)(?: for [\w ]{2,20})?"
    r" (?:is|are) (?!(?:this|that|here|below|as follows|attached)\b)\w"
)
_KEEP = re.compile(
    r"(?:please |also |and |just )*(?:remember|keep in mind|bear in mind|note|don't forget"
    r"|do not forget|for (?:the record|your information|future reference|context|background)|fyi"
    r"|just so you know|make a note|take note|for next time)(?: for (?:later|next time"
    r"|the future))?(?: that\b|[:,]| -)*\s+"
)
_KEPT_NOT = re.compile(
    r"(?:to|when|how|what|where|the time|me|this|it|that|these|you|your|only|not|no|if|i (?:don't"
    r"|want|need|asked|just|already|am (?:using|getting|running))|we (?:need|should|want|must"
    r"|can)|[\w-]+$)\b"
)


def is_goal(lower: str) -> bool:
    return _GOALS.match(lower) is not None


def kept_in_mind(lower: str) -> int:
    """Where the statement begins in "remember that ..."; 0 where the sentence is none."""
    match = _KEEP.match(lower)
    if not match or _KEPT_NOT.match(lower, match.end()):
        return 0
    return match.end()
