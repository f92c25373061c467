"""Persona and role-play cards, told from ordinary first requests."""

from __future__ import annotations

import pytest

from memtree.text.speakers import is_card

CARDS = [
    '[Character("Odile") Age("31") Personality("dry" + "brave") Likes("fog" + "maps")]',
    "Name: Odile\nAge: 31\nPersonality: dry, brave\nScenario: a wreck on the ice.",
    '{"name": "Odile", "personality": "dry", "scenario": "a wreck", "first_mes": "You again."}',
    "{{char}} is a surveyor who distrusts maps. {{user}} is her apprentice.",
    "You are Odile, a surveyor of 31 years. Stay in character and never speak for me.",
    "Let's role-play: you are the keeper of a toll bridge, I am a spy. Use the present tense.",
    "# Character\nYou are Odile, 31 years old, a surveyor who answers in riddles.",
    "Du bist Odile, eine Landvermesserin, 31 Jahre alt. Bleib immer in deiner Rolle.",
    "Tu es Odile, une arpenteuse de 31 ans. Reste toujours dans ton personnage.",
    "Eres Odile, agrimensora, tienes 31 años. Mantente siempre en el personaje.",
    "Sei Odile, geometra di 31 anni. Resta sempre nel personaggio.",
    "Ты — Одиль, землемер, ей 31 год. Оставайся в роли и говори с иронией.",
    "姓名：奥迪\n年龄：31\n性格：冷淡，勇敢\n背景：冰上的沉船",
    "あなたは三十一歳の測量士オディールです。キャラを崩さないでください。ロールプレイです。",
    "너는 서른한 살의 측량사 오딜이야. 캐릭터를 유지해 줘.",
]
OTHERS = [
    "You are right, that was the wrong file. Please undo it and run the tests again.",
    "Name: Jane Doe\nAge: 34\nOccupation: accountant\nPlease improve my CV.",
    "Please write unit tests for the class Character with the fields name and age.",
    "My character is level 40. Which weapon should I buy against dragons?",
    "Write a story about a vampire who is afraid of the dark, about five hundred words.",
    "What is role-based access control, and how does it differ from access lists?",
    "I need a plan for a trip to Rome in May. We like museums and short walks.",
    "Du bist ein Schatz! Schreibst du mir noch die Einladung für das Sommerfest?",
    "你能解释一下这个函数为什么返回空列表吗？我试了很多次，结果都一样。",
    "Name: Jane\nLikes: tea\nDislikes: fog\nTraits: calm\nPlease improve my CV.",
    "You are Odile.",
    "",
]


@pytest.mark.parametrize("text", CARDS)
def test_a_card(text):
    assert is_card(text)


@pytest.mark.parametrize("text", OTHERS)
def test_an_ordinary_message(text):
    assert not is_card(text)


@pytest.mark.slow
def test_a_card_is_told_by_its_beginning():
    card = "Name: Odile\nPersonality: dry, brave\nScenario: a wreck on the ice.\n"
    assert is_card(card + "The snow fell. " * 5_000)
    assert not is_card("The snow fell. " * 5_000 + card)
