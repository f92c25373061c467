import pytest

from memtree.memories.extraction.statements.other_languages import category_of, lead


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
    ],
)  # fmt: skip
def test_what_passes(text):
    assert category_of(text) == ""


def test_a_greeting_is_no_statement():
    text = "hallo, ich wohne in graz"
    assert text[lead(text) :] == "ich wohne in graz"
    assert lead("ich wohne in graz") == 0
