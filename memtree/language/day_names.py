"""Names of months and weekdays in seven languages: English, German, Spanish, French, Portuguese,
Italian, Dutch.

Names that are words as well ("may", "march", "mars", "sept", "segunda") stand apart: what is before
or behind them decides.
"""

from __future__ import annotations

ENGLISH_NAMES = (
    "January", "February", "March", "April", "May", "June", "July", "August", "September",
    "October", "November", "December",
)  # fmt: skip
# Full names that nothing else is called, and the number of the month.
MONTHS = {
    name: number
    for number, names in enumerate(
        (
            "january januar jänner enero janvier janeiro gennaio januari",
            "february februar febrero février fevrier fevereiro febbraio februari",
            "märz maerz marzo março maart",
            "april abril avril aprile",
            "maggio",
            "june juni junio juin junho giugno",
            "july juli julio juillet julho luglio",
            "août agosto augustus",
            "september septiembre septembre setembro settembre",
            "october oktober octubre octobre outubro ottobre",
            "november noviembre novembre novembro",
            "december dezember diciembre décembre decembre dezembro dicembre",
        ),
        1,
    )
    for name in names.split()
}
# These are other words, too.
AMBIGUOUS_MONTHS = {
    "march": 3, "may": 5, "august": 8, "mars": 3, "mai": 5, "mayo": 5, "maio": 5, "mei": 5,
}  # fmt: skip
ENGLISH_MONTHS = ("march", "may", "august")  # written with a capital where they are months
SHORT_MONTHS = {
    "jan": 1, "feb": 2, "mar": 3, "mär": 3, "apr": 4, "jun": 6, "jul": 7, "aug": 8, "sep": 9,
    "sept": 9, "oct": 10, "okt": 10, "nov": 11, "dec": 12, "dez": 12,
}  # fmt: skip
ALL_MONTHS = MONTHS | AMBIGUOUS_MONTHS | SHORT_MONTHS
# Short for a month only between a day and a year: "set", "out" and "mag" are words.
SHORT_BESIDE_YEARS = {
    "ene": 1, "janv": 1, "gen": 1, "févr": 2, "fév": 2, "fev": 2, "mrt": 3, "abr": 4, "avr": 4,
    "mag": 5, "juin": 6, "giu": 6, "juil": 7, "lug": 7, "août": 8, "ago": 8, "set": 9, "sett": 9,
    "out": 10, "ott": 10, "déc": 12, "dic": 12,
}  # fmt: skip

WEEKDAYS = (
    r"(?:mon|tues|wednes|thurs|fri|satur|sun)days?"
    r"|(?:mon|diens|donners|frei|sams|sonn)tags?|mittwochs?|sonnabends?"
    r"|lunes|martes|miércoles|miercoles|jueves|viernes|sábados?|sabado|domingos?"
    r"|lundis?|mardis?|mercredis?|jeudis?|vendredis?|samedis?|dimanches?"
    r"|(?:segunda|terça|terca|quarta|quinta|sexta)s?-feiras?"
    r"|lunedì|martedì|mercoledì|giovedì|venerdì|sabato|domenica"
    r"|maandag|dinsdag|woensdag|donderdag|vrijdag|zaterdag|zondag"
)
