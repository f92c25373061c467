"""Schemas that are refused before anything compiles them, their patterns, texts and kinds."""

from __future__ import annotations

import json
import re
from typing import Any

import jsonschema_rs
import pytest
from hypothesis import given
from hypothesis import strategies as st

from memtree.agents.memory_schema import MAX_BYTES, MAX_NESTING, nearest_kind, parsed, schema_text
from memtree.agents.schema_limits import (
    KNOWN,
    MAX_DEPTH,
    MAX_EXPANDED,
    MAX_PATTERN_CHARS,
    MAX_UNIQUE,
    MAX_WRITTEN,
    CompilableDocument,
    checked_schema,
    sub_schemas,
    usable,
)
from memtree.errors import SchemaInvalid

# ------------------------------------------------------------------------------------------------
# Schemas that are refused before anything compiles them, and which limit each is over.


PROFILE = {
    "type": "object",
    "properties": {
        "name": {"type": "string"},
        "address": {"type": "object", "properties": {"zip": {"type": "string"}}},
    },
    "required": ["name", "email"],
}


def refused(document: Any, *unique_on: str) -> str:
    with pytest.raises(SchemaInvalid) as caught:
        checked_schema(document if isinstance(document, str) else json.dumps(document), unique_on)
    return caught.value.message


def doubling(times: int) -> dict[str, Any]:
    """Each definition uses the one before it twice."""
    definitions: dict[str, Any] = {"n0": {"type": "object"}}
    for at in range(1, times + 1):
        definitions[f"n{at}"] = {"allOf": [{"$ref": f"#/$defs/n{at - 1}"}] * 2}
    return {"$defs": definitions, "$ref": f"#/$defs/n{times}"}


def nested(levels: int) -> dict[str, Any]:
    document: dict[str, Any] = {"type": "object"}
    for _ in range(levels - 1):
        document = {"type": "object", "properties": {"a": document}}
    return document


def test_a_schema_tells_its_fields():
    found = checked_schema(json.dumps(PROFILE), ["name", "kind"])
    assert found.properties == {"name", "address"}
    assert found.names == {"name", "address", "zip", "email"}
    assert found.expanded == 4


def test_doubling_references_are_counted_as_often_as_they_are_used():
    assert checked_schema(json.dumps(doubling(6))).expanded <= MAX_EXPANDED
    for times in (9, 25):
        assert f"more than {MAX_EXPANDED:,} sub-schemas" in refused(doubling(times))


def test_unevaluated_fields_count_what_is_beside_them_twice():
    document: dict[str, Any] = {"type": "object"}
    for _ in range(12):
        document = {"type": "object", "allOf": [document], "unevaluatedProperties": False}
    assert f"more than {MAX_EXPANDED:,} sub-schemas" in refused(document)


def test_depth():
    checked_schema(json.dumps(nested(MAX_DEPTH)))
    assert f"deeper than {MAX_DEPTH} levels" in refused(nested(MAX_DEPTH + 1))


def test_the_number_of_sub_schemas():
    def with_fields(count: int) -> dict[str, Any]:
        return {"type": "object", "properties": {f"f{at}": True for at in range(count)}}

    checked_schema(json.dumps(with_fields(MAX_WRITTEN - 1)))
    assert f"more than {MAX_WRITTEN} sub-schemas" in refused(with_fields(MAX_WRITTEN))


@pytest.mark.parametrize(
    "target",
    [
        "file:///etc/passwd",
        "http://127.0.0.1:1/schema.json",
        "//host/share",
        "other.json#/$defs/a",
        "urn:uuid:9f8b",
        "#name",
        "#/nowhere",
        "#/required/0",
        "#/properties",
        "#/$defs/a~",
        "",
        7,
        None,
        ["#"],
    ],
)
def test_references_stay_inside(target):
    document = {"type": "object", "properties": {"a": {"$ref": target}}, "required": ["a"]}
    assert "#/properties/a: $ref" in refused(document)


@pytest.mark.parametrize("name", ["a", "a b", "a/b", "a~b", "a%25", "ä", "", '"', "$ref", "a#b"])
def test_references_find_any_name(name):
    pointer = name.replace("~", "~0").replace("/", "~1").replace("%", "%25")
    for keyword in ("$defs", "definitions"):
        document = {
            "type": "object",
            keyword: {name: {"type": "object", "properties": {"x": True}}},
            "allOf": [{"$ref": f"#/{keyword}/{pointer}"}],
        }
        assert checked_schema(json.dumps(document)).properties == {"x"}


@pytest.mark.parametrize(
    "document",
    [
        {"type": "object", "$ref": "#"},
        {"type": "object", "properties": {"a": {"items": {"$ref": "#"}}}},
        {
            "type": "object",
            "$defs": {"a": {"$ref": "#/$defs/b"}, "b": {"not": {"$ref": "#/$defs/a"}}},
        },
        {"type": "object", "$defs": {"a": {"$ref": "#/$defs/a"}}},
    ],
)
def test_a_schema_may_not_hold_itself(document):
    assert "may not hold itself" in refused(document)


@pytest.mark.parametrize(
    "keyword", ["$anchor", "$dynamicAnchor", "$dynamicRef", "$recursiveRef", "$vocabulary"]
)
def test_keywords_that_change_what_references_mean(keyword):
    assert keyword in refused({"type": "object", "items": {keyword: "#a"}})


def test_an_address_of_its_own_means_nothing_at_the_top_and_is_refused_below():
    document = {
        "$id": "https://example.com/a.json",
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$ref": "#/$defs/a",
        "$defs": {"a": {"type": "object"}},
    }
    assert set(checked_schema(json.dumps(document)).document) == {"$ref", "$defs"}
    assert "$id must be string" in refused({**document, "$id": None})
    assert "$id may stand at the top alone" in refused(
        {"type": "object", "properties": {"a": {"$id": "b"}}}
    )


@pytest.mark.parametrize(
    "draft", ["http://json-schema.org/draft-07/schema#", "https://example.com/own", "", 7, {}]
)
def test_other_drafts(draft):
    assert "$schema must be" in refused({"$schema": draft, "type": "object"})


@pytest.mark.parametrize(
    "document",
    [
        {"type": "string"},
        {"type": ["object", "null"]},
        {"type": "array", "properties": {"a": True}},
        {},
        {"anyOf": [{"type": "object"}, {"type": "string"}]},
        {"anyOf": []},
        {"$ref": "#/$defs/a", "$defs": {"a": {"type": "string"}}},
    ],
)
def test_the_top_describes_an_object(document):
    assert "must describe an object" in refused(document)


@pytest.mark.parametrize(
    "document",
    [
        {"type": "object"},
        {"type": ["object"]},
        {"properties": {"a": True}},
        {"oneOf": [{"type": "object"}, {"properties": {}}]},
        {"allOf": [{"minProperties": 1}, {"type": "object"}]},
        {"$ref": "#/$defs/a", "$defs": {"a": {"type": "object"}}},
    ],
)
def test_ways_to_describe_an_object(document):
    assert checked_schema(json.dumps(document))


@pytest.mark.parametrize("text", ["true", "[]", "null", '"{}"', "7"])
def test_no_object_at_all(text):
    assert refused(text) == "the schema must be a JSON object"


def test_unique_names_are_fields_at_the_top():
    assert "uniqueOn[1]" in refused(PROFILE, "name", "zip")
    assert f"more than {MAX_UNIQUE} names" in refused(PROFILE, *["name"] * (MAX_UNIQUE + 1))
    options = {"oneOf": [{"properties": {"a": True}}, {"properties": {"b": True}}]}
    assert checked_schema(json.dumps(options), ["a", "b"]).properties == {"a", "b"}


def test_values_are_no_schemas():
    """A value that looks like a reference is left as it is."""
    values = {"$ref": "file:///etc/passwd", "$id": "http://example.com/"}
    document = {
        "type": "object",
        "enum": [values],
        "default": values,
        "examples": [values],
        "x-own": values,
        "properties": {"a": {"const": values}, "$ref": {"type": "string"}},
    }
    assert checked_schema(json.dumps(document)).document == document


# ------------------------------------------------------------------------------------------------
# Compilable.


def of(document: Any) -> CompilableDocument:
    return CompilableDocument(sub_schemas(json.loads(json.dumps(document))))


def test_what_need_not_change_stays():
    document = {"type": "object", "properties": {"a": {"enum": [{"$ref": "#/x"}], "title": "t"}}}
    assert of(document).document == document


def test_references_are_spelled_one_way():
    document = {"$defs": {"a b": True, "c/d": {"$ref": "#/$defs/a b"}}, "$ref": "#/%24defs/c~1d"}
    assert of(document).document == {
        "$defs": {"a b": True, "c/d": {"$ref": "#/%24defs/a%20b"}},
        "$ref": "#/%24defs/c~1d",
    }


def test_a_base_address_means_nothing():
    document = {"$id": "https://example.com/", "$schema": "x", "properties": {"$id": True}}
    del document["$schema"]
    assert of(document).document == {"properties": {"$id": True}}


def test_patterns_are_spelled_for_the_engine():
    found = of({"pattern": r"\d", "properties": {"pattern": {"pattern": "a"}}})
    assert found.document == {"pattern": r"[\d]", "properties": {"pattern": {"pattern": "a"}}}
    assert found.patterns == {r"[\d]": r"\d", "a": "a"}


def test_two_spellings_of_one_pattern_both_stay():
    found = of({"patternProperties": {r"\d": {"minimum": 1}, r"[\d]": {"maximum": 2}}})
    assert list(found.document["patternProperties"].values()) == [{"minimum": 1}, {"maximum": 2}]


def test_what_is_posted_is_not_changed():
    document = {"pattern": r"\d", "$id": "a"}
    of(document)
    assert document == {"pattern": r"\d", "$id": "a"}


# ------------------------------------------------------------------------------------------------
# Nearest kind.


KINDS = ("Interaction", "Reminder", "ResearchFinding", "UserProfile", "temporal_event")


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ("userprofile", "UserProfile"),
        ("user_profile", "UserProfile"),
        ("UserProfil", "UserProfile"),
        ("Profile", "UserProfile"),
        ("UserProfiles", "UserProfile"),
        ("TemporalEvent", "temporal_event"),
        ("reminders", "Reminder"),
        ("Rmeinder", "Reminder"),
        ("Event", None),
        ("x", None),
        ("", None),
    ],
)
def test_the_name_that_was_meant(written, meant):
    assert nearest_kind(written, KINDS) == meant


def test_of_equally_near_ones_the_first_by_name():
    assert nearest_kind("Cat", ["Cay", "Car", "Cab"]) == "Cab"
    assert nearest_kind("Cat", {"Cay", "Cab"}) == "Cab"


def test_none_is_known():
    assert nearest_kind("UserProfile", []) is None


def test_letters_alone_do_not_make_a_name_near():
    assert nearest_kind("abcdefgh", ["hgfedcba"]) is None


# ------------------------------------------------------------------------------------------------
# Patterns.


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


# ------------------------------------------------------------------------------------------------
# Schema text.


def schema_text_refused(text: str) -> str:
    with pytest.raises(SchemaInvalid) as caught:
        parsed(text)
    assert caught.value.param == "schema"
    return caught.value.message


def test_text_is_kept_as_it_is():
    text = '{ "type" : "object" }'
    assert schema_text(text) == text
    assert schema_text({"type": "object", "title": "ä"}) == '{"type":"object","title":"ä"}'


def test_an_object_that_is_no_json():
    for document in ({"a": {1, 2}}, {"a": float("nan")}):
        with pytest.raises(SchemaInvalid, match="not valid JSON"):
            schema_text(document)


def test_its_size_counts_in_bytes():
    def of(letter: str, size: int) -> str:
        return '{"title":"' + letter * ((size - 12) // len(letter.encode())) + '"}'

    assert parsed(of("a", MAX_BYTES))
    assert parsed(of("ä", MAX_BYTES))
    for text in (of("a", MAX_BYTES + 1), of("ä", MAX_BYTES + 2), of("漢", 3 * MAX_BYTES)):
        assert f"more than {MAX_BYTES:,} bytes" in schema_text_refused(text)


@pytest.mark.parametrize("text", ['{"a":1,"a":1}', '{"b":{"a":1,"\\u0061":2}}', '[{"":1,"":2}]'])
def test_a_name_twice(text):
    assert "twice" in schema_text_refused(text)


def test_nesting():
    assert parsed("[" * MAX_NESTING + "]" * MAX_NESTING)
    for depth in (MAX_NESTING + 1, 1_000, 7_900):
        assert f"deeper than {MAX_NESTING}" in schema_text_refused("[" * depth + "]" * depth)


@pytest.mark.parametrize("number", ["1e400", "-1e400", "123456789e999999999"])
def test_numbers_that_no_double_holds(number):
    assert "too large for a double" in schema_text_refused(f'{{"minimum":{number}}}')


@pytest.mark.parametrize("number", ["18446744073709551616", "-9223372036854775809", "9" * 9_000])
def test_integers_that_64_bits_do_not_hold(number):
    assert "more than 64 bits" in schema_text_refused(f'{{"minimum":{number}}}')


@pytest.mark.parametrize(
    "text", ["", "{", "{'a':1}", '{"a":NaN}', '{"a":Infinity}', "{}x", "\ufeff{}"]
)
def test_what_is_no_json(text):
    message = schema_text_refused(text)
    assert "not valid JSON" in message


@pytest.mark.parametrize(
    "text", ['{"title":"\\ud800"}', '{"\\udc00":1}', '{"enum":["\\ud800"]}', '{"title":"\ud800"}']
)
def test_half_a_character(text):
    assert "half a character" in schema_text_refused(text)


def test_what_is_wrong_is_told_without_the_text():
    assert "hunter2" not in schema_text_refused('{"title": "hunter2" oh}')
