"""Words around a request that a title leaves out, and those that say where it stands, as data."""

from __future__ import annotations

import re

_MOOD = (
    r"(?:worried|nervous|anxious|curious|excited|interested|concerned|unsure|confused|stressed"
    r"|thinking|wondering|struggling|working|looking|trying|planning|hoping"
    r"|having (?:some )?(?:trouble|issues?|problems?|difficulty))"
)
# What leads to a request, once; callers repeat it.
LEAD = re.compile(
    r"(?:(?:hi|hello|hey|dear|good (?:morning|evening|afternoon))\b[^,.!?]{0,30}[,.!?]+ "
    r"|(?:ok(?:ay)?|so|now|well|and|but|also|then|please|kindly|like|um|uh|basically|actually"
    r"|you know|first(?: of all)?|sure|great|yes|no|hmm)\b,? "
    r"|i(?:'m|’m| am) (?:(?-i:[A-Z])\w+|an? [\w -]{2,40}|\d+(?: years old)?),(?: and)? "
    r"|(?:(?:i(?:'m|’m| am)|we(?:'re|’re| are)) )?(?:currently |just |still |really |kinda "
    r"|kind of |sort of |a (?:bit|little) |pretty |so |very |quite )*"
    rf"{_MOOD}(?:,| (?:about|in|on|for|to|with|if|whether|how|out|at|of|up)){{0,3}} "
    r"|(?:can|could|would|will|do) you (?:please |kindly )?(?:help (?:me|us) (?:to |with |out )?)?"
    r"|(?:help|assist) (?:me|us) (?:to |with |in )?"
    r"|(?:i|we)(?:'d| would)? (?:really )?(?:want|need|like|wish|have)"
    r"(?: (?:you|some|help|advice))* (?:to|with|on) |i (?:have|'ve got|got) (?:a|an|some) "
    r"|let(?:'s|’s| us) "
    r"|is there (?:a|any) (?:\w+ )?way to |(?:what|how) (?:do|can|would|should) (?:i|we) "
    r"|how to |kannst du (?:mir )?(?:bitte )?(?:dabei )?(?:helfen,? )?"
    r"|könntest du (?:mir )?(?:bitte )?|ich (?:möchte|will|brauche) "
    r"|(?:peux|pourrais)-tu (?:m'aider à )?|je (?:veux|voudrais) |puedes (?:ayudarme a )?|quiero "
    r"|necesito |можешь (?:мне )?(?:помочь )?(?:мне )?|помоги (?:мне )?"
    r"|你?能(?:不能)?帮我|请(?:帮我)?)",
    re.IGNORECASE,
)
# What may not stand at the end.
ENDING = re.compile(
    r"(?:[,;:]? (?:please|thanks|thank you|for me|you know|or something|right|then|by then|bitte"
    r"|и|a|an|the|to|of|and|or|for|with|in|on|at|by|from|as|is|are|that|if|when|so|my|your|our))+"
    r"[ ,.;:!?]*$",
    re.IGNORECASE,
)
SELF = re.compile(
    r"(?:i(?:'m|’m| am|'ve|’ve) (?!.{0,20}(?:trying|looking|worried|working|thinking|planning))"
    r"|my name is|we(?:'re| are)|ich bin|je suis|soy|меня зовут)\b",
    re.IGNORECASE,
)
AGE = re.compile(
    r"\b\d{1,3}[ -]years?[ -]old\b|\bI(?:'m|’m| am) \d{2}\b|\b\d{2}-year", re.IGNORECASE
)
# The beginning of a piece that hangs on the one before it.
FRAGMENT = re.compile(
    r"(?:\w+ing (?!to\b)|like |you know|so |um\b|as (?:a|an|someone)\b|especially|maybe|which|who)",
    re.IGNORECASE,
)
# A request that only hands a text over.
HANDS = re.compile(
    r"\b(?:following|below|attached|this (?:issue|text|e?mail|article|letter|log|file|document"
    r"|error|code|page|paper|draft|essay|story|report|challenge|task|problem)"
    r"|these (?:files|lines|notes|logs|messages)|here(?:'s| is| are)|folgend\w*|suivant\w*"
    r"|siguiente\w*|seguente)\b|[:：]\W*$",
    re.IGNORECASE,
)
# The message shows how something is done, and asks nothing.
DEMONSTRATION = re.compile(
    r"(?:here|below|this) (?:is|are) (?:an? |some |the )?(?:demonstration|example)s? ",
    re.IGNORECASE,
)
_ASKED = (
    r"issue(?: description)?|task|title|problem(?: statement)?|question|request|goal"
    r"|objective|user request|query|bug|feature(?: request)?"
)
LABEL = re.compile(rf"^(?:#{{1,6}} *)?\**(?:{_ASKED})\**\s?:\**[ \t]*(?=\S|\n)", re.I | re.M)
TAGGED = re.compile(
    r"<(?:issue\w*|task\w*|problem\w*|user_query|request|query|goal|pr_description)>\s*", re.I
)
# 'a cryptography problem named "Eps"'
NAMED = re.compile(
    r"((?:(?!an? |the )[\w-]{2,30} ){0,3})(?:named|called|titled) [\"“'`]([^\"”'`\n]{2,50})[\"”'`]"
)
VERB = re.compile(
    r"(?:please |now |can you |could you )*(translate|summari[sz]e|review|proofread|explain|rewrite"
    r"|shorten|fix|analy[sz]e|check|edit|improve|critique|convert|debug|solve|read)\b",
    re.IGNORECASE,
)
# A time and a name before what is said.
SPEAKER = re.compile(
    r"\s{0,8}(?:\[[^\]\n]{0,60}\]\s{0,8})?[*<]{0,2}(?P<name>[^\W\d_][\w .'’-]{0,29})[*>]{0,2}"
    r"(?: ?\([^)\n]{0,30}\))?[*]{0,2}[:：](?!/)\s?"
)
# Words that come back in any talk.
VAGUE = frozenset(
    "time today photo photos picture pictures image pics yesterday hello chat".split()
)
OFFER = re.compile(
    r"\b(?:assist|help) you|\bhelp with\b|\blet me know|\bvous aider|\bayudarte|\bhelfen\b|"
    r"\bhow can i\b|\byou'd like|\bпомочь|帮(?:助)?您|お手伝い",
    re.IGNORECASE,
)
