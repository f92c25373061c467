import pytest

from memtree.language.word_file import WordFile, languages_with
from memtree.text.statements.grammar import (
    CATEGORIES,
    REASONS,
    category_of,
    lead,
    refused,
)


@pytest.mark.parametrize(
    ("text", "category"),
    [
        ("ich arbeite als altenpflegerin in nürnberg", "fact"),
        ("mein sohn jonas ist 5", "fact"),
        ("ich trinke lieber tee", "preference"),
        ("ich lerne gitarre", "general"),
        ("j'habite à lyon", "fact"),
        ("je travaille comme infirmière", "fact"),
        ("je préfère le thé", "preference"),
        ("trabajo como profesora", "fact"),
        ("me gusta el café", "preference"),
        ("moro em recife", "fact"),
        ("trabalho com turismo", "fact"),
        ("mia figlia è celiaca", "fact"),
        ("lavoro in banca", "fact"),
        ("ik ben leraar", "fact"),
        ("onze backend draait op laravel", "fact"),
        ("ich habe keinen fernseher", "fact"),
        ("no tengo coche", "fact"),
        ("我对花生过敏。", "fact"),
        ("我讨厌香菜。", "preference"),
        ("車は持っていません。", "fact"),
        ("パクチーが嫌いです。", "preference"),
        ("猫は犬よりいいです。", ""),
        ("jag bor i göteborg", "fact"),
        ("min dotter är celiakiker", "fact"),
        ("jag dricker hellre te", "preference"),
        ("jag sparar till en båt", "general"),
        ("у меня две кошки", "fact"),
        ("моего брата зовут олег", "fact"),
        ("я люблю чай", "preference"),
        ("я ищу новую работу", "general"),
    ],
)
def test_statements_in_other_languages(text, category):
    assert category_of(text) == category


@pytest.mark.parametrize(
    "text",
    [
        "ich bin müde", "ich habe ein problem", "je suis fatigué", "j'ai une question",
        "tengo una duda", "estou cansado", "sono stanco", "ik ben moe", "mi piace questo",
        "ich mag das", "der test schlägt fehl",
        "jag är trött", "jag gillar ditt svar", "я устала", "мне нравится твой ответ",
    ],
)  # fmt: skip
def test_what_passes(text):
    assert category_of(text) == ""


def test_a_greeting_is_no_statement():
    text = "hallo, ich wohne in graz"
    assert text[lead(text) :] == "ich wohne in graz"
    assert lead("ich wohne in graz") == 0


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("ich bin gerade am bahnhof", "transient"),
        ("estoy cansado", "transient"),
        ("si fuera rico tendría un barco", "hypothetical"),
        ("mijn code werkt niet", "code"),
        ("lui abita a roma", "about_others"),
        ("帮我写一封信。", "request"),
        ("私はどこに住んでいますか。", "question"),
        ("これはだめです。", "too_vague"),
        ("hon bor i lund", "about_others"),
        ("kanske flyttar jag", "hypothetical"),
        ("мой код не работает", "code"),
        ("напиши письмо", "request"),
        ("ich wohne in graz", None),
        ("i live in graz", None),
    ],
)
def test_sentences_that_are_no_statements(text, reason):
    assert refused(text) == reason


@pytest.mark.parametrize("language", set(languages_with("memory_statements")) - {"all"})
def test_a_grammar_has_all_patterns(language):
    names = WordFile(language, "memory_statements").names()
    assert {*CATEGORIES, *REASONS} <= set(names)


def test_a_grammar_is_found_by_its_file():
    assert {"de", "ja", "zh"} <= set(languages_with("memory_statements"))
