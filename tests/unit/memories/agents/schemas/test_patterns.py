from __future__ import annotations

import re

import jsonschema_rs
import pytest
from hypothesis import given
from hypothesis import strategies as st

from memtree.errors import SchemaInvalid
from memtree.memories.agents.schemas.limits import KNOWN, MAX_PATTERN_CHARS, usable

EMAIL, DURATION, EMOJI = KNOWN.values()


def matches(pattern: str, text: str) -> bool:
    options = jsonschema_rs.RegexOptions()
    schema = {"pattern": pattern}
    return jsonschema_rs.Draft202012Validator(schema, pattern_options=options).is_valid(text)


@pytest.mark.parametrize(
    ("written", "said"),
    [
        (r"^\d+$", r"^[\d]+$"),
        (r"\w\W\s\S\d\D", r"[\w][\W][\s][\S][\d][\D]"),
        (r"[\w-]\w", r"[\w-][\w]"),
        (r"[^\]\s]\s", r"[^\]\s][\s]"),
        (r"\\d\\\d", r"\\d\\[\d]"),
        (r"\[\d\]", r"\[[\d]\]"),
        (r"a\b\p{L}", r"a\b\p{L}"),
        ("ends\\", "ends\\"),
        ("", ""),
    ],
)
def test_class_escapes_stand_in_brackets(written, said):
    assert usable(written, "#") == said


@given(
    st.text("\\dDsSwW[]^-ab0 _\n", max_size=8), st.text("ab0 _\n-\u00e9\u0660\u00a0", max_size=6)
)
def test_it_matches_what_it_matched(pattern, text):
    """The engine matches as before what it takes at all."""
    try:
        expected = matches(pattern, text)
    except jsonschema_rs.ValidationError:
        return
    assert matches(usable(pattern, "#"), text) == expected


def test_a_pattern_of_thousands_of_classes_is_refused():
    assert usable(r"\s" * (MAX_PATTERN_CHARS // 2), "#")
    with pytest.raises(SchemaInvalid, match=f"at #/a: .*{MAX_PATTERN_CHARS:,} characters"):
        usable("a" * (MAX_PATTERN_CHARS + 1), "#/a")


def test_known_patterns_look_neither_ahead_nor_back():
    for looking, said in KNOWN.items():
        assert "(?=" in looking or "(?!" in looking
        assert "(?=" not in said
        assert "(?!" not in said
        assert matches(usable(looking, "#"), "") is False


ATOMS = st.text("aZ0_'+-.@", max_size=6)


@given(st.tuples(ATOMS, st.sampled_from(["", "@"]), st.text("aZ0-.", max_size=6)).map("".join))
def test_the_pattern_of_mail_addresses_means_the_same(text):
    written = re.compile(next(iter(KNOWN)))
    assert matches(EMAIL, text) == bool(written.search(text))


@pytest.mark.slow
@given(st.text("PTWYMDHS0123.,", max_size=10).map(lambda text: "P" + text))
def test_the_pattern_of_durations_means_the_same(text):
    written = re.compile(list(KNOWN)[1])
    assert matches(DURATION, text) == bool(written.search(text))


@pytest.mark.parametrize(
    "text", ["P1Y", "P1Y2M3D", "PT1H", "P1DT2H3M4.5S", "P2W", "PT5S", "P3MT1M"]
)
def test_durations(text):
    assert matches(DURATION, text)


@pytest.mark.parametrize("text", ["P", "PT", "P1", "1Y", "P1DT", "P1W2D", "PT1.S", "P1M1Y"])
def test_what_is_no_duration(text):
    assert not matches(DURATION, text)


def test_emoji():
    for text in ("😀", "👍🏽", "🇦🇹", "❤️", "1️⃣"):
        assert matches(EMOJI, text), text
    for text in ("", "1", "a😀", "#"):
        assert not matches(EMOJI, text), text
