"""How a new memory relates to a stored one: no changed value is ever a duplicate."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.memories.relation import pairs, triples
from memtree.memories.relation.relation import SHOWN, Relation, compare
from memtree.text.normal_form import canonical

SKIPPED = (Relation.SAME, Relation.DUPLICATE)
PAIRS = [*pairs(), *triples()]
CHANGED = [pair for pair in PAIRS if not pair.same]
texts = st.text(max_size=60)
WORDS = """
user the a not no never likes lives in Oslo two 2 port 8090 before after from by of and or tea
is was on Friday March 15 2026 5 km minutes can must all
some 3pm my dog's , . : $20 用户 не nein don't nicht
""".split()
sentences = st.lists(st.sampled_from(WORDS), max_size=10).map(" ".join)
english = st.lists(st.sampled_from([word for word in WORDS if word.isascii()][:-2]), max_size=10)
relevances = st.one_of(st.none(), st.floats(0, 1))


@pytest.mark.parametrize("kind", sorted({pair.kind for pair in CHANGED}))
@pytest.mark.parametrize("relevance", [1.0, None])
def test_what_changed_is_no_duplicate_in_either_direction(kind, relevance):
    for pair in CHANGED:
        if pair.kind == kind:
            assert compare(pair.new, pair.old, relevance).relation not in SKIPPED, pair
            assert compare(pair.old, pair.new, relevance).relation not in SKIPPED, pair


def test_most_paraphrases_are_found_where_the_embedder_sees_them():
    same = [pair for pair in PAIRS if pair.kind.startswith("paraphrase") and pair.same]
    found = sum(compare(pair.new, pair.old, 0.9).relation in SKIPPED for pair in same)
    assert found >= 0.55 * len(same)


def test_the_same_text_in_another_form_is_the_same():
    for relevance in (None, 0.0, 1.0):
        found = compare("the port is 8090", " The port\nis 8090. ", relevance)
        assert found == (Relation.SAME, ())


@pytest.mark.parametrize(
    ("new", "old", "differs"),
    [
        ("The port is 8091.", "The port is 8090.", "8090 -> 8091"),
        ("User lives in San Francisco.", "User lives in New York.", "New York -> San Francisco"),
        (
            "The deadline is April 1.",
            "The deadline is March 15, 2026.",
            "March 15 , 2026 -> April 1",
        ),
        ("User does not eat meat.", "User eats meat.", "meat -> not meat"),
        ("User has a deaf cat.", "User has a cat.", "(nothing) -> deaf"),
        ("Mia manages Jo.", "Jo manages Mia.", "Jo manages Mia -> Mia manages Jo"),
        ("User lived in Rome.", "User lives in Rome.", "now -> then"),
    ],
)
def test_what_differs_is_named_old_first(new, old, differs):
    assert compare(new, old, 0.95) == (Relation.POSSIBLE_UPDATE, (differs,))


def test_a_duplicate_needs_a_high_relevance():
    new, old = "I have two cats.", "The user owns 2 cats"
    assert compare(new, old, 0.7).relation is Relation.DUPLICATE
    assert compare(new, old, 0.69).relation is Relation.OTHER
    assert compare(new, old, None).relation is Relation.DUPLICATE


@pytest.mark.parametrize(
    ("new", "old", "changed"),
    [
        ("User gets up at half past five.", "I get up at 5:30.", "I get up at half past six."),
        ("User has a milk allergy.", "User is allergic to milk.", "User is allergic to soy."),
        ("Work starts at nine in the morning.", "Work starts at 9 am.", "Work starts at 9 pm."),
        ("Der Nutzer lebt in Graz.", "Ich wohne in Graz.", "Ich wohne in Linz."),
        ("Die Farbe des Nutzers ist Rot.", "Meine Farbe ist Rot.", "Meine Farbe ist Blau."),
        ("El usuario reside en Vigo.", "Vivo en Vigo.", "No vivo en Vigo."),
        ("Al usuario no le gusta el vino.", "No me gusta el vino.", "Me gusta el vino."),
        ("L'utilisateur ne boit pas de vin.", "Je ne bois jamais de vin.", "Je bois du vin."),
        ("La moglie dell'utente è Ada.", "Mia moglie è Ada.", "Mia moglie è Eva."),
    ],
)
def test_the_same_in_other_words_and_a_changed_value(new, old, changed):
    assert compare(new, old, 0.9).relation is Relation.DUPLICATE
    assert compare(new, changed, 0.9).relation is not Relation.DUPLICATE
    assert compare(changed, old, 0.9).relation is not Relation.DUPLICATE


def test_words_alone_see_a_short_text_whose_value_changed():
    assert compare("The port is 8091.", "The port is 8090.", None) == (
        Relation.POSSIBLE_UPDATE,
        ("8090 -> 8091",),
    )
    assert compare("8091", "8090", None).relation is Relation.OTHER


def test_strangers_are_strangers():
    for relevance in (0.1, 0.69, 0.7, None):
        found = compare("The port is 8091", "Anna likes green tea", relevance)
        assert found == (Relation.OTHER, ())


def test_a_page_is_a_duplicate_only_of_its_own_words():
    page = "The port is 8090 and nothing else. " * 200
    assert compare(f"{page} ", page.replace(" ", "\n"), 0.9).relation is Relation.SAME
    assert compare(page, page.replace("8090", "8091", 1), 0.99).relation is Relation.POSSIBLE_UPDATE
    assert compare(page, page.replace("8090", "8091", 1), None).relation is Relation.POSSIBLE_UPDATE
    assert compare(page, f"Anna likes green tea. {'x ' * 3_000}", None).relation is Relation.OTHER
    assert compare(page, f"Anna likes green tea. {'x ' * 3_000}", 0.2).relation is Relation.OTHER
    assert compare(page, page.replace("else. ", "else . "), 0.9).relation is Relation.DUPLICATE
    assert (
        compare(page, page.replace("else. ", "else . "), 0.8).relation is Relation.POSSIBLE_UPDATE
    )


def test_a_difference_is_short():
    found = compare(f"The port is {'9' * 500}", f"The port is {'8' * 500} {'x ' * 500}", 0.9)
    assert found.relation is Relation.POSSIBLE_UPDATE
    assert len(found.differs[0]) <= 2 * SHOWN + 4


@pytest.mark.slow
@given(texts, texts, relevances)
def test_same_is_the_same_canonical_text(new, old, relevance):
    found = compare(new, old, relevance).relation
    assert (found is Relation.SAME) == (canonical(new) == canonical(old))
    assert compare(canonical(new), new, relevance).relation is Relation.SAME


@given(sentences, sentences, relevances)
def test_the_direction_does_not_matter(one, other, relevance):
    there, back = compare(one, other, relevance), compare(other, one, relevance)
    assert there.relation is back.relation


@given(sentences, st.integers(0, 10**6), st.integers(0, 10**6), sentences)
def test_other_numbers_are_never_a_duplicate(before, one, other, after):
    found = compare(f"{before} ({one}) {after}", f"{before} ({other}) {after}", 1.0)
    assert (found.relation in SKIPPED) == (one == other)


@given(english.map(" ".join), english.map(" ".join), st.sampled_from(["not", "never", "no"]))
def test_a_negation_more_is_never_a_duplicate(before, after, negation):
    found = compare(f"{before} {negation} Rome {after}", f"{before} Rome {after}", 1.0)
    assert found.relation not in SKIPPED


@given(sentences)
def test_a_text_with_itself_in_a_second_sentence_order_never_fails(text):
    for relevance in (None, 0.3, 0.7, 1.0):
        compare(text, " ".join(reversed(text.split())), relevance)
