"""Find what a user's calendar would hold: appointments, deadlines, journeys, what recurs every
week.

Told by a date beside an event of the user's ("my dentist appointment is on March 15"), a plan ("I'm
moving to Lisbon in June") or a habit ("I have yoga every Tuesday"). What is over is no schedule.

Such a memory does not expire by itself. After its day it is still true that the exam was on March
15, and who asks "when was my exam?" must get an answer; newer memories rank above it. So the stored
text keeps the words, and where these count from the day they were said, that day stands behind
them: `with_day`.

    >>> from datetime import date
    >>> is_schedule("My flight is next Friday.", date(2026, 3, 2))
    True
    >>> with_day("User's flight is next Friday", date(2026, 3, 2))
    "User's flight is next Friday (said 2026-03-02)"
"""

from __future__ import annotations

import re
from datetime import date

from memtree.memories.extraction.dates import DateKind, DateMention, dates
from memtree.text.lazy_patterns import lazily

LONGEST = 600  # characters of a sentence
_COUNTED = frozenset(
    {DateKind.WEEKDAY, DateKind.RELATIVE, DateKind.MONTH_DAY, DateKind.MONTH, DateKind.TIME}
)
_EVENT = (
    r"(?:appointments?|meetings?|demos?|deadlines?|due dates?|exams?|finals|midterms?|interviews?"
    r"|flights?|trips?|journeys?|vacations?|holidays?|honeymoon|weddings?|part(?:y|ies)|birthdays?"
    r"|anniversar(?:y|ies)|conferences?|presentations?|talks?|launch(?:es)?|releases?|go-live"
    r"|surger(?:y|ies)|operations?|check-?ups?|class(?:es)?|courses?|lessons?|lectures?|workshops?"
    r"|calls?|stand-?ups?|dail(?:y|ies)|retros?|reviews?|deliver(?:y|ies)|submissions?|concerts?"
    r"|games?|match(?:es)?|marathons?|races?|visits?|dinners?|lunch(?:es)?|graduations?|ceremon\w+"
    r"|hearings?|moving day|rehearsals?|sessions?|shifts?|bookings?|reservations?|defen[cs]es?"
    r"|vivas?|audits?|webinars?|contracts?|leases?|visas?|passports?|due|semester|term|sprints?"
    r"|kick-?off|start date|last day|first day|notice period|maternity leave|parental leave|leave"
    r"|sabbatical|internship|new job|tests?|scans?|mri|therapy|yoga|practice|training|camp|festival"
    r"|reunion|baptism|funeral|hackathon|competition|tournament|dentist|doctor|vet|physio|haircut"
    r"|\w*(?:termine?|besprechung|treffen|prüfung|klausur|abgabe|frist|flug|reise|urlaub|hochzeit"
    r"|geburtstag|gespräch|präsentation|konferenz|umzug|vortrag|feier|konzert|spiel|kurs|sitzung"
    r"|vertrag|ferien|praktikum)"
    r"|citas?|reuni[oó]n|examen|entregas?|vuelo|viaje|boda|cumpleaños|entrevista|fecha límite|plazo"
    r"|mudanza|cirugía|concierto|clases?|fiesta|contrato"
    r"|rendez-vous|réunions?|vol|voyage|mariage|anniversaire|entretien|date limite|échéance"
    r"|déménagement|opération|cours|fête|contrat|congés?"
    r"|consultas?|reunião|provas?|exame|voo|viagem|casamento|aniversário|prazo|mudança|cirurgia"
    r"|festa|aulas?|ensa[yi]os?|\w*probe|répétition|repetitie|entrenamientos?"
    r"|appuntament[oi]|riunion[ei]|esam[ei]|volo|viaggio|matrimonio|compleanno|colloquio|scadenza"
    r"|trasloco|intervento|lezion[ei]"
    r"|afspra(?:ak|ken)|vergadering|tentamen|vlucht|reis|bruiloft|verjaardag|verhuizing|operatie"
    r"|feest|les(?:sen)?)"
)
_OWN = (
    r"(?:my|our|(?:i|we)(?:['’]ve| have| have got| got|['’]ve got| had)(?: an?| my| our| the)?"
    r"|there(?:['’]s| is)(?: an?)?|meine?[rmns]?|unsere?[rmns]?|ich habe|wir haben|mi|mis"
    r"|nuestr[oa]"
    r"|tengo|tenemos|mon|ma|mes|notre|j['’]ai|nous avons|on a|meu|minha|nosso|nossa|tenho|temos"
    r"|mi[oa]|nostr[oa]|ho|abbiamo|mijn|onze?|ik heb|we hebben)"
)
_OWN_EVENT = lazily(rf"\b{_OWN}\s(?:[\w.,'’-]+\s){{0,6}}?{_EVENT}\b", re.IGNORECASE)
_SET = lazily(
    rf"(?:^|\b(?:the|a|an|this|next|der|die|das|el|la|le|o|il|de|het|first|last)\s|l['’]|\d\s)"
    rf"(?:[\w'’-]+\s){{0,3}}?{_EVENT}(?:\s(?:for|of|with|at|in|to|von|für|mit|para|con|de|du|di"
    rf"|van)"
    rf"\s[^,.:;]{{1,40}}?)?(?:\s(?:is|are|will be|has been|have been|got|was|were|starts?|begins?"
    rf"|ends?|takes place|runs?|goes|falls|expires?|ist|sind|wird|beginnt|endet|findet|geht|läuft"
    rf"|es|son|será|empieza|termina|est|sont|sera|commence|é|são|começa|è|sono|inizia|finisce"
    rf"|begint"
    rf"|eindigt|loopt|zijn|due|on|by|um|am|op)\b|['’]s\b|\s?:)",
    re.IGNORECASE,
)
_DEADLINE = lazily(
    r"\b(?:deadline|due(?: date)?|is due|abgabe|frist|fecha límite|date limite|prazo|scadenza)\b",
    re.IGNORECASE,
)
_GO = (
    r"(?:fly(?:ing)?|travel(?:l?ing)?|mov(?:e|ing)|leav(?:e|ing)|visit(?:ing)?|start(?:ing)?"
    r"|begin(?:ning)?|attend(?:ing)?|return(?:ing)?|host(?:ing)?|present(?:ing)?|speak(?:ing)?"
    r"|graduat(?:e|ing)|retir(?:e|ing)|meet(?:ing)?|see(?:ing)?|launch(?:ing)?|marry(?:ing)?"
    r"|get(?:ting)? (?:married|surgery|back|home|engaged|my|the keys)|hav(?:e|ing)"
    r"|driv(?:e|ing) (?:to|down|up)|celebrat(?:e|ing)"
    r"|tak(?:e|ing) (?:the|my|a|an|part|off|time)|run(?:ning)? (?:the|a|my|in)|head(?:ing)?|fast"
    r"|interview(?:ing)?|sit(?:ting)? (?:the|my|an)|join(?:ing)?|quit(?:ting)?|clos(?:e|ing) on"
    r"|pick(?:ing)? up|drop(?:ping)? off|arriv(?:e|ing)|com(?:e|ing)|go(?:ing)? (?:to|on|back|home)"
    r"|expect(?:ing)?|due|off|away|free|busy|booked|back|unavailable|out of (?:office|town)"
    r"|on (?:vacation|holiday|leave|call|parental leave|maternity leave|a trip))"
)
_DO = (
    r"(?:submit|hand in|finish|deliver|pay|renew|file|send|ship|turn in|complete|register|apply"
    r"|book|call|email|prepare|release|publish|upload|move out|present|sign)"
)
_PLAN = lazily(
    rf"\b(?:i|we|my [\w-]+(?: and i)?)(?:['’](?:m|re|s)| am| are| is)(?: all| both| also| still"
    rf"| probably| finally)? {_GO}\b"
    rf"|\b(?:i|we)(?:['’]ll| will| plan to| hope to| intend to|['’](?:m|re) (?:going|planning|due"
    rf"|supposed|scheduled) to| (?:am|are) (?:going|planning|due|supposed|scheduled) to) "
    rf"(?:be )?(?:{_GO}|{_DO}|in|at|with)\b"
    rf"|\b(?:i|we) (?:need|have|must|['’]ve got|have got)(?: to)? {_DO}\b"
    rf"|\b(?:i|we)(?:['’]ve| have)? (?:booked|scheduled|reserved|signed up|registered|enrolled"
    rf"|planned|arranged)\b"
    rf"|\b(?:i|we) (?:fly|leave|move|start|return|graduate|retire|travel|arrive|land|get back"
    rf"|close on) "
    rf"|\bmy (?:parents|family|wife|husband|partner|sister|brother|mother|mom|father|dad|son"
    rf"|daughter|friends?|boss|in-laws) (?:is|are|will|arrives?|comes?|visits?|starts?|leaves?"
    rf"|flies"
    rf"|fly|lands?|moves?)\b"
    r"|\b(?:flieg|reis|zieh|fahr|heirat|beginn|besuch)\w* (?:ich|wir)\b|我.{0,20}[飞去回搬到考]"
    r"|我.{0,20}(?:出发|结婚|开会)"
    r"|[にへ].{0,20}(?:行き|飛び|出発し|引っ越し|帰り)ます"
    r"|\b(?:ich|wir) (?:flieg|reis|zieh|fahr|heirat|beginn|fang|besuch|treff|bin|sind|mach)\w* "
    r"|\b(?:viajo|vuelo|me mudo|nos mudamos|me caso|nos casamos|voy a|salgo|empiezo|me voy"
    r"|vamos a)\b"
    r"|\b(?:je pars|je voyage|je déménage|je commence|on se marie|on part|nous partons|je suis en"
    r"|je reviens|je prends)\b|\b(?:viajo|vou|me mudo|começo|vamos|volto)\b"
    r"|\b(?:parto|mi trasferisco|inizio|ci sposiamo|vado|torno|partiamo)\b"
    r"|\b(?:ik vertrek|ik verhuis|ik begin|ik ga|ik vlieg|we verhuizen|we trouwen|we vertrekken)\b",
    re.IGNORECASE,
)
# What recurs in a calendar; "we deploy on Thursdays" is a fact about a team.
_HABIT = lazily(
    r"\b(?:i|we)(?: (?:always|usually|normally|only|also|never|don['’]t|do not))*"
    r" (?:have|attend|go|play|train|teach|meet|work(?! on\b)|volunteer|see|visit|run|swim|practice"
    r"|practise|take|host|fast|commute|travel|call|do|pick up|drop off|drive|cook|babysit|study"
    r"|start|finish)\b|\b(?:i['’]m|i am|we['’]re|we are) (?:always |usually |only "
    r"|never )?(?:off|free"
    r"|busy|away|out|on call|in the office|at the office|at home|home|available|unavailable"
    r"|remote)\b"
    r"|\b(?:hab|geh|arbeit|spiel|mach|treff|fahr)\w* (?:ich|wir)\b|我.{0,12}[有去上练]"
    r"|(?:があり|に行き|をし|に通ってい|を習ってい)ます|\b(?:ich|wir) (?:hab\w*|geh\w*|arbeit\w*"
    r"|spiel\w*|mach\w*|bin|sind|treff\w*|fahr\w*)\b"
    r"|\b(?:tengo|trabajo|voy|juego|tenemos|j['’]ai|je travaille|je vais|je joue|je suis|tenho"
    r"|trabalho|ho|lavoro|gioco|ik heb|ik werk|ik ga|ik speel)\b",
    re.IGNORECASE,
)
_OVER = lazily(
    r"\b(?:i|we|it|they|he|she)(?:['’]d| had)? (?:went|met|saw|was|were|did|took|got|had|came|left"
    r"|flew|found|made|gave|told|said|spoke|ran|won|lost|celebrated|attended|visited|finished"
    r"|started|moved|missed|passed|failed|enjoyed|loved|watched|played|tried|worked|talked|called"
    r"|hatte[n]?|war(?:en)?|ging(?:en)?|traf(?:en)?)\b"
    r"|\b(?:was|were) (?!moved|rescheduled|postponed|pushed|changed|set|shifted|delayed|brought"
    r"|scheduled|planned|supposed|due)\w+|\bused to\b"
    r"|\b(?:hatten?|war|waren|tuve|fue|fui|era|estuve|j['’]ai eu|était|tive|foi|fomos|ho avuto|era"
    r"|was|had)\b",
    re.IGNORECASE,
)
_MOVED = lazily(
    r"\b(?:was|were|got|has been|have been)(?: \w+)? (?:moved|rescheduled|postponed|pushed|changed"
    r"|set|shifted|delayed|brought|scheduled|planned|due)\b|\bdue\b",
    re.IGNORECASE,
)
_PAST = lazily(
    r"last|ago$|recent|récemment|lately|other|kürzlich|neulich|poco$|onlangs|yesterday|letzte"
    r"|vorige|gestern|pasado$|ayer|hier$|ontem|ieri|gisteren",
    re.IGNORECASE,
)
_RECKONED = lazily(r"\d\s?(?:mph|km/?h|kmh|m/s|knots)\b")  # trains in exercises
_NOW = frozenset("today tonight heute hoy hoje oggi vandaag aujourd'hui aujourd’hui".split())


def is_schedule(sentence: str, said: date | None = None) -> bool:
    """Return True if a sentence of the user tells of an appointment, a deadline, a plan or a habit
    of theirs with its date. `said`: the day it was said; without it, what counts from that day
    tells nothing and is left out."""
    text = sentence[:LONGEST]
    if _RECKONED.search(text):
        return False
    found = [one for one in dates(text, said) if not _PAST.search(text[one.start : one.end])]
    if said is None:
        found = [one for one in found if one.kind not in _COUNTED or one.kind is DateKind.MONTH_DAY]
    if not found or (_OVER.search(text) and not _MOVED.search(text)):
        return False
    if all(one.kind is DateKind.RECURRING for one in found):
        return bool(_HABIT.search(text) or _OWN_EVENT.search(text))
    if _OWN_EVENT.search(text) or _DEADLINE.search(text):
        return True
    dated = [one for one in found if one.kind is not DateKind.TIME]
    if not dated:
        return False
    planned = _PLAN.search(text) is not None and not all(_is_now(text, one) for one in dated)
    return planned or _SET.search(text) is not None


def with_day(text: str, said: date | None) -> str:
    """The text, with the day it was said where its dates count from that."""
    kinds = {one.kind for one in dates(text, said)}
    if kinds > {DateKind.TIME}:  # of a day that is named beside it
        kinds.remove(DateKind.TIME)
    if said is None or kinds.isdisjoint(_COUNTED):
        return text
    stop = "." if text.endswith(".") else ""
    return f"{text.removesuffix('.')} (said {said.isoformat()}){stop}"


def _is_now(text: str, one: DateMention) -> bool:
    """A step of the session, more likely than an appointment."""
    return text[one.start : one.end].lower() in _NOW
