"""Numbers, dates, times and measures in one spelling each."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memtree.memories.relation.quantities import read
from memtree.memories.relation.reading import read as read_text


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
