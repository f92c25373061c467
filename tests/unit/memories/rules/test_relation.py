"""How a new memory relates to a stored one."""

from __future__ import annotations

from memtree.memories.rules.relation import Relation, compare


def test_the_same_text_in_another_form_is_the_same():
    for relevance in (None, 0.0, 1.0):
        found = compare("the port is 8090", " The port\nis 8090. ", relevance)
        assert found == (Relation.SAME, ())


def test_a_changed_number_is_no_duplicate():
    found = compare("The port is 8091", "The port is 8090", 0.99)
    assert found == (Relation.POSSIBLE_UPDATE, ("8090 -> 8091",))


def test_strangers_are_strangers():
    assert compare("The port is 8091", "Anna likes tea", 0.1).relation is Relation.OTHER
