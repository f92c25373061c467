import pytest

from memtree.memories.extraction.third_person import told_of_user


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
