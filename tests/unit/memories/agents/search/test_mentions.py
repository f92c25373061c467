"""Whom and what a memory names."""

from __future__ import annotations

import pytest

from memtree.memories.agents.search.mentions import MOST, READ, mentions, named_in
from memtree.memories.memory import EntityMention, Memory


def found(data: dict[str, object] | str) -> list[str]:
    """Names; those of persons with an exclamation mark."""
    given = {"text": data} if isinstance(data, str) else data
    return [one.name + "!" * (one.type == "person") for one in mentions(given)]


@pytest.mark.parametrize(
    ("said", "named"),
    [
        ("User prefers TypeScript for new projects", ["TypeScript"]),
        ("We moved to New York with Blue Bottle Coffee", ["New York", "Blue Bottle Coffee"]),
        ("The account is at Bank of America", ["Bank of America"]),
        ("Likes tea. Drinks it hot! Always", []),
        ("Deploys happen on Friday in March", []),
        ("I think I'm fine, but My team is not", []),
        ("- Uses Kubernetes\n- Likes Redis\n3. Has Postgres", ["Kubernetes", "Redis", "Postgres"]),
        ("Grace Hopper wrote it. Later Grace left.", ["Grace Hopper", "Grace"]),
        ("NASA said so", ["NASA"]),
        ("It is Ada's laptop", ["Ada"]),
        ("Talked with Jean-Luc Picard, Worf and O'Brien", ["Jean-Luc Picard", "Worf", "O'Brien"]),
        ("Ich trinke gern Tee und mag Kaffee aus New York", ["New York"]),
    ],
)
def test_capitalised_words_that_begin_no_sentence(said, named):
    assert found(said) == named


@pytest.mark.parametrize(
    "said",
    [
        "I met my sister Ada Smith",
        "Has a sister named Ada Smith",
        "My boss is called Ada Smith",
        "Works with her best friend Ada Smith",
        "An appointment with Dr. Ada Smith",
        "Meine Schwester Ada Smith und ich",
        {"sister": "Ada Smith"},
        {"people": [{"manager": "Ada Smith"}]},
    ],
)
def test_persons_stand_behind_a_relation_or_a_title(said):
    assert found(said) == ["Ada Smith!"]


def test_without_that_nobody_is_a_person():
    assert found("Today I met Ada Smith. My sister came. Ada left") == ["Ada Smith"]
    assert found({"name": "Ada"}) == ["Ada"]


def test_a_name_that_is_a_persons_once_is_one():
    assert found("I called Ada. My sister Ada came") == ["Ada!"]


@pytest.mark.parametrize(
    ("said", "named"),
    [
        ("write to bob@mail.example.org.", ["mail.example.org"]),
        ("see https://user:secret@docs.example.com/a/b?c=d", ["docs.example.com"]),
        ("follow @ada_l, please", ["@ada_l"]),
        (
            "edit src/app.py, /etc/hosts and C:\\Users\\x",
            ["src/app.py", "/etc/hosts", r"C:\Users\x"],
        ),
        ("open README.md or app.toml", ["README.md", "app.toml"]),
        ("call parse_row() in getUserName", ["parse_row", "getUserName"]),
        ("and/or, km/h, 12/03/2024, e.g., v1.2.3, 3.14", []),
        ("a@b, @, ://, /, \\", []),
    ],
)
def test_hosts_handles_paths_and_identifiers(said, named):
    assert found(said) == named


@pytest.mark.parametrize(
    ("data", "named"),
    [
        ({"name": "Alice", "age": 30}, ["Alice"]),
        ({"topic": "AI agents"}, ["AI"]),
        ({"theme": "Dark", "favoriteColor": "blue", "done": True}, []),
        ({"place": {"city": "Graz"}, "tags": ["x", "Old Town"]}, ["Graz", "Old Town"]),
        ({}, []),
    ],
)
def test_values_of_data_are_read_beside_the_names_of_their_fields(data, named):
    assert found(data) == named


def test_what_is_read_and_said_is_bounded():
    assert len(found(" and ".join(f"the Name{at} x" for at in range(100)))) == MOST
    assert found("x " * READ + "my sister Ada") == []
    assert found(f"the {'A' * 500} and Ada") == ["Ada"]
    deep: object = "my sister Ada"
    for _ in range(30):
        deep = {"a": [deep]}
    assert found({"text": deep}) == ["Ada!"]


def test_what_its_maker_says_it_names_counts_alone():
    said = (EntityMention("User", "person"),)
    memory = Memory("m", 1, "Note: sister Ada, of Graz", 0.0, 0.0, mentions=said)
    assert named_in(memory) == said
    plain = Memory("m", 1, "Note: my sister Ada, of Graz", 0.0, 0.0)
    assert [one.name for one in named_in(plain)] == ["Ada", "Graz"]
    assert named_in(Memory("m", 1, "kind name Graz", 0.0, 0.0, data={"city": "Graz"})) == (
        EntityMention("Graz", "concept"),
    )
