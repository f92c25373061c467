"""English, and what coders say in it."""

from __future__ import annotations

from memtree.text.rule_score import Phrases

_MANNERS = (
    "answer|respond|reply|include|use|format|write|highlight|ask|begin|cite|emphasi[sz]e|"
    "end|follow|"
    "indicate|keep|label|limit|mask|mention|note|omit|prefer|present|prioriti[sz]e|quote|refer|"
    "reference|return|round|sign|skip|specify|speak|spell|state|talk|warn|name|indent|leave|treat|"
    "address|stay|act|put|group|sort|comment|be|have|phrase|sound|target|declare|wrap|pin|rely|"
    "place|pretend|capitali[sz]e|encrypt|validate|lint|stick|call"
)
_TASKS = (
    "provide|explain|show|give|confirm|add|check|clarify|compare|convert|describe|display|document|"
    "ensure|generate|insert|link|list|make|offer|output|point|print|recommend|remind|repeat|say|"
    "start|suggest|summari[sz]e|tell|translate|verify|edit|touch|modify|change|alter|delete|remove|"
    "commit|push|merge|create|run|test|install|import|finish|hard-?code|guess|rename|move|deploy|"
    "squash|rebase|log|mock|catch|throw|assume|invent|share|reveal|break|contact|apologi[sz]e|"
    "expose|store|save|update|bump|read|open|do|build|split|define|wait|overwrite|disclose|publish|"
    "discuss|reformat|refactor|set|shorten|abbreviate|report|record|tag|track|attach|send|"
    r"interrupt|lecture|criti[cq]\w+|praise|review|think|consider|handle|close"
)
_VERBS = f"{_MANNERS}|{_TASKS}"
_PREFIX = (
    r"(?:(?:from (?:now|here) on|going forward|in (?:the )?future|by default|please|kindly|"
    r"always|never|only|just|ever|you|that you|directly|also|make sure to|"
    r"be sure to|try to|remember to|remember):?,? ?)*+"
)
_TELL = (
    "suggest|recommend|mention|offer|propose|assume|guess|invent|apologi[sz]\\w+|repeat|"
    "summari[sz]e|"
    "lecture|explain|praise|flatter|quote|cite|speak|abbreviate|spoil|reveal|hallucinate|"
    "make (?:things |stuff |facts )?up|use|add|include|write|create|introduce|install|modify|edit|"
    "touch|commit|push|end|start|begin"
)
_ASK_ME = (
    r"\b(?:ask|check with|consult|warn|tell|confirm with|get (?:a|my) (?:confirmation|approval|ok)"
    r"(?: from)?)(?: me| with me)?(?: first)?,? before (?:you )?\w+"
)
_LANGUAGES = (
    "english|german|french|spanish|italian|portuguese|dutch|polish|russian|ukrainian|swedish|"
    "norwegian|danish|finnish|czech|greek|turkish|arabic|hebrew|hindi|chinese|mandarin|japanese|"
    "korean|vietnamese|thai|indonesian|latin"
)
_NOT = r"(?:do not|don't|dont|must not|mustn't|may not|should not|shouldn't|cannot|can't)"
_NOUNS = (
    r"(?:answers?|replies|reply|responses?|messages?|explanations?|suggestions?|outputs?|writing|"
    r"summaries|texts?|code|recommendations|examples)"
)

ENGLISH = Phrases(
    first=(
        f"{_VERBS}|no|never|always|all|every|each|any|we|i|i'd|im|i'm|you|your|only|please|must|"
        "avoid|stop|don't|dont|do|make|make|rule|remember|by|under|at|at|when|whenever|before|"
        "after|for|from|going|in|if|as|leave|refrain|everything|anything|new|tests|tests|prefer"
    ),
    anywhere=(
        "always never must should don't dont shouldn't mustn't ever default whenever forward "
        "onwards future throughout only avoid have has conventions go goes live lives belong "
        "belongs no want not"
    ),
    lead=(
        r"(?:(?:and|also|but|so|ok(?:ay)?|oh|please|kindly|well|yes|yeah|hey|hi|thanks|great|cool|"
        r"oh and|one more thing|by the way|btw|actually|first|second|third|finally|additionally|"
        r"furthermore|plus|then)\b[\s,:!.–—-]*+){1,4}+"
    ),
    joint="then|so|but|and please|please",
    standing=(
        r"\balways\b|\bnever\b|\bfrom (?:now|here|this point|today)(?: on(?:wards?)?|"
        r" out| forward)\b"
        r"|\b(?:going|moving) forward\b|\bin (?:the )?future\b|\bby default\b|\bas a "
        r"(?:general )?rule\b"
        r"|\bunder no circumstances?\b|\bat no point\b|\bat all times\b|\ball the time\b"
        r"|\bno matter what\b|\bwithout exception\b|\bever\b|\bfor all (?:further|future|"
        r"my|your|the next)\b"
        r"|\bfor the (?:rest|remainder) of (?:this|the|our)\b|\bunless i (?:ask|say|tell|request)\b"
        r"|\bunless (?:asked|told|i explicitly|explicitly)\b|\b(?:every|each) (?:single )?time\b"
        r"|\bwithout (?:asking|my (?:permission|approval|consent|ok))\b|^(?:remember|"
        r"keep in mind|note|"
        r"important|reminder)(?: that)?: (?=do|don't|no |use|only|we)"
    ),
    frame=(
        r"\b(?:when(?:ever)?|every time|each time|any ?time) (?:i|you|we) "
        r"(?:ask|say|mention|request|type|write|answer|reply|respond|propose|suggest|"
        r"show|create|add|"
        r"make|change|edit|commit|review|explain|refactor|run|talk|speak|send|post|generate|quote|"
        r"cite|describe|name|use|finish|complete|touch|modify|start|recommend|translate|give|"
        r"summari[sz]e|code|implement|rename|delete|move|fix|see)\b"
        r"|^before you (?:commit|push|delete|change|merge|edit|run|deploy|answer|install)\b"
        r"|^before (?:every|each|any|committing|pushing|merging|deploying)\b"
        r"|^after (?:every|each|any) |\bafter you (?:change|edit|finish|modify|complete) "
        r"(?:a|an|any|each|every|some) |\bif you(?:'re| are) (?:ever )?(?:unsure|not sure|in doubt|"
        r"uncertain)\b|\bif you (?:ever )?(?:don't|do not) know\b|^(?:if|when) (?:in "
        r"doubt|unsure)\b"
        r"|\beverything (?:that )?i (?:say|write|ask|send)\b|\bper (?:answer|reply|response|"
        r"message)\b"
    ),
    scope=(
        r"\b(?:in|for|throughout|across|of|on|within) (?:this|our|the|my)(?: (?:whole|entire))? "
        r"(?:project|code ?base|repo(?:sitory)?|monorepo|chat|conversation|workspace|session|"
        r"thread|role-?play|app|team|company|documentation|docs)s?\b"
        r"|\baround here\b|\bhere$|\bhere[,.;]|\bthroughout\b|\bacross the board\b"
        r"|\banywhere\b|\beverywhere\b|\bin production\b"
    ),
    order=(
        rf"{{start}}{_PREFIX}(?:{_MANNERS})\b|\b(?:always|never|ever) (?:please )?(?:{_VERBS})\b"
        r"|{start}(?:make|be) sure (?:that |all |every |your |you )"
        r"|{start}ensure (?:that )?(?:all|every|your|you)\b"
    ),
    task=rf"{{start}}{_PREFIX}(?:{_TASKS})\b",
    duty=(
        rf"\byou (?:must|should|shall|have to|need to|are to|ought to)"
        rf"(?: only| always| never| not| ever)*+ (?:{_VERBS})\b"
        r"|\b(?:should|may|must|can) you (?:ever )?\w+|\bi (?:expect|trust) you to\b"
        rf"|^(?:must|should) (?:always|never|not) (?:{_VERBS})\b"
    ),
    forbid=(
        rf"(?:{{start}}(?:you |please |rule: )*+|\bto )(?:{_NOT}|never)(?: ever| please)? "
        rf"(?:{_VERBS})\b"
        rf"|\byou (?:{_NOT} (?:ever )?(?:{_VERBS})|are (?:not|never) (?:allowed|permitted)|"
        r"aren't allowed)\b"
        r"|{start}(?:please )?(?:avoid|refrain from|stay away from|steer clear of)\b"
        r"|{start}(?:please )?(?:stop|quit|no more) \w+ing\b"
        r"|(?:^|: )no (?!problem|worries|one\b|idea|thanks|thank|need|way|matter|doubt|"
        r"wonder|luck|big|"
        r"rush|hurry|longer|offen[cs]e)[\w\"'-]+"
        r"|\bdo not (?:ever )?(?:touch|edit|commit|push|modify|use|add)\b"
        r"|\bno more \w+s\b"
    ),
    wish=(
        r"\bi(?:'d| would)? (?:want|need|like|love|expect|ask|prefer|require)(?: (?:that|"
        r"if|for|it if))? "
        r"(?:you\b|your\b|all\b|every\b)"
        r"|\bi(?:'d| would)? (?:really )?(?:don't|do not|never|hate|dislike|can't stand|rather not|"
        r"prefer not)(?: ever)? (?:to )?(?:want|need|see|like|have|get)\b"
        r"|\bi(?:'d| would)? prefer (?:it (?:if|when) you|that you|if you|you)\b"
        r"|\bi(?: always| generally| strongly)? prefer\b"
        r"|\bi (?:want|need|like|expect) (?:my|the|short|brief|concise|only|no|all|every)\b"
    ),
    norm=(
        r"{start}(?!(?:they|he|she|it|i|we|you|there|this|that|these|those|the|participants|users|"
        r"people|employees|students|passengers|who|which|what|so|and)\b)(?:[\w'\"/`.-]+ ){1,6}?"
        r"(?:must|should|shall|have to|has to|need to|needs to|are to|is to|may|can)"
        r"(?: not| always| never| only)*+ (?:be|have|come|go|use|include|end|start|begin|"
        r"run|contain|"
        r"follow|live|pass|stay|match|carry|fit|return|compile|work|remain|sit|reference)\b"
    ),
    habit=(
        r"(?:{start}|\b(?:project|repo|repository|code ?base|team|company) )we (?:only "
        r"|always |never |do not |don't |strictly |exclusively )*+"
        r"(?:use|write|prefer|avoid|commit|deploy|indent|name|keep|put|target|support|follow|"
        r"merge|squash|rebase|test|document|format|run|store|ship|stick|allow|want)\b"
        r"|^(?!i |we |you |he |she |it |they |the |my |his |her |this |that )(?:[\w-]+ "
        r"){1,3}?(?:is|are) "
        r"(?:always|never|only) "
        r"|^(?!i |we |you |he |she |it |they |the |my |his |her |this |that )(?:[\w-]+ ){1,3}?"
        r"(?:always|never) (?:use|go|have|get|come|live|start|end|begin|carry)\b"
    ),
    style=(
        rf"\byour (?:next )?(?:[\w-]+ )?{_NOUNS}\b|\b(?:all|every|each|any|per|long|short) "
        rf"{_NOUNS}\b"
        r"|\b(?:answers|replies|responses)\b|\bin your\b|\beverything you (?:write|say|send|do)\b"
        r"|\banything you (?:write|say)\b"
        r"|\b(?:bullet points?|bullets|bullet lists|exclamation marks?|jargon|passive "
        r"voice|active voice|"
        r"tone|code fences?|code blocks?|headings?|semi-?colons?|double quotes|single quotes|tabs|"
        r"spaces|docstrings?|commit messages?|comments|type hints?|type annotations|abbreviations|"
        r"acronyms|spelling|metric|imperial|celsius|fahrenheit|units|dates|prices|currency|"
        r"citations|"
        r"footnotes|endpoints?|disclaimers?|filler|pleasantries|small talk|slang|swearing|"
        r"swear words|curse|"
        r"profanity|spoilers?|clich[eé]s|metaphors|italics|bold|tables|plain text|latex|rhyme|"
        r"jokes?|puns?|sarcasm|em[ -]dash(?:es)?|contractions|capital letters|lower ?case|"
        r"upper ?case|"
        r"(?:variable|file|function|class|branch|table|column|method)s? names?|"
        r"pseudo-?code|type assertions|default exports|force[- ]push\w*|first name|full "
        r"name|nickname|"
        r"honorifics|pronouns|24-hour|oxford commas?|in character|out of character|real names?|"
        r"bullet-point\w*|one-liners?|todo comments|print statements|inline styles|global "
        r"variables|"
        r"magic numbers|secrets|passwords|api keys)\b"
        r"|\b(?:under|below|at most|no (?:more|longer) than|up to|within|max(?:imum)?(?: of)?|"
        r"fewer than|less than|shorter than|to|only|exactly|in) "
        r"(?:\d+|two|three|four|five|six|ten|twenty|fifty|a (?:hundred|single|couple of)|one) "
        r"(?:words?|sentences?|lines?|characters?|paragraphs?|bullets?|points|columns)\b"
        rf"|\b(?:answer|respond|reply|write|speak|talk|explain|communicate)\w*(?: \w+){{0,4}}? "
        rf"(?:in|only) (?:\w+ )?(?:{_LANGUAGES})\b"
        r"|\b(?:answer|respond|reply|speak|talk|write)\w* (?:\w+ ){0,3}?(?:in|like|as) "
        r"(?:a |an |plain |"
        r"simple |short |full |formal |verse|character|the (?:first|second|third) person)"
        r"|\b(?:british|american|plain|simple) (?:english|spelling|language)\b"
        r"|\blike (?:i'm|i am|a) (?:\w+ )?(?:beginner|child|five|expert|pirate|senior|"
        r"colleague|friend)\b"
    ),
    work=(
        r"\b(?:functions?|classes|class|modules?|folders?|director(?:y|ies)|files?|librar(?:y|ies)|"
        r"dependenc(?:y|ies)|packages?|endpoints?|migrations?|configs?|components?|variables?|"
        r"strings?|"
        r"linter|database|schema|docs|documentation|pull requests?|prs?|logging|logger|"
        r"print|types?|"
        r"interfaces?|inheritance|composition|versions?|patch(?:es)?|scripts?|builds?|ci|deploy\w*|"
        r"exceptions?|errors?|imports?|lock ?file|production|staging|servers?|releases?|"
        r"constants?|methods?|queries|hooks?|generics|async|fixtures|mocks?|lint\w*|prettier|"
        r"eslint|black|ruff|jest|pytest|makefile|bash|shell|frameworks?|framework|arrays?|"
        r"framework|indent\w*|names?|sources?|links?|urls?|images?|recipes?|drafts?|"
        r"paragraphs?|sentences?|words?|lists?|titles?|sections?)\b"
    ),
    every=(
        r"^(?:all|every|each|any|only|no)\b|{start}only\b|\b(?:all|every|each) (?:new |single )?"
        r"\w+(?:s|ion|er|et|est|le)?\b"
    ),
    contrast=(
        r"\binstead of\b|\brather than\b|, (?:not|never|no) [\w`\"'-]+|\band not\b|\bnot "
        r"[\w`-]+, (?:but|use)\b"
        r"|\bover [\w`-]+$|\bonly\b|\bby (?:his|her|their) \b"
    ),
    tell=(
        rf"\byou(?:'re| are) (?:not|never) (?:allowed|permitted) to (?:{_VERBS})\b"
        rf"|\b(?:don't|do not|never|not|stop|please don't) (?:ever )?(?:{_TELL})(?:ing)?\b(?! "
        r"(?:the|this|that|it|them|yet|my|a|an|so|too|anything else|me|him|her)\b)"
    ),
    fixed=(
        r"^(?:please )?be (?:more )?(?:concise|brief|terse|succinct|blunt|direct|to the "
        r"point|polite|"
        r"formal|informal|less verbose|less formal)\b(?!.*\b(?:when you|with (?:him|her|them))\b)"
        r"|^(?:please )?(?:call|address) me (?!when|if|back|later|tomorrow|tonight|at|"
        r"on|in|soon|asap|"
        r"now|today|again|maybe|crazy|old|stupid|anytime|after|before|this|next|from|"
        r"or|and|once|a\b)[\w]"
        rf"|^(?:please )?(?:always )?{_ASK_ME}"
        r"|^(?:important |house |ground |general |standing |hard |project |golden )?rules?(?: "
        r"\d+)?: \w"
        r"|\brefer to (?:me|my \w+|him|her|them|us|the \w+) as\b|\bstay (?:in|out of) character\b"
        r"|\b(?:never|don't|do not) (?:break|leave|drop) character\b"
        r"|\b(?:never|don't|do not) (?:speak|act|talk|decide|write)(?: or \w+)? (?:for|as) "
        r"(?:me|my|mine|the user|{{user}}|\w+(?:'s|\.|$))"
        r"|\btreat me (?:like|as)\b|\btalk to me (?:like|as)\b|\bexplain (?:things|everything) \w+"
        r"|^keep (?:it|things) (?:short|brief|concise|simple|professional|formal|casual) "
        r"(?:from|always|in)"
        r"|^(?:please )?keep (?:your|all|the|every) (?:answers|replies|responses|reply|"
        r"response|answer|"
        r"explanations)\b|^(?:please )?(?:no|skip|drop|spare me|cut) (?:the )?(?:emojis|markdown|"
        r"small talk|disclaimers|pleasantries|flattery|spoilers|jargon)\b"
    ),
    nearly=(
        r"{start}(?!i |we |you |he |she |it |they |the |my |this |that )(?:[\w'\"/`-]+ "
        r"){1,4}?(?:go|goes|live|lives|belong|belongs) (?:in|into|under|to|next)\b"
        r"|^(?:please )?(?:strictly )?(?:stick|adhere|conform|keep) (?:to|with)\b|^prefer [\w`-]+ "
        r"|^leave .{1,40} alone\b|^(?:please )?refrain from\b|^(?:please )?respect "
        r"|^(?:please )?follow (?:the|our|my) .{0,30}(?:guide|guidelines|conventions?|"
        r"standards?|style)\b"
    ),
    polite=(
        r"\b(?:can|could|would|will) you (?:please |also |maybe |just )*+(?:always|never|"
        r"stop \w+ing|"
        r"from now on|avoid \w+ing|not (?:use|write|add)|refrain from)\b"
    ),
    definite=(
        rf"{{start}}(?:please |always |never |only |just )*+(?:{_VERBS}) "
        r"(?:me |out |all (?:of )?|up )?(?:the|this|that|these|those|it|them|my|again)\b|"
        r"\bin the (?:table|text|list|log|"
        r"output|second|first|next|last)\b|\b(?:to|in|from|of|for) (?:this|that|these|"
        r"those) (?!project|"
        r"repo|code ?base|chat|conversation|client|thread|session)\w+"
    ),
    once=(
        r"\b(?:this time|for now|just (?:this )?once|this once|right now|at the moment|"
        r"today|tonight|"
        r"tomorrow|yet|for (?:this|that|the) (?:task|one|question|file|request|next|step|"
        r"time|case)|"
        r"second|third|next (?:one|step|time i'm)|first (?:one|question|option|approach|step|try)|"
        r"in a (?:minute|moment|second)|(?:last|previous) (?:one|message|answer|question|"
        r"paragraph)|"
        r"above|below|following|again$|whatever you|as well as|when you(?:'re| are) (?:done|ready|"
        r"finished)|when you have (?:time|a)|if you (?:want|like|can|have|could|need|think|wish)|"
        r"(?:on|by) (?:monday|tuesday|wednesday|thursday|friday|saturday|sunday)|to reproduce)\b"
    ),
    against=(
        r"^(?:i'm|i've|i'll|i am|i have|i had|i will|i was|i need (?:to|help|some|you "
        r"to help)|i want to|"
        r"i \w+ed|it's (?!important|essential|crucial|vital)|i'd (?:like|love|prefer|"
        r"want) to|i would (?:like|love) to|i can|i could|i might|"
        r"i also (?:want|need|have)|i keep|i just|i still)\b"
        r"(?!.{3,80}(?:, (?:so|please|and)|;|\.) (?:please )?(?:never|always|don't|do "
        r"not|avoid|only)\b)"
        r"|\b(?:can|could|would|will) you (?:please |also |maybe )*+(?!always|never|stop|"
        r"not|avoid|from)\w+"
        r"|^(?!i(?:'d| would)? (?:really )?(?:want|need|like|expect|prefer)(?: that)? you\b)"
        r"(?:i|we|he|she|they|it(?!'s (?:important|essential|crucial|vital))|(?:my|"
        r"his|her|our|their|the|this|that|its|some|most|many) [\w' -]{1,30}?|"
        r"that|this|someone|people|everyone|nobody|who)(?:'ve|'s|'d|'ll|'re|'m)? "
        r"(?:[\w']+ ){0,3}?(?:always|never|ever)\b(?!.{0,40}\bwant (?:to see|you)\b)"
        r"(?<!we always)(?<!we never)"
        r"|\byou must be\b|^you (?:have to|should|must|need to|can) (?:keep|try|see|be|"
        r"believe|trust|do)\b"
        r"|\b(?:nudge|reminder|reminds? me|like (?:no|any)one|inspir\w+|my goals?|your "
        r"goals?|afraid|"
        r"friends|hard times|my back|let me know)\b"
        r"|^you (?:always|never|don't|no) |^(?:to never|never mind|never heard|always "
        r"a |as always|as ever)"
        r"|\bi(?:'ve|'m| have| had| am| was| will|'ll) (?:\w+ ){0,3}?(?:always|never|"
        r"told|instructed|"
        r"decided|agreed|promised|planned|going to|from now on|be )"
        r"|\b(?:told|asked|taught|reminded|advised|warned) (?:me|us|him|her|them)\b"
        r"|\b(?:says?|said|wrote|means|policy|manual|lease|law|contract|advice|tip|lesson|"
        r"motto|proverb|"
        r"teacher|doctor|boss|quote)\b(?! that you)(?=.*\b(?:always|never|must|should|"
        r"no|not|all)\b)"
        r"|\bif i were\b|\b(?:i|we|he|she|they) would (?:always|never)\b|\bhow (?:can|"
        r"do|should|would|"
        r"could|might) (?:i|we)\b|\bused to\b|\bwe(?:'ll| will| should| need| have to|"
        r" could| can| were|'re)\b"
        r"|^(?:i|we) (?:think|guess|hope|suppose|wish|learned|decided|should)\b"
        r"|\b(?:the|this|that|your|an?) (?:user )?(?:instruction|rule|requirement|advice)s? to\b"
        r"|\b(?:give up|say never|dreams?|heart|(?:in|be|love|trust|to) yourself|believe|"
        r"faith|bright side|happiness|smile|hugs?|"
        r"too late|gives up|love you|proud of|blessed|grateful|thankful)\b"
        r"|\bmust have \w+(?:ed|en)\b|\b(?:improve|handle|plan|approach|proceed|manage|"
        r"apply|adjust|"
        r"maintain|prevent) (?:\w+ ){0,6}going forward\b|\bremember (?:when|the|that time|how)\b"
        r"|^no [\w ]{0,30}(?:was|were|found|performed|matched|available)\b"
        r"|\bthanks? (?:you )?for\b|^(?:why|what|how|who|where|when did|do you|does|did|"
        r"is|are|was|can i|"
        r"should (?:i|we)|could (?:i|we))\b(?!.*\bif you\b)"
        r"|^(?:there|then|they|he|she) (?:should|must|is|are)\b|\bdon't (?:you|we|they)\b"
        r"|^(?:i|we) (?:don't|do not|never) (?:have|use|own|eat|go|know|think|get)\b(?!.*\b(?:cod"
        r"e ?base|"
        r"project|repo|here|logger)\b)"
    ),
)
