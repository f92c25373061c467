"""Statements of users: what is found, and what is left out."""

from __future__ import annotations

import time
from datetime import date

import pytest

from benchmarks.extraction.date_sentences import SAID, cases
from memtree.statements import fiction, memory_gate
from memtree.statements.attributes import attributes, changed
from memtree.statements.calendar_dates import READ, DateKind, dates
from memtree.statements.grammar import (
    SkipReason,
    is_decision,
    is_event,
    is_fact,
    is_goal,
    is_preference,
    kept_in_mind,
)

# ------------------------------------------------------------------------------------------------
# Attributes of people: the first person and the form of notes say the same, in each language, and
# another value of it is a change.


HOMES = [
    ("I live in Graz.", "User lives in Linz."),
    ("User lives in Graz", "I've moved to Linz."),
    ("Ich wohne in Graz.", "Nutzer wohnt in Linz"),
    ("User said: Ich wohne in Graz", "Ich bin nach Linz gezogen."),
    ("J'habite à Graz.", "L'utilisateur habite à Linz"),
    ("Vivo en Graz.", "El usuario vive en Linz"),
    ("Vivo a Graz.", "L'utente vive a Linz"),
    ("Moro em Graz.", "O usuário mora em Linz"),
    ("Я живу в Graz.", "Пользователь живёт в Linz"),
    ("我住在Graz", "用户住在Linz"),
    ("私はGrazに住んでいます", "ユーザーはLinzに住んでいます"),
    ("I live in Graz.", "Ich wohne in Linz."),
]  # fmt: skip
OVER = [
    ("I live in Graz.", "I don't live in Graz any more."),
    ("User is vegetarian.", "User is no longer vegetarian."),
    ("Ich bin Vegetarier.", "Ich bin kein Vegetarier mehr."),
    ("Je suis végétarien.", "Je ne suis plus végétarien."),
    ("Soy vegetariana.", "Ya no soy vegetariana."),
    ("Sono vegetariana.", "Non sono più vegetariana."),
    ("Sou vegetariano.", "Já não sou vegetariano."),
    ("Я вегетарианец.", "Я больше не вегетарианец."),
    ("User is allergic to nuts.", "User is not allergic to nuts."),
    ("Nutzer ist gegen Nüsse allergisch.", "Ich bin nicht mehr gegen Nüsse allergisch."),
]
OTHERS = [
    ("I'm married.", "User is divorced.", "married -> divorced"),
    ("I work at Siemens as a nurse.", "User works for Bosch.", "Siemens -> Bosch"),
    ("I'm a teacher.", "User works as a software engineer.", "teacher -> software engineer"),
    ("I use Postgres.", "User switched to MySQL.", "postgres -> mysql"),
    ("I prefer tabs over spaces.", "User prefers spaces.", "tabs -> spaces"),
    ("User prefers window seats.", "I prefer aisle seats.", "window -> aisle"),
    ("I run every Monday.", "User runs every Friday.", "every Monday -> every Friday"),
    ("My name is Anna.", "User's name is Bella.", "Anna -> Bella"),
    ("Mein Lieblingstier ist der Hund", "Mein Lieblingstier ist die Katze", "Hund -> Katze"),
]
SAME = [
    ("User is a nurse.", "I'm a nurse at a children's hospital."),
    ("I live in Graz.", "User lives in Graz, Austria."),
    ("I live in Linz.", "I used to live in Graz."),
    ("I used to live in Rome.", "User lives in Linz."),
    ("My sister lives in Rome.", "I live in Linz."),
    ("User uses Postgres.", "User uses Neovim."),
    ("User uses Postgres.", "I use PostgreSQL."),
    ("I run every Monday.", "I swim every Friday."),
    ("L'utilisateur nage chaque jeudi.", "Je nage tous les jeudis."),
    ("User works as a doctor.", "Die Nutzerin arbeitet als Ärztin."),
]
SEVERAL = [("I have a cat.", "User has a dog."), ("I speak Spanish.", "I speak French.")]


@pytest.mark.parametrize(("old", "new"), HOMES)
def test_a_home_changes_in_each_form_and_language(old: str, new: str) -> None:
    assert [each.what for each in (*attributes(old), *attributes(new))] == ["home"] * 2
    assert changed(new, old).differs == "Graz -> Linz"


@pytest.mark.parametrize(("old", "new"), OVER)
def test_what_is_taken_back_is_a_change(old: str, new: str) -> None:
    assert " -> not " in changed(new, old).differs
    assert changed(old, new).differs.startswith("not ")


@pytest.mark.parametrize(("old", "new", "differs"), OTHERS)
def test_another_value_is_named(old: str, new: str, differs: str) -> None:
    assert changed(new, old).differs == differs


@pytest.mark.parametrize(("one", "other"), SAME)
def test_no_change(one: str, other: str) -> None:
    assert changed(one, other) == changed(other, one) == ("", False)


@pytest.mark.parametrize(("one", "other"), SEVERAL)
def test_of_some_things_people_have_several(one: str, other: str) -> None:
    assert changed(one, other) == ("", True)


@pytest.mark.parametrize(
    ("old", "new", "differs"),
    [
        ("User drives a Ford Fiesta.", "Swapped the Fiesta for an Octavia.", "not Ford Fiesta"),
        (
            "User is married to Colin.",
            "My divorce from Colin is here.",
            "not married to Colin",
        ),
        ("User uses vim as their editor.", "These days I do everything in Helix.", "helix"),
        ("El usuario conduce un Seat Ibiza.", "Vendí el Ibiza.", "not Seat Ibiza"),
    ],
)
def test_a_named_thing_is_over_or_replaced(old: str, new: str, differs: str) -> None:
    assert changed(new, old).differs.endswith(f"-> {differs}")
    assert changed(f"My neighbour said: {new}", "User lives in Graz.").differs == ""


def test_one_day_more_is_no_change() -> None:
    assert changed("I swim on Fridays too.", "User swims on Mondays.").differs == ""


def test_a_conditional_and_a_wish_are_no_attribute() -> None:
    for text in ("If I lived in Graz I would ski.", "I want to live in Graz.", "Graz is nice."):
        assert not [each for each in attributes(text) if each.what == "home"]


def test_long_texts_are_read_in_no_time() -> None:
    for piece in (
        "i am ",
        "tengo es ",
        "not ",
        "私は今は、",
        "I live in ",
        "mi mi favorito es ",
        "'",
        "y ",
    ):
        start = time.perf_counter()
        attributes(piece * 10_000)
        assert time.perf_counter() - start < 0.5


@pytest.mark.parametrize(
    "text",
    [
        "Ich wohne in Graz weil ich dort arbeite", "Ich wohne in Graz aber arbeite in Linz",
        "Vivo en Graz pero trabajo en Linz", "Vivo en Graz donde trabajo",
        "J'habite à Graz parce que j'y travaille", "J'habite à Graz désormais",
        "Abito a Graz dove lavoro", "Abito a Graz ora", "Abito a Graz dal 2019",
        "Moro em Graz mas trabalho em Linz", "Moro em Graz onde trabalho", "Moro em Graz há anos",
        "Я живу в Graz но работаю в Linz", "Я живу в Graz потому что там тихо",
        "Я живу в Graz сейчас", "Я живу в Graz уже год",
    ],
)  # fmt: skip
def test_a_value_ends_where_another_clause_begins(text: str) -> None:
    assert attributes(text)[0].value == "Graz"


# ------------------------------------------------------------------------------------------------
# Dates.


RIGHT = 0.97  # of sentences written before the rules were seen on them: all but one or two


@pytest.mark.parametrize("dated", [True, False])
def test_dates_are_found_in_sentences_of_seven_languages_and_nowhere_else(dated):
    those = [case for case in cases() if bool(case.marked) is dated]
    wrong = [case.text for case in those if not case.right(dates(case.text, SAID))]
    assert len(those) >= 120
    assert len(wrong) <= (1 - RIGHT) * len(those), wrong


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("2026-03-15", DateKind.DAY),
        ("March 15", DateKind.MONTH_DAY),
        ("in March", DateKind.MONTH),
        ("on Friday", DateKind.WEEKDAY),
        ("in 3 weeks", DateKind.RELATIVE),
        ("every Friday", DateKind.RECURRING),
        ("at 5:30 pm", DateKind.TIME),
    ],
)
def test_kinds_and_places(text, kind):
    (found,) = dates(f"It is {text}, he said.")
    assert found.kind is kind
    assert (found.start, found.end) == (6, 6 + len(text))


def test_what_is_counted_from_a_day_has_none_where_that_is_not_known():
    assert [one.day for one in dates("tomorrow and in 3 days")] == [None, None]
    days = [one.day for one in dates("tomorrow and in 3 days", date(2024, 2, 28))]
    assert days == [date(2024, 2, 29), date(2024, 3, 2)]


def test_no_day_is_made_up():
    assert dates("2026-02-30 and February 30 and 31.02.2026 and 13/13/2026") == []
    (leap,) = dates("February 29")
    assert leap.day is None
    assert [one.day for one in dates("February 29, 2025")] == []
    assert [one.day for one in dates("tomorrow", date.max)] == [None]


@pytest.mark.slow
def test_a_long_text_is_read_as_far_as_sentences_go():
    assert len(dates("on Friday. " * READ)) == READ // len("on Friday. ")


# ------------------------------------------------------------------------------------------------
# Facts.


@pytest.mark.parametrize(
    "text",
    [
        "i'm a nurse at a hospital in lyon", "my name is jonas", "i was born in 1990",
        "my wife is vegan", "i have two cats", "my laptop is a thinkpad x1", "i drive a diesel van",
        "our office is in leeds", "the backend is written in elixir", "we have about 40 engineers",
        "i've been teaching maths for 12 years",
    ],
)  # fmt: skip
def test_lasting_facts(text):
    assert is_fact(text)


@pytest.mark.parametrize(
    "text",
    [
        "i'm a bit tired", "my wife is calling", "my dog is sick", "i have a question",
        "my code is slow", "i use this to sort the list", "we need to talk", "i'm a fan of you",
    ],
)  # fmt: skip
def test_what_passes_is_no_fact(text):
    assert not is_fact(text)


# ------------------------------------------------------------------------------------------------
# Fiction.


@pytest.mark.parametrize(
    "text",
    ["*nods slowly* My king.", "Let's role-play.", "Pretend to be a ghost.", "I play as Kessa"],
)
def test_a_play_goes_on(text):
    assert fiction.is_role_play(text)


@pytest.mark.parametrize(
    "text", ["I play the cello", "Use *only* tabs", "Write a story about rain"]
)
def test_what_is_no_play(text):
    assert not fiction.is_role_play(text)


def test_the_assistant_may_speak_of_plays():
    assert fiction.is_role_play("*bows* Welcome, stranger.", "assistant")
    assert not fiction.is_role_play("In a role-play, your character is Ann.", "assistant")


@pytest.mark.parametrize(
    ("sentences", "made_up"),
    [
        ("i live in graz.|in my story, i'm a pirate.|i have one leg.", {1, 2}),
        ("i'm the ceo of acme.|that was a line of my character.|i live in graz.", {0, 1}),
        ("i own half of norway.|just kidding!|i live in graz.", {0, 1}),
        ("my d&d character is a dwarf.|i have two axes.", {0, 1}),
        ("in meinem roman bin ich ein spion.|ich habe drei pässe.", {0, 1}),
        ("在我的小说里，我是海盗。|我有一条腿。", {0, 1}),
        ("i'm writing a novel about a widow.|i live in graz.", set()),
        ("my favorite character is aragorn.|i live in graz.", set()),
    ],
)
def test_a_frame_before_or_behind_makes_sentences_fiction(sentences, made_up):
    assert fiction.framed([(0, lower) for lower in sentences.split("|")]) == made_up


def test_a_frame_that_looks_back_ends_with_its_paragraph():
    said = [(0, "i live in graz."), (1, "i am a king."), (1, "this is from my novel.")]
    assert fiction.framed(said) == {1, 2}


@pytest.mark.parametrize(
    "lower",
    [
        "i'm married to my job lol",
        "i'm basically 300 years old",
        "tengo 300 años",
        "in my dream i had seven brothers",
        "in the test my name is foo",
        "我已经三百岁了",
    ],
)
def test_jests_dreams_and_examples_are_fictional(lower):
    assert fiction.is_fictional(lower)


@pytest.mark.parametrize(
    "lower", ["i'm 42 years old", "our house is 300 years old", "i hate plots lol, but i read on"]
)
def test_what_may_be_true_is_not_fictional(lower):
    assert not fiction.is_fictional(lower)


# ------------------------------------------------------------------------------------------------
# Gate.


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("*draws a sword* I am the king of Ash", SkipReason.FICTION),
        ("Let's do a role-play: I am a thief", SkipReason.FICTION),
        ("Write me a short story about a nurse", SkipReason.FICTION),
        ("You are a helpful assistant. We use pnpm.", SkipReason.SYSTEM_TEXT),
        ("I live in Ghent", None),
    ],
)
def test_messages_that_are_not_the_users_own_word(text, reason):
    assert memory_gate.message_reason(text) is reason


def test_what_no_rule_takes_has_a_reason_too():
    assert memory_gate.other_reason("fix the build") is SkipReason.REQUEST
    assert memory_gate.other_reason("she said so") is SkipReason.OTHERS
    assert memory_gate.other_reason("gold is heavy") is SkipReason.NOT_ABOUT_USER
    assert memory_gate.other_reason("remind me at noon") is SkipReason.REQUEST
    assert memory_gate.other_reason("i see") is SkipReason.VAGUE


@pytest.mark.parametrize(
    ("lower", "reason"),
    [
        ("i moved there", SkipReason.VAGUE),
        ("i chose to write about this", SkipReason.VAGUE),
        ("i love your turtles", SkipReason.VAGUE),
        ("i live in ghent", None),
        ("i'm based in nairobi these days", None),
        ("i'm hungry", SkipReason.TRANSIENT),
        ("ich bin total müde", SkipReason.TRANSIENT),
    ],
)
def test_what_nobody_understands_later_is_left_out(lower, reason):
    assert memory_gate.refused(lower) is reason


def test_what_holds_for_now():
    assert memory_gate.lasting("we use postgres right now") == ""
    assert memory_gate.lasting("we use postgres, but it is slow right now") == "we use postgres"
    assert memory_gate.lasting("we use postgres") == "we use postgres"


@pytest.mark.parametrize(
    ("text", "private"),
    [
        ("it is 4111 1111 1111 1111", True),
        ("send it to DE89 3704 0044 0532 0130 00", True),
        ("my PIN is in the drawer", True),
        ("call me on 030 1234567", False),
        ("I live at Kingsway 12", False),
    ],
)
def test_numbers_of_accounts_are_private(text, private):
    assert memory_gate.is_private(text) is private


@pytest.mark.parametrize(
    "text",
    ["I have 3 apples and 2 pears. How many are left?", "Solve: my train leaves at 3, at 80"],
)
def test_exercises_are_about_nobody(text):
    assert memory_gate.message_reason(text) is SkipReason.FICTION


# ------------------------------------------------------------------------------------------------
# General.


@pytest.mark.parametrize(
    "text", ["i'm training for a marathon", "my goal is to speak welsh by may"]
)
def test_goals(text):
    assert is_goal(text)


@pytest.mark.parametrize("text", ["i want to fix that", "i'm going to push it"])
def test_steps_are_no_goals(text):
    assert not is_goal(text)


def test_what_is_to_be_kept_in_mind():
    text = "please remember that the wifi is in the hall"
    assert text[kept_in_mind(text) :] == "the wifi is in the hall"
    assert kept_in_mind("remember to call me") == 0
    assert kept_in_mind("the wifi is in the hall") == 0


@pytest.mark.parametrize(
    "text", ["i finished school in june", "we went to rome last summer", "i'm good at chess"]
)
def test_what_happened_beyond_this_day(text):
    assert is_event(text)


@pytest.mark.parametrize(
    "text", ["i went to the store yesterday", "we went to rome", "i saw the page last week"]
)
def test_steps_of_a_day(text):
    assert not is_event(text)


# ------------------------------------------------------------------------------------------------
# Preferences.


@pytest.mark.parametrize(
    "text", ["i prefer tabs over spaces", "i really hate cilantro", "i'm into bouldering"]
)
def test_preferences(text):
    assert is_preference(text)


@pytest.mark.parametrize(
    "text", ["i like it", "i prefer the second option", "i'd like to know more", "i love how it is"]
)
def test_what_pleases_in_the_last_answer_is_no_preference(text):
    assert not is_preference(text)


def test_decisions():
    assert is_decision("we decided to go with stripe")
    assert not is_decision("i decided to try that")
