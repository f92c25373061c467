"""Tell for `relation` what the commonest words of other languages are: nothing, the user, a
negation."""

from __future__ import annotations

import re
import tomllib
from functools import lru_cache
from importlib.resources import files

from memtree.memories.background.sentences import languages_of

# Telling words: a text with one of them, or with letters beyond ASCII, is not read as English.
TELLING = frozenset(
    """
    der das und ist ich nicht kein keine keinen ein eine einen einem mein meine wir wird werden
    auf mit für bei sind benutzer nutzer
    le les une est je j'ai mon ma mes nous l'utilisateur utilisateur pas n'est c'est du des dans
    el los las una es mi yo nosotros usuario con en del sus
    il gli uno è sono mio mia utente che non
    het een ik mijn niet geen gebruiker wij
    o os um uma meu minha usuário usuária não
    """.split()
)
FUNCTION = frozenset(
    """
    der die das den dem des ein eine einen einem einer eines ist sind bin bist wird werden und
    auch am im in an zu zum zur auf bei mit für von vom als es dass sich um findet statt
    le la les l un une des du de d est sont suis es et à au aux en dans pour par que qui se il y a
    el los las una unos unas son soy y e al del por para con que lo
    o os um uma é são sou
    gli uno è sono di da del della nel nella che
    het een is zijn ben en op te van voor
    и в во на с со к у это что является
    dell all nell dall sull ai aura lieu sur será fue seré estoy está estamos
    jahre años ans anni anos jaar
    """.split()
)
USER = frozenset(
    """
    ich mich mir mein meine meinen meinem meiner benutzer benutzers benutzerin nutzer nutzers
    nutzerin anwender
    je j me m moi mon ma mes utilisateur utilisatrice
    yo mi mis mí usuario usuaria
    eu meu minha meus minhas usuário usuária utilizador
    io mio mia miei mie utente
    ik mij mijn gebruiker
    я мне меня мой моя моё мои моего моей пользователь пользователя пользователю пользователем
    """.split()
)
# Words of which something is: "mein", and what stands before the user in "del usuario".
POSSESSIVE = frozenset(
    """
    mein meine meinen meinem meiner meines unser unsere benutzers nutzers mon ma mes notre nos
    mi mis nuestro nuestra meu minha meus minhas mio mia miei mie mijn ons onze мой моя моё мои
    моего моей пользователя
    """.split()
)
OF = frozenset("dell de del du d von van di dell do da".split())
_ARTICLES = frozenset("der de la l the".split())
NEGATIONS = frozenset(
    """
    nicht kein keine keinen keinem keiner nie niemals ohne nichts
    ne n pas jamais sans aucun aucune rien non plus
    no nunca jamás sin ningún ninguna nada tampoco não nem sem nenhum non mai senza
    niet geen nooit zonder
    не нет ни никогда без нельзя
    """.split()
)
SECOND = frozenset("pas jamais rien plus aucun aucune".split())  # behind "ne" and its verb
NUMBERS = {
    word: at + 1
    for line in (
        "- zwei drei vier fünf sechs sieben acht neun zehn",
        "- deux trois quatre cinq six sept huit neuf dix",
        "- dos tres cuatro cinco seis siete ocho nueve diez",
        "- due tre quattro cinque sei sette otto nove dieci",
        "- dois três quatro cinco seis sete oito nove dez",
        "- twee drie vier vijf zes zeven acht negen tien",
        "- два три четыре пять шесть семь восемь девять десять",
        "- две",
    )
    for at, word in enumerate(line.split())
    if word != "-"
}
# Endings of one verb with "I" and with "the user"; what tells a sister from a brother is not here.
_ENDINGS = frozenset(
    frozenset(pair.split("-"))
    for pair in "e-t e-st e-en t-en o-e e-es ю-ет ю-ёт ю-ит у-ет у-ёт у-ит".split()
)
_LEAST = 3  # letters that two forms share

# Scripts without spaces: what is a word of its own, then single characters.
UNSPACED = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff\u0e00-\u0eff\u1000-\u109f]")
_UNSPACED_WORD = re.compile(
    r"(?P<user>用户|使用者|ユーザー|ユーザ|利用者|我们|我|私|僕|俺)"
    r"|(?P<no>不是|没有|沒有|不|没|沒|無|无|别|勿|ありません|ません|ない|なく)"
    r"|(?P<nothing>です|ます|でした|ました|しています|している|ています|ている|います|いる|あります|では"
    r"|じゃ|の|は|が|を|に|で|と|も|的|了|是|在|很|有|着|呢|吗)"
    r"|(?P<number>[0-9０-９]+)|(?P<latin>[A-Za-z]+)|(?P<other>[\s\S])"
)


def unspaced_words(run: str) -> list[tuple[str, str]]:
    """(kind, text) of a run without spaces: `user`, `no`, `nothing`, `number`, `latin`, `other`."""
    return [(match.lastgroup or "", match.group()) for match in _UNSPACED_WORD.finditer(run)]


def is_possessive(lower: list[str], at: int) -> bool:
    """Return True if something is told to be the user's there: mein Hund, el perro del usuario."""
    if lower[at] in POSSESSIVE:
        return True
    before = at - 1 - (at > 1 and lower[at - 1] in _ARTICLES and lower[at - 2] in OF)
    return before >= 0 and lower[before] in OF


@lru_cache(maxsize=64)
def synonyms(languages: tuple[str, ...]) -> dict[str, str]:
    """Return the words of any of these languages that others stand for, by each of the others."""
    table = tomllib.loads((files(__package__) / "foreign_synonyms.toml").read_text("utf-8"))
    lines = (line.split() for known in languages for line in table.get(known, "").splitlines())
    return {word: line[0] for line in lines for word in line[1:]}


def synonyms_in(text: str) -> dict[str, str]:
    """`synonyms` of the languages that a text may be in."""
    return synonyms(languages_of(text))


def same_verb(one: str, other: str) -> bool:
    """Return True if two words in lower case are forms of one verb: wohne, wohnt."""
    size = 0
    for left, right in zip(one, other, strict=False):
        if left != right:
            break
        size += 1
    return size >= _LEAST and frozenset((one[size:], other[size:])) in _ENDINGS
