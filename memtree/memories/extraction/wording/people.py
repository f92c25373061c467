"""Whom and what people own, live with and belong to, in English: parts of patterns."""

from __future__ import annotations

KIN = (
    r"(?:(?:ex-?|step-?|half-?|grand|great-?|god|foster )?"
    r"(?:wife|husband|partner|spouse|fianc[eé]e?|girlfriend|boyfriend|gf|bf|sons?|daughters?|child"
    r"|children|kids?|bab(?:y|ies)|toddler|newborn|twins?|mother|mom|mum|father|dad|parents?|folks"
    r"|brothers?|sisters?|siblings?|grandma|grandpa|granny|uncles?|aunts?|aunties?|cousins?"
    r"|nieces?|nephews?|teenagers?)(?:-in-law)?|in-laws|family)"
)
AROUND = (
    r"(?:(?:best |close |old |oldest )?friends?|room-?mates?|flat-?mates?|house-?mates?"
    r"|neighbou?rs?"
    r"|boss|manager|team ?lead|tech lead|co-?workers?|colleagues?|co-?founders?|business partner"
    r"|mentor|therapist|doctor|gp|dentist|physio|trainer|coach|teacher|tutor|advis[eo]r|supervisor"
    r"|professor|landlord|landlady|accountant|lawyer|nanny|babysitter|godfather|godmother)"
)
PET = (
    r"(?:dogs?|cats?|pupp(?:y|ies)|kittens?|rabbits?|bunn(?:y|ies)|hamsters?|guinea pigs?|parrots?"
    r"|budgies?|horses?|pon(?:y|ies)|tortoises?|turtles?|goldfish|pets?|chickens|hens|labrador"
    r"|poodle|beagle|retriever|corgi|dachshund|husky|collie|terrier|greyhound|goats?|bees|gecko)"
)
# What "my ... is ..." tells of somebody for good.
TRAIT = (
    r"(?:(?:full |first |last |middle |real |maiden |legal |user ?|nick|company )?name|nickname"
    r"|birthday|birth ?date|date of birth|age|height|weight|shoe size|blood type|star sign|zodiac"
    r"|(?:e-?mail|home|work|postal|mailing|new|old|current|office|street|ip)? ?address|zip ?code"
    r"|(?:home|phone|mobile|work|cell)? ?(?:phone )?number|phone|time ?zone|pronouns|gender"
    r"|nationality|citizenship|religion|native (?:language|tongue)|mother tongue|first language"
    r"|second language|(?:home ?town|hometown|home)|neighbou?rhood|job(?: title)?|profession"
    r"|occupation|role|position|title|employer|company|business|startup|department|industry|field"
    r"|salary|income|rent|mortgage|budget|degree|major|minor|thesis|dissertation|research|phd"
    r"|university|college|school|hobb(?:y|ies)|passion|(?:main |long-term |biggest |personal |"
    r"fitness |career )?(?:goal|dream|aim)|diet|allerg(?:y|ies)|condition|medication|diagnosis"
    r"|blood pressure|cholesterol|resting heart rate|eyesight|(?:left|right|bad)? ?(?:knee|hip"
    r"|shoulder|back|ankle|wrist)|house|flat|apartment|garden|kitchen|balcony|oven|car|bike|bicycle"
    r"|motorbike|motorcycle|van|laptop|desktop|computer|pc|mac|phone|tablet|monitor|keyboard|camera"
    r"|printer|router|nas|server|home ?lab|gpu|graphics card|os|operating system|distro|shell"
    r"|terminal|editor|ide|browser|stack|tech stack|setup|dev environment|database|db|staging|prod"
    r"|site|website|blog|shop|store|channel|podcast|band|club|team|working hours|office hours|hours"
    r"|working days|day off|days off|commute|anniversary|wedding|level|elo|handicap|instrument"
    r"|favou?rite [\w' -]{2,40}|dominant hand|skin(?: type)?|hair|style|writing style|tone|audience"
    r"|readers|customers|clients|students|users|deadline|flight|train|appointment|surgery|visa"
    r"|passport|lease|contract|insurance|insurer|bank|landline|internet provider|isp|provider)"
)
HAS = (
    r"(?:allerg(?:y|ies)|diabetes|asthma|adhd|add|autism|dyslexia|celiac(?: disease)?|coeliac(?: "
    r"disease)?|crohn'?s|ibs|migraines?|arthritis|epilepsy|anxiety|depression|insomnia|hypertension"
    r"|tinnitus|eczema|psoriasis|hay fever|pcos|endometriosis|anaemia|anemia|sleep apnea|bad back"
    r"|bad knees?|intolerance|degree|ph\.?d|master'?s|bachelor'?s|mba|diploma|car|house|flat"
    r"|apartment|condo|cottage|cabin|garden|allotment|greenhouse|balcony|boat|bike|bicycle|e-bike"
    r"|motorcycle|motorbike|van|camper|truck|tesla|laptop|macbook(?: \w+)?|thinkpad|mac mini|imac"
    r"|iphone|ipad|pixel|galaxy|desktop|gpu|rtx(?: ?\d+\w*)?|monitors?|raspberry pi\w*|nas|server"
    r"|home ?lab|kindle|3d printer|air fryer|instant pot|bread machine|subscription|membership"
    r"|visa|citizenship|passport|licen[cs]e|pilot'?s licen[cs]e|job|business|company|startup|shop"
    r"|bakery|restaurant|farm|blog|podcast|newsletter|youtube channel|experience|piano|guitar"
    r"|violin|cello|ukulele|pacemaker|hearing aids?|tattoos?|glasses|mortgage|lease|black belt)"
)
