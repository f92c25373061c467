"""A sentence that denies something is stored with its negation, or not at all: never as what it
denies."""

import re
from pathlib import Path

import pytest
from hypothesis import HealthCheck, event, given, settings
from hypothesis import strategies as st

from memtree.language.word_file import WordFile, languages_with, parsed
from memtree.memories.extraction.rule_extraction import extract
from memtree.text.statements.gate import lasting
from memtree.text.statements.grammar import CATEGORIES, UNSPACED, lead

# What a stored sentence must still hold; words without a space around them are parts of words.
DENIALS = {
    "de": r"\b(?:nicht|kein\w*|nie)\b",
    "en": r"\b(?:not|never|no longer|nobody|neither|no)\b|n't\b",
    "es": r"\b(?:no|nunca|tampoco|ni)\b",
    "fr": r"\b(?:pas|jamais|plus|aucun\w*)\b",
    "it": r"\b(?:non|mai)\b",
    "ja": r"ない|ません",
    "nl": r"\b(?:niet|geen|nooit)\b",
    "pt": r"\b(?:não|nao|nunca|nem)\b",
    "ru": r"\b(?:не|нет|никогда)\b",
    "sv": r"\b(?:inte|aldrig|ing(?:en|et|a))\b",
    "zh": r"[不没]",
}
# How a language denies any of its statements, near enough.
DENIED = {
    "de": "{} nicht",
    "es": "no {}",
    "fr": "{} pas",
    "it": "non {}",
    "ja": "{}ない",
    "nl": "{} niet",
    "pt": "não {}",
    "ru": "не {}",
    "sv": "{} inte",
    "zh": "{}不",
}
# What ends a sentence or a clause would part a statement from its negation.
WITHIN = st.characters(exclude_categories=["C", "Zl", "Zp"], exclude_characters=".!?…;。！？؟।\xa0")
SENTENCES = parsed((Path(__file__).parent / "negated_sentences.txt").read_text())
LANGUAGES = sorted(set(languages_with("memory_statements")) - {"all"})
OPENERS = sorted(
    {
        word
        for language in LANGUAGES
        if "lead" in (file := WordFile(language, "memory_statements")).names()
        for word in file.entries("lead")
        if word.replace(" ", "").isalpha()
    }
)


def stored(text: str) -> list[str]:
    return [candidate.text for candidate in extract(text).candidates]


def test_each_language_of_extraction_has_sentences():
    assert set(SENTENCES) == set(DENIALS) == {*LANGUAGES, "en"}
    assert set(DENIED) == set(LANGUAGES)


@pytest.mark.parametrize("language", sorted(SENTENCES))
def test_a_negated_sentence_is_stored_with_its_negation(language):
    told = {sentence: stored(sentence) for sentence in SENTENCES[language]}
    affirmed = {
        sentence: texts
        for sentence, texts in told.items()
        if any(not re.search(DENIALS[language], text.lower()) for text in texts)
    }
    assert affirmed == {}
    assert sum(map(bool, told.values())) >= 5


@pytest.mark.parametrize("opener", OPENERS)
def test_an_opener_of_any_language_takes_no_negation_away(opener):
    for language in DENIED:
        for sentence in [each for each in SENTENCES[language] if "," not in each][:2]:
            for text in stored(f"{opener} {sentence[0].lower()}{sentence[1:]}"):
                assert re.search(DENIALS[language], text.lower()), (opener, sentence)


@pytest.mark.parametrize("language", LANGUAGES)
@settings(suppress_health_check=[HealthCheck.filter_too_much, HealthCheck.too_slow])
@given(st.data())
def test_no_statement_pattern_loses_a_negation(language, data):
    grammar = WordFile(language, "memory_statements")
    patterns = [entry for name in CATEGORIES for entry in grammar.entries(name)]
    pattern = data.draw(st.sampled_from(patterns))
    statement = data.draw(st.from_regex(re.compile(pattern), fullmatch=True, alphabet=WITHIN))
    opener = "" if language in UNSPACED else data.draw(st.sampled_from(["", *OPENERS]))
    texts = stored(f"{opener} {DENIED[language].format(statement.strip())}".strip())
    event("stored" if texts else "left out")
    for text in texts:
        assert re.search(DENIALS[language], text.lower())


@pytest.mark.parametrize(
    ("text", "rest"),
    [
        ("non, je mange de la viande", "je mange de la viande"),
        ("non mangio carne", "non mangio carne"),
        ("ciao, non mangio carne", "non mangio carne"),
        ("en ik woon in gent", "ik woon in gent"),
        ("en invierno vivo en madrid", "en invierno vivo en madrid"),
        ("mais je vis à lyon", "je vis à lyon"),
        ("ja, jag bor i lund", "jag bor i lund"),
    ],
)
def test_an_opener_opens_sentences_of_its_own_language(text, rest):
    assert text[lead(text) :] == rest


def test_what_is_no_longer_so_takes_the_statement_with_it():
    assert lasting("i live in leeds, but not right now") == ""
    assert lasting("i live in leeds and i'm not working right now") == "i live in leeds"


def test_the_more_is_no_opener():
    assert stored("Plus je mange de la viande, plus je suis malade.") == []
    assert stored("Plus, I live in Graz.") == ["User lives in Graz"]
