from __future__ import annotations

from memtree.memories.agents.slot_filling.user_statements import statements


def told(text: str) -> list[str]:
    return [one.text for one in statements(text)[0]]


def test_clauses_have_their_subject() -> None:
    assert told("I live in Graz and work at Initech, and my name is Bo.") == [
        "I live in Graz",
        "I work at Initech",
        "my name is Bo",
    ]
    assert told("I'm Bo, 30, a nurse from Leeds") == ["I'm Bo", "I'm 30", "I'm a nurse from Leeds"]


def test_what_others_say_is_none() -> None:
    assert told("People think that I live in Graz, and my name is Bo") == [
        "People think that I live in Graz"
    ]


def test_places() -> None:
    text = "Well, I live in Graz and work at Initech."
    for one in statements(text)[0]:
        place = one.place(len(one.text) - 4, len(one.text))
        assert text[place.start : place.end] == one.text[-4:]


def test_questions_and_orders_at_the_end_are_cut() -> None:
    assert told("I live in Graz, can you recommend a café?") == ["I live in Graz"]
    assert told("Where do I live?") == []


def test_a_minus_that_is_said_is_kept() -> None:
    assert told("My blood type is O-.") == ["My blood type is O-"]
    assert told("My favorite color is blue -") == ["My favorite color is blue"]
    assert told("My favorite color is blue-") == ["My favorite color is blue"]
