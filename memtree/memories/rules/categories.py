"""Tell from its text what a memory is about: a preference, an instruction or a fact.

An instruction says how to answer or to work: what `standing_rules` finds in a user's message, and
the same told of the user ("User wants short answers"). A preference says what the user likes; what
somebody else likes is a fact.

    >>> [category_of(text) for text in ("Always answer in French.", "User likes tea.", "It rains.")]
    ['instruction', 'preference', 'fact']
"""

from __future__ import annotations

from memtree.text.lazy_patterns import lazily
from memtree.text.rule_score import grouped
from memtree.text.standing_rules import standing_rules

_READ = 600  # characters; what a memory is shows early
_USER = r"(?:(?:the )?user|i|we)"
_ANSWERS = (
    r"(?:(?:all|every|the|his|her|their|my) )?(?:[\w-]+ ){0,3}?(?:answers?|repl(?:y|ies)|"
    r"responses?|"
    r"explanations?|summar(?:y|ies)|code(?: examples?| samples?| snippets?)?|examples|"
    r"citations|sources|emojis|apologies|disclaimers)"
)
_INSTRUCTION = lazily(
    grouped(
        rf"\b{_USER} (?:always |only )?(?:wants?|does not want|doesn't want|don't want|asks?|asked|"
        rf"expects?|needs?|requires?|insists? on|"
        rf"would like|requests?|requested) (?:(?:for|that|to (?:see|get|have|"
        rf"receive)(?: any)?) )?{_ANSWERS}\b"
        rf"|\b{_USER} (?:\w+ ){{0,2}}?(?:wants?|asks?|asked|expects?|would like|requests?|"
        rf"requested) "
        r"(?:(?:that )?(?:the )?(?:assistant|model|ai|me|you)\b|to be (?:addressed|called|told|"
        r"asked|"
        r"reminded|informed|warned))"
        r"|\b(?:the )?(?:assistant|model|ai) (?:must|should|may|shall|has to|needs? to|is to|"
        r"can(?:not|'t)|"
        r"never|always)\b"
        r"|^(?:please |kindly )?(?:always|never|don't|do not|remember to|make sure|be sure to|"
        r"avoid|"
        r"refrain from|keep|use|write|answer|reply|respond|call me|address me|include|add|give|put|"
        r"format|prefer|stick to|follow|ask|tell|explain|start|end|begin|mention|treat|speak|talk|"
        r"when(?:ever)? i|if i ask|from now on|only|no (?=\w+(?: \w+)?\.?$))\b(?! (?:is|are|was|"
        r"has)\b)"
        # other languages
        r"|\b(?:benutzer(?:in)?|nutzer(?:in)?|anwender) (?:möchte|will|wünscht|verlangt|"
        r"erwartet)[\w ]*,? "
        r"(?:dass|antworten|alle)\b|^(?:bitte )?(?:antworte|verwende|benutze|nenn\w*|schreib\w*|"
        r"gib|"
        r"sprich|halte|vermeide|erkläre|füge|zeig\w*)\b"
        r"|\butilisat(?:eur|rice) (?:veut|souhaite|demande|exige)[\w ]* (?:que|réponses)\b"
        r"|^(?:réponds|répondez|utilise[sz]?|n'utilise[sz]?|appelle[sz]?-moi|écri[st]|écrivez|"
        r"parle[sz]?|évite[sz]?|ne \w+ (?:pas|jamais))\b"
        r"|\busuari[oa] (?:quiere|pide|desea|exige)[\w ]* (?:que|respuestas)\b"
        r"|^(?:por favor,? )?(?:responde|contesta|usa|utiliza|no uses|no utilices|llámame|escribe|"
        r"evita|habla|explica|nunca \w+s\b)"
        r"|^(?:请|不要|别|以后|今后|务必|必须|总是|始终|从现在|永远|用户(?:希望|要求)(?:.{0,6})?(?:回答|回复|助手))"
        r"|(?:してください|ください。?$|しないで|ないこと。?$|すること。?$)|必ず"
        r"|^(?:пожалуйста,? )?(?:всегда|никогда|отвечай\w*|используй\w*|не (?:используй|пиши|"
        r"отвечай|упоминай)\w*|называй\w*|пиши\w*|говори\w*|обращай\w*|избегай\w*)"
        r"|\bпользователь (?:хочет|просит|требует)[\w ]*,? (?:чтобы|ответ\w*)"
    )
)
_PREFERENCE = lazily(
    grouped(
        rf"(?:^|[,;.:] ?|\b(?:and|but) ){_USER} (?:(?:really|also|only|usually|generally|always|"
        rf"strongly|"
        r"much|still|do|does|don't|doesn't|do not|does not|no longer|"
        r"personally) ){0,3}(?:prefers?|likes?"
        r"|loves?|enjoys?|hates?|dislikes?|adores?|detests?|loathes?|favou?rs?|can(?:'t|not| not) "
        r"(?:stand|bear)|would rather|'d rather)\b(?! to (?:see|get) you\b)"
        r"|\b(?:i'd|i would|user would) (?:rather|prefer)\b"
        rf"|\b{_USER}(?:'m| am| is|'s| isn't| is not)? (?:not |really |"
        rf"very )*(?:(?:a )?(?:\w+ )?fan of|fond of|keen on|"
        r"into (?!account)|partial to)\b|\bi'm (?:not )?(?:a )?(?:\w+ )?(?:fan of|fond of|keen on|"
        r"into)\b"
        r"|\b(?:my|user's|users) (?:\w+ )?favou?rites?\b|\bfavou?rite [\w ]+ (?:is|are)\b"
        rf"|\b{_USER} ha(?:s|ve) a (?:soft spot|weakness|preference) for\b|терпеть не мо"
        r"|^(?:prefers?|likes?|loves?|enjoys?|hates?|dislikes?|favou?rite) "
        r"|\b(?:user|i) (?:finds? [\w ]+ (?:boring|fun|annoying|delicious|tasty))\b"
        # other languages
        r"|\b(?:ich|(?:der |die )?(?:benutzer|nutzer|anwender)(?:in)?) (?:mag|liebt?e?|"
        r"bevorzugt?e?|hasst?e?"
        r"|\w+ (?:sehr |am )?(?:gern\w*|lieb(?:er|sten))|zieht? )|\b(?:lieblings\w+)|\blieber\b"
        r"|\b(?:j'|je n'|l'utilisat(?:eur|rice) n?'?)(?:aime|adore)|\b(?:je|utilisat(?:eur|"
        r"rice)) (?:ne )?"
        r"(?:préfère|déteste|n'aime|aime|adore|apprécie)|\bpréférée?s?\b"
        r"|\b(?:me|no me|le) (?:gustan?|encantan?)\b|\b(?:yo |usuari[oa] )?(?:prefier[oe]|odi[oa]|"
        r"detest[oa])\b"
        r"|\bfavorit[oa]s?\b"
        r"|(?:我|用户|使用者)(?:更|最|很|非常|不|也|比较|特别)*(?:喜欢|偏好|偏爱|讨厌|热爱|爱(?:吃|喝|看|听|好))|最喜欢"
        r"|好き|嫌い|好み(?:ます|ません|です)|お気に入り"
        r"|\b(?:я|пользователь\w*) (?:очень |больше |не )*(?:любл\w+|любит|предпочита\w+|"
        r"ненавиж\w+|"
        r"ненавидит|обожа\w+)|\bлюбим(?:ый|ая|ое|ые)\b|\b(?:мне|"
        r"пользователю) (?:не )?(?:больше )?нрав\w+"
    )
)


def category_of(text: str) -> str:
    """`preference`, `fact` or `instruction`."""
    head = text[:_READ]
    lower = " ".join(head.lower().replace("’", "'").split())
    if _INSTRUCTION.search(lower):
        return "instruction"
    if _PREFERENCE.search(lower):
        return "preference"
    return "instruction" if standing_rules(head) else "fact"
