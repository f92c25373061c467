"""How a new memory relates to a stored one."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.memories.relation import pairs, triples
from memtree.memories.duplicates import MOST_CHARS, QUICK_CHARS, comparisons, is_quick
from memtree.memories.relation.lexicon import base_form
from memtree.memories.relation.quantities import read
from memtree.memories.relation.reading import read as read_text
from memtree.memories.relation.reading import read as reading_read
from memtree.memories.relation.relation import SHOWN, Relation, compare
from memtree.text.normal_form import canonical

# ------------------------------------------------------------------------------------------------
# How a new memory relates to a stored one: no changed value is ever a duplicate.


SKIPPED = (Relation.SAME, Relation.DUPLICATE)
PAIRS = [*pairs(), *triples()]
CHANGED = [pair for pair in PAIRS if not pair.same]
texts = st.text(max_size=60)
WORDS = """
user the a not no never likes lives in Oslo two 2 port 8090 before after from by of and or tea
is was on Friday March 15 2026 5 km minutes can must all
some 3pm my dog's n't 's ' , . : $20 用户 не nein don't nicht
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


# ------------------------------------------------------------------------------------------------
# Small differences that a reader of words could overlook.


TRAPS = [
    ("User has an old car.", "User has a car."),
    ("User has a cat.", "User has cats."),
    ("User likes his dog.", "User likes her dog."),
    ("The boss is Mr. Peters.", "The boss is Mr. Peter."),
    ("Tests must pass.", "Tests should pass."),
    ("User would work on Sundays.", "User works on Sundays."),
    ("User lives on Oak Street.", "User lives on Oak Road."),
    ("The temperature is -5.", "The temperature is 5."),
    ("Alert if score > 5.", "Alert if score < 5."),
    ("Alert if a != b.", "Alert if a == b."),
    ("User uses C++.", "User uses C."),
    ("The deadline is 3/4/2026.", "The deadline is 4/3/2026."),
    ("User has a plan.", "User has a plane."),
    ("User's teacher is Ana.", "User teaches Ana."),
    ("User is paid.", "User is paying."),
    ("User works for Ben.", "User works with Ben."),
    ("The key is in the box.", "The key is on the box."),
    ("User is never not late.", "User is not late."),
    ("Invoices are paid by card.", "Invoices are paid by Carl."),
    ("Files of 5 GB.", "Files of 5 MB."),
    ("User's gift is for Ann.", "User's gift is from Ann."),
    ("User drinks chocolate milk.", "User drinks milk chocolate."),
    ("Mia and Tom's dog is Rex.", "Mia's dog is Rex."),
    ("User will marry Eva.", "User has married Eva."),
    ("I have moved to Spain.", "I move to Spain."),
    ("A portrait by Anna.", "A portrait of Anna."),
    ("Meet at 6.", "Meet at 7."),
    ("User may travel.", "User can travel."),
    ("Some tests fail.", "All tests fail."),
    ("mi hermano vive en Lima", "mi hermana vive en Lima"),
]


@pytest.mark.parametrize(("one", "other"), TRAPS)
def test_no_trap_is_a_duplicate(one, other):
    for new, old in ((one, other), (other, one)):
        for relevance in (1.0, None):
            found = compare(new, old, relevance)
            assert found.relation not in (Relation.SAME, Relation.DUPLICATE)
        assert compare(new, old, 1.0).differs


SAME = [
    ("The beta starts at 3 pm.", "Beta starts at 15:00."),
    ("User runs on Tuesdays.", "On Tuesdays user runs."),
    ("The team is led by Mark.", "Mark leads the team."),
    ("Never email after 8 pm.", "Do not email after 20:00."),
    ("Names should be short.", "Keep names short."),
    ("I eat neither fish nor meat.", "The user doesn't eat fish or meat."),
    ("The brother of Ann is ill.", "Ann's brother is ill."),
    ("User likes tea, milk and juice.", "User likes juice, tea and milk."),
    ("Green is my favourite colour.", "User's favorite color is green."),
    ("Meet at 10.", "Meet at 10:00."),
    ("The son is 4 years old.", "A four-year-old son."),
    ("User is employed in the finance team.", "The user works in the finance team."),
    ("Luna, my cat, is 5 years old.", "My cat Luna is five."),
]


@pytest.mark.parametrize(("one", "other"), SAME)
def test_what_says_the_same_is_a_duplicate_where_the_embedder_agrees(one, other):
    for new, old in ((one, other), (other, one)):
        assert compare(new, old, 0.9) == (Relation.DUPLICATE, ())
        assert compare(new, old, 0.69).relation is Relation.OTHER


# ------------------------------------------------------------------------------------------------
# How many texts one text is compared with.


LONG = "a" * 16_000


def test_short_texts_are_compared_with_all():
    others = [f"The office is in room {number}" for number in range(200)]
    assert comparisons("The office is in Graz", others) == others
    assert is_quick("The office is in Graz", others[:8])


def test_long_ones_with_the_first_few():
    assert len(comparisons(LONG, [LONG] * 200)) == 3
    assert len(comparisons(LONG, ["short"] * 200)) == 6
    assert comparisons("short", [LONG, "b", *[LONG] * 20])[:2] == [LONG, "b"]
    assert not is_quick(LONG, ["b"])


def test_at_least_one_whatever_its_length():
    endless = "a" * MOST_CHARS
    assert comparisons(endless, [endless, endless]) == [endless]
    assert comparisons(endless, []) == []


@given(st.integers(0, 30_000), st.lists(st.integers(0, 30_000), max_size=20))
def test_the_sum_is_bounded(own: int, lengths: list[int]):
    text, others = "a" * own, ["b" * length for length in lengths]
    chosen = comparisons(text, others)
    assert chosen == others[: len(chosen)]
    total = sum(own + len(other) for other in chosen)
    assert total <= MOST_CHARS or len(chosen) == 1
    assert is_quick(text, chosen) is (total <= QUICK_CHARS)


# ------------------------------------------------------------------------------------------------
# One form for the inflections of a word, and two words stay two.


@pytest.mark.parametrize(
    "forms",
    [
        "like likes liked liking",
        "work works worked working",
        "plan plans planned planning",
        "hope hopes hoped hoping",
        "study studies studied studying",
        "visit visits visited visiting",
        "decide decides decided deciding",
        "dance dances danced dancing",
        "move moves moved moving",
        "call calls called calling",
        "box boxes",
        "movie movies",
        "translate translated translation",
        "city cities",
        "use uses used using",
    ],
)
def test_inflections_meet(forms):
    assert len({base_form(form) for form in forms.split()}) == 1


@pytest.mark.parametrize(
    "words",
    [
        "plan plane", "hop hope", "win wine", "hat hate", "car care", "bus us", "bos boss",
        "new news", "thin thing", "be bed", "so sing",
    ],
)  # fmt: skip
def test_words_stay_apart(words):
    one, other = words.split()
    assert base_form(one) != base_form(other)


@pytest.mark.parametrize("word", ["a", "s", "ed", "ing", "ies", "ss", "yes"])
def test_short_words_survive(word):
    assert base_form(word)


# ------------------------------------------------------------------------------------------------
# Numbers, dates, times and measures in one spelling each.


def keys(text):
    return [token.key for token in read_text(text).tokens if token.value]


@pytest.mark.parametrize(
    "spellings",
    [
        ["March 15, 2026", "15 March 2026", "15th of March 2026", "2026-03-15", "15.03.2026",
         "3/15/2026", "15/3/2026", "2026/3/15", "March 15th, 2026", "Mar 15 2026"],
        ["12 May", "May 12", "12th of May", "May 12th"],
        ["3 pm", "3pm", "15:00", "3:00 pm", "3 p.m.", "15:00:00", "3 PM", "15 Uhr"],
        ["noon", "12:00", "12 pm"],
        ["two hours", "2 hours", "120 minutes", "2h", "7,200 seconds", "2 hrs"],
        ["5 km", "5km", "5 kilometers", "five kilometres", "5000 m", "5,000 meters"],
        ["$20", "20 dollars", "USD 20", "20 USD", "twenty dollars"],
        ["1,500 euros", "€1500", "1500 EUR", "€ 1,500"],
        ["forty", "40"],
        ["one hundred and twenty", "120", "a hundred and twenty"],
        ["10k", "10,000", "ten thousand", "10 thousand"],
        ["1.5 million", "1,500,000"],
        ["twice", "2 times", "two times"],
        ["30%", "30 percent", "thirty percent"],
        ["first", "1st"],
        ["8 GB", "8gb", "8000 MB"],
    ],
)  # fmt: skip
def test_spellings_of_one_quantity(spellings):
    found = {tuple(keys(f"It is {spelling}.")) for spelling in spellings}
    assert len(found) == 1
    assert len(found.pop()) == 1


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("3.1", "3.10"), ("8090", "8091"), ("3 pm", "3 am"), ("5 km", "5 miles"),
        ("82 kg", "82 lb"),
        ("12 minutes", "12 seconds"), ("March 15", "March 16"), ("May 2025", "May 2026"),
        ("03/04/2026", "04/03/2026"), ("Friday", "Fridays"), ("Friday", "Saturday"), ("$20", "€20"),
        ("first", "second"), ("9" * 400 + " km", "9" * 399 + "8 km"), ("1.000", "1000"),
        ("20 degrees celsius", "20 fahrenheit"), ("once", "twice"), ("three", "thirteen"),
    ],
)  # fmt: skip
def test_quantities_that_differ(one, other):
    assert keys(f"It is {one}.") != keys(f"It is {other}.")


def test_words_that_are_no_month_and_no_day():
    assert keys("You may march in the sun, she sat down.") == ["=may", "=down"]
    assert keys("On May 5 and on Sat") == ["d:-05-05", "wd:sat"]


@given(st.integers(0, 10**12))
def test_a_number_is_itself(number):
    assert keys(f"It is {number}.") == keys(f"It is {number:,}.") == [f"n:{number}"]


@given(
    st.lists(st.sampled_from("1 2nd may, march 2026 of a hundred and two 3: pm v 1/ $ 7km".split()))
)
def test_any_order_of_words_is_read(words):
    assert isinstance(read(words), list)


def test_milliseconds_are_no_metres():
    assert read(["5", "ms"]) == read(["0.005", "s"]) != read(["5", "m"])


# ------------------------------------------------------------------------------------------------
# Check what tells a text of the past from one of the present: the form of its verbs.


@pytest.mark.parametrize("text", ["I needed a car.", "I fixed a car.", "I bought a car."])
def test_a_past_form_tells_what_was(text):
    assert reading_read(text).past


@pytest.mark.parametrize("text", ["I need a car.", "We feed the cat.", "They seed a lawn."])
def test_a_short_verb_that_ends_as_a_past_form_tells_what_is(text):
    assert not reading_read(text).past
