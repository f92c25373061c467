"""The backgrounds that come with the product."""

from __future__ import annotations

import pytest

from memtree.language.languages import LANGUAGES, common_words, language_of, sentences

TOLD = {
    "en": "Which bread is safe for me?",
    "de": "Welches Brot ist für mich unbedenklich?",
    "es": "¿Qué pan es seguro para mí?",
    "fr": "Quel pain est sans danger pour moi ?",
    "it": "Quale pane è sicuro per me?",
    "pt": "Que pão é seguro para mim?",
    "nl": "Welk brood is veilig voor mij?",
    "pl": "Jaki chleb jest dla mnie bezpieczny?",
    "tr": "Hangi ekmek benim için güvenli?",
    "ru": "Какой хлеб для меня безопасен?",
    "zh": "哪种面包对我来说是安全的？",
    "ja": "私が食べても安全なパンはどれですか？",
    "ko": "저에게 안전한 빵은 무엇인가요?",
    "ar": "أي خبز آمن لي؟",
}


def test_every_language_has_about_two_hundred_sentences_and_its_common_words() -> None:
    assert set(TOLD) == set(LANGUAGES) == set(common_words())
    for language in LANGUAGES:
        own = sentences(language)
        assert len(set(own)) == len(own) >= 180
        assert all(line == line.strip() and line for line in own)


@pytest.mark.parametrize("language", TOLD)
def test_the_language_of_a_text(language: str) -> None:
    assert language_of(TOLD[language]) == language


def test_a_text_that_tells_nothing_is_compared_with_all() -> None:
    assert language_of("") == language_of("8090 -> 8091") == language_of("Привет" * 0) == ""
    assert language_of("The user's friend is called 美咲") == "en"
    assert 180 <= len(sentences("")) <= 260
    assert {language_of(each) for each in sentences("")} >= set(LANGUAGES)
