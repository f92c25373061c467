"""Store what people do as a rule, did once and mean to do, in the languages of extraction."""

from __future__ import annotations

import pytest

from memtree.memories.extraction.rule_extraction import extract

STORED = [
    ("I keep all my notes in Obsidian.", "User keeps all the user's notes in Obsidian"),
    ("My doctor put me on lithium last year.", None),
    ("I hardly ever watch TV.", "User hardly ever watches TV"),
    ("I've been sober since 2019.", "User has been sober since 2019"),
    ("I did my master's in Glasgow.", "User did the user's master's in Glasgow"),
    ("As a night-shift nurse I sleep late.", "As a night-shift nurse the user sleeps late"),
    ("English is my third language.", "English is the user's third language"),
    ("I used to live in Cork but moved away.", "User used to live in Cork but moved away"),
    ("I hate phone calls, so I always email.", None),
    ("Beruflich restauriere ich Kirchenorgeln.", "Beruflich restauriert Nutzer Kirchenorgeln"),
    ("Mit meiner Oma spreche ich Platt.", "Mit seiner Oma spricht Nutzer Platt"),
    ("Zum Backen nehme ich am liebsten Dinkel.", "Zum Backen nimmt Nutzer am liebsten Dinkel"),
    ("Donnerstags helfe ich bei der Tafel.", "Donnerstags hilft Nutzer bei der Tafel"),
    ("Nächstes Jahr will ich promovieren.", None),
    ("Ich schaue fast nie fern.", "Nutzer schaut fast nie fern"),
    ("Ich möchte Hebamme werden.", "Nutzer möchte Hebamme werden"),
    ("Ich kann Koriander nicht ausstehen.", "Nutzer kann Koriander nicht ausstehen"),
    ("Das Hemd ist zu klein, ich trage XXL.", "Nutzer trägt XXL"),
    ("Meine Zwillinge Ida und Paul werden sechs.", "Nutzers Zwillinge Ida und Paul werden sechs"),
    ("Los jueves soy voluntario.", "El usuario los jueves es voluntario"),
    ("Casi nunca veo la tele.", "El usuario casi nunca ve la tele"),
    ("Dejé de fumar en enero.", None),
    ("No soporto el cilantro.", "El usuario no soporta el cilantro"),
    ("Mi hermana Elena se casa en agosto.", None),
    ("Salgo en bici todos los sábados.", "User said: Salgo en bici todos los sábados"),
    ("J'économise pour une maison.", "L'utilisateur économise pour une maison"),
    ("Je voudrais devenir sage-femme.", "L'utilisateur voudrait devenir sage-femme"),
    ("J'ai horreur de la coriandre.", "L'utilisateur a horreur de la coriandre"),
    ("Avant, j'habitais à Lille.", "Avant, l'utilisateur habitait à Lille"),
    ("Je parle breton avec ma grand-mère.", "L'utilisateur parle breton avec sa grand-mère"),
    ("Je suis né à Brest et j'ai grandi à Quimper.", None),
    ("Mes parents tiennent une ferme.", None),
    ("我儿子明年高考。", "用户儿子明年高考"),
    ("我在华为做工程师。", "用户在华为做工程师"),
    ("我弹贝斯十五年了。", "用户弹贝斯十五年了"),
    ("我跟奶奶说闽南语。", "用户跟奶奶说闽南语"),
    ("明年我想跑马拉松。", "明年用户想跑马拉松"),
    ("我已经不在腾讯了。", "用户已经不在腾讯了"),
    ("我几乎不看电视。", "用户几乎不看电视"),
    ("我想当助产士。", "用户想当助产士"),
    ("我姐姐八月结婚。", "用户姐姐八月结婚"),
]
LEFT = [
    "My colleague's wife is expecting in June.",
    "Mein Chef ist Segler.", "Mon voisin est pompier.", "Mi jefe tiene dos hijos.",
    "Il mio vicino fa il vigile.", "Meu chefe tem dois filhos.",
    "Ich verstehe das immer noch nicht.", "Ich suche seit zwei Stunden den Fehler.",
    "Je cherche depuis une heure.", "Busco el error desde hace dos horas.",
    "Je suis peut-être intolérante au lactose.", "Er sagt, ich wohne in Graz.",
    "Si me mudo a Vigo, me compro un coche.", "我想做一个网站。",
]  # fmt: skip


@pytest.mark.parametrize(("said", "stored"), STORED)
def test_ways_of_life_are_stored(said: str, stored: str | None) -> None:
    (memory,) = extract(said).candidates
    assert stored in (None, memory.text)


@pytest.mark.parametrize("said", LEFT)
def test_what_is_at_hand_or_others_is_left(said: str) -> None:
    assert extract(said).candidates == ()
