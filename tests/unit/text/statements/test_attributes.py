"""Attributes of people: the first person and the form of notes say the same, in each language,
and another value of it is a change."""

import time

import pytest

from memtree.text.statements.attributes import attributes, changed

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
