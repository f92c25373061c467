"""A sentence in the first person is told of the user in the language in which it was said, and what
people are stands in their language, too."""

from __future__ import annotations

import pytest

from memtree.memories.extraction.rule_extraction import extract
from memtree.memories.extraction.third_person import told_abroad
from memtree.memories.fields.standing import standing_topic

TOLD = [
    ("Ich bin blind", "Nutzer ist blind", "fact"),
    ("Ich heiße Lena und wohne in Graz", "Nutzer heißt Lena und wohnt in Graz", "fact:name"),
    ("Meine Muttersprache ist Deutsch", "Nutzers Muttersprache ist Deutsch", "fact:language"),
    ("Ich wohne mit meiner Frau in Graz", "Nutzer wohnt mit seiner Frau in Graz", ""),
    ("Je n'habite plus à Lyon", "L'utilisateur n'habite plus à Lyon", ""),
    ("Je suis aveugle", "L'utilisateur est aveugle", "fact"),
    ("No como carne", "El usuario no come carne", ""),
    ("Soy ciego", "El usuario es ciego", "fact"),
    ("Lavoro come infermiera", "L'utente lavora come infermiera", "fact:job"),
    ("Vivo a Roma", "L'utente vive a Roma", "fact:place"),
    ("Moro em Lisboa", "O usuário mora em Lisboa", "fact:place"),
    ("Minha esposa é médica", "Esposa do usuário é médica", ""),
    ("Я не ем мясо", "Пользователь не ест мясо", ""),
    ("У меня аллергия на орехи", "У пользователя аллергия на орехи", "fact"),
    ("我是素食者", "用户是素食者", "fact:diet"),
    ("我住在我父母家", "用户住在用户父母家", "fact:place"),
    ("私は東京に住んでいます", "ユーザーは東京に住んでいます", "fact:place"),
]
AS_SAID = [
    "Ich wohne mit mir selbst in Graz",
    "Ich bin Diabetikerin und spritze seit zwei Jahren Insulin",
    "Früher habe ich in Hamburg gewohnt, bin aber weggezogen",
    "Soy diabético y cuido los hidratos",
    "Odio hablar por teléfono, siempre escribo correos",
    "Ho due gatti e curo il giardino",
    "Tenho 42 anos e cuido da casa",
    "Uso Linux",
    "Vivo",
    "我们住在我父母家",
    "Wir deployen freitags",
]


@pytest.mark.parametrize(("said", "told", "topic"), TOLD)
def test_it_is_told_word_by_word(said: str, told: str, topic: str) -> None:
    (memory,) = extract(f"{said}.").candidates
    assert memory.text == told
    assert standing_topic(told) == standing_topic(f"User said: {said}") == topic


@pytest.mark.parametrize("sentence", AS_SAID)
def test_what_no_rule_can_tell_stays_as_it_was_said(sentence: str) -> None:
    assert told_abroad(sentence) is None


@pytest.mark.parametrize(
    "wish",
    ["Antworte mir immer auf Deutsch", "Всегда отвечай по-русски", "请总是用中文回答"],
)
def test_a_wish_stands_as_it_was_said(wish: str) -> None:
    (memory,) = extract(f"{wish}.").candidates
    assert memory.text == wish
    assert standing_topic(wish).startswith("wish")
