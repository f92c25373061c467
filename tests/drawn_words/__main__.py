"""`python -m tests.drawn_words` counts what each language holds and names what is not in order."""

import sys

from tests import drawn_words as words

LEAST = {"ORDERS": 25, "OWN": 40, "FACTS": 20, "WRAPPERS": 25, "ASKS": 31, "REPORTED": 20}
LEAST |= {"OWN_FACTS": 30, "NO_FACTS": 20}


def faults(lang: str) -> list[str]:
    found = []
    for name, least in LEAST.items():
        held = getattr(words, name)[lang]
        if len(held) < least:
            found.append(f"{name}: {len(held)} of {least}")
        if len(set(held)) != len(held):
            found.append(f"{name}: an entry stands twice")
    if len(words.OWN[lang]) != 40:
        found.append(f"OWN: {len(words.OWN[lang])}, not 40")
    for name in ("OWN", "OWN_FACTS"):
        for message, needle in getattr(words, name)[lang]:
            if not needle or needle not in message:
                found.append(f"{name}: not in its message: {needle}")
    found += [
        f"WRAPPERS: {text[:60]!r}" for text in words.WRAPPERS[lang] if text.count("{order}") != 1
    ]
    found += [
        f"REPORTED: {text[:60]!r}"
        for text in words.REPORTED[lang]
        if text.count("{order}") + text.count("{fact}") != 1 or "\n" in text
    ]
    found += [
        f"ORDERS: {text!r}"
        for text in words.ORDERS[lang] + words.FACTS[lang]
        if "\n" in text or '"' in text or "\\" in text
    ]
    if sum(bool(pair[0]) for pair in words.ASKS[lang]) < 15:
        found.append("ASKS: few before")
    if sum(bool(pair[1]) for pair in words.ASKS[lang]) < 15:
        found.append("ASKS: few after")
    if ("", "") not in words.ASKS[lang]:
        found.append("ASKS: none without")
    for draw in (words.drawn, words.drawn_fact, words.reported):
        for seed in range(200):
            message, sentence = draw(seed, lang)
            if sentence not in message or draw(seed, lang) != (message, sentence):
                found.append(f"{draw.__name__}: seed {seed}")
    return found


def main() -> int:
    wrong = 0
    for lang in words.LANGUAGES:
        counts = {name: len(getattr(words, name)[lang]) for name in LEAST}
        print(lang, counts)
        for fault in faults(lang):
            print("  ", fault)
            wrong += 1
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
