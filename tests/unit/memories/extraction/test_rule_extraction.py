from datetime import date

import pytest

from memtree.memories.extraction.rule_extraction import MOST, extract
from memtree.text.statements.skips import SkipReason

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
