"""Memories that may be out of date once they are old."""

from __future__ import annotations

import pytest

from memtree.memories.injection.language_rules import ages, may_change
from memtree.memories.memory import Memory

DAY = 86_400.0


@pytest.mark.parametrize(
    "text",
    [
        "User works at Initech.", "My manager is Ruth", "Lives in Graz", "We moved to Leeds",
        "The office is in Canal Street", "Staging port is 8091.", "The API is at v3",
        "They run Python 3.11", "numpy is pinned to 1.26.4", "Plans to run a marathon",
        "User is going to visit Oslo", "Ich wohne in Wien", "Arbeitet als Lehrer",
        "Vivo en Bilbao", "Trabaja en un banco", "J'habite à Lyon", "Lavora come cuoco",
        "Moro em Lisboa", "Woont in Utrecht", "Mieszka w Krakowie", "Живёт в Москве",
        "Порт сервера 8090", "我住在杭州", "来年は引っ越す予定です",
        "서울에 살고 있다", "يعيش في القاهرة", "Der Nutzer plant einen Umzug",
        "L'utilisateur vit à Lyon",
    ],
)  # fmt: skip
def test_jobs_places_versions_ports_and_plans_change(text):
    assert may_change(text)


@pytest.mark.parametrize(
    "text",
    [
        "User's dog is called Otto.", "User is allergic to nuts.", "Her birthday is on 3 May",
        "The violin weighs 0.5 kg", "User speaks Portuguese.", "Mag keinen Koriander",
        "Es alérgico al marisco", "User has two cats", "Сестру зовут Анна", "猫が二匹いる",
        "User waters each plant on Sundays", "User's dog is called Capo",
        "The user grew up near Porta Romana", "Der Nutzer hat einen Hund namens Will",
    ],
)  # fmt: skip
def test_others_do_not(text):
    assert not may_change(text)


def test_wishes_and_tastes_stay_and_appointments_pass():
    assert not may_change("User prefers to work at night", "preference")
    assert not may_change("Never say where user works at", "instruction")
    assert not may_change("Use port numbers in every answer", "fact", "wish")
    assert may_change("Dentist on 2026-03-15", "schedule")


def test_age_counts_from_when_it_was_last_said():
    old = Memory("mem_1", 1, "Lives in Graz", 10 * DAY, 90 * DAY, last_confirmed=30 * DAY)
    assert ages(old, 180 * DAY) == 210 * DAY
    assert ages(Memory("mem_1", 1, "Lives in Graz", 10 * DAY, 90 * DAY), 180 * DAY) == 190 * DAY
    assert ages(old, 0) is None
    assert ages(Memory("mem_1", 1, "Likes tea", 0.0, 0.0), 180 * DAY) is None
