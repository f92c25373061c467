"""Whom and what people own, live with and belong to, in English: parts of patterns."""

from __future__ import annotations

KIN = (
    r"(?:(?:ex[- ]?|step-?|half-?|grand|great-?|god|foster )?(?:wife|husband|partner|spouse"
    r"|fianc[eé]e?|girlfriend|boyfriend|gf|bf|sons?|daughters?|child|children|kids?|bab(?:y|ies)"
    r"|toddler|newborn|twins?|mother|mom|mum|father|dad|parents?|folks|brothers?|sisters?"
    r"|siblings?|grandma|grandpa|granny|uncles?|aunts?|aunties?|cousins?|nieces?|nephews?"
    r"|teenagers?|youngest|oldest|eldest|(?:little|middle|older|younger) one)(?:[- ]in[- ]law)?"
    r"|in-laws"
    r"|family)"
)
AROUND = (
    r"(?:(?:best |close |old |oldest )?friends?|room-?mates?|flat-?mates?|house-?mates?"
    r"|neighbou?rs?|boss|manager|team ?lead|tech lead|co-?workers?|colleagues?|co-?founders?"
    r"|business partner|mentor|therapist|doctor|gp|dentist|physio|trainer|coach|teacher|tutor"
    r"|advis[eo]r|supervisor|professor|landlord|landlady|accountant|lawyer|nanny|babysitter"
    r"|godfather|godmother)"
)
PET = (
    r"(?:dogs?|cats?|pupp(?:y|ies)|kittens?|rabbits?|bunn(?:y|ies)|hamsters?|guinea pigs?"
    r"|parrots?|budgies?|horses?|pon(?:y|ies)|tortoises?|turtles?|goldfish|pets?|chickens|hens"
    r"|labrador|poodle|beagle|retriever|corgi|dachshund|husky|collie|terrier|greyhound|goats?"
    r"|bees|gecko)"
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
    r"|university|college|school|hobb(?:y|ies)|passion|(?:main |long-term |biggest |personal "
    r"|fitness |career )?(?:goal|dream|aim)|diet|allerg(?:y|ies)|condition|medication|diagnosis"
    r"|blood pressure|cholesterol|resting heart rate|eyesight|(?:left|right|bad)? ?(?:knee|hip"
    r"|shoulder|back|ankle|wrist)|house|flat|apartment|garden|kitchen|balcony|oven|car|bike"
    r"|bicycle|motorbike|motorcycle|van|laptop|desktop|computer|pc|mac|phone|tablet|monitor"
    r"|keyboard|camera|printer|router|nas|server|home ?lab|gpu|graphics card|os|operating system"
    r"|distro|shell|terminal|editor|ide|browser|stack|tech stack|setup|dev environment|database"
    r"|db|staging|prod|site|website|blog|shop|store|channel|podcast|band|club|team|working hours"
    r"|office hours|hours|working days|day off|days off|commute|anniversary|wedding|level|elo"
    r"|handicap|instrument|favou?rite [\w' -]{2,40}|dominant hand|skin(?: type)?|hair|style"
    r"|writing style|tone|audience|readers|customers|clients|students|users|deadline|flight|train"
    r"|appointment|surgery|visa|passport|lease|contract|insurance|insurer|bank|landline"
    r"|internet provider|isp|provider)"
)
AID = r"(?:glasses|hearing aids?|wheelchair|crutches|insulin|subtitles|captions|cane|inhaler)"
HAS = (
    r"(?:allerg(?:y|ies)|diabetes|asthma|adhd|add|autism|dyslexia|celiac(?: disease)?"
    r"|coeliac(?: disease)?|crohn'?s|ibs|migraines?|arthritis|epilepsy|anxiety|depression"
    r"|insomnia|hypertension|tinnitus|eczema|psoriasis|hay fever|pcos|endometriosis|anaemia"
    r"|anemia|sleep apnea|bad back|bad knees?|intolerance|degree|ph\.?d|master'?s|bachelor'?s|mba"
    r"|diploma|car|house|flat|apartment|condo|cottage|cabin|garden|allotment|greenhouse|balcony"
    r"|boat|bike|bicycle|e-bike|motorcycle|motorbike|van|camper|truck|tesla|laptop"
    r"|macbook(?: \w+)?|thinkpad|mac mini|imac|iphone|ipad|pixel|galaxy|desktop|gpu"
    r"|rtx(?: ?\d+\w*)?|monitors?|raspberry pi\w*|nas|server|home ?lab|kindle|3d printer"
    r"|air fryer|instant pot|bread machine|subscription|membership|visa|citizenship|passport"
    r"|licen[cs]e|pilot'?s licen[cs]e|job|business|company|startup|shop|bakery|restaurant|farm"
    r"|blog|podcast|newsletter|youtube channel|experience (?:in|with|as|of)|piano|guitar|violin"
    r"|cello|ukulele|pacemaker|hearing aids?|tattoos?|glasses|mortgage|lease|black belt)"
)
