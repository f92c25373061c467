"""A body that begins as an earlier one did is read from there on, to the same result."""

from __future__ import annotations

import json
import random
from contextlib import suppress

import pytest
from hypothesis import event, given
from hypothesis import strategies as st

from memtree.errors import BadRequest
from memtree.history import json_body
from memtree_proxy.http.known_bodies import BLOCK, LEAST, KnownBodies

PAD = "x" * 700


def body(messages, before=b'{"model":"m",', after=b"}", gap=b",", field=b'"messages":'):
    return before + field + b"[" + gap.join(messages) + b"]" + after


def message(text, **more):
    return json.dumps({"role": "user", "content": text, **more}).encode()


TALK = [message(f"{n} {PAD}") for n in range(120)]  # about 90 kB


def read(known, raw, field="messages", tenant="t"):
    """(spans, places of the items), or the error, as `known` reads it."""
    return outcome(lambda: known.split(known.begin(tenant, field, raw)), field)


def outcome(split, field="messages"):
    try:
        found = split()
        items = found.items(field, 500)
    except BadRequest as error:
        return error.message, error.param
    places = items and (list(items.starts), list(items.ends), items.size)
    return list(found.spans.items()), places, found.raw


def slowly(raw, field="messages"):
    return outcome(lambda: json_body.split(raw, halves=True), field)


def new_bytes(known, raw, field="messages", tenant="t"):
    return known.begin(tenant, field, raw).new


def test_only_what_is_behind_the_last_known_item_is_read():
    known = KnownBodies(1)
    first = body(TALK)
    assert new_bytes(known, first) == len(first)
    assert read(known, first) == slowly(first)
    longer = body([*TALK, message("more"), message("and more")])
    beginning = known.begin("t", "messages", longer)
    assert beginning.new < BLOCK + 2_000
    found = known.split(beginning)
    items = found.items("messages")
    earlier = known.begin("t", "messages", first)
    assert not earlier.whole  # the longer one has taken its place
    assert items.earlier.length >= 90
    assert [items.raw(at) for at in range(len(items))] == [
        *TALK, message("more"), message("and more")
    ]  # fmt: skip
    assert outcome(lambda: found) == slowly(longer)


def test_a_history_that_grows_is_read_from_its_first_new_item_on():
    known = KnownBodies(1)
    new = message("more")
    for count in (70, 71, 90):
        read(known, body(TALK[:count], after=b',"n":%d}' % count))
        longer = body([*TALK[:count], new])
        beginning = known.begin("t", "messages", longer)
        assert beginning.length == count
        assert beginning.new == len(new) + len(b",]}")
        assert outcome(lambda one=beginning: known.split(one)) == slowly(longer)


@pytest.mark.parametrize("last", [b"12", b"true", b"nul"])
def test_an_item_that_may_go_on_behind_the_end_is_read_again(last):
    known = KnownBodies(1)
    read(known, body([*TALK, last]))
    for longer in (body([*TALK, last + b"3"]), body([*TALK, last + b"l"])):
        assert known.begin("t", "messages", longer).length <= len(TALK)
        assert read(known, longer) == slowly(longer)


def test_a_changed_byte_behind_the_last_whole_block_is_seen():
    known = KnownBodies(1)
    first = body(TALK)
    read(known, first)
    at = first.rindex(b"119")
    other = body(TALK, after=b',"n":1}').replace(b"119", b"919")
    assert at > len(first) - BLOCK
    assert known.begin("t", "messages", other).length < len(TALK)
    assert read(known, other) == slowly(other)


def test_the_items_are_named_by_the_list_that_they_begin_with():
    known = KnownBodies(1)
    first = known.split(known.begin("t", "messages", body(TALK))).items("messages")
    assert first.earlier is None
    again = known.split(known.begin("t", "messages", body(TALK))).items("messages")
    assert again.number == first.number
    assert again.earlier == (first.number, len(TALK))
    longer = body([*TALK, message("more")])
    second = known.split(known.begin("t", "messages", longer)).items("messages")
    assert second.number != first.number
    assert second.earlier.number == first.number
    assert second.raw(second.earlier.length - 1) == TALK[second.earlier.length - 1]


def test_the_very_same_body_is_not_read_at_all():
    known = KnownBodies(1)
    raw = body(TALK, after=b',"stream":true }\n')
    assert read(known, raw) == read(known, raw) == slowly(raw)
    assert new_bytes(known, raw) == 0
    assert new_bytes(known, raw + b" ") > 0


def test_a_branch_is_known_up_to_where_it_parts():
    known = KnownBodies(1)
    read(known, body(TALK))
    edited = body([*TALK[:60], message("edited"), *TALK[61:]])
    beginning = known.begin("t", "messages", edited)
    assert 60 * 700 - BLOCK < len(edited) - beginning.new < 60 * 800
    assert read(known, edited) == slowly(edited)
    # And both are known from then on.
    for longer in (
        body([*TALK, message("more")]),
        body([*TALK[:60], message("edited"), *TALK[61:], message("more")]),
    ):
        assert new_bytes(known, longer) < BLOCK + 2_000
        assert read(known, longer) == slowly(longer)


def test_what_stands_before_the_items_is_known_too():
    known = KnownBodies(1)
    tools = b'{"model":"m","tools":[' + b",".join([b'{"name":"f"}'] * 4_000) + b"],"
    read(known, body(TALK, before=tools))
    longer = body([*TALK, message("more")], before=tools)
    assert new_bytes(known, longer) < BLOCK + 2_000
    assert read(known, longer) == slowly(longer)
    other = body([*TALK, message("more")], before=tools.replace(b'"m"', b'"n"'))
    assert new_bytes(known, other) == len(other)


def test_fields_behind_the_items_may_be_others():
    known = KnownBodies(1)
    read(known, body(TALK, after=b',"stream":true,"tools":[]}'))
    for after in (b"}", b',"stream":false}', b' , "user" : "u"\n}', b',"tools":[1],"x":{}}'):
        longer = body([*TALK, message("more")], after=after)
        assert new_bytes(known, longer) < BLOCK + 2_000
        assert read(known, longer) == slowly(longer)


WRONG = {
    "a key before and behind the items": b',"model":"other"}',
    "the items twice": b',"messages":[]}',
    "the items twice, spelled otherwise": b',"m\\u0065ssages":[]}',
    "a key twice behind them": b',"a":1,"a":1}',
    "trailing junk": b'},"a":1}',
    "no end": b"",
    "an array that ends as an object": b"}}",
    "no UTF-8 behind them": b',"user":"\xff"}',
    "half a character": b',"query":"\\ud800"}',
    "a number that is none": b',"seed":01}',
}


@pytest.mark.parametrize("after", WRONG.values(), ids=WRONG)
def test_what_is_wrong_behind_the_known_items_is_told_as_ever(after):
    known = KnownBodies(1)
    read(known, body(TALK))
    raw = body([*TALK, message("more")], after=after)
    assert new_bytes(known, raw) < BLOCK + 2_000
    told = read(known, raw)
    assert told == slowly(raw)
    assert isinstance(told[0], str)


@pytest.mark.parametrize("wrong", [b'{"role":', b"nul", b'"\xff"', b"[[]", b"", b"1e", b"{},"])
def test_an_item_that_is_none_is_told_as_ever(wrong):
    known = KnownBodies(1)
    read(known, body(TALK))
    raw = body([*TALK, wrong, message("more")])
    assert read(known, raw) == slowly(raw)


@pytest.mark.slow
def test_an_item_that_goes_on_in_the_next_block_is_read_again():
    known = KnownBodies(1)
    numbers = [b"1"] * LEAST
    read(known, body(numbers, before=b"{"))
    at = 2 * BLOCK
    for shift in range(-3, 4):
        raw = bytearray(body(numbers, before=b"{"))
        raw[at + shift : at + shift] = b"2"
        changed = bytes(raw)
        slow = json_body.split(changed)
        found = known.split(known.begin("t", "messages", changed))
        assert found.spans == slow.spans
        assert found.items("messages").ends == slow.items("messages").ends


def test_the_items_of_another_field():
    known = KnownBodies(1)
    raw = body(TALK, field=b'"input":')
    read(known, raw, "input")
    longer = body([*TALK, message("more")], field=b'"input":')
    assert new_bytes(known, longer, "input") < BLOCK + 2_000
    assert new_bytes(known, longer, "messages") == len(longer)
    assert read(known, longer, "input") == slowly(longer, "input")
    broken = body([*TALK, b'"\xff"'], field=b'"input":')
    assert read(known, broken, "input") == slowly(broken, "input") == (
        "input is not valid UTF-8", "input"
    )  # fmt: skip


def test_of_another_tenant_nothing_is_known():
    known = KnownBodies(1)
    read(known, body(TALK))
    read(known, body(TALK[::-1]), tenant="u")
    for raw in (body(TALK), body([*TALK, message("more")])):
        assert new_bytes(known, raw, tenant="u") == len(raw)
        assert known.begin("u", "messages", raw).known is None


def test_short_bodies_and_those_without_items_are_not_kept():
    known = KnownBodies(1)
    long = ",".join(["1"] * LEAST).encode()
    for raw in (
        body(TALK[:10]), b'{"messages":"' + b"a" * LEAST + b'"}', b'{"x":[' + long + b"]}", b"[" * 9
    ):  # fmt: skip
        assert read(known, raw) == slowly(raw)
        assert known.nbytes == 0
        assert new_bytes(known, raw) == len(raw)


def test_a_body_whose_items_nobody_asked_for_is_not_kept():
    known = KnownBodies(1)
    known.split(known.begin("t", "messages", body(TALK)))
    assert known.nbytes == 0


def test_it_is_bounded_in_bytes_and_the_oldest_go_first():
    one = KnownBodies(1)
    read(one, body(TALK))
    known = KnownBodies(1, most=3 * one.nbytes + one.nbytes // 2)
    bodies = [body([message(f"chat {n}"), *TALK]) for n in range(5)]
    for raw in bodies:
        read(known, raw)
        read(known, bodies[0])  # in use
        assert known.nbytes <= 3.5 * one.nbytes
    assert [new_bytes(known, raw) == 0 for raw in bodies] == [True, False, False, True, True]
    nothing = KnownBodies(1, most=100)
    read(nothing, body(TALK))
    assert nothing.nbytes == 0


@pytest.mark.parametrize("after", [b"}", b',"tools":[' + b",".join([b'"f"'] * 20_000) + b"]}"])
def test_of_a_growing_conversation_one_body_is_kept(after):
    known = KnownBodies(1)
    read(known, body(TALK, after=after))
    least = known.nbytes
    for turn in range(50):
        raw = body([*TALK, *(message(f"more {n}") for n in range(turn))], after=after)
        assert read(known, raw) == slowly(raw)
    assert known.nbytes < 2 * least


def test_many_tiny_items_are_bounded_too():
    known = KnownBodies(1, most=100_000)
    raw = body([b"1"] * 50_000, before=b"{")
    found = known.split(known.begin("t", "messages", raw))
    assert len(found.items("messages")) == 50_000
    assert known.nbytes == 0


@pytest.mark.parametrize("whose", ["t", None])
def test_forgetting_drops_what_is_known_of_a_tenant(whose):
    known = KnownBodies(1)
    for tenant in "tu":
        read(known, body(TALK), tenant=tenant)
    known.forget(whose)
    assert new_bytes(known, body(TALK)) == len(body(TALK))
    assert (new_bytes(known, body(TALK), tenant="u") == 0) is (whose == "t")
    if whose is None:
        assert known.nbytes == 0


def test_what_is_read_while_something_is_deleted_is_not_kept():
    known = KnownBodies(1)
    beginning = known.begin("t", "messages", body(TALK))
    known.forget("t")
    known.split(beginning).items("messages")
    assert known.nbytes == 0
    read(known, body(TALK))
    beginning = known.begin("t", "messages", body([*TALK, message("more")]))
    known.forget("t")
    assert outcome(lambda: known.split(beginning)) == slowly(beginning.raw)
    assert known.nbytes == 0


def test_more_items_than_are_allowed_are_refused_as_ever():
    known = KnownBodies(1)
    read(known, body(TALK))
    found = known.split(known.begin("t", "messages", body([*TALK, message("more")])))
    with pytest.raises(BadRequest, match="messages must be at most 120"):
        found.messages(120)
    assert len(found.messages(121)) == 121


SPACE = st.sampled_from([b"", b" ", b"\n\t", b"  \r\n"])
VALUES = st.sampled_from([b"1", b"null", b'"a"', b"[]", b'{"a":[{}]}', b"-1.5e3", b'"\xc3\xa9"'])
ODD = st.sampled_from([b"", b"]", b'"', b"\xff", b"{", b"01", b"//", b"[[", b'"\\ud800"'])
KEYS = st.sampled_from([b'"a"', b'"b"', b'"messages"', b'"model"', b'"m\\u006fdel"', b'""'])
FIELD = st.builds(lambda k, s, v, t: k + s + b":" + t + v + s, KEYS, SPACE, VALUES | ODD, SPACE)
OBJECT = st.builds(lambda n, s: message(f"{n} {PAD}") + s, st.integers(0, 9), SPACE)


@st.composite
def posted(draw, items):
    """Bodies that often begin alike, with something wrong behind now and then."""
    cut = draw(st.integers(len(items) // 3, len(items)))
    extra = draw(st.lists(OBJECT | VALUES, max_size=4))
    if draw(st.integers(0, 3)) == 0:
        extra.insert(draw(st.integers(0, len(extra))), draw(ODD))
    kept = items[:cut] if draw(st.booleans()) else items
    rest = items[cut + 1 :] if draw(st.booleans()) and kept is not items else []
    gap = draw(SPACE) + b"," + draw(SPACE)
    inner = b",".join(kept) + (gap if kept and (extra or rest) else b"")
    inner += gap.join([*extra, *rest])
    after = b"".join(b"," + one for one in draw(st.lists(FIELD, max_size=2)))
    before = draw(st.sampled_from([*[b'{"model":"m",'] * 3, b"{", b' {"a": 1, "model":2,']))
    end = draw(st.sampled_from([b"}", b"}", b"} ", b"", b"}}", b",}"]))
    return before + b'"messages":[' + inner + b"]" + after + end


@pytest.mark.slow
@given(st.data())
def test_it_reads_what_is_read_without_it(data):
    known = KnownBodies(data.draw(st.integers(0, 3)))
    items = [message(f"{n} {PAD}") for n in range(data.draw(st.integers(50, 60)))]
    read(known, body(items))
    lists: dict[int, list[bytes]] = {}
    for _ in range(3):
        raw = data.draw(posted(items))
        beginning = known.begin("t", "messages", raw)
        assert outcome(lambda: known.split(beginning)) == slowly(raw)  # noqa: B023
        check_lists(known, raw, lists)
        event("known" if beginning.known else "unknown")


@pytest.mark.slow
def test_chance_bytes_changed_in_a_known_body_are_seen():
    known, rng = KnownBodies(1), random.Random(1)
    raw = body(TALK, after=b',"stream":true}')
    lists: dict[int, list[bytes]] = {}
    for _ in range(200):
        changed = bytearray(raw)
        at = rng.randrange(len(raw))
        changed[at : at + rng.randrange(3)] = rng.choices(b'{}[],:1a "\xff', k=rng.randrange(3))
        for one in (raw, bytes(changed)):
            assert read(known, one) == slowly(one)
            check_lists(known, one, lists)


def check_lists(known, raw, lists):
    """Return what is said of the beginnings of the lists is true. `lists`: all items by number."""
    with suppress(BadRequest):
        if items := known.split(known.begin("t", "messages", raw)).items("messages"):
            raws = [items.raw(at) for at in range(len(items))]
            assert lists.setdefault(items.number, raws) == raws
            if items.earlier and items.earlier.number in lists:
                number, length = items.earlier
                assert length <= len(lists[number])
                assert lists[number][:length] == raws[:length]


@pytest.mark.slow
def test_no_list_begins_with_more_of_another_than_is_known():
    """Also where they part right behind an item that ends with a block."""
    known, lists = KnownBodies(1), dict[int, list[bytes]]()
    numbers = [b"1"] * LEAST
    for at in range(BLOCK - 9, BLOCK + 9):
        for value in (b"2", b"11", b"[]"):
            changed = body([*numbers[:at], value, *numbers[at:]], before=b"{")
            check_lists(known, body(numbers, before=b"{"), lists)
            check_lists(known, changed, lists)
