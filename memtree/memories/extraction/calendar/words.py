"""How days are told from one another, in the seven languages of `text.day_names`: parts of
patterns."""

from __future__ import annotations

import re

from memtree.text.day_names import ALL_MONTHS, AMBIGUOUS_MONTHS, MONTHS, SHORT_MONTHS


def _one_of(names: object) -> str:
    return "|".join(sorted(map(re.escape, names), key=lambda name: (-len(name), name)))  # type: ignore[call-overload]


MONTH = rf"(?:{_one_of(MONTHS | AMBIGUOUS_MONTHS)}|(?:{_one_of(SHORT_MONTHS)})\b\.?)"
ANY_MONTH = rf"(?:{_one_of(MONTHS | AMBIGUOUS_MONTHS)})"

# Only behind a word that says that a day is meant.
SHORT_WEEKDAYS = r"mon|tues?|wed|thurs?|thu|fri|sat|segunda|terça|quarta|quinta|sexta"

EACH = (
    r"every|each|jeden|immer|cada|todos los|todas las|los|chaque|tous les|toda|todas as|ogni"
    r"|tutti i|elke|iedere"
)
# Before a day.
AT_DAY = (
    r"on|by|until|till|before|after|from|since|due|for|starting|this|next|last|coming|through"
    r"|around|early|late|mid"
    r"|am|bis|bis zum|zum|vom|ab|vor|nach|seit|den|nächsten|naechsten|kommenden|diesen|letzten"
    r"|el|al|del|desde el|hasta el|para el|este|próximo|proximo|pasado"
    r"|le|au|du|dès le|jusqu'au|avant le|ce|prochain"
    r"|em|no|na|ao|dia|até|desde|neste|nesta|próxima|proxima"
    r"|il|dal|al|entro il|questo|prossimo|sabato"
    r"|op|tot|vanaf|voor|sinds|volgende|komende|deze"
)
IN_MONTH = (
    r"in|by|until|till|since|before|after|during|from|for|next|last|this|early|late|mid"
    r"|(?:end|beginning|middle|start|month) of"
    r"|im|ab|bis|seit|ende|anfang|mitte|nächsten|letzten|en|de|desde|hasta|para|fin de|début"
    r"|fin|em|até|a|di|da|entro|fine|inizio|eind|begin|tot|vanaf|vóór"
)
NUMBER = (
    r"\d{1,3}|an?|one|two|three|four|five|six|seven|eight|nine|ten|twelve|a couple of|a few"
    r"|couple|few|ein(?:er|em)?|zwei|drei|vier|fünf|sechs|sieben|acht|neun|zehn|zwölf|un|una|uno"
    r"|unos|unas|dos|tres|cuatro|cinco|seis|siete|ocho|nueve|diez|une|deux|trois|quatre|cinq|six"
    r"|sept|huit|neuf|dix|quelques|um|uma|dois|duas|três|quatro|sete|oito|nove|dez|due|tre|quattro"
    r"|cinque|sei|sette|otto|dieci|een|twee|drie|vier|vijf|zes|zeven|negen|tien"
)
DIGITS = {
    "a": 1, "an": 1, "one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7,
    "eight": 8, "nine": 9, "ten": 10, "twelve": 12,
    "einem": 1, "zwei": 2, "drei": 3, "vier": 4, "fünf": 5, "sechs": 6, "zehn": 10,
}  # fmt: skip
DAYS = r"days?|tage?n?|días?|dias?|jours?|giorn[oi]|dag(?:en)?"
UNITS = (
    rf"{DAYS}|(?:business |working )days?|weeks?|weekends?|fortnights?|months?|quarters?|years?"
    r"|wochen?|monate?n?|jahre?n?|semanas?|mes(?:es)?|años?|semaines?|mois|ans?|années?"
    r"|m[eê]s|anos?|settiman[ae]|mes[ei]|ann[oi]|we(?:ek|ken)|maand(?:en)?|jaar|jaren"
)
# Behind "March 15", where somebody marches so far.
MEASURED = (
    r"miles?|kms?|kilomet\w+|met(?:er|re)s?|steps?|minutes?|mins?|hours?|seconds?|secs?|times"
    r"|people"
    r"|percent|%|points?|items?|lines?|pages?|files?|users?|degrees?|pounds?|kg|dollars?|soldiers"
    r"|blocks?|bytes?|mb|gb|ms|px"
)
ENGLISH = "january|february|march|april|may|june|july|august|september|october|november|december"
ORDINALS = (
    r"first|second|third|fourth|fifth|sixth|seventh|eighth|ninth|tenth|eleventh|twelfth"
    r"|thirteenth|fourteenth|fifteenth|sixteenth|seventeenth|eighteenth|nineteenth|twentieth"
    r"|twenty-(?:first|second|third|fourth|fifth|sixth|seventh|eighth|ninth)|thirtieth|thirty-first"
)
HOLIDAYS = (
    r"christmas(?: (?:eve|day))?|xmas|easter(?: (?:sunday|monday))?|thanksgiving|halloween"
    r"|new year(?:['’]s)?(?: (?:eve|day))?|valentine['’]s day|weihnachten|heiligabend|ostern"
    r"|pfingsten|silvester|neujahr|navidad|nochebuena|semana santa|noël|pâques|natal|páscoa|natale"
    r"|pasqua|capodanno|ferragosto|kerst(?:mis)?|pasen|oud en nieuw"
)
# Without one of these words, or a digit, a text holds no date: a hundred times as fast to see.
TRIGGERS = frozenset(ALL_MONTHS) | frozenset(
    """
    monday tuesday wednesday thursday friday saturday sunday mondays tuesdays wednesdays thursdays
    fridays saturdays sundays mon tue tues wed thu thur thurs fri sat
    montag dienstag mittwoch donnerstag freitag samstag sonntag sonnabend montags dienstags
    mittwochs donnerstags freitags samstags sonntags sonnabends
    lunes martes miércoles miercoles jueves viernes sábado sábados sabado domingo domingos
    lundi mardi mercredi jeudi vendredi samedi dimanche lundis mardis mercredis jeudis vendredis
    samedis dimanches segunda terça terca quarta quinta sexta segundas terças tercas quartas
    quintas sextas lunedì martedì mercoledì giovedì venerdì domenica
    maandag dinsdag woensdag donderdag vrijdag zaterdag zondag
    today tonight tomorrow yesterday heute morgen übermorgen gestern hoy mañana ayer aujourd demain
    hoje amanhã ontem oggi domani dopodomani ieri vandaag overmorgen gisteren
    day days week weeks weekend weekends fortnight fortnights month months quarter quarters year
    years spring summer autumn fall winter semester term morning afternoon evening
    tag tage tagen woche wochen wochenende monat monate monaten jahr jahre jahren sommer frühling
    herbst día días dia dias semana semanas mes meses año años jour jours semaine semaines mois an
    ans année années mês ano anos giorno giorni settimana settimane mese mesi anno anni dag dagen
    weken maand maanden jaar jaren noon midnight midday
    christmas xmas easter thanksgiving halloween valentine weihnachten heiligabend ostern pfingsten
    silvester neujahr navidad nochebuena santa noël pâques natal páscoa natale pasqua capodanno
    recently lately other kürzlich neulich recientemente poco récemment recentemente onlangs
    ferragosto kerst kerstmis pasen nieuw
    """.split()
)
UNSPACED_TRIGGERS = "每周|每星期|每个星期|毎週"
