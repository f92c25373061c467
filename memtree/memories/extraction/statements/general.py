"""Find what is worth keeping in English beyond facts and preferences: goals, and what is to be kept
in mind by the user's own word."""

from __future__ import annotations

from memtree.text.lazy_patterns import lazily

_GOALS = lazily(
    r"(?:i'd|i would|we'd) (?:like|love) to (?:become|learn|move|lose|retire|quit|study"
    r"|get fit) \w|(?:i'm|i am|im|we're|we are|i|we) (?:(?:also|really|currently|now|still"
    r"|actively) ){0,2}(?:planning (?:to|a|our|my|on)|hoping to|saving (?:up )?(?:for|to)"
    r"|training for|preparing for|looking for (?:a |an )?(?:new |better |part-time "
    r"|full-time )?(?:job|flat|apartment|house|place|role|position)|learning|going to be (?:a|an)"
    r"|expecting|applying (?:to|for)|building (?:a|an|my|our)(?! (?:function|class|loop|query"
    r"|regex|test|list|table)\b)|writing (?:a|my) (?:\w+ )?(?:book|novel|thesis)|starting (?:a"
    r"|my)|getting (?:married|divorced|a (?:dog|cat|puppy))|moving (?:to|in|house|out)|launching"
    r"|opening (?:a|my|our)|renovating|organi[sz]ing (?:a|my|our)|plan to|hope to|dream of"
    r"|intend to|aim to|aspire to|want to (?:become|learn|move|lose|run|retire|start|quit|visit"
    r"|buy|travel|study|get (?:better|fit|into|a (?:dog|job|cat)))) (?!(?:this|that|it|these"
    r"|those|them|an? (?:ton|lot|bit|few)|so |more|new things|everything|how|to (?:do|use|make"
    r"|add|get|set|have) (?:it|this|that|the)|the (?:code|file|test|function)|do|fix|add|use|make"
    r"|write|run|push|merge|see|check|try|how|what|why|with|again)\b)\w|(?:my"
    r"|our) (?:[\w-]+ ){0,2}(?:goal|dream|aim|ambition|resolution)(?: for [\w ]{2,20})? (?:is"
    r"|are) (?!(?:this|that|here|below|as follows|attached)\b)\w"
)
_KEEP = lazily(
    r"(?:please |also |and |just )*(?:remember|keep in mind|bear in mind|note|don't forget"
    r"|do not forget|for (?:the record|your information|future reference|context|background)|fyi"
    r"|just so you know|make a note|take note|for next time)(?: for (?:later|next time"
    r"|the future))?(?: that\b|[:,]| -)*\s+"
)
_KEPT_NOT = lazily(
    r"(?:to|when|how|what|where|the time|me|this|it|that|these|you|your|only|not|no|if|i (?:don't"
    r"|want|need|asked|just|already|am (?:using|getting|running))|we (?:need|should|want|must"
    r"|can)|[\w-]+$)\b"
)

_AT_ONCE = lazily(r"\b(?:now|today|tonight|tomorrow|this (?:function|file|test|code))\b")
# What happened to the user, where it is more than a step of the day.
_MILESTONES = lazily(
    r"(?:i|we)(?:'ve| have)? (?:(?:recently|just|finally|also|both"
    r"|actually) ){0,2}(?:applied (?:to|for) (?!this|that|it|the (?:fix|patch|change))|won (?:a"
    r"|an|the|my|our|second|first)\b|finished (?:my|writing my|reading my|school|college"
    r"|university|high school)|wrapped up my|performed (?:at|in|with) |published (?:a|my|our)"
    r"|opened (?:a|my|our) (?:own |new |second |first |small |little )*(?:shop|store|restaurant"
    r"|bakery|caf\w+|studio|business|practice|office|gallery|bar)|hired (?:a|an|my|our|two|three)"
    r"|passed (?:my|the) (?:\w+ ){0,2}(?:exam|test|bar|driving)|failed (?:my"
    r"|the) (?:\w+ ){0,2}(?:exam|driving test|class)|took (?:up|part in) |had (?:a|my"
    r"|an) (?:\w+ )?(?:surgery|baby|miscarriage|operation|c-section|stroke|heart attack|seizure"
    r"|accident)|broke (?:my|up)|split up|separated|took over|set up my own|volunteered"
    r"|organi[sz]ed (?:a|an|our|my)|ran (?:a|my|the) (?:\w+ ){0,2}(?:marathon|10k|5k|race|half)"
    r"|climbed|hiked|backpacked) ?(?!(?:this|that|it)\b)\w?|(?:i'm|i am|im) (?:(?:really|very|so"
    r"|pretty|quite|super|not|also) ){0,2}(?:passionate about|obsessed with|good at|bad at"
    r"|terrible at|allergic to|afraid of|scared of|addicted to|used to) (?!(?:this|that|it|these"
    r"|those|how|what|having|getting)\b)\w"
)
_OUTINGS = lazily(
    r"(?:i|we|my (?:wife|husband|partner|family|kids|girlfriend|boyfriend"
    r"|friends?)(?: and i)?) (?:(?:recently|just|finally|also|both|all) ){0,2}(?:went (?:to|on"
    r"|hiking|camping|skiing|surfing|sailing|fishing|biking)|visited|attended|travel+ed (?:to"
    r"|through|around)|flew to|hosted|celebrated|met|saw|spent|drove (?:to|through)|had (?:a|an"
    r"|my|our))\b"
)
_OUTINGS_NOT = lazily(
    r"\b(?:today|tonight|this morning|page|settings|website|link|url|docs|file|menu|tab|site"
    r"|console|dashboard|store|supermarket|bed|office|error|blast|time|day|look|chat|thought|idea"
    r"|question|problem|the doctor|feeling|chance|dream|talk)\b"
)
_DATED = lazily(
    r"\b(?:last|ago|yesterday|weekend|(?:19|20)\d\d|(?:in|on|since) (?:january|february|march"
    r"|april|may|june|july|august|september|october|november|december|spring|summer|autumn|fall"
    r"|winter|monday|tuesday|wednesday|thursday|friday|saturday|sunday))\b"
)


def is_event(lower: str) -> bool:
    """Return True if a sentence in lower case tells what happened to the user, beyond this day."""
    if _MILESTONES.match(lower):
        return True
    if not _OUTINGS.match(lower) or _OUTINGS_NOT.search(lower):
        return False
    return _DATED.search(lower) is not None


def is_goal(lower: str) -> bool:
    return _GOALS.match(lower) is not None and not _AT_ONCE.search(lower)


def kept_in_mind(lower: str) -> int:
    """Where the statement begins in "remember that ..."; 0 where the sentence is none."""
    match = _KEEP.match(lower)
    if not match or _KEPT_NOT.match(lower, match.end()):
        return 0
    return match.end()
