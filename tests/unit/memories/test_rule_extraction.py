"""Memories by rule, in the third person, in each language."""

from __future__ import annotations

import re
from datetime import date
from pathlib import Path

import pytest
from hypothesis import HealthCheck, event, given, settings
from hypothesis import strategies as st

from memtree.language.word_file import WordFile, languages_with, parsed
from memtree.memories.memory_topics import standing_topic
from memtree.memories.rule_extraction import MOST, extract, told_abroad, told_of_user
from memtree.statements.grammar import CATEGORIES, UNSPACED, SkipReason, lead
from memtree.statements.memory_gate import lasting

# ------------------------------------------------------------------------------------------------
# Rule extraction.


DAY = date(2026, 3, 2)


def found(text):
    return [(memory.text, memory.category) for memory in extract(text, DAY).candidates]


@pytest.mark.parametrize(
    ("text", "memory"),
    [
        ("I'm allergic to nuts.", ("User is allergic to nuts", "fact")),
        ("my daughter Lena is 7", ("User's daughter Lena is 7", "fact")),
        (
            "our staging DB is Postgres 15 on db2",
            ("User said: Our staging DB is Postgres 15 on db2", "fact"),
        ),
        ("the team uses pnpm, not npm", ("The team uses pnpm, not npm", "fact")),
        ("we decided to go with Stripe", ("User said: We decided to go with Stripe", "fact")),
        ("I prefer tabs", ("User prefers tabs", "preference")),
        (
            "My wife Ingrid and I just adopted a greyhound called Pickle.",
            ("User's wife is Ingrid; they just adopted a greyhound called Pickle", "fact"),
        ),
        ("I don't have a car.", ("User doesn't have a car", "fact")),
        ("I'm left-handed.", ("User is left-handed", "fact")),
        ("Turns out I'm anaemic.", ("User is anaemic", "fact")),
        ("Me llamo Lucía.", ("El usuario se llama Lucía", "fact")),
        ("我叫李明。", ("用户叫李明", "fact")),
        ("大阪に住んでいます。", ("ユーザーは大阪に住んでいます", "fact")),
        (
            "My son Tim and my daughter Ann are vegan",
            ("User's son Tim and the user's daughter Ann are vegan", "fact"),
        ),
        (
            "My grandma was from Trieste and we still spend every summer there.",
            (
                "User said: My grandma was from Trieste and we still spend every summer there",
                "fact",
            ),
        ),
        ("Always use British spelling.", ("Always use British spelling", "preference")),
    ],
)
def test_lasting_words_about_the_user_are_found(text, memory):
    assert found(text) == [memory]


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("Where do I live?", SkipReason.QUESTION),
        ("Please write a letter to my landlord", SkipReason.REQUEST),
        ("If I were a nurse I would live in Lyon", SkipReason.HYPOTHETICAL),
        ("I have a function that returns a list", SkipReason.CODE),
        ("It is in the second drawer", SkipReason.VAGUE),
        ("We use Postgres right now", SkipReason.TRANSIENT),
        ("I live " + "very " * 200 + "far away", SkipReason.LONG),
        ("*draws a sword* I am a knight.", SkipReason.FICTION),
        ("You are a terse coder. We use pnpm.", SkipReason.SYSTEM_TEXT),
        ("our token is ghp_" + "a1B2c3" * 6, SkipReason.SECRET),
    ],
)
def test_what_is_left_out_has_a_reason(text, reason):
    extraction = extract(text, DAY)
    assert extraction.candidates == ()
    assert reason in {skip.reason for skip in extraction.skipped}


def test_a_statement_before_a_question_is_kept_without_it():
    text = "Hi! I'm allergic to nuts, so what can I bake?"
    (memory,) = extract(text).candidates
    assert text[memory.start : memory.end] == "I'm allergic to nuts"


def test_a_name_and_more_in_one_sentence_are_memories_of_their_own():
    assert found("Hi! I'm Mara, I live in Ghent and work as a cook.") == [
        ("User is Mara", "fact"),
        ("User lives in Ghent and works as a cook", "fact"),
    ]


def test_words_that_cannot_be_told_of_the_user_say_whose_they_are():
    assert found("Ik heet Anna") == [("User said: Ik heet Anna", "fact")]
    assert found("We use Postgres 15 and deploy on Thursdays.") == [
        ("User said: We use Postgres 15 and deploy on Thursdays", "fact")
    ]


def test_what_the_user_thinks_about_it_today_is_left_out():
    assert found("I have two cats, so I have to vacuum.") == [("User has two cats", "fact")]


def test_passwords_and_numbers_of_cards_are_secrets():
    extraction = extract("our wifi password is in the hall")
    assert extraction.candidates == ()
    assert [skip.reason for skip in extraction.skipped] == [SkipReason.SECRET]
    assert extract("My card number is 4111 1111 1111 1111").candidates == ()


def test_what_is_said_twice_is_one_memory():
    extraction = extract("I prefer tabs. By the way, I prefer tabs!")
    assert [memory.text for memory in extraction.candidates] == ["User prefers tabs"]
    assert [skip.reason for skip in extraction.skipped] == [SkipReason.DUPLICATE]


def test_one_message_gives_so_many_memories_and_no_more():
    text = " ".join(f"I have {number} cats." for number in range(2, 14))
    extraction = extract(text)
    assert len(extraction.candidates) == MOST
    assert [skip.reason for skip in extraction.skipped] == [SkipReason.CAP] * (12 - MOST)
    assert len(extract(text, most=2).candidates) == 2


def test_appointments_keep_their_words_and_the_day_they_were_said():
    assert found("My flight is next Friday.") == [
        ("User's flight is next Friday (said 2026-03-02)", "schedule")
    ]


def test_a_statement_is_found_beside_a_request():
    assert found("Make it dairy free because my son is allergic to milk") == [
        ("User's son is allergic to milk", "fact")
    ]
    assert found("say no because my dog is a puppy") == []


def test_those_who_type_small_end_their_sentences_too():
    assert found("we moved to leeds. my dog is a beagle. any tips") == [
        ("User said: We moved to leeds", "fact"),
        ("User's dog is a beagle", "fact"),
    ]


def test_in_a_play_nothing_is_the_users_word():
    extraction = extract("I have two brothers.", fiction=True)
    assert [skip.reason for skip in extraction.skipped] == [SkipReason.FICTION]


def test_a_rule_that_speaks_to_nobody_is_no_wish():
    assert found("`old` and `new` must be different") == []
    assert found("This means you must never change the tests.") == []


@pytest.mark.parametrize("text", ["", " \n", "\ud800", "İ am a nurse in İzmir", "```", "." * 50])
def test_odd_texts_give_nothing(text):
    assert extract(text).candidates == ()


def test_two_statements_joined_by_and_are_two_memories():
    assert found("My name is Alice and I live in Seattle.") == [
        ("User's name is Alice", "fact"),
        ("User lives in Seattle", "fact"),
    ]


# ------------------------------------------------------------------------------------------------
# A sentence that denies something is stored with its negation, or not at all: never as what it
# denies.


# What a stored sentence must still hold; words without a space around them are parts of words.
DENIALS = {
    "de": r"\b(?:nicht|kein\w*|nie)\b",
    "en": r"\b(?:not|never|no longer|nobody|neither|no)\b|n't\b",
    "es": r"\b(?:no|nunca|tampoco|ni)\b",
    "fr": r"\b(?:pas|jamais|plus|aucun\w*)\b",
    "it": r"\b(?:non|mai)\b",
    "ja": r"ない|ません",
    "nl": r"\b(?:niet|geen|nooit)\b",
    "pt": r"\b(?:não|nao|nunca|nem)\b",
    "ru": r"\b(?:не|нет|никогда)\b",
    "sv": r"\b(?:inte|aldrig|ing(?:en|et|a))\b",
    "zh": r"[不没]",
}
# How a language denies any of its statements, near enough.
DENIED = {
    "de": "{} nicht",
    "es": "no {}",
    "fr": "{} pas",
    "it": "non {}",
    "ja": "{}ない",
    "nl": "{} niet",
    "pt": "não {}",
    "ru": "не {}",
    "sv": "{} inte",
    "zh": "{}不",
}
# What ends a sentence or a clause would part a statement from its negation.
WITHIN = st.characters(exclude_categories=["C", "Zl", "Zp"], exclude_characters=".!?…;。！？؟।\xa0")
SENTENCES = parsed((Path(__file__).parent / "negated_sentences.txt").read_text())
LANGUAGES = sorted(set(languages_with("memory_statements")) - {"all"})
OPENERS = sorted(
    {
        word
        for language in LANGUAGES
        if "lead" in (file := WordFile(language, "memory_statements")).names()
        for word in file.entries("lead")
        if word.replace(" ", "").isalpha()
    }
)


def stored(text: str) -> list[str]:
    return [candidate.text for candidate in extract(text).candidates]


def test_each_language_of_extraction_has_sentences():
    assert set(SENTENCES) == set(DENIALS) == {*LANGUAGES, "en"}
    assert set(DENIED) == set(LANGUAGES)


@pytest.mark.parametrize("language", sorted(SENTENCES))
def test_a_negated_sentence_is_stored_with_its_negation(language):
    told = {sentence: stored(sentence) for sentence in SENTENCES[language]}
    affirmed = {
        sentence: texts
        for sentence, texts in told.items()
        if any(not re.search(DENIALS[language], text.lower()) for text in texts)
    }
    assert affirmed == {}
    assert sum(map(bool, told.values())) >= 5


@pytest.mark.parametrize("opener", OPENERS)
def test_an_opener_of_any_language_takes_no_negation_away(opener):
    for language in DENIED:
        for sentence in [each for each in SENTENCES[language] if "," not in each][:2]:
            for text in stored(f"{opener} {sentence[0].lower()}{sentence[1:]}"):
                assert re.search(DENIALS[language], text.lower()), (opener, sentence)


@pytest.mark.parametrize("language", LANGUAGES)
@settings(suppress_health_check=[HealthCheck.filter_too_much, HealthCheck.too_slow])
@given(st.data())
def test_no_statement_pattern_loses_a_negation(language, data):
    grammar = WordFile(language, "memory_statements")
    patterns = [entry for name in CATEGORIES for entry in grammar.entries(name)]
    pattern = data.draw(st.sampled_from(patterns))
    statement = data.draw(st.from_regex(re.compile(pattern), fullmatch=True, alphabet=WITHIN))
    opener = "" if language in UNSPACED else data.draw(st.sampled_from(["", *OPENERS]))
    texts = stored(f"{opener} {DENIED[language].format(statement.strip())}".strip())
    event("stored" if texts else "left out")
    for text in texts:
        assert re.search(DENIALS[language], text.lower())


@pytest.mark.parametrize(
    ("text", "rest"),
    [
        ("non, je mange de la viande", "je mange de la viande"),
        ("non mangio carne", "non mangio carne"),
        ("ciao, non mangio carne", "non mangio carne"),
        ("en ik woon in gent", "ik woon in gent"),
        ("en invierno vivo en madrid", "en invierno vivo en madrid"),
        ("mais je vis à lyon", "je vis à lyon"),
        ("ja, jag bor i lund", "jag bor i lund"),
    ],
)
def test_an_opener_opens_sentences_of_its_own_language(text, rest):
    assert text[lead(text) :] == rest


def test_what_is_no_longer_so_takes_the_statement_with_it():
    assert lasting("i live in leeds, but not right now") == ""
    assert lasting("i live in leeds and i'm not working right now") == "i live in leeds"


def test_the_more_is_no_opener():
    assert stored("Plus je mange de la viande, plus je suis malade.") == []
    assert stored("Plus, I live in Graz.") == ["User lives in Graz"]


# ------------------------------------------------------------------------------------------------
# Third person.


@pytest.mark.parametrize(
    ("said", "told"),
    [
        ("I’m left-handed", "User is left-handed"),
        ("I've lived here since 2019", "User has lived here since 2019"),
        ("my sister Ann carries my bag", "User's sister Ann carries the user's bag"),
        ("I usually cycle to work", "User usually cycles to work"),
        ("I study law and I zorb often", None),
        ("My wife and I have two cats", "User and the user's wife have two cats"),
        (
            "Me and my brother Tom sold our car to my boss",
            "User's brother is Tom; they sold their car to the user's boss",
        ),
        ("From now on call me Max", "From now on call the user Max"),
        ("I teach", "User teaches"),
        ("I live in Ghent and work at Barco", "User lives in Ghent and works at Barco"),
        ("I don't eat pork", "User doesn't eat pork"),
    ],
)
def test_each_i_takes_its_verb_along(said, told):
    assert told_of_user(said) == told


@pytest.mark.parametrize(
    "said",
    [
        "We deploy on Fridays",  # who "we" are, no rule knows
        "I love food and drink",  # a verb, or a noun
        "My parents live in Leeds and work as cooks",
        "Ich bin im Haus",
        "Me gusta el café",
        "Me llamo Lucía",
        "Me voy a Roma",
        "No me llames Ana",
        "My wife Ann and I think you are right",
        "I'd take the train",  # would, or had
        "The wifi is in the hall",
        "I",
    ],
)
def test_what_cannot_be_told_safely_is_left(said):
    assert told_of_user(said) is None


# ------------------------------------------------------------------------------------------------
# A sentence in the first person is told of the user in the language in which it was said, and what
# people are stands in their language, too.


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


# ------------------------------------------------------------------------------------------------
# Store what people do as a rule, did once and mean to do, in the languages of extraction.


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
