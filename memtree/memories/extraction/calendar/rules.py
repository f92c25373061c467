"""The forms that dates have, and what each is read as."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from datetime import date, timedelta

from memtree.memories.extraction.calendar import words
from memtree.memories.extraction.calendar.mentions import DateKind, DateMention
from memtree.text import day_names
from memtree.text.lazy_patterns import lazily


@dataclass(frozen=True, slots=True)
class DateRule:
    pattern: re.Pattern[str]
    read: Callable[[re.Match[str], date | None], DateMention | None]


def _rule(
    pattern: str, read: Callable[[re.Match[str], date | None], DateMention | None]
) -> DateRule:
    return DateRule(lazily(pattern, re.IGNORECASE), read)


def _mention(match: re.Match[str], kind: DateKind, day: date | None = None) -> DateMention:
    start = match.start("date") if "date" in match.re.groupindex else match.start()
    return DateMention(start, match.end(), kind, day)


def _day(year: int, month: int, day: int) -> date | None:
    try:
        return date(year, month, day)
    except ValueError:
        return None


# -- numbers alone -----------------------------------------------------------------------------


def _iso(match: re.Match[str], said: date | None) -> DateMention | None:
    day = _day(int(match["year"]), int(match["month"]), int(match["day"]))
    return _mention(match, DateKind.DAY, day) if day else None


def _numbers(match: re.Match[str], said: date | None) -> DateMention | None:
    """3/15/2026 and 15.03.2026; of a number pair that may be read both ways the day stays open."""
    first, second, year = int(match["a"]), int(match["b"]), int(match["year"])
    year += 2000 if year < 100 else 0
    pairs = {(first, second), (second, first)} if match["sign"] == "/" else {(second, first)}
    days = {day for month, number in pairs if (day := _day(year, month, number))}
    if not days or not 1900 <= year < 2200:
        return None
    return _mention(match, DateKind.DAY, days.pop() if len(days) == 1 else None)


def _month_and_day(match: re.Match[str], said: date | None) -> DateMention | None:
    """3/15 and 15.3., only where a word before says that it is a day and only one reading is."""
    first, second = int(match["a"]), int(match["b"])
    if match["sign"] == "/" and (first > 12) == (second > 12):
        return None
    if match["sign"] == "/" and (first, second) == (24, 7):
        return None
    month, day = (second, first) if first > 12 or match["sign"] == "." else (first, second)
    return _mention(match, DateKind.MONTH_DAY) if _day(2024, month, day) else None


# -- names of months ---------------------------------------------------------------------------


def _named(match: re.Match[str], said: date | None) -> DateMention | None:
    """A day of a named month, before or behind it."""
    name, number = match["month"].rstrip(".").lower(), int(match["day"])
    month = day_names.ALL_MONTHS[name]
    if not _day(2024, month, number) or not _is_month(match, name):
        return None
    if not match["year"]:
        return _mention(match, DateKind.MONTH_DAY)
    day = _day(int(match["year"]), month, number)
    several = _SEVERAL.search(match.group())
    return _mention(match, DateKind.DAY, None if several else day) if day else None


_SEVERAL = lazily(r"\d\s?[-–]\s?\d")
_MEASURED = lazily(rf"\s?(?:{words.MEASURED})\b|[-–./:]\d|\.\w|%", re.IGNORECASE)
_CERTAIN = lazily(rf"\b(?:{words.AT_DAY}|{words.IN_MONTH})\s$", re.IGNORECASE)
_OF = lazily(r"\s(?:of|de)\s", re.IGNORECASE)


def _is_month(match: re.Match[str], name: str) -> bool:
    """Return True if "May 5" is a day: not in "option 3 may fail" nor in "March 15 miles a day"."""
    text = match.string
    number_first = match.start("day") < match.start("month")
    sure = number_first or match["year"] or match["suffix"]
    if not sure and _MEASURED.match(text, match.end()):
        return False
    if name not in day_names.AMBIGUOUS_MONTHS and name not in day_names.SHORT_MONTHS:
        return True
    certain = (
        match["year"]
        or (number_first and _OF.search(match.group()))
        or _CERTAIN.search(text, max(0, match.start() - 20), match.start())
    )
    if certain or name in day_names.ENGLISH_MONTHS or name in day_names.SHORT_MONTHS:
        return bool(certain) or match["month"][0].isupper()
    return bool(number_first and match["suffix"])


def _month(match: re.Match[str], said: date | None) -> DateMention | None:
    """A month by itself, behind a word that goes with months, or before its year."""
    name = match["month"].lower()
    before = match["before"].strip().lower() if match["before"] else ""
    if name not in day_names.AMBIGUOUS_MONTHS:
        return _mention(match, DateKind.MONTH) if before or match["year"] else None
    following = match.string[match.end() : match.end() + 12]
    if not match["year"] and _GOES_ON.match(following):
        return None
    upper = match["month"][0].isupper()
    certain = before and before not in _LOOSE
    return _mention(match, DateKind.MONTH) if (match["year"] and upper) or certain else None


_GOES_ON = lazily(r"\s(?:or may|not\b|be\b|have\b|need\b|order|madness|company|cas)|['’]s\b|-\w")
_LOOSE = frozenset({"a", "de", "di", "da", "para", "for", "from", "this"})

# -- weekdays and days counted from today ------------------------------------------------------


def _weekday(match: re.Match[str], said: date | None) -> DateMention | None:
    name = match["weekday"]
    if name.lower() in ("domingo", "domenica", "sabato") and name[0].isupper():
        before = match.string[max(0, match.start("weekday") - 20) : match.start("weekday")]
        if before.rstrip()[-1:].isalpha() and not match["before"]:
            return None  # somebody's name
    recurring = bool(match["each"]) or _PLURAL.fullmatch(name) is not None
    return _mention(match, DateKind.RECURRING if recurring else DateKind.WEEKDAY)


_PLURAL = lazily(r"(?:\w+days|\w+tags|mittwochs|\w+dis|domingos|sábados)", re.IGNORECASE)


def _recurring(match: re.Match[str], said: date | None) -> DateMention | None:
    return _mention(match, DateKind.RECURRING)


def _short_weekday(match: re.Match[str], said: date | None) -> DateMention | None:
    name = match["weekday"] or match["alone"]
    return _mention(match, DateKind.WEEKDAY) if name[0].isupper() else None


_AWAY = {
    "today": 0, "tonight": 0, "tomorrow": 1, "yesterday": -1, "day after tomorrow": 2,
    "the day after tomorrow": 2, "heute": 0, "übermorgen": 2, "gestern": -1, "hoy": 0,
    "pasado mañana": 2, "ayer": -1, "aujourd'hui": 0, "aujourd’hui": 0, "demain": 1,
    "après-demain": 2, "hoje": 0, "amanhã": 1, "ontem": -1, "oggi": 0, "domani": 1,
    "dopodomani": 2, "ieri": -1, "vandaag": 0, "overmorgen": 2, "gisteren": -1, "mañana": 1,
    "morgen": 1,
}  # fmt: skip


def _from_today(match: re.Match[str], said: date | None) -> DateMention | None:
    name = match["date"].lower()
    day = _shifted(said, _AWAY[name]) if name in _AWAY else None
    return _mention(match, DateKind.RELATIVE, day)


def _counted(match: re.Match[str], said: date | None) -> DateMention | None:
    """In 3 weeks. Not "I learned it in 3 weeks", which is how long it took."""
    text = match.string
    before = text[max(0, match.start() - 60) : match.start()]
    before = before[max(before.rfind(". "), before.rfind("! "), before.rfind("? ")) + 1 :]
    if _TOOK.search(before) and not _AHEAD.search(before):
        return None
    number = match["number"].lower()
    days = int(number) if number.isdigit() else words.DIGITS.get(number, 0)
    exact = days and re.fullmatch(words.DAYS, match["unit"], re.IGNORECASE)
    return _mention(match, DateKind.RELATIVE, _shifted(said, days) if exact else None)


_TOOK = lazily(
    r"\b(?:\w{2,20}ed|did|made|wrote|built|ran|read|lost|took|done|got|grew|had|was|were|been|first"
    r"|only|gelernt|geschafft|habe?|war|aprendí|hice|perdí|appris|fait|perdu|aprendi|fiz|ho"
    r"|geleerd)\b",
    re.IGNORECASE,
)
_AHEAD = lazily(
    r"\b(?:will|going|is|are|am|due|scheduled|planned|booked|starts?|begins?|ends?|expires?|have"
    r"|has"
    r"|get|ist|sind|werde|wird|voy|va|es|será|vais|sera|vou|será|sarà|ga|is)\b|['’](?:ll|m|re|s)\b",
    re.IGNORECASE,
)


def _shifted(said: date | None, days: int) -> date | None:
    try:
        return said + timedelta(days=days) if said else None
    except OverflowError:
        return None


def _day_of_month(match: re.Match[str], said: date | None) -> DateMention | None:
    return _mention(match, DateKind.MONTH_DAY)


def _quarter(match: re.Match[str], said: date | None) -> DateMention | None:
    return _mention(match, DateKind.MONTH) if "Q" in match.group() else None


def _time(match: re.Match[str], said: date | None) -> DateMention | None:
    return _mention(match, DateKind.TIME)


_EDGE = r"(?<![\w./#:$€£-])"
_SHORT = "|".join(day_names.SHORT_MONTHS)
_YEAR = r"(?P<year>(?:19|20|21)\d\d)"
_CLOCK = r"\d{1,2}(?:[:.h]\d\d)?"
_HALF = r"\s?(?:a\.?m\b\.?|p\.?m\b\.?)"
RULES = (
    _rule(
        rf"{_EDGE}{_YEAR}(?P<sign>[-/.])(?P<month>\d\d?)(?P=sign)(?P<day>\d\d?)"
        r"(?:[T ]\d\d:\d\d(?::\d\d)?Z?)?(?![\w-]|\.\d)",
        _iso,
    ),
    _rule(
        rf"{_EDGE}(?P<a>\d\d?)(?P<sign>[/.])\s?(?P<b>\d\d?)(?P=sign)\s?"
        r"(?P<year>(?:19|20|21)\d\d|\d\d)(?![\w/-]|\.\d)",
        _numbers,
    ),
    _rule(
        rf"\b(?:{words.AT_DAY}|deadline:?)\s(?:the\s)?(?P<date>(?P<a>\d\d?)(?P<sign>/)(?P<b>\d\d?))"
        r"(?![\w/-]|\.\d|\s?(?:of|tasks|points|steps|done|tests))",
        _month_and_day,
    ),
    _rule(
        r"\b(?:am|bis|bis zum|zum|vom|ab|den|vor dem|nach dem|seit dem)\s"
        r"(?P<date>(?P<a>\d\d?)(?P<sign>\.)\s?(?P<b>\d\d?)\.)(?!\d)",
        _month_and_day,
    ),
    _rule(
        rf"\b(?P<month>{words.MONTH})\s(?:the\s)?(?P<day>\d\d?)(?P<suffix>st|nd|rd|th)?\b"
        rf"(?:\s?[-–]\s?\d\d?(?:st|nd|rd|th)?\b(?!\.\d"
        rf"|\s(?:{words.MEASURED})\b))?(?:,?\s{_YEAR}\b)?",
        _named,
    ),
    _rule(
        rf"{_EDGE}(?P<day>\d\d?)(?P<suffix>st|nd|rd|th|er|º|°|\.)?\s?(?:of\s|de\s|d')?"
        rf"(?P<month>{words.MONTH})(?!\w)(?:,?\s(?:de[l]?\s)?{_YEAR}\b)?",
        _named,
    ),
    _rule(
        rf"{_EDGE}(?P<day>\d\d?)(?P<suffix>)-(?P<month>{_SHORT})-{_YEAR}\b",
        _named,
    ),
    _rule(rf"\b(?:{words.ORDINALS})\sof\s(?:{words.ENGLISH})\b", _day_of_month),
    _rule(
        r"\b(?P<date>(?:on|by|until|till|before|after|from|due)\sthe\s\d\d?(?:st|nd|rd|th))"
        r"(?=\s?(?:[.,;:!?)]|$|at\s\d|and\sthe\s\d|to\sthe\s\d|until|if|because|so\b|in\sthe\s"
        r"(?:morning|evening|afternoon)))",
        _from_today,
    ),
    _rule(r"每(?:个?星期|周)[一二三四五六日天]|毎週[月火水木金土日]曜?日?", _recurring),
    _rule(r"(?:(?:19|20|21)\d\d年)?\d\d?月\d\d?日", _day_of_month),
    _rule(r"\b(?:in|by|until|for|of|this|next|since)\sQ[1-4](?:\s20\d\d)?\b", _quarter),
    _rule(
        rf"(?P<before>\b(?:{words.IN_MONTH})[\s-])?\b(?P<month>{words.ANY_MONTH})\b"
        rf"(?:,?\s(?:de\s)?{_YEAR}\b)?(?!\s\d)",
        _month,
    ),
    _rule(
        rf"(?P<each>\b(?:{words.EACH})\s(?:other\s|second\s)?)?(?P<before>\b(?:{words.AT_DAY})\s)?"
        rf"(?<!-)\b(?<!\bBlack )(?<!\bAsh )(?<!\bCyber )(?<!\bCasual )(?<!\bSuper )(?<!\bRuby )"
        r"(?<!\bFreaky )"
        rf"(?P<weekday>{day_names.WEEKDAYS})\b(?![-.]\w|['’]s\snight|\sNight\sLive)",
        _weekday,
    ),
    _rule(
        rf"\b(?:{words.AT_DAY})\s(?P<weekday>{words.SHORT_WEEKDAYS})\b(?![-'’]\w)"
        rf"|\b(?P<alone>{words.SHORT_WEEKDAYS})\sat\s\d",
        _short_weekday,
    ),
    _rule(
        rf"\b(?:{words.AT_DAY}|at|over|zu|an|à|em|en|a|met)\s(?:{words.HOLIDAYS})\b", _day_of_month
    ),
    _rule(
        r"\b(?P<date>(?:the\s)?day after tomorrow|today|tonight|tomorrow|yesterday|heute|übermorgen"
        r"|gestern|hoy|pasado mañana|ayer|aujourd['’]hui|après-demain|demain|hoje|amanhã|ontem|oggi"
        r"|dopodomani|domani|ieri|vandaag|overmorgen|gisteren"
        r"|(?<!guten )(?<!goede )(?<!goeie )(?<!am )(?<!jeden )(?<!elke )(?<!de )morgen"
        r"|(?<!la )(?<!esta )(?<!buena )(?<!cada )(?<!de )mañana)\b(?!\w|['’]s\b)",
        _from_today,
    ),
    _rule(
        r"\b(?P<date>recently|lately|the other (?:day|week|night|weekend)|kürzlich|neulich"
        r"|recientemente|hace poco|récemment|recentemente|onlangs"
        r"|the week after next|(?:the )?(?:end|beginning|middle|start) of (?:the|this|next) (?:week"
        r"|month|quarter|year)"
        r"|(?:this|next|last|coming)\s(?:week|weekend|month|quarter|year|spring|summer"
        r"|autumn|fall|winter|semester|term|morning|afternoon|evening)"
        r"|(?:nächste[nrs]?|kommende[nrs]?|diese[nrsm]?|letzte[nrs]?)\s(?:woche|wochenende|monat"
        r"|jahr"
        r"|sommer|winter|frühling|herbst)"
        r"|(?:la |el )?próxim[oa]\s(?:semana|mes|año|mês|ano|fin de semana)"
        r"|(?:la\ssemana|el\smes|el\saño)\s(?:que\sviene|próxim[oa])"
        r"|(?:semana|mês|ano)\s(?:que\svem)"
        r"|la\ssemaine\sprochaine|le\smois\sprochain|l['’]année\sprochaine|ce\sweek-end"
        r"|la\sprossima\ssettimana|(?:il\s)?(?:mese|anno|prossimo mese)\sprossimo|prossimo\smese"
        r"|(?:volgende|komende|deze|vorige)\s(?:week|maand|weekend|jaar))\b",
        _from_today,
    ),
    _rule(
        rf"\b(?:in|within|dentro de|en|dans|em|daqui a|tra|fra|over|binnen)\s"
        rf"(?:about\s|around\s|etwa\s|ca\.\s|unos\s|environ\s|cerca de\s|circa\s)?"
        rf"(?P<number>{words.NUMBER})\s(?P<unit>{words.UNITS})(?:['’]\stime)?\b",
        _counted,
    ),
    _rule(
        rf"\b(?P<number>{words.NUMBER})\s(?P<unit>{words.UNITS})\s(?:from\snow|ago)\b",
        lambda match, said: _mention(match, DateKind.RELATIVE),
    ),
    _rule(
        rf"{_EDGE}(?:\b(?:at|from|by|until|around|um|ab|bis|gegen|a las?|à|às|alle|om|vanaf)\s)?"
        rf"\d{{1,2}}(?::\d\d)?{_HALF}"
        rf"|\b(?:at|um|a las|à|às|alle|om)\s(?:\d{{1,2}}[:.]\d\d|\d{{1,2}}h(?:\d\d)?\b)"
        rf"(?![\w:/]|\.\d|%)(?:\s?(?:uhr|uur|h)\b)?|\b(?:um|bis|ab|gegen)\s\d{{1,2}}\suhr\b"
        rf"|\bat\s(?:noon|midnight|midday)\b|\bom\s\d{{1,2}}\suur\b|\ba\slas\s\d{{1,2}}\b"
        rf"|\bàs\s\d{{1,2}}\b|\balle\s\d{{1,2}}\b",
        _time,
    ),
)
