"""Scripts and languages, and when a summary is in another."""

from __future__ import annotations

import pytest

from memtree.language.languages import differs, language, script, shares

TEXTS = {
    "en": "The test was red because the header is not read, and they have fixed it for this one.",
    "de": "Der Test ist nicht mehr rot, und das ist auch gut so für die Leute mit der Datei.",
    "fr": "Le test est rouge et les données ne sont pas dans la liste, elle est avec des trous.",
    "es": "El test no está bien porque los datos de la lista fueron una cosa y no se ven con el.",
    "ru": "Тест не проходит, потому что заголовок не читается, и это уже исправили.",
    "zh": "测试失败是因为没有读取标题，现在已经修复了这个问题。",
    "ja": "テストが失敗したのは見出しを読まないためで、これは修正しました。",
    "ar": "فشل الاختبار لأن العنوان لم يقرأ وقد تم إصلاحه الآن.",
}


@pytest.mark.parametrize("text", TEXTS)
def test_a_text_differs_from_those_of_other_languages_alone(text):
    for source, written in TEXTS.items():
        assert bool(differs(TEXTS[text], written * 2)) is (text != source), source


@pytest.mark.parametrize("text", ["", "12 + 5", "…", "\ud800", "ok"])
def test_of_what_has_no_language_nothing_is_said(text):
    assert differs(text, TEXTS["en"]) == differs(TEXTS["en"], text if text != "ok" else "") == ""
    assert language(text) == ""


def test_identifiers_in_latin_letters_are_no_other_language():
    assert differs("修复了 docker-compose.yml 里的 ConnectionRefusedError 问题", TEXTS["zh"]) == ""
    assert differs("東京都千代田区で会議を開いた", TEXTS["ja"]) == ""


def test_a_text_in_two_languages_allows_both():
    both = TEXTS["de"] + TEXTS["en"]
    assert differs(TEXTS["de"], both) == differs(TEXTS["en"], both) == ""


def test_shares_add_up():
    assert sum(shares("".join(TEXTS.values())).values()) == pytest.approx(1.0)
    assert script("") == ""
