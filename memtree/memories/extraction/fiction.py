"""Stories, role-play, games, jokes and exercises: what a user writes there is true of nobody.

A play that began makes all later messages fiction (`is_role_play`), and some messages are a story
as a whole (`is_made_up`). In other messages a sentence frames those around it: "In my story, ..."
what follows, "that was a line of my character" what stands before.

    >>> said = ["i'm the ceo.", "that was a line of my character.", "i live in graz."]
    >>> framed(list(zip((0, 0, 1), said)))
    {0, 1}
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from memtree.text import persona_card
from memtree.text.lazy_patterns import lazily

BEGINNING = 2_000  # characters that tell what kind of message it is
LAUGH = 20  # characters at the end of a sentence
_STAGE = lazily(r"\A\s{0,9}\*(?:i |he |she |they )?[a-z]+(?:s|ing)?\b[^*\n]{0,300}\*(?=\s|$)")
_PLAY = lazily(
    r"\b(?:role-?play\w*|rp\b|stay in character|i play (?:as|a character)\b|i play \w+, (?:a|an"
    r"|the) |take the (?:side|role|part|perspective) of|devil's advocate|simulate (?:a|an)"
    r"|you(?:'re| are) the (?:hiring manager|interviewer|customer|client|patient|judge|king"
    r"|queen)|let's practi[sc]e|you(?:'re| are) my (?:\w+ )?(?:tutor|teacher|boss|patient"
    r"|customer)|dungeon master|game master|text adventure|rollenspiel|jeu de rôle|juego de rol"
    r"|gioco di ruolo|from now on,? you(?:'re| are| will be) (?!to\b|going|allowed|not\b|only\b"
    r"|free\b)|let's (?:play (?:a|the) (?:game|scene|role)|write a (?:\w+ )?(?:story"
    r"|novel) together)|(?:your|my) character(?:'s name)? (?:is|are|will be|lives)"
    r"|pretend (?:you(?:'re| are)|to be|that (?:you|i|we)|i(?:'m| am))|(?:act as|be|play) (?:an?"
    r"|the|my) (?:\w+ ){0,2}(?:interviewer|customer|girlfriend|boyfriend|narrator|therapist|boss)"
    r"|d(?:&|n)d (?:one-?shot|game|campaign|session)|(?:you are|you're|du bist|tu es|eres|sei"
    r"|je bent) (?:\w+ ){1,6}(?:and|und|et|y|e|en) (?:i'm|i am|ich bin|je suis|soy|sono|sou"
    r"|ik ben)\b)",
    re.IGNORECASE,
)
_STORY = lazily(
    r"\b(?:once upon a time|es war einmal|il était une fois|érase una vez|c'era una volta"
    r"|(?:write|continue|tell) (?:me )?(?:a|an|the|my|our) (?:[\w-]+ ){0,4}(?:story|scene"
    r"|dialogue|screenplay|novel|chapter|monologue|fanfic\w*|tale)|protagonist"
    r"|schreib\w* (?:mir )?(?:eine|die) (?:[\w-]+ ){0,3}geschichte|(?:écris"
    r"|raconte)[\w-]* une histoire|(?:escribe|cuenta)\w* (?:una|un) (?:historia|cuento))\b",
    re.IGNORECASE,
)
_GAME = lazily(
    r"\b(?:stardew|minecraft|skyrim|the sims|zelda|elden ring|baldur's gate|pok[eé]mon|fortnite"
    r"|animal crossing|roblox|terraria|factorio|warcraft|witcher|rimworld|dwarf fortress"
    r"|crusader kings|playthrough|in-game|save file|respawn|quest)\b"
)
# Whose apples are counted is nobody.
_EXERCISE = lazily(
    r"\bhow many (?:\w+ )?(?:do|does|did|are|is|will) |\bwhen (?:do|will) they\b|\blet [a-z] be\b"
    r"|\bsolve\b|\bword problem\b",
    re.IGNORECASE,
)
_NUMBER = lazily(r"\d+")
_WORK = (
    r"(?:stor(?:y|ies)|novels?|novella|screenplay|manuscript|fan ?fic\w*|comic|poem|song|lyrics"
    r"|sketch|skit|monologue|musical|campaign|rpg|role-?play|geschichte|roman|drehbuch|gedicht"
    r"|novela|cuento|relato|historia|guion|romance|conto|história|histoire|scénario|nouvelle"
    r"|romanzo|racconto|storia|verhaal|романе?|рассказе?)"
)
_MY = (
    r"(?:my|our|mein\w*|unser\w*|mi|mis|nuestr\w+|mon|ma|mes|notre|(?:o |a )?(?:meu|minha)"
    r"|(?:il |la )?mi[oa]|mijn|onze|мо\w+)"
)
_A = rf"(?:{_MY}|the|this|that|an?|his|her|de[mr]|einem|un[ae]?|el|la|le)"
_WHO = (
    r"(?:characters?|protagonist\w*|narrator|antagonist|avatar|hero(?:ine)?|villain|figur|charakter"
    r"|personaje|personnage|narrateur|personagem|personaggio|personage|hoofdpersoon|персонаж\w*)"
)
_FRAMES = lazily(
    rf"(?:(?:so|ok|and|but|also|well),? )?(?:(?:for|from|within|in|en|dans|nel|nella|em|в) "
    rf"{_A}|im|no meu|na minha) (?:[\w&'-]+ ){{0,3}}?{_WORK}\b"
    rf"|{_A} (?:[\w&'-]+ ){{0,2}}?{_WORK} (?:opens|begins|starts|ends|goes|says|reads)\b"
    rf"|.{{0,40}}?[\w我的私の](?:小说|故事|剧本|小説|物語|漫画)(?:里|中|では|の中)"
)
# Who speaks is somebody else, before this sentence as well as behind it.
_SPEAKER = lazily(
    rf"\b{_MY} (?:(?!favou?rite|main )[\w&'-]+ ){{0,2}}?{_WHO}\b(?! (?:limit|count|set|encoding"
    rf"|class))"
    rf"|\b(?:hero|heroine|character|narrator|villain) (?:of|in|from) {_A} (?:[\w-]+ ){{0,2}}?"
    rf"{_WORK}\b"
    rf"|\bfrom {_A} (?:[\w-]+ ){{0,2}}?{_WORK}\b(?! (?:i|we|by|club)\b)"
    r"|\b(?:that|this|it|those|the above)(?:'s|'re| is| was| were)(?: all| just| only)?"
    r" (?:fiction(?:al)?|made[- ]up|(?:lyrics|dialogue|lines?|(?:a|the) (?:line|quote)) (?:of|from)"
    r" (?:a|my|the|an))\b|我的?(?:角色|主角|人物)|(?:私|僕|俺)の(?:キャラ|主人公)"
)
# Without one of these parts of words no sentence is a frame: a hundred times as fast to see.
_HINTS = tuple(
    """
    charact narrat protagon antagon avatar hero villain figur personaj personnage personage
    hoofdpersoon персонаж stor novel screenplay manuscript fic comic poem song lyrics sketch skit
    monolog musical campaign rpg play geschicht roman drehbuch gedicht cuento relato guion conto
    hist scénario nouvelle racconto verhaal рассказ made kidding jk joking spaß scherz witz broma
    plaisante rigole brincadeira grapje шучу 小说 故事 剧本 小説 物語 漫画 角色 主角 人物 キャラ
    主人公 开玩笑 冗談 dialog line quote
    """.split()
)
_LOOKS_BACK = lazily(r"(?:btw|by the way|sorry|oh)?,? ?(?:that|this|it|those|the above|all)\b")
_KIDDING = lazily(
    r"\b(?:kidding|jk|(?:only|just|i'm) joking|made that up|nur (?:ein )?(?:spaß|scherz|witz)"
    r"|(?:era|es) (?:una )?broma|plaisante|rigole|brincadeira|scherz(?:o|avo)|grapje|шучу)\b"
    r"|开玩笑|冗談"
)
_JOKE = lazily(
    r"\b(?:lol|haha\w*|hehe\w*|rofl|lmao|jaja\w*|jeje\w*|mdr|ptdr|kkk+|rsrs\w*|ahah\w*|хаха\w*"
    r"|ахах\w*)"
    r"\W*$|(?:哈哈|笑|www)\W*$"
)
_IMPOSSIBLE_AGE = lazily(
    r"(?:i'm|i am|ich bin|tengo|j'ai|(?:eu )?tenho|ho|ik ben|мне) (?:\w+ ){0,2}?(?:1[3-9]\d"
    r"|[2-9]\d\d|\d{4,})(?: (?:years|jahre|años|ans|anos|anni|jaar|лет)|$)|.{0,12}(?:百|千|万"
    r"|[2-9]\d\d)[岁歳]"
)
# "In the test my name is Foo."
_ELSEWHERE = lazily(
    r"(?:in|for|within|on) (?:the|this|that|a|an|my|our|last night's) (?:[\w-]+ )?(?:tests?"
    r"|examples?|forms?|games?|books?|films?|movie|play|code|script|demo|dream|nightmare|scene"
    r"|fixture|sample|config|template|exercise|role|screenshot|video)\b"
    r"|(?:last night )?i dream(?:t|ed)\b|im (?:traum|spiel)\b|in meinem (?:traum|spiel)\b"
    r"|en (?:mi|el|un) (?:sueño|juego)\b|dans (?:mon|le) (?:rêve|jeu)\b"
    r"|(?:no meu|num|em um) (?:sonho|jogo)\b|nel (?:mio )?(?:sogno|gioco)\b"
    r"|in mijn (?:droom|spel)\b|.{0,12}(?:梦里|游戏里|夢の中|夢で|ゲームで)"
)


def is_role_play(text: str, role: str = "user") -> bool:
    """Return True if a message (of the user, the assistant or the system) sets up or goes on with a
    play in which the user speaks for somebody else, from then on."""
    if role == "assistant":  # who explains a thing may speak of characters
        return _STAGE.match(text[:BEGINNING]) is not None
    return persona_card.is_card(text) or sets_up_play(text[:BEGINNING])


def sets_up_play(head: str) -> bool:
    """Like `is_role_play`, for the beginning of a user's message that is no persona card."""
    return bool(_STAGE.match(head) or _PLAY.search(head))


def is_made_up(head: str) -> bool:
    """Return True if the beginning of a message is that of an exercise or a story."""
    exercise = _EXERCISE.search(head) and len(_NUMBER.findall(head)) > 1
    return bool(exercise or _STORY.search(head))


def is_fictional(lower: str) -> bool:
    """Return True if a sentence in lower case is told of a game, a dream or an example, or in
    jest."""
    if _ELSEWHERE.match(lower) or _IMPOSSIBLE_AGE.match(lower) or _JOKE.search(lower[-LAUGH:]):
        return True
    return _GAME.search(lower) is not None and "i play" not in lower


def framed(sentences: Sequence[tuple[int, str]]) -> set[int]:
    """The indexes of those that a frame makes fiction. `sentences`: the paragraph of each, and its
    text in lower case."""
    made: set[int] = set()
    whole = "\n".join(lower for _, lower in sentences)
    if not any(map(whole.__contains__, _HINTS)):
        return made
    start = 0  # of the paragraph
    for at, (paragraph, lower) in enumerate(sentences):
        if paragraph != sentences[start][0]:
            start = at
        speaker = _SPEAKER.search(lower)
        if speaker:
            made.update(range(start, at + 1))
        if _FRAMES.match(lower) or (speaker and not _LOOKS_BACK.match(lower)):
            return made.union(range(at, len(sentences)))
        if _KIDDING.search(lower):
            made.update((max(at - 1, 0), at))
    return made
