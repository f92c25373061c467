"""Persona and role-play cards: a first message that says who the model is to be from then on.

Told by their form (W++, lists and JSON of traits, `Name:` and `Personality:` fields, templates such
as `{{char}}`) and by what they ask ("you are ...", "stay in character", a scenario, how to write).
One sign is not enough: a résumé has fields as well, and "you are right" begins like a card.
What this file does not do: read who the persona is.

    >>> is_card("You are Mira, a dry-witted smuggler. Stay in character. Never speak for {{user}}.")
    True
    >>> is_card("You are right, the second one is better. Can you fix the test?")
    False
"""

from __future__ import annotations

import re

from memtree.text.lazy_patterns import lazily

CARD = 4  # the least score of a card
REACH = 12_000  # characters that are read: a card says early what it is
LEAST = 25  # characters; a shorter message loses nothing where it is quoted as any other

_FIELDS = (
    # names of things and people, which a form or a file has as well
    r"name|age|gender|species|race|occupation|height|appearance|hair|eyes|alter|geschlecht|"
    r"rasse|beruf|"
    r"aussehen|nom|âge|sexe|apparence|nombre|edad|género|apariencia|nome|età|aspetto|"
    r"idade|aparência|"
    r"naam|leeftijd|uiterlijk|imię|wiek|wygląd|имя|возраст|пол|внешность|ім'я|вік|зовнішність|"
    r"namn|ålder|"
    r"utseende|isim|ad|yaş|görünüş|الاسم|العمر|المظهر|姓名|名字|年龄|性别|外貌|名前|年齢|"
    r"性別|外見|이름|나이|성별|외모|"
    r"नाम|उम्र|tên|tuổi|ngoại hình"
)
_TRAITS = (
    # what only a character has
    r"personality|persona|character|char|backstory|background story|scenario|first[_ "
    r"]?mes(?:sage)?|greeting|"
    r"mes_example|example dialog(?:ue)?s?|likes|dislikes|speech(?: style| pattern)?|quirks|traits|"
    r"abilities|powers|weapon|class|alignment|setting|persönlichkeit|charakter|hintergrund(?:gesc"
    r"hichte)?|"
    r"szenario|vorlieben|abneigungen|sprechweise|personnalité|personnage|histoire|scénario|goûts|"
    r"personalidad|personaje|trasfondo|escenario|gustos|personalità|personaggio|ambientazione|"
    r"personalidade|personagem|cenário|gostos|persoonlijkheid|karakter|achtergrond|scenario|"
    r"osobowość|postać|scenariusz|характер|личность|персонаж|предыстория|сценарий|сеттинг|"
    r"характер|особистість|сценарій|personlighet|karaktär|bakgrund|kişilik|karakter|senaryo|"
    r"الشخصيه|الشخصية|السيناريو|الخلفية|性格|人设|角色|背景|场景|设定|口癖|キャラクター|"
    r"設定|口調|シナリオ|世界観|"
    r"성격|캐릭터|배경|시나리오|말투|설정|व्यक्तित्व|पात्र|tính cách|nhân vật|bối cảnh"
)
_BEFORE = r"(?:^|[\n\[{(,;|])[ \t]{0,8}(?:[-*•#>]{1,4}[ \t]?)?[\"'*_]{0,3}"
_AFTER = r"[\"'*_]{0,3}[ \t]?(?::|：|=|\(\s?[\"“])"
_FIELD = lazily(rf"{_BEFORE}(?:{_FIELDS}){_AFTER}")
_TRAIT = lazily(rf"{_BEFORE}(?:{_TRAITS}){_AFTER}")
_TEMPLATE = lazily(r"\{\{(?:char|user|original|persona)\}\}|<(?:char|bot|user)>(?!</)")
_PLIST = lazily(
    r"\[\s?character\s?[(:=]|\bcharacter\s?\(\s?[\"“]|\[[^\[\]\n]{1,40}'s (?:persona|"
    r"personality)\s?[:=]"
    r"|\bchara_card_v\d|<start>",
)
_CHARACTER = lazily(r"\{\{char\}\}")
_HEADING = lazily(
    r"^[ ]{0,3}#{1,3} ?(?:persona|personality|character|scenario|roleplay|role|persönlichkeit|"
    r"rolle|personnage|personaje|personaggio|personagem|персонаж|"
    r"人设|角色|キャラクター|캐릭터)[ \t]*$",
    re.MULTILINE,
)
_STAY = lazily(
    r"\b(?:stay|remain|keep|always be) in[- ]character\b|\b(?:never|don't|do not) (?:break|"
    r"leave|drop) "
    r"(?:the )?character\b|\bout[- ]of[- ]character\b|\b(?:never|don't|do not) (?:speak|"
    r"talk|act|write|decide|"
    r"respond|reply)(?: or \w+)? (?:for|as|on behalf of) (?:me|my|the user|\{\{user\}\}|[a-z]\w+)"
    r"|\brole-?play(?:ing)?\b|\b(?:text|fantasy|interactive) (?:adventure|fiction)\b|"
    r"\bgame ?master\b|"
    r"\bdungeon master\b|\bnarrator\b|\bin der rolle\b|\brollenspiel\b|\bbleib\w* (?:immer "
    r")?in (?:der|deiner) rolle\b|"
    r"\bjeu de rôle\b|\breste[sz]? (?:toujours )?dans (?:ton|le|votre) (?:personnage|"
    r"rôle)\b|\bjuego de rol\b|"
    r"\b(?:mantente|permanece) (?:siempre )?en (?:el |tu )?(?:personaje|papel)\b|\bgioco "
    r"di ruolo\b|"
    r"\b(?:resta|rimani) (?:sempre )?nel (?:tuo )?(?:personaggio|ruolo)\b|\bjogo de interpretação"
    r"\b|"
    r"\b(?:fique|permaneça|mantenha-se) (?:sempre )?no (?:seu )?(?:personagem|papel)\b|"
    r"\brollenspel\b|"
    r"\bblijf (?:altijd )?in (?:je )?rol\b|\b(?:pozostań|bądź) (?:zawsze )?w roli\b|\bролев\w+ "
    r"игр\w+|"
    r"\bоставайся (?:всегда )?в (?:роли|образе)|\bне выходи из (?:роли|образа)|\bрольов\w+ "
    r"гр\w+|\bзалишайся в (?:ролі|образі)|"
    r"\brollspel\b|\bstanna i (?:din )?(?:roll|karaktär)|\brol yap|\bkarakterden çıkma|"
    r"\brolünde kal|تقمص|لعب (?:ال)?ادوار|"
    r"لعب (?:ال)?أدوار|角色扮演|扮演|保持(?:角色|人设)|不要出戏|ロールプレイ|なりきって|"
    r"演じて|キャラを(?:崩さ|保)|롤플레이|역할극|"
    r"연기해|캐릭터를 유지|भूमिका निभा|nhập vai|đóng vai",
)
_YOU_ARE = lazily(
    r"(?:\A|[\n.!])[ \t>*#-]{0,6}(?:(?:hi|hello|hey|ok|okay|please|from now on|today|"
    r"in this \w+|let's play)[,:.!]? ?){0,2}"
    r"(?:you(?:'re| are| will be| play| will play| shall be)(?: now)?|your name is|act "
    r"as|pretend (?:to be|you are)|"
    r"i want you to (?:act|be|play)|imagine (?:that )?you are|du bist|du spielst|dein "
    r"name ist|spiel|stell dir vor,? du|"
    r"sie sind|tu es|tu joues|tu incarnes|tu t'appelles|eres|interpretas|actúa como|te "
    r"llamas|sei|interpreti|"
    r"ti chiami|você é|você interpreta|finja ser|tu és|je bent|je speelt|jesteś|grasz|"
    r"nazywasz się|ты|тебя зовут|вы|ти|"
    r"тебе звати|du är|du spelar|sen bir|senin adın|adın|انت|أنت|你是|你叫|你扮演|请扮演|"
    r"君は|あなたは|お前は|너는|넌|당신은|तुम|आप|"
    r"bạn là) (?:an? |the |ein\w* |une? |un[ao]? |um[a]? |een )?(?!right\b|correct\b|"
    r"welcome|wrong|so\b|very|great|amazing|the best|"
    r"sure|free to|not |a genius|a lifesaver|absolutely|totally|right,|richtig|recht|"
    r"toll|super|raison|genial|un genio)"
    r"(?P<who>[^\n.!?,]{2,60})",
)
_YOU_ARE_UNSPACED = lazily(
    r"(?:\A|[\n。！])\s{0,4}(?:请)?(?:你(?:是|叫|扮演|将扮演)|请扮演|あなたは|君は|お前は)(?!对|"
    r"正しい|说得对)[^\n。！？?]{2,80}"
)
# What a persona is asked, and what a character is told by.
_MANNER = lazily(
    r"\b(?:speak|talk|answer|respond|reply|write|narrate|describe)s? (?:only |always "
    r")?(?:in|as|like|with)\b|"
    r"\b(?:accent|catchphrase|sarcastic|shy|flirty|grumpy|stoic|tsundere|sassy|mysterious|"
    r"cheerful|ruthless|"
    r"kingdom|tavern|dragon|vampire|elf|wizard|knight|pirate|mercenary|detective|smuggler|"
    r"princess|android|"
    r"spaceship|starship|castle|orc|witch|demon|assassin|bounty hunter|mage|warrior|queen|"
    r"king|ghost)s?\b|"
    r"\b(?:third person|second person|first person|present tense|asterisks|\*actions?\*|"
    r"inner thoughts|"
    r"\d+ years? old|years old|jahre alt|ans\b|años|anni\b|anos\b|jaar oud|lat\b|лет\b|"
    r"років|år gammal|yaşında)"
    r"|岁|歳|才の|살의|세의|साल",
)
_REQUEST = lazily(
    r"\b(?:fix|debug|implement|refactor|explain|summari[sz]e|translate|review|stack ?trace|"
    r"traceback|repo(?:sitory)?|"
    r"unit tests?|pull request|function|api|database|spreadsheet|invoice|resume|résumé|"
    r"curriculum vitae|cv|"
    r"cover letter|essay|homework|dataset|json schema|sql)\b|```",
)
_WEIGHTS = (
    (_CHARACTER, 4),
    (_HEADING, 2),
    (_TEMPLATE, 3), (_PLIST, 4), (_STAY, 3), (_YOU_ARE, 2), (_YOU_ARE_UNSPACED, 2), (_MANNER, 1),
)  # fmt: skip


def is_card(text: str) -> bool:
    """Return True if the first user message of a chat is a persona or role-play card."""
    return len(text) >= LEAST and card_score(text) >= CARD


def card_score(text: str) -> int:
    """Takes time linear in the beginning that it reads."""
    # In lower case: patterns that ignore case take three times as long.
    text = text[:REACH].replace("İ", "i").lower()
    score = sum(weight for pattern, weight in _WEIGHTS if pattern.search(text))
    fields = {_bare(match.group()) for match in _FIELD.finditer(text)}
    traits = {_bare(match.group()) for match in _TRAIT.finditer(text)}
    score += min(2 * len(traits), 4) + min(len(fields), 2 if traits else 1)
    return score - (2 if _REQUEST.search(text) else 0)


def _bare(field: str) -> str:
    return field.strip(" \t\n-*•#>\"'_[{(,;|:：=")
