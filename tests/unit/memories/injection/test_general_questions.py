"""Questions about the world, and those of somebody about their own affairs, in each language."""

from __future__ import annotations

import pytest

from memtree.language.everyday_sentences import LANGUAGES
from memtree.memories.injection.language_rules import is_general, pattern
from memtree.memories.injection.options import (
    ALONE_GENERAL,
    CHAT_OPTIONS,
    InjectionOptions,
    Message,
)
from memtree.memories.memory_injection import looked_at
from memtree.ranking.relevance_scale import HALF
from memtree.text.telling_words import sharing

GENERAL = {
    "en": "Why do leaves fall in autumn?", "de": "Warum fallen im Herbst die Blätter?",
    "es": "¿Por qué caen las hojas en otoño?", "fr": "Pourquoi les feuilles tombent-elles ?",
    "it": "Perché cadono le foglie in autunno?", "pt": "Por que as folhas caem no outono?",
    "nl": "Waarom vallen de bladeren in de herfst?", "pl": "Dlaczego jesienią spadają liście?",
    "tr": "Sonbaharda yapraklar neden dökülür?", "ru": "Почему осенью опадают листья?",
    "zh": "秋天树叶为什么会落？", "ja": "秋に葉が落ちるのはなぜですか。",
    "ko": "가을에 나뭇잎은 왜 떨어지나요?", "ar": "لماذا تسقط الأوراق في الخريف؟",
}  # fmt: skip
OWN = {
    "en": "Why do my tomatoes have yellow leaves?", "de": "Warum hat meine Tomate gelbe Blätter?",
    "es": "¿Por qué mis tomates tienen hojas amarillas?",
    "fr": "Pourquoi mes tomates sont-elles jaunes ?",
    "it": "Perché i miei pomodori sono gialli?", "pt": "Por que meus tomates estão amarelos?",
    "nl": "Waarom zijn mijn tomaten geel?", "pl": "Dlaczego moje pomidory są żółte?",
    "tr": "Domateslerim neden sarı?", "ru": "Почему мои помидоры жёлтые?",
    "zh": "我的番茄为什么发黄？", "ja": "うちのトマトはなぜ黄色いのですか。",
    "ko": "제 토마토는 왜 노란가요?", "ar": "لماذا طماطم حديقتي صفراء؟",
}  # fmt: skip


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_question_about_the_world_is_told_from_one_about_the_users_own(language: str) -> None:
    assert is_general(GENERAL[language])
    assert not is_general(OWN[language])


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_patterns_of_each_language_can_be_compiled(language: str) -> None:
    for file in ("memory_general_questions", "memory_changing"):
        assert pattern(file, (language,)).search("") is None


@pytest.mark.parametrize(
    "message",
    ["What is the weather like in Graz today?", "How many weeks are left until the deadline?",
     "Write a letter to Mr Brandt about the heating.", "Which ports are open?", "Who is Ida?",
     "Napisz list do pana Brandta.", "What is the deadline?", "What is the staging port?", ""],
)  # fmt: skip
def test_what_may_concern_the_user_is_not_general(message: str) -> None:
    assert not is_general(message)


def test_a_general_question_needs_two_words_of_a_memory_or_to_be_very_near() -> None:
    memories = ["The user moves in autumn.", "The user rakes leaves in autumn."]
    assert sharing(GENERAL["en"], memories) == [True, True]
    assert sharing(GENERAL["en"], memories, general=True) == [False, True]
    for relevance in (HALF, ALONE_GENERAL):
        near = Message(50, general=True).admits(relevance, shares_word=False)
        assert near is (relevance == ALONE_GENERAL)


def test_more_hits_are_looked_at_outside_english() -> None:
    english, german = looked_at(GENERAL["en"], CHAT_OPTIONS), looked_at(GENERAL["de"], CHAT_OPTIONS)
    assert german[0] > english[0] > 2 * CHAT_OPTIONS.most
    assert german[1] < english[1]
    for message in (GENERAL["en"], GENERAL["de"]):  # a threshold that somebody set is kept
        assert looked_at(message, InjectionOptions(threshold=0.01))[1] == 0.01


def test_compounds_that_begin_alike_are_two_words() -> None:
    assert sharing("Das Sonnensystem", ["Das WLAN heißt Sonnenblume."]) == [False]
    assert sharing("Meine Briefmarke", ["Der Nutzer sammelt Briefmarken."]) == [True]
    assert sharing("電子レンジ", ["ロゴはオレンジです。"]) == [False]
