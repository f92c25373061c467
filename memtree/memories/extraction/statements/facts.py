"""Facts in English: who the user is, whom they live with, what they own, use and work on."""

from __future__ import annotations

from memtree.memories.extraction.statements.people import AID, AROUND, HAS, KIN, PET, TRAIT
from memtree.text.lazy_patterns import lazily

_ADVERBS = (
    r"(?:(?:also|usually|always|never|mostly|mainly|only|often|sometimes|generally|normally"
    r"|actually|currently|really|still|both|all|mostly|typically|regularly|primarily|rarely|don't"
    r"|do not|no longer|already|exclusively|officially|strictly|recently|just) ){0,3}"
)
_I_AM = r"(?:i am|i'm|im|i've been|i have been)"
_NAME = r"(?:,? (?:(?:mrs?|ms|dr)\.? )?(?:[\w'-]+)(?: and [\w'-]+)?,?)?"
_OWN = rf"(?:my|our) (?:[\w'-]+ ){{0,2}}?(?:{KIN}|{AROUND}|{PET})(?:'s)?"
_KIN_OR_PET = rf"(?:my|our) (?:[\w'-]+ ){{0,2}}?(?:{KIN}|{PET})(?:'s)?"
_NOT_NOW = (
    r"(?!(?:not |so |very |really |also |a bit |feeling |just |still |now |currently "
    r"|getting )*(?:frozen|at \d|delayed|cancelled|canceled|on (?:vacation|holiday|leave|fire"
    r"|sale|strike)|(?!(?:learning|studying|living|training|expecting|moving|retiring|visiting"
    r"|working (?:as|at|for|in|on))\b)\w+ing|sick|ill|angry|mad|upset|tired|asleep|late|here|home"
    r"|coming|waiting|busy|sad|happy|worried|annoyed|crying|calling|asking|telling|saying|making"
    r"|getting|going|trying|driving me|being|having|looking|right|wrong|ok|okay|fine|great"
    r"|awesome|amazing|ready|away|out|down|up|back|broken|slow|failing|red|green|flaky|done|gone"
    r"|stuck|hungry|bored|about|that|this|it|how|what|why|where|when|to|as follows|below|above|my"
    r"|the best|the worst|like|so|such|what|low\b|high\b|everything|important|worth|cute|amazing"
    r"|nice|cool|beautiful|awesome|lovely|fun|hard|tough|full|one of|a (?:blast|joy|pleasure"
    r"|treat|huge|great|good|big|bit|nightmare|mess|pain|disaster|reminder|source|motivation))\b)"
)
_DOES = (
    r"(?:(?:has|have)(?! (?:so|such|been|a point|to|no idea|just|already))|works|work|lives|live"
    r"|loves|likes|hates|prefers|enjoys|plays|studies|speaks|owns|runs|drives|teaches|eats|wears"
    r"|suffers|moved|was born|were born|passed away|died|goes to|go to|is called|are called"
    r"|turned|turns|retired|got (?:married|engaged|divorced)|gave birth|had a baby|was diagnosed"
    r"|(?:can't|cannot|can not|doesn't|does not|don't|do not|never) (?:eat|drink|like|have|speak"
    r"|tolerate|own|drive|use)|always|used to|grew up|comes from|come from|uses|use|sleeps"
    r"|belongs|weighs|starts? (?:school|kindergarten|university|college|work|a new)|attends?"
    r"|graduated|graduates|(?:just |recently )?(?:adopted|bought|became|joined|quit|founded)"
    r"|competes?|collects?)"
)
_PEOPLE = lazily(
    rf"{_KIN_OR_PET}{_NAME} (?:is|are|'s) getting (?:married|divorced|engaged)\b|"
    rf"my (?:{KIN}|best friend) and i (?:are|have|live|work|own|both|moved|love|like|hate|run"
    rf"|share|got)\b|{_KIN_OR_PET}{_NAME}(?: \([\w' ,-]{{1,30}}\))? (?:(?:is|are|was"
    rf"|'s) {_NOT_NOW}\w|{_ADVERBS}{_DOES} )|(?:my|our) (?:[\w'-]+ ){{0,2}}?{AROUND}{_NAME}"
    rf" (?:(?:is|are|was|'s) {_NOT_NOW}\w|{_ADVERBS}(?:lives?|likes?|loves?|hates?|prefers?|speaks?"
    rf"|is called|are called|retired) )|{_OWN}'s (?:name|birthday|anniversary|wedding|job"
    rf"|school) (?:is|are|was) \w|(?:i|we)(?:'ve got| have| have got|'ve| also have| own) (?:(?:a"
    rf"|an|one|two|three|four|five|six|\d+|no|some|many) )?(?:[\w'-]+ ){{0,3}}?(?:{KIN}"
    rf"|{PET})\b(?! (?:(?:problem|issue|question)s?|object|model|table|class|field|emoji|column"
    rf"|id|page|list|array|names?|node|process|error|element|component)\b)"
)
_TRAITS = lazily(
    rf"(?:my|our) (?:(?:current|new|old|main|daily|work|personal|home"
    rf"|whole) ){{0,2}}{TRAIT}(?:'s)?(?: (?:for|of|at|in|to|from"
    rf"|with) [\w' .-]{{1,24}}?)?(?: (?:is|are|was|will be)|'s) {_NOT_NOW}\w|(?:my"
    rf"|our) (?:(?:current|new|old|main|daily|work|personal|home) ){{0,2}}{TRAIT} "
    r"(?:has|runs|uses|lives|starts|ends|begins|closes|opens|sits|faces|sells|makes|does|costs"
    r"|expires|consists|weighs|supports|departs|leaves|lands|focuses) \w"
    rf"|i(?:'ve got| have| have got| own| also have| also own"
    rf"| do have) (?:[\w.,'-]+ ){{0,6}}?{HAS}\b(?! (?:(?:problem|issue|question|interview)s?"
    rf"|object|model|table|class"
    r"|field|emoji|column|id|page|list|array|name|error|that|which|running)\b)"
    rf"|i (?:just |finally )?got (?:[\w'-]+ ){{0,3}}?{HAS}\b"
    rf"|i need (?:an? |my )?(?:\w+ )?{AID}\b"
)
_ROLE_NOT = (
    r"(?!(?:bit|little|lot|only one|human|person|fan|bug|problem|mistake|moron|idiot|mess|wreck"
    r"|loss|genius|big|huge|great|good|bad|victim|little bit|tad|hurry|rush|similar|same"
    r"|new (?:one|file)|couple|few|while|way|happy|sad|dragon|wizard|knight|vampire|elf|witch"
    r"|king|queen|god)\b)"
)
_SELF = lazily(
    rf"{_I_AM} {_ADVERBS}(?:an?|the) {_ROLE_NOT}(?:[\w'/&+#.-]+ ){{0,6}}?(?:[a-z-]*(?:er|or|ist"
    rf"|ian"
    r"|ant|ent|ess|ee|man|woman|ic|yst|eur)s?|nurse|chef|pilot|judge|coach|ceo|cto|cfo|vp|lead"
    r"|head|intern|mom|mum|dad|mother|father|widow|widower|vegan|vegetarian|pescatarian|celiac"
    r"|muslim|christian|jew|hindu|buddhist|catholic|atheist|citizen|native|diabetic|smoker|minor"
    r"|freshman|sophomore|junior|senior|midwife|monk|priest|pastor|nun|dba|sre|pm|qa|admin"
    r"|sysadmin|dev|devops|gardener|twin|only child|morning person|night owl|introvert|extrovert"
    r"|dm|gm|german|french\w*|dane|swede|finn|pole|spaniard|turk|brit|scot|italian|american)\b"
    rf"|{_I_AM} {_ADVERBS}(?:allergic to|(?:\w+[ -])?intolerant|vegan|vegetarian|pescatarian"
    rf"|gluten[- ]free"
    rf"|celiac"
    r"|coeliac|lactose intolerant|diabetic|asthmatic|dyslexic|autistic|colou?r[- ]?blind|deaf|blind"
    r"|an(?:a?emic)|epileptic|bipolar|neurodivergent|immunocompromised|(?:near|far|short|long)-?"
    r"sighted|ambidextrous|self-taught|sober|teetotal|childless|child-?free|infertile|arthritic"
    r"|hypermobile|menopausal|introverted|extroverted|religious|spiritual|agnostic|sikh|mormon|bald"
    r"|widowed|orphaned|good with|bad with|the (?:youngest|oldest|eldest|middle|only|sole)"
    r"|hard of hearing|left-?handed|right-?handed|pregnant|married|divorced|single(?!-)|engaged"
    r"|widowed|retired|self-employed|unemployed|muslim|christian|jewish|hindu|buddhist|catholic"
    r"|lutheran|german|french|italian|spanish|dutch|polish|swedish|danish|norwegian|finnish|irish"
    r"|scottish|british|english|american|canadian|australian|indian|chinese|japanese|korean"
    r"|brazilian|mexican|turkish|greek|portuguese|austrian|swiss|belgian|ukrainian|russian"
    r"|nigerian|kenyan|welsh|icelandic|hungarian|czech|romanian|croatian|serbian|bulgarian|egyptian"
    r"|moroccan|iranian|israeli|pakistani|filipino|vietnamese|thai|taiwanese|colombian|argentinian"
    r"|chilean|peruvian|bilingual|trilingual|a morning person|a night owl|an introvert|in charge"
    r"|responsible for|from|based|born|originally from|fluent in|afraid of|scared of|terrified of"
    r"|petrified of"
    r"|claustrophobic|nonbinary|non-binary|trans|gay|lesbian|bi|queer|adopted|severely"
    r"|highly allergic|deathly)\b"
    rf"|{_I_AM} (?:(?:about|almost|nearly|over) )?\d{{1,2}}(?: years? old| yrs? old|yo\b"
    rf"|(?:\.(?!\d))?$|,| and |;| -)|{_I_AM} \d{{1,2}} weeks pregnant|{_I_AM} \d{{3}} ?cm"
    rf"|{_I_AM} \d'\d|{_I_AM} (?:in|at) (?:my (?:\w+ ){{0,2}}(?:year|thirties|forties|fifties"
    rf"|sixties|twenties)"
    r"|\w+ grade|grade \d+|year \d+|cet|est|pst|utc|gmt|the (?:\w+ )?(?:industry|business|army"
    r"|navy|military|netherlands|uk|us|usa))\b"
    rf"|{_I_AM} (?:learning|studying|training for|working (?:as|at|for)|living (?:in|at|with|on"
    rf"|near)|renting|freelancing"
    r"|teaching|saving (?:up )?for|recovering from|taking (?:\w+ )?(?:lessons|classes)"
    r"|writing (?:a|my) (?:\w+ ){0,3}(?:novel|book|thesis|dissertation|memoir)|researching"
    r"|breastfeeding|doing (?:a|my) (?:phd|master|bachelor|internship"
    r"|apprenticeship))\b(?! (?:this|that|it|how|to|a (?:ton|lot|bit|few)|so|more|new)\b)"
    r"|(?:my name is|my name's|(?:my )?name's|i go by|i was (?:born|raised|adopted|brought up"
    r"|home-?schooled|orphaned|widowed|diagnosed)|i grew up|people call me|everyone calls me"
    r"|friends call me) \w"
)
_LIFE = lazily(
    rf"i(?:'ve| have)? {_ADVERBS}(?:live|get paid|know (?:\w+ (?:well|fluently)|how to"
    r" (?:swim|drive|cook|ride|ski|read music|type|sew|knit|dance|whistle|skate|sail))|work (?:as"
    r"|at|for|in"
    rf"|with|from|nights?|evenings|weekends|shifts|part|full|on the|remote|three|four)"
    r"|study (?!this|that|it)|speak (?!of|for|about|to (?!my\b|our\b))|own (?:a|an|two|three|\d)"
    r"|drive (?:a|an"
    r"|my|to)|play (?!with this|with it|around)|teach|coach|volunteer|commute|rent|smoke|vape"
    r"|meditate|practi[sc]e|train (?!an? |the |my model)|collect (?!the\b|all\b|data)"
    r"|grow (?!up\b)|sing"
    r"|paint|knit|crochet|brew|bake|cook (?:for|every|on)|swim|cycle|jog|climb|surf|ski|hike|camp"
    r"|fish|garden|hunt|run (?:a|an|my|every|three|\d\w*|marathons|on)|manage (?:a|the"
    r"|\w+ people)|lead (?:a|an|the)|freelance|report to|eat|drink|take (?:my |\d|\w+ (?:mg|for my)"
    r"|(?:\w+ ){0,2}(?:pills?|thinners|medication|meds|tablets?|insulin|statins?|antidepressants"
    r"|antihistamines|vitamins?|supplements?)\b)|drive|swim|dance|whistle|ride a bi\w+|wear"
    r"|suffer from|struggle with|identify as|(?:sleep|wake up"
    r"|get up) (?:at|with|until|around|early|late|only|\d)|go to the gym|go to (?:church|bed"
    r"|school|uni\w*|college)|have a background in|attend|belong to|follow a|avoid|weigh"
    r"|translate for a living|write for a living|graduated|majored|earn|make \$?\d|served"
    r"|moved (?:(?:to|from|back to) (?!the\b|this|that|step|line|next|a\b)\w+|to the (?:city"
    r"|countryside|coast|uk|us|usa|netherlands|states|suburbs|mountains)|here|in with|back home)"
    r"|quit (?:smoking|drinking|sugar|coffee|alcohol|my|social media|facebook|instagram|twitter"
    r"|working|university|school|college)|retired|emigrated|immigrated|relocated|got (?:married"
    r"|divorced|engaged|promoted|laid off|fired|hired|accepted|into|a (?:new )?(?:job|dog|puppy"
    r"|cat|kitten|car|promotion|raise))|bought (?:a|an|my|our) |adopted|started (?:a new job"
    r"|working (?:at|for|as)|as an?|my own|learning (?!about|this|how|the)|my (?:\w+ )?(?:job"
    r"|company|business))|founded|co-?founded|joined (?!the\b|two|these|both|them|with)\w+"
    r"|joined the (?:army|navy|gym|team|choir|club|board|company|band|union)|used to (?:live|work"
    r"|play|teach|own|run|study|smoke|drink|compete|be an?)|lost my (?:job|wife|husband|mother"
    r"|mum|mom|father|dad|brother|sister|son|daughter|dog|cat|partner|home|house|hearing|sight"
    r"|leg|arm|baby|licen[cs]e|grandm\w+|grandf\w+)|gave birth|switched (?:to|from) (?!the\b|this"
    r"|that|var\b|let\b)\w+|stopped (?:smoking|drinking|eating|working|taking|playing|going to)"
    r"|(?:can't|cannot|can not) (?:eat|drink|tolerate|drive|swim|digest|have (?:gluten|dairy"
    r"|sugar|nuts|caffeine|alcohol|\w+ (?:because|due to)))|signed up|enrolled|inherited"
    r"|sold my)\b(?! (?:this|that|it|these|those|them|there|here|and|but|on it|the (?:following"
    r"|same|above))\b)|i(?:'ve| have) (?:been )?(?:liv|work|play|run|teach|study|learn|us"
    r"|practi[sc]|writ|do|mak|train|suffer|cod|program|develop|build"
    r"|a \w+ )\w* (?:[\w'-]+ ){0,8}?(?:for|since) (?:\d|\w+ years|over|almost|about|my|a|the|19"
    r"|20)|i(?:'ve| have) (?:got )?(?:[\w+-]+ ){0,3}years(?: of|') \w*"
)
_TOOLS = lazily(
    rf"i {_ADVERBS}(?:use|run(?! (?:tests?|npm|pytest|make|docker|into|out|a)\b)|code in"
    rf"|program in|develop (?:in|on|for)|write (?:in|my)|deploy|host|work"
    r" (?:in|on|with)|switched|migrated|moved) (?!this|that|it|the\b|these|those|them|here|there"
    r"|a (?:function|class|loop|regex|script|hook)|to )\w|(?:i'm|i am|im|we're|we are"
    r"|we work) (?:using (?!this|that|it|the|a\b|your)\w|(?:still |both "
    r"|all )?on (?:an? )?(?:mac\w*|windows|linux|ubuntu|fedora|debian|arch|mint|android|ios"
    r"|iphone|pixel|gitlab|github|bitbucket|azure|aws|gcp|hetzner|heroku|vercel|netlify|node"
    r"|python|java|rails|django|react|vue|angular|php|laravel|postgres\w*|mysql|version|plan"
    r"|a \w+ plan|the \w+ plan|keto|paleo|insulin|antidepressants|the pill|medication"
    r"|a (?:\w+ )?(?:diet|budget|visa)|parental leave|maternity leave|paternity leave"
    r"|sabbatical|social media|facebook|instagram|twitter|tiktok|linkedin|\d+ ?(?:mg|mcg|units))\b)"
)
_WE = lazily(
    rf"(?:at work,? |at our (?:company|office),? |in our (?:team|company|project),? )?(?:we"
    rf"|the team|my team|our team|my company|our company|the company) {_ADVERBS}(?:use|uses"
    rf"|deploy|deploys|run|runs"
    r"|host|hosts|ship|ships|release|releases|store|stores|write|writes|test|tests|develop"
    r"|develops|work|works|follow|follows|support|supports|target|targets|require|requires|pay"
    r"|pays|sell|sells|live|own|rent|employ|employs|build|builds|make|makes|serve|serves|operate"
    r"|operates|stick|sticks|enforce|enforces|squash|squashes|rebase|merge|merges|commit|tag|name"
    r"|names|keep|keeps|manage|manages|track|tracks|log|logs|monitor|monitors|bill|bills|teach"
    r"|teaches|produce|have(?! (?:\w+ ){1,2}?(?:options?|choices?|problems?|questions?|issues?"
    r"|bugs?|meeting|call|look|chance|winner|deal|plan|lot|more|error|idea)\b) (?:a|an|about"
    r"|around|over|no|two|three|four|five|six|seven|eight|nine|ten|\d|weekly|daily|our|one"
    r"|separate|strict)|moved (?:to|from|off|into)|switched|migrated|bought|adopted|got married"
    r"|got (?:engaged|a (?:new )?(?:dog|puppy|cat|kitten|house|car|baby))|are (?:a|an|based|on"
    r"|using|vegan|vegetarian|expecting|located|hiring|moving|migrating|switching)|consist"
    r"|consists|is based)\b(?! (?:this|that|it|these|those|them|the (?:two|cache|following|same"
    r"|above|first|second|code|function|value|result|data|id|index|loop))\b)"
)
_THINGS = (
    r"(?:team|project|company|app|application|repo|repository|codebase|code base|monorepo|backend"
    r"|frontend|back end|front end|api|apis|site|website|product|service|services|microservices"
    r"|staging|prod|production|dev|qa|ci|ci/cd|pipeline|cluster|database|databases|db|dbs"
    r"|data warehouse|infra|infrastructure|servers?|cloud|office|hq|headquarters|fiscal year"
    r"|sprints?|stand-?ups?|retros?|releases?|deploys?|deployments|docs|documentation|tests"
    r"|test suite|style guide|branch(?:es)?|main branch|default branch|tickets|monitoring|logs"
    r"|auth|design system|customers?|clients?|users|budget|store|shop|newsletter|mobile app"
    r"|ios app|android app|stack|tech stack|convention|conventions|license|kids|package manager"
    r"|queue|cache|firm|startup|farm)"
)
_PROJECT = lazily(
    rf"(?:our|the|my) (?:[\w.-]+ ){{0,3}}?{_THINGS}(?: (?:server|environment|box|cluster|database"
    rf"|db|team|deploy|branch|code|is|are|for [\w.-]+))*,? {_ADVERBS}(?:uses?|is written in"
    rf"|are written in|is"
    r" (?:\w+ )?hosted|are (?:\w+ )?hosted|runs?(?: on| in| every| as)?|is built|are built"
    r"|deploys?|is deployed|are deployed|targets?|follows?|requires?|never|always|only|lives?"
    r"|live in|sits? (?:on|in|behind)|is called|is named|is at|is in|is on|are on|are in|is an?"
    r"|consists? of|starts? (?:on|in)|ends? (?:on|in)|must|supports?|is licensed|is maintained"
    r"|expects?|goes? (?:through|to|out)|go (?:through|to|out)|happens?|takes? place|is mirrored"
    r"|is (?:[A-Z]|\w+ \d))\b"
    rf"|(?:our|my) (?:[\w.-]+ ){{0,3}}?{_THINGS}(?: (?:server|environment|box|db))? (?:is"
    rf"|are) {_NOT_NOW}\w"
)

_PASSING = (
    r"(?:questions?|problems?|issues?|codes?|functions?|tests?|errors?|concerns?|points?|guess"
    r"|ideas?|understanding|assumptions?|thoughts?|mistakes?|bad|apologies|scripts?|quer(?:y|ies)"
    r"|loops?|class(?:es)?|files?|lists?|tables?|arrays?|components?|requests?|tasks?|answers?"
    r"|inputs?|outputs?|data|examples?|sentences?|texts?|essays?|prompts?|attempts?|results?"
    r"|bugs?|fix|changes?|commits?|message|draft|solution|approach|method|variables?|string|regex"
    r"|page|screen|button|form|model|plot|chart|graph|image|picture|file|output|build|log|logs"
    r"|terminal output|turn|head|stomach|mind|day|week|night|life|weekend|fault|only|next|last"
    r"|first|main|conversation|chat|session|words?|feelings?|mood|version|hands?|eyes?|heart|bank"
    r"|part|side|way|thing|things|time|pleasure|bet|opinion|take|view|suggestion|preference order"
    r"|order|package|delivery|reason|reasons|dreams|index|hope|fear|worry|confusion|doubt"
    r"|struggle|internet|connection|wifi|browser|pc|computer|server|site|website|app|game"
    r"|calculation|math|homework|assignment|pr|mr|pull request|branch|diff|patch|environment"
    r"|config|settings?|imports?|types?|endpoint|response|payload)"
)
_OWNED = lazily(
    rf"(?:my|our) (?!(?:(?!is |are )[\w.'/-]+ ){{0,3}}?{_PASSING} )(?:(?!is |are |was |has |have "
    rf"|to |that |and |which )[\w.'/-]+ ){{1,4}}?"
    r"(?:(?:for|of|at|in) (?!it |this |that )(?:the |my |our )?[\w.'-]+ )?(?:is|are) "
    rf"{_NOT_NOW}(?!\w+(?:ed|ing)\b|to be|too\b|in the same|the (?:following|same)|like\b|still\b"
    rf"|now\b|about\b)[\w#$€£]"
)
_NOTHING = (
    r"(?:clue|idea|time|problem|question|issue|choice|chance|preference|access|strong|specific"
    r"|particular|plan|answer|way|reason|much|many|enough|anything|anyone|to|the|this|that|it|such"
    r"|more"
    r"|any|words|energy|file|copy|error|test|code)s?"
)
# What never happened is a fact; what happened on a day is an event.
_NEVER = lazily(
    rf"i (?:(?:don't|dont|do not) (?:have|own)|haven't got|(?:have|'ve got) no) (?:an? |any )?"
    rf"(?!{_NOTHING}\b)(?!.*\b(?:tho|though|yet|on me|with me|handy|at hand|left|here)\W*$)"
    rf"[\w' -]{{2,40}}[.!]?$|(?:the|my|our) (?:kids|children|boys|girls|twins) (?:are"
    rf"|live"
    r"|stay|go|come) (?:with|at|to|in|on|every) \w|"
    r"i(?:'ve| have)? never (?:been (?:to|in|on|married|abroad)|lived|owned|used|learn(?:ed|t)"
    r"|smoked"
    r"|drunk|eaten|driven|worked|studied|played|watched|flown|finished|graduated"
    r"|went) (?!this"
    r"|that|it\b|so\b|such\b|any of|the\b)\w|i (?:didn't|did not|never) (?:go to (?:uni\w*|college"
    r"|(?:high )?school)|finish (?:uni\w*|college|school|high school|my (?:degree|phd))|grow up"
    r"|graduate|have (?:kids|children|siblings)|learn to (?:swim|drive|read|ride|cook))"
)
# "I don't celebrate Christmas": a habit that is denied.
_ABSTAINS = lazily(
    r"i (?:(?:really|actually|usually) )?(?:don't|dont|do not|never) (?:really |usually |normally "
    r"|ever )?"
    r"(?!get|know|understand|see|think|want|need|mean|care|remember|believe|feel|have|had|mind"
    r"|recall|agree"
    r"|follow|trust|expect|recommend|say|said|ask|find|like|love|wish|hope|seem|notice|consider"
    r"|intend)[a-z]{3,}"
    r" (?!this|that|it\b|them|these|those|the\b|you|to\b|how|why|what|if\b|any ?more|much|enough"
    r"|a lot|here)"
    r"[\w' -]{2,40}[.!]?$"
)
# "I usually read on my Kindle": who says how often tells of a habit.
_HABIT = lazily(
    r"i (?:usually|normally|mostly|typically|generally|rarely|tend to|always) (?!get\b|got\b|forget"
    r"|see\b|seem|feel|think|thought|want|wonder|said|ask|told|mean|need|found|have to|had\b|end up"
    r"|run into|like\b|love\b|prefer)[a-z]+ (?!this\b|that\b|it\b|them\b|the (?:same|following)"
    r"|so\b)"
    r"\w|i [a-z]+ (?:[\w'-]+ ){0,6}?(?:every|each) (?:single )?(?:day|morning|evening|night|week"
    r"|weekend|month|year|summer|winter|spring|autumn|fall)\b"
)
_LIMITS = lazily(
    r"we (?:can't|cannot|can not|must not|mustn't|are not allowed to|aren't allowed to) (?:use"
    r"|deploy|store|touch) (?!this|that|it\b|the\b)\w|i only have (?:\w+ )?\d+ ?(?:gb|mb|tb|g"
    r"|hours|minutes)\b|i get (?:migraines?|headaches?|hives|heartburn|seasick|carsick|hay fever"
    r"|panic attacks?)\b|i(?:'ve| have)? (?:had|have) (?:[\w-]+ ){0,4}?(?:replacements?"
    r"|transplants?"
    r"|surger(?:y|ies)|operations?|miscarriages?|strokes?|heart attacks?|c-sections?|bypass)\b"
    r"|i broke my (?:wrist|arm|leg|ankle|back|neck|hip|nose|foot|hand|collarbone) "
    r"|i(?:'ve| have)? been (?:sober|clean|vegan|vegetarian|married|single|divorced|retired"
    r"|together"
    r"|self-employed|widowed|smoke-free|in (?:therapy|recovery|remission)) "
)
# "Celiac. Need ideas ...": who is short of words leaves out who.
_TERSE = lazily(
    r"(?:celiac|coeliac|vegan|vegetarian|pescatarian|lactose intolerant|gluten[- ]free"
    r"|diabetic)(?: (?:here|since \w+|household|family))?(?:[,.;]|$)|(?:allergic to|intolerant to"
    r"|living in|based in|married with|working as|born in) (?!this|that|it)\w"
)
_BODY = lazily(
    r"i(?:'ve got| have| have got| also have) (?:(?:very|really|quite|pretty|naturally) )?(?:wide"
    r"|narrow|flat|curly|straight|wavy|long|short|sensitive|dry|oily|combination|acne-prone|fair"
    r"|dark|blue|brown|green|grey|red|blond\w*|thin|thick|bad|weak|clay|sandy|poor|high|low|small"
    r"|big|large) (?:feet|foot|arches|hair|skin|eyes|knees?|back|teeth|hands|soil|eyesight"
    r"|blood pressure|cholesterol|blood sugar|scalp|nails)\b"
)
_WE_ARE = lazily(
    r"we(?:'re| are) (?:(?:both|all|only|just) )?(?:an? (?!bit|little|lot|good|great|long|big)"
    r"|two|three|four|five|six|\d|based in|located in|vegan|vegetarian|expecting|married|engaged"
    r"|retired|german|french|dutch|italian|spanish|british|american)|our (?!code|test|tests|build"
    r"|problem|issue|question|script|function)[\w-]+(?: [\w-]+)? (?:has|have) (?:an?|no|only|\d+"
    r"|two|three|four|five|one) \w"
)
_PATTERNS = (
    _NEVER,
    _ABSTAINS,
    _HABIT,
    _TERSE,
    _LIMITS,
    _WE_ARE,
    _BODY,
    _SELF,
    _PEOPLE,
    _TRAITS,
    _LIFE,
    _WE,
    _PROJECT,
    _TOOLS,
    _OWNED,
)


def is_fact(lower: str) -> bool:
    """Return True if a sentence in lower case begins as a lasting fact about the user."""
    return any(pattern.match(lower) for pattern in _PATTERNS)


def is_practice(lower: str) -> bool:
    """Return True if it tells how a team works or what a project is made of: "we deploy on Fridays"
    is no appointment."""
    return _WE.match(lower) is not None or _PROJECT.match(lower) is not None
