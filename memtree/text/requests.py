"""Sentences that ask, order, forbid or wish, told from statements of fact by their words.

For sentences that are not their author's own: a mail that says "never call Ann" is quoted, a mail
that says "Ann moved" is told. To take a statement for a request costs it its place in a headline;
to take a request for a statement makes an order of it. So what may be either is a request.
What this file does not do: find standing rules, where precision comes first (`standing_rules.py`).

    >>> [asks(text) for text in ("Never call Ann.", "I want you to leave.", "Ann moved in May.")]
    [True, True, False]
    >>> [orders(text) for text in ("Never call Ann.", "Restart the server.", "Ann never calls.")]
    [True, False, False]
"""

from __future__ import annotations

from memtree.text.lazy_patterns import lazily

READ = 600  # characters of a sentence

# They begin a habit wherever they stand.
_FROM_NOW = (
    r"(?:from (?:now|here|today|this (?:point|day|moment))(?: on(?:wards?)?)?\b(?! the)|henceforth"
    r"|going forward|in future|as of (?:now|today)|never again|effective immediately"
    r"|ab (?:jetzt|sofort|heute|nun)|von (?:jetzt|nun|heute) an|künftig|in zukunft|fortan"
    r"|nie (?:wieder|mehr)|désormais|dorénavant|à partir (?:de (?:maintenant|ce jour)"
    r"|d'aujourd'hui)|dès (?:maintenant|à présent)|à l'avenir"
    r"|(?:a partir de|de|desde) (?:ahora|hoy)(?: en adelante)?|en adelante|en lo sucesivo"
    r"|nunca más|d'ora in (?:poi|avanti)|da (?:ora|adesso|oggi) in"
    r" (?:poi|avanti)|in futuro|mai più|a partir de agora|de agora em diante|doravante"
    r"|vanaf nu|voortaan|отныне|впредь|с этого момента|从现在起|从今以后|今後|これから)"
)
_ALWAYS = (
    r"(?:always|never|at all times|under no circumstances|immer|nie|niemals|stets|toujours|jamais"
    r"|siempre|nunca|jamás|sempre|mai|altijd|nooit|всегда|никогда)"
)
# Who begins a clause so tells of somebody.
_TELLS = (
    r"(?:i|we|he|she|it|they|the|an?|this|that|these|those|my|his|her|our|their|its|there|who|which"
    r"|ich|wir|er|es|der|die|das|ein|eine|mein\w*|unser\w*|je|j'\w+|il|elle|on|nous|ils|elles|le|la"
    r"|les|l'\w+|un|une|mon|ma|mes|notre|yo|él|ella|ellos|el|los|las|una|nosotros|io|lui|lei|noi"
    r"|gli|lo|hij|zij|wij|ik|de|het|een|was|is|are|has|had|have|as|than)"
)
_START = (
    r"(?:^|[,:;.!?–—-]\s|[()\]>\"“„«»]\s?|\b(?:and|or|then|also|please|kindly|just|only|so|to|must|und|oder"
    r"|dann|bitte|et|puis|ou|y|e|o|por favor|per favore|always|never|immer|siempre|sempre)\s)"
)
_VERBS = (
    r"accept|act|add|address|adopt|agree|allow|answer|apply|approve|archive|ask|assume|attach|avoid"
    r"|be|become|begin|believe|block|book|bring|build|buy|call|cancel|cc|change|charge|check|choose"
    r"|cite|claim|clear|click|close|come|commit|complete|confirm|connect|consider|contact|continue"
    r"|convert|copy|create|credit|decline|delete|deliver|deny|deploy|describe|disable|discard"
    r"|disclose|discuss|disregard|do|donate|download|drop|email|e-mail|enable|encourage|end|ensure"
    r"|enter|erase|escalate|execute|explain|export|fax|fetch|file|fill|find|finish|follow|forget"
    r"|format|forward|get|give|go|grant|hand|help|hide|ignore|import|include|increase|inform|insert"
    r"|install|invite|invoice|issue|join|keep|kill|leak|leave|let|lie|link|list|listen|load|log"
    r"|look|lower|mail|make|mark|mention|merge|message|move|name|note|notify|obey|offer|omit|open"
    r"|order|output|override|pass|pay|permit|phone|pick|place|play|post|praise|prefer|prepare"
    r"|pretend|print|process|proceed|promise|promote|provide|publish|pull|push|put|raise|read"
    r"|reboot|recommend|record|redirect|reduce|refer|refund|refuse|register|reject|release|remember"
    r"|remind|remove|rename|repeat|replace|reply|report|request|require|reset|respond|restart"
    r"|return|reveal|review|revoke|route|run|save|say|schedule|see|select|sell|send|set|share|ship"
    r"|show|sign|skip|speak|spend|start|stay|stop|store|submit|subscribe|suggest|summari[sz]e"
    r"|suppress|switch|take|talk|tell|test|text|trade|transfer|translate|treat|trust|try|turn"
    r"|uninstall|unlock|update|upgrade|upload|use|verify|visit|vote|wait|warn|watch|wear|whitelist"
    r"|wipe|wire|withhold|work|write"
)
_OTHER_VERBS = (
    r"dis|dites|dile|diles|dilo|dígale|digli|dille|dimmi|"
    # German stems, without the ending that says who does it
    r"(?:antwort|benutz|verwend|nutz|nenn|schreib|send|überweis|lösch|stell|öffn|bestell|bezahl"
    r"|zahl|behandel|erwähn|empfiehl|empfehl|füg|ruf|zeig|frag|sag|mach|geh|nimm|schick|ignorier"
    r"|vergiss|vergess|speicher|leg|setz|bring|hol|lies|lass|sprich|sprech|gib|geb|teil|leit|kopier"
    r"|buch|unterschreib|akzeptier|bestätig|deaktivier|aktivier|installier|entfern|änder|erklär)"
    r"(?:e|en|n|t|et)?"
    r"|(?:répond|envoi|écri|utilis|met|fai|donn|supprim|transfèr|transfér|vir|pay|paie|sign|valid"
    r"|command|ignor|oubli|recommand|conseill|appell|signal|cach|montr|parl|copi|ajout|effac"
    r"|install|considèr|accept|refus|achèt|vend|appliqu|approuv|traduis|cit|gard|ouvr|ferm)"
    r"(?:e|es|ez|s|te|ts|er|re|is|ds)?"
    r"|(?:respond|envi|escrib|us|utiliz|borr|elimin|mand|firm|pag|transfier|compr|vend|ignor|olvid"
    r"|recomiend|llam|muestr|habl|copi|agreg|añad|instal|acept|rechaz|aplic|aprueb|traduc|cit"
    r"|guard|abr|cierr|contest|pon|haz|trat|cobr|avis|nombr|menciona|reenv[ií])"
    r"(?:a|e|as|es|ed|ad|en|an|ar|er|ir|me|le|la|lo)?"
    r"|(?:rispond|invi|scriv|us|utilizz|cancell|elimin|mand|firm|pag|trasferisc|compr|vend|ignor"
    r"|dimentic|consigli|raccomand|chiam|mostr|parl|copi|aggiung|install|accett|rifiut|applic"
    r"|approv|traduc|cit|conserv|apr|chiud|fa|metti|tratt|inoltr)"
    r"(?:i|a|e|ate|ete|ite|are|ere|ire|mi|gli|le|la|lo)?"
)
_ASKS = lazily(
    # By how they begin: what may begin at each character is then looked at once.
    rf"[?？؟]\W*$"
    rf"|{_START}(?:(?!{_TELLS}\b)[^\s,:;]+(?:\s[^\s,:;]+){{0,8}}?\s{_ALWAYS}\b|{_ALWAYS}\b"
    # "nothing but fax", "do not": a clause begins with what is forbidden
    r"|do not|don't|dont|no longer|refrain|beware|make sure|be sure|ne\s|n'|nicht\s"
    r"|kein\w*\s|no\s\w+(?:as|es|áis|éis|en|an|e|a)\b|non\s\w+(?:re|te|rlo|rla|rli|rmi|rti)\b"
    r"|não\s|niet\s|не\s|veuillez|merci de|prière de|hay que|il faut|bisogna"
    rf"|(?:{_VERBS}|{_OTHER_VERBS})\b(?!['’:]|\s(?:is|are|was|were|has|had|ist|war|est|était"
    r"|era|es|è)\b))"
    rf"|\b(?:{_FROM_NOW}\b|\w{{2,}}e?n sie\b"
    r"|(?:please|kindly|bitte|s'il (?:te|vous) pla[iî]t|svp|por favor|per favore|per piacere"
    r"|alsjeblieft|пожалуйста)\b"
    r"|you(?:'ll)? (?:must|should|shall|will|need|have|ought|are to|may|can|cannot|can't|never)\b"
    r"|(?:assistants?|the (?:ai|model|bot)|users?|everyone|everybody|you all)"
    r" (?:must|should|shall|will|has to|have to|needs? to|is to|are to)\b"
    r"|(?:i|we)(?:'d)? (?:want|need|ask|expect|order|insist|urge|beg|command|wish"
    r"|would like|like) (?:you|that|to|him|her|them|every|all)\b"
    r"|(?:du|ihr|sie|man) (?:\w+ )?(?:musst|müsst|müssen|sollst|sollt|sollen|darfst|dürft|dürfen)"
    r"|(?:musst|sollst|darfst) du\b|ich (?:will|möchte|wünsche|verlange|erwarte|bitte)\b"
    r"|(?:tu|vous) (?:ne )?(?:dois|devez|devras|devrez|devrais|devriez|\w+ras|\w+rez)\b"
    r"|je (?:veux|voudrais|souhaite|exige|demande)\b"
    r"|(?:debes?|deberás?|deberías?|tienes? que|quiero|quisiera|necesito|exijo) \w"
    r"|(?:devi|dovete|dovrai|dovresti|voglio|vorrei|pretendo) \w|(?:deves?|quero que) \w"
    r"|(?:ignore|disregard|forget)\b[^.]{0,40}\b(?:instructions?|rules?|prompts?)\b)"
    r"|^\W{0,3}(?!chez\b|assez\b)\w{3,}ez\b"
    r"|(?:请|務必|务必|必ず|してください|しないで|해 주세요|하지 마)",
)
_CLAUSE = r"(?:^|[,:;.!?–—-]\s|[()\]>\"“„«»]\s?|\b(?:please|kindly|bitte|also)\s)"
_ORDERS = lazily(
    rf"\b{_FROM_NOW}\b|{_CLAUSE}(?:{_ALWAYS}\b|do not ever\b|ne\s\w+\sjamais\b|non\s\w+\smai\b)"
    rf"|{_CLAUSE}(?:{_VERBS}|{_OTHER_VERBS})\s(?:\w+\s){{0,3}}?{_ALWAYS}\b"
    r"|\byou (?:must|shall|will) (?:always|never)\b"
    r"|\b(?:ignore|disregard|forget)\b[^.]{0,40}\b(?:instructions?|rules?|prompts?)\b",
)
# A word of each order, with the marks that may follow it: a cheap look before the pattern.
_MARKS = frozenset(
    word + mark
    for word in """
    always never again henceforth now today point day moment forward future immediately times
    circumstances disregard forget ignore ever jetzt sofort heute nun künftig zukunft fortan nie
    niemals wieder mehr immer stets désormais dorénavant partir dès l'avenir toujours jamais
    adelante ahora hoy sucesivo más siempre nunca jamás d'ora poi avanti futuro più sempre mai
    diante doravante agora vanaf voortaan altijd nooit всегда никогда отныне впредь момента
    """.split()
    for mark in ("", ",", ":", ".", "!")
)
_UNSPACED = ("现在起", "今以后", "今後", "これから")


def asks(sentence: str) -> bool:
    """Return True if a sentence may ask, order, forbid or wish something."""
    return _ASKS.search(_read(sentence)) is not None


def orders(sentence: str) -> bool:
    """Return True if a sentence orders or forbids something for good: always, never, from now on.
    Much less than `asks`, for texts where one thing to do is an everyday subject."""
    read = _read(sentence)
    if _MARKS.isdisjoint(read.split()) and (
        read.isascii() or not any(mark in read for mark in _UNSPACED)
    ):
        return False
    return _ORDERS.search(read) is not None


def _read(sentence: str) -> str:
    """The beginning in lower case: patterns that ignore case take twice as long."""
    return sentence[:READ].lower().replace("’", "'").strip()
