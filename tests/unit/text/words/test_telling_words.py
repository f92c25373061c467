"""Words that say what a text is about, in several languages."""

from __future__ import annotations

import pytest

from memtree.text.telling_words import sharing, telling, word_forms


@pytest.mark.parametrize(
    ("message", "memory"),
    [
        ("My dog barks at night.", "User's dog Otto is a beagle."),
        ("Which ports are open?", "The staging port is 8090."),
        ("Mein Hund bellt.", "Der Hund des Benutzers heißt Otto."),
        ("What should I plan for Zoë?", "User's niece is called Zoe."),
        ("Что подарить моей бабушке?", "Бабушка пользователя живёт в Твери."),
        ("كيف أخبز الخبز؟", "المستخدم لا يأكل خبز القمح."),
        ("강아지가 밤에 짖어요", "사용자의 강아지 이름은 오토입니다."),
        ("我的大提琴坏了", "用户会拉大提琴。"),
        ("因为过敏，我该避开什么？", "用户对花生过敏。"),
        # Long words that begin like a common one: Nacht, nacht, grootste.
        ("Wie schlafe ich nach einer Nachtschicht?", "Der Nutzer arbeitet in der Nachtschicht."),
        ("Hoe slaap ik na een nachtdienst?", "De gebruiker werkt in de nachtdienst."),
        ("トランペットの練習", "ユーザーはトランペットを吹く"),
        ("Ida", "User's daughter is called Ida."),
    ],
)
def test_a_word_that_says_something_is_shared(message, memory):
    assert sharing(message, [memory]) == [True]


@pytest.mark.parametrize(
    ("message", "memory"),
    [
        ("What does the user like best?", "The user likes tea."),
        ("Please explain how this works.", "User wants explanations to be short."),
        ("Wie ist das Wetter?", "Der Benutzer ist Lehrer."),
        ("怎么办？", "用户问怎么办。"),
        ("ありがとうございます", "ユーザーはありがとうと言う"),
        ("Как это работает?", "Пользователь не знает, как это работает."),
        ("", "The user likes tea."),
    ],
)
def test_general_words_are_not(message, memory):
    assert sharing(message, [memory]) == [False]


def test_a_word_that_many_memories_hold_tells_nothing():
    memories = [f"The user's boat has {sail} sails." for sail in range(4)]
    assert sharing("Paint my boat", memories, 100) == [False] * 4
    assert sharing("Paint my boat", memories, 400) == [True] * 4
    assert sharing("Paint my boat", memories[:3], 100) == [True] * 3


def test_forms():
    assert word_forms("Cafés, été") == word_forms("CAFÉ ete")
    assert word_forms("用户吃素") == {"用户", "户吃", "吃素"}
    assert word_forms("チェロです") == {"チェロ"}
    assert telling("Der Nutzer wohnt in Graz.") >= {"graz"}
    assert "nutze" not in telling("Der Nutzer wohnt in Graz.")


def test_between_two_languages_whole_words_alone_are_shared():
    asked = "Fix this for me: for i in range(10) print(i)"
    assert sharing(asked, ["Le père de l'utilisateur est mort au printemps."]) == [False]
    texts = ["L'utilisateur habite à Graz avec sa femme."]
    assert sharing("What is the weather like in Graz today?", texts) == [True]
