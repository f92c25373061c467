"""Facts in English: who the user is, whom they live with, what they own, use and work on."""

from __future__ import annotations

import re

from memtree.memories.extraction.wording.people import AROUND, HAS, KIN, PET, TRAIT

_ADVERBS = (
    r"(?:(?:also|usually|always|never|mostly|mainly|only|often|sometimes|generally|normally"
    r"|actually|currently|really|still|both|all|mostly|typically|regularly|primarily|rarely|don't"
    r"|do not|no longer|can't|cannot|can|already|exclusively|officially|strictly|recently) ){0,3}"
)
_I_AM = r"(?:i am|i'm|im|i was|i've been|i have been)"
_NAME = r"(?:,? (?:[\w'-]+)(?: and [\w'-]+)?,?)?"
_OWN = rf"(?:my|our) (?:[\w'-]+ ){{0,2}}?(?:{KIN}|{AROUND}|{PET})(?:'s)?"
_NOT_NOW = (
    r"(?!(?:not |so |very |really |also |a bit |feeling |just |still |now |currently |getting )*"
    r"(?:sick|ill|angry|mad|upset|tired|asleep|late|here|home|coming|waiting|busy|sad|happy|worried"
    r"|annoyed|crying|calling|asking|telling|saying|making|getting|going|trying|driving me|being"
    r"|having|looking|right|wrong|ok|okay|fine|great|awesome|amazing|ready|away|out|down|up|back"
    r"|broken|slow|failing|red|green|flaky|done|gone|stuck|hungry|bored|about|that|this|it|how"
    r"|what|why|where|when|to|as follows|below|above)\b)"
)
_DOES = (
    r"(?:has|have|works|work|lives|live|loves|likes|hates|prefers|enjoys|plays|studies|speaks|owns"
    r"|runs|drives|teaches|eats|wears|suffers|moved|was born|were born|passed away|died|goes to"
    r"|go to|is called|are called|turned|turns|retired|got married|was diagnosed|(?:can't|cannot"
    r"|can not|doesn't|does not|don't|do not|never) (?:eat|drink|like|have|speak|tolerate|own|drive"
    r"|use)|always|used to|grew up|comes from|come from|uses|use|sleeps|belongs|weighs)"
)
_PEOPLE = re.compile(
    rf"{_OWN}{_NAME}(?: \([\w' ,-]{{1,30}}\))? (?:(?:is|are|was|'s) {_NOT_NOW}\w"
    rf"|{_ADVERBS}{_DOES} )"
    rf"|{_OWN}'s (?:name|birthday|anniversary|wedding|job|school) (?:is|are|was) \w"
    rf"|i(?:'ve got| have| have got|'ve| also have| own)? (?:(?:a|an|one|two|three|four|five|six"
    rf"|\d+"
    rf"|no|some|many) )?(?:[\w'-]+ ){{0,3}}?(?:{KIN}|{PET})\b(?! (?:problem|issue|question)s?)"
)
_TRAITS = re.compile(
    rf"(?:my|our) (?:(?:current|new|old|main|daily|work|personal|home|whole) ){{0,2}}{TRAIT}"
    rf"(?:'s)?(?: (?:is|are|was|will be)|'s) {_NOT_NOW}\w"
    rf"|(?:my|our) (?:(?:current|new|old|main|daily|work|personal|home) ){{0,2}}{TRAIT} "
    r"(?:has|runs|uses|lives|starts|ends|begins|closes|opens|sits|faces|sells|makes|does|costs"
    r"|expires|consists|weighs|supports|departs|leaves|lands|focuses) \w"
    rf"|i(?:'ve got| have| have got| own| also have| also own| do have)"
    rf" (?:[\w.,'-]+ ){{0,6}}?{HAS}\b(?! (?:problem|issue|question|interview)s?)"
)
_ROLE_NOT = (
    r"(?!(?:bit|little|lot|fan|bug|problem|mistake|moron|idiot|mess|wreck|loss|genius|big|huge"
    r"|great|good|bad|victim|little bit|tad|hurry|rush|similar|same|new (?:one|file)|couple|few"
    r"|while|way|happy|sad|dragon|wizard|knight|vampire|elf|witch|king|queen|god)\b)"
)
_SELF = re.compile(
    rf"{_I_AM} {_ADVERBS}(?:an?|the) {_ROLE_NOT}(?:[\w'/&+#.-]+ ){{0,6}}?(?:[a-z-]*(?:er|or|ist|ian"
    r"|ant|ent|ess|ee|man|woman|ic|yst|eur)s?|nurse|chef|pilot|judge|coach|ceo|cto|cfo|vp|lead"
    r"|head|intern|mom|mum|dad|mother|father|widow|widower|vegan|vegetarian|pescatarian|celiac"
    r"|muslim|christian|jew|hindu|buddhist|catholic|atheist|citizen|native|diabetic|smoker|minor"
    r"|freshman|sophomore|junior|senior|midwife|monk|priest|pastor|nun|dba|sre|pm|qa|admin"
    r"|sysadmin|dev|devops|gardener|twin|only child|morning person|night owl|introvert|extrovert"
    r"|dm|gm|german|french\w*|dane|swede|finn|pole|spaniard|turk|brit|scot|italian|american)\b"
    rf"|{_I_AM} {_ADVERBS}(?:allergic|intolerant|vegan|vegetarian|pescatarian|gluten[- ]free|celiac"
    r"|coeliac|lactose intolerant|diabetic|asthmatic|dyslexic|autistic|colou?r-?blind|deaf|blind"
    r"|hard of hearing|left-?handed|right-?handed|pregnant|married|divorced|single|engaged|widowed"
    r"|retired|self-employed|unemployed|muslim|christian|jewish|hindu|buddhist|catholic|lutheran"
    r"|german|french|italian|spanish|dutch|polish|swedish|danish|norwegian|finnish|irish|scottish"
    r"|british|english|american|canadian|australian|indian|chinese|japanese|korean|brazilian"
    r"|mexican|turkish|greek|portuguese|austrian|swiss|belgian|ukrainian|russian|nigerian|kenyan"
    r"|bilingual|trilingual|a morning person|a night owl|an introvert|in charge|responsible for"
    r"|from|based|born|originally from|fluent in|afraid of|scared of|claustrophobic|nonbinary"
    r"|non-binary|trans|gay|lesbian|bi|queer|adopted|severely|highly allergic|deathly)\b"
    rf"|{_I_AM} (?:(?:about|almost|nearly|over) )?\d{{1,2}}(?:\.| years? old| yrs? old|yo\b|$|,"
    rf"| and )"
    rf"|{_I_AM} \d{{3}} ?cm|{_I_AM} \d'\d"
    rf"|{_I_AM} (?:in|at) (?:my (?:\w+ ){{0,2}}(?:year|thirties|forties|fifties|sixties|twenties)"
    r"|\w+ grade|grade \d+|year \d+|cet|est|pst|utc|gmt|the (?:\w+ )?(?:industry|business|army|navy"
    r"|military|netherlands|uk|us|usa))\b"
    rf"|{_I_AM} (?:learning|studying|training for|working (?:as|at|for)|living|renting|freelancing"
    r"|teaching|saving (?:up )?for|recovering from|taking (?:\w+ )?(?:lessons|classes)|writing (?:a"
    r"|my) (?:\w+ ){0,3}(?:novel|book|thesis|dissertation|memoir)|researching|breastfeeding"
    r"|doing (?:a"
    r"|my) (?:phd|master|bachelor|internship|apprenticeship))\b(?! (?:this|that|it|how|to)\b)"
    r"|(?:my name is|my name's|i go by|i was born|i was raised|i grew up|i was diagnosed"
    r"|people call me|everyone calls me|friends call me) \w"
)
_LIFE = re.compile(
    rf"i {_ADVERBS}(?:live|work (?:as|at|for|in|with|from|night|part|full|on the|remote|three|four)"
    r"|study (?!this|that|it)|speak (?!of)|own (?:a|an|the|two|three|\d)|drive (?:a|an|my|to)|play"
    r" (?!with this|with it|around)|teach|coach|volunteer|commute|rent|smoke|vape|meditate"
    r"|practi[sc]e"
    r"|train|collect|grow|sing|paint|knit|crochet|brew|bake|cook (?:for|every|on)|swim|cycle|jog"
    r"|climb|surf|ski|hike|camp|fish|garden|hunt|run (?:a|an|my|every|three|\d|marathons|on)"
    r"|manage (?:a"
    r"|the|\w+ people)|lead (?:a|an|the)|freelance|report to|eat|drink|take (?:my |\d|\w+ (?:mg"
    r"|pills|"
    r"medication|for my))|wear|suffer from|struggle with|identify as|sleep|wake up|get up"
    r"|go to the gym"
    r"|go to (?:church|bed|school|uni\w*|college)|have a background in|attend|belong to|follow a"
    r"|avoid"
    r"|weigh|translate for a living|write for a living|graduated|majored|earn|make \$?\d|served"
    r"|moved (?:to|from|here|in|back)|quit|retired|emigrated|immigrated|relocated|got (?:married"
    r"|divorced|engaged|promoted|laid off|fired|hired|accepted|into|a (?:new )?(?:job|dog|puppy|cat"
    r"|kitten|car|promotion|raise))|bought (?:a|an|my|our) |adopted|started (?:a new job|working"
    r"|at|my"
    r" own|learning|my (?:\w+ )?(?:job|company|business))|founded|co-?founded|joined|used to"
    r"|lost my"
    r"|gave birth|switched (?:to|from)|stopped|signed up|enrolled|inherited|sold my)\b(?! (?:this"
    r"|that"
    r"|it|these|those|them|there|here|and|but|on it|the (?:following|same|above))\b)"
    r"|i(?:'ve| have) (?:been )?(?:liv|work|play|run|teach|study|learn|us|practi[sc]|writ|do|mak"
    r"|train|suffer|cod|program|develop|build|a \w+ )\w* (?:[\w'-]+ ){0,8}?(?:for|since) (?:\d"
    r"|\w+ years|"
    r"over|almost|about|my|a|the|19|20)"
    r"|i(?:'ve| have) (?:got )?(?:[\w+-]+ ){0,3}years(?: of|') \w*"
)
_TOOLS = re.compile(
    rf"i {_ADVERBS}(?:use|run|code in|program in|develop (?:in|on|for)|write (?:in|my)|deploy|host"
    rf"|work"
    r" (?:in|on|with)|switched|migrated|moved) (?!this|that|it|the (?:following|code|same|first)"
    r"|these"
    r"|those|them|here|there|a (?:function|class|loop|regex|script|hook)|to )\w"
    r"|(?:this is|i'm|i am|we're|we are|we work) (?:using |on |in )(?!this|that|it|the|my way|a\b|"
    r"holiday|vacation|sick|call|it|hold|team)\w[^,;]*$"
)
_WE = re.compile(
    rf"(?:at work,? |at our (?:company|office),? |in our (?:team|company|project),? )?(?:we"
    rf"|the team"
    rf"|my team|our team|my company|our company|the company) {_ADVERBS}(?:use|uses|deploy|deploys"
    rf"|run|runs"
    r"|host|hosts|ship|ships|release|releases|store|stores|write|writes|test|tests|develop|develops"
    r"|work|works|follow|follows|support|supports|target|targets|require|requires|meet|meets|pay"
    r"|pays"
    r"|sell|sells|live|own|rent|employ|employs|build|builds|make|makes|serve|serves|operate"
    r"|operates"
    r"|stick|sticks|enforce|enforces|squash|squashes|rebase|merge|merges|commit|tag|name|names|keep"
    r"|keeps|manage|manages|track|tracks|log|logs|monitor|monitors|bill|bills|teach|teaches|produce"
    r"|have (?:a|an|about|around|over|no|two|three|four|five|six|seven|eight|nine|ten|\d|weekly"
    r"|daily"
    r"|our|one|separate|strict)|moved (?:to|from|off|into)|switched|migrated|bought|adopted"
    r"|got married"
    r"|got (?:a|engaged)|are (?:a|an|based|on|using|vegan|vegetarian|expecting|located|hiring"
    r"|moving"
    r"|migrating|switching)|consist|consists|is based)\b(?! (?:this|that|it|these|those|them"
    r"|the (?:"
    r"following|same|above|first|second|code|function|value|result|data|id|index|loop))\b)"
)
_THINGS = (
    r"(?:team|project|company|app|application|repo|repository|codebase|code base|monorepo|backend"
    r"|frontend|back end|front end|api|apis|site|website|product|service|services|microservices"
    r"|staging|prod|production|dev|qa|ci|ci/cd|pipeline|cluster|database|databases|db|dbs|data"
    r" warehouse|infra|infrastructure|servers?|cloud|office|hq|headquarters|fiscal year|sprints?"
    r"|stand-?ups?|retros?|releases?|deploys?|deployments|docs|documentation|tests|test suite|style"
    r" guide|branch(?:es)?|main branch|default branch|tickets|monitoring|logs|auth|design system"
    r"|customers?|clients?|users|budget|store|shop|newsletter|mobile app|ios app|android app|stack"
    r"|tech stack|convention|conventions|license|kids|package manager|queue|cache|firm|startup"
    r"|farm)"
)
_PROJECT = re.compile(
    rf"(?:our|the|my) (?:[\w.-]+ ){{0,3}}?{_THINGS}(?: (?:server|environment|box|cluster|database"
    rf"|db"
    rf"|team|deploy|branch|code|is|are|for [\w.-]+))*,? {_ADVERBS}(?:uses?|is written in"
    rf"|are written in|is"
    r" (?:\w+ )?hosted|are (?:\w+ )?hosted|runs?(?: on| in| every| as)?|is built|are built"
    r"|deploys?|is"
    r" deployed|are deployed|targets?|follows?|requires?|never|always|only|lives?|live in"
    r"|sits? (?:on|in|"
    r"behind)|is called|is named|is at|is in|is on|are on|are in|is an?|consists? of|starts? (?:on"
    r"|in)"
    r"|ends? (?:on|in)|must|supports?|is licensed|is maintained|expects?|goes? (?:through|to|out)"
    r"|go"
    r" (?:through|to|out)|happens?|takes? place|is mirrored|is (?:[A-Z]|\w+ \d))\b"
    rf"|(?:our|my) (?:[\w.-]+ ){{0,3}}?{_THINGS}(?: (?:server|environment|box|db))? (?:is"
    rf"|are) {_NOT_NOW}\w"
)

_PATTERNS = (_SELF, _PEOPLE, _TRAITS, _LIFE, _WE, _PROJECT, _TOOLS)


def is_fact(lower: str) -> bool:
    """Whether a sentence in lower case begins as a lasting fact about the user."""
    return any(pattern.match(lower) for pattern in _PATTERNS)
