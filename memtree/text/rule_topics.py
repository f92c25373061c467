"""Tell what a standing rule is about: its words, numbers, and whether it forbids, corrects or
withdraws.

Two rules are compared by these alone (`unfolding/rules.py`), in any language.

    >>> new, old = topic("You may use emojis again."), topic("Never use emojis.")
    >>> new.words == old.words, new.withdraws, old.forbids
    (True, True, True)
"""

from __future__ import annotations

import unicodedata
from dataclasses import dataclass

from memtree.text.lazy_patterns import lazily
from memtree.text.stop_words import STOP_WORDS

SENTENCE = 600  # characters
STEM = 6  # characters of a word that are compared: most endings come later


@dataclass(frozen=True, slots=True)
class Topic:
    """`words`: their beginnings, without those that any rule may hold. `measures`: its numbers say
    how much, not which. `slot`: what there is one of, such as the language of all answers.
    `condition`: the words it is bound to ("when I ask about sizes")."""

    words: frozenset[str]
    numbers: tuple[str, ...]
    measures: bool
    forbids: bool
    corrects: bool
    withdraws: bool
    slot: str
    condition: frozenset[str]


# One apostrophe; Arabic without vowel signs, its alefs, final ya and ta marbuta alike.
_ALIKE = str.maketrans("’أإآىة", "'ااايه", "".join(map(chr, range(0x64B, 0x653))) + "ـ")
# What rules of any subject are worded with.
_FILLER = frozenset(
    word[:STEM]
    for word in """
    always never please use using only ever now future forward default remember rule rules note
    make sure must should want like keep write answer answers reply replies response responses
    respond me you your actually instead rather again anymore longer correction forget drop ignore
    scratch may can okay fine allowed stop avoid don doesn isn won need have any all every about
    immer nie niemals bitte ab jetzt künftig in der die das den dem ein eine keine kein keinen
    deine deinen deiner deinem du ich dass nicht mehr wieder statt vergiss regel darfst verwende
    benutze nutze schreibe antworte antworten und mit auf zu
    toujours jamais désormais à partir de maintenant ne pas plus les le la des du tes ta ton tu
    réponds réponse réponses utilise n en d l je que veux oublie règle peux nouveau au lieu
    siempre nunca ahora adelante no más el los las tus tu usa uses responde respuestas quiero que
    olvida regla puedes volver lugar vez
    sempre mai ora poi non più il gli le tue tuo usa usare rispondi risposte voglio che dimentica
    regola puoi invece
    sempre nunca agora diante não mais o os as suas sua use responda respostas quero esqueça pode
    voltar em
    altijd nooit voortaan vanaf nu geen niet meer weer de het je jouw gebruik antwoord antwoorden
    vergeet regel mag
    zawsze nigdy od teraz nie już znowu w używaj odpowiadaj odpowiedzi odpowiedziach zapomnij
    zasadę zasadzie możesz twoje swoich
    всегда никогда отныне впредь не больше снова в на используй отвечай ответ ответы ответах твои
    своих забудь правило правиле можешь про о
    завжди ніколи відтепер надалі не більше знову у використовуй відповідай відповідях забудь
    правило можеш про
    alltid aldrig från och med nu inte inga mer igen i dina svar använd svara glöm regeln får
    her zaman asla bundan sonra artık tekrar kullan kullanma cevap cevaplarında kuralı unut
    luôn không bao giờ đừng từ bây hãy dùng trả lời câu trong lại quên quy tắc
    """.split()
) | frozenset(word[:STEM] for word in STOP_WORDS)
_UNSPACED_FILLER = lazily(
    r"以后|今后|往后|从现在(?:开始|起)?|永远|始终|总是|每次|一律|不要|使用|可以|回答|"
    r"回复|规则|[请别再了的用要都]"
    r"|今後は?|これからは?|常に|必ず|絶対に?|使わない|使って|ください|下さい|ルール|答えて|"
    r"書いて|して|いいです|いい|です"
    r"|また|もう|(?:앞으로|이제부터|이제|항상|절대|다시|사용|하지|해도|마세요|마라|됩니다|"
    r"주세요|규칙|대답)[는은를]?"
)
_PARTICLE = lazily(r"(?<=[가-힣])(?:으로|에서|에는|[을를은는이가에로])(?![가-힣])")
_KANJI = lazily(r"[\u3400-\u9fff\u30a0-\u30ff]+")
_RUN = lazily(r"[\u3040-\u30ff\u3400-\u9fff]+|[^\W\u3040-\u30ff\u3400-\u9fff]+")
_NUMBER = lazily(r"\b\d+(?:[.,]\d+)*\b")
_FORBIDS = lazily(
    r"\b(?:not|never|no|don'?t|mustn't|avoid|stop|without|refrain|nie|niemals|nicht|kein\w*|ohne|"
    r"vermeide\w*|pas|jamais|sans|évite\w*|nunca|jamás|evita|non|mai|niente|nada|não|evite|niet|"
    r"geen|nooit|vermijd|nigdy|żadnych|bez|unikaj|не|никогда|никаких|без|избегай\w*|ніколи|жодних|"
    r"уникай|inte|inga|ingen|aldrig|undvik|asla|yok|yasak|kaçın|\w+m[ae](?:yın|yin)?(?=[.!]?$)|"
    r"đừng|"
    r"không|cấm)\b|不要|别|禁止|不准|不许|避免|勿|绝不|永远不|ない|禁止|避け|やめて|지 "
    r"?[마말]|금지|피해|않|"
    r"(?:^|\s)لا\s|ممنوع|تجنب|मत|नहीं|न करें"
)
_MEASURES = lazily(
    r"\b(?:under|below|at (?:most|least)|max\w*|min\w*|up to|within|more than|longer "
    r"than|less than|"
    r"fewer than|exactly|limit\w*|unter|höchstens|maximal|mehr als|moins de|plus de|menos "
    r"de|más de|"
    r"meno di|sotto|più di|mais de|onder|hoogstens|meer dan|poniżej|mniej niż|najwyżej|"
    r"меньше|не более|"
    r"не длиннее|до|менше|не більше|högst|mindre än)\b.{0,12}\d"
    r"|\d ?(?:spaces?|tabs?|columns?|characters?|px|%|minutes?|seconds?|hours?|days?|"
    r"words?|lines?)\b"
    r"|\d\.\d|以内|以下|不超过|最多|이내|이하|اقل من|से कम|không quá|\ben az\b|\ben fazla\b"
)
_CORRECTS = lazily(
    r"\b(?:actually|instead|rather than|correction|scratch that|change of plan|on second thought|"
    r"no longer|from now on|doch|stattdessen|statt|anstatt|nicht mehr|ab (?:jetzt|sofort)|"
    r"finalement|"
    r"au lieu|plutôt|désormais|à partir de maintenant|en realidad|mejor|en (?:lugar|vez) "
    r"de|a partir de "
    r"ahora|ya no|in realtà|anzi|invece|d'ora in poi|na verdade|em vez|a partir de agora|"
    r"toch|in plaats|"
    r"voortaan|vanaf nu|jednak|zamiast|od teraz|вообще-то|вместо|лучше|отныне|теперь|"
    r"замість|відтепер|"
    r"i stället|istället|aslında|yerine|bundan sonra|thay vì|từ bây giờ)\b"
    r"|其实|改成|改为|改用|而不是|从现在|やっぱり|代わりに|ではなく|今後は|これからは|"
    r"대신|말고|사실|이제부터|앞으로는|"
    r"بدلا من|في الواقع|من الان|की जगह|अब से"
)
_WITHDRAWS = lazily(
    r"\b(?:forget|drop|ignore|cancel|scrap|disregard|never mind|lift) (?:about )?(?:the|"
    r"that|my|your|this|"
    r"what i said about) (?:\w+ ){0,3}?(?:rules?|instructions?|requests?|restrictions?|"
    r"ban|limit|about)\b"
    r"|\byou (?:may|can|are allowed to|are free to|could) (?:\w+ ){0,8}?(?:again|now|after all)\b"
    r"|\byou (?:no longer (?:have|need) to|(?:don't|do not) (?:have|need) to .{1,60}(?:any "
    r"?more|any longer))"
    r"|\b(?:it's|it is) (?:ok|okay|fine|alright) to (?:\w+ ){1,8}?(?:again|now)\b"
    r"|\b(?:rule|restriction|ban) (?:\w+ ){0,6}?(?:no longer|is (?:lifted|off|gone|cancelled|void))"
    r"|\bvergiss (?:die|das|den) .{0,20}(?:regel|vorgabe|anweisung|verbot)|\bdu (?:darfst|"
    r"kannst|musst)\b"
    r".{1,60}\b(?:wieder|nicht mehr|nicht länger|kein\w* .{0,20}mehr)\b"
    r"|\boublie (?:la|cette|ma) (?:règle|consigne)|\btu (?:peux|n'as plus|ne dois plus|"
    r"n'es plus obligé)\b"
    r".{0,60}\b(?:de nouveau|à nouveau|besoin|à|plus)\b"
    r"|\bolvida (?:la|esa|mi) (?:regla|norma|instrucción)|\b(?:puedes|ya puedes) volver "
    r"a\b|\bya no "
    r"(?:tienes|hace falta|es necesario|necesitas)"
    r"|\bdimentica (?:la|quella) (?:regola|istruzione)|\bpuoi (?:di nuovo|tornare a)\b|"
    r"\bnon (?:devi|serve) più\b"
    r"|\besqueça (?:a|essa) (?:regra|instrução)|\b(?:pode|você pode) voltar a\b|\bnão "
    r"(?:precisa|é) mais\b"
    r"|\bvergeet de (?:regel|instructie)|\bje mag .{1,50}\bweer\b|\bje hoeft .{1,50}\bniet meer\b"
    r"|\bzapomnij o (?:zasadzie|regule)|\bmożesz (?:znowu|znów)\b|\bnie musisz już\b"
    r"|\bзабудь (?:про|о|об) (?:правил\w+|запрет\w*|указани\w+)|\b(?:снова|опять) можно\b|"
    r"\bможешь (?:снова|опять)\b|"
    r"\bбольше не (?:нужно|надо|обязательно)\b|\bзабудь про правил|\bможеш (?:знову|знов)\b|"
    r"\bбільше не треба\b"
    r"|\bglöm regeln\b|\bdu får .{1,50}\bigen\b|\bkuralı(?:nı)? unut\b|\btekrar .{1,40}(?:abilirs"
    r"in|ebilirsin)\b"
    r"|\bquên quy tắc\b|\bbạn có thể .{1,40} lại\b"
    r"|(?:忘掉|忘了|取消|作废|忽略).{0,12}(?:规则|要求|规定|限制)|可以(?:再|重新)|不用再|"
    r"不必再|又可以"
    r"|ルールは(?:忘れ|取り消|なし|無し)|また.{1,20}(?:使って|して)(?:も)?(?:いい|よい|"
    r"構いません)|もう.{1,20}なくて(?:も)?(?:いい|よい|構いません)"
    r"|규칙은 (?:잊어|취소)|다시 .{1,20}(?:해도|써도|사용해도) (?:돼|됩니다|괜찮)|더 "
    r"이상 .{1,20}(?:않아도|필요)"
    r"|انس (?:ال)?قاعده|يمكنك .{1,40}(?:مره اخري|مجددا|من جديد)|لم يعد (?:عليك|ضروريا|"
    r"لازما)|नियम भूल|फिर से .{1,30}सकते"
)
# One of these stands in each withdrawal that is written in ASCII.
_MARKERS = (
    "forget", "again", " now", "after all", "no longer", "any more", "anymore", "any longer",
    "rule", "instruction", "request", "restriction", "ban ", "limit", "about", "vergiss", "wieder",
    "mehr",
    "oublie", "nouveau", "plus", "olvida", "volver", "ya no", "dimentica", "tornare", "nuovo",
    "voltar", "vergeet", "weer", "meer", "zapomnij", "igen", "unut", "tekrar",
)  # fmt: skip
_SLOTS = (
    (
        "language",
        lazily(
            r"\b(?:in|auf|en|in het|po|på|em|bằng tiếng|по-|на)\s?(?:\w+ )?(?:english|"
            r"german|french|spanish|"
            r"italian|portuguese|dutch|polish|russian|chinese|japanese|korean|turkish|"
            r"arabic|deutsch|"
            r"englisch|französisch|spanisch|français|anglais|allemand|espagnol|español|"
            r"inglés|alemán|"
            r"italiano|inglese|tedesco|português|inglês|alemão|nederlands|engels|duits|"
            r"polsku|angielsku|"
            r"niemiecku|русски|английски|немецки|русском|английском|svenska|engelska|việt|anh)\b"
            r"|\b(?:türkçe|ingilizce|almanca|українською|англійською)\b|用(?:中|英|德|"
            r"法|日)[文语]|(?:日本|英|中国|ドイツ)語で|"
            r"(?:한국|영|독일|일본)어로|بالعربيه|بالانجليزيه|(?:हिंदी|अंग्रेज़ी) में"
        ),
    ),
    (
        "length",
        lazily(
            r"(?<!\d)\d++ ?(?:words?|sentences?|lines?|wört\w+|sätze\w*|mots|phrases|palabras|"
            r"frases|parole|palavras|"
            r"woorden|zinnen|słów|zdań|слов\w*|предложени\w+|слів|ord|meningar|kelime\w*|"
            r"từ|字|文字|語|단어|자|"
            r"كلمه|शब्द)"
        ),
    ),
    (
        "address",
        lazily(
            r"\b(?:call|address) me\b|\bnenn\w* mich\b|\bappelle[zr]?-moi\b|\bllám[ae]me\b|"
            r"\bchiamami\b|"
            r"\bme chame\b|\bchame-me\b|\bnoem me\b|\b(?:зови|называй) меня\b|叫我|称呼我|"
            r"と呼んで|(?:이라고|라고) 불러|"
            r"\bhitap et\b|\bنادني\b|\bkalla mig\b"
        ),
    ),
)
_WHEN = lazily(
    r"\b(?:when(?:ever)?|if|before|after|wenn|falls|bevor|quand|lorsque|si|cuando|quando|se|als|"
    r"wanneer|kiedy|gdy|когда|если|коли|якщо|när|om) ([^,.;]{3,80})"
)
_WHERE = lazily(
    r"\b(?:in|for|on|of|für|bei|im|pour|dans|para|en|em|per|nel|voor|dla|w|для|в|у|för|i) "
    r"([^,.;]{2,80})"
)


def topic(text: str) -> Topic:
    """Return the topic of a rule: a sentence; more than that is not read."""
    lower = comparable(text[:SENTENCE])
    forbids = _FORBIDS.search(lower) is not None
    withdraws = _WITHDRAWS.search(lower) is not None
    slot = next((name for name, pattern in _SLOTS if pattern.search(lower)), "")
    return Topic(
        words=_words(lower),
        numbers=tuple(_NUMBER.findall(lower)),
        measures=_MEASURES.search(lower) is not None,
        forbids=forbids and not withdraws,
        corrects=_CORRECTS.search(lower) is not None,
        withdraws=withdraws,
        slot="" if withdraws else slot,
        condition=_condition(lower, slot),
    )


def withdraws(lower: str) -> bool:
    """Return True if a sentence in comparable form takes back a rule, if there is one."""
    if lower.isascii() and not any(marker in lower for marker in _MARKERS):
        return False
    return _WITHDRAWS.search(lower) is not None


def comparable(sentence: str) -> str:
    """Write a sentence in the form of the phrases: lower case, one kind of apostrophe, composed
    letters; Arabic without vowel signs, its alefs, final ya and ta marbuta alike."""
    if not sentence.isascii():
        sentence = unicodedata.normalize("NFC", sentence).translate(_ALIKE)
    return sentence.lower()


def _words(lower: str) -> frozenset[str]:
    if not lower.isascii():
        lower = _PARTICLE.sub(" ", _UNSPACED_FILLER.sub(" ", lower))
    found: set[str] = set()
    for run in _RUN.findall(lower):
        if "\u3040" <= run[0] <= "\u9fff":  # no spaces: what stands in kana alone is grammar
            for part in _KANJI.findall(run):
                found.update(part[at : at + 2] for at in range(max(1, len(part) - 1)))
        else:
            found.add(run[:STEM] if run.isalpha() else "" if run.isdigit() else run)
    return frozenset(found) - _FILLER - {""}


def _condition(lower: str, slot: str) -> frozenset[str]:
    """The words that a rule is bound to. A language is named by "in" itself."""
    words: set[str] = set()
    for pattern in (_WHEN,) if slot == "language" else (_WHEN, _WHERE):
        for match in pattern.finditer(lower):
            words |= _words(match[1])
    return frozenset(words)
